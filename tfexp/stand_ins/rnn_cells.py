"""What `rnn_cell_impl` and `rnn` ask of cells, and what programs' own cells and loops take from there. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.graph.shape_inference import static_value_as_shape
from tfexp.graph.tensor import Tensor
from tfexp.layers.rnn_dynamic import batch_size_of as _best_effort_input_batch_size
from tfexp.layers.rnn_dynamic import transposed as _transpose_batch_time
from tfexp.layers.rnn_state import joined_shape, static_shape
from tfexp.layers.rnn_state import state_dtype as _infer_state_dtype
from tfexp.layers.rnn_state import zero_states as _zero_state_tensors
from tfexp.layers.rnn_wrappers import check_cell

__all__ = [
    "_BIAS_VARIABLE_NAME",
    "_WEIGHTS_VARIABLE_NAME",
    "_best_effort_input_batch_size",
    "_concat",
    "_infer_state_dtype",
    "_maybe_tensor_shape_from_tensor",
    "_transpose_batch_time",
    "_zero_state_tensors",
    "assert_like_rnncell",
]

ASSERT_LIKE_RNNCELL_ERROR_REGEXP = "is not an RNNCell"
_BIAS_VARIABLE_NAME, _WEIGHTS_VARIABLE_NAME = "bias", "kernel"


def assert_like_rnncell(cell_name: str, cell: Any) -> None:
    """TypeError for what cannot be used as a cell."""
    check_cell(cell, cell_name)


def _concat(prefix: Any, suffix: Any, static: bool = False) -> Any:
    """The shape `prefix` and then `suffix`: a vector, or (`static`) a list with None for what is not known."""
    if not static:
        return joined_shape(prefix, suffix)
    known = static_shape(prefix, suffix)
    return None if known.ndims is None else known.as_list()


def _maybe_tensor_shape_from_tensor(given: Any) -> Any:
    """What is known of a shape that is a tensor; another one as it is."""
    return static_value_as_shape(given) if isinstance(given, Tensor) else given
