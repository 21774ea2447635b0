"""The hooks for torch: losses, steps, weights."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest
from session_kit import Recorded, pairs

from jupyter_clusterbridge.model.events import CellEnd, FileRead, FileWrite, MetricLogged
from jupyter_clusterbridge.model.evidence import RowKind, loss_value

torch = pytest.importorskip("torch", reason="torch is not installed")
pytestmark = pytest.mark.torch

MODEL = """
import torch
from torch import nn
torch.manual_seed(SEED)
model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.1), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(32, 4), torch.randn(32, 1)
"""
TRAIN = """
losses = []
for step in range(5):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
"""


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[Recorded]:
    recorded = Recorded(tmp_path)
    recorded.shell.user_ns["SEED"] = 0
    yield recorded
    recorded.close()
    assert recorded.errors == []


def test_each_backward_gives_a_row_with_the_bits_of_the_loss(kernel: Recorded) -> None:
    kernel.run(MODEL, TRAIN)
    found = [loss_value(row.a) for row in kernel.rows(RowKind.LOSS)]
    assert found == kernel.shell.user_ns["losses"]
    assert [row.b for row in kernel.rows(RowKind.LOSS)] == [1] * 5
    assert {row.where for row in kernel.rows(RowKind.LOSS)} == {2}


def test_steps_are_counted_over_the_whole_run_and_ordinals_within_a_cell(kernel: Recorded) -> None:
    kernel.run(MODEL, TRAIN, TRAIN)
    rows = kernel.rows(RowKind.STEP)
    assert [row.a for row in rows] == list(range(1, 11))
    assert [row.ordinal for row in rows] == [0, 1, 2, 3, 4] * 2
    assert kernel.session.steps == 10


def test_a_loss_that_is_not_finite_is_marked(kernel: Recorded) -> None:
    kernel.run(MODEL, "(model(x).sum() * float('nan')).backward()")
    assert [row.b for row in kernel.rows(RowKind.LOSS)] == [0]


def test_backward_of_a_vector_or_of_many_roots_with_given_gradients_is_no_loss(kernel: Recorded) -> None:
    many = "torch.autograd.backward([model(x).sum(), model(x).mean()], [torch.tensor(1.0), torch.tensor(2.0)])"
    kernel.run(MODEL, "model(x).backward(torch.ones(32, 1))", many)
    assert kernel.rows(RowKind.LOSS) == []


def test_one_scalar_is_a_loss_also_with_a_given_gradient(kernel: Recorded) -> None:
    kernel.run(MODEL, "loss = model(x).mean() * float('nan')\nloss.backward(torch.ones_like(loss))")
    assert [row.b for row in kernel.rows(RowKind.LOSS)] == [0]


def test_torch_autograd_backward_called_by_keyword_and_with_several_roots_is_seen(kernel: Recorded) -> None:
    kernel.run(MODEL, "torch.autograd.backward(tensors=[model(x).sum(), model(x).mean()])")
    assert len(kernel.rows(RowKind.LOSS)) == 2


def test_accumulated_gradients_give_more_losses_than_steps(kernel: Recorded) -> None:
    kernel.run(MODEL, "for i in range(4):\n    model(x).mean().backward()\n    if i % 2: optimizer.step()")
    assert len(kernel.rows(RowKind.LOSS)) == 4
    assert len(kernel.rows(RowKind.STEP)) == 2


def test_a_step_that_the_scaler_skips_has_a_loss_and_no_step(kernel: Recorded) -> None:
    source = """
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0)
    for factor in (1.0, float("inf"), 1.0):
        optimizer.zero_grad()
        scaler.scale((model(x) * factor).mean()).backward()
        scaler.step(optimizer)
        scaler.update()
    """
    kernel.run(MODEL, textwrap.dedent(source))
    assert len(kernel.rows(RowKind.LOSS)) == 3
    assert len(kernel.rows(RowKind.STEP)) == 2


def test_weights_are_fingerprinted_once_an_optimizer_and_before_its_first_step(kernel: Recorded) -> None:
    kernel.run(MODEL, TRAIN, TRAIN, MODEL, TRAIN)
    rows = kernel.rows(RowKind.WEIGHTS, RowKind.STEP)
    weights = [row for row in rows if row.kind is RowKind.WEIGHTS]
    assert [row.where for row in weights] == [2, 5]
    assert weights[0].a == weights[1].a
    assert weights[0].b == 4 * 8 + 8 + 8 + 1
    assert rows[0].kind is RowKind.WEIGHTS


def test_another_seed_gives_other_initial_weights(kernel: Recorded) -> None:
    kernel.run(MODEL, TRAIN, "SEED = 1", MODEL, TRAIN)
    first, second = kernel.rows(RowKind.WEIGHTS)
    assert first.a != second.a


@pytest.mark.parametrize("kind", ["Adam(fused=True)", "AdamW(foreach=True)", "LBFGS()"])
def test_every_kind_of_optimizer_gives_its_steps(kernel: Recorded, kind: str) -> None:
    name, _, rest = kind.partition("(")
    source = f"""
    optimizer = torch.optim.{name}(model.parameters(), {rest}
    def closure():
        optimizer.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        return loss
    for _ in range(3):
        optimizer.step(closure)
    """
    kernel.run(MODEL, textwrap.dedent(source))
    assert len(kernel.rows(RowKind.STEP)) == 3


def test_training_is_bitwise_the_same_with_and_without_the_hooks(tmp_path: Path) -> None:
    results = []
    for hooked in (True, False):
        recorded = Recorded(tmp_path / str(hooked))
        if not hooked:
            recorded.close()
        recorded.shell.user_ns["SEED"] = 3
        random.seed(0)
        recorded.run(MODEL, TRAIN)
        weights = [p.detach().clone() for p in recorded.shell.user_ns["model"].parameters()]
        results.append((recorded.shell.user_ns["losses"], weights, torch.get_rng_state(), random.getstate()))
        recorded.close()
    (losses, weights, state, python), (other_losses, other_weights, other_state, other_python) = results
    assert losses == other_losses
    assert all(torch.equal(one, two) for one, two in zip(weights, other_weights, strict=True))
    assert torch.equal(state, other_state)
    assert python == other_python


def test_uninstalling_leaves_torch_exactly_as_it_was(tmp_path: Path) -> None:
    import torch.utils.data.dataloader as module

    optimizer = sys.modules["torch.optim.optimizer"]
    base = module._BaseDataLoaderIter

    def state() -> list[object]:
        return [
            torch.autograd.backward,
            *(vars(base)[name] for name in ("__init__", "_reset", "_next_index", "__next__")),
            sys.modules["torch.serialization"]._open_zipfile_writer,
            list(optimizer._global_optimizer_pre_hooks),
            list(optimizer._global_optimizer_post_hooks),
            list(sys.meta_path),
        ]

    before = state()
    recorded = Recorded(tmp_path)
    recorded.session.install()  # twice is once
    recorded.run("import torch")
    assert state() != before
    recorded.close()
    recorded.session.uninstall()
    assert state() == before


def test_a_patch_that_someone_else_put_over_ours_survives_and_ours_falls_silent(tmp_path: Path) -> None:
    original = torch.autograd.backward
    recorded = Recorded(tmp_path)
    try:
        ours = torch.autograd.backward
        theirs = lambda *args, **kwargs: ours(*args, **kwargs)  # noqa: E731
        torch.autograd.backward = theirs
        recorded.close()
        assert torch.autograd.backward is theirs
        w = torch.ones(1, requires_grad=True)
        (w * 2).sum().backward()
        assert w.grad.item() == 2.0
        assert recorded.rows() == []
    finally:
        torch.autograd.backward = original


class GuardTripped(BaseException):
    pass


def test_a_guards_trip_reaches_the_users_cell_before_the_damage(kernel: Recorded) -> None:
    seen: list[tuple[int, float]] = []

    def guard(step: int, value: float) -> None:
        seen.append((step, value))
        if len(seen) == 3:
            raise GuardTripped("enough")

    kernel.session.on_loss(guard)
    result = kernel.run(MODEL, TRAIN)
    assert type(result.error_in_exec) is GuardTripped
    assert kernel.events(CellEnd)[-1].error == "GuardTripped"
    assert [step for step, _ in seen] == [1, 2, 3]
    assert len(kernel.rows(RowKind.LOSS)) == 3
    assert len(kernel.rows(RowKind.STEP)) == 2


def test_an_observer_with_a_bug_is_dropped_and_the_cell_goes_on(tmp_path: Path) -> None:
    recorded = Recorded(tmp_path)
    recorded.shell.user_ns["SEED"] = 0
    recorded.session.on_loss(lambda step, value: 1 / 0)
    result = recorded.run(MODEL, TRAIN)
    recorded.close()
    assert result.success
    assert [type(error) for error in recorded.errors] == [ZeroDivisionError]
    assert len(recorded.rows(RowKind.LOSS)) == 5


def test_observers_of_steps_are_told_the_number_of_steps_done(kernel: Recorded) -> None:
    steps: list[int] = []
    kernel.session.on_step(steps.append)
    kernel.run(MODEL, TRAIN)
    assert steps == [1, 2, 3, 4, 5]


def test_a_compiled_model_and_a_compiled_step_still_compile_and_are_recorded(kernel: Recorded) -> None:
    source = """
    import torch._dynamo, warnings
    warnings.filterwarnings("error", message="Dynamo does not know")
    torch._dynamo.reset()
    graphs = []
    def backend(graph, inputs):
        graphs.append(graph)
        return graph.forward
    compiled = torch.compile(model, backend=backend)
    def whole(x, y):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        return loss
    compiled_step = torch.compile(whole, backend=backend)
    for _ in range(3):
        compiled(x).mean().backward()
        optimizer.step()
    for _ in range(3):
        compiled_step(x, y)
    """
    result = kernel.run(MODEL, textwrap.dedent(source))
    assert result.success, result.error_in_exec
    assert kernel.shell.user_ns["graphs"]
    assert len(kernel.rows(RowKind.LOSS)) == 6
    assert len(kernel.rows(RowKind.STEP)) == 6


def test_what_torch_save_wrote_is_a_write_and_its_later_reading_is_of_the_kernels_own(kernel: Recorded) -> None:
    kernel.run(MODEL, "torch.save(model.state_dict(), 'm.pt')".replace("'m.pt'", f"'{kernel.folder}/m.pt'"))
    kernel.run(f"state = torch.load('{kernel.folder}/m.pt')")
    assert [event.path for event in kernel.events(FileWrite)] == ["m.pt"]
    assert [event.own for event in kernel.events(FileRead)] == [True]


def test_a_forked_child_records_nothing(kernel: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(kernel.folder)
    source = """
    import clusterbridge, os
    loss = model(x).mean()
    child = os.fork()
    if child == 0:
        try:
            optimizer.step()
            clusterbridge.metric("accuracy", 1.0)
            open("from_child.txt", "w").close()
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    """
    kernel.run(MODEL, textwrap.dedent(source))
    assert kernel.rows() == []
    assert kernel.session.steps == 0
    assert kernel.events(MetricLogged) == kernel.events(FileWrite) == []


def test_a_single_cell_that_imports_torch_and_trains_is_covered(tmp_path: Path) -> None:
    script = f"""
    import sys
    sys.path.insert(0, {str(Path(__file__).parent)!r})
    from pathlib import Path
    from session_kit import Recorded
    assert "torch" not in sys.modules
    recorded = Recorded(Path({str(tmp_path)!r}))
    recorded.run("SEED = 0\\n" + {MODEL!r} + {TRAIN!r})
    import torch
    assert type(torch.__loader__).__name__ == "SourceFileLoader", torch.__loader__
    assert torch.__spec__.loader is torch.__loader__
    assert recorded.errors == [], recorded.errors
    print([row.kind.name for row in recorded.rows()])
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ,
    )
    assert done.returncode == 0, done.stderr
    expected = ["LOSS", "WEIGHTS", "STEP", *["LOSS", "STEP"] * 4]
    assert done.stdout.strip().splitlines()[-1] == str(expected)


def test_rows_of_two_seeded_runs_are_equal(tmp_path: Path) -> None:
    found = []
    for name in ("one", "two"):
        recorded = Recorded(tmp_path / name)
        recorded.run("SEED = 5", MODEL, TRAIN)
        recorded.close()
        found.append(pairs(recorded.rows()))
    assert found[0] == found[1] != []
