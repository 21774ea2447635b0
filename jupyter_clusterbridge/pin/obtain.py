"""Gets a wheel for a distribution that no index serves, so that the bundle can carry it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from packaging.utils import parse_wheel_filename

from jupyter_clusterbridge.model.environment import Distribution, SourceKind
from jupyter_clusterbridge.model.errors import PackageNotFound
from jupyter_clusterbridge.pin.build import build_commit, build_project
from jupyter_clusterbridge.pin.folders import cache_folder
from jupyter_clusterbridge.pin.installed import Place, repack, wheel_tag
from jupyter_clusterbridge.pin.uv import Resolver
from jupyter_clusterbridge.pin.wheels import find_local_wheel, is_wheel_of, wheel_digest

DIRECT = frozenset({SourceKind.EDITABLE, SourceKind.DIRECTORY, SourceKind.GIT, SourceKind.WHEEL, SourceKind.URL})
"""Sources that are never looked up on an index: a package of the same name there is another one."""


@dataclass(frozen=True)
class Shipped:
    """A wheel for the bundle."""

    name: str
    version: str
    path: Path
    sha256: str
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Obtainer:
    """Finds or builds wheels for one target."""

    resolver: Resolver
    places: Mapping[str, Place]
    """Where the distributions are installed, as far as that is known here."""
    binaries_fit: bool
    """Whether what is installed here runs on the target."""
    progress: Callable[[str], None]

    def obtain(self, dist: Distribution, version: str) -> Shipped:
        """A wheel of this distribution that installs on the target.

        Tried in this order: the wheel that it was installed from, pip's local folders, a build of an
        editable project, the installed files themselves, the git commit, the project's folder.

        Raises:
            PackageNotFound: none of these works; the message says why.
        """
        found = self._ready(dist, version)
        if found is None and dist.source is SourceKind.EDITABLE:
            found = self._project(dist, version)
        warnings: tuple[str, ...] = ()
        if found is None:
            found, warnings = self._installed(dist, version)
        if found is None and dist.source is SourceKind.GIT and dist.origin:
            self.progress(f"Building {dist.name} from its git commit")
            found = build_commit(dist.name, version, dist.origin, self.resolver)
        if found is None and dist.source is SourceKind.DIRECTORY:
            found = self._project(dist, version)
        if found is None or not self.resolver.target.accepts(found.name):
            raise self._refusal(dist, version, found)
        built = str(parse_wheel_filename(found.name)[1])
        if built != version:
            warnings += (f"{dist.name} is installed as {version}, but its project now builds version {built}.",)
        return Shipped(dist.name, built, found, wheel_digest(found), warnings)

    def pure(self, dist: Distribution, version: str) -> Shipped | None:
        """The installed files as a wheel, where they hold no binary; for what an index has as source only."""
        place = self.places.get(dist.name)
        if place is None or not (wheel_tag(place) or "").endswith("-none-any"):
            return None
        found, warnings = self._installed(dist, version)
        return None if found is None else Shipped(dist.name, version, found, wheel_digest(found), warnings)

    def _ready(self, dist: Distribution, version: str) -> Path | None:
        target = self.resolver.target
        if dist.source is SourceKind.WHEEL and dist.origin:
            path = Path(dist.origin)
            if is_wheel_of(path.name, dist.name, version) and path.is_file() and target.accepts(path.name):
                return path
        if dist.source in DIRECT:
            return None
        return find_local_wheel(dist.name, version, target, self.resolver.settings)

    def _project(self, dist: Distribution, version: str) -> Path | None:
        folder = Path(dist.origin) if dist.origin else None
        if folder is None or not any((folder / name).is_file() for name in ("pyproject.toml", "setup.py")):
            return None
        self.progress(f"Building a wheel of {dist.name}")
        return build_project(dist.name, version, folder, self.resolver)

    def _installed(self, dist: Distribution, version: str) -> tuple[Path | None, tuple[str, ...]]:
        place = self.places.get(dist.name)
        if place is None or place.version != version or dist.source is SourceKind.EDITABLE:
            return None, ()
        tag = wheel_tag(place) or ""
        # conda's binaries lean on libraries that lie outside of any wheel
        if not tag.endswith("-none-any") and (not self.binaries_fit or dist.source is SourceKind.CONDA):
            return None, ()
        self.progress(f"Packing the installed files of {dist.name}")
        packed = repack(place, cache_folder() / "installed")
        if packed is None or not packed.changed:
            return (None if packed is None else packed.path), ()
        more = f" and {len(packed.changed) - 1} more" if len(packed.changed) > 1 else ""
        warning = (
            f"{dist.name} {version} was changed by hand after it was installed ({packed.changed[0]}{more}); "
            "the bundle carries it as it is."
        )
        return packed.path, (warning,)

    def _refusal(self, dist: Distribution, version: str, found: Path | None) -> PackageNotFound:
        target = self.resolver.target
        if found is not None:
            why = f"its wheel {found.name} does not install on {target.platform} with Python {target.python_minor}"
        elif dist.source is SourceKind.EDITABLE or dist.source is SourceKind.DIRECTORY:
            why = "its project folder is gone, or holds neither pyproject.toml nor setup.py"
        elif dist.source in DIRECT:
            why = f"it came from a {dist.source.value}, and neither that nor the installed files can be used here"
        else:
            why = "no package index and no folder that pip's settings name has this version for the target"
        return PackageNotFound(f"{dist.name} {version} cannot be put into the lock for {target.platform}: {why}")
