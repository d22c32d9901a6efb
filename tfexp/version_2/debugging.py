"""What `tf.compat.v2.debugging` has of its own."""

from tfexp.api import debugging
from tfexp.version_2.arguments import with_arguments

assert_all_finite = with_arguments(debugging.assert_all_finite, "x, message, name=None")
assert_equal = with_arguments(debugging.assert_equal, "x, y, message=None, summarize=None, name=None")
assert_greater = with_arguments(debugging.assert_greater, "x, y, message=None, summarize=None, name=None")
assert_greater_equal = with_arguments(debugging.assert_greater_equal, "x, y, message=None, summarize=None, name=None")
assert_integer = with_arguments(debugging.assert_integer, "x, message=None, name=None")
assert_less = with_arguments(debugging.assert_less, "x, y, message=None, summarize=None, name=None")
assert_less_equal = with_arguments(debugging.assert_less_equal, "x, y, message=None, summarize=None, name=None")
assert_near = with_arguments(debugging.assert_near, "x, y, rtol=None, atol=None, message=None, summarize=None, name=None")
assert_negative = with_arguments(debugging.assert_negative, "x, message=None, summarize=None, name=None")
assert_non_negative = with_arguments(debugging.assert_non_negative, "x, message=None, summarize=None, name=None")
assert_non_positive = with_arguments(debugging.assert_non_positive, "x, message=None, summarize=None, name=None")
assert_none_equal = with_arguments(debugging.assert_none_equal, "x, y, summarize=None, message=None, name=None")
assert_positive = with_arguments(debugging.assert_positive, "x, message=None, summarize=None, name=None")
assert_rank = with_arguments(debugging.assert_rank, "x, rank, message=None, name=None")
assert_rank_at_least = with_arguments(debugging.assert_rank_at_least, "x, rank, message=None, name=None")
assert_rank_in = with_arguments(debugging.assert_rank_in, "x, ranks, message=None, name=None")
assert_scalar = with_arguments(debugging.assert_scalar, "tensor, message=None, name=None")
assert_shapes = with_arguments(debugging.assert_shapes, "shapes, data=None, summarize=None, message=None, name=None")
assert_type = with_arguments(debugging.assert_type, "tensor, tf_type, message=None, name=None")
