"""The heads of canned estimators, which sum the losses of a batch and show their average too. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfexp.estimator.heads.classification import BinaryClassHead, MultiClassHead
from tfexp.estimator.heads.head import SingleHead
from tfexp.estimator.heads.regression import RegressionHead


def classifier_head(
    n_classes: int, weight_column: Any, label_vocabulary: Sequence[str] | None, loss_reduction: str
) -> SingleHead:
    """One for two classes, or for more."""
    head: SingleHead
    if n_classes == 2:
        head = BinaryClassHead(weight_column, label_vocabulary=label_vocabulary, loss_reduction=loss_reduction)
    else:
        head = MultiClassHead(n_classes, weight_column, label_vocabulary, loss_reduction)
    head.is_older = True
    return head


def regressor_head(label_dimension: int, weight_column: Any, loss_reduction: str) -> SingleHead:
    """One for numbers."""
    head = RegressionHead(label_dimension, weight_column, loss_reduction)
    head.is_older = True
    return head
