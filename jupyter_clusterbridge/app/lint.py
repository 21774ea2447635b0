"""The use case of ``clusterbridge lint``: findings over files and folders, and their fixes."""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from jupyter_clusterbridge.lint.config import config_for, forget_configs
from jupyter_clusterbridge.lint.discovery import discover
from jupyter_clusterbridge.lint.fixing import fix_source
from jupyter_clusterbridge.lint.registry import NOTHING, Choice
from jupyter_clusterbridge.lint.rule import Rule
from jupyter_clusterbridge.lint.runner import lint_notebook, unreadable
from jupyter_clusterbridge.lint.sources.base import SourceFile
from jupyter_clusterbridge.lint.sources.reading import read_source, source_of
from jupyter_clusterbridge.lint.sources.script import ScriptFile
from jupyter_clusterbridge.model.errors import FolderNotWritable, NotebookTooOld, NotebookUnreadable, NotPython
from jupyter_clusterbridge.model.files import write_atomic
from jupyter_clusterbridge.model.findings import Finding, LintReport
from jupyter_clusterbridge.model.notebook import Notebook

STANDARD_INPUT = Path("-")
_UNREADABLE = (NotebookUnreadable, NotebookTooOld, NotPython)


@dataclasses.dataclass(frozen=True)
class LintOptions:
    """What a person asks of one lint run."""

    select: tuple[str, ...] | None = None
    """Codes or beginnings of codes, in place of the project's; None leaves those."""
    ignore: tuple[str, ...] | None = None
    fix: bool = False
    """Whether to make the safe fixes and write the files."""
    file_lines: bool = False
    """Whether findings in notebooks name the line of the file too, which costs a second look at the file."""
    stdin: bytes = b""
    """The content of the path ``-``."""
    stdin_name: Path = Path("<stdin>")
    """What that content is called; the end of the name says what it is."""


@dataclasses.dataclass(frozen=True)
class LintRun:
    """What one lint run gave."""

    report: LintReport
    notes: tuple[str, ...] = ()
    """What a person may want to know of the files themselves."""


def lint_notebooks(paths: Sequence[Path]) -> LintReport:
    """Lint files in the order given; one that cannot be read is a finding of its own (CB001)."""
    forget_configs()
    return LintReport(tuple(finding for path in paths for finding in _lint_file(path, LintOptions(), [])[0]))


def findings_of(notebook: Notebook) -> tuple[Finding, ...]:
    """Lint a notebook that was read, by the rules that its project has chosen.

    Raises:
        ConfigInvalid: the nearest ``pyproject.toml`` cannot be used.
    """
    return lint_notebook(notebook, rules_for(notebook.path))


def rules_for(path: Path) -> tuple[type[Rule], ...]:
    """The rules that the project of a file has chosen; none where it leaves the file out.

    Raises:
        ConfigInvalid: the nearest ``pyproject.toml`` cannot be used.
    """
    forget_configs()
    return _choice(path, LintOptions()).rules()


def lint_paths(paths: Iterable[Path], options: LintOptions) -> LintRun:
    """Lint files, and in folders all notebooks and percent scripts.

    Raises:
        ConfigInvalid: a ``pyproject.toml`` cannot be used.
        DiskFull: a fixed file cannot be written; it is as it was.
    """
    forget_configs()
    found = discover(paths, options.stdin_name)
    findings: list[Finding] = []
    fixed = 0
    for path in found.files:
        with _collector_paused():
            of_file, fixes = _lint_file(path, options, found.notes)
        findings += of_file
        fixed += fixes
    report = LintReport(tuple(findings), files=len(found.files), fixed=fixed if options.fix else None)
    return LintRun(report, tuple(found.notes))


@contextlib.contextmanager
def _collector_paused() -> Iterator[None]:
    """Keep Python from looking for garbage among the many nodes of one file, which takes a third of the time.

    Nothing of a file refers to itself in a circle, so that its memory is free again without that.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _choice(path: Path, options: LintOptions) -> Choice:
    config = config_for(path)
    return NOTHING if config.excludes(path) else config.choice_for(path, options.select, options.ignore)


def _lint_file(path: Path, options: LintOptions, notes: list[str]) -> tuple[tuple[Finding, ...], int]:
    """What is found in one file, and how many fixes were made in it; ``notes`` gets why none could be."""
    name = options.stdin_name if path == STANDARD_INPUT else path
    choice = _choice(name, options)
    try:
        source = source_of(options.stdin, name) if path == STANDARD_INPUT else read_source(path)
        if options.fix:
            fixed = fix_source(source, choice.rules())
            if not fixed.fixes or _write(source, fixed.source, notes):
                return tuple(_placed(fixed.findings, fixed.source, options)), fixed.fixes
        findings = lint_notebook(source.notebook, choice.rules())
        return tuple(_placed(findings, source, options)), 0
    except _UNREADABLE as error:
        return ((unreadable(name, error),) if choice.wants("CB001") else ()), 0


def _placed(findings: Iterable[Finding], source: SourceFile, options: LintOptions) -> Iterator[Finding]:
    """The findings with their lines in the file: of scripts always, since there it is what people look for."""
    if not options.file_lines and not isinstance(source, ScriptFile):
        yield from findings
        return
    for finding in findings:
        line = 1 if finding.cell_index is None else source.file_line(finding.cell_index, finding.line or 1)
        yield dataclasses.replace(finding, file_line=line)


def _write(before: SourceFile, after: SourceFile, notes: list[str]) -> bool:
    """Put a fixed file in the place of the old one, through links, with its owner and its mode.

    Returns:
        Whether that could be done. A file that is marked as read-only is left alone, and so is one in a folder
        that cannot be written; ``notes`` says so, since the other files of the run are fixed all the same.

    Raises:
        NotebookUnreadable: someone has saved the file meanwhile; theirs stays.
    """
    path = Path(os.path.realpath(before.path))
    if path.read_bytes() != before.content:
        raise NotebookUnreadable(f"{before.path}: was changed while it was fixed", hint="Run the command again.")
    status = path.stat()
    if not status.st_mode & 0o222:
        notes.append(f"{before.path} is read-only, so it is not fixed")
        return False
    try:
        write_atomic(path, after.content, mode=status.st_mode & 0o7777)
    except FolderNotWritable as error:
        notes.append(f"{error.message}, so it is not fixed")
        return False
    with contextlib.suppress(OSError):  # only root may give a file away, and only root needs to
        os.chown(path, status.st_uid, status.st_gid)
    return True
