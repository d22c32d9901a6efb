"""Estimators of sequences. Source: `tf.contrib.learn.DynamicRnnEstimator`, TF 1.15."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from tfexp.contributed.feature_tensors import input_from_feature_columns, sequence_input_from_feature_columns
from tfexp.contributed.layers import fully_connected
from tfexp.contributed.learn.constants import PredictionKey, ProblemType
from tfexp.contributed.learn.estimators import Estimator
from tfexp.contributed.learn.heads.losses import LossFunction, logistic_loss, mean_squared_loss, softmax_loss
from tfexp.contributed.learn.model_fn_ops import ModeKeys, ModelFnOps
from tfexp.contributed.learn.recurrent_parts import (
    PredictionType,
    RNNKeys,
    construct_rnn_cell,
    mask_activations_and_labels,
    select_last_activations,
)
from tfexp.contributed.metrics import streaming_accuracy
from tfexp.contributed.optimize_loss import OPTIMIZER_SUMMARIES, optimize_loss
from tfexp.core import dtypes, nest
from tfexp.feature_column.sequence_model import concatenate_context_input
from tfexp.graph.scopes import control_dependencies, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.layers.rnn_dynamic import dynamic_rnn
from tfexp.ops.argmax import argmax
from tfexp.ops.array import shape, squeeze
from tfexp.ops.array_fill import zeros_like
from tfexp.ops.array_identity import identity
from tfexp.ops.array_join import concat
from tfexp.ops.check_compare import assert_equal, assert_rank
from tfexp.ops.nn_softmax import softmax
from tfexp.train.momentum import MomentumOptimizer


class _Problem(NamedTuple):
    """num_classes: None for numbers."""

    num_classes: int | None
    with_probabilities: bool

    @property
    def type(self) -> int:
        return ProblemType.LINEAR_REGRESSION if self.num_classes is None else ProblemType.CLASSIFICATION

    @property
    def width(self) -> int:
        """How many logits there are."""
        return 1 if self.num_classes in (None, 2) else self.num_classes  # type: ignore[return-value]

    @property
    def loss(self) -> LossFunction:
        if self.num_classes is None:
            return mean_squared_loss
        return logistic_loss if self.num_classes == 2 else softmax_loss

    def predictions(self, logits: Tensor) -> dict[str, Tensor]:
        """Of [..., width] logits."""
        if self.num_classes is None:
            return {PredictionKey.SCORES: squeeze(logits, axis=[-1])}
        full = concat([zeros_like(logits), logits], -1) if self.width == 1 else logits
        found = {PredictionKey.CLASSES: argmax(full, -1)}
        return {**found, PredictionKey.PROBABILITIES: softmax(full)} if self.with_probabilities else found


def _state_name(number: int) -> str:
    return f"{RNNKeys.STATE_PREFIX}_{number}"


def state_tuple_to_dict(state: Any) -> dict[str, Any]:
    """The parts of a state, in order, by the names `rnn_cell_state_0`, …"""
    with name_scope("state_tuple_to_dict"):
        return {
            _state_name(number): None if part is None else identity(part, name=_state_name(number))
            for number, part in enumerate(nest.flatten(state))
        }


def dict_to_state_tuple(input_dict: Mapping[str, Any], cell: Any) -> Any:
    """The state of a cell from its parts, [batch, size] each, which `state_tuple_to_dict` names; None where there are none.

    ValueError where some are missing.
    """
    sizes = nest.flatten(cell.state_size)
    given = {number: input_dict[_state_name(number)] for number in range(len(sizes)) if _state_name(number) in input_dict}
    if not given:
        return None
    if len(given) != len(sizes):
        raise ValueError(f"RNN state was partially specified. Expected zero or {len(sizes)} state Tensors; got {len(given)}")
    with name_scope("dict_to_state_tuple"):
        parts = [_checked_state(number, given[number], size) for number, size in enumerate(sizes)]
    return nest.pack_sequence_as(cell.state_size, parts)


def _checked_state(number: int, part: Any, size: int) -> Tensor:
    checks = [assert_rank(part, 2, name=f"check_state_{number}_rank")]
    checks.append(assert_equal(shape(part)[1], size, name=f"check_state_{number}_shape"))  # type: ignore[index]
    with control_dependencies(checks):
        made: Tensor = identity(part, name=_state_name(number))
    return made


class DynamicRnnEstimator(Estimator):
    """A recurrent model of sequences, with one prediction at the end of each (SINGLE_VALUE) or one at each step.

    problem_type: classes (CLASSIFICATION, with `num_classes`) or numbers (LINEAR_REGRESSION). sequence_feature_columns: of
    features [batch, time] or [batch, time, size]; context_feature_columns: of examples, for every step. num_units, cell_type
    and, in training, dropout_keep_probabilities: as of `construct_rnn_cell`. optimizer, learning_rate,
    gradient_clipping_norm: as of `tf.contrib.layers.optimize_loss`; `momentum` is that of `Momentum`.

    The feature `sequence_length`, [batch], says how many steps count; features `rnn_cell_state_0`, … are where the cells
    begin. Predictions are `scores`, or `classes` and, if predict_probabilities, `probabilities`, and the cells' states after
    all steps. ValueError for other types of problems and predictions, and for classes without their number.
    """

    def __init__(
        self,
        problem_type: int,
        prediction_type: int,
        sequence_feature_columns: Sequence[Any],
        context_feature_columns: Sequence[Any] | None = None,
        num_classes: int | None = None,
        num_units: Any = None,
        cell_type: Any = "basic_rnn",
        optimizer: Any = "SGD",
        learning_rate: Any = 0.1,
        predict_probabilities: bool = False,
        momentum: float | None = None,
        gradient_clipping_norm: float | None = 5.0,
        dropout_keep_probabilities: Sequence[float] | None = None,
        model_dir: str | None = None,
        feature_engineering_fn: Callable[[Any, Any], Any] | None = None,
        config: Any = None,
    ):
        problem = _problem(problem_type, num_classes, predict_probabilities)
        if prediction_type not in (PredictionType.SINGLE_VALUE, PredictionType.MULTIPLE_VALUE):
            raise ValueError(
                "prediction_type must be one of PredictionType.MULTIPLE_VALUE or PredictionType.SINGLE_VALUE; got "
                f"{prediction_type}"
            )
        of_steps = prediction_type == PredictionType.MULTIPLE_VALUE
        minimized = functools.partial(
            optimize_loss,
            global_step=None,
            learning_rate=learning_rate,
            clip_gradients=gradient_clipping_norm,
            summaries=OPTIMIZER_SUMMARIES,
        )

        def model_fn(features: Mapping[str, Any], labels: Any, mode: str) -> ModelFnOps:
            is_training = mode == ModeKeys.TRAIN
            with name_scope(_scope_name(problem, of_steps)):
                inputs = _inputs(features, sequence_feature_columns, context_feature_columns)
                cell = construct_rnn_cell(num_units, cell_type, dropout_keep_probabilities if is_training else None)
                logits, state = _logits(inputs, dict_to_state_tuple(features, cell), cell, problem.width)
                lengths = features.get(RNNKeys.SEQUENCE_LENGTH_KEY)
                if not of_steps:
                    logits = select_last_activations(logits, lengths)
                found = problem.predictions(logits)
                served = None if of_steps else {"dynamic_rnn_output": (problem.type, found)}
                predictions = {**found, **state_tuple_to_dict(state)}
                if mode == ModeKeys.INFER:
                    return ModelFnOps(mode, predictions, output_alternatives=served)
                masked = functools.partial(mask_activations_and_labels, labels=labels, sequence_lengths=lengths)
                known, truth = masked(logits) if of_steps else (logits, labels)
                loss, _ = problem.loss(truth, known, None)
                measured = None
                if problem.num_classes is not None:
                    classes = found[PredictionKey.CLASSES]
                    counted, truth = masked(classes) if of_steps else (classes, labels)
                    measured = {"accuracy": streaming_accuracy(counted, truth)}
                given = MomentumOptimizer(learning_rate, momentum) if optimizer == "Momentum" else optimizer
                train_op = minimized(loss, optimizer=given) if is_training else None
            return ModelFnOps(mode, predictions, loss, train_op, measured, served)

        super().__init__(model_fn, model_dir, config, feature_engineering_fn=feature_engineering_fn)


def _problem(problem_type: int, num_classes: int | None, with_probabilities: bool) -> _Problem:
    if problem_type == ProblemType.CLASSIFICATION:
        if not num_classes:
            raise ValueError("For CLASSIFICATION problem_type, num_classes must be specified.")
        if num_classes < 2:
            raise ValueError("n_classes must be > 1 for classification.")
        return _Problem(num_classes, with_probabilities)
    if problem_type != ProblemType.LINEAR_REGRESSION:
        raise ValueError(
            f"problem_type must be either ProblemType.LINEAR_REGRESSION or ProblemType.CLASSIFICATION; got {problem_type}"
        )
    if with_probabilities:
        raise ValueError(
            f"predict_probabilities can only be set to True for problem_type ProblemType.CLASSIFICATION; got {problem_type}."
        )
    return _Problem(None, False)


def _scope_name(problem: _Problem, of_steps: bool) -> str:
    kind = "Regressor" if problem.num_classes is None else "Classifier"
    return f"{'Multi' if of_steps else 'Single'}ValueDynamicRNN{kind}"


def _inputs(features: Mapping[str, Any], columns: Sequence[Any], context_columns: Sequence[Any] | None) -> Tensor:
    """[batch, time, width]: what the cell is given."""
    steps = sequence_input_from_feature_columns(features, columns)
    if context_columns is None:
        return steps
    return concatenate_context_input(input_from_feature_columns(features, context_columns), steps)


def _logits(inputs: Tensor, initial_state: Any, cell: Any, width: int) -> tuple[Tensor, Any]:
    """([batch, time, width], the state after all steps)."""
    with name_scope("RNN"):
        outputs, state = dynamic_rnn(cell, inputs, initial_state=initial_state, dtype=dtypes.float32, swap_memory=True)
        return fully_connected(outputs, width, activation_fn=None), state
