"""`tf.debugging`: assertions in the graph, and checks for NaN and infinity."""

from tfexp.core.namespace import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "tfexp.ops.check": "Assert check_numerics assert_all_finite=verify_tensor_all_finite",
        "tfexp.ops.check_compare": (
            "assert_equal assert_greater assert_greater_equal assert_integer assert_less assert_less_equal "
            "assert_negative assert_non_negative assert_non_positive assert_positive assert_rank "
            "assert_rank_at_least assert_scalar"
        ),
        "tfexp.ops.elementwise_rounding": "is_finite is_inf is_nan",
    },
)
