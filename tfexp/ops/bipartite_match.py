"""Rows and columns paired one to one, nearest pairs first."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tfexp.core.errors import invalid
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import Array
from tfexp.ops.shape_rules import with_rank

bipartite_match_op = define_op(
    "BipartiteMatch(distance_mat: float32, num_valid_rows: float32)"
    " -> (row_to_col_match_indices: int32, col_to_row_match_indices: int32) {top_k: int = -1}"
)


@bipartite_match_op.shape
def _(distance_mat: InputShape, num_valid_rows: InputShape) -> list[TensorShape]:
    rows, columns = with_rank(distance_mat, 2).as_list()
    return [TensorShape([rows]), TensorShape([columns])]


@bipartite_match_op.kernel("CPU")
def _(ctx: Any, distance_mat: Array, num_valid_rows: Array, *, top_k: int) -> tuple[Array, Array]:
    if distance_mat.ndim != 2:
        raise invalid(f"distance_mat should be 2-dimensional, but got {dims_text(distance_mat.shape)}")
    if num_valid_rows.size != 1:
        raise invalid(f"num_valid_rows argument should be a tensor with 1 element, but got {num_valid_rows.size}")
    rows, columns = distance_mat.shape
    valid = int(num_valid_rows.item())
    least = valid if valid >= 0 else 1
    if rows < least:
        raise invalid(f"There should be at least {least} rows in distance_mat, but only got {rows} rows.")
    row_to_column, column_to_row = np.full(rows, -1, np.int32), np.full(columns, -1, np.int32)
    free_rows, free_columns = np.arange(valid if valid >= 0 else rows), np.arange(columns)
    pairs = min(len(free_rows), columns)
    for _ in range(min(top_k, pairs) if top_k > 0 else pairs):  # each pair depends on those before it
        among = distance_mat[np.ix_(free_rows, free_columns)]
        at_row, at_column = np.unravel_index(np.argmin(among), among.shape)
        row, column = free_rows[at_row], free_columns[at_column]
        row_to_column[row], column_to_row[column] = column, row
        free_rows, free_columns = np.delete(free_rows, at_row), np.delete(free_columns, at_column)
    return row_to_column, column_to_row


class BipartiteMatch(NamedTuple):
    row_to_col_match_indices: Tensor
    col_to_row_match_indices: Tensor


def bipartite_match(
    distance_mat: Any, num_valid_rows: Any, top_k: int = -1, name: str = "bipartite_match"
) -> BipartiteMatch:
    """Pairs of rows and columns of float32 [rows, columns], greedily: the nearest pair, then the nearest of what is left.

    Two int32 vectors, [rows] and [columns]: the partner of each, -1 for none. `num_valid_rows`, one float32: only so many
    rows take part (all if negative); `top_k`: no more pairs than this (all there can be, if not positive). Of pairs that are
    equally near, the first in the order of rows is taken. InvalidArgumentError for fewer rows than are said to be valid, or
    none.
    Source: `tf.contrib.image.bipartite_match`.
    """
    with name_scope(name, "bipartite_match", [distance_mat, num_valid_rows]) as scope:
        return BipartiteMatch(*bipartite_match_op(distance_mat, num_valid_rows, top_k=top_k, name=scope))
