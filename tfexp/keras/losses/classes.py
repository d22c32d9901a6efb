"""The losses of `functions` as objects with weights and a reduction. Source: `tf.keras.losses`, TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.keras.losses import functions
from tfexp.keras.losses.loss import LossFunctionWrapper
from tfexp.keras.losses.weighted import Reduction


class MeanSquaredError(LossFunctionWrapper):
    """`functions.mean_squared_error`."""

    def __init__(self, reduction: str = Reduction.AUTO, name: str | None = "mean_squared_error"):
        super().__init__(functions.mean_squared_error, reduction=reduction, name=name)


class MeanAbsoluteError(LossFunctionWrapper):
    """`functions.mean_absolute_error`."""

    def __init__(self, reduction: str = Reduction.AUTO, name: str | None = "mean_absolute_error"):
        super().__init__(functions.mean_absolute_error, reduction=reduction, name=name)


class MeanAbsolutePercentageError(LossFunctionWrapper):
    """`functions.mean_absolute_percentage_error`."""

    def __init__(self, reduction: str = Reduction.AUTO, name: str | None = "mean_absolute_percentage_error"):
        super().__init__(functions.mean_absolute_percentage_error, reduction=reduction, name=name)


class MeanSquaredLogarithmicError(LossFunctionWrapper):
    """`functions.mean_squared_logarithmic_error`."""

    def __init__(self, reduction: str = Reduction.AUTO, name: str | None = "mean_squared_logarithmic_error"):
        super().__init__(functions.mean_squared_logarithmic_error, reduction=reduction, name=name)


class Hinge(LossFunctionWrapper):
    """`functions.hinge`."""

    def __init__(self, reduction: str = Reduction.AUTO, name: str | None = "hinge"):
        super().__init__(functions.hinge, reduction=reduction, name=name)


class SquaredHinge(LossFunctionWrapper):
    """`functions.squared_hinge`."""

    def __init__(self, reduction: str = Reduction.AUTO, name: str | None = "squared_hinge"):
        super().__init__(functions.squared_hinge, reduction=reduction, name=name)


class CategoricalHinge(LossFunctionWrapper):
    """`functions.categorical_hinge`."""

    def __init__(self, reduction: str = Reduction.AUTO, name: str | None = "categorical_hinge"):
        super().__init__(functions.categorical_hinge, reduction=reduction, name=name)


class Poisson(LossFunctionWrapper):
    """`functions.poisson`."""

    def __init__(self, reduction: str = Reduction.AUTO, name: str | None = "poisson"):
        super().__init__(functions.poisson, reduction=reduction, name=name)


class LogCosh(LossFunctionWrapper):
    """`functions.logcosh`."""

    def __init__(self, reduction: str = Reduction.AUTO, name: str | None = "logcosh"):
        super().__init__(functions.logcosh, reduction=reduction, name=name)


class KLDivergence(LossFunctionWrapper):
    """`functions.kullback_leibler_divergence`."""

    def __init__(self, reduction: str = Reduction.AUTO, name: str | None = "kullback_leibler_divergence"):
        super().__init__(functions.kullback_leibler_divergence, reduction=reduction, name=name)


class BinaryCrossentropy(LossFunctionWrapper):
    """`functions.binary_crossentropy`."""

    def __init__(
        self,
        from_logits: bool = False,
        label_smoothing: Any = 0,
        reduction: str = Reduction.AUTO,
        name: str | None = "binary_crossentropy",
    ):
        super().__init__(
            functions.binary_crossentropy,
            reduction=reduction,
            name=name,
            from_logits=from_logits,
            label_smoothing=label_smoothing,
        )
        self.from_logits = from_logits


class CategoricalCrossentropy(LossFunctionWrapper):
    """`functions.categorical_crossentropy`: labels are one-hot."""

    def __init__(
        self,
        from_logits: bool = False,
        label_smoothing: Any = 0,
        reduction: str = Reduction.AUTO,
        name: str | None = "categorical_crossentropy",
    ):
        super().__init__(
            functions.categorical_crossentropy,
            reduction=reduction,
            name=name,
            from_logits=from_logits,
            label_smoothing=label_smoothing,
        )


class SparseCategoricalCrossentropy(LossFunctionWrapper):
    """`functions.sparse_categorical_crossentropy`: labels are numbers of classes."""

    def __init__(
        self,
        from_logits: bool = False,
        reduction: str = Reduction.AUTO,
        name: str | None = "sparse_categorical_crossentropy",
    ):
        super().__init__(functions.sparse_categorical_crossentropy, reduction=reduction, name=name, from_logits=from_logits)


class CosineSimilarity(LossFunctionWrapper):
    """`functions.cosine_proximity`, along `axis`."""

    def __init__(self, axis: int = -1, reduction: str = Reduction.AUTO, name: str | None = "cosine_similarity"):
        super().__init__(functions.cosine_proximity, reduction=reduction, name=name, axis=axis)


class Huber(LossFunctionWrapper):
    """`functions.huber_loss`, a straight line from `delta` on."""

    def __init__(self, delta: float = 1.0, reduction: str = Reduction.AUTO, name: str | None = "huber_loss"):
        super().__init__(functions.huber_loss, reduction=reduction, name=name, delta=delta)
