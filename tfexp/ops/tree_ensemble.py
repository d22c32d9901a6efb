"""Boosted trees: what is behind an ensemble's handle, how it grows, and what it says of examples. Source: TF 1.15.

Trees grow by layers. A node has the value that it had as a leaf, which is that of its whole path, so that an example's
sum goes up by what changes on the way down.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from tfexp.core.errors import FailedPreconditionError
from tfexp.formats.protos.boosted_trees import TreeEnsemble as EnsembleProto

Array = np.ndarray

_LEAF = -1
PRE_PRUNING, POST_PRUNING = 1, 2


class Split(NamedTuple):
    """Of a node by a feature: examples whose bucket is up to the threshold go left. The leaves' values are on top of its."""

    node: int
    feature: int
    threshold: int
    gain: float
    left: float
    right: float
    dimension: int = 0  # of the feature; what it says of examples does not depend on it


@dataclass
class Tree:
    """Nodes by number; the root is 0. `moved` says for the nodes that there were before pruning where they went, and by how
    much the value changed."""

    weight: float = 1.0
    layers: int = 0
    is_finalized: bool = False
    feature: Array = field(default_factory=lambda: np.array([_LEAF], np.int32))
    threshold: Array = field(default_factory=lambda: np.zeros(1, np.int32))
    dimension: Array = field(default_factory=lambda: np.zeros(1, np.int32))
    children: Array = field(default_factory=lambda: np.zeros((1, 2), np.int32))
    gain: Array = field(default_factory=lambda: np.zeros(1, np.float32))
    value: Array = field(default_factory=lambda: np.zeros(1, np.float32))
    moved: tuple[Array, Array] | None = None

    def __len__(self) -> int:
        return len(self.feature)

    def grow(self, splits: list[Split]) -> None:
        """The children of each split follow the nodes that there are, left before right."""
        first = len(self)
        nodes = [split.node for split in splits]
        self.feature[nodes] = [split.feature for split in splits]
        self.threshold[nodes] = [split.threshold for split in splits]
        self.dimension[nodes] = [split.dimension for split in splits]
        self.gain[nodes] = _floats([split.gain for split in splits])
        self.children[nodes] = first + np.arange(2 * len(splits)).reshape(-1, 2)
        added = _floats([[split.left, split.right] for split in splits])
        values = (self.value[nodes][:, np.newaxis] + added).reshape(-1)
        self.feature = np.concatenate([self.feature, np.full(len(values), _LEAF, np.int32)])
        self.threshold = np.concatenate([self.threshold, np.zeros(len(values), np.int32)])
        self.dimension = np.concatenate([self.dimension, np.zeros(len(values), np.int32)])
        self.gain = np.concatenate([self.gain, np.zeros(len(values), np.float32)])
        self.children = np.concatenate([self.children, np.zeros((len(values), 2), np.int32)])
        self.value = np.concatenate([self.value, values])

    def prune(self) -> None:
        """Takes back splits that gain nothing, from the leaves up."""
        kept = np.ones(len(self), bool)
        target = np.arange(len(self))
        for node in reversed(range(len(self))):  # children have higher numbers than their parents
            if self.feature[node] == _LEAF or self.gain[node] > 0:
                continue
            children = self.children[node]
            if (self.feature[children] == _LEAF).all():
                self.feature[node], self.threshold[node], self.dimension[node], self.gain[node] = _LEAF, 0, 0, 0
                kept[children] = False
                target[np.isin(target, children)] = node
        if kept.all():
            return
        number = (np.cumsum(kept) - 1).astype(np.int32)
        self.moved = (number[target], self.value[target] - self.value)
        self.children = np.where(self.feature[:, np.newaxis] == _LEAF, 0, number[self.children])[kept]
        for name in ("feature", "threshold", "dimension", "gain", "value"):
            setattr(self, name, getattr(self, name)[kept])

    def down(self, buckets: Array, nodes: Array) -> Iterator[Array]:
        """From these nodes, the nodes of all examples one step after the other, until all are at leaves."""
        columns = np.arange(buckets.shape[1])
        while (self.feature[nodes] != _LEAF).any():
            features = self.feature[nodes]
            is_right = buckets[features, columns] > self.threshold[nodes]
            nodes = np.where(features == _LEAF, nodes, self.children[nodes, is_right.astype(np.int32)])
            yield nodes

    def leaves(self, buckets: Array, nodes: Array) -> Array:
        return [nodes, *self.down(buckets, nodes)][-1]


class TreeEnsemble:
    """Trees that are added up. Each change of it is another `stamp`."""

    def __init__(self, name: str):
        self.name = name
        self.is_initialized = False
        self.stamp = 0
        self.trees: list[Tree] = []
        self.trees_attempted = self.layers_attempted = 0
        self.last_layer = (0, 0)  # the nodes that are to be split next

    def create(self, stamp: int, serialized: bytes) -> None:
        """Does nothing the second time."""
        if not self.is_initialized:
            self.restore(stamp, serialized)
            self.is_initialized = True

    def checked(self) -> TreeEnsemble:
        if not self.is_initialized:
            raise FailedPreconditionError(None, None, f"Tree ensemble '{self.name}' has not been created")
        return self

    @property
    def finalized(self) -> int:
        """How many trees will not grow any more."""
        if not self.trees or self.trees[-1].is_finalized:
            return len(self.trees)
        return len(self.trees) - 1

    # --- growing ------------------------------------------------------------------------------------------------------

    def center(self, bias: float) -> float | None:
        """Moves what all examples have; gives what that was, None without trees."""
        self.stamp += 1
        before = float(self.trees[0].value[0]) if self.trees else None
        if not self.trees:
            self.trees.append(Tree())
        self.trees[0].value[0] += np.float32(bias)
        return before

    def grow(self, splits: list[Split], max_depth: int, pruning: int) -> None:
        """A layer of the last tree; a tree of full depth is finished, and another begins."""
        self.stamp += 1
        self._count_attempt()
        if not self.trees:
            self.trees.append(Tree())
        tree = self.trees[-1]
        if pruning == PRE_PRUNING:
            splits = [split for split in splits if split.gain >= 0]
        if not splits:
            return  # the same nodes are tried again, with other examples
        first = len(tree)
        tree.grow(splits)
        tree.layers += 1
        self.last_layer = (first, len(tree))
        if tree.layers >= max_depth:
            tree.is_finalized = True
            if pruning == POST_PRUNING:
                tree.prune()
            self.trees.append(Tree())
            self.last_layer = (0, 1)

    def _count_attempt(self) -> None:
        self.layers_attempted += 1
        if not self.trees or (len(self.trees[-1]) == 1 and (len(self.trees) == 1 or self.trees[-2].is_finalized)):
            self.trees_attempted += 1

    # --- what it says of examples: `buckets` is [features, examples] ----------------------------------------------------

    def logits(self, buckets: Array) -> Array:
        total = np.zeros(buckets.shape[1], np.float32)
        root = np.zeros(buckets.shape[1], np.int32)
        for tree in self.trees:
            total += np.float32(tree.weight) * tree.value[tree.leaves(buckets, root)]
        return total

    def changes(self, buckets: Array, tree_ids: Array, node_ids: Array) -> tuple[Array, Array, Array]:
        """(by how much logits changed since an example was at such a node of such a tree, the tree and the node where it is
        now). A node of -1 is none: the logit before was 0."""
        total = np.zeros(buckets.shape[1], np.float32)
        nodes = np.zeros(buckets.shape[1], np.int32)
        if not self.trees:
            return total, np.zeros_like(nodes), nodes
        for number in range(int(tree_ids.min(initial=len(self.trees))), len(self.trees)):
            tree = self.trees[number]
            nodes = np.zeros(buckets.shape[1], np.int32)
            before = np.zeros(buckets.shape[1], np.float32)
            known = (tree_ids == number) & (node_ids >= 0)
            at = node_ids[known]
            if tree.moved is not None:
                before[known] += tree.moved[1][at]
                at = tree.moved[0][at]
            before[known] -= tree.value[at]
            nodes[known] = at
            nodes = tree.leaves(buckets, nodes)
            total += np.where(tree_ids <= number, np.float32(tree.weight) * (before + tree.value[nodes]), np.float32(0))
        return total, np.full_like(nodes, len(self.trees) - 1), nodes

    def paths(self, buckets: Array) -> tuple[list[list[int]], list[list[float]]]:
        """Of each example the features that it is split by, and the logits before the first and after each."""
        count = buckets.shape[1]
        features: list[list[int]] = [[] for _ in range(count)]
        first = self.trees[0].weight * float(self.trees[0].value[0]) if self.trees else 0.0
        logits = [[first] for _ in range(count)]
        before = np.zeros(count, np.float32)
        for tree in self.trees:
            nodes = np.zeros(count, np.int32)
            reached = np.zeros(count, np.float32)
            for after in tree.down(buckets, nodes):
                moving = np.flatnonzero(after != nodes)
                reached[moving] = np.float32(tree.weight) * tree.value[after[moving]]
                for example, feature, logit in zip(
                    moving.tolist(), tree.feature[nodes[moving]].tolist(), (reached + before)[moving].tolist(), strict=True
                ):
                    features[example].append(feature)
                    logits[example].append(logit)
                nodes = after
            before += reached
        return features, logits

    # --- as TensorFlow's bytes ----------------------------------------------------------------------------------------

    def serialized(self) -> bytes:
        proto = EnsembleProto()
        for tree in self.trees:
            _write(tree, proto.trees.add())
            proto.tree_weights.append(tree.weight)
            about = proto.tree_metadata.add(num_layers_grown=tree.layers, is_finalized=tree.is_finalized)
            if tree.moved is not None:
                for node, change in zip(*(part.tolist() for part in tree.moved), strict=True):
                    about.post_pruned_nodes_meta.add(new_node_id=node, logit_change=[change])
        growing = proto.growing_metadata
        growing.num_trees_attempted, growing.num_layers_attempted = self.trees_attempted, self.layers_attempted
        growing.last_layer_node_start, growing.last_layer_node_end = self.last_layer
        made: bytes = proto.SerializeToString()
        return made

    def restore(self, stamp: int, serialized: bytes) -> None:
        proto = EnsembleProto.FromString(serialized)
        self.stamp = stamp
        self.trees = []
        for nodes, weight, about in zip(proto.trees, proto.tree_weights, proto.tree_metadata, strict=True):
            tree = _read(nodes.nodes)
            tree.weight, tree.layers, tree.is_finalized = weight, about.num_layers_grown, about.is_finalized
            if about.post_pruned_nodes_meta:
                moved = about.post_pruned_nodes_meta
                tree.moved = (_ints([one.new_node_id for one in moved]), _floats([sum(one.logit_change) for one in moved]))
            self.trees.append(tree)
        growing = proto.growing_metadata
        self.trees_attempted, self.layers_attempted = growing.num_trees_attempted, growing.num_layers_attempted
        self.last_layer = (growing.last_layer_node_start, growing.last_layer_node_end)


def _write(tree: Tree, proto: Any) -> None:
    for number in range(len(tree)):
        node, value = proto.nodes.add(), float(tree.value[number])
        if tree.feature[number] == _LEAF:
            node.leaf.scalar = value
            continue
        left, right = tree.children[number].tolist()
        split = node.bucketized_split
        split.feature_id, split.threshold = int(tree.feature[number]), int(tree.threshold[number])
        split.left_id, split.right_id, split.dimension_id = left, right, int(tree.dimension[number])
        node.metadata.gain = float(tree.gain[number])
        if number or value:
            node.metadata.original_leaf.scalar = value


def _read(nodes: Any) -> Tree:
    splits = [node.bucketized_split if node.WhichOneof("node") == "bucketized_split" else None for node in nodes]
    return Tree(
        feature=_ints([_LEAF if split is None else split.feature_id for split in splits]),
        threshold=_ints([0 if split is None else split.threshold for split in splits]),
        dimension=_ints([0 if split is None else split.dimension_id for split in splits]),
        children=_ints([(0, 0) if split is None else (split.left_id, split.right_id) for split in splits]).reshape(-1, 2),
        gain=_floats([node.metadata.gain for node in nodes]),
        value=_floats(
            [
                node.leaf.scalar if split is None else node.metadata.original_leaf.scalar
                for node, split in zip(nodes, splits, strict=True)
            ]
        ),
    )


def _ints(values: list[Any]) -> Array:
    return np.array(values, np.int32)


def _floats(values: list[Any]) -> Array:
    return np.array(values, np.float32)
