"""The nbconvert exporter ``clusterbridge``: ``jupyter nbconvert --to clusterbridge NOTEBOOK`` writes a bundle."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nbconvert.exporters import Exporter
from nbconvert.exporters.exporter import ResourcesDict
from traitlets import List, Unicode, default

from jupyter_clusterbridge.app.assignments import parse_assignments
from jupyter_clusterbridge.app.export import ExportRequest, export_notebook
from jupyter_clusterbridge.model.bundle import BUNDLE_FILE
from jupyter_clusterbridge.model.errors import ClusterBridgeError, FolderNotWritable


class ClusterBridgeExporter(Exporter):
    """Writes ``<notebook>.bundle/`` beside the notebook or in ``--output-dir``, as ``clusterbridge export`` does.

    nbconvert wants one text as the result: it is that of ``bundle.json``, which nbconvert then writes once more,
    byte for byte the same, into the folder that is already complete.
    """

    export_from_notebook = None
    output_mimetype = "application/json"

    engines = List(Unicode(), help="Engines to write files for.").tag(config=True)
    base_image = Unicode("", help="Base image instead of the default one.").tag(config=True)
    scope = Unicode("used", help="Packages to lock: 'used' or 'all'.").tag(config=True)
    platform = Unicode("linux/amd64", help="Platform to lock for.").tag(config=True)
    parameters = List(Unicode(), help="Parameter values, NAME=VALUE each.").tag(config=True)

    @default("file_extension")
    def _file_extension_default(self) -> str:
        return Path(BUNDLE_FILE).suffix

    def from_filename(
        self, filename: str, resources: dict[str, Any] | None = None, **_ignored: object
    ) -> tuple[str, dict[str, Any]]:
        """Export a notebook file; returns the text of ``bundle.json`` and where nbconvert shall write it.

        Raises:
            SystemExit: the export failed; the message says why and what next, as nbconvert prints it.
        """
        notebook = Path(filename)
        found = self._resources(notebook, resources)
        name = str(found.get("unique_key") or notebook.stem)
        folder = self._build_folder(notebook) / f"{name}.bundle"
        request = ExportRequest(
            notebook=notebook,
            output=folder,
            engines=tuple(self.engines),
            base_image=self.base_image or None,
            scope=self.scope,
            parameters=parse_assignments(self.parameters),
            platform=self.platform,
        )
        try:
            result = export_notebook(request, self.log.info)
        except ClusterBridgeError as error:
            self.log.error("%s\n%s", error.message, error.next_step)
            raise SystemExit(error.exit_code) from None
        for warning in result.warnings:
            self.log.warning("%s", warning)
        found["unique_key"] = f"{name}.bundle/{Path(BUNDLE_FILE).stem}"
        return (folder / BUNDLE_FILE).read_text("utf-8"), found

    def from_notebook_node(
        self, nb: Any, resources: dict[str, Any] | None = None, **_ignored: object
    ) -> tuple[Any, dict[str, Any]]:
        """Refuse: journals and local files are found by the notebook's place, which a bare node has not."""
        raise FolderNotWritable(
            "the exporter needs the notebook's file, not its content alone",
            hint="Use: jupyter nbconvert --to clusterbridge NOTEBOOK",
        )

    def _resources(self, notebook: Path, resources: dict[str, Any] | None) -> dict[str, Any]:
        found = ResourcesDict() if resources is None else resources
        found.setdefault("metadata", {}).update(name=notebook.stem, path=str(notebook.parent))
        found["output_extension"] = self.file_extension
        return found

    def _build_folder(self, notebook: Path) -> Path:
        """Where nbconvert's writer will write: ``--output-dir``, or the notebook's folder."""
        configured = self.config.FilesWriter.get("build_directory", "")
        return Path(configured) if isinstance(configured, str) and configured else notebook.parent
