"""What sets masks: how many weights are to be zero at a step, and which. Source: `tf.contrib.model_pruning`, TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.contributed.hparam import HParams
from tfexp.contributed.model_pruning.masks import get_masks, get_thresholds, get_weights
from tfexp.core import dtypes
from tfexp.core.log import info
from tfexp.graph.control_flow import cond
from tfexp.graph.dependencies import group, no_op
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import control_dependencies, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops import state
from tfexp.ops.array import reshape, size
from tfexp.ops.array_gather import gather
from tfexp.ops.array_repeat import repeat
from tfexp.ops.cast import cast
from tfexp.ops.comparison import greater_equal, less_equal
from tfexp.ops.elementwise_binary import add, maximum, minimum, mul, pow
from tfexp.ops.elementwise_rounding import round
from tfexp.ops.elementwise_unary import abs
from tfexp.ops.initializers import zeros_initializer
from tfexp.ops.logical import logical_and, logical_or
from tfexp.ops.nn_norm import zero_fraction
from tfexp.ops.nn_pool import pool
from tfexp.ops.nn_topk import top_k
from tfexp.ops.summary import scalar
from tfexp.ops.variable_scope import get_variable, variable_scope
from tfexp.train.global_step import get_global_step


def get_pruning_hparams() -> HParams:
    """The settings of `Pruning`, with their defaults.

    name; begin_pruning_step, end_pruning_step (-1: never) and pruning_frequency say when masks are set; the share of zeros
    goes from initial_sparsity to target_sparsity between sparsity_function_begin_step and …end_step, along a polynomial of
    degree sparsity_function_exponent. weight_sparsity_map: ["part of a name:its target sparsity"]; threshold_decay: how much
    of the last threshold stays; block_height, block_width (and block_dims_map: ["part of a name:height x width"]) and
    block_pooling_function ("AVG", "MAX"): matrices lose whole blocks. nbins and use_tpu are there for TF's sake.
    """
    return HParams(
        name="model_pruning",
        begin_pruning_step=0,
        end_pruning_step=-1,
        weight_sparsity_map=[""],
        block_dims_map=[""],
        threshold_decay=0.0,
        pruning_frequency=10,
        nbins=256,
        block_height=1,
        block_width=1,
        block_pooling_function="AVG",
        initial_sparsity=0.0,
        target_sparsity=0.5,
        sparsity_function_begin_step=0,
        sparsity_function_end_step=100,
        sparsity_function_exponent=3.0,
        use_tpu=False,
    )


def get_weight_sparsity() -> list[Tensor]:
    """The share of zeros in each mask."""
    return [zero_fraction(mask) for mask in get_masks()]


class Pruning:
    """Sets the masks of what `apply_mask` and masked layers made.

    spec: as `get_pruning_hparams`; global_step: the graph's if None; sparsity: the share of zeros, as `spec` has it if None.
    ValueError for steps, sparsities and a decay of thresholds that make no sense.
    """

    def __init__(self, spec: Any = None, global_step: Any = None, sparsity: Any = None):
        self._spec: Any = spec
        if spec is None:
            self._spec = get_pruning_hparams()
        _check(self._spec)
        self._step = cast(get_global_step() if global_step is None else global_step, dtypes.int32)
        self._targets = dict(_pairs(self._spec.weight_sparsity_map, _sparsity))
        self._blocks = dict(_pairs(self._spec.block_dims_map, lambda text: tuple(int(n) for n in text.split("x"))))
        self._sparsity: Any = self._planned() if sparsity is None else sparsity
        with variable_scope(self._spec.name, use_resource=False):
            self._last_update_step = get_variable(
                "last_mask_update_step", [], dtypes.int32, zeros_initializer(), trainable=False
            )

    def _planned(self) -> Tensor:
        spec = self._spec
        begin, end = spec.sparsity_function_begin_step, spec.sparsity_function_end_step
        with name_scope(spec.name):
            done: Any = cast(self._step - begin, dtypes.float32) / (end - begin)
            left: Any = pow(1 - minimum(1.0, maximum(0.0, done)), spec.sparsity_function_exponent)
            return add(mul(spec.initial_sparsity - spec.target_sparsity, left), spec.target_sparsity, name="sparsity")

    def conditional_mask_update_op(self) -> Any:
        """The op that sets masks at the steps at which that is due."""
        return cond(self._is_due(), self.mask_update_op, no_op)

    def _is_due(self) -> Any:
        spec = self._spec
        with name_scope(spec.name):
            begun = greater_equal(self._step, spec.begin_pruning_step)
            ended = less_equal(self._step, spec.end_pruning_step)
            within = logical_and(begun, logical_or(ended, spec.end_pruning_step < 0))
            return logical_and(within, less_equal(self._last_update_step + spec.pruning_frequency, self._step))

    def mask_update_op(self) -> Operation:
        """The op that sets all masks, whatever the step is."""
        with name_scope(self._spec.name):
            found = zip(get_weights(), get_masks(), get_thresholds(), strict=True)
            updates = [update for masked in found for update in self._updates(*masked)]
            with control_dependencies(updates):
                moment = state.assign(self._last_update_step, self._step, name="last_mask_update_step_assign")
                updated: Operation = group(*updates, moment, name="mask_update")
                return updated

    def _updates(self, weights: Any, mask: Any, threshold: Any) -> list[Any]:
        name, shape = weights.op.name, [n for n in weights.get_shape().as_list() if n != 1]
        block = _named(self._blocks, name, (self._spec.block_height, self._spec.block_width))
        in_blocks = len(shape) == 2 and block != (1, 1)
        with name_scope(f"{name}_pruning_ops"):
            sizes: Any = abs(weights)
            if in_blocks:
                sizes = _pooled(reshape(sizes, shape), block, self._spec.block_pooling_function)
            limit, kept = self._kept(sizes, self._sparsity_of(name), threshold)
            if in_blocks:
                kept = repeat(repeat(kept, block[0], axis=0), block[1], axis=1)[: shape[0], : shape[1]]
            kept = reshape(kept, weights.get_shape())
        return [
            state.assign(threshold, limit, name=f"{threshold.op.name}_assign"),
            state.assign(mask, kept, name=f"{mask.op.name}_assign"),
        ]

    def _kept(self, sizes: Any, sparsity: Any, threshold: Any) -> tuple[Any, Any]:
        """(the size from which weights are kept, 1 where they are)."""
        count = size(sizes)
        left: Any = cast(round(mul(cast(count, dtypes.float32), 1 - sparsity)), dtypes.int32)
        values, _ = top_k(reshape(sizes, [-1]), k=count)
        decay = self._spec.threshold_decay
        limit = gather(values, maximum(left - 1, 0)) * (1 - decay) + threshold * decay
        return limit, cast(greater_equal(sizes, limit), threshold.dtype.base_dtype)

    def _sparsity_of(self, name: str) -> Any:
        target = _named(self._targets, name, None)
        return self._sparsity if target is None else self._sparsity * (target / self._spec.target_sparsity)

    def add_pruning_summaries(self) -> None:
        """Scalars of the sparsity that is wanted, the step of the last update, and of each mask and threshold."""
        with name_scope(f"{self._spec.name}_summaries"):
            scalar("sparsity", self._sparsity)
            scalar("last_mask_update_step", self._last_update_step)
            for mask, threshold in zip(get_masks(), get_thresholds(), strict=True):
                scalar(f"{mask.op.name}/sparsity", zero_fraction(mask))
                scalar(f"{threshold.op.name}/threshold", threshold)

    def print_hparams(self) -> None:
        """Log the settings."""
        info(self._spec.to_json())


def _pairs(listed: Any, value_of: Any) -> list[tuple[str, Any]]:
    """("part of a name", value) of "part of a name:value"."""
    return [(name, value_of(value)) for name, _, value in (text.rpartition(":") for text in listed if text)]


def _check(spec: Any) -> None:
    if spec.begin_pruning_step < 0 or spec.sparsity_function_begin_step < 0:
        raise ValueError("begin_pruning_step and sparsity_function_begin_step must not be negative")
    if spec.end_pruning_step != -1 and spec.begin_pruning_step >= spec.end_pruning_step:
        raise ValueError(
            f"Pruning must begin before it can end: begin_pruning_step is {spec.begin_pruning_step}, end_pruning_step "
            f"{spec.end_pruning_step} (-1: never)"
        )
    if spec.sparsity_function_begin_step >= spec.sparsity_function_end_step:
        raise ValueError("Sparsity must begin to grow before it ends: see sparsity_function_begin_step and ..._end_step")
    for name in ("threshold_decay", "initial_sparsity", "target_sparsity"):
        if not 0 <= getattr(spec, name) < 1:
            raise ValueError(f"{name} must be in range [0, 1), not {getattr(spec, name)}")


def _sparsity(text: str) -> float:
    value = float(text)
    if value > 1:
        raise ValueError(f"A weight's sparsity can not exceed 1, but weight_sparsity_map has {value}")
    return value


def _named(values: dict[str, Any], name: str, default: Any) -> Any:
    """The value of the one key that the name has in it. ValueError for several."""
    found = [value for part, value in values.items() if part in name]
    if len(found) > 1:
        raise ValueError(f"{name} has to have one of these in its name, but it has several: {sorted(values)}")
    return found[0] if found else default


def _pooled(sizes: Any, block: tuple[int, int], function: str) -> Any:
    pooled: Any = pool(sizes[None, :, :, None], list(block), function, "SAME", strides=list(block))
    return pooled[0, :, :, 0]
