"""From a kernel's name to the interpreter that it runs."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

from jupyter_clusterbridge.model.errors import KernelNotFound, NotPython

DEFAULT_KERNEL = "python3"
_PYTHON = re.compile(r"python[\d.]*(\.exe)?", re.IGNORECASE)
# jupyter_client starts these as its own interpreter
_MAJOR, _MINOR = sys.version_info[:2]
_OWN = {"python", f"python{_MAJOR}", f"python{_MAJOR}.{_MINOR}"}


def kernel_python(kernel_name: str | None) -> Path:
    """The Python that a kernel runs.

    Args:
        kernel_name: as the notebook names it; None stands for the default kernel, and for this interpreter
            where that is not installed.

    Raises:
        KernelNotFound: no such kernel is installed, its interpreter is gone, or it starts something else.
        NotPython: the kernel is one of another language.
    """
    from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

    manager = KernelSpecManager()
    try:
        spec = manager.get_kernel_spec(kernel_name or DEFAULT_KERNEL)
    except NoSuchKernel:
        if kernel_name is None:
            return Path(sys.executable)
        installed = ", ".join(sorted(manager.find_kernel_specs())) or "none"
        raise KernelNotFound(
            f"the kernel {kernel_name!r} is not installed here (installed: {installed})"
        ) from None
    if spec.language and spec.language.lower() not in ("python", "python3", "ipython"):
        raise NotPython(f"the kernel {kernel_name!r} runs {spec.language}, not Python")
    return _interpreter(kernel_name or DEFAULT_KERNEL, list(spec.argv))


def _interpreter(kernel_name: str, argv: list[str]) -> Path:
    # a kernel may be started through a wrapper such as "conda run -n NAME python"
    for word in argv:
        if not _PYTHON.fullmatch(Path(word).name):
            continue
        if word in _OWN and word == argv[0]:
            return Path(sys.executable)
        found = shutil.which(word)
        if found is None:
            raise KernelNotFound(f"the kernel {kernel_name!r} runs {word}, which is not there or cannot be run")
        if word != argv[0] and not Path(word).is_absolute():
            break
        return Path(found)
    raise KernelNotFound(
        f"the kernel {kernel_name!r} starts {' '.join(argv[:3])!r}; which Python that is cannot be told",
        hint="Pass the interpreter with --python PATH.",
    )
