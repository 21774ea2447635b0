"""What stands in for the package index in tests that must not change with it."""

from __future__ import annotations

from jupyter_clusterbridge.model.environment import SourceKind
from jupyter_clusterbridge.model.lock import Lock, LockedFile, LockedPackage
from jupyter_clusterbridge.pin.resolve import ResolvedLock

_SHA = "ab" * 32


def fixed_lock() -> ResolvedLock:
    """A lock of one package."""
    file = LockedFile("numpy-2.0.0-cp311-cp311-manylinux_2_17_x86_64.whl", _SHA)
    package = LockedPackage("numpy", "2.0.0", SourceKind.INDEX, (file,), loaded=True)
    url = f"https://index.example/{file.filename}"
    pylock = f"""lock-version = "1.0"
requires-python = "==3.11.*"
created-by = "jupyter-clusterbridge"

[[packages]]
name = "numpy"
version = "2.0.0"
wheels = [
    {{ name = "{file.filename}", url = "{url}", hashes = {{ sha256 = "{_SHA}" }} }},
]
"""
    return ResolvedLock(
        Lock("3.11.7", "linux/amd64", (package,), variables={"OMP_NUM_THREADS": "1"}),
        pylock,
        f"numpy==2.0.0 \\\n    --hash=sha256:{_SHA}\n",
        {},
    )
