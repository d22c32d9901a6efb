"""`tensorflow.python.util.protobuf.compare`: assertions about messages. Source: TF 1.15."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from typing import Any

from google.protobuf import text_format
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

_FLOATS = (FieldDescriptor.TYPE_FLOAT, FieldDescriptor.TYPE_DOUBLE)
_DIGITS = 7  # decimal places at which floating-point fields are compared


def assertProtoEqual(
    self: Any,
    a: Any,
    b: Any,
    check_initialized: bool = True,
    normalize_numbers: bool = False,
    msg: str | None = None,
    relative_tolerance: float | None = None,
) -> None:
    """Two messages with equal fields; either may be text. `self` is the test case."""
    if isinstance(a, str):
        a = text_format.Parse(a, type(b)())
    elif isinstance(b, str):
        b = text_format.Parse(b, type(a)())
    for name, message in (("a", a), ("b", b)):
        missing = message.FindInitializationErrors() if check_initialized else []
        if missing:
            self.fail(f"Initialization errors: {name} lacks {missing}")
    if normalize_numbers:
        a, b = (NormalizeNumberFields(_copy(message)) for message in (a, b))
    texts = [text_format.MessageToString(message, as_utf8=True, descriptor_pool=None) for message in (a, b)]
    if texts[0] != texts[1]:
        lines = difflib.unified_diff(texts[0].splitlines(True), texts[1].splitlines(True), "a", "b")
        self.fail(f"{msg or 'the messages differ'}\n{''.join(lines)}")


def _copy(message: Message) -> Message:
    copied = type(message)()
    copied.CopyFrom(message)
    return copied


def NormalizeNumberFields(pb: Any) -> Any:
    """Round the floating-point fields of a message, in place."""
    for descriptor, values in list(pb.ListFields()):
        if descriptor.type in _FLOATS:
            repeated = descriptor.is_repeated
            rounded = [round(value, _DIGITS) for value in (values if repeated else [values])]
            if repeated:
                values[:] = rounded
            else:
                setattr(pb, descriptor.name, rounded[0])
        else:
            for message in _messages(values):
                NormalizeNumberFields(message)
    return pb


def _messages(values: Any) -> Iterator[Message]:
    """The messages in a field: one, several, or a map's."""
    if isinstance(values, Message):
        yield values
    elif hasattr(values, "values") and callable(values.values):
        yield from (value for value in values.values() if isinstance(value, Message))
    elif isinstance(values, Sequence) or hasattr(values, "__iter__"):
        yield from (value for value in values if isinstance(value, Message))


def ProtoEq(a: Any, b: Any) -> bool:
    """Whether two messages are equal."""
    return bool(a == b)


class ProtoAssertions:
    """A mixin for test cases."""

    def assertProtoEqual(self, *args: Any, **kwargs: Any) -> None:
        assertProtoEqual(self, *args, **kwargs)
