"""Runs ``uv pip compile`` with pip's settings and reads what it found."""

from __future__ import annotations

import enum
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from jupyter_clusterbridge.model.codec import Json, to_json
from jupyter_clusterbridge.model.errors import LockFailed
from jupyter_clusterbridge.pin.answers import remembered
from jupyter_clusterbridge.pin.folders import cache_folder
from jupyter_clusterbridge.pin.pip_config import PipSettings
from jupyter_clusterbridge.pin.resolution import Resolved, Unsolvable, failure_of, merge, parse_listing, sanitise
from jupyter_clusterbridge.pin.target import Target

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["Resolver", "Where", "find_uv", "run_tool", "sanitise", "uv_variables"]

_TIMEOUT_S = 600
# the user's own settings for uv must not decide what a bundle holds; how it keeps and fetches files may stay
_KEPT_UV_VARIABLES = {"UV_CACHE_DIR", "UV_HTTP_RETRIES", "UV_OFFLINE"}

_FINDING = threading.Lock()


class Where(enum.Enum):
    """Which of pip's indexes to ask; only those that another machine could reach as well."""

    PRIMARY = "primary"
    EXTRA = "extra"
    """Extra indexes and pages of links: what is found there alone is named by its full address."""
    ALL = "all"
    HERE = "here"
    """Those on this machine's disk as well: for building, since nothing of them enters a bundle."""


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
            return {name: version for name, (version, _) in parse_listing(text).items()}

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
            return merge(parse_listing(listing.result()), tomllib.loads(document.result()))

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
            done = run_tool(command, folder, uv_variables(self.settings, where))
        if done.returncode != 0:
            raise failure_of(done.stderr)
        return done.stdout


def uv_variables(settings: PipSettings, where: Where) -> dict[str, str]:
    """Variables for uv: the process's, without the user's settings for uv, with those of pip."""
    kept = {name: value for name, value in os.environ.items() if _may_stay(name)}
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
    indexes = {Where.PRIMARY: primary, Where.EXTRA: extra}.get(where, primary + extra)
    links = list(settings.remote_links) if where is not Where.PRIMARY else []
    if where is Where.HERE:
        indexes = indexes + [path.as_uri() for path in settings.local_indexes if path.is_dir()]
        links += [str(path) for path in settings.local_links if path.exists()]
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

        # uv asks sysconfig, whose first use in two threads at once gives half-filled answers before Python 3.13
        with _FINDING:
            return uv.find_uv_bin()
    except (ImportError, FileNotFoundError):
        raise LockFailed("the 'uv' command is missing", hint="Install it with: pip install uv") from None


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
