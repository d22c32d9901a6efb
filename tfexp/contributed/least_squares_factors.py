"""Factors of sparse matrices, by weighted alternating least squares: `tf.contrib.factorization.WALSModel`. TF 1.15.

Source: Hu, Koren and Volinsky: "Collaborative filtering for implicit feedback datasets" (ICDM 2008).
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfexp.contributed.variables import local_variable
from tfexp.core import dtypes
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.dependencies import group, no_op
from tfexp.graph.scopes import colocate_with, name_scope
from tfexp.graph.sparse_tensor import SparseTensor
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import expand_dims, reshape, shape, size, squeeze
from tfexp.ops.array_fill import ones
from tfexp.ops.array_gather import gather
from tfexp.ops.array_join import stack
from tfexp.ops.array_order import transpose
from tfexp.ops.array_partition import dynamic_partition
from tfexp.ops.array_unique import unique
from tfexp.ops.cast import cast
from tfexp.ops.diagonal import eye, trace
from tfexp.ops.elementwise_binary import add_n
from tfexp.ops.elementwise_unary import square
from tfexp.ops.embedding import embedding_lookup
from tfexp.ops.linalg import matrix_solve
from tfexp.ops.matmul import matmul
from tfexp.ops.random import random_normal
from tfexp.ops.reduce import reduce_sum
from tfexp.ops.scatter import scatter_update
from tfexp.ops.searchsorted import searchsorted
from tfexp.ops.segment import unsorted_segment_sum
from tfexp.ops.sparse import sparse_tensor_dense_matmul
from tfexp.ops.state import assign
from tfexp.ops.variable_base import Variable
from tfexp.ops.variable_lists import variables_initializer


@dataclass
class _Side:
    """What is kept of the rows, or of the columns: in parts, and as it was when the updates began."""

    count: int
    weights: list[Any] | None
    factors: list[Any]
    gramian: Any
    seen_weights: Any = None
    seen_factors: Any = None
    seen_gramian: Any = None


@dataclass(frozen=True)
class _Solution:
    """New factors of the items `own` (numbers), and what their error is made of."""

    own: Tensor
    factors: Any
    loss: Any
    regularization: Any
    weights: Any


class WALSModel:
    """U [input_rows, n_components] and V [input_cols, n_components] that minimize, of a sparse matrix A,

    Σ_ij W_ij (A_ij - u_i v_jᵀ)² + regularization (|U|² + |V|²), W_ij = unobserved_weight, and where A has an entry besides
    row_weights_i col_weights_j.

    row_init, col_init: "random" (normal), the factors, or a function that gives them; a list with several shards.
    row_weights, col_weights: a number for all, a list with one for each (of several shards a list of such lists), or both
    None. ValueError for other weights. Run `initialize_op`, `worker_init`, then in turn for rows and columns
    `row_update_prep_gramian_op`, `initialize_row_update_op`, and for all rows the second of what
    `update_row_factors` gives.
    """

    def __init__(
        self,
        input_rows: int,
        input_cols: int,
        n_components: int,
        unobserved_weight: Any = 0.1,
        regularization: Any = None,
        row_init: Any = "random",
        col_init: Any = "random",
        num_row_shards: int = 1,
        num_col_shards: int = 1,
        row_weights: Any = 1,
        col_weights: Any = 1,
        use_factors_weights_cache: bool = True,
        use_gramian_cache: bool = True,
        use_scoped_vars: bool = False,
    ):
        if (row_weights is None) != (col_weights is None):
            raise ValueError("row_weights and col_weights are both None, or neither of them is")
        self._size, self._unobserved, self._regularization = n_components, unobserved_weight, regularization
        sizes = _sizes(input_rows, num_row_shards), _sizes(input_cols, num_col_shards)

        def make(name: str, of: Callable[..., list[Any]], sizes: list[int], given: Any) -> Any:
            if given is None:
                return None
            with name_scope(name) if use_scoped_vars else nullcontext():
                return of(name, sizes, given)

        weights = make("row_weights", _weights, sizes[0], row_weights), make("col_weights", _weights, sizes[1], col_weights)
        row_factors = make("row_factors", self._factors, sizes[0], row_init)
        col_factors = make("col_factors", self._factors, sizes[1], col_init)
        nothing = np.zeros([n_components, n_components], np.float32)
        self._rows = _Side(input_rows, weights[0], row_factors, Variable(nothing, name="row_gramian"))
        self._cols = _Side(input_cols, weights[1], col_factors, Variable(nothing, name="col_gramian"))
        with name_scope("row_prepare_gramian"):
            self._row_gramian = _squared(self._cols)
        with name_scope("col_prepare_gramian"):
            self._col_gramian = _squared(self._rows)
        with name_scope("transient_vars"):
            self._keep(use_factors_weights_cache, use_gramian_cache)

    def _factors(self, name: str, sizes: list[int], given: Any) -> list[Any]:
        if callable(given):
            given = given()
        if isinstance(given, str) and given == "random":
            parts: Any = [lambda size=size: random_normal([size, self._size]) for size in sizes]
        else:
            parts = given if isinstance(given, list) and len(given) == len(sizes) else [given]
        return _parts(name, sizes, parts)

    def _keep(self, factors_and_weights: bool, gramians: bool) -> None:
        """Variables of this worker for what does not change during updates."""

        def shards(name: str, originals: list[Any]) -> list[str] | None:
            return _shards(name, originals) if factors_and_weights else None

        rows, cols = self._rows, self._cols
        rows.seen_factors, *row_factors = _copies(rows.factors, shards("row_factors_cache", rows.factors))
        cols.seen_factors, *col_factors = _copies(cols.factors, shards("col_factors_cache", cols.factors))
        started = []
        if rows.weights is not None and cols.weights is not None:
            rows.seen_weights, row_weights, _ = _copies(rows.weights, shards("row_wt_cache", rows.weights))
            cols.seen_weights, col_weights, _ = _copies(cols.weights, shards("col_wt_cache", cols.weights))
            started = [row_weights, col_weights]
        [rows.seen_gramian], *row_gramian = _copies([rows.gramian], ["row_gramian_cache"] if gramians else None)
        [cols.seen_gramian], *col_gramian = _copies([cols.gramian], ["col_gramian_cache"] if gramians else None)
        # Either takes what it needs of the other side, and lets go of its own.
        self._row_start = group(col_factors[0], row_factors[1], col_gramian[0], row_gramian[1])
        self._col_start = group(row_factors[0], col_factors[1], row_gramian[0], col_gramian[1])
        self._worker_init = group(*started, name="worker_init")

    @property
    def row_factors(self) -> list[Any]:
        """The variables of U, by its shards."""
        return self._rows.factors

    @property
    def col_factors(self) -> list[Any]:
        """The variables of V."""
        return self._cols.factors

    @property
    def row_weights(self) -> list[Any] | None:
        return self._rows.weights

    @property
    def col_weights(self) -> list[Any] | None:
        return self._cols.weights

    @property
    def initialize_op(self) -> Any:
        """Initializes all that workers share."""
        rows, cols = self._rows, self._cols
        own = [*rows.factors, *cols.factors, rows.gramian, cols.gramian, *(rows.weights or []), *(cols.weights or [])]
        return variables_initializer(own)

    @property
    def worker_init(self) -> Any:
        """To be run by each worker once, after `initialize_op` and after any change of weights."""
        return self._worker_init

    @property
    def row_update_prep_gramian_op(self) -> Any:
        """To be run, by one worker, before `initialize_row_update_op`."""
        return self._row_gramian

    @property
    def col_update_prep_gramian_op(self) -> Any:
        """To be run, by one worker, before `initialize_col_update_op`."""
        return self._col_gramian

    @property
    def initialize_row_update_op(self) -> Any:
        """To be run by each worker before it updates rows."""
        return self._row_start

    @property
    def initialize_col_update_op(self) -> Any:
        """To be run by each worker before it updates columns."""
        return self._col_start

    def update_row_factors(self, sp_input: Any = None, transpose_input: bool = False) -> tuple[Any, ...]:
        """(new factors, an op that keeps them, the loss, its regularization, the sum of the weights) of some rows of A.

        sp_input: a SparseTensor with A's numbers of rows and columns, of Aᵀ if transpose_input. Of n rows the loss and sum
        are `input_rows` / n times their own, and so is the regularization, with that of V added.
        """
        return self._updated(self._rows, self._solved(self._rows, self._cols, sp_input, transpose_input), "row_update")

    def update_col_factors(self, sp_input: Any = None, transpose_input: bool = False) -> tuple[Any, ...]:
        """The same of some columns."""
        return self._updated(self._cols, self._solved(self._cols, self._rows, sp_input, not transpose_input), "col_update")

    def project_row_factors(
        self, sp_input: Any = None, transpose_input: bool = False, projection_weights: Any = None
    ) -> Tensor:
        """The factors of other rows, by V, in the order in which their entries come.

        projection_weights: the weights of rows, a number or a vector; 1 by default.
        """
        weights = 1 if projection_weights is None else projection_weights
        found: Tensor = self._solved(self._rows, self._cols, sp_input, transpose_input, weights).factors
        return found

    def project_col_factors(
        self, sp_input: Any = None, transpose_input: bool = False, projection_weights: Any = None
    ) -> Tensor:
        """The same of other columns, by U."""
        weights = 1 if projection_weights is None else projection_weights
        found: Tensor = self._solved(self._cols, self._rows, sp_input, not transpose_input, weights).factors
        return found

    def _solved(self, side: _Side, other: _Side, given: SparseTensor, transposed: bool, weights: Any = None) -> _Solution:
        """For each item u of `side`: (Σ_j W_j v_j v_jᵀ + regularization) u = Σ_j W_j A_j v_j, by the sum over all j that the
        gramian is, and that over entries."""
        own, at = unique(given.indices[:, 1 if transposed else 0], out_idx=dtypes.int64)
        theirs, beside = unique(given.indices[:, 0 if transposed else 1], out_idx=dtypes.int64)
        count = size(own)
        v: Any = embedding_lookup(other.seen_factors, theirs, partition_strategy="div")
        v.set_shape([None, self._size])
        beside_v: Any = gather(v, beside)
        values: Any = given.values
        left = self._unobserved * other.seen_gramian
        if self._regularization is not None:
            left = left + self._regularization * eye(self._size)
        extra: Any = None
        if other.seen_weights is None:
            right = self._unobserved * unsorted_segment_sum(expand_dims(values, 1) * beside_v, at, count)
            u: Any = transpose(matrix_solve(left, transpose(right)))
        else:
            if weights is None:
                weights = embedding_lookup(side.seen_weights, own, partition_strategy="div")
            own_weights = ones([count]) * cast(weights, dtypes.float32)
            extra = gather(own_weights, at) * gather(embedding_lookup(other.seen_weights, theirs, "div"), beside)
            pairs = reshape(expand_dims(v, 2) * expand_dims(v, 1), [-1, self._size**2])
            items = SparseTensor(stack([at, beside], 1), extra, cast(stack([count, size(theirs)]), dtypes.int64))
            summed = sparse_tensor_dense_matmul(items, pairs)
            left = left + reshape(summed, [-1, self._size, self._size])
            right = unsorted_segment_sum(expand_dims((self._unobserved + extra) * values, 1) * beside_v, at, count)
            u = squeeze(matrix_solve(left, expand_dims(right, 2)), [2])
        products = reduce_sum(gather(u, at) * beside_v, 1)
        return _Solution(own, u, *self._measured(side, other, u, values, products, extra))

    def _measured(self, side: _Side, other: _Side, u: Any, values: Any, products: Any, extra: Any) -> tuple[Any, Any, Any]:
        """(loss, regularization, sum of weights). That of all entries that are none is by the gramians of both sides."""
        own_gramian = matmul(u, u, transpose_a=True)
        scale = side.count / cast(shape(u)[0], dtypes.float32)
        errors = square(values - products)
        loss = self._unobserved * (
            reduce_sum(errors) - reduce_sum(square(products)) + trace(matmul(own_gramian, other.seen_gramian))
        )
        weights: Any = convert_to_tensor(self._unobserved * float(side.count * other.count), dtypes.float32)
        if extra is not None:
            loss = loss + reduce_sum(extra * errors)
            weights = weights + reduce_sum(extra) * scale
        regularization: Any = convert_to_tensor(0.0)
        if self._regularization is not None:
            both = trace(own_gramian) * scale + trace(other.seen_gramian)
            regularization = self._regularization * both
        return loss * scale, regularization, weights

    def _updated(self, side: _Side, solved: _Solution, name: str) -> tuple[Any, ...]:
        kept = _scattered(side, solved.own, solved.factors, name)
        return solved.factors, kept, solved.loss, solved.regularization, solved.weights


def _sizes(count: int, shards: int) -> list[int]:
    """Of parts that are as equal as can be, the larger first."""
    each, more = divmod(count, shards)
    return [each + 1] * more + [each] * (shards - more)


def _parts(name: str, sizes: list[int], values: Sequence[Any]) -> list[Any]:
    if len(values) != len(sizes):
        raise ValueError(f"{name}: {len(values)} parts are given for {len(sizes)} shards")
    return [
        Variable(value, dtype=dtypes.float32, name=part) for part, value in zip(_shards(name, sizes), values, strict=True)
    ]


def _shards(name: str, parts: Sequence[Any]) -> list[str]:
    return [f"{name}_shard_{i}" for i in range(len(parts))]


def _weights(name: str, sizes: list[int], given: Any) -> list[Any]:
    if isinstance(given, numbers.Real) and float(given) >= 0:
        return _parts(name, sizes, [np.full(size, given, np.float32) for size in sizes])
    if not hasattr(given, "__len__"):
        raise ValueError(
            f"Invalid weight initialization argument {given!r}: give None, a number that is not negative, or such numbers, "
            "in as many lists as there are shards"
        )
    return _parts(name, sizes, [given] if len(sizes) == 1 and len(given) == sizes[0] else given)


def _squared(side: _Side) -> Any:
    """The op that makes a side's gramian FᵀF."""
    return group(assign(side.gramian, add_n([matmul(part, part, transpose_a=True) for part in side.factors])))


def _copies(originals: list[Any], names: list[str] | None) -> tuple[list[Any], Any, Any]:
    """(variables of this worker, an op that fills them, one that empties them); the originals, where these have no names."""
    if names is None:
        return originals, no_op(), no_op()
    copies = [local_variable(1.0, validate_shape=False, name=name) for name in names]
    fill, empty = [], []
    for copy, original in zip(copies, originals, strict=True):
        with colocate_with(copy):
            fill.append(assign(copy, original, validate_shape=False))
            empty.append(assign(copy, 1.0, validate_shape=False))
    return copies, group(*fill), group(*empty)


def _scattered(side: _Side, own: Tensor, values: Any, name: str) -> Any:
    """The op that puts rows into the shards of a side's factors."""
    if len(side.factors) == 1:
        return group(scatter_update(side.factors[0], own, values), name=name)
    starts = np.cumsum([0, *_sizes(side.count, len(side.factors))[:-1]])
    shard: Any = searchsorted(starts, own, side="right") - 1
    count = len(side.factors)
    places = dynamic_partition(own - gather(starts, shard), shard, count)
    parts = dynamic_partition(values, shard, count)
    return group(*map(scatter_update, side.factors, places, parts), name=name)
