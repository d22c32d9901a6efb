"""What estimators of feature columns predict, and are exported with. Source: `tf.contrib.learn`, TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.contributed.learn import bundling
from tfexp.contributed.learn.constants import PredictionKey
from tfexp.contributed.learn.estimators import Estimator, Trainable
from tfexp.feature_column.model import make_parse_example_spec
from tfexp.graph.tensor import Tensor
from tfexp.ops.parsing import parse_example


class Canned(Estimator):
    """Of a model of feature columns."""

    _served: tuple[str, bundling.SignatureFn]  # the predictions of a session bundle, and how they are served

    predict = Trainable.predict  # of each example its class or score, not all that there is

    def __init__(
        self,
        model_fn: Callable[..., Any],
        model_dir: str | None,
        config: Any,
        feature_engineering_fn: Callable[[Any, Any], Any] | None,
        feature_columns: Any,
    ):
        super().__init__(model_fn, model_dir, config, feature_engineering_fn=feature_engineering_fn)
        self._feature_columns = feature_columns

    def _parsed(self, examples: Tensor) -> Any:
        return parse_example(examples, make_parse_example_spec(self._feature_columns))

    def export(  # type: ignore[override]
        self,
        export_dir: str,
        input_fn: Callable[..., Any] | None = None,
        input_feature_key: str | None = None,
        use_deprecated_input_fn: bool = True,
        signature_fn: bundling.SignatureFn | None = None,
        default_batch_size: int | None = 1,
        exports_to_keep: int | None = None,
    ) -> bytes:
        """As `Trainable.export`, by default of what the columns parse, with the model's signature."""
        key, default_signature_fn = self._served
        return bundling.write_bundle(
            self,
            export_dir,
            signature_fn or default_signature_fn,
            input_fn,
            default_batch_size,
            exports_to_keep,
            input_feature_key,
            use_deprecated_input_fn,
            key,
        )


class Classifier(Canned):
    """Its predictions are classes."""

    _prediction = PredictionKey.CLASSES
    _served = (PredictionKey.PROBABILITIES, bundling.classification_signature_fn_with_prob)

    def predict_classes(
        self,
        x: Any = None,
        input_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        as_iterable: bool = True,
    ) -> Any:
        return self._one_of_each(PredictionKey.CLASSES, x, input_fn, batch_size, as_iterable)

    def predict_proba(
        self,
        x: Any = None,
        input_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        as_iterable: bool = True,
    ) -> Any:
        return self._one_of_each(PredictionKey.PROBABILITIES, x, input_fn, batch_size, as_iterable)


class Regressor(Canned):
    """Its predictions are numbers."""

    _prediction = PredictionKey.SCORES
    _served = (PredictionKey.SCORES, bundling.regression_signature_fn)

    def predict_scores(
        self,
        x: Any = None,
        input_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        as_iterable: bool = True,
    ) -> Any:
        return self._one_of_each(self._prediction, x, input_fn, batch_size, as_iterable)
