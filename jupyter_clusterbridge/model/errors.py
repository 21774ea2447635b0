"""Every failure that a user can see: one class, one exit code, one hint on what to do next.

A library function raises; only a door prints. The codes are those of the ``clusterbridge``
command; what a job's process exits with stands in :mod:`jupyter_clusterbridge.model.run`.
"""

from __future__ import annotations

from typing import ClassVar


class ClusterBridgeError(Exception):
    """Base of all errors that are meant for a user; the message says what happened and why."""

    exit_code: ClassVar[int] = 9
    hint: ClassVar[str] = ""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.next_step = type(self).hint if hint is None else hint

    def __str__(self) -> str:
        return self.message


class NotebookUnreadable(ClusterBridgeError):
    """The file is missing, is not JSON, or is not a notebook."""

    exit_code = 10
    hint = "Open the notebook in JupyterLab and save it again, or restore it from version control."


class NotebookTooOld(ClusterBridgeError):
    """The notebook has nbformat 3 or older."""

    exit_code = 11
    hint = "Convert a copy with: jupyter nbconvert --to notebook --nbformat 4 NOTEBOOK"


class NotPython(ClusterBridgeError):
    """The notebook is written in another language than Python."""

    exit_code = 12
    hint = "ClusterBridge handles Python notebooks; choose a Python kernel for this one."


class KernelNotFound(ClusterBridgeError):
    """The notebook names a kernel that is not installed here."""

    exit_code = 13
    hint = "List kernels with 'jupyter kernelspec list', install that kernel, or pass --python PATH."


class JournalUnreadable(ClusterBridgeError):
    """A journal has a line that ClusterBridge did not write."""

    exit_code = 14
    hint = "Move the named file out of the .clusterbridge folder and rerun the notebook to record it afresh."


class FolderNotWritable(ClusterBridgeError):
    """An output folder cannot be written, or is not empty and not ours."""

    exit_code = 15
    hint = "Choose another folder with -o or --out, or change its permissions."


class DiskFull(ClusterBridgeError):
    """The disk or quota ran out while writing; what was half-written was removed."""

    exit_code = 16
    hint = "Free some space or choose a folder on another disk, then run the same command again."


class PackageNotFound(ClusterBridgeError):
    """A package of the notebook's environment is on no index and could not be built into a wheel."""

    exit_code = 17
    hint = (
        "Install it from a wheel, a git repository or a local project, so that it can be shipped with the bundle."
    )


class EngineUnavailable(ClusterBridgeError):
    """The engine is not installed, not running, or refuses us."""

    exit_code = 18
    hint = "See 'clusterbridge engines' for what is usable here; '--engine local' needs nothing but Python."


class RegistryRefused(ClusterBridgeError):
    """A registry refused or could not be reached for an image."""

    exit_code = 19
    hint = "Log in with 'docker login', check the image's name, or name one that the engine has with --base-image."


class BundleModified(ClusterBridgeError):
    """A file of the bundle is not what the export wrote."""

    exit_code = 20
    hint = "Export the notebook again; a bundle edited by hand is another model."


class DocumentTooNew(ClusterBridgeError):
    """A document was written by a newer version of ClusterBridge."""

    exit_code = 21
    hint = "Upgrade with: pip install --upgrade jupyter-clusterbridge"


class ParameterInvalid(ClusterBridgeError):
    """A parameter is unknown, or its value does not fit the type of its default."""

    exit_code = 22
    hint = "Parameters and their defaults stand in the cell tagged 'parameters'; pass them as -p NAME=VALUE."


class BundleInvalid(ClusterBridgeError):
    """The folder is no bundle, or a part is missing."""

    exit_code = 23
    hint = "Name the folder that 'clusterbridge export NOTEBOOK -o DIR' wrote."


class RunInvalid(ClusterBridgeError):
    """The folder is neither a run directory nor a bundle with a baseline."""

    exit_code = 24
    hint = "Name a folder that 'clusterbridge run' or 'clusterbridge export' wrote."


class LockFailed(ClusterBridgeError):
    """The environment could not be locked."""

    exit_code = 25
    hint = "Read the resolver's message above; check the index settings of pip."


class EnvironmentFailed(ClusterBridgeError):
    """The locked environment could not be installed."""

    exit_code = 26
    hint = "Read the installer's message above; export again if an index has changed."


class DocumentInvalid(ClusterBridgeError):
    """A JSON document of ours does not have the expected form."""

    exit_code = 27
    hint = "Write it again with the command that made it."


class NotExportable(ClusterBridgeError):
    """The notebook holds something that no job can run unattended."""

    exit_code = 28
    hint = "See 'clusterbridge lint NOTEBOOK' for each place and its remedy."


class ResourceInvalid(ClusterBridgeError):
    """A size or a duration cannot be read."""

    exit_code = 29
    hint = "Write sizes as 512m or 4g and durations as 90s, 30m or 6h."


class ConfigInvalid(ClusterBridgeError):
    """A setting in pyproject.toml or an option names what does not exist, or cannot be read."""

    exit_code = 30
    hint = "Settings stand under [tool.clusterbridge.lint]; the codes of the rules in docs/rules/README.md."


ERRORS: tuple[type[ClusterBridgeError], ...] = tuple(
    sorted(ClusterBridgeError.__subclasses__(), key=lambda error: error.exit_code)
)
"""All error classes by exit code, for the documentation and the help texts."""
