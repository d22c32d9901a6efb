"""`tf.keras.layers.Embedding`. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.core.shape import TensorShape
from tfexp.keras import backend, constraints, initializers, regularizers
from tfexp.keras.engine.base_layer import Layer
from tfexp.ops.cast import cast
from tfexp.ops.comparison import not_equal
from tfexp.ops.embedding import embedding_lookup


class Embedding(Layer):
    """Whole numbers [batch, …] below `input_dim` as rows of a table that is learnt: [batch, …, output_dim].

    mask_zero: 0 stands for nothing, and layers downstream are to skip it. input_length: the size (or sizes) after the
    batch's, where it is always the same.
    """

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        embeddings_initializer: Any = "uniform",
        embeddings_regularizer: Any = None,
        activity_regularizer: Any = None,
        embeddings_constraint: Any = None,
        mask_zero: bool = False,
        input_length: Any = None,
        **kwargs: Any,
    ):
        if "input_shape" not in kwargs and "batch_input_shape" not in kwargs:
            kwargs["input_shape"] = tuple(input_length) if isinstance(input_length, (list, tuple)) else (input_length,)
        # The table's type is not that of the ids.
        dtype = kwargs.pop("dtype", None) or backend.floatx()
        super().__init__(dtype=dtype, activity_regularizer=regularizers.get(activity_regularizer), **kwargs)
        self.input_dim, self.output_dim = input_dim, output_dim
        self.embeddings_initializer = initializers.get(embeddings_initializer)
        self.embeddings_regularizer = regularizers.get(embeddings_regularizer)
        self.embeddings_constraint = constraints.get(embeddings_constraint)
        self.mask_zero = self.supports_masking = mask_zero
        self.input_length = input_length

    def build(self, input_shape: Any) -> None:
        self.embeddings = self.add_weight(
            "embeddings",
            shape=(self.input_dim, self.output_dim),
            initializer=self.embeddings_initializer,
            regularizer=self.embeddings_regularizer,
            constraint=self.embeddings_constraint,
        )
        self.built = True

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        return not_equal(inputs, 0) if self.mask_zero else None

    def call(self, inputs: Any) -> Any:
        if inputs.dtype.base_dtype not in (dtypes.int32, dtypes.int64):
            inputs = cast(inputs, dtypes.int32)
        return embedding_lookup(self.embeddings, inputs)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        sizes = TensorShape(input_shape).as_list()
        if self.input_length is None:
            return TensorShape([*sizes, self.output_dim])
        lengths = list(self.input_length) if isinstance(self.input_length, (list, tuple)) else [self.input_length]
        wrong = f'"input_length" is {self.input_length}, but received input has shape {tuple(sizes)}'
        if len(lengths) != len(sizes) - 1:
            raise ValueError(wrong)
        for index, (mine, found) in enumerate(zip(lengths, sizes[1:], strict=True)):
            if mine is not None and found is not None and mine != found:
                raise ValueError(wrong)
            lengths[index] = found if mine is None else mine
        return TensorShape([sizes[0], *lengths, self.output_dim])

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "input_dim": self.input_dim,
            "output_dim": self.output_dim,
            "embeddings_initializer": initializers.serialize(self.embeddings_initializer),
            "embeddings_regularizer": regularizers.serialize(self.embeddings_regularizer),
            "activity_regularizer": regularizers.serialize(self.activity_regularizer),
            "embeddings_constraint": constraints.serialize(self.embeddings_constraint),
            "mask_zero": self.mask_zero,
            "input_length": self.input_length,
        }
