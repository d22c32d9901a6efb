"""`tf.keras.layers`: attention by products (https://arxiv.org/abs/1508.04025) and by sums
(https://arxiv.org/abs/1409.0473). Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.core.shape import TensorShape
from tfexp.graph.convert import convert_to_tensor
from tfexp.keras.engine.base_layer import Layer
from tfexp.ops.array import expand_dims, shape
from tfexp.ops.array_fill import ones
from tfexp.ops.array_join import concat
from tfexp.ops.cast import cast
from tfexp.ops.comparison import greater_equal
from tfexp.ops.cumulative import cumsum
from tfexp.ops.elementwise_unary import tanh
from tfexp.ops.logical import logical_and, logical_not
from tfexp.ops.matmul import matmul
from tfexp.ops.nn_softmax import softmax
from tfexp.ops.reduce import reduce_sum

_FAR_BELOW = 1.0e9  # what is masked gets nothing of the softmax


class DenseAttention(Layer):
    """For each query the mean of the values, weighted by the softmax of the scores of their keys.

    Inputs: [query [batch, Tq, dim], value [batch, Tv, dim], key like value, by default the value]; masks: [of the queries
    [batch, Tq] or None, of the values [batch, Tv] or None]. causal: position i sees nothing after position i.
    """

    def __init__(self, causal: bool = False, **kwargs: Any):
        super().__init__(**kwargs)
        self.causal = causal
        self.supports_masking = True

    def _calculate_scores(self, query: Any, key: Any) -> Any:
        """[batch, Tq, Tv]."""
        raise NotImplementedError(f"{type(self).__name__} does not say how queries and keys are compared")

    def call(self, inputs: Any, mask: Any = None) -> Any:
        self._check(inputs, mask)
        query, value = inputs[0], inputs[1]
        scores = self._calculate_scores(query=query, key=inputs[2] if len(inputs) > 2 else value)
        seen = None if mask is None or mask[1] is None else expand_dims(mask[1], axis=-2)
        if self.causal:
            lower = _lower_triangle(scores)
            seen = lower if seen is None else logical_and(seen, lower)
        if seen is not None:
            scores -= _FAR_BELOW * cast(logical_not(seen), scores.dtype)
        result: Any = matmul(softmax(scores), value)
        if mask is not None and mask[0] is not None:
            result *= cast(expand_dims(mask[0], axis=-1), result.dtype)
        return result

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        self._check(inputs, mask)
        return None if not mask or mask[0] is None else convert_to_tensor(mask[0])

    def _check(self, inputs: Any, mask: Any) -> None:
        kind = type(self).__name__
        if not isinstance(inputs, list):
            raise ValueError(
                f"{kind} layer must be called on a list of inputs, namely [query, value] or [query, value, key]. "
                f"Received: {inputs}."
            )
        if not 2 <= len(inputs) <= 3:
            raise ValueError(
                f"{kind} layer accepts inputs list of length 2 or 3, namely [query, value] or [query, value, key]. "
                f"Given length: {len(inputs)}."
            )
        if mask is None:
            return
        if not isinstance(mask, list):
            raise ValueError(f"{kind} layer mask must be a list, namely [query_mask, value_mask]. Received: {mask}.")
        if len(mask) != 2:
            raise ValueError(
                f"{kind} layer mask must be a list of length 2, namely [query_mask, value_mask]. "
                f"Received length: {len(mask)}."
            )

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        query, value = TensorShape(input_shape[0]), TensorShape(input_shape[1])
        return query[:-1].concatenate(value[-1:])

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "causal": self.causal}


def _lower_triangle(scores: Any) -> Any:
    """[1, Tq, Tv]: where column <= row."""
    dims = concat([[1], shape(scores)[-2:]], axis=0)  # type: ignore[index]
    each = ones(dims, dtype=dtypes.int32)
    return greater_equal(cumsum(each, axis=-2), cumsum(each, axis=-1))


class Attention(DenseAttention):
    """Scores are the products of queries and keys. use_scale: times a number that is learnt."""

    def __init__(self, use_scale: bool = False, **kwargs: Any):
        super().__init__(**kwargs)
        self.use_scale = use_scale

    def build(self, input_shape: Any) -> None:
        self.scale = None
        if self.use_scale:
            self.scale = self.add_weight("scale", shape=(), initializer="ones", dtype=self.dtype, trainable=True)
        super().build(input_shape)

    def _calculate_scores(self, query: Any, key: Any) -> Any:
        scores: Any = matmul(query, key, transpose_b=True)
        return scores if self.scale is None else scores * self.scale

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "use_scale": self.use_scale}


class AdditiveAttention(DenseAttention):
    """Scores are the sums, over the features, of tanh(query + key). use_scale: each times a number that is learnt."""

    def __init__(self, use_scale: bool = True, **kwargs: Any):
        super().__init__(**kwargs)
        self.use_scale = use_scale

    def build(self, input_shape: Any) -> None:
        self.scale = None
        if self.use_scale:
            depth = TensorShape(input_shape[1])[-1].value
            self.scale = self.add_weight(
                "scale", shape=[depth], initializer="glorot_uniform", dtype=self.dtype, trainable=True
            )
        super().build(input_shape)

    def _calculate_scores(self, query: Any, key: Any) -> Any:
        summed: Any = tanh(expand_dims(query, axis=-2) + expand_dims(key, axis=-3))  # type: ignore[operator]
        return reduce_sum(summed if self.scale is None else self.scale * summed, axis=-1)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "use_scale": self.use_scale}
