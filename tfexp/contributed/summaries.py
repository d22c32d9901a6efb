"""`tf.contrib.layers`: summaries of tensors by their names. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tfexp.graph.collections import GraphKeys
from tfexp.graph.scopes import get_collection
from tfexp.ops.nn_norm import zero_fraction
from tfexp.ops.summary import histogram, scalar


def summarize_tensor(tensor: Any, tag: str | None = None) -> Any:
    """A scalar summary of a scalar, a histogram of anything else; `tag` is by default its node's name, with `_summary`."""
    write = scalar if tensor.get_shape().ndims == 0 else histogram
    return write(tag or f"{tensor.op.name}_summary", tensor)


def summarize_activation(op: Any) -> Any:
    """A histogram, and for what a relu, sigmoid or tanh may saturate the fraction of zeros."""
    if op.op.type in ("Relu", "Softplus", "Relu6"):
        scalar(f"{op.op.name}/zeros", zero_fraction(op))
    return histogram(f"{op.op.name}/activation", op)


def summarize_tensors(tensors: Iterable[Any], summarizer: Callable[[Any], Any] = summarize_tensor) -> list[Any]:
    """A summary of each tensor."""
    return [summarizer(tensor) for tensor in tensors]


def summarize_collection(
    collection: Any, name_filter: str | None = None, summarizer: Callable[[Any], Any] = summarize_tensor
) -> list[Any]:
    """A summary of each tensor of a collection whose name `name_filter` matches."""
    return summarize_tensors(get_collection(collection, name_filter), summarizer)


def summarize_activations(
    name_filter: str | None = None, summarizer: Callable[[Any], Any] = summarize_activation
) -> list[Any]:
    """A summary of each of the graph's activations whose name `name_filter` matches."""
    return summarize_collection(GraphKeys.ACTIVATIONS, name_filter, summarizer)
