"""What the machine is: libc, CPU, instruction set and GPUs, read without starting anything."""

from __future__ import annotations

import ctypes
import functools
import os
import platform
import subprocess
from pathlib import Path

from jupyter_clusterbridge.model.environment import Gpu

_CPUINFO = Path("/proc/cpuinfo")
_AVX512 = {"avx512f", "avx512bw", "avx512vl", "avx512dq"}
_NVIDIA_DRIVER = Path("/proc/driver/nvidia/version")
_NVML_NAME_BYTES = 96


class _NvmlMemory(ctypes.Structure):
    _fields_ = [("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong)]


@functools.cache
def libc() -> str | None:
    """The C library and its version, for example ``glibc 2.36``; None where there is no such thing."""
    try:
        return os.confstr("CS_GNU_LIBC_VERSION")
    except (AttributeError, ValueError, OSError):
        return "musl" if any(Path("/lib").glob("ld-musl-*")) else None


@functools.cache
def cpu_model() -> str | None:
    """The CPU's name as its maker gives it."""
    fields = _cpuinfo()
    if fields:
        return fields.get("model name") or fields.get("Model") or fields.get("CPU part")
    if platform.system() == "Darwin":
        return _sysctl("machdep.cpu.brand_string")
    return platform.processor() or None


@functools.cache
def cpu_capability() -> str | None:
    """The widest instruction set for numeric kernels, in torch's words, such as ``AVX512`` or ``NEON``."""
    fields = _cpuinfo()
    flags = set((fields.get("flags") or fields.get("Features") or "").split())
    if flags >= _AVX512:
        return "AVX512"
    if flags >= {"avx2", "fma"}:
        return "AVX2"
    if "sve" in flags:
        return "SVE"
    if flags & {"asimd", "neon"} or platform.machine().lower() in ("arm64", "aarch64"):
        return "NEON"
    return "DEFAULT" if flags else None


def cpu_count() -> int | None:
    """How many CPUs this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count()


@functools.cache
def gpus() -> tuple[Gpu, ...]:
    """The NVIDIA GPUs that this process sees, asked of the driver's own library.

    No CUDA context is made, so that the user's own first call still decides how CUDA starts.
    """
    if not _NVIDIA_DRIVER.exists():
        return ()
    try:
        return _nvml_gpus(ctypes.CDLL("libnvidia-ml.so.1"))
    except (OSError, AttributeError):
        return ()


def _nvml_gpus(nvml: ctypes.CDLL) -> tuple[Gpu, ...]:
    if nvml.nvmlInit_v2() != 0:
        return ()
    try:
        count = ctypes.c_uint()
        driver = ctypes.create_string_buffer(_NVML_NAME_BYTES)
        nvml.nvmlSystemGetDriverVersion(driver, _NVML_NAME_BYTES)
        if nvml.nvmlDeviceGetCount_v2(ctypes.byref(count)) != 0:
            return ()
        found = [_nvml_gpu(nvml, index, driver.value.decode()) for index in _visible(count.value)]
        return tuple(gpu for gpu in found if gpu is not None)
    finally:
        nvml.nvmlShutdown()


def _nvml_gpu(nvml: ctypes.CDLL, index: int, driver: str) -> Gpu | None:
    device = ctypes.c_void_p()
    name = ctypes.create_string_buffer(_NVML_NAME_BYTES)
    memory = _NvmlMemory()
    if nvml.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(device)) != 0:
        return None
    nvml.nvmlDeviceGetName(device, name, _NVML_NAME_BYTES)
    nvml.nvmlDeviceGetMemoryInfo(device, ctypes.byref(memory))
    return Gpu(name=name.value.decode(), memory_bytes=int(memory.total), driver=driver or None)


def _visible(count: int) -> list[int]:
    chosen = os.environ.get("CUDA_VISIBLE_DEVICES")
    if chosen is None:
        return list(range(count))
    parts = [part.strip() for part in chosen.split(",")]
    if all(part.lstrip("-").isdigit() for part in parts if part):
        return [int(part) for part in parts if part and 0 <= int(part) < count]
    # devices named by UUID: how many is certain, which is not
    return list(range(min(count, len(parts))))


@functools.cache
def _cpuinfo() -> dict[str, str]:
    try:
        text = _CPUINFO.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    fields: dict[str, str] = {}
    for line in text.split("\n\n", 1)[0].splitlines():
        key, colon, value = line.partition(":")
        if colon:
            fields[key.strip()] = value.strip()
    return fields


def _sysctl(name: str) -> str | None:
    try:
        out = subprocess.run(
            ["/usr/sbin/sysctl", "-n", name], capture_output=True, text=True, timeout=2, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return out.stdout.strip() or None
