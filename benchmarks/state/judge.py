"""What the tool said against what is true."""

from __future__ import annotations

import re
import time
import traceback
from dataclasses import dataclass, field
from typing import Any

from harness import Play, Session, Truth
from kernels import Zygote

ANSWERS = ("diverged", "edited", "never_run", "unsafe", "intervention", "reason", "told")
_LETTERS = {"c": "current", "d": "diverged", "e": "edited", "n": "never_run", "u": "not_tracked"}
_LETTER_OF = {state: letter for letter, state in _LETTERS.items()}


@dataclass
class Result:
    """One session judged. The items are strings such as ``diverged c`` or ``intervention rerun``."""

    session: Session
    wanted: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    alarms: list[str] = field(default_factory=list)
    said: str = ""
    """The tool's answer in one line."""
    seconds: float = 0.0
    untracked: list[str] = field(default_factory=list)

    @property
    def right(self) -> bool:
        """Whether nothing was missed and nothing was wrong."""
        return not self.missed and not self.alarms


def play(session: Session, zygote: Zygote) -> Result:
    """Run a session and judge it; an error of the tool or of the script misses everything."""
    start = time.monotonic()
    result = Result(session)
    try:
        with Play(zygote) as one:
            truth = session.script(one)
            report = one.check()
            judge(result, truth, report, one.order)
    except Exception:
        result.missed.append("error " + traceback.format_exc(limit=-3).strip().replace("\n", " | "))
        result.wanted.append("error")
    result.seconds = time.monotonic() - start
    return result


def judge(result: Result, truth: Truth, report: Any, order: list[str]) -> None:
    """Fill a result."""
    ids = [cell.cell_id for cell in report.cells]
    letter_of = dict(zip(ids, order, strict=True))
    letters = "".join(_LETTER_OF[cell.state.value] for cell in report.cells)
    _judge_states(result, truth, letters, order)
    unsafe = {letter_of[cell.cell_id] for cell in report.cells if cell.unsafe_to_rerun}
    _compare(result, "unsafe", set(truth.unsafe), unsafe, set(truth.either))
    kinds = {one.kind.value for one in report.interventions}
    _compare(result, "intervention", set(truth.did.split()), kinds, set(truth.may.split()))
    for cell, wanted in truth.why.items():
        found = report.cells[order.index(cell)].reasons
        named = {f"{one.kind}:{one.name}@{letter_of.get(one.cell_id, one.cell_id or '-')}" for one in found}
        for item in wanted.split():
            result.wanted.append(f"reason {cell} {item}")
            if not named & set(item.split("|")):
                result.missed.append(f"reason {cell} {item} (said: {' '.join(sorted(named)) or 'nothing'})")
    for kind, text in truth.told.items():
        messages = [one.message for one in report.interventions if one.kind.value == kind]
        result.wanted.append(f"told {kind} {text}")
        if not any(part in message for message in messages for part in text.split("|")):
            result.missed.append(f"told {kind} {text} (said: {' / '.join(messages) or 'nothing'})")
    result.untracked = sorted(
        f"{letter_of[cell.cell_id]} {location}"
        for cell in report.cells
        for location in getattr(cell, "untracked", ())
    )
    result.said = f"{letters} unsafe={''.join(sorted(unsafe)) or '-'}"
    result.said += f" did={','.join(sorted(kinds)) or '-'}"


def _judge_states(result: Result, truth: Truth, said: str, order: list[str]) -> None:
    wanted = re.findall(r"\[\w+\]|\w", truth.states)
    assert len(wanted) == len(said), f"the truth {truth.states} is not about {len(said)} cells"
    for cell, letters, letter in zip(order, wanted, said, strict=True):
        right = letter in letters or (letter == "u" and "c" in letters)  # said to be unknown: no alarm
        if "c" not in letters:
            item = f"{_LETTERS[letters.strip('[]')[0]]} {cell}"
            result.wanted.append(item)
            if not right:
                result.missed.append(f"{item} (said: {_LETTERS[letter]})")
        elif not right:
            result.alarms.append(f"{_LETTERS[letter]} {cell}")


def _compare(result: Result, what: str, wanted: set[str], said: set[str], either: set[str]) -> None:
    result.wanted += [f"{what} {item}" for item in sorted(wanted)]
    result.missed += [f"{what} {item}" for item in sorted(wanted) if not said & set(item.split("|"))]
    right = {part for item in wanted for part in item.split("|")}
    result.alarms += [f"{what} {item}" for item in sorted(said - right - either)]
