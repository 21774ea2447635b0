"""The time that a look at values may take, and what is said of values for which it did not last."""

from __future__ import annotations

import random

import pytest

from jupyter_clusterbridge.recorder import fingerprints, look
from jupyter_clusterbridge.recorder.feeding import clock
from jupyter_clusterbridge.recorder.fingerprints import fingerprint, sample
from jupyter_clusterbridge.recorder.footprint import Footprint, Locations
from jupyter_clusterbridge.recorder.look import Look, allowance_after
from jupyter_clusterbridge.recorder.names import analyse_cell


class Ticks:
    """A clock that moves by a fixed time at each question."""

    def __init__(self, step_s: float) -> None:
        self.now, self.step_s = 0.0, step_s

    def __call__(self) -> float:
        self.now += self.step_s
        return self.now


@pytest.fixture
def ticks(monkeypatch: pytest.MonkeyPatch) -> Ticks:
    made = Ticks(0.0)
    monkeypatch.setattr(look, "clock", made)
    monkeypatch.setattr(fingerprints, "clock", made)
    return made


def run(source: str, namespace: dict[str, object], ticks: Ticks | None = None) -> Locations:
    footprint = Footprint(analyse_cell(source), namespace)
    if ticks is not None:
        ticks.step_s = 0.0
    exec(source, namespace)
    return footprint.finish(True)


def many(count: int) -> dict[str, object]:
    return {f"box_{number:03}": [number] for number in range(count)} | {"touch": lambda *boxes: None}


def call(names: dict[str, object]) -> str:
    return f"touch({', '.join(name for name in names if name.startswith('box'))})"


def test_the_cell_may_cost_five_milliseconds_or_a_hundredth_of_itself() -> None:
    assert allowance_after(0.005, 0.0025, 0.0) == 0.0025
    assert allowance_after(0.005, 0.0025, 0.3) == pytest.approx(0.003)
    assert allowance_after(0.005, 0.004, 60) == pytest.approx(0.6)


def test_with_time_enough_everything_is_tracked() -> None:
    names = many(100)
    assert run(call(names), names).untracked == ()


def test_values_for_which_the_time_did_not_last_are_not_tracked(ticks: Ticks) -> None:
    names, ticks.step_s = many(100), 0.0001
    found = run(call(names), names, ticks)
    assert 0 < len(found.untracked) < 100
    assert found.writes == ()
    assert "name:box_000" not in found.untracked
    assert "name:box_099" in found.untracked


def test_a_change_that_a_sample_shows_is_known(ticks: Ticks) -> None:
    names, ticks.step_s = many(30), 0.0001
    names["touch"] = lambda *boxes: boxes[-1].append(1)  # type: ignore[attr-defined]
    found = run(call(names), names, ticks)
    assert "name:box_028" in found.untracked
    assert found.writes == ("name:box_029",)
    assert "name:box_029" not in found.untracked


def test_what_the_cell_surely_changes_is_known_without_a_look(ticks: Ticks) -> None:
    names, ticks.step_s = many(100), 1.0
    found = run("box_099[0] = 5\nbox_098 = 1", names, ticks)
    assert set(found.writes) == {"name:box_098", "name:box_099"}
    assert found.untracked == ()


def test_two_names_of_one_object_cost_one_look() -> None:
    box = [1, 2]
    seen = Look(1.0)
    assert seen.at(box) is seen.at(box)


def test_memory_that_values_share_is_hashed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    numpy = pytest.importorskip("numpy")
    hashed: list[int] = []
    plain = fingerprints.xxhash.xxh3_64_intdigest
    monkeypatch.setattr(
        fingerprints.xxhash, "xxh3_64_intdigest", lambda data: (hashed.append(len(data)), plain(data))[1]
    )
    data = numpy.arange(100_000)
    seen = Look(1.0)
    first, second = seen.at([data]), seen.at([data[:], data.view()])
    assert first is not None
    assert second is not None
    assert hashed == [data.nbytes]
    data[50_000] = -1
    assert Look(1.0).at([data]) != first


def test_an_unchanged_column_of_a_frame_is_hashed_once_for_all_that_have_it() -> None:
    pandas = pytest.importorskip("pandas")
    numpy = pytest.importorskip("numpy")
    frame = pandas.DataFrame({"a": numpy.arange(50_000), "b": numpy.arange(50_000) * 0.5})
    blocks: fingerprints.Blocks = {}
    fingerprint(frame, clock() + 1, blocks)
    count = len(blocks)
    fingerprint(frame["a"], clock() + 1, blocks)
    fingerprint(frame["b"], clock() + 1, blocks)
    assert count == len(blocks) == 2


def test_a_sample_sees_a_large_container_that_grew_or_was_shuffled() -> None:
    numbers = [[number] for number in range(200_000)]
    before = sample(numbers)
    assert sample(numbers) == before
    random.Random(0).shuffle(numbers)
    assert sample(numbers).digest != before.digest
    before = sample(numbers)
    numbers.append([1])
    assert sample(numbers).digest != before.digest
    assert before.sampled
    assert not before.exact


def test_a_write_to_the_data_of_a_tensor_is_seen_though_its_version_stands_still() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    weight = torch.nn.Parameter(torch.zeros(5))
    module = torch.nn.Linear(3, 3)
    for value, change in ((weight, weight), (module, module.weight)):
        before, version = fingerprint(value, clock() + 1), change._version
        change.data += 1
        assert change._version == version
        assert fingerprint(value, clock() + 1).digest != before.digest


def test_tensors_without_memory_of_their_own_are_no_trouble() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    freed = torch.ones(100)
    freed.untyped_storage().resize_(0)
    with torch.inference_mode():
        inference = torch.ones(3)
    for value in (
        freed, inference, torch.empty(0), torch.ones(2, device="meta"), torch.ones(4, 4).T,
        torch.ones(3).to_sparse(), torch.ones(3, dtype=torch.bfloat16), torch.ones(2, 2, dtype=torch.complex64),
    ):  # fmt: skip
        assert fingerprint(value, clock() + 1).digest == fingerprint(value, clock() + 1).digest


@pytest.mark.parametrize(
    ("values", "change"),
    [
        (list(range(20_000)), lambda values: values.__setitem__(777, -1)),
        ([-1] * 20_000, lambda values: values.__setitem__(777, -2)),
        ([True] * 20_000, lambda values: values.__setitem__(777, 1)),
        ([0.5, 1] * 5_000, lambda values: values.__setitem__(777, 1.0)),
        ([f"name {number}" for number in range(5_000)], lambda values: values.__setitem__(777, "name")),
    ],
    ids=["int", "equal hashes", "equal values", "kinds", "text"],
)
def test_a_change_in_the_middle_of_a_long_list_of_numbers_or_texts_is_seen(values, change) -> None:  # type: ignore[no-untyped-def]
    values = list(values)
    before = fingerprint(values, clock() + 1)
    assert before.exact
    assert fingerprint(list(values), clock() + 1).digest == before.digest
    change(values)
    assert fingerprint(values, clock() + 1).digest != before.digest


def test_a_list_of_many_arrays_is_sampled_in_time_and_seen_to_change_as_a_whole() -> None:
    numpy = pytest.importorskip("numpy")
    images = [numpy.ones((30, 30)) for _ in range(2_000)]
    before = fingerprint(images, clock() + 1)
    assert not before.exact
    for image in images:
        image *= 2
    assert fingerprint(images, clock() + 1).digest != before.digest


def test_a_large_estimator_that_only_predicts_costs_no_look_and_is_tracked(ticks: Ticks) -> None:
    linear = pytest.importorskip("sklearn.linear_model")
    model = linear.LinearRegression().fit([[0.0], [1.0]], [0.0, 1.0])
    ticks.step_s = 1.0
    found = run("found = model.predict([[2.0]])", {"model": model}, ticks)
    assert found.untracked == ()
    assert found.mutates == ()


def test_what_an_estimator_predicts_does_not_hold_the_estimator(ticks: Ticks) -> None:
    linear = pytest.importorskip("sklearn.linear_model")
    model = linear.LinearRegression().fit([[0.0], [1.0]], [0.0, 1.0])
    names = {"model": model, "show": lambda *values: None, "rows": 1.5}
    ticks.step_s = 1.0
    assert run("found, kept = model.predict([[2.0]]), rows\nshow(found, kept)", names, ticks).untracked == ()


def test_a_transformer_of_the_notebook_may_change_when_it_transforms() -> None:
    base = pytest.importorskip("sklearn.base")
    names: dict[str, object] = {"BaseEstimator": base.BaseEstimator, "__name__": "__main__"}
    exec(
        "class Counts(BaseEstimator):\n    n = 0\n    def transform(self, rows):\n        self.n += 1\n"
        "c = Counts()",
        names,
    )
    assert run("c.transform([])", names).mutates == ("name:c",)


def test_an_estimator_that_is_large_takes_no_time_from_small_values(ticks: Ticks) -> None:
    linear = pytest.importorskip("sklearn.linear_model")
    names = {"a_model": linear.LinearRegression(), "rows": [1], "show": lambda *values: None}
    names["a_model"].trees = [[number] for number in range(1000)]
    ticks.step_s = 0.0002
    assert run("show(a_model, rows)", names, ticks).untracked == ("name:a_model",)


def test_a_part_set_anew_through_another_name_is_no_accumulation_where_the_others_are_only_shown() -> None:
    np = pytest.importorskip("numpy")
    rows = np.zeros(4)
    names: dict[str, object] = {"x": rows, "z": rows.reshape(2, 2)}
    assert run("z[:, 0] = 5\nz, x", dict(names)).mutates == ()
    assert run("z[:, 0] = x[0] + 1\nz, x", dict(names)).mutates == ("name:x", "name:z")


def test_a_grid_of_axes_is_tracked_and_drawing_in_it_changes_nothing() -> None:
    figure = pytest.importorskip("matplotlib.figure")
    names: dict[str, object] = {"ax": figure.Figure().subplots(2, 3)}
    found = run("for i in range(2):\n    for j in range(3):\n        ax[i, j].text(0.5, 0.5, str((i, j)))", names)
    assert (found.untracked, found.mutates) == ((), ())
