"""`tf.estimator.EstimatorSpec`: what a model function gives back, checked. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from tfexp.core import nest
from tfexp.estimator.export_outputs import ExportOutput, PredictOutput, with_default
from tfexp.estimator.modes import ModeKeys
from tfexp.graph.collections import GraphKeys
from tfexp.graph.dependencies import group
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import get_default_graph
from tfexp.graph.sparse_tensor import SparseTensor
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import reshape
from tfexp.ops.variable_base import Variable
from tfexp.train.saved_model_names import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from tfexp.train.scaffold import Scaffold
from tfexp.train.session_hooks import SessionRunHook


class _Fields(NamedTuple):
    mode: str
    predictions: Any
    loss: Any
    train_op: Any
    eval_metric_ops: Mapping[str, tuple[Any, Any]]
    export_outputs: Mapping[str, ExportOutput] | None
    training_chief_hooks: tuple[SessionRunHook, ...]
    training_hooks: tuple[SessionRunHook, ...]
    scaffold: Scaffold
    evaluation_hooks: tuple[SessionRunHook, ...]
    prediction_hooks: tuple[SessionRunHook, ...]


class EstimatorSpec(_Fields):
    """The operations and hooks with which an Estimator trains, evaluates or predicts.

    `loss` (a scalar) is required for training and evaluation, `train_op` for training, `predictions` (a tensor or a dict of
    them) for prediction; `eval_metric_ops` has pairs (value, update) as `tf.metrics` gives them, and objects of
    `tf.keras.metrics` that have taken a batch. Without `export_outputs` the predictions are what is served. Everything must
    be of the default graph: ValueError. TypeError for what is of another type.
    """

    __slots__ = ()

    def __new__(  # the fields are checked before there is an instance
        cls,
        mode: str,
        predictions: Any = None,
        loss: Any = None,
        train_op: Any = None,
        eval_metric_ops: Mapping[str, tuple[Any, Any]] | None = None,
        export_outputs: Mapping[str, ExportOutput] | None = None,
        training_chief_hooks: Iterable[SessionRunHook] | None = None,
        training_hooks: Iterable[SessionRunHook] | None = None,
        scaffold: Scaffold | None = None,
        evaluation_hooks: Iterable[SessionRunHook] | None = None,
        prediction_hooks: Iterable[SessionRunHook] | None = None,
    ) -> EstimatorSpec:
        train_op = _checked_train_op(train_op, mode)
        loss = _checked_loss(loss, mode)
        predictions = _checked_predictions(predictions, mode)
        scaffold = Scaffold() if scaffold is None else scaffold
        if not isinstance(scaffold, Scaffold):
            raise TypeError(f"scaffold must be tf.train.Scaffold. Given: {scaffold}")
        return super().__new__(
            cls,
            mode,
            predictions,
            loss,
            train_op,
            _checked_metrics(eval_metric_ops),
            _checked_export_outputs(export_outputs, predictions, mode),
            checked_hooks(training_chief_hooks),
            checked_hooks(training_hooks),
            scaffold,
            checked_hooks(evaluation_hooks),
            checked_hooks(prediction_hooks),
        )

    def _replace(self, **kwargs: Any) -> EstimatorSpec:
        """The same with other fields, which are checked as those of a new one. ValueError for another mode."""
        if kwargs.get("mode", self.mode) != self.mode:
            raise ValueError("mode of EstimatorSpec cannot be changed.")
        return EstimatorSpec(**{**self._asdict(), **kwargs})


def _checked_train_op(train_op: Any, mode: str) -> Any:
    if train_op is None:
        if mode == ModeKeys.TRAIN:
            raise ValueError(
                "Missing train_op: EstimatorSpec needs one for training, such as optimizer.minimize(...) gives."
            )
        return None
    _check_kind(train_op, Tensor | Operation | Variable, "train_op must be Operation or Tensor")
    _check_graph(train_op, "train_op")
    return train_op


def _checked_loss(loss: Any, mode: str) -> Any:
    if loss is None:
        if mode in (ModeKeys.TRAIN, ModeKeys.EVAL):
            raise ValueError(f"Missing loss: EstimatorSpec needs one in mode {mode!r}.")
        return None
    _check_kind(loss, Tensor | Variable, "loss must be Tensor")
    _check_graph(loss, "loss")
    if loss.shape.num_elements() not in (None, 1):
        raise ValueError(f"Loss must be scalar, given: {loss}")
    return loss if loss.shape.ndims == 0 else reshape(loss, [])


def _checked_predictions(predictions: Any, mode: str) -> Any:
    if predictions is None:
        if mode == ModeKeys.PREDICT:
            raise ValueError("Missing predictions: EstimatorSpec needs them for prediction.")
        return {}
    named = predictions.items() if isinstance(predictions, Mapping) else [(None, predictions)]
    for name, value in named:
        said = f"predictions{'' if name is None else f'[{name}]'} must be Tensor"
        _check_kind(value, Tensor | SparseTensor | Variable, said)
        _check_graph(value, "prediction values")
    return predictions


def _checked_metrics(metrics: Any) -> dict[str, tuple[Any, Any]]:
    _check_kind(metrics, Mapping | None, "eval_metric_ops must be a dict")
    pairs = {key: _pair_of(one, key) if hasattr(one, "update_state") else one for key, one in (metrics or {}).items()}
    for key, pair in pairs.items():
        parts = [*nest.flatten(pair[0]), pair[1]] if isinstance(pair, tuple) and len(pair) == 2 else [None]
        if not all(isinstance(part, Tensor | Operation | Variable) for part in parts):
            raise TypeError(
                f"Values of eval_metric_ops must be (metric_value, update_op) tuples, given: {pair} for key: {key}"
            )
        for part in parts:
            _check_graph(part, "eval_metric_ops")
    return pairs


def _pair_of(metric: Any, name: str) -> tuple[Any, Any]:
    """(value, update) of one of `tf.keras.metrics`, whose variables are initialised with those of other metrics."""
    if not metric.updates:
        raise ValueError(f'Please call update_state(...) on the "{name}" metric')
    for collection in (GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES):
        kept = get_default_graph().get_collection_ref(collection)
        kept += [variable for variable in metric.variables if not any(variable is other for other in kept)]
    return metric.result(), group(*metric.updates)


def _checked_export_outputs(outputs: Any, predictions: Any, mode: str) -> Mapping[str, ExportOutput] | None:
    if mode != ModeKeys.PREDICT:
        return outputs  # whatever they are: only predictions are served
    if outputs is None:
        outputs = {DEFAULT_SERVING_SIGNATURE_DEF_KEY: PredictOutput(predictions)}
    if not isinstance(outputs, Mapping):
        raise TypeError(f"export_outputs must be dict, given: {outputs}")
    if not all(isinstance(output, ExportOutput) for output in outputs.values()):
        raise TypeError(f"Values in export_outputs must be ExportOutput objects. Given: {outputs}")
    return with_default(outputs)


def checked_hooks(hooks: Iterable[SessionRunHook] | None) -> tuple[SessionRunHook, ...]:
    """The hooks as a tuple. TypeError for one that is none."""
    hooks = tuple(hooks or ())
    for hook in hooks:
        _check_kind(hook, SessionRunHook, "All hooks must be SessionRunHook instances")
    return hooks


def _check_kind(given: Any, kind: Any, requirement: str) -> None:
    if not isinstance(given, kind):
        raise TypeError(f"{requirement}, given: {given}")


def _check_graph(element: Any, what: str) -> None:
    if element.graph is not get_default_graph():
        raise ValueError(
            f'{what} with "{element.name}" must be from the default graph: it was made outside of the call of the model '
            "function that gives this EstimatorSpec."
        )
