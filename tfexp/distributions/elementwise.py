"""What distributions of numbers share whose parameters broadcast: the batch shape is that of all of them together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tfexp.core import dtypes
from tfexp.core.shape import TensorShape, broadcast_shapes
from tfexp.distributions.checks import checked_positive
from tfexp.distributions.distribution import FULLY_REPARAMETERIZED, Distribution, ReparameterizationType
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.dependencies import with_dependencies
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import shape
from tfexp.ops.array_fill import zeros
from tfexp.ops.array_identity import identity
from tfexp.ops.array_join import concat
from tfexp.ops.array_mask import where_v2
from tfexp.ops.broadcast_shapes import broadcast_dynamic_shape
from tfexp.ops.check_compare import assert_less
from tfexp.ops.check_types import assert_same_float_dtype
from tfexp.ops.comparison import greater


class Elementwise(Distribution):
    """Its parameters, of one floating type, are attributes by their names."""

    _of: tuple[str, ...]

    def __init__(
        self,
        parameters: Mapping[str, Any],
        validate_args: bool,
        allow_nan_stats: bool,
        arguments: dict[str, Any],
        name: str,
        positive: Sequence[str] = (),
        kind: ReparameterizationType = FULLY_REPARAMETERIZED,
    ):
        """`positive`: those of the parameters that have to be so, where arguments are validated."""
        with name_scope(name, values=list(parameters.values())) as scope:
            for key, value in of_one_type(parameters).items():
                checked = checked_positive(validate_args and key in positive, value, f"{key}_positive")
                setattr(self, key, identity(checked, name=key))
        self._of = tuple(parameters)
        tensors = [getattr(self, key) for key in self._of]
        assert_same_float_dtype(tensors)
        super().__init__(tensors[0].dtype, kind, validate_args, allow_nan_stats, arguments, tensors, scope)

    def _batch_shape(self) -> TensorShape:
        whole = TensorShape([])
        for key in self._of:
            whole = broadcast_shapes(whole, getattr(self, key).shape)
        return whole

    def _batch_shape_tensor(self) -> Tensor:
        whole: Any = shape(getattr(self, self._of[0]))
        for key in self._of[1:]:
            whole = broadcast_dynamic_shape(whole, shape(getattr(self, key)))
        return whole  # type: ignore[no-any-return]

    def _dims(self, n: Any) -> Any:
        """The shape of n samples."""
        return concat([[n], self.batch_shape_tensor()], 0)

    def _wide(self, x: Any) -> Any:
        """`x` as wide as the batch."""
        return x + zeros(self.batch_shape_tensor(), self.dtype)

    def _defined_above(self, least: float, parameter: str, found: Any, what: str) -> Any:
        """The moment where the parameter is above `least`; else NaN, or an error in the run where NaN is not allowed."""
        value, limit = getattr(self, parameter), constant(least, self.dtype)
        if self.allow_nan_stats:
            return where_v2(greater(value, limit), found, constant(float("nan"), self.dtype))
        message = f"{what} is undefined when any {parameter} <= {least:g}"
        return with_dependencies([assert_less(limit, value, message=message)], found)


def of_one_type(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values as tensors; Python's numbers are of the others' type, or float32."""
    kinds = [dtypes.as_dtype(value.dtype).base_dtype for value in values.values() if hasattr(value, "dtype")]
    kind = kinds[0] if kinds else dtypes.float32
    return {
        key: convert_to_tensor(value, None if hasattr(value, "dtype") else kind, name=key) for key, value in values.items()
    }
