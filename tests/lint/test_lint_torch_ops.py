"""The table of nondeterministic operations against the torch that is installed."""

from __future__ import annotations

import re

import pytest

from jupyter_clusterbridge.lint.torch_ops import FUNCTIONS, METHODS

NOT_DOCUMENTED = {"index_reduce", "index_reduce_"}


def documented(torch: object) -> dict[str, bool]:
    """Names in the documentation of ``use_deterministic_algorithms``, and whether they raise."""
    text = torch.use_deterministic_algorithms.__doc__  # type: ignore[attr-defined]
    switched, raising = text.split("operations will throw a")
    pattern = re.compile(r":(?:class|func):`torch\.([\w.]+)`")
    names = {name.rpartition(".")[2]: False for name in pattern.findall(switched)}
    return {
        **names,
        **{name.rpartition(".")[2]: True for name in pattern.findall(raising.split("In addition")[0])},
    }


@pytest.mark.torch
def test_each_operation_is_documented_and_raises_as_the_table_says() -> None:
    torch = pytest.importorskip("torch")
    names = documented(torch)
    version = tuple(int(part) for part in torch.__version__.split(".")[:2])
    snake = {"adaptive_avg_pool2d": "AdaptiveAvgPool2d", "max_pool3d": "MaxPool3d", "ctc_loss": "CTCLoss"}
    for name, op in {**METHODS, **FUNCTIONS}.items():
        short = name.rpartition(".")[2]
        if short in NOT_DOCUMENTED:
            continue
        short = snake.get(short, short)
        found = next((known for known in (short, short.rstrip("_"), short + "_") if known in names), None)
        assert (found is not None) is op.applies(version), name  # type: ignore[arg-type]
        if found is not None and not short.startswith("scatter_reduce"):
            assert names[found] is op.raises, name


@pytest.mark.torch
def test_each_name_exists_in_torch() -> None:
    torch = pytest.importorskip("torch")
    assert [name for name in METHODS if not hasattr(torch.Tensor, name)] == []
    for name in FUNCTIONS:
        target: object = torch
        for part in name.split(".")[1:]:
            target = getattr(target, part)


def test_an_operation_that_became_deterministic_counts_for_old_versions_only() -> None:
    kthvalue = METHODS["kthvalue"]
    assert kthvalue.applies((2, 9))
    assert not kthvalue.applies((2, 10))
    assert not kthvalue.applies(None)
