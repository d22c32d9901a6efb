"""Constraints of a layer on its inputs. Source: `tf.layers.InputSpec`."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes, nest


class InputSpec:
    """dtype, shape (None for an unknown dimension), ndim, max_ndim, min_ndim, axes ({axis: size}); all optional."""

    def __init__(
        self,
        dtype: Any = None,
        shape: Any = None,
        ndim: int | None = None,
        max_ndim: int | None = None,
        min_ndim: int | None = None,
        axes: dict[int, int | None] | None = None,
    ):
        self.dtype = None if dtype is None else dtypes.as_dtype(dtype).name
        self.shape = shape
        self.ndim = len(shape) if shape is not None else ndim
        self.max_ndim, self.min_ndim = max_ndim, min_ndim
        self.axes = {int(axis): size for axis, size in (axes or {}).items()}

    def __repr__(self) -> str:
        known = {
            "dtype": self.dtype,
            "shape": self.shape,
            "ndim": self.ndim,
            "max_ndim": self.max_ndim,
            "min_ndim": self.min_ndim,
            "axes": self.axes or None,
        }
        return f"InputSpec({', '.join(f'{key}={value}' for key, value in known.items() if value is not None)})"


def check_inputs(specs: Any, inputs: Any, name: str) -> None:
    """ValueError, naming the layer and what was found, when the inputs do not meet the specs (one, a list or None)."""
    if specs is None:
        return
    wanted = nest.flatten(specs)
    leaves = nest.flatten(inputs)
    if len(wanted) != len(leaves):
        raise ValueError(f"Layer {name} expects {len(wanted)} inputs, but it received {len(leaves)} input tensors: {leaves}")
    for index, (spec, tensor) in enumerate(zip(wanted, leaves, strict=True)):
        if spec is not None:
            _check(spec, tensor, f"Input {index} of layer {name} is incompatible with the layer: ")


def _check(spec: InputSpec, tensor: Any, where: str) -> None:
    shape = tensor.get_shape()
    if shape.ndims is None:
        if spec.ndim is not None or spec.min_ndim is not None or spec.max_ndim is not None:
            raise ValueError(f"{where}its rank is undefined, but the layer requires a defined rank.")
        return
    dims, found = shape.as_list(), f"Full shape received: {shape.as_list()}"
    if spec.ndim is not None and len(dims) != spec.ndim:
        raise ValueError(f"{where}expected ndim={spec.ndim}, found ndim={len(dims)}. {found}")
    if spec.max_ndim is not None and len(dims) > spec.max_ndim:
        raise ValueError(f"{where}expected max_ndim={spec.max_ndim}, found ndim={len(dims)}")
    if spec.min_ndim is not None and len(dims) < spec.min_ndim:
        raise ValueError(f"{where}expected min_ndim={spec.min_ndim}, found ndim={len(dims)}. {found}")
    if spec.dtype is not None and tensor.dtype.base_dtype.name != spec.dtype:
        raise ValueError(f"{where}expected dtype={spec.dtype}, found dtype={tensor.dtype}")
    for axis, size in spec.axes.items():
        if size is not None and dims[axis] not in (size, None):
            raise ValueError(
                f"{where}expected axis {axis} of input shape to have value {size} but received input with shape {dims}"
            )
    for mine, theirs in zip(spec.shape or (), dims, strict=False):
        if mine is not None and theirs is not None and mine != theirs:
            raise ValueError(f"{where}expected shape={spec.shape}, found shape={dims}")
