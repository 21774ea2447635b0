"""Fingerprints of the random streams of the frameworks that the user's own code has imported."""

from __future__ import annotations

import contextlib
import importlib
import random
import sys
from array import array
from typing import Any

import xxhash


def rng_fingerprints() -> dict[str, str]:
    """Fingerprint by stream: ``python``, ``numpy`` (legacy global), ``torch`` (CPU), ``torch_cuda``.

    Reads states only, draws nothing, starts no device and does not synchronise. A stream is absent while
    its framework is not imported, or its CUDA side not initialised. About 100 us for all together.
    """
    prints = {"python": _python()}
    for name, read in (("numpy", _numpy), ("torch", _torch), ("torch_cuda", _torch_cuda)):
        found = read()
        if found is not None:
            prints[name] = found
    return prints


def _python() -> str:
    version, internal, gauss = random.getstate()
    state = xxhash.xxh3_64(array("Q", internal).tobytes())
    state.update(repr((version, gauss)).encode())
    return state.hexdigest()


def _numpy() -> str | None:
    module: Any = sys.modules.get("numpy.random")
    if module is None and "numpy" in sys.modules:
        # numpy loads it at its first use; only with its state before that can a draw be told from none
        with contextlib.suppress(ImportError):
            module = importlib.import_module("numpy.random")
    if module is None or not hasattr(module, "get_state"):
        return None
    found = module.get_state(legacy=False)
    state = xxhash.xxh3_64()
    key = found.get("state", {}).get("key")
    if key is None:  # the user has put another bit generator in place of the Mersenne twister
        state.update(repr(found).encode())
    else:
        state.update(key.tobytes())
        rest = (found["state"]["pos"], found.get("has_gauss"), float(found.get("gauss", 0.0)))
        state.update(repr(rest).encode())
    return state.hexdigest()


def _torch() -> str | None:
    module: Any = sys.modules.get("torch")
    if module is None or not hasattr(module, "get_rng_state"):
        return None
    return xxhash.xxh3_64_hexdigest(module.get_rng_state().numpy())


def _torch_cuda() -> str | None:
    module: Any = sys.modules.get("torch.cuda")
    if module is None or not getattr(module, "is_initialized", lambda: False)():
        return None
    if module.is_current_stream_capturing():
        return None
    state = xxhash.xxh3_64()
    for generator in module.default_generators:
        state.update(generator.get_state().numpy())
    return state.hexdigest()
