"""`pywrap_tensorflow.TF_TryEvaluateConstant_wrapper`: what a tensor always is. C handles are what they are of."""

from __future__ import annotations

from typing import Any

from tfexp.graph.graph import Graph
from tfexp.graph.shape_inference import static_value
from tfexp.graph.tensor import Tensor

Graph._c_graph = property(lambda graph: graph)  # type: ignore[attr-defined]
Tensor._as_tf_output = lambda tensor: tensor  # type: ignore[attr-defined]


def TF_TryEvaluateConstant_wrapper(graph: Graph, output: Tensor) -> Any:
    """The array that the output always has, None where that is not known."""
    return static_value(output)
