"""Summary ops: tensors to Summary protos, which a FileWriter writes and TensorBoard shows. Source: `tf.summary`, TF 1.15."""

from __future__ import annotations

import contextlib
import functools
import logging
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError
from tensorboard.compat.proto import summary_pb2

from tfexp.core import dtypes
from tfexp.core.errors import InvalidArgumentError
from tfexp.core.op import Op, define_op
from tfexp.core.shape import TensorShape, dims_text
from tfexp.formats.tensor import array_to_content
from tfexp.graph.collections import GraphKeys
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import executing_eagerly, get_default_graph, name_scope
from tfexp.graph.tensor import Tensor

_log = logging.getLogger("tensorflow")
_REAL = "float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64"


def _serialized(summary: Any) -> np.ndarray:
    return np.array(summary.SerializeToString(), dtype=object)


def _scalar_tag(tag: Any) -> str:
    if np.ndim(tag):
        raise InvalidArgumentError(None, None, f"tags must be scalar, and have shape {list(np.shape(tag))}")
    return _text(tag)


def _text(value: Any) -> str:
    data: bytes = value.item() if isinstance(value, np.ndarray) else value
    return data.decode()


def _scalar_result(op: Op) -> None:
    op.shape(lambda *inputs: TensorShape(()))
    op.not_differentiable()


scalar_summary = define_op(f"ScalarSummary(tags: string, values: T) -> (summary: string) {{T: type in [{_REAL}]}}")
_scalar_result(scalar_summary)


@scalar_summary.kernel("CPU")
def _(ctx: Any, tags: Any, values: Any) -> np.ndarray:
    tags, values = np.asarray(tags, dtype=object), np.asarray(values)
    if tags.shape != values.shape:
        raise InvalidArgumentError(
            None,
            None,
            f"tags and values not the same shape: {dims_text(tags.shape)} != {dims_text(values.shape)} "
            f"(tag {_text(tags.reshape(-1)[0]) if tags.size else ''!r})",
        )
    summary = summary_pb2.Summary()
    for tag, value in zip(tags.reshape(-1), values.reshape(-1), strict=True):
        summary.value.add(tag=_text(tag), simple_value=float(value))
    return _serialized(summary)


histogram_summary = define_op(
    f"HistogramSummary(tag: string, values: T) -> (summary: string) {{T: type in [{_REAL}] = float}}"
)
_scalar_result(histogram_summary)


@histogram_summary.kernel("CPU")
def _(ctx: Any, tag: Any, values: Any) -> np.ndarray:
    data = np.asarray(values).reshape(-1).astype(np.float64)
    if np.isnan(data).any():
        raise InvalidArgumentError(None, None, f"Nan in summary histogram for: {ctx.node_name}")
    if np.isinf(data).any():
        raise InvalidArgumentError(None, None, f"Infinity in Histogram for: {ctx.node_name}")
    summary = summary_pb2.Summary()
    summary.value.add(tag=_scalar_tag(tag)).histo.CopyFrom(histogram_proto(data))
    return _serialized(summary)


_LARGEST = float(np.finfo(np.float64).max)


@functools.cache
def bucket_limits() -> np.ndarray:
    """TensorFlow's histogram buckets: limits grow by 10% from 1e-12 to 1e20, mirrored below zero."""
    positive = []
    limit = 1.0e-12
    while limit < 1.0e20:
        positive.append(limit)
        limit *= 1.1
    positive.append(_LARGEST)
    return np.array([-v for v in reversed(positive)] + [0.0] + positive)


def histogram_proto(data: np.ndarray) -> Any:
    """A HistogramProto of float64 values; runs of empty buckets are one bucket."""
    limits = bucket_limits()
    proto = summary_pb2.HistogramProto(
        min=float(data.min()) if data.size else _LARGEST,
        max=float(data.max()) if data.size else -_LARGEST,
        num=data.size,
        sum=float(data.sum()),
        sum_squares=float((data * data).sum()),
    )
    counts = np.bincount(np.searchsorted(limits, data, side="right"), minlength=limits.size)
    for i in range(limits.size):
        ends_empty_run = i + 1 == limits.size or counts[i + 1] > 0
        if counts[i] > 0 or ends_empty_run:
            proto.bucket_limit.append(limits[i])
            proto.bucket.append(float(counts[i]))
    return proto


merge_summary = define_op("MergeSummary(inputs: N * string) -> (summary: string) {N: int >= 1}")
_scalar_result(merge_summary)


@merge_summary.kernel("CPU")
def _(ctx: Any, inputs: list[Any]) -> np.ndarray:
    merged = summary_pb2.Summary()
    seen: set[str] = set()
    for serialized in inputs:
        for data in np.asarray(serialized, dtype=object).reshape(-1):
            for value in _parsed(data).value:
                # A tag that comes twice would overwrite itself in TensorBoard; values without a tag are not compared.
                if value.tag:
                    if value.tag in seen:
                        raise InvalidArgumentError(None, None, f"Duplicate tag {value.tag} found in summary inputs")
                    seen.add(value.tag)
                merged.value.add().CopyFrom(value)
    return _serialized(merged)


tensor_summary_v2 = define_op(
    "TensorSummaryV2(tag: string, tensor: T, serialized_summary_metadata: string) -> (summary: string) {T: type}"
)
_scalar_result(tensor_summary_v2)


def _parsed(serialized: bytes) -> Any:
    try:
        return summary_pb2.Summary.FromString(serialized)
    except DecodeError:
        raise InvalidArgumentError(None, None, "Could not parse one of the summary inputs") from None


@tensor_summary_v2.kernel("CPU")
def _(ctx: Any, tag: Any, tensor: Any, serialized_summary_metadata: Any, *, T: dtypes.DType) -> np.ndarray:
    summary = summary_pb2.Summary()
    value = summary.value.add(tag=_scalar_tag(tag))
    value.tensor.CopyFrom(array_to_content(np.asarray(tensor), T))
    value.metadata.ParseFromString(np.asarray(serialized_summary_metadata, dtype=object).item())
    return _serialized(summary)


# --- tf.summary --------------------------------------------------------------------------------------------------------


def clean_tag(name: str | None) -> str | None:
    """A name without what no node's name has; None of None."""
    if name is None:
        return None
    cleaned = re.sub(r"[^-/\w.]", "_", name).lstrip("/")
    if cleaned != name:
        _log.info("Summary name %s is illegal; using %s instead.", name, cleaned)
    return cleaned


@contextlib.contextmanager
def summary_scope(
    name: str | None, family: str | None = None, default_name: str | None = None, values: Any = None
) -> Iterator[tuple[str, str]]:
    """(tag, name scope) of a summary: the tag is the scope's name, with the family before it once more."""
    name = clean_tag(name)
    family = clean_tag(family)
    base = name if family is None else f"{family}/{name}"
    with name_scope(base, default_name, values) as scope:
        tag = scope.rstrip("/")
        yield (tag if family is None else f"{family}/{tag}"), scope


def collected(value: Tensor, collections: Any) -> Tensor:
    get_default_graph().add_to_collections([GraphKeys.SUMMARIES] if collections is None else collections, value)
    return value


def scalar(name: str, tensor: Any, collections: Any = None, family: str | None = None) -> Tensor:
    """A summary of one real number. `tf.summary.scalar`."""
    with summary_scope(name, family, values=[tensor]) as (tag, scope):
        return collected(scalar_summary(tag, tensor, name=scope), collections)


def histogram(name: str, values: Any, collections: Any = None, family: str | None = None) -> Tensor:
    """A summary of how the values of a tensor are spread. `tf.summary.histogram`."""
    with summary_scope(name, family, "HistogramSummary", [values]) as (tag, scope):
        return collected(histogram_summary(tag, values, name=scope), collections)


def tensor_summary(
    name: str,
    tensor: Any,
    summary_description: str | None = None,
    collections: Any = None,
    summary_metadata: Any = None,
    family: str | None = None,
    display_name: str | None = None,
) -> Tensor:
    """A summary that holds the tensor itself, of any type and shape. `tf.summary.tensor_summary`."""
    metadata = summary_pb2.SummaryMetadata() if summary_metadata is None else summary_metadata
    if summary_description is not None:
        metadata.summary_description = summary_description
    if display_name is not None:
        metadata.display_name = display_name
    with summary_scope(name, family, values=[tensor]) as (tag, scope):
        value = tensor_summary_v2(
            tensor=tensor, tag=tag, serialized_summary_metadata=metadata.SerializeToString(), name=scope
        )
        return collected(value, collections)


def text(name: str, tensor: Any, collections: Any = None) -> Tensor:
    """A summary of strings. ValueError for a tensor of another type. `tf.summary.text`."""
    tensor = convert_to_tensor(tensor)
    if tensor.dtype.base_dtype is not dtypes.string:
        raise ValueError(f"Expected tensor {tensor.name} to have dtype string, got {tensor.dtype}")
    metadata = summary_pb2.SummaryMetadata(plugin_data=summary_pb2.SummaryMetadata.PluginData(plugin_name="text"))
    return tensor_summary(name, tensor, summary_metadata=metadata, collections=collections)


def merge(inputs: Any, collections: Any = None, name: str | None = None) -> Tensor:
    """One summary of all that `inputs` hold; a tag may come once only. `tf.summary.merge`."""
    _refuse_eager_merge()
    if isinstance(inputs, str):
        raise TypeError(f"Expected list for 'inputs' argument to 'merge_summary' Op, not {inputs!r}.")
    with summary_scope(name, default_name="Merge", values=inputs):
        value: Tensor = merge_summary(list(inputs), name=clean_tag(name))
        get_default_graph().add_to_collections(collections or [], value)
        return value


def _refuse_eager_merge() -> None:
    if executing_eagerly():
        raise RuntimeError(
            "Merging tf.summary.* ops is not compatible with eager execution. Use tf.contrib.summary instead."
        )


def merge_all(key: str = GraphKeys.SUMMARIES, scope: str | None = None, name: str | None = None) -> Tensor | None:
    """All summaries of the collection `key`, merged; None when there are none. `tf.summary.merge_all`."""
    _refuse_eager_merge()
    summaries = get_default_graph().get_collection(key, scope)
    return merge(summaries, name=name) if summaries else None
