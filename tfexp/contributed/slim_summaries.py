"""`tf.contrib.slim.summaries`: summaries by tensors' names, which may be printed as well. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tfexp.graph.collections import GraphKeys
from tfexp.graph.scopes import add_to_collection
from tfexp.ops.check import Print
from tfexp.ops.nn_norm import zero_fraction
from tfexp.ops.summary import histogram, scalar
from tfexp.ops.summary_media import image


def _name(tensor: Any, name: str | None, prefix: str | None, postfix: str | None = None) -> str:
    return "/".join(part for part in (prefix, name or tensor.op.name, postfix) if part)


def _added(write: Callable[..., Any], tensor: Any, name: str, print_summary: bool = False) -> Any:
    summary = write(name, tensor, collections=[])
    if print_summary:
        summary = Print(summary, [tensor], name)
    add_to_collection(GraphKeys.SUMMARIES, summary)
    return summary


def add_histogram_summary(tensor: Any, name: str | None = None, prefix: str | None = None) -> Any:
    """A histogram called `prefix/name`; by default the name is that of the tensor's node."""
    return _added(histogram, tensor, _name(tensor, name, prefix))


def add_image_summary(tensor: Any, name: str | None = None, prefix: str | None = None, print_summary: bool = False) -> Any:
    """Images, [batch, height, width, channels], called `prefix/name`; `print_summary` logs their first values."""
    return _added(image, tensor, _name(tensor, name, prefix), print_summary)


def add_scalar_summary(tensor: Any, name: str | None = None, prefix: str | None = None, print_summary: bool = False) -> Any:
    """A scalar called `prefix/name`; `print_summary` logs it too, whenever the summary is run."""
    return _added(scalar, tensor, _name(tensor, name, prefix), print_summary)


def add_zero_fraction_summary(
    tensor: Any, name: str | None = None, prefix: str | None = None, print_summary: bool = False
) -> Any:
    """The fraction of a tensor's zeros as a scalar called `prefix/name/Fraction_of_Zero_Values`."""
    return _added(scalar, zero_fraction(tensor), _name(tensor, name, prefix, "Fraction_of_Zero_Values"), print_summary)


def add_histogram_summaries(tensors: Iterable[Any], prefix: str | None = None) -> list[Any]:
    """A histogram of each tensor."""
    return [add_histogram_summary(tensor, prefix=prefix) for tensor in tensors]


def add_image_summaries(tensors: Iterable[Any], prefix: str | None = None) -> list[Any]:
    """Images of each tensor."""
    return [add_image_summary(tensor, prefix=prefix) for tensor in tensors]


def add_scalar_summaries(tensors: Iterable[Any], prefix: str | None = None, print_summary: bool = False) -> list[Any]:
    """A scalar of each tensor."""
    return [add_scalar_summary(tensor, prefix=prefix, print_summary=print_summary) for tensor in tensors]


def add_zero_fraction_summaries(tensors: Iterable[Any], prefix: str | None = None) -> list[Any]:
    """The fraction of zeros of each tensor."""
    return [add_zero_fraction_summary(tensor, prefix=prefix) for tensor in tensors]
