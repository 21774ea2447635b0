"""Run as a script: write the bundle of a recorded notebook with a fixed lock, without network."""

from __future__ import annotations

import sys
from pathlib import Path

from export_parts import fixed_lock

from jupyter_clusterbridge.app import export as app
from jupyter_clusterbridge.model.lock import BaseImage


def write(notebook: Path, output: Path, given: dict[str, str] | None = None) -> app.ExportResult:
    """Export through the real use case; index and registry alone are stood in for."""
    app.resolve = lambda *_, **__: fixed_lock()  # type: ignore[assignment]
    app.resolve_base_image = lambda *_: BaseImage("python:3.11.7-slim", "sha256:" + "cd" * 32)
    return app.export_notebook(app.ExportRequest(notebook, output, ("docker",), parameters=given or {}))


if __name__ == "__main__":
    write(Path(sys.argv[1]), Path(sys.argv[2]))
