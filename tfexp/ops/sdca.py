"""Stochastic dual coordinate ascent for linear models: `tf.train.sdca_optimizer` and its kin. Source: TF 1.15.

Each example has a dual variable. An example's turn moves its variable to the best place for it, and with it the weights of
its features. Sources: Shalev-Shwartz, Zhang (JMLR 2013); with l1: "Accelerated proximal stochastic dual coordinate ascent"
(2013); in partitions: Ma et al. (2015); adaptive: Csiba et al. (2015).
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tfexp.core.errors import invalid
from tfexp.core.op import Op, define_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import Array
from tfexp.ops.city_hash import fingerprints128
from tfexp.ops.sdca_losses import LOSSES, Loss
from tfexp.ops.shape_rules import with_rank
from tfexp.ops.state import buffer_of
from tfexp.ops.string_arrays import texts_of

_INPUTS = (
    "sparse_example_indices: num_sparse_features * int64, sparse_feature_indices: num_sparse_features * int64, "
    "sparse_feature_values: num_sparse_features_with_values * float, dense_features: num_dense_features * float, "
    "example_weights: float, example_labels: float, sparse_indices: num_sparse_features * int64, "
    "sparse_weights: num_sparse_features * float, dense_weights: num_dense_features * float, example_state_data: float"
)
_OUTPUTS = (
    "out_example_state_data: float, out_delta_sparse_weights: num_sparse_features * float, "
    "out_delta_dense_weights: num_dense_features * float"
)


def _define(name: str, adaptive: str) -> Op:
    return define_op(
        f"{name}({_INPUTS}) -> ({_OUTPUTS}) {{loss_type: string in "
        f"[{', '.join(repr(loss) for loss in LOSSES)}]; {adaptive}: bool = false; num_sparse_features: int >= 0; "
        "num_sparse_features_with_values: int >= 0; num_dense_features: int >= 0; l1: float; l2: float; "
        "num_loss_partitions: int >= 1; num_inner_iterations: int >= 1}"
    ).not_differentiable()


sdca_optimizer_op = _define("SdcaOptimizer", "adaptative")  # as it is written in TensorFlow
sdca_optimizer_v2 = _define("SdcaOptimizerV2", "adaptive")
sdca_shrink_l1_op = define_op(
    "SdcaShrinkL1(weights: ref num_features * float) -> () {num_features: int >= 0; l1: float; l2: float}"
).not_differentiable()
sdca_fprint_op = define_op("SdcaFprint(input: string) -> (output: int64)").not_differentiable()

_STATE = 4  # of each example: the dual variable, the primal and the dual loss, the weight


class _Examples(NamedTuple):
    """The features of a batch with the weights that belong to them, in one row each."""

    dense: Array  # [examples, width]
    dense_weights: Array
    starts: Array  # where the sparse entries of each example begin, [examples + 1]
    places: Array  # of an entry among the sparse weights
    values: Array
    sparse_weights: Array

    def predictions(self, sparse_weights: Array, dense_weights: Array) -> Array:
        sums = np.concatenate([[0.0], np.cumsum(self.values * sparse_weights[self.places])])
        return self.dense @ dense_weights + np.diff(sums[self.starts])

    def squared_norms(self) -> Array:
        sums = np.concatenate([[0.0], np.cumsum(self.values**2)])
        return np.einsum("ed,ed->e", self.dense, self.dense) + np.diff(sums[self.starts])


for _op in (sdca_optimizer_op, sdca_optimizer_v2):

    @_op.shape
    def _(
        sparse_example_indices: list[InputShape],
        sparse_feature_indices: list[InputShape],
        sparse_feature_values: list[InputShape],
        dense_features: list[InputShape],
        example_weights: InputShape,
        example_labels: InputShape,
        sparse_indices: list[InputShape],
        sparse_weights: list[InputShape],
        dense_weights: list[InputShape],
        example_state_data: InputShape,
    ) -> list[TensorShape]:
        rows = with_rank(example_weights, 1).as_list()[0]
        return [TensorShape([rows, _STATE]), *(TensorShape(shape) for shape in (*sparse_weights, *dense_weights))]


def _ascend(
    ctx: Any,
    sparse_example_indices: list[Array],
    sparse_feature_indices: list[Array],
    sparse_feature_values: list[Array],
    dense_features: list[Array],
    example_weights: Array,
    example_labels: Array,
    sparse_indices: list[Array],
    sparse_weights: list[Array],
    dense_weights: list[Array],
    example_state_data: Array,
    *,
    loss_type: str,
    adaptive: bool,
    l1: float,
    l2: float,
    num_loss_partitions: int,
) -> list[Array]:
    count = example_weights.size
    if example_labels.size != count:
        raise invalid(f"Expected {count} example labels but got {example_labels.size}")
    if example_state_data.shape != (count, _STATE):
        given = dims_text(example_state_data.shape)
        raise invalid(f"Expected shape [{count},{_STATE}] for example_state_data, got {given}")
    places = [_places(wanted, own) for wanted, own in zip(sparse_feature_indices, sparse_indices, strict=True)]
    examples = _laid_out(
        count, sparse_example_indices, places, sparse_feature_values, dense_features, sparse_weights, dense_weights
    )
    loss = LOSSES[loss_type]
    labels = loss.labels(example_labels.reshape(-1))
    weights = example_weights.reshape(-1).astype(np.float64)
    duals = example_state_data[:, 0].astype(np.float64)
    shrinkage = l1 / l2
    before = examples.predictions(_shrunk(examples.sparse_weights, shrinkage), _shrunk(examples.dense_weights, shrinkage))
    norms = examples.squared_norms()
    # In an order that is another at each step, as the ascent needs it, and the same again when a training is repeated.
    random = np.random.default_rng(zlib.crc32(example_state_data.tobytes()))
    if adaptive:
        kappa = np.abs(duals + loss.slope(before, labels))
        chances = weights * np.sqrt(norms + l2 * loss.smoothness) * kappa
        total = chances.sum()
        turns = random.choice(count, count, p=chances / total) if total > 0 else np.arange(count)
    else:
        turns = random.permutation(count)
    made, sparse_deltas, dense_deltas = _take_turns(
        turns, examples, loss, labels, weights, duals, norms / l2, shrinkage, l2, num_loss_partitions
    )
    state = example_state_data.copy()
    with np.errstate(invalid="ignore"):
        losses = [loss.primal(before, labels) * weights, np.where(weights == 0, 0, loss.dual(duals, labels) * weights)]
    seen = np.unique(turns)
    state[seen] = np.stack([made, *losses, weights], axis=1)[seen]
    return [
        state,
        *_divided(sparse_deltas, sparse_weights),
        *_divided(dense_deltas, dense_weights),
    ]


def _take_turns(
    turns: Array,
    examples: _Examples,
    loss: Loss,
    labels: Array,
    weights: Array,
    duals: Array,
    norms: Array,
    shrinkage: float,
    l2: float,
    partitions: int,
) -> tuple[Array, Array, Array]:
    """The dual variables, and the changes of sparse and dense weights. Each turn builds on what those before it changed."""
    made = duals.copy()
    sparse_deltas = np.zeros_like(examples.sparse_weights)
    dense_deltas = np.zeros_like(examples.dense_weights)
    for turn in turns.tolist():
        entries = slice(examples.starts[turn], examples.starts[turn + 1])
        places, values, dense = examples.places[entries], examples.values[entries], examples.dense[turn]
        sparse_now = _shrunk(examples.sparse_weights[places] + partitions * sparse_deltas[places], shrinkage)
        dense_now = _shrunk(examples.dense_weights + partitions * dense_deltas, shrinkage)
        wx = float(values @ sparse_now + dense @ dense_now)
        size = partitions * float(norms[turn] * weights[turn])
        new = loss.step(float(made[turn]), float(labels[turn]), wx, size)
        change = (new - made[turn]) * weights[turn] / l2
        np.add.at(sparse_deltas, places, change * values)
        dense_deltas += change * dense
        made[turn] = new
    return made, sparse_deltas, dense_deltas


sdca_optimizer_v2.kernel("CPU")(_ascend)


@sdca_optimizer_op.kernel("CPU")
def _(
    ctx: Any, *inputs: Any, loss_type: str, adaptative: bool, l1: float, l2: float, num_loss_partitions: int
) -> list[Array]:
    return _ascend(
        ctx, *inputs, loss_type=loss_type, adaptive=adaptative, l1=l1, l2=l2, num_loss_partitions=num_loss_partitions
    )


def _places(wanted: Array, own: Array) -> Array:
    """Where the features of entries are among those that have weights here."""
    order = np.argsort(own, kind="stable")
    found = np.searchsorted(own, wanted, sorter=order)
    places = order[np.minimum(found, max(own.size - 1, 0))] if own.size else np.zeros(wanted.shape, np.int64)
    known = own[places] == wanted if own.size else np.zeros(wanted.shape, bool)
    if not known.all():
        raise invalid(f"Found sparse feature indices out of valid range: {wanted[~known][0]}")
    return places


def _laid_out(
    count: int,
    example_indices: list[Array],
    places: list[Array],
    feature_values: list[Array],
    dense_features: list[Array],
    sparse_weights: list[Array],
    dense_weights: list[Array],
) -> _Examples:
    for features, weights in zip(dense_features, dense_weights, strict=True):
        if features.ndim != 2 or features.shape[0] != count:
            raise invalid(f"Dense features must be [{count}, width], one row for each example: {dims_text(features.shape)}")
        if features.shape[1] != weights.size:
            raise invalid(f"There are {weights.size} dense weights, but features of {features.shape[1]} columns")
    owners = np.concatenate([np.zeros(0, np.int64), *example_indices])
    if owners.size and not 0 <= owners.min() <= owners.max() < count:
        raise invalid(f"Sparse features are of examples {owners.min()} to {owners.max()}, but there are {count} examples")
    for number, own in enumerate(places):
        if example_indices[number].shape != own.shape:
            raise invalid(f"Expected {own.size} example indices for sparse feature {number}")
        if number < len(feature_values) and feature_values[number].shape != own.shape:
            raise invalid(f"Expected {own.size} values for sparse feature {number}")
    # Features that have no values have 1.
    values = [*feature_values, *(np.ones(own.shape, np.float32) for own in places[len(feature_values) :])]
    offsets = np.cumsum([0, *(weights.size for weights in sparse_weights)])
    moved = [own + offset for own, offset in zip(places, offsets, strict=False)]
    order = np.argsort(owners, kind="stable")
    return _Examples(
        np.concatenate([np.zeros((count, 0)), *dense_features], axis=1),
        _joined(dense_weights),
        np.searchsorted(owners[order], np.arange(count + 1)),
        np.concatenate([np.zeros(0, np.int64), *moved])[order],
        _joined(values)[order],
        _joined(sparse_weights),
    )


def _joined(parts: Any) -> Array:
    return np.concatenate([np.zeros(0), *(part.reshape(-1) for part in parts)])


def _divided(flat: Array, like: list[Array]) -> list[Array]:
    ends = np.cumsum([one.size for one in like])
    return [flat[end - one.size : end].astype(np.float32).reshape(one.shape) for one, end in zip(like, ends, strict=True)]


def _shrunk(weights: Array, by: float) -> Array:
    """Nearer to 0 by so much: the proximal step of l1."""
    return np.copysign(np.maximum(np.abs(weights) - by, 0), weights)


@sdca_shrink_l1_op.shape
def _(weights: list[InputShape]) -> None:
    return None


@sdca_shrink_l1_op.kernel("CPU")
def _(ctx: Any, weights: list[Any], *, l1: float, l2: float) -> None:
    for ref in weights:
        buffer = buffer_of(ref)
        buffer[...] = _shrunk(buffer, l1 / l2)


@sdca_fprint_op.shape
def _(input: InputShape) -> TensorShape:
    return TensorShape([with_rank(input, 1).as_list()[0], 2])


@sdca_fprint_op.kernel("CPU")
def _(ctx: Any, input: Array) -> Array:
    """A hash of 128 bits of each string. Its first half is neither 0 nor 1, which tables may use for other ends."""
    found = fingerprints128(texts_of(input))
    found[found[:, 0] < 2, 0] += ~np.uint64(1)
    return found.view(np.int64)


# --- as programs call them ---------------------------------------------------------------------------------------------


def sdca_optimizer(
    sparse_example_indices: Sequence[Any],
    sparse_feature_indices: Sequence[Any],
    sparse_feature_values: Sequence[Any],
    dense_features: Sequence[Any],
    example_weights: Any,
    example_labels: Any,
    sparse_indices: Sequence[Any],
    sparse_weights: Sequence[Any],
    dense_weights: Sequence[Any],
    example_state_data: Any,
    loss_type: str,
    l1: float,
    l2: float,
    num_loss_partitions: int,
    num_inner_iterations: int,
    adaptative: bool = True,
    name: str | None = None,
) -> Any:
    """A turn for each example of a batch: (new state, changes of the sparse weights, changes of the dense weights).

    Of a sparse feature there are, of its entries, the examples, ids and values (all int64, int64, float32 [entries]; values
    may be left out from the last features on), and of the ids in the batch, the ids and weights. Dense features are
    float32 [examples, width], `example_weights` and `example_labels` float32 [examples], `example_state_data` float32
    [examples, 4]. `loss_type`: logistic_loss, squared_loss, hinge_loss, smooth_hinge_loss or poisson_loss. With
    `adaptative`, examples of more use have more turns. InvalidArgumentError for ids without weights, for labels that are
    none of the loss, for other shapes. Source: `tf.train.sdca_optimizer`.
    """
    return sdca_optimizer_op(
        sparse_example_indices,
        sparse_feature_indices,
        sparse_feature_values,
        dense_features,
        example_weights,
        example_labels,
        sparse_indices,
        sparse_weights,
        dense_weights,
        example_state_data,
        loss_type=loss_type,
        l1=l1,
        l2=l2,
        num_loss_partitions=num_loss_partitions,
        num_inner_iterations=num_inner_iterations,
        adaptative=adaptative,
        name=name,
    )


def sdca_shrink_l1(weights: Sequence[Any], l1: float, l2: float, name: str | None = None) -> Operation:
    """Moves the weights, float32 variables, nearer to 0 by l1 / l2. Source: `tf.train.sdca_shrink_l1`."""
    node: Operation = sdca_shrink_l1_op(weights, l1=l1, l2=l2, name=name)
    return node


def sdca_fprint(input: Any, name: str | None = None) -> Tensor:
    """Hashes of 128 bits of strings [n], int64 [n, 2]: FarmHash's Fingerprint128. Source: `tf.train.sdca_fprint`."""
    made: Tensor = sdca_fprint_op(input, name=name)
    return made
