"""What is behind the handles of a forest's tree: its nodes, and the leaves' candidates for a split. Source: TF 1.15.

A leaf takes its first examples for candidates: a feature at random, the example's value as the threshold. What comes after
is counted, on both sides of each candidate, until there is enough to split by the best of them ("extremely random" trees).

Statistics are rows of sums over examples: the weight of each class, or w*y, w*y^2 of each output and w.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfexp.core.errors import FailedPreconditionError, UnimplementedError
from tfexp.formats.protos.decision_trees import FertileStats as StatsProto
from tfexp.formats.protos.decision_trees import Model as ModelProto
from tfexp.formats.protos.decision_trees import TensorForestParams, TreePath
from tfexp.graph.attrs import as_bytes
from tfexp.ops.handle_ops import Destroyable

Array = np.ndarray

_LEAF = -1
_LESS_OR_EQUAL, _LESS_THAN = 0, 1


def params_of(serialized: str) -> Any:
    """The settings. Raises UnimplementedError for those that make leaves finish early or change their candidates."""
    params = TensorForestParams.FromString(as_bytes(serialized))
    for asked, what in (
        (params.finish_type.type, "finish_type"),
        (params.pruning_type.type, "pruning_type"),
        (params.initialize_average_splits, "initialize_average_splits"),
        (params.inequality_test_type > _LESS_THAN, "inequality_test_type"),
    ):
        if asked:
            raise UnimplementedError(None, None, f"Forests have no {what} but the default, and it is {asked}")
    return params


def at_depth(param: Any, depth: int) -> float:
    """The value of a setting that depends on how deep a node is."""
    kind = param.WhichOneof("ParamType")
    if kind == "linear":
        line = param.linear
        return float(min(max(line.slope * depth + line.y_intercept, line.min_val), line.max_val))
    if kind == "exponential":
        curve = param.exponential
        return float(curve.bias + curve.multiplier * curve.base ** (curve.depth_multiplier * depth))
    if kind == "threshold":
        step = param.threshold
        return float(step.on_value if depth >= step.threshold else step.off_value)
    return float(param.constant_value)


def goes_left(values: Array, thresholds: Array, is_strict: Array | bool) -> Array:
    return np.where(is_strict, values < thresholds, values <= thresholds)


class DecisionTree(Destroyable):
    """Nodes by number; the root is 0. `output` is [nodes, outputs]: a leaf's weights of classes, or its examples' mean."""

    def __init__(self, name: str):
        self.name = name
        self.destroy()

    def destroy(self) -> None:
        self.is_initialized = False

    def checked(self) -> DecisionTree:
        if not self.is_initialized:
            raise FailedPreconditionError(None, None, f"Tree '{self.name}' has not been created")
        return self

    def __len__(self) -> int:
        return len(self.feature)

    def start(self, outputs: int) -> None:
        """One leaf that knows nothing."""
        self.feature = np.array([_LEAF], np.int32)
        self.threshold = np.zeros(1, np.float32)
        self.is_strict = np.zeros(1, bool)
        self.children = np.zeros((1, 2), np.int32)
        self.output = np.zeros((1, outputs), np.float32)
        self.is_initialized = True

    def down(self, data: Array) -> Iterator[Array]:
        """The nodes of all examples, one step after the other, until all are at leaves."""
        rows = np.arange(len(data))
        nodes = np.zeros(len(data), np.int32)
        yield nodes
        while (self.feature[nodes] != _LEAF).any():
            inner = self.feature[nodes] != _LEAF
            values = data[rows, self.feature[nodes]]  # of a leaf: any
            is_left = goes_left(values, self.threshold[nodes], self.is_strict[nodes])
            nodes = np.where(inner, self.children[nodes, np.where(is_left, 0, 1)], nodes)
            yield nodes

    def leaves(self, data: Array) -> Array:
        return list(self.down(data))[-1]

    def split(self, node: int, feature: int, threshold: float, is_strict: bool, outputs: Array) -> tuple[int, int]:
        """The numbers of the leaves that it has now; `outputs` is [2, outputs]."""
        first = len(self)
        self.feature[node], self.threshold[node], self.is_strict[node] = feature, threshold, is_strict
        self.children[node] = first, first + 1
        self.feature = np.concatenate([self.feature, np.full(2, _LEAF, np.int32)])
        self.threshold = np.concatenate([self.threshold, np.zeros(2, np.float32)])
        self.is_strict = np.concatenate([self.is_strict, np.zeros(2, bool)])
        self.children = np.concatenate([self.children, np.zeros((2, 2), np.int32)])
        self.output = np.concatenate([self.output, outputs.astype(np.float32)])
        return first, first + 1

    def depth(self, node: int) -> int:
        depth = 0
        while node:
            node = int(np.flatnonzero((self.children == node).any(axis=1))[0])
            depth += 1
        return depth

    # --- as TensorFlow's bytes ------------------------------------------------------------------------------------------

    def write_node(self, number: int, node: Any, is_numbered: bool = True) -> None:
        """The message of a node; that of the root never has its number."""
        if number and is_numbered:
            node.node_id.value = number
        if self.feature[number] == _LEAF:
            node.leaf.vector.SetInParent()
            for weight in self.output[number].tolist():
                value = node.leaf.vector.value.add()
                if weight:
                    value.float_value = weight
            return
        left, right = self.children[number].tolist()
        node.binary_node.left_child_id.value, node.binary_node.right_child_id.value = left, right
        _write_test(
            node.binary_node.inequality_left_child_test, self.feature[number], self.threshold[number], self.is_strict[number]
        )

    def serialized(self) -> bytes:
        proto = ModelProto()
        proto.decision_tree.SetInParent()
        for number in range(len(self)):
            self.write_node(number, proto.decision_tree.nodes.add())
        made: bytes = proto.SerializeToString()
        return made

    def paths(self, data: Array) -> list[bytes]:
        """Of each example the nodes that it visits, as a TreePath."""
        found = []
        for nodes in np.stack(list(self.down(data)), axis=1).tolist():
            path = TreePath()
            for number in dict.fromkeys(nodes):
                self.write_node(number, path.nodes_visited.add(), is_numbered=False)
            found.append(path.SerializeToString())
        return found

    def restore(self, serialized: bytes, outputs: int) -> None:
        nodes = ModelProto.FromString(serialized).decision_tree.nodes
        self.start(outputs)
        if not nodes:
            return
        count = len(nodes)
        self.feature, self.threshold = np.full(count, _LEAF, np.int32), np.zeros(count, np.float32)
        self.is_strict, self.children = np.zeros(count, bool), np.zeros((count, 2), np.int32)
        self.output = np.zeros((count, outputs), np.float32)
        for number, node in enumerate(nodes):
            if node.WhichOneof("node_type") == "binary_node":
                inner, test = node.binary_node, node.binary_node.inequality_left_child_test
                self.feature[number], self.threshold[number] = int(test.feature_id.id.value), test.threshold.float_value
                self.is_strict[number] = test.type == _LESS_THAN
                self.children[number] = inner.left_child_id.value, inner.right_child_id.value
            elif node.leaf.WhichOneof("leaf") == "sparse_vector":
                for place, value in node.leaf.sparse_vector.sparse_value.items():
                    self.output[number, place] = value.float_value
            else:
                self.output[number] = [value.float_value for value in node.leaf.vector.value]


def _write_test(test: Any, feature: Any, threshold: Any, is_strict: Any) -> None:
    test.feature_id.id.value = str(int(feature))
    test.threshold.float_value = float(threshold)
    test.type = _LESS_THAN if is_strict else _LESS_OR_EQUAL


@dataclass
class Slot:
    """A leaf that may split: its candidates, what is left of each of them, and all there is since it has them all."""

    depth: int
    feature: Array
    threshold: Array
    left: Array  # [candidates, sums]
    total: Array  # [sums]

    @classmethod
    def empty(cls, depth: int, sums: int) -> Slot:
        return cls(depth, np.zeros(0, np.int32), np.zeros(0, np.float32), np.zeros((0, sums)), np.zeros(sums))


class FertileStats(Destroyable):
    """The slots of the leaves of one tree, by the leaf's number."""

    def __init__(self, name: str):
        self.name = name
        self.destroy()

    def destroy(self) -> None:
        self.is_initialized = False
        self.slots: dict[int, Slot] = {}
        self.random: Any = None

    def checked(self) -> FertileStats:
        if not self.is_initialized:
            raise FailedPreconditionError(None, None, f"Stats '{self.name}' have not been created")
        return self

    def _slot(self, tree: DecisionTree, node: int, sums: int) -> Slot:
        if node not in self.slots:
            self.slots[node] = Slot.empty(tree.depth(node), sums)
        return self.slots[node]

    def add(self, tree: DecisionTree, params: Any, data: Array, rows: Array, leaves: Array, seed: int) -> list[int]:
        """Takes examples [rows, features] with their sums [rows, sums] in. The leaves that have enough by now."""
        if self.random is None:
            self.random = np.random.RandomState(seed or None)
        is_strict = params.inequality_test_type == _LESS_THAN
        finished = []
        for node in np.unique(leaves).tolist():
            slot = self._slot(tree, node, rows.shape[1])
            examples = np.flatnonzero(leaves == node)
            wanted = max(1, int(at_depth(params.num_splits_to_consider, slot.depth))) - len(slot.feature)
            first, rest = examples[: max(wanted, 0)], examples[max(wanted, 0) :]
            if len(first):
                chosen = self.random.randint(data.shape[1], size=len(first)).astype(np.int32)
                slot.feature = np.concatenate([slot.feature, chosen])
                slot.threshold = np.concatenate([slot.threshold, data[first, chosen].astype(np.float32)])
                slot.left = np.concatenate([slot.left, np.zeros((len(first), rows.shape[1]))])
            is_left = goes_left(data[rest][:, slot.feature], slot.threshold, is_strict)
            slot.left += is_left.T.astype(rows.dtype) @ rows[rest]
            slot.total += rows[rest].sum(axis=0)
            if self._is_finished(slot, params):
                finished.append(node)
        return finished

    def _is_finished(self, slot: Slot, params: Any) -> bool:
        """Whether there is enough weight, and more than one class."""
        enough = at_depth(params.split_after_samples, slot.depth)
        if params.is_regression:
            return bool(slot.total[-1] >= enough)
        return bool(slot.total.sum() >= enough and (slot.total > 0).sum() > 1)

    def grow(self, tree: DecisionTree, params: Any, nodes: list[int]) -> None:
        """Splits leaves while the tree is not full; one that no candidate divides looks for others."""
        for node in nodes:
            if len(tree) >= params.max_nodes:
                return
            slot = self.slots.pop(node)
            score = scores(slot, params)
            best = int(np.argmin(score))
            if not np.isfinite(score[best]):
                continue
            sides = np.stack([slot.left[best], slot.total - slot.left[best]])
            strict = params.inequality_test_type == _LESS_THAN
            outputs = sides[:, : params.num_outputs]
            if params.is_regression:
                outputs = outputs / sides[:, -1:]
            for child in tree.split(node, int(slot.feature[best]), float(slot.threshold[best]), strict, outputs):
                self.slots[child] = Slot.empty(slot.depth + 1, len(slot.total))

    # --- as TensorFlow's bytes ------------------------------------------------------------------------------------------

    def serialized(self, params: Any) -> bytes:
        """Nothing where the settings keep no statistics in checkpoints."""
        proto = StatsProto()
        for node, slot in sorted(self.slots.items()) if params.checkpoint_stats else ():
            made = proto.node_to_slot.add(node_id=node, depth=slot.depth)
            _write_sums(made.post_init_leaf_stats, slot.total, params)
            made.post_init_leaf_stats.weight_sum = float(slot.total[-1] if params.is_regression else slot.total.sum())
            for feature, threshold, left in zip(slot.feature, slot.threshold, slot.left, strict=True):
                candidate = made.candidates.add()
                strict = params.inequality_test_type == _LESS_THAN
                _write_test(candidate.split.inequality_left_child_test, feature, threshold, strict)
                _write_sums(candidate.left_stats, left, params)
                if params.is_regression:
                    candidate.left_stats.weight_sum = float(left[-1])
        written: bytes = proto.SerializeToString()
        return written

    def restore(self, serialized: bytes, params: Any) -> None:
        self.slots = {}
        self.is_initialized = True
        for made in StatsProto.FromString(serialized).node_to_slot:
            tests = [candidate.split.inequality_left_child_test for candidate in made.candidates]
            total = _read_sums(made.post_init_leaf_stats, params)
            self.slots[made.node_id] = Slot(
                made.depth,
                np.array([int(test.feature_id.id.value) for test in tests], np.int32),
                np.array([test.threshold.float_value for test in tests], np.float32),
                np.array([_read_sums(one.left_stats, params) for one in made.candidates]).reshape(-1, len(total)),
                total,
            )


def scores(slot: Slot, params: Any) -> Array:
    """Of each candidate, the less the better; infinite where all is on one side.

    Of classes Gini's impurity, smoothed as if each class had one example more, of both sides by their weights; of
    numbers the sum of the variances of both sides.
    """
    left = slot.left
    right = slot.total - left
    count = params.num_outputs
    total = np.zeros(len(left))
    divided = np.ones(len(left), bool)
    for side in (left, right):
        weight = side[:, -1] if params.is_regression else side.sum(axis=1)
        divided &= weight > 0
        weight = np.maximum(weight, np.finfo(np.float32).tiny)
        if params.is_regression:
            means, squares = (part / weight[:, np.newaxis] for part in (side[:, :count], side[:, count:-1]))
            total += (squares - means**2).sum(axis=1)
        else:
            total += weight * (1 - ((side + 1) ** 2).sum(axis=1) / (weight + count) ** 2)
    return np.where(divided, total, np.inf)


def _write_sums(stat: Any, sums: Array, params: Any) -> None:
    count = params.num_outputs
    parts: tuple[tuple[Any, Array], ...]
    if params.is_regression:
        parts = ((stat.regression.mean_output, sums[:count]), (stat.regression.mean_output_squares, sums[count:-1]))
    else:
        parts = ((stat.classification.dense_counts, sums),)
    for vector, values in parts:
        for value in values.tolist():
            vector.value.add(float_value=value)


def _read_sums(stat: Any, params: Any) -> Array:
    if not params.is_regression:
        return np.array([value.float_value for value in stat.classification.dense_counts.value])
    parts = (stat.regression.mean_output, stat.regression.mean_output_squares)
    return np.array([value.float_value for part in parts for value in part.value] + [stat.weight_sum])
