"""What one supervisor is asked to run."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from jupyter_clusterbridge.model.bundle import NOTEBOOK_FILE, BundleManifest
from jupyter_clusterbridge.model.codec import to_json
from jupyter_clusterbridge.model.run import GuardAction, GuardPolicy
from jupyter_clusterbridge.runtime.bundle import read_bundle
from jupyter_clusterbridge.runtime.guarding import guard_policies

RECORD_FOLDER = "record"
DEFAULT_GRACE_S = 30.0
_NOTEBOOK_SERVER_VARIABLES = ("JPY_", "JUPYTER_SERVER_", "IPYKERNEL_", "PYDEVD_")


@dataclass(frozen=True)
class Job:
    """One notebook to run, and where its traces go."""

    notebook: Path
    notebook_name: str
    """File name that the record shows."""
    run_dir: Path
    role: str
    """``job`` or ``baseline``."""
    policies: Mapping[str, GuardPolicy]
    workdir: Path | None = None
    """Where a run without a bundle happens; a bundle's job makes its own work folder."""
    bundle: Path | None = None
    manifest: BundleManifest | None = None
    data_dir: Path | None = None
    time_limit_s: float | None = None
    grace_s: float = DEFAULT_GRACE_S
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))

    @property
    def record_dir(self) -> Path:
        """The run directory's ``record`` folder."""
        return self.run_dir / RECORD_FOLDER

    def kernel_environ(self, scratch: Path) -> dict[str, str]:
        """Environment variables of the kernel: the job's own, those of the lock, none of a notebook server.

        A bundle's job does not see the IPython profile of whoever runs it.
        """
        env = {
            name: value
            for name, value in self.environ.items()
            if not name.startswith(_NOTEBOOK_SERVER_VARIABLES) and not _is_inline_backend(name, value)
        }
        if self.manifest is not None:
            env.update(self.manifest.lock.variables)
            env["IPYTHONDIR"] = str(scratch / "ipython")
        return env

    def kernel_settings(self, work: Path) -> dict[str, object]:
        """What the kernel's recording and guards are told."""
        return {
            "record_dir": str(self.record_dir),
            "run_dir": str(self.run_dir),
            "role": self.role,
            "root": str(work),
            "notebook": self.notebook_name,
            "guards": to_json(self.policies),
        }


def _is_inline_backend(name: str, value: str) -> bool:
    return name == "MPLBACKEND" and value.startswith("module://")


def bundle_job(
    bundle: Path,
    run_dir: Path,
    *,
    data_dir: Path | None = None,
    time_limit_s: float | None = None,
    grace_s: float = DEFAULT_GRACE_S,
) -> Job:
    """The job of a bundle.

    Raises:
        BundleInvalid, BundleModified, DocumentTooNew: the bundle cannot be run.
        ParameterInvalid: a guard's environment variable cannot be understood.
    """
    bundle = Path(os.path.abspath(bundle))
    manifest = read_bundle(bundle)
    return Job(
        notebook=bundle / NOTEBOOK_FILE,
        notebook_name=f"{manifest.name}.ipynb",
        run_dir=Path(os.path.abspath(run_dir)),
        role="job",
        policies=guard_policies(manifest.guards, os.environ),
        bundle=bundle,
        manifest=manifest,
        data_dir=None if data_dir is None else Path(os.path.abspath(data_dir)),
        time_limit_s=time_limit_s if time_limit_s is not None else manifest.resources.time_limit_s,
        grace_s=grace_s,
    )


def notebook_job(
    notebook: Path,
    run_dir: Path,
    *,
    workdir: Path,
    role: str,
    time_limit_s: float | None = None,
    grace_s: float = DEFAULT_GRACE_S,
) -> Job:
    """A clean replay of a notebook in its own folder. Its guards only warn, unless the environment says more.

    Raises:
        ParameterInvalid: a guard's environment variable cannot be understood.
    """
    gentle = {
        name: GuardPolicy(GuardAction.WARN, policy.thresholds) for name, policy in guard_policies({}, {}).items()
    }
    return Job(
        notebook=Path(os.path.abspath(notebook)),
        notebook_name=notebook.name,
        run_dir=Path(os.path.abspath(run_dir)),
        role=role,
        policies=guard_policies(gentle, os.environ),
        workdir=Path(os.path.abspath(workdir)),
        time_limit_s=time_limit_s,
        grace_s=grace_s,
    )
