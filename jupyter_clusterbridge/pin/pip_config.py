"""What pip's own configuration says about indexes and certificates; the resolver does not read it itself.

The files and their order are those of pip's documentation, "Configuration": global, user, site, then the
file named by ``PIP_CONFIG_FILE``, then ``PIP_*`` variables; a later one overrides an earlier one.
"""

from __future__ import annotations

import configparser
import os
import platform
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

_SECTIONS = ("global", "install")
_TRUE = {"1", "yes", "y", "true", "on", "t"}


@dataclass(frozen=True)
class PipSettings:
    """Where pip looks for packages on this machine. Addresses may hold credentials: never write them out."""

    index_url: str | None = None
    """None for pip's default index."""
    extra_index_urls: tuple[str, ...] = ()
    find_links: tuple[str, ...] = ()
    no_index: bool = False
    certificate: str | None = None
    client_certificate: str | None = None
    constraints: tuple[str, ...] = ()
    trusted_hosts: tuple[str, ...] = ()
    proxy: str | None = None
    timeout_s: float | None = None

    @property
    def remote_indexes(self) -> tuple[str, ...]:
        """Configured indexes that another machine could reach too, the primary one first."""
        return tuple(url for url in self._indexes() if is_remote(url))

    @property
    def default_index(self) -> bool:
        """Whether pip's default index is searched."""
        return self.index_url is None and not self.no_index

    @property
    def remote_links(self) -> tuple[str, ...]:
        """Pages of links that another machine could reach too."""
        return tuple(link for link in self.find_links if is_remote(link))

    @property
    def local_indexes(self) -> tuple[Path, ...]:
        """Folders on this machine's disk in the layout of an index."""
        return tuple(as_path(url) for url in self._indexes() if not is_remote(url))

    @property
    def local_links(self) -> tuple[Path, ...]:
        """Folders on this machine's disk that hold wheels."""
        return tuple(as_path(link) for link in self.find_links if not is_remote(link))

    def _indexes(self) -> tuple[str, ...]:
        if self.no_index:
            return ()
        return (*((self.index_url,) if self.index_url else ()), *self.extra_index_urls)


def is_remote(address: str) -> bool:
    """Whether an address is on the network."""
    return urlsplit(address).scheme in ("http", "https")


def as_path(address: str) -> Path:
    """The local path that a ``file:`` address or a plain path names."""
    parts = urlsplit(address)
    return Path(unquote(parts.path) if parts.scheme == "file" else address).expanduser()


def without_credentials(url: str) -> str:
    """An address without user name, password, query and fragment.

    >>> without_credentials("https://me:secret@host/simple/?token=1#x")
    'https://host/simple/'
    """
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()


def read_pip_settings(prefix: Path | None = None, environ: Mapping[str, str] | None = None) -> PipSettings:
    """Read pip's configuration.

    Args:
        prefix: the environment whose own ``pip.conf`` counts; this interpreter's by default.
        environ: the variables to read; the process's by default.
    """
    variables = os.environ if environ is None else environ
    values: dict[str, str] = {}
    for path in _files(Path(sys.prefix) if prefix is None else prefix, variables):
        values.update(_read(path))
    for name, value in variables.items():
        if name.startswith("PIP_") and value:
            values[name[4:].lower().replace("_", "-")] = value
    return _settings(values)


def _settings(values: Mapping[str, str]) -> PipSettings:
    timeout = values.get("timeout") or values.get("default-timeout") or ""
    return PipSettings(
        index_url=values.get("index-url") or None,
        extra_index_urls=_many(values, "extra-index-url"),
        find_links=_many(values, "find-links"),
        no_index=values.get("no-index", "").lower() in _TRUE,
        certificate=values.get("cert") or None,
        client_certificate=values.get("client-cert") or None,
        constraints=_many(values, "constraint"),
        trusted_hosts=_many(values, "trusted-host"),
        proxy=values.get("proxy") or None,
        timeout_s=float(timeout) if timeout.replace(".", "", 1).isdigit() else None,
    )


def _many(values: Mapping[str, str], key: str) -> tuple[str, ...]:
    return tuple(values.get(key, "").split())


def _read(path: Path) -> dict[str, str]:
    parser = configparser.RawConfigParser()
    try:
        parser.read_string(path.read_text(encoding="utf-8"))
    # a file that pip itself would stumble over says nothing here; pip reports it where it is used
    except (OSError, UnicodeDecodeError, configparser.Error):
        return {}
    values: dict[str, str] = {}
    for section in _SECTIONS:
        if parser.has_section(section):
            values.update({key.replace("_", "-"): value for key, value in parser.items(section)})
    return values


def _files(prefix: Path, variables: Mapping[str, str]) -> Iterable[Path]:
    named = variables.get("PIP_CONFIG_FILE")
    if named == os.devnull:
        return
    home = Path(variables.get("HOME") or variables.get("USERPROFILE") or Path.home())
    name = "pip.ini" if os.name == "nt" else "pip.conf"
    yield from _global_files(variables, name)
    if not (named and Path(named).is_file()):
        yield home / (".pip" if os.name != "nt" else "pip") / name
        yield _user_folder(home, variables) / "pip" / name
    yield prefix / name
    if named:
        yield Path(named)


def _global_files(variables: Mapping[str, str], name: str) -> Iterable[Path]:
    if platform.system() == "Windows":
        yield Path(variables.get("PROGRAMDATA", "C:/ProgramData")) / "pip" / name
    elif platform.system() == "Darwin":
        yield Path("/Library/Application Support/pip") / name
    else:
        # pip reads the folders from the least to the most important
        for folder in reversed((variables.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(os.pathsep)):
            yield Path(folder) / "pip" / name
        yield Path("/etc") / name


def _user_folder(home: Path, variables: Mapping[str, str]) -> Path:
    if platform.system() == "Windows":
        return Path(variables.get("APPDATA") or home / "AppData" / "Roaming")
    if platform.system() == "Darwin" and (home / "Library/Application Support/pip").is_dir():
        return home / "Library/Application Support"
    return Path(variables.get("XDG_CONFIG_HOME") or home / ".config")
