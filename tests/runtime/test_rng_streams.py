"""Fingerprints of random streams, in a process of their own."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest


def fingerprints(code: str) -> list[dict[str, str]]:
    """Run code that calls ``note()`` and return what each call saw."""
    script = (
        "import json\nfrom jupyter_clusterbridge.runtime.rng import rng_fingerprints\nseen = []\n"
        f"def note(): seen.append(rng_fingerprints())\n{code}\nprint(json.dumps(seen))"
    )
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    found = json.loads(done.stdout)
    assert isinstance(found, list)
    return found


def test_a_stream_is_known_before_its_first_draw_although_numpy_loads_it_late() -> None:
    pytest.importorskip("numpy")
    before, loaded, drawn = fingerprints("note()\nimport numpy\nnote()\nnumpy.random.rand()\nnote()")
    assert "numpy" not in before
    assert loaded["numpy"] != drawn["numpy"]


def test_looking_at_streams_draws_nothing() -> None:
    one, two = fingerprints("note()\nnote()")
    assert one == two


@pytest.mark.torch
def test_the_stream_of_a_gpu_is_looked_at_only_when_the_user_has_started_it() -> None:
    pytest.importorskip("torch")
    pretend = (
        "import types\ng = torch.Generator()\ntorch.cuda.is_initialized = lambda: True\n"
        "torch.cuda.is_current_stream_capturing = lambda: False\ntorch.cuda.default_generators = (g,)\n"
    )
    first, second, third = fingerprints(
        "import torch\nnote()\nassert not torch.cuda.is_initialized()\n"
        + pretend
        + "note()\ntorch.rand(1, generator=g)\nnote()"
    )
    assert "torch_cuda" not in first
    assert second["torch_cuda"] != third["torch_cuda"]
