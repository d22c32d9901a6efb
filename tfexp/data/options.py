"""`tf.data.Options`: how the parallel maps of a data set run. Source: TF 1.15, of which these options have an effect here.

`experimental_deterministic = False`: results come as they are there, not in the order of the elements.
`experimental_threading.private_threadpool_size`: a parallel map has no more threads than that, however many its calls.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from tfexp.formats.varint import encode_varint
from tfexp.ops.dataset_options import DETERMINISTIC, PRIVATE_THREADPOOL_SIZE, THREADING


class _Options:
    """A group of options, None where they are not set. AttributeError for a name it does not have, TypeError for a type."""

    _types: ClassVar[dict[str, type]] = {}

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._types:
            raise AttributeError(f"Cannot set the property {name} on {type(self).__name__}.")
        kind = self._types[name]
        if value is not None and not isinstance(value, kind):
            raise TypeError(f'Property "{name}" must be of type {kind}, got: {value!r} (type: {type(value)})')
        object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in vars(self).items() if value is not None)
        return f"{type(self).__name__}({given})"


class ThreadingOptions(_Options):
    """`tf.data.experimental.ThreadingOptions`."""

    _types: ClassVar = {"private_threadpool_size": int}

    def __init__(self) -> None:
        self.private_threadpool_size: int | None = None


class Options(_Options):
    """`tf.data.Options`; `with_options` gives it to a data set."""

    _types: ClassVar = {"experimental_deterministic": bool, "experimental_threading": ThreadingOptions}

    def __init__(self) -> None:
        self.experimental_deterministic: bool | None = None
        self.experimental_threading = ThreadingOptions()

    def merge(self, options: Options) -> Options:
        """These options and those that `options` sets; ValueError where the two set something, and not the same.

        TypeError for what is no options.
        """
        if not isinstance(options, Options):
            raise TypeError(f"Incompatible options type: {type(options)} vs {type(self)}")
        result = Options()
        result.experimental_deterministic = _either(self, options, "experimental_deterministic")
        result.experimental_threading.private_threadpool_size = _either(
            self.experimental_threading, options.experimental_threading, "private_threadpool_size"
        )
        return result

    def serialized(self) -> bytes:
        """TensorFlow's message of these options: the groups in it are there also where nothing in them is set."""
        deterministic, threads = self.experimental_deterministic, self.experimental_threading.private_threadpool_size
        first = b"" if deterministic is None else _number(DETERMINISTIC, int(deterministic))
        threading = b"" if threads is None else _number(PRIVATE_THREADPOOL_SIZE, threads)
        groups = [(2, b""), (3, b""), (THREADING, threading), (7, b""), (12, b"")]
        return first + b"".join(encode_varint(n << 3 | 2) + encode_varint(len(data)) + data for n, data in groups)


def _number(field: int, value: int) -> bytes:
    return encode_varint(field << 3) + encode_varint(value % (1 << 64))


def _either(one: _Options, other: _Options, name: str) -> Any:
    """The value that either group gives the setting `name`; ValueError where the two differ."""
    first, second = getattr(one, name), getattr(other, name)
    if first is not None and second is not None and first != second:
        raise ValueError(f"Cannot merge incompatible values ({first!r} and {second!r}) of option: {name}")
    return second if first is None else first


def merged(given: Iterable[Options]) -> Options:
    """All of these; ValueError where two set something, and not the same."""
    result = Options()
    for options in given:
        result = result.merge(options)
    return result
