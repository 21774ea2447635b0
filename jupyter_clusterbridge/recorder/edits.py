"""What a person changed in a cell between two runs, in words."""

from __future__ import annotations

import ast
import difflib

from jupyter_clusterbridge.runtime.source import parse_cell

_LENGTH = 60


def describe_edit(before: str, after: str) -> tuple[str, str]:
    """What changed from one source to another, and the remedy.

    >>> describe_edit("lr = 0.1", "lr = 0.01")
    ('`lr = 0.1` to `0.01`', 'make it a parameter')
    """
    changed = literal_changes(before, after)
    if changed:
        parts = [f"`{target} = {old}` to `{new}`" for target, old, new in changed]
        remedy = "make it a parameter" if len(changed) == 1 else "make them parameters"
        return " and ".join(parts), remedy
    old_line, new_line = _first_difference(before, after)
    remedy = "a job runs the saved text only: keep that, or make what differs a parameter"
    if not old_line:
        return f"(added `{new_line}`)", remedy
    return (f"`{old_line}` to `{new_line}`" if new_line else f"(removed `{old_line}`)"), remedy


def literal_assignments(source: str) -> dict[str, str]:
    """Names that a cell sets to a constant at its top level, with the constant as it is written.

    >>> literal_assignments("lr = 0.1\\nmodel = Net(lr)")
    {'lr': '0.1'}
    """
    tree = parse_cell(source).tree
    found: dict[str, str] = {}
    for node in tree.body if tree is not None else ():
        assigned = _assigned(node)
        if assigned is not None and assigned[0].isidentifier():
            found[assigned[0]] = assigned[1]
    return found


def literal_changes(before: str, after: str) -> list[tuple[str, str, str]]:
    """Target, old and new value of each assignment of a constant that changed, if nothing else did."""
    old, new = parse_cell(before), parse_cell(after)
    if (
        old.tree is None
        or new.tree is None
        or len(old.tree.body) != len(new.tree.body)
        or old.magics != new.magics
    ):
        return []
    found: list[tuple[str, str, str]] = []
    for left, right in zip(old.tree.body, new.tree.body, strict=True):
        if ast.dump(left) == ast.dump(right):
            continue
        a, b = _assigned(left), _assigned(right)
        if a is None or b is None or a[0] != b[0]:
            return []
        found.append((a[0], a[1], b[1]))
    return found


def _assigned(node: ast.stmt) -> tuple[str, str] | None:
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target, value = node.targets[0], node.value
    elif isinstance(node, ast.AnnAssign) and node.value is not None:
        target, value = node.target, node.value
    else:
        return None
    text = ast.unparse(value)
    if any(isinstance(part, (ast.Call, ast.Name)) for part in ast.walk(value)) or len(text) > _LENGTH:
        return None
    return ast.unparse(target), text


def _first_difference(before: str, after: str) -> tuple[str, str]:
    old, new = ([line.strip() for line in text.splitlines() if line.strip()] for text in (before, after))
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            return _clipped(old[i1] if i1 < i2 else ""), _clipped(new[j1] if j1 < j2 else "")
    return "its text", "another"


def _clipped(line: str) -> str:
    return line if len(line) <= _LENGTH else line[: _LENGTH - 1] + "…"
