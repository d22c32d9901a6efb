"""Cells and outputs of recurrent estimators. Source: `tf.contrib.learn…estimators.rnn_common`, TF 1.15."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.layers.rnn_cell import BasicRNNCell, GRUCell, RNNCell
from tfexp.layers.rnn_lstm import LSTMCell
from tfexp.layers.rnn_wrappers import DropoutWrapper, MultiRNNCell
from tfexp.ops.array import reshape, shape
from tfexp.ops.array_gather import gather
from tfexp.ops.array_mask import boolean_mask, sequence_mask

_CELLS = {"basic_rnn": BasicRNNCell, "lstm": LSTMCell, "gru": GRUCell}


class RNNKeys:
    """What features and predictions of sequences are called."""

    FINAL_STATE_KEY = "final_state"
    LABELS_KEY = "__labels__"
    SEQUENCE_LENGTH_KEY = "sequence_length"
    STATE_PREFIX = "rnn_cell_state"


class PredictionType:
    """Whether a sequence has one prediction, at its end, or one at each step."""

    SINGLE_VALUE = 1
    MULTIPLE_VALUE = 2


def construct_rnn_cell(
    num_units: Any, cell_type: Any = "basic_rnn", dropout_keep_probabilities: Sequence[float] | None = None
) -> Any:
    """A cell, or layers of them for several `num_units`.

    cell_type: `basic_rnn`, `lstm`, `gru`, or a class of cells: ValueError for others. dropout_keep_probabilities: as of
    `apply_dropout`.
    """
    kind = _CELLS.get(cell_type, cell_type)
    if not (isinstance(kind, type) and issubclass(kind, RNNCell)):
        raise ValueError(f"The supported cell types are {list(_CELLS)}; got {cell_type}")
    widths = num_units if isinstance(num_units, list | tuple) else [num_units]
    made: Any = kind
    cells = [made(num_units=width) for width in widths]
    if dropout_keep_probabilities:
        cells = apply_dropout(cells, dropout_keep_probabilities)
    return cells[0] if len(cells) == 1 else MultiRNNCell(cells)


def apply_dropout(
    cells: Sequence[Any], dropout_keep_probabilities: Sequence[float], random_seed: int | None = None
) -> list[Any]:
    """The cells with dropout before each of them and after the last one: ValueError unless there is one number more.

    `random_seed` is that of all cells but the last.
    """
    *inputs, output = dropout_keep_probabilities
    if len(inputs) != len(cells):
        raise ValueError(
            "The number of dropout probabilities must be one greater than the number of cells. Got "
            f"{len(cells)} cells and {len(dropout_keep_probabilities)} dropout probabilities."
        )
    *below, top = zip(cells, inputs, strict=True)
    return [DropoutWrapper(cell, kept, 1.0, seed=random_seed) for cell, kept in below] + [DropoutWrapper(*top, output)]


def select_last_activations(activations: Tensor, sequence_lengths: Any) -> Tensor:
    """[batch, n]: of [batch, time, n] the last step of each sequence; None: all have all steps."""
    with name_scope("select_last_activations", values=[activations]):
        if sequence_lengths is None:
            last: Tensor = activations[:, -1]
        else:
            last = gather(activations, sequence_lengths - 1, axis=1, batch_dims=1)
        return last


def mask_activations_and_labels(activations: Tensor, labels: Tensor, sequence_lengths: Any) -> tuple[Tensor, Tensor]:
    """All sequences' steps one after the other, without those beyond their lengths: [steps, n] and [steps].

    activations: [batch, time] or [batch, time, n]; labels: [batch, time].
    """
    with name_scope("mask_activations_and_labels", values=[activations, labels]):
        if sequence_lengths is not None:
            mask = sequence_mask(sequence_lengths, shape(labels)[1])  # type: ignore[index]
            return boolean_mask(activations, mask), boolean_mask(labels, mask)
        width = activations.get_shape()[2:].as_list() or [1]
        return reshape(activations, [-1, *width]), reshape(labels, [-1])
