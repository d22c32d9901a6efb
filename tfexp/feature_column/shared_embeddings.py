"""Embeddings of one table, for layers of Keras. Source: `tf.compat.v2.feature_column.shared_embeddings`, TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NoReturn

from tfexp.core import dtypes
from tfexp.core.shape import TensorShape
from tfexp.feature_column.column import Features
from tfexp.feature_column.dense import OfTable, checked_embedding, name_of_shared
from tfexp.graph.scopes import get_default_graph
from tfexp.graph.tensor import Tensor
from tfexp.ops.variable_scope import get_variable
from tfexp.train.assignment_maps import init_from_checkpoint


class SharedTable:
    """The table of several columns: in each graph, with its functions, a variable, which the first that asks makes."""

    def __init__(
        self,
        dimension: int,
        initializer: Callable[..., Any],
        ckpt_to_load_from: str | None,
        tensor_name_in_ckpt: str | None,
        num_buckets: int,
        trainable: bool,
        name: str = "shared_embedding_column_creator",
    ):
        self._dimension, self._num_buckets, self._name = dimension, num_buckets, name
        self._initializer, self._trainable = initializer, trainable
        self._checkpoint, self._name_in_checkpoint = ckpt_to_load_from, tensor_name_in_ckpt

    def __call__(self, categorical_column: Any, combiner: str, max_norm: float | None) -> SharedEmbedding:
        """A column of this table."""
        return SharedEmbedding(categorical_column, self, combiner, max_norm)

    @property
    def dimension(self) -> int:
        return self._dimension

    @property
    def embedding_weights(self) -> Any:
        """float32 [num_buckets, dimension], from a checkpoint where that was said."""
        # A collection, so that a variable lives and dies with its graph, which columns may outlive.
        made = get_default_graph().outermost.get_collection_ref(("shared table", self))
        if not made:
            table = get_variable(
                self._name,
                shape=(self._num_buckets, self._dimension),
                dtype=dtypes.float32,
                initializer=self._initializer,
                trainable=self._trainable,
            )
            if self._checkpoint is not None:
                init_from_checkpoint(self._checkpoint, {str(self._name_in_checkpoint): table})
            made.append(table)
        return made[0]


class _SharedEmbedding(NamedTuple):
    categorical_column: Any
    shared_embedding_column_creator: SharedTable
    combiner: str
    max_norm: float | None


class SharedEmbedding(_SharedEmbedding, OfTable):
    """Rows of a table that other columns have, too, combined: [batch, dimension]."""

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"{self.categorical_column.name}_shared_embedding"

    @property
    def variable_shape(self) -> TensorShape:
        return TensorShape([self.shared_embedding_column_creator.dimension])

    def dense(self, features: Features, trainable: bool = True) -> NoReturn:
        raise ValueError(
            "SharedEmbeddingColumns are not supported in `linear_model` or `input_layer`. Please use `DenseFeatures` or "
            "`LinearModel` instead."
        )

    def with_state(self, features: Features, state_manager: Any) -> Tensor:
        return self.looked_up(features, self.shared_embedding_column_creator.embedding_weights)

    def _get_config(self) -> NoReturn:
        raise NotImplementedError("Columns that share a table have no config")

    @classmethod
    def _from_config(cls, config: Any, custom_objects: Any = None, columns_by_name: Any = None) -> NoReturn:
        raise NotImplementedError("Columns that share a table have no config")


def shared_embeddings(
    categorical_columns: Sequence[Any],
    dimension: int,
    combiner: str = "mean",
    initializer: Any = None,
    shared_embedding_collection_name: str | None = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> list[SharedEmbedding]:
    """Columns of one kind, with as many buckets each, as vectors of one table that is learnt, whatever layers they are in.

    ValueError for others, RuntimeError in eager execution. Source: `tf.compat.v2.feature_column.shared_embeddings`.
    """
    initializer = checked_embedding(dimension, ckpt_to_load_from, tensor_name_in_ckpt, initializer)
    name = name_of_shared(categorical_columns, shared_embedding_collection_name)
    buckets = categorical_columns[0].num_buckets
    table = SharedTable(dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt, buckets, trainable, name)
    return [table(column, combiner, max_norm) for column in categorical_columns]
