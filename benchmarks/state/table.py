"""Tables of results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from judge import ANSWERS, Result

_DOCS = Path(__file__).parents[2] / "docs" / "state-benchmark.md"


def recall(results: Sequence[Result]) -> float:
    """Found items by wanted ones; 1 where nothing was wanted."""
    wanted = sum(len(result.wanted) for result in results)
    return 1 - sum(len(result.missed) for result in results) / wanted if wanted else 1.0


def totals(results: Sequence[Result]) -> str:
    """One line."""
    clean = [result for result in results if result.session.clean]
    wanted = sum(len(result.wanted) for result in results)
    found = wanted - sum(len(result.missed) for result in results)
    alarms, false = (sum(len(result.alarms) for result in some) for some in (results, clean))
    return (
        f"{len(results)} sessions, {sum(r.right for r in results)} right in everything; "
        f"recall {found} of {wanted} ({recall(results):.1%}); false alarms {alarms}, "
        f"of them {false} in {len(clean)} clean sessions"
    )


def lines(results: Sequence[Result]) -> Iterator[str]:
    """The tables by class and by kind of answer, the misses by name, and the totals."""
    yield "| class | sessions | right | items | found | recall | false alarms |"
    yield "|---|---|---|---|---|---|---|"
    for group in dict.fromkeys(result.session.group for result in results):
        yield _row(group, [result for result in results if result.session.group == group])
    yield ""
    yield "| answer | items | found | recall | false alarms |"
    yield "|---|---|---|---|---|"
    for answer in ANSWERS:
        wanted, missed, alarms = (
            sum(item.startswith(answer) for result in results for item in getattr(result, part))
            for part in ("wanted", "missed", "alarms")
        )
        share = f"{1 - missed / wanted:.1%}" if wanted else "-"
        yield f"| {answer} | {wanted} | {wanted - missed} | {share} | {alarms} |"
    yield ""
    yield totals(results)
    wrong = [result for result in results if not result.right]
    if wrong:
        yield ""
        yield "| session | said | missed | false alarms |"
        yield "|---|---|---|---|"
        for result in wrong:
            cells = (result.said, "; ".join(result.missed), "; ".join(result.alarms))
            yield f"| {result.session.name} | " + " | ".join(cell.replace("|", "/") for cell in cells) + " |"


def _row(group: str, results: Sequence[Result]) -> str:
    wanted = sum(len(result.wanted) for result in results)
    missed = sum(len(result.missed) for result in results)
    alarms = sum(len(result.alarms) for result in results)
    right = sum(result.right for result in results)
    return (
        f"| {group} | {len(results)} | {right} | {wanted} | {wanted - missed} | {recall(results):.1%} | {alarms} |"
    )


def as_json(results: Sequence[Result]) -> dict[str, Any]:
    """Everything."""
    return {
        "totals": totals(results),
        "sessions": [
            {
                "name": result.session.name,
                "group": result.session.group,
                "said": result.said,
                "wanted": result.wanted,
                "missed": result.missed,
                "alarms": result.alarms,
                "untracked": result.untracked,
                "seconds": round(result.seconds, 2),
            }
            for result in results
        ],
    }


def write_docs(results: Sequence[Result]) -> None:
    """Write the page with the tables."""
    head = """# How often the recorder is right

Written by `python benchmarks/state --write-docs`: scripted notebook sessions over the Jupyter protocol, each with
the right answer written down beside it. An item is a diverged, edited or never run cell, an unsafe cell, a kind of
intervention, or a location with its cell in a reason; a false alarm is anything said beyond the written answer.
In the class `clean` every session is one that a careful person calls clean.
"""
    _DOCS.write_text("\n".join([head, *lines(results), ""]), encoding="utf-8")
