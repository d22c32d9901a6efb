"""The greatest common divisor. Source: `ops.signal.util_ops`, TF 1.15."""

from __future__ import annotations

import math
from typing import Any

from tfexp.graph.constant_value import constant_value
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.graph.while_loop import while_loop
from tfexp.ops.comparison import not_equal
from tfexp.ops.elementwise_division import floormod


def gcd(a: Any, b: Any, name: str | None = None) -> Tensor:
    """The greatest common divisor of two integer scalars: a constant where both are known, else Euclid's loop.

    Raises ValueError where one is no scalar or no integer.
    """
    with name_scope(name, "gcd", [a, b]):
        a, b = convert_to_tensor(a), convert_to_tensor(b)
        for called, number in (("a", a), ("b", b)):
            number.shape.assert_has_rank(0)
            if not number.dtype.is_integer:
                raise ValueError(f"{called} must be an integer type. Got: {number.dtype}")
        known = constant_value(a), constant_value(b)
        if known[0] is not None and known[1] is not None:
            return constant(math.gcd(int(known[0]), int(known[1])), dtype=a.dtype)
        return while_loop(lambda _, rest: not_equal(rest, 0), lambda x, y: (y, floormod(x, y)), (a, b))[0]  # type: ignore[no-any-return]
