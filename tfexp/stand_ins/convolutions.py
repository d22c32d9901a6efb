"""`nn_ops.Convolution`: a convolution that knows its window's layout before it is given values. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfexp.graph.tensor import Tensor
from tfexp.ops.nn_conv import convolution


class Convolution:
    """Called with an input and a filter of these shapes, it gives their `tf.nn.convolution`."""

    def __init__(
        self,
        input_shape: Any,
        filter_shape: Any,
        padding: str,
        strides: Sequence[int] | None = None,
        dilation_rate: Sequence[int] | None = None,
        name: str | None = None,
        data_format: str | None = None,
    ):
        self.input_shape, self.filter_shape = input_shape, filter_shape
        self._options: dict[str, Any] = {"padding": padding, "strides": strides, "dilation_rate": dilation_rate}
        self._options |= {"name": name, "data_format": data_format}

    def __call__(self, inp: Any, filter: Any) -> Tensor:
        return convolution(inp, filter, **self._options)
