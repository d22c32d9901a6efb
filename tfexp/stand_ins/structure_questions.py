"""What `tensorflow.python.util.nest` is asked about one structure beneath its public face. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Mapping, MappingView, Sequence
from typing import Any

from tfexp.core.nest import attrs_fields


def is_namedtuple(instance: Any, strict: bool = False) -> bool:
    """Whether `instance` is a tuple whose fields have names; `strict`: and `namedtuple` itself made its class."""
    fields = getattr(instance, "_fields", None)
    return (
        isinstance(instance, tuple)
        and isinstance(fields, Sequence)
        and all(isinstance(field, str) for field in fields)
        and (not strict or type(instance).__base__ is tuple)
    )


def same_namedtuples(o1: Any, o2: Any) -> bool:
    """Whether the classes of two named tuples have one name and the same fields."""
    return type(o1).__name__ == type(o2).__name__ and o1._fields == o2._fields


def is_mapping(value: Any) -> bool:
    """Whether the elements of `value` stand under keys."""
    return isinstance(value, Mapping)


def is_mapping_view(value: Any) -> bool:
    """Whether `value` is the keys, the values or the items of a mapping."""
    return isinstance(value, MappingView)


def is_attrs(value: Any) -> bool:
    """Whether the package `attrs` made the class of `value`."""
    return attrs_fields(value) is not None
