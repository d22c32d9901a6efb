"""`tf.contrib.factorization.WALSMatrixFactorization`: an estimator of factors of sparse matrices. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfexp.contributed.learn.estimators import Estimator
from tfexp.contributed.learn.model_fn_ops import ModeKeys, ModelFnOps
from tfexp.contributed.least_squares_factors import WALSModel
from tfexp.contributed.variables import global_variable
from tfexp.core import dtypes
from tfexp.graph.control_flow import cond
from tfexp.graph.dependencies import group
from tfexp.graph.scopes import control_dependencies
from tfexp.ops.array_fill import ones_like
from tfexp.ops.cast import cast
from tfexp.ops.elementwise_unary import sqrt
from tfexp.ops.logical import logical_not
from tfexp.ops.reduce import reduce_all
from tfexp.ops.scatter import scatter_update
from tfexp.ops.state import assign, assign_add
from tfexp.ops.summary import scalar
from tfexp.train.global_step import get_global_step
from tfexp.train.session_hooks import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues


class WALSMatrixFactorization(Estimator):
    """A `WALSModel` that is trained by sweeps: over all rows, then over all columns, as often as `max_sweeps` and steps say.

    Input functions give ({INPUT_ROWS: some rows of the matrix, a SparseTensor, INPUT_COLS: some columns, as rows of one},
    None); a sweep ends once each row, or column, has been given. To evaluate, and for `get_projections`, features have
    PROJECT_ROW, a boolean: whether the rows are meant; for these also PROJECTION_WEIGHTS, if they are to have others than 1.
    ValueError for a cluster of several workers.
    """

    INPUT_ROWS = "input_rows"
    INPUT_COLS = "input_cols"
    PROJECT_ROW = "project_row"
    PROJECTION_WEIGHTS = "projection_weights"
    PROJECTION_RESULT = "projection"
    COMPLETED_SWEEPS = "completed_sweeps"
    LOSS = "WALS_loss"
    RWSE = "WALS_RWSE"

    def __init__(
        self,
        num_rows: int,
        num_cols: int,
        embedding_dimension: int,
        unobserved_weight: Any = 0.1,
        regularization_coeff: Any = None,
        row_init: Any = "random",
        col_init: Any = "random",
        num_row_shards: int = 1,
        num_col_shards: int = 1,
        row_weights: Any = 1,
        col_weights: Any = 1,
        use_factors_weights_cache_for_training: bool = True,
        use_gramian_cache_for_training: bool = True,
        max_sweeps: int | None = None,
        model_dir: str | None = None,
        config: Any = None,
    ):
        if config is not None and config.num_worker_replicas > 1:
            raise ValueError("WALSMatrixFactorization must be run on a single worker replica.")
        self._shards = num_row_shards, num_col_shards

        def model(features: Any, labels: Any, mode: str) -> ModelFnOps:
            if labels is not None:
                raise ValueError("tf.contrib.factorization.WALSMatrixFactorization: a matrix is given without labels")
            trains = mode == ModeKeys.TRAIN
            made = WALSModel(
                num_rows,
                num_cols,
                embedding_dimension,
                unobserved_weight,
                regularization_coeff,
                row_init,
                col_init,
                num_row_shards,
                num_col_shards,
                row_weights,
                col_weights,
                trains and use_factors_weights_cache_for_training,
                trains and use_gramian_cache_for_training,
            )
            rows, cols = features[self.INPUT_ROWS], features[self.INPUT_COLS]
            if trains:
                return self._trained(made, rows, cols, num_rows, num_cols, max_sweeps)
            is_row = features[self.PROJECT_ROW]
            if mode == ModeKeys.INFER:
                weights = features.get(self.PROJECTION_WEIGHTS)
                projected = cond(
                    is_row,
                    lambda: made.project_row_factors(rows, projection_weights=weights),
                    lambda: made.project_col_factors(cols, True, projection_weights=weights),
                )
                return ModelFnOps(mode, {self.PROJECTION_RESULT: projected})
            loss = cond(
                is_row,
                lambda: _loss(made.update_row_factors(rows)),
                lambda: _loss(made.update_col_factors(cols, True)),
            )
            return ModelFnOps(mode, {}, loss)

        super().__init__(model, model_dir, config)

    def _trained(
        self, made: WALSModel, rows: Any, cols: Any, num_rows: int, num_cols: int, max_sweeps: int | None
    ) -> ModelFnOps:
        is_row = global_variable(True, name="is_row_sweep")
        is_done = global_variable(False, name="is_sweep_done")
        sweeps = global_variable(0, name=self.COMPLETED_SWEEPS)
        loss = global_variable(0.0, name=self.LOSS)
        error = global_variable(0.0, name=self.RWSE)
        scalar("loss", loss)
        scalar("root_weighted_squared_error", error)
        scalar("completed_sweeps", sweeps)

        def step(updated: tuple[Any, ...], given: Any, count: int, name: str) -> tuple[Any, Any]:
            """(the op that begins a sweep, one that updates what is given and counts it as seen)."""
            seen = global_variable(np.zeros(count, bool), name=f"processed_{name}")
            _, update, squares, _, weights = updated
            with control_dependencies([update, assign(loss, _loss(updated)), assign(error, sqrt(squares / weights))]):
                items = given.indices[:, 0]
                marked = scatter_update(seen, items, ones_like(items, dtypes.bool))
            all_seen = reduce_all(marked)
            train = group(assign(is_done, all_seen), assign_add(sweeps, cast(all_seen, dtypes.int32)))
            return assign(seen, np.zeros(count, bool)), train

        row_reset, row_train = step(made.update_row_factors(rows), rows, num_rows, "rows")
        col_reset, col_train = step(made.update_col_factors(cols, True), cols, num_cols, "cols")
        hooks: list[SessionRunHook] = [
            _SweepHook(
                is_row,
                is_done,
                made.worker_init,
                group(assign(is_row, logical_not(is_row)), row_reset, col_reset),
                _Sweep([made.row_update_prep_gramian_op, made.initialize_row_update_op], row_train),
                _Sweep([made.col_update_prep_gramian_op, made.initialize_col_update_op], col_train),
            )
        ]
        if max_sweeps is not None:
            hooks.append(_StopAtSweepHook(sweeps, max_sweeps))
        counted = assign_add(get_global_step(), 1)
        return ModelFnOps(ModeKeys.TRAIN, {}, loss.value(), counted, training_hooks=hooks)

    def get_row_factors(self) -> list[np.ndarray]:
        """The factors of rows of the newest checkpoint, an array for each shard."""
        return [self.get_variable_value(f"row_factors_shard_{i}") for i in range(self._shards[0])]

    def get_col_factors(self) -> list[np.ndarray]:
        """The factors of columns."""
        return [self.get_variable_value(f"col_factors_shard_{i}") for i in range(self._shards[1])]

    def get_projections(self, input_fn: Callable[[], Any]) -> Iterator[np.ndarray]:
        """The factors of each row, or column, that the input gives."""
        return (found[self.PROJECTION_RESULT] for found in self.predict(input_fn=input_fn))


def _loss(updated: tuple[Any, ...]) -> Any:
    _, _, loss, regularization, _ = updated
    return loss + regularization


@dataclass(frozen=True)
class _Sweep:
    begin: list[Any]  # one after the other
    train: Any


class _SweepHook(SessionRunHook):
    """Has each step update rows, or columns, and turns to the others once all are done."""

    def __init__(self, is_row: Any, is_done: Any, start: Any, switch: Any, rows: _Sweep, cols: _Sweep):
        self._is_row, self._is_done, self._start, self._switch = is_row, is_done, start, switch
        self._rows, self._cols = rows, cols
        self._started = False

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        session = run_context.session
        is_done = session.run(self._is_done)
        if not self._started:
            session.run(self._start)
        if is_done:
            session.run(self._switch)
        sweep = self._rows if session.run(self._is_row) else self._cols
        if is_done or not self._started:
            for op in sweep.begin:
                session.run(op)
        self._started = True
        return SessionRunArgs(sweep.train)


class _StopAtSweepHook(SessionRunHook):
    """Ends the training after so many sweeps."""

    def __init__(self, sweeps: Any, last: int):
        self._sweeps, self._last = sweeps, last

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._sweeps)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if run_values.results >= self._last:
            run_context.request_stop()
