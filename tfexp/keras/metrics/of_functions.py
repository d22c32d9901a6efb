"""Means of functions of targets and predictions, each as a class. Source: `tf.keras.metrics`, TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.keras.losses import functions as losses
from tfexp.keras.metrics import functions
from tfexp.keras.metrics.means import MeanMetricWrapper


class Accuracy(MeanMetricWrapper):
    """The mean of `functions.accuracy`."""

    def __init__(self, name: str | None = "accuracy", dtype: Any = None):
        super().__init__(functions.accuracy, name, dtype=dtype)


class CategoricalAccuracy(MeanMetricWrapper):
    """The mean of `functions.categorical_accuracy`."""

    def __init__(self, name: str | None = "categorical_accuracy", dtype: Any = None):
        super().__init__(functions.categorical_accuracy, name, dtype=dtype)


class SparseCategoricalAccuracy(MeanMetricWrapper):
    """The mean of `functions.sparse_categorical_accuracy`."""

    def __init__(self, name: str | None = "sparse_categorical_accuracy", dtype: Any = None):
        super().__init__(functions.sparse_categorical_accuracy, name, dtype=dtype)


class BinaryAccuracy(MeanMetricWrapper):
    """The mean of `functions.binary_accuracy`."""

    def __init__(self, name: str | None = "binary_accuracy", dtype: Any = None, threshold: float = 0.5):
        super().__init__(functions.binary_accuracy, name, dtype=dtype, threshold=threshold)


class TopKCategoricalAccuracy(MeanMetricWrapper):
    """The mean of `functions.top_k_categorical_accuracy`."""

    def __init__(self, k: int = 5, name: str | None = "top_k_categorical_accuracy", dtype: Any = None):
        super().__init__(functions.top_k_categorical_accuracy, name, dtype=dtype, k=k)


class SparseTopKCategoricalAccuracy(MeanMetricWrapper):
    """The mean of `functions.sparse_top_k_categorical_accuracy`."""

    def __init__(self, k: int = 5, name: str | None = "sparse_top_k_categorical_accuracy", dtype: Any = None):
        super().__init__(functions.sparse_top_k_categorical_accuracy, name, dtype=dtype, k=k)


class CosineSimilarity(MeanMetricWrapper):
    """The mean of `functions.cosine_proximity`."""

    def __init__(self, name: str | None = "cosine_similarity", dtype: Any = None, axis: int = -1):
        super().__init__(functions.cosine_proximity, name, dtype=dtype, axis=axis)


class MeanAbsoluteError(MeanMetricWrapper):
    """The mean of `losses.mean_absolute_error`."""

    def __init__(self, name: str | None = "mean_absolute_error", dtype: Any = None):
        super().__init__(losses.mean_absolute_error, name, dtype=dtype)


class MeanAbsolutePercentageError(MeanMetricWrapper):
    """The mean of `losses.mean_absolute_percentage_error`."""

    def __init__(self, name: str | None = "mean_absolute_percentage_error", dtype: Any = None):
        super().__init__(losses.mean_absolute_percentage_error, name, dtype=dtype)


class MeanSquaredError(MeanMetricWrapper):
    """The mean of `losses.mean_squared_error`."""

    def __init__(self, name: str | None = "mean_squared_error", dtype: Any = None):
        super().__init__(losses.mean_squared_error, name, dtype=dtype)


class MeanSquaredLogarithmicError(MeanMetricWrapper):
    """The mean of `losses.mean_squared_logarithmic_error`."""

    def __init__(self, name: str | None = "mean_squared_logarithmic_error", dtype: Any = None):
        super().__init__(losses.mean_squared_logarithmic_error, name, dtype=dtype)


class Hinge(MeanMetricWrapper):
    """The mean of `losses.hinge`."""

    def __init__(self, name: str | None = "hinge", dtype: Any = None):
        super().__init__(losses.hinge, name, dtype=dtype)


class SquaredHinge(MeanMetricWrapper):
    """The mean of `losses.squared_hinge`."""

    def __init__(self, name: str | None = "squared_hinge", dtype: Any = None):
        super().__init__(losses.squared_hinge, name, dtype=dtype)


class CategoricalHinge(MeanMetricWrapper):
    """The mean of `losses.categorical_hinge`."""

    def __init__(self, name: str | None = "categorical_hinge", dtype: Any = None):
        super().__init__(losses.categorical_hinge, name, dtype=dtype)


class LogCoshError(MeanMetricWrapper):
    """The mean of `losses.logcosh`."""

    def __init__(self, name: str | None = "logcosh", dtype: Any = None):
        super().__init__(losses.logcosh, name, dtype=dtype)


class Poisson(MeanMetricWrapper):
    """The mean of `losses.poisson`."""

    def __init__(self, name: str | None = "poisson", dtype: Any = None):
        super().__init__(losses.poisson, name, dtype=dtype)


class KLDivergence(MeanMetricWrapper):
    """The mean of `losses.kullback_leibler_divergence`."""

    def __init__(self, name: str | None = "kullback_leibler_divergence", dtype: Any = None):
        super().__init__(losses.kullback_leibler_divergence, name, dtype=dtype)


class BinaryCrossentropy(MeanMetricWrapper):
    """The mean of `losses.binary_crossentropy`."""

    def __init__(
        self,
        name: str | None = "binary_crossentropy",
        dtype: Any = None,
        from_logits: bool = False,
        label_smoothing: Any = 0,
    ):
        super().__init__(
            losses.binary_crossentropy, name, dtype=dtype, from_logits=from_logits, label_smoothing=label_smoothing
        )


class CategoricalCrossentropy(MeanMetricWrapper):
    """The mean of `losses.categorical_crossentropy`."""

    def __init__(
        self,
        name: str | None = "categorical_crossentropy",
        dtype: Any = None,
        from_logits: bool = False,
        label_smoothing: Any = 0,
    ):
        super().__init__(
            losses.categorical_crossentropy, name, dtype=dtype, from_logits=from_logits, label_smoothing=label_smoothing
        )


class SparseCategoricalCrossentropy(MeanMetricWrapper):
    """The mean of `losses.sparse_categorical_crossentropy`."""

    def __init__(
        self,
        name: str | None = "sparse_categorical_crossentropy",
        dtype: Any = None,
        from_logits: bool = False,
        axis: int = -1,
    ):
        super().__init__(losses.sparse_categorical_crossentropy, name, dtype=dtype, from_logits=from_logits, axis=axis)
