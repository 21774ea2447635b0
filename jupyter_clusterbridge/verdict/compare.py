"""The verdict on two run records: the first link of the causal chain that differs, and all others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from jupyter_clusterbridge.model.identity import Identity
from jupyter_clusterbridge.model.record import CellRecord, RunRecord
from jupyter_clusterbridge.model.run import RunState, RunStatus
from jupyter_clusterbridge.model.verdict import Comparison, Difference, IdentityPair, Link, Verdict
from jupyter_clusterbridge.verdict.cells import (
    CellPair,
    Cut,
    Placed,
    StreamDifference,
    align_cells,
    compare_artifacts,
    compare_code,
    compare_files,
    compare_metrics,
    compare_outputs,
    compare_rng,
    moved_cells,
    outputs_compared,
)
from jupyter_clusterbridge.verdict.environment import EnvironmentDiff, compare_environments
from jupyter_clusterbridge.verdict.steps import StepDiff, compare_steps
from jupyter_clusterbridge.verdict.words import difference_sentence, same_sentence

_ORDER = {link: position for position, link in enumerate(Link)}
_NUMERIC = {Link.BATCH_CONTENT, Link.INITIAL_WEIGHTS, Link.LOSS, Link.METRIC, Link.OUTPUT}


@dataclass(frozen=True)
class Side:
    """One side of a comparison."""

    record: RunRecord | None
    """None when there is no baseline."""
    steps: Path | None = None
    status: RunStatus | None = None
    identity: Identity | None = None


@dataclass(frozen=True)
class _Behaviour:
    """What happened while the cells ran."""

    steps: tuple[Placed, ...]
    """Batches, weights and losses, each with its cell."""
    streams: tuple[StreamDifference, ...]
    end: tuple[Difference, ...]
    """Metrics and artifacts."""
    printed: tuple[Difference, ...]
    """Printed text, which decides only where nothing stronger was recorded."""
    has_numbers: bool
    """Whether losses or metrics could be compared."""
    has_artifacts: bool
    has_text: bool

    def chain(self, streams: Iterable[StreamDifference]) -> tuple[Difference, ...]:
        """Everything but printed text in causal order: by cell, and within a cell by link."""
        placed = [*self.steps, *((stream.cell_index, stream.difference) for stream in streams)]
        placed.sort(key=lambda item: (item[0], _ORDER[item[1].link]))
        return (*(difference for _, difference in placed), *self.end)


def compare_sides(baseline: Side, run: Side) -> Comparison:
    """Compare a baseline with a run.

    Static links (code, environment, data, listings) come first; what happened while the cells ran is sorted
    by cell, and within a cell by the causal order of the links.
    """
    identities = IdentityPair(baseline.identity, run.identity)
    if baseline.record is None or run.record is None:
        return _no_record(baseline, identities)
    pairs = align_cells(baseline.record, run.record)
    cut = Cut.of(pairs)
    steps = compare_steps(baseline.steps, run.steps, cut.baseline, moved_cells(pairs))
    behaviour = _behaviour(baseline.record, run.record, pairs, steps, cut)
    environment = _environment(baseline.record, run.record)
    differences, notes = _weigh(baseline.record, run.record, pairs, behaviour, environment)
    notes = (*_notes(baseline, run), *notes)
    if differences:
        return _different(baseline.record, differences, identities, notes)
    reason = _cannot_tell(pairs, run.status)
    if reason is not None:
        return Comparison(Verdict.CANNOT_TELL, reason, None, (), identities, notes)
    summary = same_sentence(
        baseline.record, run.record, steps.compared, text=behaviour.has_text and not behaviour.printed
    )
    return Comparison(Verdict.SAME, summary, None, (), identities, notes)


def _no_record(baseline: Side, identities: IdentityPair) -> Comparison:
    if baseline.record is None:
        summary = (
            "Cannot tell: there is no baseline. Record one with 'clusterbridge baseline NOTEBOOK', "
            "or load the extension in the notebook, then export again."
        )
    else:
        summary = "Cannot tell: the run left no record, so nothing can be compared."
    return Comparison(Verdict.CANNOT_TELL, summary, None, (), identities, ())


def _environment(baseline: RunRecord, run: RunRecord) -> EnvironmentDiff:
    if baseline.environment is None or run.environment is None:
        side = "baseline" if baseline.environment is None else "run"
        return EnvironmentDiff((), (), (f"The environment of the {side} was not recorded.",))
    return compare_environments(baseline.environment, run.environment)


def _behaviour(
    baseline: RunRecord, run: RunRecord, pairs: tuple[CellPair, ...], steps: StepDiff, cut: Cut
) -> _Behaviour:
    metrics = tuple(compare_metrics(baseline, run, cut))
    differing = {cell for cell, _ in (*steps.differences, *metrics)}
    return _Behaviour(
        steps=steps.differences,
        # what a cell loads has another state each time; it is a suspect where numbers differ in that very cell
        streams=tuple(one for one in compare_rng(pairs) if not one.appeared or one.cell_index in differing),
        end=(*(difference for _, difference in metrics), *compare_artifacts(baseline, run, cut)),
        printed=tuple(compare_outputs(pairs)),
        has_numbers=steps.compared > 0 or bool(baseline.metrics and run.metrics),
        has_artifacts=any(artifact.digest for artifact in baseline.artifacts),
        has_text=outputs_compared(pairs),
    )


def _weigh(
    baseline: RunRecord,
    run: RunRecord,
    pairs: tuple[CellPair, ...],
    behaviour: _Behaviour,
    environment: EnvironmentDiff,
) -> tuple[tuple[Difference, ...], tuple[str, ...]]:
    """Put what decides in causal order; the rest becomes notes."""
    static = [*compare_code(pairs, baseline, run), *environment.decisive, *compare_files(baseline, run)]
    static.sort(key=lambda difference: _ORDER[difference.link])
    if static or environment.suspects:
        # what is known to differ explains more than a stream of which nobody knows that it was drawn from
        streams = tuple(stream for stream in behaviour.streams if not stream.appeared)
        behaviour = replace(behaviour, streams=streams)
    chain, notes = _without_harmless_streams(behaviour)
    if behaviour.has_numbers and not chain:
        notes += _as_notes(behaviour.printed)
    else:
        chain = (*chain, *behaviour.printed)
    suspects = environment.suspects
    if suspects and not static and chain and chain[0].link in _NUMERIC:
        return (*suspects, *chain), (*environment.notes, *notes)
    return (*static, *chain), (*environment.notes, *_as_notes(suspects), *notes)


def _without_harmless_streams(behaviour: _Behaviour) -> tuple[tuple[Difference, ...], tuple[str, ...]]:
    """Leave out streams that stand elsewhere and changed nothing that was recorded.

    Where losses, metrics or artifacts are there and equal, no stream mattered. Where only printed text is there
    and equal, that is said of incidental draws alone.
    """
    if behaviour.steps or behaviour.end or (behaviour.printed and not behaviour.has_numbers):
        return behaviour.chain(behaviour.streams), ()
    if behaviour.has_numbers or behaviour.has_artifacts:
        harmless = behaviour.streams
    elif behaviour.has_text:
        harmless = tuple(stream for stream in behaviour.streams if stream.incidental)
    else:
        harmless = ()
    kept = [stream for stream in behaviour.streams if stream not in harmless]
    return behaviour.chain(kept), _as_notes(stream.difference for stream in harmless)


def _as_notes(differences: Iterable[Difference]) -> tuple[str, ...]:
    return tuple(
        f"{difference.where}: {difference.baseline} in the baseline, {difference.run} in the run; "
        "nothing that was recorded depends on it."
        for difference in differences
    )


def _notes(baseline: Side, run: Side) -> tuple[str, ...]:
    notes: list[str] = []
    if baseline.record is not None and baseline.record.unreachable:
        notes.append("No clean run can reach what the notebook's session held:")
        notes.extend(baseline.record.unreachable)
        notes.append("Record a reachable baseline with 'clusterbridge baseline NOTEBOOK' and export again.")
    if run.status is not None and run.status.state is not RunState.SUCCEEDED:
        notes.append(f"The run did not succeed: {run.status.reason}")
    return tuple(notes)


def _different(
    baseline: RunRecord, differences: tuple[Difference, ...], identities: IdentityPair, notes: tuple[str, ...]
) -> Comparison:
    first = differences[0]
    summary = difference_sentence(first)
    if baseline.unreachable:
        summary = f"The notebook's session is not one that a clean run can reach. {summary}"
    return Comparison(Verdict.DIFFERENT, summary, first, differences, identities, notes)


def _cannot_tell(pairs: tuple[CellPair, ...], status: RunStatus | None) -> str | None:
    """Why equal evidence is not enough, or None when it is."""
    if status is not None and status.state is not RunState.SUCCEEDED:
        return f"Cannot tell: the run did not succeed, and all that it did until its end is equal. {status.reason}"
    for pair in pairs:
        if pair.baseline and pair.baseline.status and pair.run and not pair.ended_alike:
            before, after = pair.baseline.status, pair.run.status or "no run at all"
            ends = f"ended with {before} in the baseline and with {after} in the run"
            return f"Cannot tell: cell {pair.baseline.cell_index} {ends}; what both did is equal."
    missing = [
        str(pair.run.cell_index)
        for pair in pairs
        if pair.baseline is not None
        and pair.run is not None
        and not pair.baseline.status
        and _did_something(pair.run)
    ]
    if missing:
        return f"Cannot tell: cell {', '.join(missing)} ran in the job and not in the baseline."
    return None


def _did_something(cell: CellRecord) -> bool:
    return cell.rng_before != cell.rng_after or cell.output_digest is not None
