"""Rounding to integers, and the questions whether numbers are finite. Constant almost everywhere: gradients stop."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.kernel import BindRequest, Call
from tfexp.core.op import define_op
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.tensor import Tensor
from tfexp.ops.shape_rules import shape_preserving

floor = define_op("Floor(x: T) -> (y: T) {T: type in [bfloat16,half,float,double]}")
ceil = define_op("Ceil(x: T) -> (y: T) {T: type in [bfloat16,half,float,double]}")
rint = define_op("Rint(x: T) -> (y: T) {T: type in [bfloat16,half,float,double]}")
round_op = define_op(
    "Round(x: T) -> (y: T) {T: type in [bfloat16,half,float,double,int8,int16,int32,int64,complex64,complex128]}"
)
for _op, _function in ((floor, np.floor), (ceil, np.ceil), (rint, np.rint)):
    shape_preserving(_op).ufunc(_function)
for _op in (floor, ceil, rint, round_op):
    _op.gradient(lambda op, grad: [None])

shape_preserving(round_op)


def _round(x: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    return (np.positive if x.dtype.kind in "iu" else np.rint)(x, out=out)


@round_op.kernel("CPU", "XLA")
def _(ctx: Any, x: np.ndarray) -> np.ndarray:
    return _round(x)


@round_op.bind
def _(node: BindRequest) -> Call:
    return Call(_round, out=True, elementwise=True)


def round(x: Any, name: str | None = None) -> Tensor:
    """To the nearest integer, halves to the even one; integers as they are. `tf.round`."""
    x = convert_to_tensor(x, name="x")
    return x if x.dtype.is_integer else round_op(x, name=name)


is_nan = define_op("IsNan(x: T) -> (y: bool) {T: type in [bfloat16,half,float,double]}")
is_inf = define_op("IsInf(x: T) -> (y: bool) {T: type in [bfloat16,half,float,double]}")
is_finite = define_op("IsFinite(x: T) -> (y: bool) {T: type in [bfloat16,half,float,double]}")
for _op, _question in ((is_nan, np.isnan), (is_inf, np.isinf), (is_finite, np.isfinite)):
    shape_preserving(_op).ufunc(_question)
