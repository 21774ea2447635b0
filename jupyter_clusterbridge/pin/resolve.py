"""Turns an observed environment into a lock for a target platform."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name, parse_wheel_filename

from jupyter_clusterbridge.model.environment import Distribution, Environment, SourceKind
from jupyter_clusterbridge.model.errors import LockFailed, PackageNotFound
from jupyter_clusterbridge.model.lock import Lock
from jupyter_clusterbridge.pin.differences import import_warnings, job_variables, platform_differences
from jupyter_clusterbridge.pin.installed import locate
from jupyter_clusterbridge.pin.lockfiles import (
    Entry,
    pylock_text,
    requirement_line,
    requirements_text,
    shipped_package,
)
from jupyter_clusterbridge.pin.obtain import DIRECT, Obtainer, Shipped
from jupyter_clusterbridge.pin.pip_config import read_pip_settings
from jupyter_clusterbridge.pin.resolution import Resolved, Unsolvable
from jupyter_clusterbridge.pin.selection import Selection, select
from jupyter_clusterbridge.pin.target import Target, target_for
from jupyter_clusterbridge.pin.uv import Resolver, Where
from jupyter_clusterbridge.pin.wheels import wheel_digest


@dataclass(frozen=True)
class ResolvedLock:
    """A lock, its two text forms, and the wheels that the bundle carries."""

    lock: Lock
    pylock: str
    requirements: str
    wheels: Mapping[str, Path]
    """File name to the file that is to be copied into the bundle's ``wheels/``."""

    def with_wheel(self, path: Path) -> ResolvedLock:
        """This lock with one more shipped wheel, named in both text forms (for the runtime's own wheel)."""
        name, version, _, _ = parse_wheel_filename(path.name)
        digest = wheel_digest(path)
        return dataclasses.replace(
            self,
            pylock=f"{self.pylock}{shipped_package(name, str(version), path.name, digest)}\n",
            requirements=self.requirements + requirement_line(name, str(version), (digest,)),
            wheels={**self.wheels, path.name: path},
        )


def resolve(
    environment: Environment,
    *,
    scope: str = "used",
    platform: str = "linux/amd64",
    imports: Collection[str] | None = None,
    python: Path | None = None,
    progress: Callable[[str], None] = lambda text: None,
) -> ResolvedLock:
    """Lock an environment: exact versions with hashes for a target platform.

    Args:
        environment: what was observed in the kernel or interpreter.
        scope: ``used`` for what was loaded and what that needs, ``all`` for everything installed.
        platform: target in OCI form, ``linux/amd64`` or ``linux/arm64``.
        imports: distributions that count as loaded though the environment does not say so. None where that
            is unknown: then everything is locked if the environment does not say of any that it was loaded.
        python: the interpreter that was observed, if it is on this machine; this one by default. Its
            ``pip.conf`` counts, and its installed files are packed where no index has a package.
        progress: called with a line of text at each longer step.

    Raises:
        PackageNotFound: a package is on no index and cannot be made into a wheel.
        LockFailed: an index cannot be reached, or the resolver failed.
    """
    target = target_for(environment, platform)
    interpreter = python if python is not None and python.exists() else Path(sys.executable)
    settings = read_pip_settings(interpreter.parent.parent)
    return _Locking(environment, target, Resolver(target, settings, interpreter), progress).run(scope, imports)


class _Locking:
    """One run of :func:`resolve`."""

    def __init__(
        self, environment: Environment, target: Target, resolver: Resolver, progress: Callable[[str], None]
    ) -> None:
        self.environment = environment
        self.target = target
        self.resolver = resolver
        self.progress = progress
        self.same_platform = target.runs_like(environment)
        self.entries: dict[str, Entry] = {}
        self.differences = platform_differences(environment, target)
        self.warnings: list[str] = []

    def run(self, scope: str, imports: Collection[str] | None) -> ResolvedLock:
        if scope == "used" and imports is None and not any(dist.loaded for dist in self.environment.distributions):
            self.warnings.append("Nothing is known about what the notebook imports: every package is locked.")
            scope = "all"
        selection = select(self.environment, self.target, scope=scope, imports=imports or ())
        chosen = {dist.name: dist for dist in selection.chosen}
        self.warnings += import_warnings(chosen)
        self.progress(f"Locking {len(chosen)} packages")
        unserved = self._serve(chosen)
        replaced = self._ship(unserved)
        self._add_fresh(selection, replaced)
        return self._result()

    def _serve(self, chosen: Mapping[str, Distribution]) -> list[Distribution]:
        """Look everything up on the indexes; what is left has to be shipped."""
        wanted = {name: _version(dist) for name, dist in chosen.items() if dist.source not in DIRECT}
        # no public index takes local labels, so that asking for them first would only cost a failed run
        labelled = {name: version for name, version in wanted.items() if "+" in version}
        plain = {name: version for name, version in wanted.items() if name not in labelled}
        with ThreadPoolExecutor(2) as pool:
            first = pool.submit(self.resolver.lookup, plain, Where.PRIMARY)
            second = pool.submit(self._lookup_labelled, labelled)
            served, by_address = {**first.result(), **second.result()[0]}, second.result()[1]
        left = {name: version for name, version in plain.items() if name not in served}
        if left and self.resolver.has_extra:
            extra = self.resolver.lookup(left, Where.EXTRA)
            served.update(extra)
            by_address |= set(extra)
        conda = sorted(name for name in served if chosen[name].source is SourceKind.CONDA)
        if conda:
            self.differences.append(
                f"From conda in the notebook, from the package index in the job, in the same version but another "
                f"build: {', '.join(conda)}."
            )
        for name, found in served.items():
            self.entries[name] = self._served(chosen[name], found, name in by_address)
        return [dist for name, dist in sorted(chosen.items()) if name not in served]

    def _lookup_labelled(self, pins: Mapping[str, str]) -> tuple[dict[str, Resolved], set[str]]:
        extra = self.resolver.lookup(pins, Where.EXTRA) if self.resolver.has_extra else {}
        left = {name: version for name, version in pins.items() if name not in extra}
        # pip's default index refuses uploads with a local label; a primary index of one's own may hold them
        own = self.resolver.settings.index_url is not None
        return {**extra, **(self.resolver.lookup(left, Where.PRIMARY) if own else {})}, set(extra)

    def _served(self, dist: Distribution, found: Resolved, by_address: bool) -> Entry:
        entry = Entry(found.name, found.version, dist.source, dist.loaded, found, by_address=by_address)
        if entry.has_served_wheel:
            return entry
        shipped = self._obtainer([dist.name]).pure(dist, found.version)
        if shipped is not None:
            self.warnings += shipped.warnings
            return dataclasses.replace(entry, served=None, shipped=shipped)
        self.warnings.append(
            f"{found.name} {found.version} has no wheel for {self.target.platform}: installing the job's "
            "environment compiles it from source, which needs a compiler in the image."
        )
        return entry

    def _ship(self, unserved: Iterable[Distribution]) -> dict[str, str]:
        """Find or build wheels; returns the packages for which another version has to stand in."""
        todo = list(unserved)
        if not todo:
            return {}
        obtainer = self._obtainer([dist.name for dist in todo])
        replaced: dict[str, str] = {}
        for dist in todo:
            version = _version(dist)
            try:
                shipped = obtainer.obtain(dist, version)
            except PackageNotFound:
                known = dist.source is SourceKind.CONDA or not self.same_platform
                if dist.source in DIRECT or not known:
                    raise
                self._do_without(dist, version, replaced)
                continue
            self.warnings += shipped.warnings
            self.entries[dist.name] = self._shipped(dist, shipped)
        return replaced

    def _obtainer(self, names: Collection[str]) -> Obtainer:
        places = locate(self.resolver.python, names)
        return Obtainer(self.resolver, places, self.same_platform, self.progress)

    def _shipped(self, dist: Distribution, shipped: Shipped) -> Entry:
        return Entry(shipped.name, shipped.version, dist.source, dist.loaded, shipped=shipped)

    def _do_without(self, dist: Distribution, version: str, replaced: dict[str, str]) -> None:
        """For another platform: the public version in place of a local label, else leave it out."""
        public = version.partition("+")[0]
        where = self.target.platform
        if public != version and self.resolver.lookup({dist.name: public}, Where.ALL):
            replaced[dist.name] = public
            self.differences.append(
                f"{dist.name} {version} has no build for {where}; {public} from the index stands in."
            )
            return
        self.differences.append(
            f"{dist.name} {version} has no build for {where} and is left out; code that imports it fails there."
        )

    def _add_fresh(self, selection: Selection, replaced: Mapping[str, str]) -> None:
        """Resolve what the environment does not hold: the runtime's needs, and what another platform asks for."""
        missing = [
            line for line in selection.missing if canonicalize_name(Requirement(line).name) not in self.entries
        ]
        if not missing and not replaced:
            return
        added = [*(f"{name}=={version}" for name, version in replaced.items()), *missing]
        bounds = [f"{d.name}=={_version(d)}" for d in self.environment.distributions if d.source not in DIRECT]
        bounds = [line for line in bounds if "+" not in line]
        found = self._versions(added, bounds)
        new = {name: version for name, version in found.items() if name not in self.entries}
        served = self.resolver.lookup(new, Where.ALL)
        known = {dist.name: dist for dist in self.environment.distributions}
        for name, pin in sorted(served.items()):
            dist = known.get(name, Distribution(name, pin.version))
            self.entries[name] = Entry(name, pin.version, dist.source, dist.loaded, pin)
        strangers = sorted(set(served) - set(replaced))
        if strangers and not self.same_platform:
            listed = ", ".join(f"{name} {served[name].version}" for name in strangers)
            self.differences.append(
                f"Added for {self.target.platform}, not in the notebook's environment: {listed}."
            )
        if lost := sorted(set(new) - set(served)):
            raise PackageNotFound(f"needed for the job and on no package index: {', '.join(lost)}")

    def _versions(self, added: list[str], bounds: list[str]) -> dict[str, str]:
        # without a wheel, the resolver would have to run the package's build to see what it needs
        pins = [f"{entry.name}=={entry.version}" for entry in self.entries.values() if entry.has_served_wheel]
        try:
            return self.resolver.versions([*pins, *added], [*bounds, *self._pip_constraints()])
        except Unsolvable as error:
            # an environment may hold versions that contradict each other; what is added need not fit them all
            try:
                return self.resolver.versions(added, [f"{e.name}=={e.version}" for e in self.entries.values()])
            except Unsolvable:
                raise LockFailed(
                    f"the runtime's needs do not fit the notebook's packages: {error.message}"
                ) from None

    def _pip_constraints(self) -> list[str]:
        lines: list[str] = []
        for name in self.resolver.settings.constraints:
            try:
                lines += Path(name).read_text(encoding="utf-8").splitlines()
            except OSError:
                continue
        return [line.strip() for line in lines if line.strip() and not line.lstrip().startswith(("#", "-"))]

    def _result(self) -> ResolvedLock:
        entries = sorted(self.entries.values(), key=lambda entry: entry.name)
        lock = Lock(
            python=self.environment.python,
            platform=self.target.platform,
            packages=tuple(entry.locked() for entry in entries),
            variables=job_variables(self.environment, self.target),
            known_differences=tuple(self.differences),
            warnings=tuple(self.warnings),
        )
        wheels = {entry.shipped.path.name: entry.shipped.path for entry in entries if entry.shipped is not None}
        return ResolvedLock(
            lock, pylock_text(entries, self.target), requirements_text(entries, self.target), wheels
        )


def _version(dist: Distribution) -> str:
    """The version to lock: what is in memory counts, not what is on disk."""
    return dist.loaded_version or dist.version
