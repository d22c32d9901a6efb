"""`tensorflow.python.ops.ragged.ragged_dispatch`: which public functions take ragged tensors. Source: TF 1.15."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import tfexp
from tfexp.core.dtypes import DType

# How many of a function's arguments, from its first on, may be ragged -> the functions, by namespaces of `tf`.
_FUNCTIONS: dict[int, Mapping[str, str]] = {
    1: {
        "": "cast clip_by_value concat expand_dims identity one_hot ones_like rank reduce_all size squeeze stack tile "
        "zeros_like",
        "bitwise": "invert",
        "debugging": "check_numerics",
        "dtypes": "saturate_cast",
        "io": "decode_base64 decode_compressed encode_base64",
        "math": "abs acos acosh add_n angle asin asinh atan atanh ceil conj cos cosh digamma erf erfc exp expm1 floor imag "
        "is_finite is_inf is_nan lgamma log log1p log_sigmoid logical_not negative real reciprocal reduce_any reduce_max "
        "reduce_mean reduce_min reduce_prod reduce_sum rint round rsqrt sign sin sinh sqrt square tan",
        "strings": "as_string join length reduce_join regex_full_match regex_replace strip substr to_hash_bucket "
        "to_hash_bucket_fast to_hash_bucket_strong to_number unicode_script",
    },
    2: {
        "": "batch_gather dynamic_partition gather gather_nd realdiv truncatediv truncatemod",
        "bitwise": "bitwise_and bitwise_or bitwise_xor left_shift right_shift",
        "dtypes": "complex",
        "math": "add atan2 divide divide_no_nan equal floordiv floormod greater greater_equal less less_equal logical_and "
        "logical_or logical_xor maximum minimum multiply not_equal pow squared_difference subtract truediv "
        "unsorted_segment_max unsorted_segment_mean unsorted_segment_min unsorted_segment_prod unsorted_segment_sqrt_n "
        "unsorted_segment_sum",
    },
    3: {"": "where"},
}
_ONLY_IN_VERSION_1 = ("batch_gather", "where")


def ragged_op_list(tf_version: int = 1) -> str:
    """A list, as text, of the functions of that version of TensorFlow's and their arguments, ragged ones in bold.

    ValueError for another version than 1 and 2.
    """
    if tf_version not in (1, 2):
        raise ValueError("Expected version 1 or 2.")
    root: Any = tfexp if tf_version == 1 else tfexp.compat.v2
    lines = [
        _described(root, f"{namespace}.{name}".lstrip("."), count)
        for count, namespaces in _FUNCTIONS.items()
        for namespace, names in namespaces.items()
        for name in names.split()
        if tf_version == 1 or name not in _ONLY_IN_VERSION_1
    ]
    return (
        "\n\n### Additional ops that support `RaggedTensor`\n\nArguments that accept `RaggedTensor`s are marked in "
        "**bold**.\n\n" + "\n".join(sorted(lines))
    )


def _described(root: Any, name: str, count: int) -> str:
    function = root
    for part in name.split("."):
        function = getattr(function, part)
    parameters = inspect.signature(function).parameters.values()
    shown = [
        (f"**{one.name}**" if number < count else one.name)
        + ("" if one.default is one.empty else f"=`{_value(one.default)}`")
        for number, one in enumerate(parameters)
    ]
    return f"* `tf.{name}`({', '.join(shown)})"


def _value(default: Any) -> str:
    return f"tf.{default.name}" if isinstance(default, DType) else repr(default)
