"""Which local modules and files a notebook needs: found in its text, carried on through the modules it imports."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from jupyter_clusterbridge.export.references import References, cell_references, module_references
from jupyter_clusterbridge.export.secrets import holds_secret, is_litter, made_by_us
from jupyter_clusterbridge.export.strings import Names
from jupyter_clusterbridge.model.errors import ClusterBridgeError, NotebookUnreadable
from jupyter_clusterbridge.model.notebook import Notebook, read_notebook

SYSTEM = ("/proc/", "/sys/", "/dev/", "/etc/", "/usr/", "/bin/", "/lib/", "/lib64/")
"""Where files belong to the machine and are no data."""
_MOST_FILES = 5000
_LONGEST_NAME = 400


@dataclass
class LocalFiles:
    """What the text of a notebook names, held against the disk. Paths are relative to the notebook's folder."""

    code: set[str] = field(default_factory=set)
    """Modules, scripts and package files."""
    inputs: dict[str, int | None] = field(default_factory=dict)
    """Data files that are read, with the index of the first cell that names them."""
    outside: dict[str, int | None] = field(default_factory=dict)
    """Existing files that the text reads outside of the folder, as written."""
    outputs: set[str] = field(default_factory=set)
    """Files that the text writes before it reads them."""
    modules: set[str] = field(default_factory=set)
    """Top-level names of all imports, local or installed."""
    artifacts: list[str] = field(default_factory=list)
    seeds: list[str] = field(default_factory=list)
    unshipped: list[str] = field(default_factory=list)
    """Why something is not shipped, one sentence each."""


class ProjectFinder:
    """Walks a notebook's text and that of every local module it reaches."""

    def __init__(self, notebook: Notebook) -> None:
        self._notebook = notebook
        self._root = Path(os.path.abspath(notebook.path.parent))
        self._search = ["."]
        self._bases = ["."]
        self._modules: set[str] = set()
        self._uses: dict[str, str] = {}
        self._found = LocalFiles()

    def find(self) -> LocalFiles:
        """Everything local that the notebook names."""
        self._cells(self._notebook)
        self._found.modules = {name.partition(".")[0] for name in self._modules}
        own = self._notebook.path.name
        self._found.code.discard(own)
        self._found.inputs = {
            path: cell for path, cell in sorted(self._found.inputs.items()) if path not in self._found.code | {own}
        }
        return self._found

    def _cells(self, notebook: Notebook) -> None:
        names: Names = {}
        nested = notebook is not self._notebook
        for cell in notebook.code_cells:
            references = cell_references(cell.source, names)
            if not nested:
                self._found.artifacts.extend(references.artifacts)
            self._follow(references, None if nested else cell.index)

    def _follow(self, references: References, cell: int | None) -> None:
        self._found.seeds.extend(references.seeds)
        for folder in references.folders:
            if folder not in self._bases and self._below(folder) is not None:
                self._bases.append(folder)
        for folder in references.search:
            self._add_search(folder)
        for module in references.modules:
            self._module(module)
        for script in references.scripts:
            for path in self._existing(script):
                self._script(path, cell)
        for how, path in references.uses:
            self._use(how, path, cell)

    def _add_search(self, folder: str) -> None:
        place = self._below(folder)
        if place is not None and place not in self._search:
            self._search.append(place)
        elif place is None and (self._root / folder).is_dir():
            self._found.unshipped.append(
                f"Modules are imported from {folder}, outside of the notebook's folder; they are not shipped."
            )

    def _module(self, name: str) -> None:
        if name in self._modules:
            return
        self._modules.add(name)
        top, _, rest = name.partition(".")
        for base in self._search:
            place = os.path.normpath(os.path.join(base, top)).replace(os.sep, "/")
            if (self._root / f"{place}.py").is_file():
                self._script(f"{place}.py", None)
            elif (self._root / place / "__init__.py").is_file() or (rest and self._namespace(place, rest)):
                self._package(place)
            else:
                continue
            return

    def _namespace(self, place: str, rest: str) -> bool:
        inner = self._root / place / rest.split(".")[0]
        return inner.is_dir() or inner.with_suffix(".py").is_file()

    def _package(self, place: str) -> None:
        for path in self._files_below(place):
            if path.endswith(".py"):
                self._script(path, None)
            elif not holds_secret(self._root, path):
                self._found.code.add(path)

    def _script(self, path: str, cell: int | None) -> None:
        """Ship a file and follow it when it is Python or a notebook."""
        if path in self._found.code or is_litter(path):
            return
        if holds_secret(self._root, path):
            self._secret(path)
            return
        if not path.endswith((".py", ".ipynb", ".sh")):
            self._found.inputs.setdefault(path, cell)
            return
        self._found.code.add(path)
        if path.endswith(".py"):
            self._follow(module_references(self._text(path), path), None)
        elif path.endswith(".ipynb"):
            try:
                self._cells(read_notebook(self._root / path))
            except ClusterBridgeError as error:
                self._found.unshipped.append(f"{path} is run by the notebook but is none itself: {error}")

    def _text(self, path: str) -> str:
        try:
            return (self._root / path).read_text("utf-8", "replace")
        except OSError as error:
            raise NotebookUnreadable(
                f"{path}: the notebook needs it, and it cannot be read ({error.strerror})",
                hint="Change the permissions of that file.",
            ) from None

    def _use(self, how: str, path: str, cell: int | None) -> None:
        if how in ("folder", "glob"):
            for found in self._matches(how, path):
                self._input(found, cell)
            return
        for found in self._existing(path):
            if how == "write":
                if self._uses.get(found, "mention") == "mention":
                    self._found.outputs.add(found)
                    self._found.inputs.pop(found, None)
                self._uses[found] = "write"
                continue
            if self._uses.get(found) != "write":
                self._uses[found] = how if how == "read" else self._uses.get(found, how)
                self._input(found, cell)
        if how == "read":
            self._outside(path, cell)

    def _input(self, path: str, cell: int | None) -> None:
        if is_litter(path):
            return
        if holds_secret(self._root, path):
            self._secret(path)
        elif path not in self._found.code and path not in self._found.outputs:
            self._found.inputs.setdefault(path, cell)

    def _outside(self, path: str, cell: int | None) -> None:
        """A file that the text reads above the notebook's folder, at home, or by an absolute path."""
        if not path.startswith(("/", "~/", "../")) or not _plausible(path) or holds_secret(self._root, path):
            return
        if path.startswith(SYSTEM):
            return
        try:
            if (self._root / os.path.expanduser(path)).is_file():
                self._found.outside.setdefault(os.path.normpath(path), cell)
        except OSError:
            return

    def _existing(self, path: str) -> list[str]:
        """Places below the root where a written path is a file, for each working directory in question."""
        if not _plausible(path) or path.startswith(("/", "~")):
            return []
        places = []
        for base in self._bases:
            place = self._below(os.path.join(base, path))
            try:
                if place is not None and place not in places and (self._root / place).is_file():
                    places.append(place)
            except (OSError, ValueError):
                continue
        return places

    def _matches(self, how: str, pattern: str) -> Iterable[str]:
        place = self._below(pattern) if _plausible(pattern) and not pattern.startswith(("/", "~")) else None
        if place is None or place == ".":
            return ()
        if how == "folder":
            return self._files_below(place) if (self._root / place).is_dir() else ()
        try:
            found = sorted(path.relative_to(self._root).as_posix() for path in self._root.glob(place))
        except (OSError, ValueError, NotImplementedError):
            return ()
        files = (path for path in found if (self._root / path).is_file() and not self._is_ours(path, place))
        return list(itertools.islice(files, _MOST_FILES))

    def _is_ours(self, path: str, pattern: str) -> bool:
        """Whether a file lies in a bundle or a run directory that the pattern does not name."""
        folders = (folder.as_posix() for folder in Path(path).parents if folder.name)
        return any(made_by_us(self._root / one) for one in folders if not f"{pattern}/".startswith(f"{one}/"))

    def _files_below(self, place: str) -> list[str]:
        found: list[str] = []
        for folder, inner, files in os.walk(self._root / place):
            inner[:] = sorted(n for n in inner if not is_litter(n) and not made_by_us(Path(folder, n)))
            base = Path(folder).relative_to(self._root)
            found.extend((base / name).as_posix() for name in sorted(files) if not is_litter(name))
            if len(found) > _MOST_FILES:
                self._found.unshipped.append(f"{place} holds over {_MOST_FILES} files; the rest is not shipped.")
                return found[:_MOST_FILES]
        return found

    def _below(self, path: str) -> str | None:
        """A path relative to the root in its normal form, or None when it leads out of it."""
        place = os.path.normpath(os.path.join(self._root, path))
        relative = os.path.relpath(place, self._root).replace(os.sep, "/")
        return None if relative == ".." or relative.startswith("../") else relative

    def _secret(self, path: str) -> None:
        sentence = (
            f"{path} looks like a secret and is not shipped; give the job its content as environment variables "
            "or as a secret of the cluster."
        )
        if sentence not in self._found.unshipped:
            self._found.unshipped.append(sentence)


def _plausible(text: str) -> bool:
    return 0 < len(text) <= _LONGEST_NAME and "\n" not in text and "\0" not in text
