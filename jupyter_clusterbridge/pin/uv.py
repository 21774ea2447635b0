"""Runs ``uv pip compile`` with pip's settings and reads what it found."""

from __future__ import annotations

import enum
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from packaging.utils import canonicalize_name

from jupyter_clusterbridge.model.codec import Json, to_json
from jupyter_clusterbridge.model.errors import LockFailed
from jupyter_clusterbridge.pin.answers import remembered
from jupyter_clusterbridge.pin.folders import cache_folder
from jupyter_clusterbridge.pin.pip_config import PipSettings, is_remote, without_credentials
from jupyter_clusterbridge.pin.target import Target

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_TIMEOUT_S = 600
_UNSOLVABLE = "No solution found when resolving dependencies"
_NAME = r"([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)"
_MISSING = (
    re.compile(_NAME + r" was not found in the"),
    re.compile(r"there is no version of " + _NAME + r"=="),
    re.compile(_NAME + r"==\S+ has no (?:usable )?wheels"),
    re.compile(_NAME + r"==\S+ has no (?:source distribution|wheels or source)"),
    re.compile(r"only the following versions of " + _NAME),
)
_PIN = re.compile(r"^" + _NAME + r"==(\S+?)(?: ; .*?)?(?: \\)?$")
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
_CREDENTIALS = re.compile(r"(?<=://)[^/\s@]+@")
# the user's own settings for uv must not decide what a bundle holds; how it keeps and fetches files may stay
_KEPT_UV_VARIABLES = {"UV_CACHE_DIR", "UV_HTTP_RETRIES", "UV_OFFLINE"}


class Where(enum.Enum):
    """Which of pip's indexes to ask; only those that another machine could reach as well."""

    PRIMARY = "primary"
    EXTRA = "extra"
    """Extra indexes and pages of links: what is found there alone is named by its full address."""
    ALL = "all"


class Unsolvable(Exception):
    """No set of files satisfies the requirements; ``missing`` names the packages that are to blame."""

    def __init__(self, message: str, missing: frozenset[str]) -> None:
        super().__init__(message)
        self.message = message
        self.missing = missing


@dataclass(frozen=True)
class IndexFile:
    """One file of a package on an index."""

    url: str
    sha256: str

    @property
    def filename(self) -> str:
        """The last part of the address."""
        return unquote(self.url.rsplit("/", 1)[-1])


@dataclass(frozen=True)
class Resolved:
    """One package as the indexes serve it."""

    name: str
    version: str
    hashes: tuple[str, ...]
    """SHA-256 of every file of this version, 64 hex digits each, sorted."""
    files: tuple[IndexFile, ...]
    """Files that install on the target: wheels, and the source archive."""


@dataclass(frozen=True)
class Resolver:
    """Resolves for one target with one set of pip's settings."""

    target: Target
    settings: PipSettings
    python: Path = field(default_factory=lambda: Path(sys.executable))

    @property
    def has_extra(self) -> bool:
        """Whether pip's settings name any remote place beside the primary index."""
        extra = [url for url in self.settings.remote_indexes if url != self.settings.index_url]
        return bool(extra or self.settings.remote_links)

    def lookup(self, pins: Mapping[str, str], where: Where) -> dict[str, Resolved]:
        """Look up exact versions, without looking at what they need; what no index has is left out.

        Raises:
            LockFailed: an index cannot be reached, or the resolver failed otherwise.
        """
        wanted = dict(pins)
        while wanted:
            try:
                return self._pins(wanted, where)
            except Unsolvable as error:
                blamed = error.missing & set(wanted)
                if not blamed:
                    return self._halves(wanted, where)
                for name in blamed:
                    del wanted[name]
        return {}

    def versions(self, requirements: Sequence[str], constraints: Sequence[str]) -> dict[str, str]:
        """Resolve requirements with all that they need, from every index that another machine could reach.

        Raises:
            Unsolvable: no set of versions fits.
            LockFailed: see :meth:`lookup`.
        """

        def ask() -> dict[str, str]:
            text = self._compile(requirements, Where.ALL, constraints=constraints)
            return {name: version for name, (version, _) in _parse_listing(text).items()}

        question = self._question("versions", [*requirements, "", *constraints], Where.ALL)
        return remembered(self._answers, question, str, ask)

    def _halves(self, pins: Mapping[str, str], where: Where) -> dict[str, Resolved]:
        """The resolver blames none by name: halve until the culprits stand alone."""
        items = sorted(pins.items())
        if len(items) == 1:
            return {}
        middle = len(items) // 2
        return {**self.lookup(dict(items[:middle]), where), **self.lookup(dict(items[middle:]), where)}

    def _pins(self, pins: Mapping[str, str], where: Where) -> dict[str, Resolved]:
        lines = [f"{name}=={version}" for name, version in sorted(pins.items())]
        return remembered(
            self._answers, self._question("pins", lines, where), Resolved, lambda: self._ask(lines, where)
        )

    def _ask(self, lines: Sequence[str], where: Where) -> dict[str, Resolved]:
        with ThreadPoolExecutor(2) as pool:
            listing = pool.submit(self._compile, lines, where, "--no-deps", "--generate-hashes")
            document = pool.submit(self._compile, lines, where, "--no-deps", "--format", "pylock.toml")
            return _merge(_parse_listing(listing.result()), tomllib.loads(document.result()))

    @property
    def _answers(self) -> Path:
        return cache_folder() / "answers"

    def _question(self, kind: str, lines: Sequence[str], where: Where) -> Json:
        return [
            kind,
            *lines,
            self.target.resolver_platform,
            self.target.python,
            to_json(_index_variables(self.settings, where)),
        ]

    def _compile(self, lines: Sequence[str], where: Where, *options: str, constraints: Sequence[str] = ()) -> str:
        with tempfile.TemporaryDirectory(prefix="clusterbridge-") as folder:
            source, bounds = Path(folder, "requirements.in"), Path(folder, "constraints.txt")
            source.write_text("\n".join(lines) + "\n", encoding="utf-8")
            bounds.write_text("\n".join(constraints) + "\n", encoding="utf-8")
            command = [find_uv(), "pip", "compile", source.name, "--no-config", "--no-header", "--no-annotate"]
            command += ["--python-version", self.target.python, "--python-platform", self.target.resolver_platform]
            command += ["--python", str(self.python), "--quiet", "--index-strategy", "unsafe-best-match", *options]
            command += ["--constraints", bounds.name] if constraints else []
            done = run_tool(command, folder, self.environ(where))
        if done.returncode != 0:
            raise _failure(done.stderr)
        return done.stdout

    def environ(self, where: Where) -> dict[str, str]:
        """Variables for uv: the process's, without the user's settings for uv, with those of pip."""
        kept = {name: value for name, value in os.environ.items() if _may_stay(name)}
        settings = self.settings
        kept.update(_index_variables(settings, where))
        if settings.certificate:
            kept["SSL_CERT_FILE"] = settings.certificate
        if settings.client_certificate:
            kept["SSL_CLIENT_CERT"] = settings.client_certificate
        if settings.trusted_hosts:
            kept["UV_INSECURE_HOST"] = " ".join(settings.trusted_hosts)
        if settings.proxy:
            kept["ALL_PROXY"] = kept["HTTP_PROXY"] = kept["HTTPS_PROXY"] = settings.proxy
        if settings.timeout_s:
            kept["UV_HTTP_TIMEOUT"] = str(max(1, int(settings.timeout_s)))
        kept["UV_PYTHON_DOWNLOADS"] = "never"
        return kept


def _index_variables(settings: PipSettings, where: Where) -> dict[str, str]:
    # addresses go by variables, since a command line with a password in it shows in every process list
    primary = [url for url in settings.remote_indexes if url == settings.index_url]
    extra = [url for url in settings.remote_indexes if url != settings.index_url]
    indexes = {Where.PRIMARY: primary, Where.EXTRA: extra, Where.ALL: primary + extra}[where]
    links = settings.remote_links if where is not Where.PRIMARY else ()
    by_default = settings.default_index and where is not Where.EXTRA
    found: dict[str, str] = {}
    if indexes and not by_default:
        found["UV_DEFAULT_INDEX"], *indexes = indexes
    elif not by_default:
        found["UV_NO_INDEX"] = "1"
    if indexes:
        found["UV_INDEX"] = " ".join(indexes)
    if links:
        found["UV_FIND_LINKS"] = ",".join(links)
    return found


def find_uv() -> str:
    """The path of the ``uv`` command that was installed with us.

    Raises:
        LockFailed: it is not there.
    """
    try:
        import uv

        return uv.find_uv_bin()
    except (ImportError, FileNotFoundError):
        raise LockFailed("the 'uv' command is missing", hint="Install it with: pip install uv") from None


def sanitise(text: str) -> str:
    """A tool's message without credentials."""
    return _CREDENTIALS.sub("", text).strip()


def _may_stay(name: str) -> bool:
    return not name.startswith("UV_") or name in _KEPT_UV_VARIABLES


def run_tool(command: Sequence[str], folder: str, environ: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a resolver or builder in a folder and wait for it.

    Raises:
        LockFailed: it cannot be started or does not come to an end.
    """
    try:
        return subprocess.run(
            command, cwd=folder, env=dict(environ), capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise LockFailed(f"the resolver did not finish within {_TIMEOUT_S} s") from None
    except OSError as error:
        raise LockFailed(f"the resolver could not be started ({error})") from None


def _failure(stderr: str) -> Exception:
    message = sanitise(stderr)
    if _UNSOLVABLE in message:
        joined = " ".join(message.split())
        names = {canonicalize_name(match[1]) for pattern in _MISSING for match in pattern.finditer(joined)}
        return Unsolvable(message, frozenset(names))
    if re.search(r"(?i)failed to fetch|request failed|error sending request|could not connect", message):
        place = re.search(r"https?://[^/\s`]+", message)
        where = without_credentials(place[0]) if place else "a package index"
        reason = message.splitlines()[-1].removeprefix("  cause: ").strip()
        return LockFailed(
            f"{where} cannot be used: {reason}",
            hint="Check the network and the index settings of pip ('pip config list'), then export again.",
        )
    return LockFailed(f"the resolver failed: {message}")


def _parse_listing(text: str) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Version and hashes by name, from output in the form of a requirements file."""
    found: dict[str, tuple[str, tuple[str, ...]]] = {}
    name = ""
    for line in text.splitlines():
        pin = _PIN.match(line)
        digest = _HASH.search(line)
        if pin:
            name = canonicalize_name(pin[1])
            found[name] = (pin[2], ())
        elif digest and name:
            version, hashes = found[name]
            found[name] = (version, (*hashes, digest[1]))
    return found


def _merge(listing: Mapping[str, tuple[str, tuple[str, ...]]], document: Mapping[str, Any]) -> dict[str, Resolved]:
    files: dict[str, tuple[IndexFile, ...]] = {
        canonicalize_name(entry["name"]): _files(entry) for entry in document.get("packages", [])
    }
    return {
        name: Resolved(name, version, tuple(sorted(set(hashes))), files.get(name, ()))
        for name, (version, hashes) in listing.items()
    }


def _files(entry: Mapping[str, Any]) -> tuple[IndexFile, ...]:
    raw = [*entry.get("wheels", []), *([entry["sdist"]] if "sdist" in entry else [])]
    found = [
        IndexFile(without_credentials(file["url"]), file["hashes"]["sha256"])
        for file in raw
        if is_remote(file.get("url", "")) and "sha256" in file.get("hashes", {})
    ]
    return tuple(sorted(found, key=lambda file: (not file.filename.endswith(".whl"), file.filename)))
