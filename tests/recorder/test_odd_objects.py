"""Objects that answer nothing, or lie: the recorder runs none of their code and goes on."""

from __future__ import annotations

import pytest

_RAISES = "raise RuntimeError('asked')"


@pytest.mark.parametrize(
    "body",
    [
        f"    @property\n    def __class__(self): {_RAISES}",
        f"    @property\n    def __dict__(self): {_RAISES}",
        f"    def __getattr__(self, name): {_RAISES}",
        f"    def __getattribute__(self, name): {_RAISES}",
        f"    def __eq__(self, other): {_RAISES}\n    def __hash__(self): {_RAISES}",
        f"    def __repr__(self): {_RAISES}\n    def __len__(self): {_RAISES}\n    def __bool__(self): {_RAISES}",
        f"    def __iter__(self): {_RAISES}\n    def __next__(self): {_RAISES}",
        "    __slots__ = ('a', 'b')",
    ],
)
def test_an_object_that_cannot_be_asked_is_not_asked(bench, body):
    one = bench(
        f"class Odd:\n{body}\nodd = Odd()\nheld = [odd]\nxs = []", "xs.append(1)\n(lambda *given: None)(odd, held)"
    )
    one.run("*")
    assert one.recorder.active
    assert one.told == []
    assert one.states() == "cc"
    assert [reason.name for reason in one.cell("b").reasons] == ["xs"]


def test_a_namespace_may_have_keys_that_are_no_names(bench):
    one = bench(
        "globals()[5] = [1]\nglobals()['no name'] = 2\nxs = []",
        "xs.append(1)\nglobals()[6] = xs",
        "del globals()[5]",
    )
    one.run("*")
    assert one.recorder.active
    assert one.told == []
    assert one.states() == "ccc"
