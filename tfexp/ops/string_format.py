"""`tf.strings.format`: tensors as text within a text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.op import define_op
from tfexp.core.shape import TensorShape
from tfexp.graph.tensor import Tensor
from tfexp.ops.string_arrays import attr_bytes, escaped

string_format_op = define_op(
    "StringFormat(inputs: T) -> (output: string) "
    "{T: list(type) >= 0; template: string = '%s'; placeholder: string = '%s'; summarize: int = 3}"
)


@string_format_op.shape
def _(inputs: Sequence[TensorShape], *, template: bytes | str, placeholder: bytes | str) -> TensorShape:
    _parts(template, placeholder, len(inputs))
    return TensorShape(())


def _parts(template: bytes | str, placeholder: bytes | str, count: int) -> list[bytes]:
    """What is around the placeholders of `count` inputs."""
    parts = attr_bytes(template).split(attr_bytes(placeholder))
    if len(parts) - 1 != count:
        raise ValueError(f"num placeholders in template and num inputs must match: {len(parts) - 1} vs. {count}")
    return parts


@string_format_op.kernel("CPU")
def _(
    ctx: Any,
    inputs: Sequence[np.ndarray],
    *,
    T: Sequence[DType],
    template: bytes | str,
    placeholder: bytes | str,
    summarize: int,
) -> np.ndarray:
    parts = _parts(template, placeholder, len(inputs))
    pieces = [parts[0]]
    for value, dtype, part in zip(inputs, T, parts[1:], strict=True):
        pieces += [_shown(np.asarray(value), dtype, summarize), part]
    return np.array(b"".join(pieces), object)


def _shown(array: np.ndarray, dtype: DType, summarize: int) -> bytes:
    """A tensor as NumPy would print it; of an axis longer than twice `summarize`, that many at each end (below 0: all)."""
    show = _element_format(dtype)
    if not array.ndim:
        return show(array.item() if dtype is dtypes.string else array[()])
    if not array.size:
        return b"[]"
    return _nested(array, show, summarize, 1)


def _nested(array: np.ndarray, show: Callable[[Any], bytes], summarize: int, depth: int) -> bytes:
    size = len(array)
    cut = summarize >= 0 and size > 2 * summarize
    ends: list[Any] = [*array[:summarize], None, *array[size - summarize :]] if cut else list(array)
    if array.ndim == 1:
        return b"[" + b" ".join(b"..." if one is None else show(one) for one in ends) + b"]"
    glue = b"\n" * (array.ndim - 1) + b" " * depth
    return b"[" + glue.join(b"..." if one is None else _nested(one, show, summarize, depth + 1) for one in ends) + b"]"


def _element_format(dtype: DType) -> Callable[[Any], bytes]:
    if dtype is dtypes.string:
        return lambda text: b'"' + escaped(text) + b'"'
    if dtype.is_integer or dtype.is_bool:
        return lambda number: b"%d" % int(number)
    if dtype is dtypes.float64:
        return lambda number: _shortest(float(number), 15, 17, float)
    if dtype.is_floating:
        return lambda number: _shortest(float(number), 6, 9, np.float32)
    return lambda number: b"?"


def _shortest(number: float, digits: int, exact_digits: int, kind: Callable[[str], Any]) -> bytes:
    """With so many digits if these say it all, else with as many as always do."""
    text = f"%.{digits}g" % number
    return (text if kind(text) == kind(repr(number)) else f"%.{exact_digits}g" % number).encode()


def string_format(
    template: str, inputs: Any, placeholder: str = "{}", summarize: int = 3, name: str | None = None
) -> Tensor:
    """The template with each placeholder replaced by the text of a tensor, shortened to `summarize` elements at each end.

    ValueError unless there are as many placeholders as tensors. Source: `tf.strings.format`.
    """
    tensors = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    count = template.count(placeholder)
    if count != len(tensors):
        raise ValueError(f"{count} placeholder(s) in template does not match {len(tensors)} tensor(s) provided as input")
    text: Tensor = string_format_op(tensors, template=template, placeholder=placeholder, summarize=summarize, name=name)
    return text
