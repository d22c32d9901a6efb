"""What canned estimators are given: feature columns, and features by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def as_columns(feature_columns: Any) -> list[Any]:
    """The columns as a list; one column is a named tuple itself."""
    many = isinstance(feature_columns, list | tuple | set) and not hasattr(feature_columns, "_fields")
    return list(feature_columns) if many else [feature_columns]


def check_features(features: Any, estimator: str) -> None:
    """ValueError unless they are a dict."""
    if not isinstance(features, Mapping):
        raise ValueError(f"features should be a dictionary of `Tensor`s for {estimator}. Given type: {type(features)}")
