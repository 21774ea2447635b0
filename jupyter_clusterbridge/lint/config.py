"""The table ``[tool.clusterbridge.lint]`` of the nearest ``pyproject.toml``."""

from __future__ import annotations

import fnmatch
import functools
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from jupyter_clusterbridge.lint.registry import Choice, parse_codes
from jupyter_clusterbridge.model.errors import ConfigInvalid

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CONFIG_FILE = "pyproject.toml"
_TABLE = ("tool", "clusterbridge", "lint")
_KEYS = ("select", "ignore", "per-file-ignores", "exclude")


@dataclass(frozen=True)
class LintConfig:
    """What a project has set; without a table all of it is empty."""

    root: Path | None = None
    """The folder of the ``pyproject.toml``; patterns are relative to it."""
    select: tuple[str, ...] = ("CB",)
    ignore: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Pattern and the codes that are ignored in the files that it fits."""
    exclude: tuple[str, ...] = ()
    """Patterns of files and folders that are left out."""

    def choice_for(self, path: Path, select: tuple[str, ...] | None, ignore: tuple[str, ...] | None) -> Choice:
        """The rules for one file; what the command line gives takes the place of what the project has set."""
        ignored = self.ignore if ignore is None else ignore
        for pattern, codes in self.per_file_ignores:
            if fits(path, pattern, self.root):
                ignored += codes
        return Choice(self.select if select is None else select, ignored)

    def excludes(self, path: Path) -> bool:
        """Whether a file or folder is left out, itself or by a folder that it lies in."""
        return any(fits(path, pattern, self.root) for pattern in self.exclude)


def fits(path: Path, pattern: str, root: Path | None) -> bool:
    """Whether a pattern names a path or a folder around it.

    A pattern without a slash is held against every part of the path below ``root``, one with a slash against the
    path from ``root``; ``*`` also stands for slashes, ``**/`` for none too, ``/**`` for all that a folder holds.

    >>> root = Path("/project")
    >>> fits(root / "old" / "a.ipynb", "old", root), fits(root / "old" / "a.ipynb", "old/*.ipynb", root)
    (True, True)
    >>> fits(root / "old" / "a.ipynb", "**/old/**", root), fits(root / "new" / "old", "/old", root)
    (True, False)
    """
    absolute = Path(os.path.abspath(path))
    if root is not None and absolute.is_relative_to(root):
        absolute = absolute.relative_to(root)
    parts = PurePosixPath(absolute.as_posix()).parts
    pattern = pattern.removeprefix("./").rstrip("/")
    anchored = "/" in pattern.removeprefix("**/").removesuffix("/**" if pattern.startswith("**/") else "")
    pattern = pattern.removesuffix("/**")
    inner = pattern.removeprefix("**/")
    if not anchored:
        return any(fnmatch.fnmatchcase(part, inner) for part in parts)
    heads = ["/".join(parts[: end + 1]) for end in range(len(parts))]
    return any(fnmatch.fnmatchcase(head, form.removeprefix("/")) for head in heads for form in (pattern, inner))


def config_for(path: Path) -> LintConfig:
    """The configuration that holds for a file or a folder: of the nearest ``pyproject.toml`` that has the table.

    Raises:
        ConfigInvalid: a file on the way is no TOML, or the table says what it may not.
    """
    absolute = Path(os.path.abspath(path))
    return _of_folder(absolute if absolute.is_dir() else absolute.parent)


@functools.lru_cache(maxsize=1024)
def _of_folder(folder: Path) -> LintConfig:
    table = _table(folder / CONFIG_FILE)
    if table is not None:
        return _parse(table, folder)
    return _of_folder(folder.parent) if folder.parent != folder else LintConfig()


def forget_configs() -> None:
    """Read configurations anew; they are kept, since many files share one."""
    _of_folder.cache_clear()


def _table(file: Path) -> object | None:
    try:
        content = file.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigInvalid(f"{file}: cannot be read ({error})") from None
    try:
        found: object = tomllib.loads(content)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigInvalid(f"{file}: is not valid TOML ({error})") from None
    for key in _TABLE:
        if not isinstance(found, dict) or key not in found:
            return None
        found = found[key]
    return found


def _parse(table: object, root: Path) -> LintConfig:
    where = f"{root / CONFIG_FILE}: [{'.'.join(_TABLE)}]"
    if not isinstance(table, dict):
        raise ConfigInvalid(f"{where} is no table")
    unknown = next((key for key in table if key not in _KEYS), None)
    if unknown is not None:
        raise ConfigInvalid(f"{where} has the key {unknown!r}; there are {', '.join(_KEYS)}")
    per_file = table.get("per-file-ignores", {})
    if not isinstance(per_file, Mapping):
        raise ConfigInvalid(f"{where} per-file-ignores is no table of patterns")
    of_file = f"{where} per-file-ignores"
    ignores = [
        (str(pattern), parse_codes(_texts({pattern: codes}, pattern, of_file), of_file))
        for pattern, codes in per_file.items()
    ]
    select = parse_codes(_texts(table, "select", where), f"{where} select") if "select" in table else ("CB",)
    if not select:
        raise ConfigInvalid(f"{where} select names no code, so that nothing would be checked")
    return LintConfig(
        root=root,
        select=select,
        ignore=parse_codes(_texts(table, "ignore", where), f"{where} ignore"),
        per_file_ignores=tuple(ignores),
        exclude=tuple(_texts(table, "exclude", where)),
    )


def _texts(table: Mapping[str, object], key: str, where: str) -> list[str]:
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ConfigInvalid(f"{where} {key} is no list of texts")
    return value
