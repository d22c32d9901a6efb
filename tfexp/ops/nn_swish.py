"""`tf.nn.swish`, whose gradient keeps the features alone and computes the sigmoid anew. TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.custom_gradient import custom_gradient
from tfexp.graph.scopes import control_dependencies
from tfexp.graph.tensor import Tensor
from tfexp.ops.elementwise_unary import sigmoid, square
from tfexp.ops.reduce import reduce_sum


def swish(features: Any, name: str | None = None) -> Tensor:
    """x * sigmoid(x) (https://arxiv.org/abs/1710.05941). Source: `tf.nn.swish`."""
    features = convert_to_tensor(features, name="features")
    beta = convert_to_tensor(1.0, dtype=features.dtype, name="beta")

    @custom_gradient
    def weighed(x: Any, beta: Any) -> Any:
        def gradient(dy: Any) -> tuple[Any, Any]:
            # After dy is there, so that the sigmoid takes no memory before.
            with control_dependencies([dy]):
                share: Any = sigmoid(beta * x)
            slope = share * (1.0 + beta * x * (1.0 - share))
            for_beta = reduce_sum(dy * square(x) * share * (1.0 - share))
            return dy * slope, for_beta

        return x * sigmoid(beta * x), gradient

    result: Tensor = weighed(features, beta)
    return result
