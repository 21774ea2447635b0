"""What a job needs of an environment."""

from __future__ import annotations

from jupyter_clusterbridge.model.environment import Distribution, Environment
from jupyter_clusterbridge.pin.selection import select
from jupyter_clusterbridge.pin.target import target_for


def chosen(*distributions: Distribution, scope: str = "used", platform: str = "linux/amd64") -> list[str]:
    """Names of what is chosen from an environment on linux/amd64 with Python 3.11."""
    environment = Environment(python="3.11.7", distributions=distributions)
    target = target_for(environment, platform)
    return [dist.name for dist in select(environment, target, scope=scope, imports=()).chosen]


def test_used_takes_the_loaded_and_what_they_need() -> None:
    assert chosen(
        Distribution("a", "1", loaded=True, requires=("b>=1", "c; python_version < '3'")),
        Distribution("b", "1", requires=("d",)),
        Distribution("c", "1"),
        Distribution("d", "1"),
        Distribution("e", "1"),
    ) == ["a", "b", "d"]


def test_extras_count_where_they_are_asked_for() -> None:
    b = Distribution("b", "1", requires=("c; extra == 'fast'", "d; extra == 'slow'"))
    rest = (Distribution("c", "1"), Distribution("d", "1"))
    assert chosen(Distribution("a", "1", loaded=True, requires=("b[fast]",)), b, *rest) == ["a", "b", "c"]


def test_names_are_compared_in_their_normal_form() -> None:
    a = Distribution("a", "1", loaded=True, requires=("Ruamel_Yaml.clib",))
    assert chosen(a, Distribution("ruamel-yaml-clib", "1")) == ["a", "ruamel-yaml-clib"]


def test_a_circle_comes_to_an_end() -> None:
    a, b = Distribution("a", "1", loaded=True, requires=("b",)), Distribution("b", "1", requires=("a",))
    assert chosen(a, b) == ["a", "b"]


def test_markers_are_those_of_the_target() -> None:
    a = Distribution("a", "1", loaded=True, requires=("b; platform_machine == 'aarch64'",))
    b = Distribution("b", "1")
    assert chosen(a, b) == ["a"]
    assert chosen(a, b, platform="linux/arm64") == ["a", "b"]


def test_a_line_that_is_no_requirement_is_passed_over() -> None:
    assert chosen(Distribution("a", "1", loaded=True, requires=("not a requirement !!",))) == ["a"]


def test_all_takes_everything() -> None:
    assert chosen(Distribution("a", "1"), Distribution("b", "1"), scope="all") == ["a", "b"]
