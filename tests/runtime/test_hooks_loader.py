"""The hook for torch's DataLoader: indices, contents, epochs."""

from __future__ import annotations

import textwrap
from collections import namedtuple
from collections.abc import Iterator
from pathlib import Path

import pytest
from session_kit import Recorded, pairs

from jupyter_clusterbridge.model.evidence import RowKind
from jupyter_clusterbridge.runtime.fingerprint import CAP, content_hash, index_hash

torch = pytest.importorskip("torch", reason="torch is not installed")
pytestmark = pytest.mark.torch

DATA = """
import torch, random
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset
torch.manual_seed(0)
data = TensorDataset(torch.arange(40.0).reshape(20, 2), torch.arange(20))
"""


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[Recorded]:
    recorded = Recorded(tmp_path)
    yield recorded
    recorded.close()
    assert recorded.errors == []


def _run(folder: Path, *sources: str) -> Recorded:
    recorded = Recorded(folder)
    for source in sources:
        result = recorded.run(textwrap.dedent(source))
        assert result.success, result.error_in_exec
    recorded.close()
    assert recorded.errors == []
    return recorded


def test_a_batch_row_holds_the_hash_of_its_indices_and_of_its_content(kernel: Recorded) -> None:
    kernel.run(DATA, "batches = list(DataLoader(data, batch_size=8))")
    rows = kernel.rows(RowKind.BATCH)
    expected = [index_hash(list(range(20))[i : i + 8]) for i in (0, 8, 16)]
    assert [row.a for row in rows] == expected
    assert [row.b for row in rows] == [content_hash(batch) for batch in kernel.shell.user_ns["batches"]]


@pytest.mark.parametrize("workers", [0, 2])
def test_two_seeded_runs_draw_the_same_rows(tmp_path: Path, workers: int) -> None:
    source = f"for e in range(2):\n    for b in DataLoader(data, 4, shuffle=True, num_workers={workers}): pass"
    one = _run(tmp_path / "one", DATA, source)
    two = _run(tmp_path / "two", DATA, source)
    assert pairs(one.rows()) == pairs(two.rows())
    assert len(one.rows(RowKind.BATCH)) == 10
    assert all(a and b for a, b in pairs(one.rows(RowKind.BATCH)))


def test_workers_draw_ahead_and_still_each_batch_gets_its_own_indices(tmp_path: Path) -> None:
    source = "for b in DataLoader(data, 4, shuffle=True, num_workers={}): pass"
    alone = _run(tmp_path / "alone", DATA, source.format(0))
    helped = _run(tmp_path / "helped", DATA, source.format(2))
    assert pairs(alone.rows(RowKind.BATCH)) == pairs(helped.rows(RowKind.BATCH))


def test_a_pass_that_is_broken_off_leaves_the_next_one_in_order(kernel: Recorded) -> None:
    source = """
    loader = DataLoader(data, 4, num_workers=2, persistent_workers=True)
    for b in loader: break
    for b in loader: pass
    del loader
    """
    kernel.run(DATA, textwrap.dedent(source))
    indices = [row.a for row in kernel.rows(RowKind.BATCH)]
    assert indices[1:] == [index_hash(list(range(i, i + 4))) for i in range(0, 20, 4)]


@pytest.mark.parametrize("workers", [0, 2])
def test_augmentation_that_no_seed_reaches_changes_the_content_and_not_the_indices(
    tmp_path: Path, workers: int
) -> None:
    source = f"""
    class Augmented(Dataset):
        def __len__(self): return 20
        def __getitem__(self, i): return data[i][0] + random.SystemRandom().random()
    for b in DataLoader(Augmented(), 4, num_workers={workers}): pass
    """
    one, two = _run(tmp_path / "one", DATA, source), _run(tmp_path / "two", DATA, source)
    left, right = one.rows(RowKind.BATCH), two.rows(RowKind.BATCH)
    assert [row.a for row in left] == [row.a for row in right]
    assert all(one.b != two.b for one, two in zip(left, right, strict=True))


def test_epochs_are_counted_for_each_loader(kernel: Recorded) -> None:
    source = """
    train, test = DataLoader(data, 10), DataLoader(data, 10)
    for epoch in range(2):
        for b in train: pass
        for b in test: pass
    """
    kernel.run(DATA, textwrap.dedent(source))
    assert pairs(kernel.rows(RowKind.EPOCH)) == [(0, 0), (1, 0), (0, 1), (1, 1)]


def test_persistent_workers_count_their_epochs_too(kernel: Recorded) -> None:
    source = """
    loader = DataLoader(data, 10, num_workers=1, persistent_workers=True)
    for epoch in range(3):
        for b in loader: pass
    del loader
    """
    kernel.run(DATA, textwrap.dedent(source))
    assert pairs(kernel.rows(RowKind.EPOCH)) == [(0, 0), (0, 1), (0, 2)]
    assert len(kernel.rows(RowKind.BATCH)) == 6


def test_an_iterable_data_set_has_contents_and_no_indices(kernel: Recorded) -> None:
    source = """
    class Stream(IterableDataset):
        def __iter__(self): return iter(torch.arange(8.0))
    for b in DataLoader(Stream(), 4): pass
    """
    kernel.run(DATA, textwrap.dedent(source))
    assert [row.a for row in kernel.rows(RowKind.BATCH)] == [0, 0]
    assert all(row.b for row in kernel.rows(RowKind.BATCH))


def test_a_loader_without_batches_is_followed_by_single_indices(kernel: Recorded) -> None:
    kernel.run(DATA, "for b in DataLoader(data, batch_size=None): pass")
    assert [row.a for row in kernel.rows(RowKind.BATCH)] == [index_hash(i) for i in range(20)]


def test_a_batch_that_cannot_be_read_turns_the_hook_off_and_training_goes_on(tmp_path: Path) -> None:
    source = """
    import collections
    class Odd(collections.UserDict):
        def items(self): raise RuntimeError("no")
    seen = [b for b in DataLoader(data, 4, collate_fn=lambda rows: Odd())]
    loss = (torch.ones(1, requires_grad=True) * 2).sum()
    loss.backward()
    """
    recorded = Recorded(tmp_path)
    result = recorded.run(DATA, textwrap.dedent(source))
    recorded.close()
    assert result.success
    assert len(recorded.shell.user_ns["seen"]) == 5
    assert [str(error) for error in recorded.errors] == ["no"]
    assert recorded.rows(RowKind.BATCH) == []
    assert len(recorded.rows(RowKind.LOSS)) == 1


def test_loading_draws_no_random_number_of_ours(tmp_path: Path) -> None:
    states = []
    for hooked in (True, False):
        recorded = Recorded(tmp_path / str(hooked))
        if not hooked:
            recorded.close()
        recorded.run(DATA, "seen = [b[1].tolist() for b in DataLoader(data, 4, shuffle=True, num_workers=2)]")
        states.append((recorded.shell.user_ns["seen"], torch.get_rng_state().tolist()))
        recorded.close()
    assert states[0] == states[1]


Pair = namedtuple("Pair", "image label")


@pytest.mark.parametrize(
    "make",
    [
        lambda t: t,
        lambda t: [t],
        lambda t: {"a": {"b": (t, 1)}},
        lambda t: Pair(t, torch.ones(1)),
        lambda t: t.numpy(),
        lambda t: t.to(torch.bfloat16),
        lambda t: t.t(),
        lambda t: t.reshape(2, 2, 2, 2).contiguous(memory_format=torch.channels_last),
        lambda t: torch.complex(t, t).conj(),
        lambda t: ["text", t.tolist()],
    ],
    ids=["plain", "list", "nested", "namedtuple", "numpy", "bfloat16", "transposed", "nhwc", "conj", "scalars"],
)
def test_a_change_of_one_value_anywhere_in_a_batch_is_seen(make: object) -> None:
    assert callable(make)
    first, same, other = (torch.arange(16.0).reshape(4, 4) for _ in range(3))
    other[2, 3] = -1.0
    assert content_hash(make(first)) == content_hash(make(same)) != content_hash(make(other))


def test_row_order_and_pairs_of_sign_flips_are_seen() -> None:
    rows = torch.randn(4, 3)
    flipped = rows.clone()
    flipped[:2, 0] *= -1
    assert len({content_hash(rows), content_hash(rows.flip(0)), content_hash(flipped)}) == 3


def test_shape_and_type_count() -> None:
    zeros = torch.zeros(4, 4)
    assert len({content_hash(z) for z in (zeros, zeros.reshape(16), zeros.to(torch.int32))}) == 3


def test_a_large_tensor_is_sampled_the_same_way_each_time() -> None:
    large = torch.zeros(CAP // 4 * 3)
    first = content_hash(large)
    assert content_hash(large.clone()) == first
    large[-1] = 1.0
    assert content_hash(large) != first


def test_a_tensor_without_data_on_the_cpu_gives_no_content() -> None:
    assert content_hash(torch.empty(4, device="meta")) == 0
    assert content_hash([torch.empty(4, device="meta"), torch.ones(1)]) != 0
