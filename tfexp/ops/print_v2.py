"""`tf.print` and its op PrintV2: texts made of tensors, to a stream, a log or a file. TF 1.15."""

from __future__ import annotations

import itertools
import pprint
import sys
from typing import Any

import numpy as np

from tfexp.core import dtypes, log, nest
from tfexp.core.errors import InvalidArgumentError
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape
from tfexp.formats.file_errors import file_error
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.operation import Operation
from tfexp.graph.sparse_tensor import SparseTensor
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import Array
from tfexp.ops.shape_rules import with_rank
from tfexp.ops.string_arrays import texts_of
from tfexp.ops.string_format import string_format
from tfexp.ops.variable_base import Variable

print_v2_op = define_op("PrintV2(input: string) -> () {output_stream: string = 'stderr'; end: string = '\\n'} #stateful")

_FILE = "file://"
_LOGS = {"log(info)": log.info, "log(warning)": log.warn, "log(error)": log.error}


@print_v2_op.shape
def _(input: InputShape) -> None:
    with_rank(input, 0)


@print_v2_op.kernel("CPU")
def _(ctx: Any, input: Array, *, output_stream: str, end: str) -> None:
    text = texts_of(input)[0].decode(errors="replace") + end
    if output_stream.startswith(_FILE):
        path = output_stream.removeprefix(_FILE)
        try:
            with open(path, "a", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            raise file_error(path, error) from error
    elif output_stream in _LOGS:
        _LOGS[output_stream]("%s", text)
    elif output_stream in ("stdout", "stderr"):
        # Python's own streams, so that notebooks and tests see it.
        stream = getattr(sys, output_stream)
        stream.write(text)
        stream.flush()
    else:
        raise InvalidArgumentError(None, None, f"Unknown output stream: {output_stream}, must be one of: {_STREAMS}")


_STREAMS = "stderr, stdout, log(info), log(warning), log(error), or file://<path>"


def print_v2(*inputs: Any, **kwargs: Any) -> Operation:
    """An op that prints `inputs` when it runs: tensors, and structures of them, among other things as Python shows them.

    Keywords: `output_stream` (sys.stdout, sys.stderr, tf.logging.info, warning or error, "file://path"; default stderr),
    `summarize` (elements at each end of each axis; default 3, -1 all), `sep` (" "), `end` ("\\n"), `name`. ValueError for
    others. Source: `tf.print`.
    """
    stream = kwargs.pop("output_stream", sys.stderr)
    name = kwargs.pop("name", None)
    summarize = kwargs.pop("summarize", 3)
    separator = kwargs.pop("sep", " ")
    end = kwargs.pop("end", "\n")
    if kwargs:
        raise ValueError(f"Unrecognized keyword arguments for tf.print: {kwargs}")
    target = _stream_name(stream)
    if (
        len(inputs) == 1
        and isinstance(inputs[0], Tensor)
        and inputs[0].dtype is dtypes.string
        and inputs[0].shape.ndims == 0
    ):
        text = inputs[0]
    else:
        text = _formatted(inputs, separator, summarize, name)
    printed: Operation = print_v2_op(text, output_stream=target, end=end, name=name)
    return printed


def _stream_name(stream: Any) -> str:
    if isinstance(stream, str) and stream.startswith(_FILE):
        return stream
    # By identity: streams may have been replaced by ones that compare by what they write to.
    for known, name in (
        (sys.stdout, "stdout"),
        (sys.stderr, "stderr"),
        (log.info, "log(info)"),
        (log.warn, "log(warning)"),
        (log.error, "log(error)"),
    ):
        if stream is known:
            return name
    raise ValueError(
        f"Unsupported output stream, logging level, or file.{stream}. Supported streams are sys.stdout, sys.stderr, "
        "tf.logging.info, tf.logging.warning, tf.logging.error. File needs to be in the form of 'file://<filepath>'."
    )


class _Placeholder:
    """What stands for a tensor while a structure is shown."""

    def __init__(self, text: str):
        self._text = text

    def __repr__(self) -> str:
        return self._text


def _mark(inputs: Any) -> str:
    """What marks the place of a tensor: `{}`, or with a number behind it that no text has."""
    texts = [value for value in nest.flatten(inputs) if isinstance(value, str)]
    marks = itertools.chain(["{}"], (f"{{}}{number}" for number in itertools.count()))
    return next(mark for mark in marks if not any(mark in text for text in texts))


def _formatted(inputs: tuple[Any, ...], separator: str, summarize: int, name: str | None) -> Tensor:
    tensors: list[Any] = []
    mark = _mark(inputs)

    def shown(value: Any) -> Any:
        if isinstance(value, SparseTensor):
            tensors.extend(value.parts)
            return f"SparseTensor(indices={mark}, values={mark}, shape={mark})"
        if isinstance(value, (Tensor, Variable, np.ndarray)):
            tensors.append(convert_to_tensor(value))
            return _Placeholder(mark)
        return value

    templates = []
    for value in inputs:
        if isinstance(value, str):
            templates.append(value)
            continue
        flat = [shown(part) for part in nest.flatten(value)] if nest.is_nested(value) else shown(value)
        whole = nest.pack_sequence_as(value, flat) if nest.is_nested(value) else flat
        templates.append(pprint.pformat(whole))
    text = separator.join(templates)
    return string_format(
        text, tensors, placeholder=mark, summarize=summarize, name=None if name is None else f"{name}_format"
    )
