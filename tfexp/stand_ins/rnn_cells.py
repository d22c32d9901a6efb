"""What `rnn_cell_impl` asks of cells. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.layers.rnn_wrappers import check_cell


def assert_like_rnncell(cell_name: str, cell: Any) -> None:
    """TypeError for what cannot be used as a cell."""
    check_cell(cell, cell_name)
