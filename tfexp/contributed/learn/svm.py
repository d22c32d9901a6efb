"""Support vector machines. Source: `tf.contrib.learn.SVM`, TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.contributed.learn.constants import PredictionKey
from tfexp.contributed.learn.estimators import Estimator
from tfexp.contributed.learn.heads.single import binary_svm_head
from tfexp.contributed.learn.model_functions import linear
from tfexp.contributed.linear_optimizer.sdca_optimizer import SDCAOptimizer
from tfexp.feature_column.model import make_parse_example_spec
from tfexp.graph.tensor import Tensor
from tfexp.ops.parsing import parse_example


class SVM(Estimator):
    """A linear model of two classes, trained on the hinge loss by dual coordinate ascent, which takes an l2 of 1 for less.

    `example_id_column` names the feature with the ids of examples, strings [batch]. `num_loss_partitions` is the number of
    workers. ValueError for kernels. Source: `tf.contrib.learn.SVM`.
    """

    def __init__(
        self,
        example_id_column: str,
        feature_columns: Any,
        weight_column_name: str | None = None,
        model_dir: str | None = None,
        l1_regularization: float = 0.0,
        l2_regularization: float = 0.0,
        num_loss_partitions: int = 1,
        kernels: None = None,
        config: Any = None,
        feature_engineering_fn: Callable[[Any, Any], Any] | None = None,
    ):
        if kernels is not None:
            raise ValueError("Kernel SVMs are not currently supported.")
        head = binary_svm_head(weight_column_name=weight_column_name)
        ascent = SDCAOptimizer(
            example_id_column,
            num_loss_partitions,
            symmetric_l1_regularization=l1_regularization,
            symmetric_l2_regularization=l2_regularization,
        )
        model_fn = linear(head, feature_columns, ascent, None, weight_column_name, "hinge_loss")
        super().__init__(model_fn, model_dir, config, feature_engineering_fn=feature_engineering_fn)
        self._feature_columns = feature_columns

    def _parsed(self, examples: Tensor) -> Any:
        return parse_example(examples, make_parse_example_spec(self._feature_columns))

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
        outputs: Any = None,
        as_iterable: bool = True,
    ) -> Any:
        """ValueError, as in TensorFlow: the hinge loss knows no probabilities."""
        raise ValueError(f"A support vector machine does not predict {PredictionKey.PROBABILITIES}.")
