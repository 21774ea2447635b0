"""The table of nondeterministic operations against the torch that is installed."""

from __future__ import annotations

import re

import pytest

from jupyter_clusterbridge.lint.torch_ops import FUNCTIONS, METHODS, NOT_IN_A_SOURCE, NondeterministicOp

NOT_DOCUMENTED = {"index_reduce", "index_reduce_", "sparse.mm"}
SAME_AS = {
    "nn.Upsample": "nn.functional.interpolate",
    "nn.functional.avg_pool3d": "nn.AvgPool3d",
    "nn.functional.adaptive_avg_pool2d": "nn.AdaptiveAvgPool2d",
    "nn.functional.adaptive_avg_pool3d": "nn.AdaptiveAvgPool3d",
    "nn.functional.adaptive_max_pool2d": "nn.AdaptiveMaxPool2d",
    "nn.functional.max_pool3d": "nn.MaxPool3d",
    "nn.functional.fractional_max_pool2d": "nn.FractionalMaxPool2d",
    "nn.functional.fractional_max_pool3d": "nn.FractionalMaxPool3d",
    "nn.functional.max_unpool1d": "nn.MaxUnpool1d",
    "nn.functional.max_unpool2d": "nn.MaxUnpool2d",
    "nn.functional.max_unpool3d": "nn.MaxUnpool3d",
    "nn.functional.ctc_loss": "nn.CTCLoss",
}
"""Functions by the module that the documentation names for both."""


def entries() -> dict[str, NondeterministicOp]:
    """The table by name without ``torch.`` and without the underscore of the form in place."""
    found = {name.rstrip("_"): op for name, op in METHODS.items()}
    return {**found, **{name.removeprefix("torch."): op for name, op in FUNCTIONS.items()}}


def documented(text: str) -> dict[str, bool]:
    """Names in the documentation of ``use_deterministic_algorithms``, and whether a call raises."""
    switched, raising = text.split("operations will throw a")
    pattern = re.compile(r"\* :(?:class|func):`torch\.([\w.]+)`(.*)")
    found: dict[str, bool] = {}
    for part, raises in ((switched, False), (raising.split("In addition")[0], True)):
        for name, case in pattern.findall(part):
            short = name.removeprefix("Tensor.")
            short = short if short.startswith("__") else short.rstrip("_")
            if "prod" not in case and not (short == "put" and not raises):
                found[short] = raises
    return found


@pytest.mark.torch
def test_the_table_and_the_documentation_of_the_installed_torch_name_the_same_operations() -> None:
    torch = pytest.importorskip("torch")
    version = tuple(int(part) for part in torch.__version__.split(".")[:2])
    names = documented(torch.use_deterministic_algorithms.__doc__)
    table = {
        SAME_AS.get(name, name): op.raises(version)  # type: ignore[arg-type]
        for name, op in entries().items()
        if name not in NOT_DOCUMENTED and op.applies(version)  # type: ignore[arg-type]
    }
    hidden = {name if name.startswith("__") else name.rstrip("_") for name in NOT_IN_A_SOURCE}
    assert table == {name: raises for name, raises in names.items() if name not in hidden}
    assert hidden <= set(names)


@pytest.mark.torch
def test_each_name_exists_in_torch() -> None:
    torch = pytest.importorskip("torch")
    assert [name for name in METHODS if not hasattr(torch.Tensor, name)] == []
    for name in FUNCTIONS:
        target: object = torch
        for part in name.split(".")[1:]:
            target = getattr(target, part)


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("torch.nn.ReplicationPad3d", (2, 7), (2, 8)),
        ("torch.nn.MaxPool3d", (2, 12), (2, 13)),
        ("torch.cumsum", (2, 13), (2, 14)),
        ("torch.kthvalue", (2, 9), (2, 10)),
    ],
)
def test_an_operation_that_got_a_deterministic_form_raises_only_before(
    name: str, before: tuple[int, int], after: tuple[int, int]
) -> None:
    assert FUNCTIONS[name].raises(before)
    assert not FUNCTIONS[name].raises(after)
    assert not FUNCTIONS[name].raises(None)


def test_an_operation_that_became_deterministic_counts_for_old_versions_only() -> None:
    kthvalue = METHODS["kthvalue"]
    assert kthvalue.applies((2, 9))
    assert not kthvalue.applies((2, 10))
    assert not kthvalue.applies(None)


def test_an_operation_that_became_nondeterministic_counts_for_new_versions_only() -> None:
    embedding = FUNCTIONS["torch.nn.Embedding"]
    assert not embedding.applies((2, 13))
    assert embedding.applies((2, 14))
    assert embedding.applies(None)
