"""Which functions and ops take ragged tensors: those with a meaning of their own, and where, and those of each element."""

from __future__ import annotations

# The function's name -> where in this package its meaning for ragged tensors is.
FUNCTIONS: dict[str, str] = {
    **{f"reduce_{kind}": f"reductions:reduce_{kind}" for kind in ("sum", "mean", "prod", "max", "min", "all", "any")},
    **{name: f"arrays:{name}" for name in ("concat", "stack", "gather", "expand_dims", "boolean_mask", "size", "rank")},
    "repeat": "arrays:repeat",
    "dynamic_partition": "selecting:dynamic_partition",
    **{name: f"selecting:{name}" for name in ("batch_gather", "gather_nd", "reverse", "squeeze", "tile", "where")},
    **{f"UnsortedSegment{kind.title()}": f"segments:segment_{kind}" for kind in ("sum", "prod", "min", "max")},
    **{f"unsorted_segment_{kind}": f"segments:segment_{kind}" for kind in ("mean", "sqrt_n")},
    "map_fn": "mapping:map_fn",
    "one_hot": "arrays:one_hot",
    "reduce_join": "reductions:reduce_join",
}

_UNARY = """
Abs Acos Acosh Asin Asinh Atan Atanh Ceil Conj Cos Cosh Digamma Erf Erfc Exp Expm1 Floor Inv IsFinite IsInf IsNan Lgamma
Log Log1p LogicalNot Neg Reciprocal Relu Relu6 Elu Selu Rint Round Rsqrt Sigmoid Sign Sin Sinh Softplus Softsign Sqrt
Square Tan Tanh StringLower StringUpper StringLength StringStrip StringToHashBucketFast StringToHashBucketStrong
StringToNumber AsString DecodeBase64 DecodeCompressed EncodeBase64 Invert StaticRegexFullMatch StaticRegexReplace
RegexFullMatch RegexReplace Substr Identity OnesLike ZerosLike CheckNumerics StringJoin UnicodeScript
"""
_BINARY = """
Add AddV2 Atan2 BitwiseAnd BitwiseOr BitwiseXor Div DivNoNan Equal FloorDiv FloorMod Greater GreaterEqual LeftShift Less
LessEqual LogicalAnd LogicalOr Maximum Minimum Mod Mul NotEqual Pow RealDiv RightShift SquaredDifference Sub TruncateDiv
TruncateMod Xdivy Xlogy add pow div truediv logical_xor complex
"""
_FUNCTIONS = """
abs cast saturate_cast round to_float to_double to_int32 to_int64 add_n clip_by_value ones_like zeros_like dropout
as_string regex_replace regex_full_match substr string_length identity angle conj imag real log_sigmoid
"""
ELEMENTWISE: frozenset[str] = frozenset([*_UNARY.split(), *_FUNCTIONS.split()])
BINARY: frozenset[str] = frozenset(_BINARY.split())
