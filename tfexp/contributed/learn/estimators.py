"""Estimators with `fit`, `evaluate` and `predict` of arrays or input functions. Source: `tf.contrib.learn`, TF 1.15.

The models are those of `tf.estimator`. An array is the feature "", the name of the columns that
`infer_real_valued_columns_from_input` gives; a dict of arrays has features by their names. Losses are means over a batch, by
the examples' weights. An argument of 1.15's that tfexp does not have is a ValueError, when it is given.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tfexp import estimator
from tfexp.contributed.feature_columns import infer_real_valued_columns
from tfexp.contributed.learn import bundling
from tfexp.contributed.learn.metric_spec import MetricSpec
from tfexp.contributed.learn.model_fn_ops import ModelFnOps
from tfexp.contributed.learn.monitors import replace_monitors_with_hooks
from tfexp.core import dtypes
from tfexp.estimator.arguments import call_with_wanted
from tfexp.estimator.inputs import numpy_input_fn
from tfexp.estimator.predicting import OneBatchWithoutEnd
from tfexp.feature_column import numeric_column
from tfexp.formats.checkpoint_state import latest_checkpoint
from tfexp.graph.graph import Graph
from tfexp.graph.sparse_tensor import SparseTensor
from tfexp.graph.tensor import Tensor


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


def infer_real_valued_columns_from_input_fn(input_fn: Callable[[], Any]) -> list[Any]:
    """A column of numbers for each of the features that an input function gives: a tensor [batch, size], or a dict of them.

    ValueError for features that are no numbers.
    """
    with Graph().as_default():
        given = input_fn()
        features = given[0] if isinstance(given, tuple) else given
        named = features if isinstance(features, Mapping) else {"": features}
        return infer_real_valued_columns(dict(sorted(named.items())))


class NotFittedError(ValueError, AttributeError):
    """There is no checkpoint to evaluate or to predict from."""


class Trainable:
    """What fits an estimator of `tf.estimator` to arrays (`x`, `y`) or an input function; ValueError for both or neither."""

    _prediction = "predictions"  # what `predict` gives of each example unless it is told

    def __init__(self, made: Any, feature_engineering_fn: Callable[[Any, Any], Any] | None = None):
        self.estimator, self._engineered = made, feature_engineering_fn
        self._parsed_as_fitted: bundling.AsFitted | None = None

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

        monitors: of `tf.contrib.learn.monitors`, or session hooks.
        """
        given = self._input(x, y, input_fn, batch_size, is_fitted=True)
        hooks = replace_monitors_with_hooks(monitors, self)
        self.estimator.train(given, hooks=hooks, steps=steps, max_steps=max_steps)
        return self

    def partial_fit(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Callable[[], Any] | None = None,
        steps: int | None = 1,
        batch_size: int | None = None,
        monitors: Sequence[Any] | None = None,
    ) -> Trainable:
        """The same for some of the data, by default one step."""
        return self.fit(x, y, input_fn, steps, batch_size, monitors)

    def export_savedmodel(
        self,
        export_dir_base: str,
        serving_input_fn: Callable[[], Any],
        default_output_alternative_key: str | None = None,
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
        strip_default_attrs: bool = False,
    ) -> bytes:
        """The new SavedModel's folder; serving_input_fn: gives InputFnOps, or a ServingInputReceiver.

        default_output_alternative_key: of a model function's output alternatives the one that is served by default.
        ValueError where it is none of them, where there are several and it is not given, and for other models.
        """

        def receiver() -> Any:
            given = serving_input_fn()
            if isinstance(given, estimator.export.ServingInputReceiver):
                return given
            features, _, fed = given
            return estimator.export.ServingInputReceiver(self._as_fed(features), fed)

        path: bytes = self._exported(default_output_alternative_key).export_savedmodel(
            export_dir_base, receiver, assets_extra, as_text, checkpoint_path, strip_default_attrs
        )
        return path

    def export(
        self,
        export_dir: str,
        input_fn: Callable[..., Any] | None = None,
        input_feature_key: str | None = None,
        use_deprecated_input_fn: bool = True,
        signature_fn: bundling.SignatureFn | None = None,
        prediction_key: str | None = None,
        default_batch_size: int | None = 1,
        exports_to_keep: int | None = None,
        checkpoint_path: str | None = None,
    ) -> bytes:
        """Write a session bundle, which came before SavedModel; its folder, `export_dir/<step>`.

        input_fn: gives features of (estimator, serialized Examples), strings [default_batch_size]; by default such as have
        been fitted. Without use_deprecated_input_fn it gives (features, labels), and `input_feature_key` is the feature with
        the Examples. prediction_key: of the predictions the one for `signature_fn`, all of them by default, as in a generic
        signature. exports_to_keep: the newest stay (None: all). RuntimeError where the step has been exported; ValueError
        where nothing says what the features are.
        """
        return bundling.write_bundle(
            self,
            export_dir,
            signature_fn,
            input_fn,
            default_batch_size,
            exports_to_keep,
            input_feature_key,
            use_deprecated_input_fn,
            prediction_key,
            checkpoint_path,
        )

    def _parsed(self, examples: Tensor) -> Any:
        """Features of serialized Examples."""
        if self._parsed_as_fitted is None:
            raise ValueError("Features information missing, was fit() ever called?")
        return self._parsed_as_fitted(examples)

    def _predictions(self, features: Any) -> Any:
        """What the model predicts, in the default graph."""
        spec = self.estimator.model_fn(self._as_fed(features), None, estimator.ModeKeys.PREDICT, self.config)
        return spec.predictions

    def _as_fed(self, features: Any) -> Any:
        """Features as the model has them."""
        return features if self._engineered is None else self._engineered(features, None)[0]

    def _exported(self, default_output_alternative_key: str | None) -> Any:
        """The estimator that is exported."""
        refuse(default_output_alternative_key=default_output_alternative_key)
        return self.estimator

    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Callable[[], Any] | None = None,
        feed_fn: None = None,
        batch_size: int | None = None,
        steps: int | None = None,
        metrics: Mapping[str, MetricSpec] | None = None,
        name: str | None = None,
        checkpoint_path: str | None = None,
        hooks: Sequence[Any] | None = None,
        log_progress: bool = True,
    ) -> dict[str, Any]:
        """The metrics, with `loss` and `global_step`, and those of `metrics`; of arrays, over all of them.

        ValueError for feed_fn; NotFittedError where there is no checkpoint.
        """
        refuse(feed_fn=feed_fn)
        if checkpoint_path is None:
            self._check_fitted()
        given = self._input(x, y, input_fn, batch_size, is_fitted=False)
        measured = self.estimator
        if metrics:
            measured = estimator.add_metrics(measured, functools.partial(self._measures, metrics=metrics))
        found: dict[str, Any] = measured.evaluate(
            given, steps=steps, hooks=hooks, checkpoint_path=checkpoint_path, name=name
        )
        return found

    def _measures(self, features: Any, labels: Any, predictions: Any, *, metrics: Mapping[str, MetricSpec]) -> Any:
        return {name: spec.create_metric_ops(features, labels, predictions) for name, spec in metrics.items()}

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

    def _input(self, x: Any, y: Any, input_fn: Any, batch_size: int | None, is_fitted: bool) -> Callable[[], Any]:
        if (x is None) == (input_fn is None):
            raise ValueError("Give either x (and y) or input_fn: one of them, not both.")
        if input_fn is None:
            labels = None if y is None else np.asarray(y)
            epochs = None if is_fitted else 1
            input_fn = numpy_input_fn(_named(x), labels, batch_size or 128, epochs, shuffle=is_fitted)
        if is_fitted:
            input_fn = functools.partial(self._noted, input_fn)
        return input_fn if self._engineered is None else functools.partial(_engineer, input_fn, self._engineered)

    def _noted(self, input_fn: Callable[[], Any]) -> Any:
        given = input_fn()
        features = _without_one_name(given[0] if isinstance(given, tuple) else given)
        parts = features.values() if isinstance(features, Mapping) else [features]
        if all(isinstance(part, Tensor | SparseTensor) for part in parts):
            self._parsed_as_fitted = bundling.AsFitted(features)
        return given

    def _check_fitted(self) -> None:
        if latest_checkpoint(self.model_dir) is None:
            raise NotFittedError(f"Couldn't find trained model at {self.model_dir}.")

    def _one_of_each(self, key: str, x: Any, input_fn: Any, batch_size: int | None, as_iterable: bool) -> Any:
        values = (_plain(one[key]) for one in self._predicted(x, input_fn, batch_size))
        return values if as_iterable else np.stack(list(values))

    def _predicted(self, x: Any, input_fn: Any, batch_size: int | None) -> Iterator[dict[str, Any]]:
        self._check_fitted()
        given = self._input(x, None, input_fn, batch_size, is_fitted=False)
        found: Iterator[dict[str, Any]] = self.estimator.predict(given, hooks=[OneBatchWithoutEnd()])
        return found


def _without_one_name(features: Any) -> Any:
    """The tensor of an array that was given without a name."""
    return features[""] if isinstance(features, Mapping) and list(features) == [""] else features


def _engineer(input_fn: Callable[[], Any], feature_engineering_fn: Callable[[Any, Any], Any]) -> Any:
    given = input_fn()
    return feature_engineering_fn(*(given if isinstance(given, tuple) else (given, None)))


def refuse(**given: Any) -> None:
    """ValueError for what `tf.contrib.learn` takes and tfexp does not have."""
    for name, value in given.items():
        if value:
            raise ValueError(f"tf.contrib.learn: tfexp does not have {name}=")


def _plain(value: Any) -> Any:
    """The number of an array of one."""
    return value.item() if np.shape(value) == (1,) else value


def _side_by_side(found: Iterable[Mapping[str, Any]]) -> dict[str, np.ndarray]:
    rows = list(found)
    return {name: np.stack([row[name] for row in rows]) for name in rows[0]} if rows else {}


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
        self._model_fn, self._params = model_fn, params
        super().__init__(self._made(model_dir, config, _first), feature_engineering_fn)

    def _made(self, model_dir: str | None, config: Any, default_of: Callable[[Any], Any]) -> estimator.Estimator:
        """default_of: from the names of the model's output alternatives to the one that is served by default."""

        def model(features: Any, labels: Any, mode: str, params: Any, config: Any) -> estimator.EstimatorSpec:
            one = _without_one_name(features)
            made = call_with_wanted(self._model_fn, features=one, labels=labels, mode=mode, params=params, config=config)
            if isinstance(made, estimator.EstimatorSpec):
                return made
            ops = made if isinstance(made, ModelFnOps) else ModelFnOps(mode, *made)
            return ops.served(default_of(ops.output_alternatives))

        return estimator.Estimator(model, model_dir, config, self._params)

    def _exported(self, default_output_alternative_key: str | None) -> estimator.Estimator:
        return self._made(self.model_dir, self.config, lambda _: default_output_alternative_key)

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


def _first(alternatives: Mapping[Any, Any] | None) -> Any:
    return next(iter(alternatives), None) if alternatives else None


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

    def score(
        self,
        x: Any,
        y: Any,
        batch_size: int = 128,
        steps: int | None = None,
        metrics: Mapping[str, MetricSpec] | None = None,
        name: str | None = None,
    ) -> dict[str, Any]:
        """The metrics, with those of `metrics`; TypeError where there is no input to score."""
        return self._trainable.evaluate(x, y, batch_size=batch_size, steps=steps, metrics=metrics, name=name)

    def predict(self, x: Any, batch_size: int = 128, outputs: Sequence[str] | None = None) -> dict[str, np.ndarray]:
        """What the model predicts, by names: `classes` are numbers."""
        found = _side_by_side(self._trainable._predicted(x, None, batch_size))
        return found if outputs is None else {name: found[name] for name in outputs}
