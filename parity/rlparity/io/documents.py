"""Documents of commands: dataclasses as JSON values, and the JSON Schema (draft 2020-12) that follows from their types.

A field that has a default is left out of the JSON where it is None.
"""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from rlparity.io.strict_json import NUMBERS

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_NUMBER = {"anyOf": [{"type": "number"}, {"enum": [*NUMBERS]}]}
_SIMPLE: Mapping[Any, dict[str, Any]] = {
    Any: {},
    object: {},
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: _NUMBER,
    NoneType: {"type": "null"},
}


def document_value(value: object) -> Any:  # noqa: ANN401 - a JSON value, but for NaN and infinity
    """Convert a document, or a part of one, to a JSON value."""
    if is_dataclass(value):
        parts = ((each, getattr(value, each.name)) for each in fields(value))
        return {each.name: document_value(part) for each, part in parts if part is not None or each.default is MISSING}
    if isinstance(value, Mapping):
        return {name: document_value(part) for name, part in value.items()}
    return [*map(document_value, value)] if isinstance(value, (list, tuple)) else value


def schema_of(kind: Any) -> dict[str, Any]:  # noqa: ANN401 - a dataclass, or several
    """The JSON Schema of the documents of a type."""
    parts: dict[str, Any] = {}
    root = _schema(kind, parts)
    return {"$schema": DIALECT, "type": "object", **root, "$defs": parts}


def _schema(kind: Any, parts: dict[str, Any]) -> dict[str, Any]:  # noqa: ANN401 - a type
    """Schema of a type; the schemas of dataclasses are added to ``parts`` and referenced."""
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return {"anyOf": [_schema(each, parts) for each in inner]}
    if origin is Literal:
        return {"enum": [*inner]}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _schema(inner[1], parts)}
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return {"type": "array", "items": _schema(inner[0], parts)}
    if issubclass(kind, Enum):
        return {"enum": [each.value for each in kind]}
    if kind.__name__ not in parts:
        parts[kind.__name__] = {}  # ends the recursion for a type that contains itself
        types = get_type_hints(kind)
        parts[kind.__name__] = {
            "type": "object",
            "description": inspect.getdoc(kind),
            "properties": {each.name: _schema(types[each.name], parts) for each in fields(kind)},
            "required": [each.name for each in fields(kind) if each.default is MISSING],
            "additionalProperties": False,
        }
    return {"$ref": f"#/$defs/{kind.__name__}"}
