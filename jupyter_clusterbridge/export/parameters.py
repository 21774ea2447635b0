"""Parameters: the literals of the cell tagged ``parameters``, and the values given at export."""

from __future__ import annotations

import ast
import dataclasses
import math
import re
from collections.abc import Callable, Mapping

from jupyter_clusterbridge.model.bundle import Parameter, ParameterValue
from jupyter_clusterbridge.model.errors import ParameterInvalid
from jupyter_clusterbridge.model.notebook import Notebook
from jupyter_clusterbridge.runtime.source import parse_cell

_INT = re.compile(r"[+-]?[0-9](?:_?[0-9])*")
_FLOAT = re.compile(r"[+-]?(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9]+)?")
_LONGEST = 80
_BOOLS = {"True": True, "true": True, "False": False, "false": False}


def read_parameters(notebook: Notebook) -> tuple[Parameter, ...]:
    """The parameters of a notebook with their defaults, in the order of their first assignment.

    Only names bound at the top level of the tagged cell to a bool, int, float, str or None are parameters;
    a number may carry a sign. A name bound twice has its last value; one that is bound to something else after
    that, or deleted, is none.
    """
    cell = notebook.parameters_cell()
    tree = parse_cell(cell.source).tree if cell is not None else None
    found: dict[str, Parameter] = {}
    for statement in tree.body if tree is not None else ():
        assigned = dict(_assignments(statement))
        for name in _bound(statement) - set(assigned):
            found.pop(name, None)
        for name, value in assigned.items():
            literal = _literal(value)
            if literal is not None:
                found[name] = Parameter(name, _type_name(literal[0]), literal[0], literal[0])
            else:
                found.pop(name, None)
    return tuple(found.values())


def apply_values(notebook: Notebook, given: Mapping[str, str]) -> tuple[Parameter, ...]:
    """The parameters with the values that ``-p NAME=VALUE`` gave, each checked against its default's type.

    Raises:
        ParameterInvalid: no tagged cell, an unknown name, stray spaces, or a value of another type.
    """
    parameters = read_parameters(notebook)
    if given and notebook.parameters_cell() is None:
        raise ParameterInvalid(
            f"{notebook.path.name}: has no cell tagged 'parameters', so no value can be given",
            hint="Put the assignments into one cell and tag it 'parameters' (JupyterLab: Property Inspector).",
        )
    known = {parameter.name: parameter for parameter in parameters}
    values: dict[str, ParameterValue] = {}
    for name, text in given.items():
        if name not in known:
            raise ParameterInvalid(_unknown_name(name, tuple(known)))
        values[name] = parse_value(known[name], text)
    return tuple(dataclasses.replace(known[name], value=values.get(name, known[name].value)) for name in known)


def parse_value(parameter: Parameter, text: str) -> ParameterValue:
    """Read a value by the type of the parameter's default.

    >>> parse_value(Parameter("LR", "float", 0.1, 0.1), "1e-3")
    0.001

    Raises:
        ParameterInvalid: stray spaces, bytes that are no text, or no value of that type.
    """
    if text != text.strip():
        raise ParameterInvalid(f"parameter {parameter.name}: the value {text!r} has spaces around it")
    if not _is_text(text):
        raise ParameterInvalid(f"parameter {parameter.name}: {text!r} is no text in UTF-8")
    kind = parameter.type
    if kind == "str":
        return text
    if kind == "none":
        return _guess(text)
    value = _READERS[kind](text)
    if value is None:
        raise ParameterInvalid(
            f"parameter {parameter.name}: {_short(text)!r} is no {kind} (the default is {parameter.default!r})"
        )
    return value


def injected_source(parameters: tuple[Parameter, ...]) -> str:
    """Source of the cell that sets the values which differ from their defaults; empty when none does."""
    changed = [parameter for parameter in parameters if differs(parameter)]
    if not changed:
        return ""
    return "\n".join(["# Parameters", *(f"{parameter.name} = {parameter.value!r}" for parameter in changed)])


def differs(parameter: Parameter) -> bool:
    """Whether a value was given that is not the default; ``1`` and ``1.0`` and ``True`` differ."""
    return repr(parameter.value) != repr(parameter.default)


def _assignments(statement: ast.stmt) -> list[tuple[str, ast.expr]]:
    if isinstance(statement, ast.Assign):
        pairs = [pair for target in statement.targets for pair in _unpacked(target, statement.value)]
        return [(target.id, value) for target, value in pairs if isinstance(target, ast.Name)]
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name) and statement.value:
        return [(statement.target.id, statement.value)]
    return []


def _unpacked(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """Pairs of target and value, those of ``a, b = 1, 2`` one by one."""
    if not isinstance(target, (ast.Tuple, ast.List)):
        return [(target, value)]
    if not isinstance(value, (ast.Tuple, ast.List)) or len(target.elts) != len(value.elts):
        return []
    return list(zip(target.elts, value.elts, strict=True))


def _bound(statement: ast.stmt) -> set[str]:
    """All names that a statement binds or deletes."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {statement.name}
    # the names that a comprehension on the right binds are its own
    parts = statement.targets if isinstance(statement, ast.Assign) else [statement]
    names = (node for part in parts for node in ast.walk(part) if isinstance(node, ast.Name))
    return {node.id for node in names if not isinstance(node.ctx, ast.Load)}


def _literal(node: ast.expr) -> tuple[ParameterValue] | None:
    """The literal's value in a tuple of one, as None is a value too."""
    sign = 1
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        sign = -1 if isinstance(node.op, ast.USub) else 1
        node = node.operand
        if not (isinstance(node, ast.Constant) and type(node.value) in (int, float)):
            return None
    if not isinstance(node, ast.Constant):
        return None
    value = node.value
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, str) and not _is_text(value):
        return None
    if value is None or isinstance(value, (bool, str)):
        return (value,)
    return (sign * value,) if isinstance(value, (int, float)) else None


def _is_text(value: str) -> bool:
    """Whether a string can be written as UTF-8: a lone surrogate, which stands for a foreign byte, cannot."""
    return not any("\ud800" <= character <= "\udfff" for character in value)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"


def _type_name(value: ParameterValue) -> str:
    return "none" if value is None else type(value).__name__


def _unknown_name(name: str, known: tuple[str, ...]) -> str:
    valid = f"valid are {', '.join(known)}" if known else "the tagged cell assigns no plain value"
    if name.strip() in known:
        return f"parameter name {name!r} has spaces around it; {valid}"
    return f"there is no parameter {name!r}; {valid}"


def _read_int(text: str) -> int | None:
    try:
        return int(text) if _INT.fullmatch(text) else None
    except ValueError:  # more digits than Python converts
        return None


def _read_float(text: str) -> float | None:
    try:
        value = float(text) if _FLOAT.fullmatch(text) else math.inf
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _guess(text: str) -> ParameterValue:
    """Read a value where the default, None, names no type."""
    if text == "None":
        return None
    for reader in _READERS.values():
        value = reader(text)
        if value is not None:
            return value
    return text


_READERS: dict[str, Callable[[str], ParameterValue]] = {"bool": _BOOLS.get, "int": _read_int, "float": _read_float}
