"""What never enters a bundle: secrets by their names, what tools leave behind, bundles and runs."""

from __future__ import annotations

import fnmatch
import os
from pathlib import Path, PurePosixPath

from jupyter_clusterbridge.model.bundle import BUNDLE_FILE, NOTEBOOK_FILE, PYLOCK_FILE

_SECRET_FILES = (
    ".env", ".env.*", "*.env", ".netrc", "_netrc", ".pypirc", ".npmrc", ".pgpass", ".git-credentials", ".htpasswd",
    "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.ppk", "*.gpg",
    "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "kaggle.json", "credentials", "credentials.*",
    "*credentials*.json", "client_secret*.json", "*service[-_]account*.json", "secrets.*", "secret.*",
    "kubeconfig", "*.kubeconfig", "pip.conf", "pip.ini", "token", "token.*", "*.token",
)  # fmt: skip
_SECRET_FOLDERS = {".ssh", ".aws", ".azure", ".gnupg", ".kube", ".docker", ".gcloud", ".config", "secrets"}
_SECRET_EXEMPT = {".py", ".pyi"}
_LITTER = {
    ".git", ".hg", ".svn", ".clusterbridge", "__pycache__", ".ipynb_checkpoints", ".venv", "venv", "node_modules",
    ".mypy_cache", ".ruff_cache", ".pytest_cache", ".tox", ".nox", ".idea", ".vscode",
}  # fmt: skip
_PRODUCTS = ((BUNDLE_FILE, PYLOCK_FILE, NOTEBOOK_FILE), ("status.json", "executed.ipynb"))
_LITTER_FILES = (".DS_Store", "Thumbs.db", "*.pyc", "*.pyo", "*.swp", "*~")


def is_secret(path: str) -> bool:
    """Whether a file's name says that it holds a secret.

    >>> is_secret("config/.env"), is_secret("keys/id_rsa"), is_secret("token.py"), is_secret("data.csv")
    (True, True, False, False)
    """
    pure = PurePosixPath(path)
    if _SECRET_FOLDERS & set(pure.parts[:-1]):
        return True
    name = pure.name.lower()
    return pure.suffix not in _SECRET_EXEMPT and any(
        fnmatch.fnmatchcase(name, pattern) for pattern in _SECRET_FILES
    )


def holds_secret(root: Path, path: str) -> bool:
    """Whether a file below ``root``, or the one that a link there leads to, has the name of a secret."""
    if is_secret(path):
        return True
    # not Path.resolve, which fails where links go round in a circle
    real = os.path.realpath(root / os.path.expanduser(path))
    for parent in (os.path.realpath(root), os.path.realpath(os.path.expanduser("~"))):
        if real.startswith(parent.rstrip(os.sep) + os.sep):
            # the names of folders above say nothing about the file
            return is_secret(Path(os.path.relpath(real, parent)).as_posix())
    return is_secret(Path(real).as_posix())


def is_litter(path: str) -> bool:
    """Whether a file is what a tool left: caches, version control, environments, our own journals."""
    pure = PurePosixPath(path)
    return bool(_LITTER & set(pure.parts)) or any(fnmatch.fnmatchcase(pure.name, name) for name in _LITTER_FILES)


def made_by_us(folder: Path) -> bool:
    """Whether a folder is a bundle or a run directory: a product of the notebook, and none of its data."""
    return any(all((folder / name).is_file() for name in names) for names in _PRODUCTS)
