"""Networks of the shifts and scales of flows: any network for coupled numbers, a masked one for autoregressive ones.

Source: `tf.contrib.distributions.bijectors.{masked_dense,masked_autoregressive_default_template,real_nvp_default_template}`,
TF 1.15.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfexp.graph.scopes import name_scope
from tfexp.layers.core import Dense, dense
from tfexp.ops.array import reshape, shape
from tfexp.ops.array_identity import stop_gradient
from tfexp.ops.array_join import concat, unstack
from tfexp.ops.array_split import split
from tfexp.ops.clip import clip_by_value
from tfexp.ops.initializers import glorot_normal_initializer
from tfexp.ops.nn_activation import relu
from tfexp.ops.template import make_template

Network = Callable[..., tuple[Any, Any]]


def masked_dense(
    inputs: Any,
    units: int,
    num_blocks: int | None = None,
    exclusive: bool = False,
    kernel_initializer: Any = None,
    reuse: bool | None = None,
    name: str | None = None,
    *args: Any,
    **kwargs: Any,
) -> Any:
    """`tf.layers.dense` of [..., k] of which a block of units sees only the blocks of inputs up to its own.

    There are `num_blocks` of k // num_blocks inputs and of units // num_blocks units; exclusive: up to the one before its
    own. What goes to the rest of the inputs is 0, and the rest of the units see all blocks. NotImplementedError where k is
    not known. Source: Germain et al., "MADE: Masked Autoencoder for Distribution Estimation" (2015).
    """
    depth = _depth(inputs)
    mask = _mask(num_blocks, depth, units, exclusive)
    initial = glorot_normal_initializer() if kernel_initializer is None else kernel_initializer

    def masked(dims: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        return mask * initial(dims, dtype, partition_info)

    with name_scope(name, "masked_dense", [inputs]):
        layer = Dense(  # type: ignore[misc]
            units,
            *args,
            kernel_initializer=masked,
            kernel_constraint=lambda kernel: mask * kernel,
            name=name,
            dtype=inputs.dtype.base_dtype,
            _scope=name,
            _reuse=reuse,
            **kwargs,
        )
        return layer.apply(inputs)


def _depth(inputs: Any) -> int:
    depth = inputs.shape.with_rank_at_least(1)[-1].value
    if depth is None:
        raise NotImplementedError("Rightmost dimension must be known prior to graph execution.")
    return int(depth)


def _mask(num_blocks: Any, inputs: int, units: int, exclusive: bool) -> np.ndarray:
    """[inputs, units]: 1 where a unit sees an input."""
    if not num_blocks or num_blocks < 0:
        raise TypeError(f"num_blocks must be a positive integer, not {num_blocks!r}")
    per_block, units_per_block = inputs // num_blocks, units // num_blocks
    seen = np.zeros((inputs, units), np.float32)
    if per_block:
        blocks = np.arange(num_blocks * per_block) // per_block
        # Units that are fewer than the blocks see all of them.
        own = np.arange(units) // units_per_block if units_per_block else np.full(units, num_blocks)
        seen[: blocks.size] = blocks[:, None] + exclusive <= own
    return seen


def masked_autoregressive_default_template(
    hidden_layers: Sequence[int],
    shift_only: bool = False,
    activation: Any = relu,
    log_scale_min_clip: float = -5.0,
    log_scale_max_clip: float = 3.0,
    log_scale_clip_gradient: bool = False,
    name: str | None = None,
    *args: Any,
    **kwargs: Any,
) -> Network:
    """A template: x [..., k] -> (shift, log_scale), [..., k] both, the i-th of which depend on x[:i] alone.

    They are masked layers of so many units. The logarithm of the scale is clipped, its gradient only if so asked; it is
    None where shift_only. For `MaskedAutoregressiveFlow`. NotImplementedError where k is not known. Further arguments are
    `masked_dense`'s.
    """

    def network(x: Any) -> tuple[Any, Any]:
        depth, found = _depth(x), x
        for i, units in enumerate(hidden_layers):
            found = masked_dense(found, units, depth, i == 0, *args, activation=activation, **kwargs)
        outputs = depth if shift_only else 2 * depth
        found = masked_dense(found, outputs, depth, False, *args, **kwargs)
        if shift_only:
            return reshape(found, shape(x)), None
        shift, log_scale = unstack(reshape(found, concat([shape(x), [2]], 0)), num=2, axis=-1)
        clipped = clip_by_value(log_scale, log_scale_min_clip, log_scale_max_clip)
        if not log_scale_clip_gradient:
            clipped = log_scale + stop_gradient(clipped - log_scale)  # type: ignore[operator]
        return shift, clipped

    default_name = "masked_autoregressive_default_template"
    with name_scope(name, default_name):
        return make_template(name or default_name, network)


def real_nvp_default_template(
    hidden_layers: Sequence[int],
    shift_only: bool = False,
    activation: Any = relu,
    name: str | None = None,
    *args: Any,
    **kwargs: Any,
) -> Network:
    """A template: (x [..., k], n) -> (shift, log_scale), [..., n] both, by layers of so many units. For `RealNVP`.

    shift_only: the logarithm of the scale is None. Further arguments are `tf.layers.dense`'s. The variables are under
    `real_nvp_default_template`, whatever the name, as 1.15 has it.
    """

    def network(x: Any, output_units: int) -> tuple[Any, Any]:
        for units in hidden_layers:
            x = dense(x, units, activation, *args, **kwargs)
        x = dense(x, output_units if shift_only else 2 * output_units, None, *args, **kwargs)
        if shift_only:
            return x, None
        shift, log_scale = split(x, 2, axis=-1)
        return shift, log_scale

    with name_scope(name, "real_nvp_default_template"):
        return make_template("real_nvp_default_template", network)
