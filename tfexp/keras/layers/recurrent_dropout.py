"""Dropout in cells: one mask for all steps of a sequence. Source: `DropoutRNNCellMixin` of tf.keras, TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.keras import backend
from tfexp.ops.array_fill import ones_like


class DropoutRNNCellMixin:
    """For cells with `dropout` and `recurrent_dropout`: masks that are drawn at a sequence's first step and then kept.

    A layer that starts a sequence resets them first.
    """

    dropout: float
    recurrent_dropout: float
    _dropout_mask: Any = None
    _recurrent_dropout_mask: Any = None

    def reset_dropout_mask(self) -> None:
        """The next step draws the masks of the inputs anew."""
        self._dropout_mask = None

    def reset_recurrent_dropout_mask(self) -> None:
        """The next step draws the masks of the state anew."""
        self._recurrent_dropout_mask = None

    def get_dropout_mask_for_cell(self, inputs: Any, training: Any, count: int = 1) -> Any:
        """`count` masks of the shape of `inputs` (a list, but a mask alone if it is one); None without dropout."""
        if self._dropout_mask is None and 0 < self.dropout < 1:
            self._dropout_mask = _drawn(inputs, self.dropout, training, count)
        return self._dropout_mask

    def get_recurrent_dropout_mask_for_cell(self, inputs: Any, training: Any, count: int = 1) -> Any:
        """The same for the state."""
        if self._recurrent_dropout_mask is None and 0 < self.recurrent_dropout < 1:
            self._recurrent_dropout_mask = _drawn(inputs, self.recurrent_dropout, training, count)
        return self._recurrent_dropout_mask


def _drawn(like: Any, rate: float, training: Any, count: int) -> Any:
    everything = ones_like(like)

    def draw() -> Any:
        return backend.in_train_phase(lambda: backend.dropout(everything, rate), everything, training=training)

    return draw() if count == 1 else [draw() for _ in range(count)]


def reset_masks(cell: Any) -> None:
    """Before a sequence: the masks of a cell, and of the cells that are stacked in it, are drawn anew."""
    if isinstance(cell, DropoutRNNCellMixin):
        cell.reset_dropout_mask()
        cell.reset_recurrent_dropout_mask()
    for inner in getattr(cell, "cells", ()):
        reset_masks(inner)
