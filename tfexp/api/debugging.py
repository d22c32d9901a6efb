"""`tf.debugging`: assertions in the graph, and checks for NaN and infinity."""

from typing import TYPE_CHECKING

from tfexp.core.gone import namespace

if TYPE_CHECKING:
    from tfexp.ops.check import Assert as Assert
    from tfexp.ops.check import check_numerics as check_numerics
    from tfexp.ops.check import verify_tensor_all_finite as assert_all_finite
    from tfexp.ops.check_compare import assert_equal as assert_equal
    from tfexp.ops.check_compare import assert_greater as assert_greater
    from tfexp.ops.check_compare import assert_greater_equal as assert_greater_equal
    from tfexp.ops.check_compare import assert_integer as assert_integer
    from tfexp.ops.check_compare import assert_less as assert_less
    from tfexp.ops.check_compare import assert_less_equal as assert_less_equal
    from tfexp.ops.check_compare import assert_near as assert_near
    from tfexp.ops.check_compare import assert_negative as assert_negative
    from tfexp.ops.check_compare import assert_non_negative as assert_non_negative
    from tfexp.ops.check_compare import assert_non_positive as assert_non_positive
    from tfexp.ops.check_compare import assert_none_equal as assert_none_equal
    from tfexp.ops.check_compare import assert_positive as assert_positive
    from tfexp.ops.check_compare import assert_rank as assert_rank
    from tfexp.ops.check_compare import assert_rank_at_least as assert_rank_at_least
    from tfexp.ops.check_compare import assert_rank_in as assert_rank_in
    from tfexp.ops.check_compare import assert_scalar as assert_scalar
    from tfexp.ops.check_compare import assert_type as assert_type
    from tfexp.ops.check_compare import is_non_decreasing as is_non_decreasing
    from tfexp.ops.check_compare import is_numeric_tensor as is_numeric_tensor
    from tfexp.ops.check_compare import is_strictly_increasing as is_strictly_increasing
    from tfexp.ops.check_shapes import assert_shapes as assert_shapes
    from tfexp.ops.check_types import assert_proper_iterable as assert_proper_iterable
    from tfexp.ops.check_types import assert_same_float_dtype as assert_same_float_dtype
    from tfexp.ops.elementwise_rounding import is_finite as is_finite
    from tfexp.ops.elementwise_rounding import is_inf as is_inf
    from tfexp.ops.elementwise_rounding import is_nan as is_nan
    from tfexp.runtime.process_config import get_log_device_placement as get_log_device_placement
    from tfexp.runtime.process_config import set_log_device_placement as set_log_device_placement

__getattr__, __dir__ = namespace("tf.debugging", __name__)
