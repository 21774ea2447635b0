"""Which wheels a target takes."""

from __future__ import annotations

import pytest

from jupyter_clusterbridge.model.environment import Environment
from jupyter_clusterbridge.model.errors import LockFailed
from jupyter_clusterbridge.pin.target import target_for


@pytest.mark.parametrize(
    ("filename", "fits"),
    [
        ("a-1-py3-none-any.whl", True),
        ("a-1-py2.py3-none-any.whl", True),
        ("a-1-cp311-cp311-manylinux_2_28_x86_64.whl", True),
        ("a-1-cp38-abi3-manylinux2014_x86_64.manylinux_2_17_x86_64.whl", True),
        ("a-1-cp311-cp311-linux_x86_64.whl", True),
        ("a-1-cp312-cp312-manylinux_2_28_x86_64.whl", False),
        ("a-1-cp311-cp311-manylinux_2_28_aarch64.whl", False),
        ("a-1-cp311-cp311-manylinux_2_39_x86_64.whl", False),
        ("a-1-cp311-cp311-macosx_11_0_arm64.whl", False),
        ("a-1-cp311-cp311-musllinux_1_2_x86_64.whl", False),
        ("a-1.tar.gz", False),
    ],
)
def test_a_wheel_fits_by_its_tags(filename: str, fits: bool) -> None:
    assert target_for(Environment(python="3.11.7"), "linux/amd64").accepts(filename) is fits


def test_the_closest_tag_ranks_first() -> None:
    target = target_for(Environment(python="3.11.7"), "linux/amd64")
    names = [
        "a-1-py3-none-any.whl",
        "a-1-cp39-abi3-manylinux_2_17_x86_64.whl",
        "a-1-cp311-cp311-manylinux_2_28_x86_64.whl",
    ]
    assert sorted(names, key=target.rank) == names[::-1]


@pytest.mark.parametrize(
    ("libc", "platform"),
    [("glibc 2.36", "2_36"), ("glibc 2.41", "2_36"), ("glibc 2.31", "2_31"), ("musl", "2_28")],
)
def test_binaries_may_ask_for_the_notebooks_own_c_library_at_most(libc: str, platform: str) -> None:
    target = target_for(Environment(python="3.11.7", libc=libc), "linux/amd64")
    assert target.resolver_platform == f"x86_64-manylinux_{platform}"


def test_other_pythons_are_refused() -> None:
    with pytest.raises(LockFailed, match="pypy"):
        target_for(Environment(python="3.10.14", implementation="pypy"), "linux/amd64")
