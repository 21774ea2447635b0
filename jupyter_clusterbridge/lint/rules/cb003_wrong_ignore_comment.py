"""CB003: a comment to silence a rule that silences nothing."""

from __future__ import annotations

from jupyter_clusterbridge.lint.comments import FILE_FORM, LINE_FORM, IgnoreComment
from jupyter_clusterbridge.lint.context import CellContext
from jupyter_clusterbridge.lint.rule import Rule


class WrongIgnoreComment(Rule):
    """A comment is meant to silence a rule, but names none that exists.

    ## What it does

    Reads the comments that begin with `clusterbridge:` and reports one that names no code, a code that no
    rule has, or another word than `ignore` and `ignore-file`.

    ## Why it matters on a cluster

    The finding that was to be silenced is still reported, or whoever reads the comment believes that
    something was looked at and found harmless which no rule has ever looked at.

    ## Bad example

    ```python
    first = 1  # clusterbridge: ignore[CB999]  # <-- here
    second = 2  # clusterbridge: ignore  # <-- here
    third = 3  # clusterbridge: skip[CB203]  # <-- here
    ```

    ## Good example

    ```python
    import random

    first = random.random()  # clusterbridge: ignore[CB101]
    # clusterbridge: ignore-file[CB2, CB603]
    ```

    ## Remedy

    Write `# clusterbridge: ignore[CODE]` on the line of the finding or `# clusterbridge: ignore-file[CODE]`
    anywhere, with the code that the finding shows.
    """

    code = "CB003"
    name = "wrong-ignore-comment"
    words = frozenset({"clusterbridge:"})

    def begin_cell(self, cell: CellContext) -> None:
        """Look at the comments of a cell."""
        for comment in cell.comments:
            problem = _problem(comment)
            if problem is not None:
                self.report(cell, comment.line, problem)


def _problem(comment: IgnoreComment) -> str | None:
    if comment.form not in (LINE_FORM, FILE_FORM):
        return f"`clusterbridge: {comment.form}` is no instruction for lint"
    if not comment.codes:
        return f"`clusterbridge: {comment.form}` names no code, so it silences nothing"
    from jupyter_clusterbridge.lint.registry import is_known  # which imports the rules

    unknown = next((code for code in comment.codes if not is_known(code)), None)
    return None if unknown is None else f"no rule has the code `{unknown}`, so it silences nothing"
