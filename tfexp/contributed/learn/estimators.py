"""Estimators with `fit`, `evaluate` and `predict` of arrays or input functions. Source: `tf.contrib.learn`, TF 1.15.

The models are those of `tf.estimator`. An array is the feature "", the name of the columns that
`infer_real_valued_columns_from_input` gives; a dict of arrays has features by their names. Losses are means over a batch, by
the examples' weights. An argument of 1.15's that tfexp does not have is a ValueError, when it is given.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np

from tfexp import estimator
from tfexp.contributed.opt.clipping import clip_gradients_by_global_norm
from tfexp.contributed.opt.wrapper import OptimizerWrapper
from tfexp.core import dtypes
from tfexp.estimator.arguments import call_with_wanted
from tfexp.estimator.canned.dnn import LEARNING_RATE
from tfexp.estimator.canned.features import as_columns
from tfexp.estimator.canned.linear import default_learning_rate
from tfexp.estimator.canned.optimizers import optimizer_of
from tfexp.estimator.inputs import numpy_input_fn
from tfexp.feature_column import numeric_column
from tfexp.ops.losses import Reduction
from tfexp.ops.nn_activation import relu
from tfexp.train.optimizer import Optimizer


def infer_real_valued_columns_from_input(x: Any) -> list[Any]:
    """A column of numbers for each array: [batch, size] of `x`, which is an array or a dict of arrays by names."""
    named = _named(x)
    return [numeric_column(name, np.shape(value)[1:], dtype=_numbers(value, name)) for name, value in sorted(named.items())]


def _named(x: Any) -> dict[str, np.ndarray]:
    return {name: np.asarray(value) for name, value in (x.items() if isinstance(x, Mapping) else [("", x)])}


def _numbers(value: np.ndarray, name: str) -> Any:
    if value.dtype.kind not in "iuf":
        raise ValueError(f"on `{name}`: {value.dtype} is no type of real values; such features need columns of their own")
    return dtypes.as_dtype(value.dtype)


class Trainable:
    """What fits an estimator of `tf.estimator` to arrays (`x`, `y`) or an input function; ValueError for both or neither."""

    _prediction = "predictions"  # what `predict` gives of each example unless it is told

    def __init__(self, made: Any, feature_engineering_fn: Callable[[Any, Any], Any] | None = None):
        self.estimator, self._engineered = made, feature_engineering_fn

    @property
    def model_dir(self) -> str:
        return str(self.estimator.model_dir)

    @property
    def config(self) -> Any:
        return self.estimator.config

    def get_variable_names(self) -> list[str]:
        names: list[str] = self.estimator.get_variable_names()
        return names

    def get_variable_value(self, name: str) -> np.ndarray:
        value: np.ndarray = self.estimator.get_variable_value(name)
        return value

    def fit(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Callable[[], Any] | None = None,
        steps: int | None = None,
        batch_size: int | None = None,
        monitors: Sequence[Any] | None = None,
        max_steps: int | None = None,
    ) -> Trainable:
        """Train for `steps`, or up to `max_steps`; arrays again and again in random order, `batch_size` (128) at a time.

        monitors: session hooks.
        """
        given = self._input(x, y, input_fn, batch_size, num_epochs=None, shuffle=True)
        self.estimator.train(given, hooks=monitors, steps=steps, max_steps=max_steps)
        return self

    partial_fit = fit

    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Callable[[], Any] | None = None,
        feed_fn: None = None,
        batch_size: int | None = None,
        steps: int | None = None,
        metrics: None = None,
        name: str | None = None,
        checkpoint_path: str | None = None,
        hooks: Sequence[Any] | None = None,
        log_progress: bool = True,
    ) -> dict[str, Any]:
        """The metrics, with `loss` and `global_step`; of arrays, over all of them. ValueError for feed_fn and metrics."""
        _refuse(feed_fn=feed_fn, metrics=metrics)
        given = self._input(x, y, input_fn, batch_size, num_epochs=1, shuffle=False)
        found: dict[str, Any] = self.estimator.evaluate(
            given, steps=steps, hooks=hooks, checkpoint_path=checkpoint_path, name=name
        )
        return found

    def predict(
        self,
        x: Any = None,
        input_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        outputs: Sequence[str] | None = None,
        as_iterable: bool = True,
    ) -> Any:
        """For each example a dict of what `outputs` names, or without names its score or class: yielded, or in an array."""
        if outputs is None:
            return self._one_of_each(self._prediction, x, input_fn, batch_size, as_iterable)
        found = self._predicted(x, input_fn, batch_size)
        chosen = ({name: one[name] for name in outputs} for one in found)
        return chosen if as_iterable else _side_by_side(chosen)

    def _input(
        self, x: Any, y: Any, input_fn: Any, batch_size: int | None, num_epochs: int | None, shuffle: bool
    ) -> Callable[[], Any]:
        if (x is None) == (input_fn is None):
            raise ValueError("Give either x (and y) or input_fn: one of them, not both.")
        if input_fn is None:
            labels = None if y is None else np.asarray(y)
            input_fn = numpy_input_fn(
                _named(x), labels, batch_size=batch_size or 128, num_epochs=num_epochs, shuffle=shuffle
            )
        return input_fn if self._engineered is None else functools.partial(_engineer, input_fn, self._engineered)

    def _one_of_each(self, key: str, x: Any, input_fn: Any, batch_size: int | None, as_iterable: bool) -> Any:
        values = (_plain(one[key]) for one in self._predicted(x, input_fn, batch_size))
        return values if as_iterable else np.stack(list(values))

    def _predicted(self, x: Any, input_fn: Any, batch_size: int | None) -> Iterator[dict[str, Any]]:
        given = self._input(x, None, input_fn, batch_size, num_epochs=1, shuffle=False)
        found: Iterator[dict[str, Any]] = self.estimator.predict(given)
        return found


def _engineer(input_fn: Callable[[], Any], feature_engineering_fn: Callable[[Any, Any], Any]) -> Any:
    given = input_fn()
    return feature_engineering_fn(*(given if isinstance(given, tuple) else (given, None)))


def _refuse(**given: Any) -> None:
    """ValueError for what `tf.contrib.learn` takes and tfexp does not have."""
    for name, value in given.items():
        if value:
            raise ValueError(f"tf.contrib.learn: tfexp does not have {name}=")


class _Clipping(OptimizerWrapper):
    """An optimizer of gradients scaled so that their norm, all together, is at most `norm`."""

    def __init__(self, opt: Optimizer, norm: float):
        super().__init__(opt, False, opt.get_name())
        self._norm = norm

    def apply_gradients(self, grads_and_vars: Iterable[Any], *args: Any, **kwargs: Any) -> Any:
        return self._opt.apply_gradients(clip_gradients_by_global_norm(grads_and_vars, self._norm), *args, **kwargs)


def _optimizer(given: Any, clip_norm: float | None, learning_rate: float) -> Callable[[], Optimizer]:
    """Makes the optimizer in the graph of the model."""

    def make() -> Optimizer:
        made = optimizer_of(given, learning_rate)
        return made if clip_norm is None else _Clipping(made, clip_norm)

    return make


def _plain(value: Any) -> Any:
    """The number of an array of one."""
    return value.item() if np.shape(value) == (1,) else value


def _side_by_side(found: Iterable[Mapping[str, Any]]) -> dict[str, np.ndarray]:
    rows = list(found)
    return {name: np.stack([row[name] for row in rows]) for name in rows[0]} if rows else {}


class Classifier(Trainable):
    """Its predictions are classes."""

    _prediction = "class_ids"

    def predict_classes(
        self,
        x: Any = None,
        input_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        as_iterable: bool = True,
    ) -> Any:
        return self._one_of_each("class_ids", x, input_fn, batch_size, as_iterable)

    def predict_proba(
        self,
        x: Any = None,
        input_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        as_iterable: bool = True,
    ) -> Any:
        return self._one_of_each("probabilities", x, input_fn, batch_size, as_iterable)


class Regressor(Trainable):
    """Its predictions are numbers."""

    def predict_scores(
        self,
        x: Any = None,
        input_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        as_iterable: bool = True,
    ) -> Any:
        return self._one_of_each(self._prediction, x, input_fn, batch_size, as_iterable)


class ModeKeys(estimator.ModeKeys):
    """What a model function is called for."""

    INFER = estimator.ModeKeys.PREDICT


class ModelFnOps(estimator.EstimatorSpec):
    """What a model function may give. `output_alternatives`, for exports that tfexp does not have, say nothing."""

    __slots__ = ()

    def __new__(
        cls,
        mode: str,
        predictions: Any = None,
        loss: Any = None,
        train_op: Any = None,
        eval_metric_ops: Mapping[str, Any] | None = None,
        output_alternatives: Any = None,
        training_chief_hooks: Iterable[Any] | None = None,
        training_hooks: Iterable[Any] | None = None,
        scaffold: Any = None,
    ) -> ModelFnOps:
        made = super().__new__(
            cls,
            mode,
            predictions,
            loss,
            train_op,
            eval_metric_ops,
            training_chief_hooks=training_chief_hooks,
            training_hooks=training_hooks,
            scaffold=scaffold,
        )
        return cast(ModelFnOps, made)


class Estimator(Trainable):
    """Of a model function that gives ModelFnOps, an EstimatorSpec, or (predictions, loss, training op).

    Where an array is fitted, the features are one tensor, no dict.
    """

    def __init__(
        self,
        model_fn: Callable[..., Any],
        model_dir: str | None = None,
        config: Any = None,
        params: Any = None,
        feature_engineering_fn: Callable[[Any, Any], Any] | None = None,
    ):
        def model(features: Any, labels: Any, mode: str, params: Any, config: Any) -> Any:
            one = features[""] if isinstance(features, dict) and list(features) == [""] else features
            made = call_with_wanted(model_fn, features=one, labels=labels, mode=mode, params=params, config=config)
            return made if isinstance(made, estimator.EstimatorSpec) else ModelFnOps(mode, *made)

        super().__init__(estimator.Estimator(model, model_dir, config, params), feature_engineering_fn)

    def predict(
        self,
        x: Any = None,
        input_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        outputs: Sequence[str] | None = None,
        as_iterable: bool = True,
    ) -> Any:
        """For each example what the model predicts, of a dict what `outputs` names: yielded, or in arrays."""
        found = self._predicted(x, input_fn, batch_size)
        if outputs is not None:
            found = ({name: one[name] for name in outputs} for one in found)
        if as_iterable:
            return found
        rows: list[Any] = list(found)
        return _side_by_side(rows) if rows and isinstance(rows[0], Mapping) else np.stack(rows)


class DNNClassifier(Classifier):
    """Dense layers under a softmax (of two classes: a sigmoid). optimizer: Adagrad by default."""

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: Any,
        model_dir: str | None = None,
        n_classes: int = 2,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        activation_fn: Callable[[Any], Any] = relu,
        dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        config: Any = None,
        feature_engineering_fn: Callable[[Any, Any], Any] | None = None,
        embedding_lr_multipliers: None = None,
        input_layer_min_slice_size: int | None = None,
        label_keys: Sequence[str] | None = None,
    ):
        _refuse(enable_centered_bias=enable_centered_bias, embedding_lr_multipliers=embedding_lr_multipliers)
        super().__init__(
            estimator.DNNClassifier(
                hidden_units,
                feature_columns,
                model_dir,
                n_classes,
                weight_column_name,
                label_keys,
                _optimizer(optimizer or "Adagrad", gradient_clip_norm, LEARNING_RATE),
                activation_fn,
                dropout,
                config=config,
                loss_reduction=Reduction.MEAN,
            ),
            feature_engineering_fn,
        )


class DNNRegressor(Regressor):
    """Dense layers, trained on the mean squared error. optimizer: Adagrad by default."""

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: Any,
        model_dir: str | None = None,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        activation_fn: Callable[[Any], Any] = relu,
        dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        config: Any = None,
        feature_engineering_fn: Callable[[Any, Any], Any] | None = None,
        label_dimension: int = 1,
        embedding_lr_multipliers: None = None,
        input_layer_min_slice_size: int | None = None,
    ):
        _refuse(enable_centered_bias=enable_centered_bias, embedding_lr_multipliers=embedding_lr_multipliers)
        super().__init__(
            estimator.DNNRegressor(
                hidden_units,
                feature_columns,
                model_dir,
                label_dimension,
                weight_column_name,
                _optimizer(optimizer or "Adagrad", gradient_clip_norm, LEARNING_RATE),
                activation_fn,
                dropout,
                config=config,
                loss_reduction=Reduction.MEAN,
            ),
            feature_engineering_fn,
        )


class LinearClassifier(Classifier):
    """A softmax (of two classes: a sigmoid) of weighted features. optimizer: Ftrl by default."""

    def __init__(
        self,
        feature_columns: Any,
        model_dir: str | None = None,
        n_classes: int = 2,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        _joint_weight: bool = False,
        config: Any = None,
        feature_engineering_fn: Callable[[Any, Any], Any] | None = None,
        label_keys: Sequence[str] | None = None,
    ):
        _refuse(enable_centered_bias=enable_centered_bias, _joint_weight=_joint_weight)
        super().__init__(
            estimator.LinearClassifier(
                feature_columns,
                model_dir,
                n_classes,
                weight_column_name,
                label_keys,
                _optimizer(optimizer or "Ftrl", gradient_clip_norm, default_learning_rate(as_columns(feature_columns), 0.2)),
                config,
                loss_reduction=Reduction.MEAN,
            ),
            feature_engineering_fn,
        )


class LinearRegressor(Regressor):
    """A weighted sum of features, trained on the mean squared error. optimizer: Ftrl by default."""

    def __init__(
        self,
        feature_columns: Any,
        model_dir: str | None = None,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        label_dimension: int = 1,
        _joint_weights: bool = False,
        config: Any = None,
        feature_engineering_fn: Callable[[Any, Any], Any] | None = None,
    ):
        _refuse(enable_centered_bias=enable_centered_bias, _joint_weights=_joint_weights)
        super().__init__(
            estimator.LinearRegressor(
                feature_columns,
                model_dir,
                label_dimension,
                weight_column_name,
                _optimizer(optimizer or "Ftrl", gradient_clip_norm, default_learning_rate(as_columns(feature_columns), 0.2)),
                config,
                loss_reduction=Reduction.MEAN,
            ),
            feature_engineering_fn,
        )


class SKCompat:
    """A trainable estimator in the manner of scikit-learn: arrays only, and predictions at once, by their names."""

    def __init__(self, estimator: Trainable):
        self._trainable = estimator

    def fit(
        self,
        x: Any,
        y: Any,
        batch_size: int = 128,
        steps: int | None = None,
        max_steps: int | None = None,
        monitors: Sequence[Any] | None = None,
    ) -> SKCompat:
        self._trainable.fit(x, y, steps=steps, batch_size=batch_size, monitors=monitors, max_steps=max_steps)
        return self

    def score(self, x: Any, y: Any, batch_size: int = 128, steps: int | None = None) -> dict[str, Any]:
        """The metrics; TypeError where there is no input to score."""
        return self._trainable.evaluate(x, y, batch_size=batch_size, steps=steps)

    def predict(self, x: Any, batch_size: int = 128, outputs: Sequence[str] | None = None) -> dict[str, np.ndarray]:
        """What the model predicts, by names: `classes` are numbers."""
        found = _side_by_side(self._trainable._predicted(x, None, batch_size))
        if "class_ids" in found:
            found["classes"] = found.pop("class_ids").reshape(-1)
        return found if outputs is None else {name: found[name] for name in outputs}
