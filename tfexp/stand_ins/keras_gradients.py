"""Functions that look at what comes back through them, or spoil it: `mixed_precision.experimental.test_util`, TF 1.15."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tfexp.graph.control_flow import cond
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.custom_gradient import custom_gradient
from tfexp.graph.scopes import control_dependencies
from tfexp.ops.array import shape
from tfexp.ops.array_fill import fill
from tfexp.ops.array_identity import identity
from tfexp.ops.check_compare import assert_equal


def create_identity_with_grad_check_fn(expected_gradient: Any, expected_dtype: Any = None) -> Callable[[Any], Any]:
    """An identity whose gradient has to be this one, in the run, and of this type, at once: AssertionError otherwise."""

    def checked(gradient: Any) -> Any:
        if expected_dtype is not None and gradient.dtype != expected_dtype:
            raise AssertionError(f"dx.dtype should be {expected_dtype} but is: {gradient.dtype}")
        wanted = convert_to_tensor(expected_gradient, dtype=gradient.dtype, name="expected_gradient")
        check = assert_equal(gradient, wanted)
        with control_dependencies([] if check is None else [check]):
            return identity(gradient)

    return _identity_with(checked)


def create_identity_with_nan_gradients_fn(have_nan_gradients: Any) -> Callable[[Any], Any]:
    """An identity whose gradient is NaN while this boolean is true."""

    def spoilt(gradient: Any) -> Any:
        with control_dependencies([gradient]):
            nan = constant(math.nan, dtype=gradient.dtype)
        return cond(have_nan_gradients, lambda: fill(shape(gradient), nan), lambda: gradient)

    return _identity_with(spoilt)


def _identity_with(gradient: Callable[[Any], Any]) -> Callable[[Any], Any]:
    @custom_gradient
    def function(x: Any) -> Any:
        return identity(x), gradient

    return function  # type: ignore[no-any-return]
