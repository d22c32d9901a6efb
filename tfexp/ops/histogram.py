"""`tf.histogram_fixed_width_bins`: in which of the bins of equal width values lie. TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.dependencies import with_dependencies
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import reshape, shape
from tfexp.ops.cast import cast
from tfexp.ops.check import Assert
from tfexp.ops.clip import clip_by_value
from tfexp.ops.comparison import greater
from tfexp.ops.elementwise_division import truediv
from tfexp.ops.elementwise_rounding import floor


def histogram_fixed_width_bins(
    values: Any, value_range: Any, nbins: Any = 100, dtype: Any = dtypes.int32, name: str | None = None
) -> Tensor:
    """The part of [low, high) in which each value lies, or the nearest one; int32, whatever `dtype` says, as in TensorFlow.

    Source: `tf.histogram_fixed_width_bins`.
    """
    with name_scope(name, "histogram_fixed_width_bins", [values, value_range, nbins]):
        values = convert_to_tensor(values, name="values")
        dims = shape(values)
        flat = reshape(values, [-1])
        value_range = convert_to_tensor(value_range, name="value_range")
        nbins = convert_to_tensor(nbins, dtype=dtypes.int32, name="nbins")
        positive = Assert(greater(nbins, 0), [f"nbins {nbins} must > 0"])
        nbins = with_dependencies([positive], nbins)
        count: Any = cast(nbins, flat.dtype)
        share = truediv(flat - value_range[0], value_range[1] - value_range[0], name="scaled_values")
        found = floor(count * share, name="indices")
        inside = clip_by_value(found, 0, count - 1)
        return reshape(cast(inside, dtypes.int32), dims)
