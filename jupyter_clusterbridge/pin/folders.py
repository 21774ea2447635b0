"""Where built wheels and answers are kept between exports."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_cache_path


def cache_folder() -> Path:
    """The folder of everything that is kept between exports; ``CLUSTERBRIDGE_CACHE`` names another place."""
    given = os.environ.get("CLUSTERBRIDGE_CACHE")
    return Path(given) if given else user_cache_path("clusterbridge")
