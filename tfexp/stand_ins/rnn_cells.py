"""What `rnn_cell_impl` asks of cells. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.layers.rnn_state import zero_states as _zero_state_tensors
from tfexp.layers.rnn_wrappers import check_cell

__all__ = ["_zero_state_tensors", "assert_like_rnncell"]


def assert_like_rnncell(cell_name: str, cell: Any) -> None:
    """TypeError for what cannot be used as a cell."""
    check_cell(cell, cell_name)
