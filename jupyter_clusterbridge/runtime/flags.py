"""Settings that change numerics: environment variables, thread pools, framework flags, BLAS.

A framework is asked only when the user's own code has already imported it.
"""

from __future__ import annotations

import functools
import os
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from jupyter_clusterbridge.runtime.debug_mode import MODE

VARIABLES = (
    "PYTHONHASHSEED",
    "OMP_NUM_THREADS",
    "OMP_DYNAMIC",
    "OMP_MAX_ACTIVE_LEVELS",
    "OMP_NESTED",
    "OMP_PLACES",
    "OMP_PROC_BIND",
    "OMP_SCHEDULE",
    "OMP_THREAD_LIMIT",
    "KMP_AFFINITY",
    "KMP_DETERMINISTIC_REDUCTION",
    "MKL_CBWR",
    "MKL_DEBUG_CPU_TYPE",
    "MKL_DYNAMIC",
    "MKL_ENABLE_INSTRUCTIONS",
    "MKL_NUM_THREADS",
    "MKL_THREADING_LAYER",
    "OPENBLAS_CORETYPE",
    "OPENBLAS_NUM_THREADS",
    "GOTO_NUM_THREADS",
    "BLIS_ARCH_TYPE",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_MAX_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMBA_CPU_FEATURES",
    "NUMBA_CPU_NAME",
    "NUMBA_DISABLE_JIT",
    "NUMBA_NUM_THREADS",
    "NPY_DISABLE_CPU_FEATURES",
    "NPY_ENABLE_CPU_FEATURES",
    "ATEN_CPU_CAPABILITY",
    "DNNL_DEFAULT_FPMATH_MODE",
    "DNNL_MAX_CPU_ISA",
    "ONEDNN_DEFAULT_FPMATH_MODE",
    "ONEDNN_MAX_CPU_ISA",
    "CUBLAS_WORKSPACE_CONFIG",
    "CUBLASLT_WORKSPACE_SIZE",
    "CUDA_LAUNCH_BLOCKING",
    "NVIDIA_TF32_OVERRIDE",
    "NCCL_ALGO",
    "NCCL_PROTO",
    "PYTORCH_JIT",
    "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE",
    "TORCH_BLAS_PREFER_CUBLASLT",
    "TORCH_COMPILE_DISABLE",
    "TORCH_CUDNN_V8_API_DISABLED",
    "TORCHDYNAMO_DISABLE",
    "JAX_DEFAULT_MATMUL_PRECISION",
    "JAX_DEFAULT_PRNG_IMPL",
    "JAX_ENABLE_X64",
    "JAX_THREEFRY_PARTITIONABLE",
    "TF_CUDNN_DETERMINISTIC",
    "TF_DETERMINISTIC_OPS",
    "TF_ENABLE_ONEDNN_OPTS",
    "XLA_FLAGS",
)
"""Variables that change numerics or determinism; nothing else of the process's environment is recorded."""

_BLAS_INFO = re.compile(r"BLAS_INFO=([^,\s]+)")
_POOL_NAMES = {"openblas": "openblas", "mkl": "mkl", "openmp": "openmp", "blis": "blis"}
_first_threads: dict[str, int] = {}


@functools.cache
def _initial_environment() -> Mapping[str, str]:
    """The variables that the process was started with.

    A variable that a cell sets is set again by that cell in the job; setting it before the first cell as
    well could take effect earlier than it did in the notebook.
    """
    try:
        block = Path("/proc/self/environ").read_bytes()
    except OSError:
        return dict(os.environ)
    pairs = (item.decode("utf-8", "replace").partition("=") for item in block.split(b"\0") if item)
    return {name: value for name, _, value in pairs}


@functools.cache
def numeric_variables() -> Mapping[str, str]:
    """Those of :data:`VARIABLES` that the process was started with; a value with a path in it is left out."""
    initial = _initial_environment()
    return {name: initial[name] for name in sorted(VARIABLES) if name in initial and "/" not in initial[name]}


def _torch() -> Any:
    torch = sys.modules.get("torch")
    # while torch is being imported it is there without its parts
    return torch if torch is not None and hasattr(torch, "get_num_threads") else None


_TORCH_FLAGS: tuple[tuple[str, Callable[[Any], object]], ...] = (
    ("torch.deterministic_algorithms", lambda t: not MODE.ours and t.are_deterministic_algorithms_enabled()),
    (
        "torch.deterministic_warn_only",
        lambda t: not MODE.ours and t.is_deterministic_algorithms_warn_only_enabled(),
    ),
    ("torch.default_dtype", lambda t: t.get_default_dtype()),
    ("torch.float32_matmul_precision", lambda t: t.get_float32_matmul_precision()),
    ("torch.backends.cudnn.benchmark", lambda t: t.backends.cudnn.benchmark),
    ("torch.backends.cudnn.deterministic", lambda t: t.backends.cudnn.deterministic),
    ("torch.backends.cudnn.enabled", lambda t: t.backends.cudnn.enabled),
    ("torch.backends.cudnn.allow_tf32", lambda t: t.backends.cudnn.allow_tf32),
    ("torch.backends.cuda.matmul.allow_tf32", lambda t: t.backends.cuda.matmul.allow_tf32),
    (
        "torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction",
        lambda t: t.backends.cuda.matmul.allow_bf16_reduced_precision_reduction,
    ),
    (
        "torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction",
        lambda t: t.backends.cuda.matmul.allow_fp16_reduced_precision_reduction,
    ),
    ("torch.backends.mkldnn.enabled", lambda t: t.backends.mkldnn.enabled),
)


def framework_flags() -> dict[str, str]:
    """Settings of the imported frameworks by their dotted names; empty where none is imported."""
    torch = _torch()
    if torch is None:
        return {}
    flags: dict[str, str] = {}
    for name, read in _TORCH_FLAGS:
        try:
            flags[name] = str(read(torch))
        # torch refuses to read a TF32 flag once its successor was set; older ones lack some flags
        except (RuntimeError, AttributeError):
            continue
    flags["torch.version.cuda"] = str(torch.version.cuda)
    return flags


def torch_state() -> tuple[object, ...]:
    """The settings of torch that a cell is likely to change, cheap enough to read at each cell."""
    torch = _torch()
    if torch is None:
        return ()
    cudnn = torch.backends.cudnn
    return (
        torch.get_num_threads(),
        not MODE.ours and torch.are_deterministic_algorithms_enabled(),
        torch.get_default_dtype(),
        cudnn.benchmark,
        cudnn.deterministic,
    )


def torch_cpu_capability() -> str | None:
    """The instruction set that torch's CPU kernels chose; None without torch."""
    torch = _torch()
    try:
        return None if torch is None else str(torch.backends.cpu.get_cpu_capability())
    except AttributeError:
        return None


def thread_counts() -> dict[str, int]:
    """Thread counts by pool: ``torch``, ``torch_interop``, and those that threadpoolctl sees where it is loaded.

    Where a cell has changed torch's count, ``torch_at_start`` holds the first one that was seen.
    """
    counts: dict[str, int] = {}
    torch = _torch()
    if torch is not None:
        counts["torch"] = int(torch.get_num_threads())
        counts["torch_interop"] = int(torch.get_num_interop_threads())
        first = _first_threads.setdefault("torch", counts["torch"])
        if first != counts["torch"]:
            counts["torch_at_start"] = first
    for pool in _threadpools():
        name = _POOL_NAMES.get(str(pool.get("internal_api")))
        if name is not None and isinstance(pool.get("num_threads"), int):
            counts.setdefault(name, pool["num_threads"])
    return dict(sorted(counts.items()))


def blas_libraries() -> tuple[str, ...]:
    """BLAS libraries with version and chosen kernels, as far as the loaded modules tell."""
    found: set[str] = set()
    config = getattr(sys.modules.get("numpy.__config__"), "CONFIG", None)
    if isinstance(config, dict):
        blas = config.get("Build Dependencies", {}).get("blas", {})
        if blas.get("name"):
            found.add(f"numpy: {blas['name']} {blas.get('version', '')}".strip())
    torch = _torch()
    if torch is not None:
        found.update(f"torch: {name}" for name in _torch_blas())
    for pool in _threadpools():
        if pool.get("user_api") == "blas":
            parts = (pool.get("internal_api"), pool.get("version"), pool.get("architecture"))
            found.add(" ".join(str(part) for part in parts if part))
    return tuple(sorted(found))


@functools.cache
def _torch_blas() -> tuple[str, ...]:
    try:
        return tuple(sorted(set(_BLAS_INFO.findall(sys.modules["torch"].__config__.show()))))
    except AttributeError:
        return ()


def _threadpools() -> list[dict[str, Any]]:
    threadpoolctl = sys.modules.get("threadpoolctl")
    if threadpoolctl is None or not hasattr(threadpoolctl, "threadpool_info"):
        return []
    try:
        return list(threadpoolctl.threadpool_info())
    except (OSError, RuntimeError):
        return []
