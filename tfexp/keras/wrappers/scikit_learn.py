"""`tf.keras.wrappers.scikit_learn`: models as estimators of scikit-learn's kind, which this does not import.

Parameters (`sk_params`) are those of `build_fn` and of `fit`, `predict` and `evaluate`: each is handed where it belongs.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from typing import Any, Self

import numpy as np

from tfexp.keras.engine.sequential import Sequential
from tfexp.keras.utils.arrays import to_categorical

_Build = Callable[..., Any]


def _takes(function: Callable[..., Any], name: str) -> bool:
    parameters = inspect.signature(function).parameters.values()
    return any(one.name == name and one.kind not in {one.VAR_KEYWORD, one.VAR_POSITIONAL} for one in parameters)


class BaseWrapper:
    """What both kinds share. build_fn: makes a compiled model; by default a subclass's own `__call__`.

    `fit` sets `model`.
    """

    model: Any

    def __init__(self, build_fn: _Build | None = None, **sk_params: Any):
        self.build_fn = build_fn
        self.sk_params = sk_params
        self.check_params(sk_params)

    def _builder(self) -> _Build:
        own: Any = self  # a subclass has `__call__` where there is no `build_fn`
        found: _Build = own.__call__ if self.build_fn is None else self.build_fn
        return found

    def check_params(self, params: dict[str, Any]) -> None:
        """ValueError for a parameter that neither the model's methods nor `build_fn` take."""
        takers: list[Any] = [
            Sequential.fit,
            Sequential.predict,
            Sequential.predict_classes,
            Sequential.evaluate,
            self._builder(),
        ]
        for name in params:
            if name != "nb_epoch" and not any(_takes(function, name) for function in takers):
                raise ValueError(f"{name} is not a legal parameter")

    def get_params(self, **params: Any) -> dict[str, Any]:
        """A copy of the parameters, `build_fn` among them. params: ignored (scikit-learn's `deep`)."""
        return {**copy.deepcopy(self.sk_params), "build_fn": self.build_fn}

    def set_params(self, **params: Any) -> Self:
        """Changes parameters; ValueError for those that nothing takes."""
        self.check_params({name: value for name, value in params.items() if name != "build_fn"})
        self.build_fn = params.pop("build_fn", self.build_fn)
        self.sk_params.update(params)
        return self

    def fit(self, x: Any, y: Any, **kwargs: Any) -> Any:
        """Makes a new model and trains it on x [n, ...] and y [n] or [n, outputs]. Returns the history.

        kwargs: for the model's `fit`, before those of the parameters.
        """
        self.model = self._builder()(**self.filter_sk_params(self._builder()))
        return self.model.fit(x, self._as_targets(y), **{**self.filter_sk_params(Sequential.fit), **kwargs})

    def _as_targets(self, y: Any) -> Any:
        """Numbers of classes as one-hot rows where the loss wants those."""
        loss = getattr(self.model.loss, "__name__", self.model.loss)
        return to_categorical(y) if loss == "categorical_crossentropy" and np.ndim(y) != 2 else y

    def filter_sk_params(self, fn: Callable[..., Any], override: dict[str, Any] | None = None) -> dict[str, Any]:
        """The parameters that the function takes; `override` goes before."""
        return {name: value for name, value in self.sk_params.items() if _takes(fn, name)} | (override or {})


class KerasClassifier(BaseWrapper):
    """A model that says probabilities of classes. `fit` sets `classes_` and `n_classes_`."""

    _estimator_type = "classifier"
    classes_: np.ndarray
    n_classes_: int

    def fit(self, x: Any, y: Any, **kwargs: Any) -> Any:
        """Trains on labels y: [n] or [n, 1] of any values, or one-hot rows. ValueError for other shapes."""
        y = np.array(y)
        if y.ndim == 2 and y.shape[1] > 1:
            self.classes_ = np.arange(y.shape[1])
        elif y.ndim == 1 or (y.ndim == 2 and y.shape[1] == 1):
            self.classes_ = np.unique(y)
            y = np.searchsorted(self.classes_, y)
        else:
            raise ValueError(f"Invalid shape for y: {y.shape}")
        self.n_classes_ = len(self.classes_)
        return super().fit(x, y, **kwargs)

    def predict(self, x: Any, **kwargs: Any) -> Any:
        """The most probable class of each row."""
        return self.classes_[self.model.predict_classes(x, **self.filter_sk_params(Sequential.predict_classes, kwargs))]

    def predict_proba(self, x: Any, **kwargs: Any) -> Any:
        """The classes' probabilities [n, classes]; both, where the model only says one."""
        probabilities = self.model.predict(x, **self.filter_sk_params(Sequential.predict_proba, kwargs))
        if probabilities.shape[1] == 1:
            return np.hstack([1 - probabilities, probabilities])
        return probabilities

    def score(self, x: Any, y: Any, **kwargs: Any) -> float:
        """The accuracy on labels y as `fit` takes them. ValueError: the model was compiled without that metric."""
        y = np.searchsorted(self.classes_, y) if np.ndim(y) != 2 or np.shape(y)[1] == 1 else y
        outputs = self.model.evaluate(x, self._as_targets(y), **self.filter_sk_params(Sequential.evaluate, kwargs))
        outputs = outputs if isinstance(outputs, list) else [outputs]
        for name, output in zip(self.model.metrics_names, outputs, strict=True):
            if name in {"accuracy", "acc"}:
                return float(output)
        raise ValueError(
            'The model is not configured to compute accuracy. You should pass `metrics=["accuracy"]` to the '
            "`model.compile()` method."
        )


class KerasRegressor(BaseWrapper):
    """A model that says numbers."""

    _estimator_type = "regressor"

    def predict(self, x: Any, **kwargs: Any) -> Any:
        """The model's outputs, without axes of length 1."""
        return np.squeeze(self.model.predict(x, **self.filter_sk_params(Sequential.predict, kwargs)))

    def score(self, x: Any, y: Any, **kwargs: Any) -> float:
        """The loss, below zero so that more is better."""
        loss = self.model.evaluate(x, y, **self.filter_sk_params(Sequential.evaluate, kwargs))
        return -float(loss[0] if isinstance(loss, list) else loss)
