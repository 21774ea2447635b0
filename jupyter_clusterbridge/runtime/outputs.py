"""What a cell printed, without what differs between two runs of the same model."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from jupyter_clusterbridge.model.canonical import digest_lines

_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
# limits in place of + and *: a long line of digits would take a time that grows with the square of its length
_NUMBER = r"\d[\d,]{0,30}(?:\.\d{1,30})?(?:[eE][+-]?\d{1,4})?"
_UNIT = (
    r"(?:ns|us|µs|μs|ms|s|secs?|seconds?|mins?|minutes?|h|hrs?|hours?|days?"
    r"|nanoseconds?|microseconds?|milliseconds?)"
)
_DROPPED = tuple(
    re.compile(pattern)
    for pattern in (
        r"\d%\|.*(\||\[)",  # tqdm with a total
        r"\d\s{0,9}/\s{0,9}\d+\s{0,9}\[[=>.\-#]*\]",  # Keras
        r"[━╸╺█▏▎▍▌▋▊▉]{3,}",  # rich, pip and the like
        r"\[[=>.\-#\s]{8,}\]",
        r"\dit \[\d\d:\d\d",  # tqdm without a total
        r"^\s*(CPU times|Wall time|Compiler time|Parser\s*:)\b",  # %%time
        r"\bper loop\b",  # %timeit
        r"^\s*peak memory:",
    )
)
"""A line in which one of these is found says nothing about the model."""
_REPLACED = tuple(
    (re.compile(pattern), text)
    for pattern, text in (
        (r"\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b", "<uuid>"),
        (r"\b0x[0-9a-fA-F]{4,}\b", "<address>"),
        (
            r"\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,?\s+)?(?:\d{1,2}\s+)?"
            r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?"
            r"(?:\s+\d{1,2},?)?(?:\s+\d{2}:\d{2}(?::\d{2})?)?(?:\s+[A-Z]{3,4})?\s+\d{4}\b",
            "<date>",
        ),
        (
            r"\b\d{4}[-/.]\d{2}[-/.]\d{2}(?!\d)(?:[T _]\d{2}[:.-]?\d{2}(?:[:.-]?\d{2}(?:[.,]\d+)?)?)?"
            r"(?:Z|[+-]\d{2}:?\d{2}\b)?",
            "<date>",
        ),
        (r"\b\d{1,2}/\d{1,2}/\d{4}\b", "<date>"),
        (r"\b\d{8}[-_T]\d{6}\b", "<date>"),
        (r"(?<![\d:.])-?\d+(?: days?,)? ?\d{0,2}:\d{2}:\d{2}(?:\.\d+)?(?![\d:])", "<time>"),
        (r"(?<![\d:.])\d{1,2}:\d{2}(?:\.\d+)?(?![\d:])", "<time>"),
        (rf"{_NUMBER}\s?(?:[kKMGT]i?)?(?:[A-Za-z]+|B)?/(?:s|sec|second|min|h)\b", "<rate>"),
        (rf"(?<![\w.]){_NUMBER}\s?{_UNIT}(?![\w/])(?:\s?{_NUMBER}\s?{_UNIT}(?![\w/]))*", "<duration>"),
        (
            rf"(?i)\b(elapsed|took|time|duration|runtime|eta|seconds|secs)(\s+taken|\s+elapsed)?"
            rf"(\s*(?:\([a-z]+\))?\s*[:=]?\s*){_NUMBER}",
            r"\1\2\3<duration>",
        ),
        (r"(?i)\bpid[ =:]*\d+", "<pid>"),
        (r"(?<![\w./:])(?:~|[A-Za-z]:)?[/\\](?:[\w.+@~%-]+[/\\])+", "<folder>/"),
    )
)

_LONG = 4000
"""Characters; a longer line is data that somebody dumped, not a message with a time in it, and is kept."""


def normalise(text: str) -> tuple[str, ...]:
    """The lines of a text that should be the same in every run of the same model.

    Colours, progress bars and timing lines are dropped; addresses, dates, times, durations, rates and folders are
    replaced by a word; what a carriage return overwrites is gone; empty lines do not count.

    >>> normalise("epoch 1 took 3.2 s, loss 0.25\\n<object at 0x7f01a2b3c4d5>\\nWall time: 1.2 s")
    ('epoch 1 took <duration>, loss 0.25', '<object at <address>>')
    """
    lines = []
    for raw in _ANSI.sub("", text).replace("\r\n", "\n").split("\n"):
        line = next((part for part in reversed(raw.split("\r")) if part.strip()), "")
        if len(line) > _LONG:
            lines.append(line.strip())
            continue
        if any(pattern.search(line) for pattern in _DROPPED):
            continue
        for pattern, replacement in _REPLACED:
            line = pattern.sub(replacement, line)
        line = re.sub(r"[ \t]+", " ", line).strip()
        if line:
            lines.append(line)
    return tuple(lines)


def output_digest(outputs: Sequence[Mapping[str, object]]) -> str:
    """Digest of a cell's text outputs after :func:`normalise`.

    Standard output and the plain text of results count. Standard error, images, widgets and tracebacks do not:
    they are for the eye, and hold paths, warnings and progress bars. Of an error its class counts.
    """
    texts: list[str] = []
    stream = ""
    for output in outputs:
        kind = output.get("output_type")
        if kind == "stream":
            stream += _text(output.get("text")) if output.get("name", "stdout") == "stdout" else ""
            continue
        texts.extend(normalise(stream))
        stream = ""
        if kind == "error":
            texts.append(f"error {output.get('ename')}")
        elif kind in ("execute_result", "display_data"):
            texts.extend(_plain(output.get("data")))
    return digest_lines([*texts, *normalise(stream)])


def _plain(data: object) -> tuple[str, ...]:
    if not isinstance(data, Mapping) or any(_for_the_eye(str(kind)) for kind in data):
        return ()
    return normalise(_text(data.get("text/plain")))


def _for_the_eye(kind: str) -> bool:
    return kind.startswith(("image/", "video/", "audio/")) or "widget" in kind or "javascript" in kind


def _text(value: object) -> str:
    if isinstance(value, list):
        return "".join(str(part) for part in value)
    return value if isinstance(value, str) else ""
