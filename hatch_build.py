"""What has to hold before the Lab part is built into a distribution; runs before the jupyter-builder hook."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from hatch_jupyter_builder.utils import is_stale
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NO_NODE = (
    "jupyter-clusterbridge: Node.js is needed to build the JupyterLab part and was not found. "
    "Install Node.js 20 or newer, or leave that part out: SKIP_JUPYTER_BUILDER=1 pip install ."
)


class LabBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Keeps development builds out of distributions and says in one line when Node.js is missing."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before each build."""
        build = Path(self.root, "jupyter_clusterbridge", "_lab")
        if version == "standard" and is_development_build(build):
            shutil.rmtree(build)
        if os.environ.get("PRE_COMMIT"):  # a hook that lints has no JupyterLab to be part of
            os.environ["SKIP_JUPYTER_BUILDER"] = "1"
        if os.environ.get("SKIP_JUPYTER_BUILDER"):
            return
        if shutil.which("node") is None and is_stale(build, Path(self.root, "labextension")):
            self.app.abort(NO_NODE)


def is_development_build(build: Path) -> bool:
    """Whether a build was made with ``--development``, which leaves source maps."""
    return any(build.glob("static/*.map"))
