"""What the text of a cell or module names: modules, files read or written, folders, artifacts, seeds."""

from __future__ import annotations

import ast
import re
import shlex
from dataclasses import dataclass, field

from jupyter_clusterbridge.export.strings import Names, bind_names, callee, fold
from jupyter_clusterbridge.runtime.source import Magic, parse_cell

_WRITERS = {
    "save", "savez", "savez_compressed", "savetxt", "savefig", "imwrite", "imsave", "dump",
    "to_csv", "to_parquet", "to_json", "to_pickle", "to_excel", "to_hdf", "to_feather", "to_html", "to_file",
    "write_csv", "write_parquet", "write_text", "write_bytes", "write_image", "write_table", "tofile",
    "touch", "mkdir", "makedirs", "save_pretrained", "save_model", "save_file", "save_weights", "save_to_disk",
    "artifact", "urlretrieve", "unlink", "remove", "rmtree", "SummaryWriter",
}  # fmt: skip
_TO_SECOND = {"copy", "copy2", "copyfile", "copytree", "move", "rename", "replace", "urlretrieve", "dump"}
"""Calls that write to their second argument; the first, where it is a path, is read."""
_FOLDER_READERS = {
    "listdir", "scandir", "walk", "iterdir", "fwalk", "ImageFolder", "DatasetFolder", "load_from_disk",
    "image_dataset_from_directory", "flow_from_directory", "load_files", "copytree",
}  # fmt: skip
_GLOBS = {"glob", "iglob", "rglob"}
_SEEDS = re.compile(r"(^|_)(seed|seed_all|seed_everything|manual_seed\w*|default_rng|RandomState|set_seed)$")
_SHELL_CELLS = {"bash", "sh", "script", "!", "system"}


@dataclass
class References:
    """Names of things in the order of the text. Paths are as written, not yet held against the disk."""

    modules: list[str] = field(default_factory=list)
    """Dotted names of imports that are not relative; ``from a import b`` gives ``a`` and ``a.b``."""
    scripts: list[str] = field(default_factory=list)
    """Files that ``%run`` or a shell escape names."""
    uses: list[tuple[str, str]] = field(default_factory=list)
    """(how, path): ``read``, ``write``, ``mention`` (a literal outside of a call), ``folder`` or ``glob``."""
    search: list[str] = field(default_factory=list)
    """Folders put on ``sys.path``."""
    folders: list[str] = field(default_factory=list)
    """Working directories that the text changes to."""
    artifacts: list[str] = field(default_factory=list)
    seeds: list[str] = field(default_factory=list)
    """Calls that seed a stream, as text."""


def cell_references(source: str, names: Names) -> References:
    """References of one cell.

    Args:
        source: the cell's source.
        names: strings that names were bound to in earlier cells; this cell's are added.
    """
    parsed = parse_cell(source)
    found = References()
    if parsed.tree is not None:
        _walk(parsed.tree, names, found)
    for magic in parsed.magics:
        _magic(magic, source, found)
    return found


def module_references(text: str, path: str) -> References:
    """References of a module; ``path`` is its place below the notebook's folder, for ``__file__``."""
    found = References()
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return found
    _walk(tree, {"__file__": [path]}, found)
    return found


def _walk(tree: ast.Module, names: Names, found: References) -> None:
    bind_names(tree, names)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.modules.extend(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found.modules.append(node.module)
            found.modules.extend(f"{node.module}.{alias.name}" for alias in node.names if alias.name != "*")
    _in_order(tree, names, found)


def _in_order(node: ast.AST, names: Names, found: References) -> None:
    """Visit in the order of the text: whether a path is first read or first written counts."""
    if isinstance(node, ast.Call):
        _call(node, names, found)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        found.uses.append(("mention", node.value))
    elif isinstance(node, (ast.BinOp, ast.JoinedStr)):
        found.uses.extend(("mention", value) for value in fold(node, names))
    for child in ast.iter_child_nodes(node):
        _in_order(child, names, found)


def _call(node: ast.Call, names: Names, found: References) -> None:
    name = callee(node)
    receiver = fold(node.func.value, names) if isinstance(node.func, ast.Attribute) else []
    arguments = [fold(argument, names) for argument in node.args]
    keywords = [value for keyword in node.keywords for value in fold(keyword.value, names)]
    flat = [value for values in arguments for value in values]
    if _SEEDS.search(name):
        found.seeds.append(ast.unparse(node))
    if name in ("import_module", "__import__"):
        found.modules.extend(flat)
    if _is_sys_path(node):
        found.search.extend(flat)
    elif name == "chdir":
        found.folders.extend(flat)
    elif name in _GLOBS:
        found.uses.extend(("glob", pattern) for pattern in _patterns(name, receiver, flat))
    elif name in _FOLDER_READERS:
        found.uses.extend(("folder", value) for value in [*receiver, *flat, *keywords])
    elif name in _TO_SECOND and len(arguments) > 1:
        found.uses.extend(("read", value) for value in arguments[0])
        found.uses.extend(("write", value) for value in arguments[1])
    else:
        how = "write" if name in _WRITERS or (name == "open" and _writes(node)) else "read"
        found.uses.extend((how, value) for value in [*receiver, *flat, *keywords])
    if name == "artifact" and arguments:
        found.artifacts.extend(arguments[0])


def _patterns(name: str, receiver: list[str], flat: list[str]) -> list[str]:
    deep = "**/" if name == "rglob" else ""
    if not receiver:
        return flat
    return [f"{folder}/{deep}{pattern}" for folder in receiver for pattern in flat]


def _is_sys_path(node: ast.Call) -> bool:
    function = node.func
    return (
        isinstance(function, ast.Attribute)
        and function.attr in ("append", "insert", "extend")
        and isinstance(function.value, ast.Attribute)
        and function.value.attr == "path"
        and isinstance(function.value.value, ast.Name)
        and function.value.value.id == "sys"
    )


def _writes(node: ast.Call) -> bool:
    """Whether a call of ``open`` names a mode that writes first."""
    place = 0 if isinstance(node.func, ast.Attribute) and not _is_module(node.func.value) else 1
    modes: list[ast.expr] = [keyword.value for keyword in node.keywords if keyword.arg == "mode"]
    modes += node.args[place : place + 1]
    return any(isinstance(mode, ast.Constant) and set(str(mode.value)) & set("wxa") for mode in modes)


def _is_module(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in (
        "io",
        "gzip",
        "bz2",
        "lzma",
        "codecs",
        "os",
        "h5py",
        "zipfile",
    )


def _magic(magic: Magic, source: str, found: References) -> None:
    words = _words(magic.body)
    if magic.kind == "cell" and magic.name in _SHELL_CELLS:
        found.scripts.extend(word for line in source.splitlines()[magic.line :] for word in _words(line))
    elif magic.kind == "cell" and magic.name in ("writefile", "file"):
        found.uses.extend(("write", word) for word in words[-1:])
    elif magic.kind == "shell" or magic.name in ("sx", "system"):
        found.scripts.extend(words)
    elif magic.name == "run":
        _run_magic(words, found)
    elif magic.name in ("load_ext", "reload_ext", "aimport"):
        found.modules.extend(words[:1])
    elif magic.name == "load":
        found.uses.extend(("read", word) for word in words[-1:])
    elif magic.name == "cd":
        found.folders.extend(words[-1:])


def _run_magic(words: list[str], found: References) -> None:
    for position, word in enumerate(words):
        if word == "-m":
            found.modules.extend(words[position + 1 : position + 2])
            return
        if not word.startswith("-"):
            found.scripts.extend([word, f"{word}.py"])
            found.uses.extend(("read", argument) for argument in words[position + 1 :])
            return


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text, comments=True)
    except ValueError:
        return text.split()
