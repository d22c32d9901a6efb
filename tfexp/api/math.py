"""`tf.math`: element-wise functions, reductions, segments."""

from tfexp.core.namespace import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "tfexp.ops.argmax": "argmax argmin",
        "tfexp.ops.array_order": "invert_permutation",
        "tfexp.ops.comparison": "equal greater greater_equal less less_equal not_equal",
        "tfexp.ops.confusion_matrix": "confusion_matrix",
        "tfexp.ops.counting": "bincount",
        "tfexp.ops.cumulative": "cumprod cumsum",
        "tfexp.ops.elementwise_binary": (
            "accumulate_n add add_n atan2 maximum minimum multiply=mul pow scalar_mul squared_difference subtract=sub"
        ),
        "tfexp.ops.elementwise_division": "divide_no_nan=div_no_nan divide floordiv floormod mod=floormod truediv",
        "tfexp.ops.elementwise_rounding": "ceil floor is_finite is_inf is_nan rint round",
        "tfexp.ops.elementwise_special": "digamma erf erfc lgamma",
        "tfexp.ops.elementwise_trig": "acos asin atan cos cosh sin sinh tan",
        "tfexp.ops.elementwise_unary": (
            "abs exp expm1 log log1p log_sigmoid negative=neg reciprocal rsqrt sigmoid sign sqrt square tanh"
        ),
        "tfexp.ops.logical": "logical_and logical_not logical_or logical_xor",
        "tfexp.ops.nn_activation": "softplus softsign",
        "tfexp.ops.nn_norm": "l2_normalize zero_fraction",
        "tfexp.ops.nn_softmax": "log_softmax softmax",
        "tfexp.ops.nn_topk": "in_top_k top_k",
        "tfexp.ops.reduce": "reduce_all reduce_any reduce_max reduce_mean reduce_min reduce_prod reduce_sum",
        "tfexp.ops.reduce_composite": "count_nonzero reduce_logsumexp",
        "tfexp.ops.segment": (
            "segment_max segment_mean segment_min segment_prod segment_sum unsorted_segment_max "
            "unsorted_segment_min unsorted_segment_prod unsorted_segment_sum"
        ),
        "tfexp.ops.segment_gradients": "unsorted_segment_mean unsorted_segment_sqrt_n",
    },
)
