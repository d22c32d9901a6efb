"""Feeds as a user gives them become arrays of the fed tensors' dtypes, checked against their shapes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.graph.graph import Graph
from tfexp.graph.tensor import Tensor
from tfexp.runtime.fetches import composite_feeds


class FeedSpec:
    """One fed tensor: what an array for it has to be."""

    __slots__ = ("is_string", "numpy_dtype", "tensor")

    def __init__(self, graph: Graph, tensor: Tensor):
        if not graph.is_feedable(tensor):
            raise ValueError(f"Tensor {tensor} may not be fed.")
        self.tensor = tensor
        self.numpy_dtype = np.dtype(tensor.dtype.base_dtype.as_numpy_dtype)
        self.is_string = tensor.dtype.base_dtype is dtypes.string

    def convert(self, value: Any) -> np.ndarray:
        """`value` as an array of the tensor's dtype; TypeError or ValueError when it is none."""
        if isinstance(value, Tensor):
            raise TypeError(
                "The value of a feed cannot be a tf.Tensor object. Acceptable feed values include Python scalars, strings, "
                f"lists, numpy ndarrays, or TensorHandles. For reference, the tensor object was {value} which was passed to "
                f"the feed with key {self.tensor}."
            )
        if isinstance(value, int) and not self._holds(value):
            raise TypeError(
                f"Type of feed value {value} with type {type(value)} is not compatible with Tensor type "
                f"{self.tensor.dtype.base_dtype.as_numpy_dtype}. Try explicitly setting the type of the feed tensor to a "
                "larger type (e.g. int64)."
            )
        if self.is_string:
            return _string_array(value)
        return np.asarray(value, dtype=self.numpy_dtype)

    def handed_back(self, given: Any, converted: np.ndarray) -> np.ndarray:
        """What fetching the fed tensor itself gives: texts come back as they were given, not encoded."""
        return np.asarray(given, dtype=object) if self.is_string else converted

    def _holds(self, value: int) -> bool:
        if self.is_string:
            return False
        try:
            with np.errstate(over="ignore"):
                number = self.numpy_dtype.type(value)
            # As doubles, for NumPy's own numbers are compared with what `value` is rounded to.
            return bool(number.item() == float(value) if isinstance(number, np.inexact) else number == value)
        except OverflowError:
            return False

    def check_shape(self, shape: tuple[int, ...]) -> None:
        """ValueError when an array of this shape cannot be fed."""
        if not self.tensor._shape.is_compatible_with(shape):
            raise ValueError(
                f"Cannot feed value of shape {shape!r} for Tensor {self.tensor.name!r}, which has shape "
                f"{str(self.tensor.get_shape())!r}"
            )


def _string_array(value: Any) -> np.ndarray:
    array = np.asarray(value, dtype=object)
    flat = array.ravel()
    if all(type(element) is bytes for element in flat):
        return array
    encoded = np.empty(flat.shape, dtype=object)
    for i, element in enumerate(flat):
        if isinstance(element, str):
            encoded[i] = element.encode()
        elif isinstance(element, bytes):
            encoded[i] = bytes(element)
        else:
            raise TypeError(f"Unsupported object type {type(element).__name__}")
    return encoded.reshape(array.shape)


def flatten_feeds(graph: Graph, feed_dict: Mapping[Any, Any]) -> list[tuple[Tensor, Any]]:
    """The (tensor, value) pairs of a feed_dict whose keys may be tensors, names, composites or structures of these.

    Structures are tuples, and dictionaries that can be hashed, whose values come in the order of their keys.
    """
    if not isinstance(feed_dict, Mapping):
        raise TypeError(f"feed_dict must be a dictionary, not {type(feed_dict).__name__}")
    pairs: list[tuple[Tensor, Any]] = []
    for key, value in feed_dict.items():
        _flatten(graph, key, value, pairs)
    return pairs


def _in_order(structure: Mapping[Any, Any]) -> list[Any]:
    return [structure[key] for key in sorted(structure)]


def _flatten(graph: Graph, key: Any, value: Any, pairs: list[tuple[Tensor, Any]]) -> None:
    if isinstance(key, Mapping):
        key, value = _in_order(key), _in_order(value) if isinstance(value, Mapping) else value
    if isinstance(key, (tuple, list)):
        values = value if isinstance(value, (tuple, list)) else [value]
        if len(key) != len(values):
            raise ValueError(
                f"Could not flatten dictionary. Key had {len(key)} elements, but value had {len(values)} elements. "
                f"Key: {key}, value: {value}."
            )
        for part, part_value in zip(key, values, strict=True):
            _flatten(graph, part, part_value, pairs)
        return
    parts = composite_feeds(key, value)
    for part, part_value in [(key, value)] if parts is None else parts:
        try:
            tensor = graph.as_graph_element(part, allow_operation=False)
        except (TypeError, ValueError, KeyError) as error:
            text = error.args[0] if isinstance(error, KeyError) else str(error)
            raise TypeError(f"Cannot interpret feed_dict key as Tensor: {text}") from None
        pairs.append((tensor, part_value))
