"""From frozen dataclasses to plain JSON data, back, and to a JSON Schema: one walk over the type hints."""

from __future__ import annotations

import dataclasses
import enum
import functools
import math
import types
import typing
from collections.abc import Mapping
from typing import TypeVar

from jupyter_clusterbridge.model.errors import DocumentInvalid, DocumentTooNew

T = TypeVar("T")
Json = typing.Union[None, bool, int, float, str, list["Json"], dict[str, "Json"]]

_NON_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


@functools.cache
def _hints(cls: type) -> dict[str, object]:
    return typing.get_type_hints(cls)


def to_json(value: object) -> Json:
    """Turn a dataclass (or a container of them) into plain JSON data.

    A class with a ``SCHEMA`` attribute gets a ``schema`` key; a field whose metadata says
    ``omit_none`` is left out when it is None. Floats that JSON has no form for become the
    strings ``nan``, ``inf`` and ``-inf``.
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        out: dict[str, Json] = {}
        schema = getattr(value, "SCHEMA", None)
        if schema is not None:
            out["schema"] = schema
        for field in dataclasses.fields(value):
            item = getattr(value, field.name)
            if item is None and field.metadata.get("omit_none"):
                continue
            out[field.name] = to_json(item)
        return out
    if isinstance(value, enum.Enum):
        return to_json(value.value)
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        items = sorted(value) if isinstance(value, (set, frozenset)) else value
        return [to_json(item) for item in items]
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"no JSON form for {type(value).__name__}")


def from_json(cls: type[T], data: object, where: str = "document") -> T:
    """Build a dataclass from plain JSON data; unknown keys are ignored, missing ones take their default.

    Raises:
        DocumentInvalid: a key without default is missing or a value has the wrong type.
        DocumentTooNew: the document's major schema version is newer than this one.
    """
    return typing.cast(T, _decode(cls, data, where))


def _decode(hint: object, data: object, where: str) -> object:
    origin = typing.get_origin(hint)
    if origin in (typing.Union, types.UnionType):
        return _decode_union(typing.get_args(hint), data, where)
    if origin in (tuple, list):
        if not isinstance(data, list):
            raise DocumentInvalid(f"{where}: expected a list, found {type(data).__name__}")
        (item, *_rest) = typing.get_args(hint)
        values = [_decode(item, value, f"{where}[{index}]") for index, value in enumerate(data)]
        return tuple(values) if origin is tuple else values
    if isinstance(origin, type) and issubclass(origin, Mapping):
        if not isinstance(data, dict):
            raise DocumentInvalid(f"{where}: expected an object, found {type(data).__name__}")
        item = typing.get_args(hint)[1]
        return {key: _decode(item, value, f"{where}.{key}") for key, value in data.items()}
    if isinstance(hint, type):
        return _decode_class(hint, data, where)
    if hint is typing.Any:
        return data
    raise TypeError(f"no decoder for {hint!r}")


def _decode_union(options: tuple[object, ...], data: object, where: str) -> object:
    if data is None and type(None) in options:
        return None
    errors: list[str] = []
    # an exact scalar type first, so that 1 stays an int where "int | float" is allowed
    ordered = sorted(options, key=lambda option: option is not type(data))
    for option in ordered:
        if option is type(None):
            continue
        try:
            return _decode(option, data, where)
        except DocumentInvalid as error:
            errors.append(str(error))
    raise DocumentInvalid(errors[0] if errors else f"{where}: unexpected value")


def _decode_class(cls: type, data: object, where: str) -> object:
    if dataclasses.is_dataclass(cls):
        return _decode_dataclass(cls, data, where)
    if issubclass(cls, enum.Enum):
        try:
            return cls(data)
        except ValueError as error:
            raise DocumentInvalid(f"{where}: {error}") from None
    if cls is float and isinstance(data, str) and data in _NON_FINITE:
        return _NON_FINITE[data]
    if cls is float and isinstance(data, int) and not isinstance(data, bool):
        return float(data)
    if cls is object:
        return data
    if not isinstance(data, cls) or (isinstance(data, bool) and cls is not bool):
        raise DocumentInvalid(f"{where}: expected {cls.__name__}, found {type(data).__name__}")
    return data


def _decode_dataclass(cls: type, data: object, where: str) -> object:
    if not isinstance(data, dict):
        raise DocumentInvalid(f"{where}: expected an object, found {type(data).__name__}")
    schema = getattr(cls, "SCHEMA", None)
    if schema is not None:
        check_schema(schema, data.get("schema"), where)
    hints = _hints(cls)
    values: dict[str, object] = {}
    for field in dataclasses.fields(cls):
        if field.name in data:
            values[field.name] = _decode(hints[field.name], data[field.name], f"{where}.{field.name}")
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise DocumentInvalid(f"{where}: the key {field.name!r} is missing")
    return cls(**values)


def check_schema(expected: str, found: object, where: str) -> None:
    """Hold a document's ``schema`` value (``clusterbridge/<kind>/<major>``) against the one that we write.

    Raises:
        DocumentInvalid: another kind of document, or none.
        DocumentTooNew: the same kind, a newer major version.
    """
    kind, major = expected.rsplit("/", 1)
    if not isinstance(found, str) or "/" not in found:
        raise DocumentInvalid(f"{where}: no schema is named; expected {expected}")
    found_kind, found_major = found.rsplit("/", 1)
    if found_kind != kind or not found_major.isdigit():
        raise DocumentInvalid(f"{where}: schema {found} where {expected} was expected")
    if int(found_major) > int(major):
        raise DocumentTooNew(f"{where}: written by a newer version ({found}; this one reads up to {expected})")


def json_schema(cls: type) -> dict[str, Json]:
    """The JSON Schema (2020-12) of a dataclass and all that it contains."""
    definitions: dict[str, Json] = {}
    root = _schema(cls, definitions)
    name = str(typing.cast("dict[str, Json]", root)["$ref"]).rsplit("/", 1)[-1]
    body = typing.cast("dict[str, Json]", definitions.pop(name))
    out: dict[str, Json] = {"$schema": "https://json-schema.org/draft/2020-12/schema", **body}
    if definitions:
        out["$defs"] = definitions
    return out


def _schema(hint: object, definitions: dict[str, Json]) -> Json:
    origin = typing.get_origin(hint)
    arguments = typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [_schema(option, definitions) for option in arguments]}
    if origin in (tuple, list):
        return {"type": "array", "items": _schema(arguments[0], definitions)}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _schema(arguments[1], definitions)}
    if not isinstance(hint, type):
        return {}
    if dataclasses.is_dataclass(hint):
        return _dataclass_schema(hint, definitions)
    if issubclass(hint, enum.Enum):
        return {"enum": [member.value for member in hint]}
    if hint is float:
        return {"anyOf": [{"type": "number"}, {"enum": list[Json](sorted(_NON_FINITE))}]}
    names = {str: "string", bool: "boolean", int: "integer", type(None): "null"}
    return {"type": names[hint]} if hint in names else {}


def _dataclass_schema(cls: type, definitions: dict[str, Json]) -> Json:
    name = cls.__name__
    if name not in definitions:
        definitions[name] = None
        hints = _hints(cls)
        properties: dict[str, Json] = {}
        required: list[Json] = []
        schema = getattr(cls, "SCHEMA", None)
        if schema is not None:
            properties["schema"] = {"const": schema}
            required.append("schema")
        for field in dataclasses.fields(cls):
            properties[field.name] = _schema(hints[field.name], definitions)
            if not field.metadata.get("omit_none"):
                required.append(field.name)
        title = (cls.__doc__ or name).strip().splitlines()[0]
        definitions[name] = {
            "title": name,
            "description": title,
            "type": "object",
            "properties": properties,
            "required": required,
        }
    return {"$ref": f"#/$defs/{name}"}
