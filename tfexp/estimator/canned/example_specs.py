"""How Examples with labels are parsed: `tf.estimator.classifier_parse_example_spec` and its twin. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.estimator.heads.labels import checked_weight_column
from tfexp.feature_column.model import make_parse_example_spec
from tfexp.ops.parsing import FixedLenFeature


def classifier_parse_example_spec(
    feature_columns: Any,
    label_key: str,
    label_dtype: Any = dtypes.int64,
    label_default: Any = None,
    weight_column: Any = None,
) -> dict[str, Any]:
    """What `tf.parse_example` reads for a classifier: the columns' features, the label and the weight.

    ValueError where the label or the weight is a feature too.
    """
    label = FixedLenFeature((1,), label_dtype, label_default)
    return _with_label(feature_columns, label_key, label, weight_column)


def regressor_parse_example_spec(
    feature_columns: Any,
    label_key: str,
    label_dtype: Any = dtypes.float32,
    label_default: Any = None,
    label_dimension: int = 1,
    weight_column: Any = None,
) -> dict[str, Any]:
    """The same for a regressor of `label_dimension` numbers."""
    label = FixedLenFeature((label_dimension,), label_dtype, label_default)
    return _with_label(feature_columns, label_key, label, weight_column)


def _with_label(feature_columns: Any, label_key: str, label: Any, weight_column: Any) -> dict[str, Any]:
    spec = make_parse_example_spec(feature_columns)
    if label_key in spec:
        raise ValueError(f"label should not be used as feature. label_key: {label_key}, features: {', '.join(spec)}")
    spec[label_key] = label
    column = checked_weight_column(weight_column)
    if column is not None:
        if column.key in spec:
            raise ValueError(
                f"weight_column should not be used as feature. weight_column: {column.key}, features: {', '.join(spec)}"
            )
        spec |= column.spec()
    return spec
