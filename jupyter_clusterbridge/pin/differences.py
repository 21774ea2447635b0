"""What the job's environment cannot share with the notebook's, and the variables that it takes over."""

from __future__ import annotations

from collections.abc import Mapping

from jupyter_clusterbridge.model.environment import Distribution, Environment
from jupyter_clusterbridge.pin.target import Target

_OF_ONE_ARCHITECTURE = frozenset(
    {
        "ATEN_CPU_CAPABILITY",
        "BLIS_ARCH_TYPE",
        "DNNL_MAX_CPU_ISA",
        "KMP_AFFINITY",
        "MKL_CBWR",
        "MKL_DEBUG_CPU_TYPE",
        "MKL_ENABLE_INSTRUCTIONS",
        "NPY_DISABLE_CPU_FEATURES",
        "NPY_ENABLE_CPU_FEATURES",
        "NUMBA_CPU_FEATURES",
        "NUMBA_CPU_NAME",
        "ONEDNN_MAX_CPU_ISA",
        "OPENBLAS_CORETYPE",
    }
)
_OPENBLAS_MOST_THREADS = 64


def job_variables(environment: Environment, target: Target) -> dict[str, str]:
    """Variables that the job sets so that numeric code runs as it did in the notebook.

    Thread counts are among them: the order of a parallel sum depends on how many threads share it.
    """
    same = target.runs_like(environment)
    variables = {
        name: value for name, value in environment.variables.items() if same or name not in _OF_ONE_ARCHITECTURE
    }
    threads = environment.threads
    count = threads.get("torch_at_start") or threads.get("torch") or threads.get("openmp")
    if count:
        variables.setdefault("OMP_NUM_THREADS", str(count))
    if "OMP_NUM_THREADS" in variables and "OMP_NUM_THREADS" not in environment.variables:
        # OpenBLAS follows OMP_NUM_THREADS too; in the notebook it took all CPUs
        blas = threads.get("openblas") or min(environment.cpu_count or count or 1, _OPENBLAS_MOST_THREADS)
        variables.setdefault("OPENBLAS_NUM_THREADS", str(blas))
    return dict(sorted(variables.items()))


def platform_differences(environment: Environment, target: Target) -> list[str]:
    """What no lock can keep equal when the target is another kind of machine."""
    found: list[str] = []
    if not target.runs_like(environment):
        here = f"{environment.system} on {environment.machine}"
        found.append(f"The notebook ran under {here}; the job runs under linux on {target.machine}.")
        cpu = environment.cpu_capability or "unknown"
        found.append(f"CPU instructions differ: the notebook's were {cpu}, the job has those of {target.machine}.")
        blas = ", ".join(environment.blas) or "unknown"
        found.append(f"BLAS is another build: the notebook's was {blas}; sums may differ in the last bits.")
        if environment.libc is None:
            found.append("The C library and its mathematical functions differ: the job has glibc.")
        elif not environment.libc.startswith("glibc"):
            found.append(f"The C library differs: the notebook's was {environment.libc}, the job has glibc.")
        dropped = sorted(set(environment.variables) & _OF_ONE_ARCHITECTURE)
        if dropped:
            found.append(f"Variables of one CPU architecture are not carried over: {', '.join(dropped)}.")
    elif environment.libc is not None and not environment.libc.startswith("glibc"):
        found.append(f"The C library differs: the notebook's was {environment.libc}, the job has glibc.")
    for gpu in environment.gpus[:1]:
        driver = f", driver {gpu.driver}" if gpu.driver else ""
        found.append(f"The notebook saw the GPU {gpu.name}{driver}; the job has the cluster's GPU and driver.")
    return found


def import_warnings(chosen: Mapping[str, Distribution]) -> list[str]:
    """A sentence for each package whose installation changed after it was imported."""
    found: list[str] = []
    for dist in chosen.values():
        if not dist.installed_after_import:
            continue
        if dist.loaded_version is None:
            found.append(
                f"{dist.name} {dist.version} was installed again after it was imported; "
                "what is in memory may not be what is on disk. Restart the kernel and run the notebook again."
            )
        elif dist.loaded_version == dist.version:
            found.append(f"{dist.name} {dist.version} is in memory, but is no longer installed.")
        else:
            found.append(
                f"{dist.name} {dist.loaded_version} is in memory, but the disk holds {dist.version}: it was "
                f"installed after the import. The lock has {dist.loaded_version}; restart the kernel to use "
                f"{dist.version}."
            )
    return found
