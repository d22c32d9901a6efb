"""Strings one by one, hashed, joined, split, formatted: rows; values recorded from TensorFlow where not obvious."""

from __future__ import annotations

from typing import Any

import numpy as np

import tfexp as tf
from tests.ops.harness import Error, OpCase, op_tests
from tfexp.core import errors

Bad = errors.InvalidArgumentError


def texts(*values: Any) -> np.ndarray:
    """A vector of texts."""
    return np.array([v if isinstance(v, bytes) else v.encode() for v in values], object)


def text(value: str) -> np.ndarray:
    return np.array(value.encode(), object)


MIXED = texts(" Ab\t\n", "ÉX ")
HELLO = texts("hello", "world")
GRID = texts("a", "b", "c", "d").reshape(2, 2)
HASHED = texts("a", "hello", "", "x" * 9, "y" * 17, "z" * 40, "w" * 70, "v" * 150, "u" * 300)
NOT_64 = "Invalid character found in base64."

CASES = [
    OpCase("StringLength", [MIXED], np.array([5, 4], np.int32)),
    OpCase("StringLength", [texts("ÉX", b"\xff\xfe\x80a")], np.array([2, 3], np.int32), {"unit": "UTF8_CHAR"}, label="utf8"),
    OpCase("StringStrip", [texts("\v\f\r a \0", "\x1c b", "")], texts("a \0", "\x1c b", "")),
    OpCase(
        "Substr",
        [HELLO, np.array([1, -2]), np.array([3, 9])],
        texts("ell", "ld"),
        errors=[
            Error(
                [texts("hello", "w"), np.array([2, 2]), np.array([1, 1])],
                Bad,
                "pos 2 out of range for string b'w' at index 1",
            ),
            Error(
                [texts("hello"), np.array([-6]), np.array([1])], Bad, "pos -6 out of range for string b'hello' at index 0"
            ),
            Error([HELLO, np.array(1), np.array([1, 2])], ValueError, "Shape must be rank 1 but is rank 0"),
            Error([HELLO, np.array([1, 2, 3]), np.array([1, 2])], ValueError, "pos and len shapes must match: [3] vs. [2]"),
            Error([HELLO, np.arange(3), np.arange(3)], ValueError, "Dimensions must be equal, but are 2 and 3"),
        ],
    ),
    OpCase(
        "Substr",
        [HELLO, np.array([[1], [2]], np.int32), np.array([[3], [-1]], np.int32)],
        texts("ell", "orl", "llo", "rld").reshape(2, 2),
        label="broadcast",
    ),
    OpCase(
        "Substr",
        [texts("héllo"), np.array(-4), np.array(2)],
        texts("él"),
        {"unit": "UTF8_CHAR"},
        label="utf8",
        errors=[Error([texts("héllo"), np.array(7), np.array(2)], Bad, "pos 7 out of range for string at index 0")],
    ),
    OpCase(
        "StringToHashBucketFast",
        [HASHED],
        np.array(
            [
                3694432073954588131,
                3786372426573024488,
                1936946117179621455,
                3938540446998675217,
                426471879119003573,
                2798405868704521219,
                2205769593410292137,
                2947116075416959010,
                2761287794563053534,
            ]
        ),
        {"num_buckets": 1 << 62},
        errors=[Error([HASHED], ValueError, "passed 0 less than minimum 1", {"num_buckets": 0})],
    ),
    OpCase("ReduceJoin", [GRID, np.int32(0)], texts("a-c", "b-d"), {"separator": "-"}),
    OpCase("ReduceJoin", [GRID, np.int32(-1)], texts("ab", "cd").reshape(2, 1), {"keep_dims": True}, label="keep_dims"),
    OpCase("ReduceJoin", [GRID, np.array([], np.int32)], GRID, label="nothing"),
    OpCase(
        "ReduceJoin",
        [np.empty((2, 0, 3), object), np.array([1], np.int32)],
        np.full((2, 3), b"", object),
        label="empty",
    ),
    OpCase(
        "ReduceJoin",
        [GRID, np.array([0, 1], np.int32)],
        text("a-c-b-d"),
        {"separator": "-"},
        label="order",
        errors=[
            Error(
                [GRID, np.int32(2)], ValueError, "Invalid reduction dimension 2 for input with 2 dimensions.", constants=True
            ),
            Error(
                [GRID, np.int32(2)], errors.OutOfRangeError, "Invalid reduction dimension 2 for input with 2 dimension(s)"
            ),
            Error([GRID, np.array([0, 0], np.int32)], Bad, "Duplicate reduction dimension 0"),
        ],
    ),
    OpCase(
        "StringSplit",
        [texts("a b  c", "", " d"), text(" ")],
        [np.array([[0, 0], [0, 1], [0, 2], [2, 0]]), texts("a", "b", "c", "d"), np.array([3, 3])],
        static_shape=[(None, 2), (None,), (2,)],
        errors=[Error([text("abc"), text("")], ValueError, "Shape must be rank 1 but is rank 0")],
    ),
    OpCase(
        "StringSplit",
        [texts("a,b;c", "", ",d"), text(",;")],
        [np.array([[0, 0], [0, 1], [0, 2], [2, 0], [2, 1]]), texts("a", "b", "c", "", "d"), np.array([3, 3])],
        {"skip_empty": False},
        label="empty kept",
        static_shape=[(None, 2), (None,), (2,)],
    ),
    OpCase(
        "StringSplit",
        [texts("abc", "d"), text("")],
        [np.array([[0, 0], [0, 1], [0, 2], [1, 0]]), texts("a", "b", "c", "d"), np.array([2, 3])],
        label="bytes",
        static_shape=[(None, 2), (None,), (2,)],
    ),
    OpCase("StaticRegexReplace", [texts("ab12cd3")], texts("ab<12>cd<3>"), {"pattern": "[0-9]+", "rewrite": r"<\0>"}),
    OpCase(
        "StaticRegexReplace",
        [texts("ab12cd3")],
        texts("ba12cd3"),
        {"pattern": "([a-z])([a-z])", "rewrite": r"\2\1", "replace_global": False},
        label="first",
        errors=[Error([HELLO], Bad, "Invalid pattern: (, error: missing )", {"pattern": "("})],
    ),
    OpCase("RegexReplace", [texts("abc", "xbbx"), text("b*"), text("-")], texts("-a-c-", "-x-x-")),
    OpCase("RegexReplace", [texts("a\nb", "é"), text("."), text(r"\\")], texts("\\\n\\", "\\"), label="any character"),
    OpCase("RegexReplace", [texts("a\nb$"), text("[[:alpha:]$]|b$"), text("x")], texts("x\nxx"), label="posix"),
    OpCase("RegexReplace", [texts("ab"), text(r"\Q.b\E|b\z"), text("x")], texts("ax"), label="literal"),
    OpCase("RegexReplace", [texts("ab1"), text("a"), text(r"\3")], texts("ab1"), label="no such group"),
    OpCase("RegexReplace", [texts("ab1"), text("a"), text(r"\q")], texts("b1"), label="no such escape"),
    OpCase(
        "RegexReplace", [texts("ab1"), text("a"), text(r"x\q")], texts("ab1"), {"replace_global": False}, label="nor once"
    ),
    OpCase(
        "RegexReplace",
        [texts("ab1"), text("(b)|(1)"), text(r"<\2>")],
        texts("a<><1>"),
        {"replace_global": True},
        label="group not taken",
        errors=[Error([HELLO, text(r"\pL"), text("")], Bad, r"\p is not supported")],
    ),
]
test_rows = op_tests(CASES)


def run(value: Any) -> Any:
    with tf.Session() as session:
        return session.run(value)


def test_public_names() -> None:
    assert run(tf.strings.length("é", unit="UTF8_CHAR")) == 1
    assert run(tf.string_strip([" a "])).tolist() == run(tf.strings.strip(["a"])).tolist()
    assert run(tf.substr("hello", 1, 3)) == b"ell"
    assert run(tf.regex_replace("aba", "a", "-")) == b"-b-"
    assert run(tf.regex_replace("aba", tf.constant("a"), "-")) == b"-b-"
    assert run(tf.string_to_hash_bucket_fast(["a"], 10)).tolist() == [9]
