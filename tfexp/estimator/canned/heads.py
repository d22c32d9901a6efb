"""The heads of canned estimators, which sum the losses of a batch and show their average too. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfexp.estimator.heads.classification import BinaryClassHead, MultiClassHead
from tfexp.estimator.heads.head import SingleHead
from tfexp.estimator.heads.regression import RegressionHead


class OlderBinaryClassHead(BinaryClassHead):
    """For two classes."""

    is_older = True


class OlderMultiClassHead(MultiClassHead):
    """For more classes."""

    is_older = True


class OlderRegressionHead(RegressionHead):
    """For numbers."""

    is_older = True


def classifier_head(
    n_classes: int, weight_column: Any, label_vocabulary: Sequence[str] | None, loss_reduction: str
) -> SingleHead:
    """One for two classes, or for more."""
    if n_classes == 2:
        return OlderBinaryClassHead(weight_column, label_vocabulary=label_vocabulary, loss_reduction=loss_reduction)
    return OlderMultiClassHead(n_classes, weight_column, label_vocabulary, loss_reduction)


def regressor_head(label_dimension: int, weight_column: Any, loss_reduction: str) -> SingleHead:
    """One for numbers."""
    return OlderRegressionHead(label_dimension, weight_column, loss_reduction)
