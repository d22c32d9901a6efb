"""What a feature of a convolutional network sees of its input. Source: `tf.contrib.receptive_field`, TF 1.15.

A path of layers sees a window of the input: each layer, seen from the output, makes `stride * size + kernel - stride` of its
size, and where paths meet the widest counts. That the paths' windows have one centre is what alignment means.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tfexp.graph.graph import Graph
from tfexp.graph.graph_util import node_name
from tfexp.graph.inference_graph import node_from_map, values_from_const
from tfexp.graph.tensor import Tensor

_WINDOWS = frozenset({"Conv2D", "DepthwiseConv2dNative", "MaxPool", "MaxPoolV2", "AvgPool"})
_ELEMENTWISE = frozenset(
    {
        "Add",
        "AddV2",
        "Assert",
        "BatchNormWithGlobalNormalization",
        "BiasAdd",
        "Cast",
        "Ceil",
        "ConcatV2",
        "Const",
        "Elu",
        "Equal",
        "Floor",
        "FusedBatchNorm",
        "FusedBatchNormV2",
        "FusedBatchNormV3",
        "GreaterEqual",
        "Identity",
        "LRN",
        "LeakyRelu",
        "Log",
        "Mul",
        "Placeholder",
        "PlaceholderWithDefault",
        "Pow",
        "ReadVariableOp",
        "RealDiv",
        "Relu",
        "Relu6",
        "Round",
        "Rsqrt",
        "Selu",
        "Sigmoid",
        "Softplus",
        "Square",
        "Sub",
        "Tanh",
        "VarHandleOp",
        "VariableV2",
    }
)
_PLACES = {b"NHWC": (2, 1, 3), b"": (2, 1, 3), b"NCHW": (3, 2, 1)}  # of x, y and channels

Pair = tuple[Any, Any]  # of x and of y


class _Layer(NamedTuple):
    """Kernel, stride, padding at the start and altogether, for x and for y; None where sizes that are not known decide."""

    kernel: Pair = (1, 1)
    stride: Pair = (1, 1)
    padding: Pair = (0, 0)
    total: Pair = (0, 0)


class NodeInfo(NamedTuple):
    """A node's place in the order of computation, and the [height, width] of what it takes and gives, where known."""

    order: int
    node: Any
    input_size: list[Any] | None
    output_size: list[Any] | None


class ReceptiveField:
    """`size` of a feature's window of the input, `stride` from one feature's to the next, and `padding`; each [x, y]."""

    def __init__(self, size: Any, stride: Any, padding: Any):
        self.size, self.stride, self.padding = np.asarray(size), np.asarray(stride), np.asarray(padding)

    def compute_input_center_coordinates(self, y: Any, axis: Iterable[int] | None = None) -> np.ndarray:
        """The centres of the windows of the features at `y`, [..., axes]. ValueError for other numbers of axes."""
        y, axes = self._checked(y, axis, "feature coordinates `y`")
        centres: np.ndarray = -self.padding[axes] + y * self.stride[axes] + (self.size[axes] - 1) / 2
        return centres

    def compute_feature_coordinates(self, x: Any, axis: Iterable[int] | None = None) -> np.ndarray:
        """The features whose windows have their centres at `x`, [..., axes]. ValueError for other numbers of axes."""
        x, axes = self._checked(x, axis, "input center coordinates `x`")
        places: np.ndarray = (x + self.padding[axes] + (1 - self.size[axes]) / 2) / self.stride[axes]
        return places

    def _checked(self, given: Any, axis: Iterable[int] | None, what: str) -> tuple[np.ndarray, list[int]]:
        axes = list(range(self.size.size) if axis is None else axis)
        given = np.asarray(given)
        if given.shape[-1] != len(axes):
            raise ValueError(
                f"Dimensionality of the {what} ({given.shape[-1]}) does not match dimensionality of `axis` ({len(axes)})"
            )
        return given, axes

    def __iter__(self) -> Any:
        return iter(np.concatenate([self.size, self.stride, self.padding]))


def compute_receptive_field_from_graph_def(
    graph_def: Any,
    input_node: Any,
    output_node: Any,
    stop_propagation: Sequence[str] | None = None,
    input_resolution: Sequence[int] | None = None,
) -> ReceptiveField:
    """What a feature of `output_node` sees of `input_node`; both are names of nodes, or tensors.

    graph_def: or a graph. stop_propagation: what names of nodes begin with that are not gone on from. input_resolution:
    [height, width]; without it the padding may be unknown (None), and then paths are not compared. ValueError for a node
    that is not there or not on a path, for a layer of an unknown kind, and where windows on several paths are not aligned.
    """
    if isinstance(graph_def, Graph):
        graph_def = graph_def.as_graph_def()
    start, end = (one.op.name if isinstance(one, Tensor) else one for one in (input_node, output_node))
    infos, nodes = get_compute_order(graph_def, start, input_resolution)
    if end not in infos:
        raise ValueError("Output node was not found")
    fields = {end: _Field((1, 1), (1, 1), (0, 0))}
    aligned = True  # whether all paddings are known so far
    for name, info in sorted(infos.items(), key=lambda item: -item[1].order):
        if name == start:
            break
        if name not in fields:
            continue
        layer = _layer(info.node, nodes, info.input_size)
        if layer is None:
            raise ValueError(f"Unknown layer for operation '{name}': {info.node.op}")
        aligned = aligned and None not in layer.padding
        field = fields[name].below(layer, aligned)
        for before in _inputs(info.node):
            if not any(before.startswith(stop) for stop in stop_propagation or ()):
                fields[before] = field if before not in fields else fields[before].joined(field, aligned)
    if start not in fields:
        raise ValueError("Input node was not found")
    return ReceptiveField(*fields[start])


class _Field(NamedTuple):
    size: Pair
    stride: Pair
    padding: Pair

    def below(self, layer: _Layer, is_known: bool) -> _Field:
        """At the layer's input."""
        size = tuple(s * n + k - s for s, n, k in zip(layer.stride, self.size, layer.kernel, strict=True))
        stride = tuple(a * b for a, b in zip(layer.stride, self.stride, strict=True))
        if not is_known:
            return _Field(size, stride, (None, None))  # type: ignore[arg-type]
        padding = tuple(s * p + q for s, p, q in zip(layer.stride, self.padding, layer.padding, strict=True))
        return _Field(size, stride, padding)  # type: ignore[arg-type]

    def joined(self, other: _Field, is_known: bool) -> _Field:
        """With that of another path."""
        if is_known:
            for axis, direction in enumerate(("horizontal", "vertical")):
                text = f"from different paths is different in {direction} direction"
                if self.stride[axis] != other.stride[axis]:
                    raise ValueError(f"Graph is not aligned since effective stride {text}")
                if self._centre(axis) != other._centre(axis):
                    raise ValueError(f"Graph is not aligned since center shift {text}")
        wider = [other if self.size[axis] < other.size[axis] else self for axis in (0, 1)]
        return _Field(*((wider[0][part][0], wider[1][part][1]) for part in range(3)))

    def _centre(self, axis: int) -> float:
        centre: float = (self.size[axis] - 1) / 2 - self.padding[axis]
        return centre


def get_compute_order(
    graph_def: Any, input_node_name: str = "", input_node_size: Sequence[int] | None = None
) -> tuple[dict[str, NodeInfo], dict[str, Any]]:
    """({name: NodeInfo}, {name: NodeDef}); nodes are as far on as their inputs need, and the input node comes first.

    input_node_size: [height, width] of what it gives.
    """
    nodes = {node.name: node for node in graph_def.node}
    infos: dict[str, NodeInfo] = {}
    for name in nodes:
        pending = [name]
        while pending:
            node = nodes[pending[-1]]
            missing = [] if node.name == input_node_name else [b for b in _inputs(node) if b not in infos]
            if missing:
                pending += missing
                continue
            pending.pop()
            if node.name == input_node_name:
                infos[node.name] = NodeInfo(0, node, None, None if input_node_size is None else list(input_node_size))
            else:
                infos[node.name] = _info(node, nodes, infos)
    return infos, nodes


def _info(node: Any, nodes: dict[str, Any], infos: dict[str, NodeInfo]) -> NodeInfo:
    before = [infos[name] for name in _inputs(node)]
    order = max((info.order + 1 for info in before), default=0)
    size = before[0].output_size if before else None
    layer = None if size is None else _layer(node, nodes, size)
    if size is None or layer is None:
        return NodeInfo(order, node, size, None if size is None else [None, None])
    given: list[int | None] = []
    for length, axis in zip(size, (1, 0), strict=True):
        if length is None or layer.total[axis] is None:
            given.append(None)
        else:
            given.append(math.ceil((length + layer.total[axis] - layer.kernel[axis] + 1) / layer.stride[axis]))
    return NodeInfo(order, node, size, given)


def _inputs(node: Any) -> list[str]:
    return [node_name(name) for name in node.input if not name.startswith("^")]


def _layer(node: Any, nodes: dict[str, Any], size: list[Any] | None) -> _Layer | None:
    """None for a node of an unknown kind. `size`: [height, width] of its input."""
    if node.op in _ELEMENTWISE:
        return _Layer()
    if node.op == "Pad":
        return _padded(values_from_const(node_from_map(nodes, node.input[1])))
    if node.op not in _WINDOWS:
        return None
    x, y, channel = _PLACES[node.attr["data_format"].s]
    strides = _sizes(node, nodes, "strides", 2)
    stride = (strides[x], strides[y])
    if "Pool" in node.op:
        sizes = _sizes(node, nodes, "ksize", 1)
        if sizes[0] != 1 or sizes[channel] != 1:
            raise ValueError(f"pool ksize is not 1 for examples and channels: {sizes}")
        window = (sizes[x], sizes[y])
    else:
        window = _filter(node, nodes)
    lengths = (None, None) if size is None else (size[1], size[0])
    paddings = [_padding(node, k, s, n) for k, s, n in zip(window, stride, lengths, strict=True)]
    return _Layer(window, stride, (paddings[0][0], paddings[1][0]), (paddings[0][1], paddings[1][1]))


def _padding(node: Any, kernel: int, stride: int, length: int | None) -> tuple[int | None, int | None]:
    """(at the start, altogether) of one dimension; what depends on a length that is not known is None."""
    if node.attr["padding"].s == b"VALID":
        return 0, 0
    if node.attr["padding"].s != b"SAME":
        raise ValueError(f"Invalid padding operation {node.attr['padding'].s!r}")
    if length is not None:
        total = max(kernel - (length % stride or stride), 0)
        return total // 2, total
    if kernel == 1:
        return 0, 0
    if stride == 1:
        return (kernel - 1) // 2, kernel - 1
    return ((kernel - 1) // 2, None) if stride == 2 and kernel % 2 == 0 else (None, None)


def _padded(paddings: np.ndarray) -> _Layer:
    if paddings[0].any() or paddings[3].any():
        raise ValueError("padding is not zero for first or last tensor dim")
    (top, bottom), (left, right) = paddings[1:3].tolist()
    return _Layer(padding=(left, top), total=(left + right, top + bottom))


def _sizes(node: Any, nodes: dict[str, Any], attribute: str, place: int) -> Any:
    """Four sizes, an attribute or, of MaxPoolV2, an input."""
    if node.op == "MaxPoolV2":
        return tuple(values_from_const(node_from_map(nodes, node.input[place])).tolist())
    return tuple(node.attr[attribute].list.i)


def _filter(node: Any, nodes: dict[str, Any]) -> Pair:
    """[width, height] of a filter: of a variable, or of what is made of one element by element."""
    name = node.input[1]
    while True:
        weights = node_from_map(nodes, name)
        if weights.op == "Const":
            height, width = values_from_const(weights).shape[:2]
            return width, height
        if weights.attr["shape"].shape.dim:
            height, width = (dim.size for dim in weights.attr["shape"].shape.dim[:2])
            return width, height
        if not weights.input:
            raise ValueError(f"The size of the filter of {node.name} is not known")
        name = weights.input[0]
