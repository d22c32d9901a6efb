"""Strings: rows, and what the public functions do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tests.ops.harness import Error, OpCase, op_tests
from tfexp.core import errors


def texts(*values: Any) -> np.ndarray:
    """An object array of bytes, of the nesting's shape."""
    return np.array([str(v).encode() if not isinstance(v, bytes) else v for v in values], object)


PAIR = texts("ab", "c", "")
MATRIX = texts("1", "x", "22", "y", "333", "z").reshape(3, 2)

CASES = [
    OpCase("StringJoin", [[PAIR, texts("x", "yy", "z")]], texts("ab-x", "c-yy", "-z"), {"separator": "-"}),
    OpCase(
        "StringJoin",
        [[np.array(b"<", object), MATRIX, np.array(b">", object)]],
        np.array([b"<1>", b"<x>", b"<22>", b"<y>", b"<333>", b"<z>"], object).reshape(3, 2),
        label="scalars",
        errors=[
            Error([[PAIR, texts("x", "y")]], ValueError, "Dimension 0 in both shapes must be equal, but are"),
            Error([[PAIR, texts("x", "y")]], errors.InvalidArgumentError, "Input shapes do not match: [3] vs. [2]"),
        ],
        static_shape=[(3, 2)],
    ),
    OpCase("StaticRegexFullMatch", [MATRIX], np.array([[1, 0], [1, 0], [1, 0]], bool), {"pattern": "[0-9]+"}),
    OpCase(
        "StaticRegexFullMatch",
        [PAIR],
        np.array([True, True, True]),
        {"pattern": "(?s).*"},
        label="all",
        errors=[Error([PAIR], errors.InvalidArgumentError, "Invalid pattern: a(, error: missing )", {"pattern": "a("})],
    ),
    OpCase(
        "RegexFullMatch",
        [PAIR, np.array(b"a.?", object)],
        np.array([True, False, False]),
        errors=[
            Error([PAIR, texts("a")], ValueError, "Shape must be rank 0 but is rank 1"),
            Error([PAIR, np.array(b"[", object)], errors.InvalidArgumentError, "Invalid pattern: ["),
        ],
    ),
    OpCase("AsString", [np.array([[1.5, -2.25]], np.float32)], texts("1.500000", "-2.250000")[None], label="float"),
    OpCase(
        "AsString",
        [np.array([1.5, -2.25], np.float64)],
        texts("00001.50", "-0002.25"),
        {"precision": 2, "width": 8, "fill": "0"},
        label="width",
        errors=[
            Error([np.array([1])], errors.InvalidArgumentError, "precision not supported for datatype int64"),
            Error(
                [np.array([1.0])],
                errors.InvalidArgumentError,
                "Cannot select both scientific and shortest",
                {"scientific": True, "shortest": True},
            ),
            Error([np.array([1.0])], errors.InvalidArgumentError, "one or fewer characters", {"fill": "xx"}),
            Error([np.array([1.0])], errors.InvalidArgumentError, 'Fill argument not supported: "x"', {"fill": "x"}),
            Error(
                [np.array([True])],
                errors.InvalidArgumentError,
                "scientific and shortest format not supported for datatype bool",
                {"scientific": True, "precision": -1},
            ),
        ],
    ),
    OpCase("AsString", [np.array([1.5, 1e20])], texts("1.500e+00", "1.000e+20"), {"scientific": True, "precision": 3},
           label="scientific"),
    OpCase("AsString", [np.array([1.5, 1e20])], texts("1.5", "1e+20"), {"shortest": True}, label="shortest"),
    OpCase("AsString", [np.array([1, -7])], texts("1    ", "-7   "), {"width": 5, "fill": "-"}, label="left"),
    OpCase("AsString", [np.array([1, -7])], texts("   +1", "   -7"), {"width": 5, "fill": "+"}, label="sign"),
    OpCase("AsString", [np.array([250], np.uint8)], texts("  250"), {"width": 5, "fill": "+"}, label="unsigned"),
    OpCase("AsString", [np.array([True, False])], texts("true", "false"), {"width": 7}, label="bool"),
    OpCase("AsString", [np.array([1 + 2j])], texts("(1.0,2.0)"), {"precision": 1}, label="complex"),
    OpCase("AsString", [PAIR], texts("   ab", "    c", "     "), {"width": 5}, label="string"),
    OpCase(
        "StringToNumber",
        [texts(" 2 ", "-3.5", "1e3", "0x10", "inf", "+4", "1e400")],
        np.array([2, -3.5, 1000, 16, np.inf, 4, np.inf], np.float32),
        errors=[
            Error([texts(text)], errors.InvalidArgumentError, f"could not correctly convert string: {text}")
            for text in ("abc", "", "1_0", "1 2", "0x", "--1")
        ],
    ),
    OpCase(
        "StringToNumber",
        [MATRIX[:, 0]],
        np.array([1, 22, 333], np.int32),
        {"out_type": tf.int32},
        label="int32",
        errors=[
            Error([texts(text)], errors.InvalidArgumentError, f"could not correctly convert string: {text}")
            for text in ("2147483648", "1.5", "0x10", "1e3")
        ],
    ),
    OpCase("StringToNumber", [texts("-9223372036854775808")], np.array([-(2**63)]), {"out_type": tf.int64}, label="int64"),
]  # fmt: skip
test_rows = op_tests(CASES)


def test_public_functions() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        assert session.run(tf.strings.join([["a", "b"], "c"], separator="-")).tolist() == [b"a-c", b"b-c"]
        assert session.run(tf.string_join([])) == b""
        assert session.run(tf.as_string([1, 2])).tolist() == [b"1", b"2"]
        assert session.run(tf.string_to_number(["1.5"])).tolist() == [1.5]
        assert session.run(tf.strings.to_number("7", tf.int64)) == 7


@pytest.mark.parametrize("unknown", [None, [None, 3]])
def test_shapes_of_joined_strings(unknown: Any) -> None:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.string, unknown)
        y = tf.placeholder(tf.string, [2, None])
        joined = tf.strings.join([x, y, "z"])
        assert joined.get_shape().as_list() == [2, 3 if unknown else None]
