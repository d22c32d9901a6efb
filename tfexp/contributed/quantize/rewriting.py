"""`tf.contrib.quantize`: whole graphs made ready for fewer bits, in place. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tfexp.contributed.quantize.fake_nodes import Quantisation
from tfexp.contributed.quantize.folding import fold_batch_norms
from tfexp.contributed.quantize.layers_found import ADDITIONS, Layer, below, find_layers, is_before_relu, scope_of
from tfexp.graph.graph import Graph
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import get_default_graph
from tfexp.graph.tensor import Tensor

_FAKE = "FakeQuantWithMinMaxVars"
_ELEMENTWISE = (*ADDITIONS, "Mul")
# What has the same values as its input, some of them.
_SAME_VALUES = ("Reshape", "Identity", "MaxPool", "BatchToSpaceND", "SpaceToBatchND")


def create_training_graph(input_graph: Graph | None = None, quant_delay: int | None = 0) -> None:
    """Rewrite a graph, before its gradients are made, so that it learns with weights and activations of 8 bits.

    quant_delay: the number of steps that are taken with whole floats first, while limits are learned.
    """
    experimental_create_training_graph(input_graph, quant_delay=quant_delay)


def create_eval_graph(input_graph: Graph | None = None) -> None:
    """Rewrite a graph for evaluation or export: it reads the limits that a training graph's checkpoint has."""
    experimental_create_eval_graph(input_graph)


def experimental_create_training_graph(
    input_graph: Graph | None = None,
    weight_bits: int = 8,
    activation_bits: int = 8,
    symmetric: bool = False,
    quant_delay: int | None = 0,
    freeze_bn_delay: int | None = None,
    scope: str | None = None,
) -> None:
    """As `create_training_graph`, with other numbers of bits.

    symmetric: limits are as far below 0 as above. freeze_bn_delay: the number of steps after which batch norms take their
    moving averages, which then stay. scope: only layers below it are quantised.
    """
    quantisation = Quantisation(True, weight_bits, activation_bits, symmetric, quant_delay)
    _rewrite(input_graph, quantisation, freeze_bn_delay, scope)


def experimental_create_eval_graph(
    input_graph: Graph | None = None,
    weight_bits: int = 8,
    activation_bits: int = 8,
    symmetric: bool = False,
    quant_delay: int | None = None,
    scope: str | None = None,
) -> None:
    """As `create_eval_graph`, with other numbers of bits; see `experimental_create_training_graph`."""
    _rewrite(input_graph, Quantisation(False, weight_bits, activation_bits, symmetric, quant_delay), None, scope)


def _rewrite(input_graph: Graph | None, quantisation: Quantisation, freeze_bn_delay: int | None, scope: str | None) -> None:
    graph = get_default_graph() if input_graph is None else input_graph
    with graph.as_default():
        folded = fold_batch_norms(graph, quantisation.is_training, freeze_bn_delay)
        layers = find_layers(graph, folded)
        _Rewriting(graph, quantisation, scope).run(layers)


class _Rewriting:
    """The pass over a graph that puts the nodes in."""

    def __init__(self, graph: Graph, quantisation: Quantisation, scope: str | None):
        self._graph, self._quantisation = graph, quantisation
        self._prefix = f"{scope.rstrip('/')}/" if scope else ""
        self._quantised: set[Operation] = set()  # what gives quantised values
        self._done: set[Operation] = set()  # what gives values that are quantised after it, or need not be

    def run(self, found: list[Layer]) -> None:
        layers = [layer for layer in found if self._is_wanted(layer.scope)]
        for layer in layers:
            self._quantise(layer, layers)
        for op in self._graph.get_operations():
            if op.type in _ELEMENTWISE and self._is_between_quantised(op):
                self._activations(op, f"{op.name}/activation_{op.type}_quant")

    def _is_wanted(self, scope: str) -> bool:
        return f"{scope}/".startswith(self._prefix)

    def _quantise(self, layer: Layer, layers: Iterable[Layer]) -> None:
        weights = layer.weights
        if weights.op not in self._quantised:
            shared = [other.op for other in layers if other.weights is weights]
            self._quantised.update(self._quantisation.weights(weights, below(layer.scope, "weights_quant"), shared))
        after = layer.addition_after  # before its operands are others
        outer = layer.scope if layer.bypass is None else layer.scope.rpartition("/")[0]
        self._activations(layer.activation, below(outer, "act_quant"), (0.0, 6.0))
        if layer.bypass is not None and layer.bias is not None:
            self._activations(layer.bias, below(layer.scope, "conv_quant"))
            self._done.add(layer.bypass)
        if after is not None and self._is_wanted(scope_of(after)) and not is_before_relu(after):
            self._activations(after, below(scope_of(after), "post_activation_bypass_quant"))

    def _activations(self, op: Operation, name: str, initial: tuple[float, float] = (-6.0, 6.0)) -> None:
        if op not in self._done:
            value: Tensor = op.outputs[0]
            self._quantised.update(self._quantisation.activations(value, name, value.consumers(), initial))
            self._done.add(op)

    def _is_between_quantised(self, op: Operation) -> bool:
        """Whether the op's inputs are quantised, some of them, and its own result is not yet and will not be clipped."""
        if op in self._done or is_before_relu(op) or not self._is_wanted(scope_of(op)):
            return False
        return any(self._comes_quantised(tensor) for tensor in op.inputs)

    def _comes_quantised(self, tensor: Any) -> bool:
        while tensor.op.type in _SAME_VALUES:
            tensor = tensor.op.inputs[0]
        return tensor.op in self._quantised or tensor.op.type == _FAKE
