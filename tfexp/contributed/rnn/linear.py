"""What the cells share: a product with variables of the current scope, with names that checkpoints of TF 1.15 have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfexp.contributed.normalization import layer_norm
from tfexp.ops.array_join import concat
from tfexp.ops.initializers import constant_initializer
from tfexp.ops.matmul import matmul
from tfexp.ops.nn_bias import bias_add
from tfexp.ops.variable_scope import get_variable, get_variable_scope, variable_scope


def depth_of(x: Any) -> int:
    """The last dimension of [batch, depth]. ValueError where it is not known or there are other dimensions than these."""
    shape = x.get_shape()
    if shape.ndims != 2:
        raise ValueError(f"linear is expecting 2D arguments: {x.name} has shape {shape}")
    depth = shape[1].value
    if depth is None:
        raise ValueError(f"linear expects the depth of {x.name} to be known, but its shape is {shape}")
    return int(depth)


def linear(
    args: Any,
    size: int,
    bias: bool = True,
    kernel_initializer: Any = None,
    bias_initializer: Any = None,
) -> Any:
    """[batch, size]: the tensors `args` ([batch, depth] each) side by side, times `kernel`, plus `bias`."""
    parts = list(args) if isinstance(args, Sequence) else [args]
    dtype = parts[0].dtype
    kernel = get_variable("kernel", [sum(map(depth_of, parts)), size], dtype, initializer=kernel_initializer)
    product = matmul(parts[0] if len(parts) == 1 else concat(parts, 1), kernel)
    return bias_add(product, bias_variable(size, dtype, bias_initializer)) if bias else product


def bias_variable(size: int, dtype: Any, initializer: Any = None) -> Any:
    """`bias` of the current scope, zeros at first; never in parts."""
    with variable_scope(get_variable_scope(), auxiliary_name_scope=False) as scope:
        scope.set_partitioner(None)
        return get_variable("bias", [size], dtype, initializer=initializer or constant_initializer(0.0, dtype=dtype))


def sharded_variable(name: str, shape: Sequence[int], dtype: Any, shards: int) -> Any:
    """A matrix whose rows are in `shards` variables `<name>_0`, `<name>_1`, …: the first ones have a row more, if any."""
    if shards > shape[0]:
        raise ValueError(f"Too many shards: shape={list(shape)}, num_shards={shards}")
    rows, more = divmod(shape[0], shards)
    parts = [get_variable(f"{name}_{i}", [rows + (i < more), *shape[1:]], dtype) for i in range(shards)]
    return parts[0] if shards == 1 else concat(parts, 0, name=f"{name}/concat")


def layer_normalized(x: Any, name: str, gain: float, shift: float) -> Any:
    """Each example of x [batch, depth] normalised; `name/gamma` and `name/beta` start as `gain` and `shift`."""
    with variable_scope(name):
        get_variable("gamma", [depth_of(x)], x.dtype, initializer=constant_initializer(gain))
        get_variable("beta", [depth_of(x)], x.dtype, initializer=constant_initializer(shift))
    return layer_norm(x, reuse=True, scope=name)
