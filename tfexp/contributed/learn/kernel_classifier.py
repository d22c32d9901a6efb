"""Linear models of features that stand for kernels. Source: `tf.contrib.kernel_methods.KernelLinearClassifier`, TF 1.15."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tfexp.contributed.learn.canned import LinearClassifier
from tfexp.feature_column import numeric_column
from tfexp.ops.array_join import concat


class KernelLinearClassifier(LinearClassifier):
    """A LinearClassifier of `feature_columns`, and of what mappers make of others.

    kernel_mappers: {column of numbers: [RandomFourierFeatureMapper or what has its `map` and `output_dim`]}; a column is
    mapped by each of its mappers, and is not a feature itself unless it is in feature_columns, too. optimizer: Ftrl by
    default. ValueError without columns and mappers, and for what is no mapper.
    """

    def __init__(
        self,
        feature_columns: Iterable[Any] | None = None,
        model_dir: str | None = None,
        n_classes: int = 2,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        kernel_mappers: Mapping[Any, Sequence[Any]] | None = None,
        config: Any = None,
    ):
        mappers = dict(kernel_mappers or {})
        if not feature_columns and not mappers:
            raise ValueError("You should set at least one of feature_columns, kernel_mappers.")
        if not all(hasattr(mapper, "map") and hasattr(mapper, "output_dim") for each in mappers.values() for mapper in each):
            raise ValueError("Invalid kernel mappers.")
        mapped = [
            numeric_column(_mapped(column), (sum(mapper.output_dim for mapper in each),)) for column, each in mappers.items()
        ]

        def with_mapped(features: Mapping[str, Any], labels: Any) -> tuple[dict[str, Any], Any]:
            made = {
                _mapped(column): concat([mapper.map(features[column.name]) for mapper in each], 1)
                for column, each in mappers.items()
            }
            return {**features, **made}, labels

        super().__init__(
            [*(feature_columns or []), *mapped],
            model_dir,
            n_classes,
            weight_column_name,
            optimizer,
            config=config,
            feature_engineering_fn=with_mapped,
        )
        self._feature_columns = [*(feature_columns or []), *mappers]  # the mapped ones are made of these


def _mapped(column: Any) -> str:
    return f"{column.name}_MAPPED"
