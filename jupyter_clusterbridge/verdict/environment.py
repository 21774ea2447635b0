"""Differences between two environments: those that decide and those that only explain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from jupyter_clusterbridge.model.environment import Environment
from jupyter_clusterbridge.model.verdict import Difference, Link

_ABSENT = "not there"
_OURS = {"jupyter-clusterbridge", "jupyter-clusterbridge-runtime"}
_THREADS = "_NUM_THREADS"
"""End of the variables by which a lock fixes thread counts; the counts themselves are compared."""


@dataclass(frozen=True)
class EnvironmentDiff:
    """Three weights of environment differences."""

    decisive: tuple[Difference, ...]
    """Python and package versions: any change is a change of the model."""
    suspects: tuple[Difference, ...]
    """Threads, flags, instruction set, variables: a cause only where numbers differ."""
    notes: tuple[str, ...]


def compare_environments(baseline: Environment, run: Environment) -> EnvironmentDiff:
    """Compare two environments; a package counts when either process had loaded it."""
    decisive = [*_python(baseline, run), *_packages(baseline, run)]
    suspects = [
        *_mapping("thread count", baseline.threads, run.threads),
        *_mapping("flag", baseline.flags, run.flags),
        *_mapping("variable", _settings(baseline), _settings(run)),
        *_hardware(baseline, run),
    ]
    return EnvironmentDiff(tuple(decisive), tuple(suspects), tuple(_missing(baseline, run)))


def _difference(where: str, baseline: str | None, run: str | None) -> Difference:
    return Difference(Link.ENVIRONMENT, where, baseline or _ABSENT, run or _ABSENT)


def _python(baseline: Environment, run: Environment) -> Iterator[Difference]:
    if (baseline.implementation, baseline.python) != (run.implementation, run.python):
        yield _difference(
            "Python", f"{baseline.implementation} {baseline.python}", f"{run.implementation} {run.python}"
        )


def _packages(baseline: Environment, run: Environment) -> Iterator[Difference]:
    theirs = {package.name: package for package in run.distributions}
    for package in baseline.distributions:
        other = theirs.get(package.name)
        if other is None or not (package.loaded or other.loaded):
            continue
        before = package.loaded_version or package.version
        after = other.loaded_version or other.version
        if before != after:
            yield _difference(f"package {package.name}", before, after)


def _settings(environment: Environment) -> dict[str, str]:
    return {name: value for name, value in environment.variables.items() if not name.endswith(_THREADS)}


def _missing(baseline: Environment, run: Environment) -> Iterator[str]:
    theirs = {package.name for package in run.distributions} | _OURS
    absent = [p.name for p in baseline.distributions if p.loaded and p.name not in theirs]
    if absent:
        yield "Loaded in the baseline and not installed in the run: " + ", ".join(absent) + "."


def _mapping(kind: str, baseline: Mapping[str, object], run: Mapping[str, object]) -> Iterator[Difference]:
    for name in sorted({*baseline, *run}):
        before, after = baseline.get(name), run.get(name)
        if before != after:
            yield _difference(
                f"{kind} {name}",
                None if before is None else str(before),
                None if after is None else str(after),
            )


def _hardware(baseline: Environment, run: Environment) -> Iterator[Difference]:
    pairs = (
        ("machine", f"{baseline.system} {baseline.machine}", f"{run.system} {run.machine}"),
        ("C library", baseline.libc, run.libc),
        ("processor", baseline.cpu_model, run.cpu_model),
        ("instruction set", baseline.cpu_capability, run.cpu_capability),
        ("GPUs", _gpus(baseline), _gpus(run)),
    )
    for where, before, after in pairs:
        if before != after:
            yield _difference(where, before, after)


def _gpus(environment: Environment) -> str:
    return ", ".join(gpu.name for gpu in environment.gpus) or "none"
