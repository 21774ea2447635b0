"""Sentences that a person understands."""

from __future__ import annotations

from jupyter_clusterbridge.model.record import RunRecord
from jupyter_clusterbridge.model.verdict import Difference, Link
from jupyter_clusterbridge.verdict.cells import is_module

_WORDS = {
    Link.CODE: "the code",
    Link.ENVIRONMENT: "the environment",
    Link.DATA_FILE: "the data",
    Link.LISTING_ORDER: "the order in which a folder was listed",
    Link.INDEX_ORDER: "the order of the data",
    Link.BATCH_CONTENT: "the content of a batch, drawn with the same indices",
    Link.RNG: "a random stream",
    Link.INITIAL_WEIGHTS: "the initial weights",
    Link.LOSS: "the loss",
    Link.METRIC: "a metric",
    Link.OUTPUT: "an output",
}

_NEXT = {
    Link.CODE: "The two runs did not execute the same source.",
    Link.ENVIRONMENT: "Any change of it is a change of the model.",
    Link.DATA_FILE: "The run read other data than the notebook.",
    Link.LISTING_ORDER: "Sort the listing in the notebook.",
    Link.INDEX_ORDER: "Seed the sampler, or give the loader a seeded generator.",
    Link.BATCH_CONTENT: "Look for unseeded augmentation, above all in loader workers.",
    Link.RNG: "Seed it before its first use.",
    Link.INITIAL_WEIGHTS: "The streams before it agree, so look at what builds the model.",
    Link.LOSS: "Batches and initial weights agree, so the arithmetic differs.",
    Link.METRIC: "Nothing recorded before it differs, so look at what computes it.",
    Link.OUTPUT: "All recorded numbers before it agree.",
}


def difference_sentence(first: Difference) -> str:
    """Say what differs first and where, and what to make of it."""
    return (
        f"The first difference is {_WORDS[first.link]} ({first.where}): {first.baseline} in the baseline, "
        f"{first.run} in the run. {_NEXT[first.link]}"
    )


def same_sentence(baseline: RunRecord, run: RunRecord, rows: int, *, text: bool) -> str:
    """Say what was compared and found equal bit for bit."""
    parts = [_count(len(baseline.cells), "cell")]
    theirs = {file.path for file in run.files if file.digest is not None}
    files = [file.path for file in baseline.files if file.digest is not None and file.path in theirs]
    if baseline.environment is not None and run.environment is not None:
        parts.append("the environment")
    for number, word in (
        (sum(is_module(path) for path in files), "local module"),
        (sum(not is_module(path) for path in files), "data file"),
        (rows, "row of step evidence"),
        (len(baseline.metrics), "metric"),
        (sum(artifact.digest is not None for artifact in baseline.artifacts), "artifact"),
    ):
        if number:
            parts.append(_count(number, word))
    if text:
        parts.append("the printed text")
    return (
        f"The same model: {', '.join(parts[:-1])} and {parts[-1]} are equal bit for bit."
        if len(parts) > 1
        else (f"The same model: {parts[0]} compared, nothing else was recorded.")
    )


def _count(number: int, word: str) -> str:
    if number == 1:
        return f"1 {word}"
    plural = word.replace("row of", "rows of") if word.startswith("row of") else f"{word}s"
    return f"{number} {plural}"
