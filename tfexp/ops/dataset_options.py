"""The node of `tf.data.Options`: how the parallel maps of the data set before it run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tfexp.core.errors import InvalidArgumentError
from tfexp.formats.varint import decode_varint
from tfexp.ops.dataset import COMMON, Dataset, define_dataset
from tfexp.ops.string_arrays import attr_bytes

options_dataset = define_dataset(
    f"OptionsDataset(input_dataset: variant) -> (handle: variant) {{serialized_options: string; {COMMON}}}"
)

# Fields of TensorFlow's message Options, and of its ThreadingOptions.
DETERMINISTIC, THREADING = 1, 5
PRIVATE_THREADPOOL_SIZE = 2


@options_dataset.kernel("CPU")
def _(ctx: Any, dataset: Dataset, *, serialized_options: str | bytes) -> Dataset:
    changes: dict[str, Any] = {}
    try:
        for field, value in _fields(attr_bytes(serialized_options)):
            if field == DETERMINISTIC:
                changes["in_order"] = bool(value)
            elif field == THREADING and isinstance(value, bytes):
                changes.update(("threads", size) for inner, size in _fields(value) if inner == PRIVATE_THREADPOOL_SIZE)
    except ValueError as error:
        raise InvalidArgumentError(None, None, f"serialized_options is no tf.data.Options message: {error}") from None
    return dataset.with_settings(changes)


def _fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """(number, value) of the fields of a message that has numbers and messages only. ValueError for any other."""
    position = 0
    while position < len(message):
        key, position = decode_varint(message, position)
        if key & 7 not in (0, 2):
            raise ValueError(f"field {key >> 3} has wire type {key & 7}")
        value, position = decode_varint(message, position)
        if key & 7 == 2:
            yield key >> 3, message[position : position + value]
            position += value
        else:
            yield key >> 3, value
