"""Strings one by one, hashed, joined, split, formatted: rows; values recorded from TensorFlow where not obvious."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

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
    OpCase(
        "UnicodeScript",
        [np.int32([[ord("a"), ord("é"), ord("Ω")], [ord("ж"), ord("漢"), 32], [-1, 0x110000, 0x10FFFF]])],
        np.int32([[25, 25, 14], [8, 17, 0], [-1, -1, 103]]),  # Latin, Greek, Cyrillic, Han, common; none; not assigned
    ),
    OpCase("StringLength", [MIXED], np.array([5, 4], np.int32)),
    OpCase("StringLength", [texts("ÉX", b"\xff\xfe\x80a")], np.array([2, 3], np.int32), {"unit": "UTF8_CHAR"}, label="utf8"),
    OpCase("StringStrip", [texts("\v\f\r a \0", "\x1c b", "")], texts("a \0", "\x1c b", "")),
    OpCase("StringLower", [MIXED], texts(" ab\t\n", "Éx ")),
    OpCase(
        "StringLower",
        [MIXED],
        texts(" ab\t\n", "éx "),
        {"encoding": "utf-8"},
        label="utf8",
        errors=[Error([MIXED], Bad, "only utf-8 or '' (no encoding) is supported, received x", {"encoding": "x"})],
    ),
    OpCase("StringUpper", [texts("éß a")], texts("éß A")),
    OpCase("StringUpper", [texts("éß a")], texts("ÉSS A"), {"encoding": "utf-8"}, label="utf8"),
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
    OpCase("EncodeBase64", [texts("a", "ab", "abc", b"\xff\xfe")], texts("YQ", "YWI", "YWJj", "__4")),
    OpCase("EncodeBase64", [texts("a", "ab")], texts("YQ==", "YWI="), {"pad": True}, label="pad"),
    OpCase(
        "DecodeBase64",
        [texts("YQ", "YQ==", "_-8", "YR", "")],
        texts("a", "a", b"\xff\xef", "a", ""),
        errors=[
            Error([texts("Y")], Bad, "Base64 string length cannot be 1 modulo 4."),
            *[Error([texts(wrong)], Bad, NOT_64) for wrong in ("Y+==", "YQ=", "YWJj====", "YWJj Y W")],
        ],
    ),
    OpCase(
        "StringToHashBucket",
        [HASHED],
        np.array([652921340, 1806335306, 429891131, 191490115, 133375339, 644377668, 1807988620, 1265087587, 1651954411]),
        {"num_buckets": 1 << 31},
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
    OpCase(
        "StringToHashBucketStrong",
        [HASHED],
        np.array(
            [
                546566331822570742,
                2957200328589801622,
                443797209252341627,
                684954894136796784,
                1541948060395825868,
                382471554392198335,
                293818594127077695,
                2721669556214890014,
                1334931103185751335,
            ]
        ),
        {"num_buckets": 1 << 62, "key": [1, 2]},
        errors=[Error([HASHED], Bad, "Key must have 2 elements", {"key": [1]})],
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
        "UnsortedSegmentJoin",
        [GRID, np.array([1, 1]), np.int32(2)],
        texts("", "", "a+c", "b+d").reshape(2, 2),
        {"separator": "+"},
    ),
    OpCase(
        "UnsortedSegmentJoin",
        [GRID, np.array([[1, 0], [0, 1]]), np.int32(2)],
        texts("bc", "ad"),
        label="ids of a matrix",
        errors=[
            Error([texts("a", "b"), np.array([1, 3]), np.int32(2)], Bad, "not allowed to exceed num_segments"),
            Error([texts("a", "b"), np.array([1, -1]), np.int32(2)], Bad, "or to have negative values"),
            Error([texts("a", "b"), np.array([1]), np.int32(2)], ValueError, "Dimensions must be equal, but are 2 and 1"),
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
    OpCase(
        "StringSplitV2",
        [texts("a||b||c", "||"), text("||")],
        [np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), texts("a", "b||c", "", ""), np.array([2, 2])],
        {"maxsplit": 1},
        static_shape=[(None, 2), (None,), (2,)],
    ),
    OpCase(
        "StringSplitV2",
        [texts(" a b  c ", "", "  ", "x "), text("")],
        [np.array([[0, 0], [0, 1], [3, 0], [3, 1]]), texts("a", "b  c ", "x", ""), np.array([4, 2])],
        {"maxsplit": 1},
        label="white space",
        static_shape=[(None, 2), (None,), (2,)],
    ),
    OpCase(
        "StringSplitV2",
        [texts("x ", " y  z"), text("")],
        [np.array([[0, 0], [1, 0], [1, 1], [1, 2]]), texts("x", "y", "z", ""), np.array([2, 3])],
        {"maxsplit": 2},
        label="more than there is",
        static_shape=[(None, 2), (None,), (2,)],
    ),
    *(
        OpCase(
            "StringSplitV2",
            [texts(" a,b", ""), text(separator)],
            [np.array([[0, 0], [1, 0]]), texts(" a,b", ""), np.array([2, 1])],
            {"maxsplit": 0},
            label=f"not at all {separator}",
            static_shape=[(None, 2), (None,), (2,)],
        )
        for separator in ("", ",")
    ),
    OpCase(
        "StringFormat",
        [[np.arange(1, 9, dtype=np.int32), np.array(2.5, np.float32), texts('a\n"é')]],
        text('a [1 2 3 ... 6 7 8] b 2.5["a\\n\\"é"]'),
        {"template": "a %s b %s%s"},
        errors=[
            Error([[np.array(1)]], ValueError, "num placeholders in template and num inputs must match", {"template": "x"})
        ],
    ),
    OpCase(
        "StringFormat",
        [[np.arange(100.0).reshape(10, 10)]],
        text("[[0 1 ... 8 9]\n [10 11 ... 18 19]\n ...\n [80 81 ... 88 89]\n [90 91 ... 98 99]]"),
        {"template": "%s", "summarize": 2},
        label="matrix",
    ),
    OpCase(
        "StringFormat",
        [[np.array([[[1e10, 1e-5], [1 / 3, 1e6]]], np.float32), np.array([2 / 3]), np.array(True), np.array([1j])]],
        text("[[[1e+10 1e-05]\n  [0.333333343 1e+06]]]\n[0.66666666666666663] 1 [?]"),
        {"template": "{}\n{} {} {}", "placeholder": "{}", "summarize": -1},
        label="numbers",
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
        errors=[Error([HELLO, text(r"\pQ"), text("")], Bad, r"invalid character class range: \pQ")],
    ),
]
test_rows = op_tests(CASES)


def run(value: Any) -> Any:
    with tf.Session() as session:
        return session.run(value)


def test_nothing_stands_between_empty_strings_at_the_front_of_a_segment() -> None:
    rows = [["", "b"], ["", "c"], ["d", ""]]
    joined = tf.strings.unsorted_segment_join(rows, [1, 1, 1], 2, separator=",")
    assert run(joined).tolist() == [[b"", b""], [b"d", b"b,c,"]]


def test_public_names() -> None:
    assert run(tf.strings.length("é", unit="UTF8_CHAR")) == 1
    assert run(tf.strings.lower(["A"])).tolist() == [b"a"]
    assert run(tf.strings.upper(["a"])).tolist() == [b"A"]
    assert run(tf.string_strip([" a "])).tolist() == run(tf.strings.strip(["a"])).tolist()
    assert run(tf.substr("hello", 1, 3)) == b"ell"
    assert run(tf.decode_base64(tf.encode_base64("hello", pad=True))) == b"hello"
    assert run(tf.reduce_join([["a", "b"], ["c", "d"]], separator="-")) == b"a-b-c-d"
    assert run(tf.reduce_join([["a", "b"]], axis=1, keepdims=True)).tolist() == [[b"ab"]]
    assert run(tf.reduce_join(tf.placeholder_with_default([["a", "b"], ["c", "d"]], None))) == b"abcd"
    assert run(tf.strings.unsorted_segment_join(["a", "b"], [0, 0], 1)).tolist() == [b"ab"]
    assert run(tf.regex_replace("aba", "a", "-")) == b"-b-"
    assert run(tf.regex_replace("aba", tf.constant("a"), "-")) == b"-b-"
    assert run(tf.strings.format("{}!", tf.constant([1, 2]))) == b"[1 2]!"
    assert run(tf.string_to_hash_bucket(["a"], 10)).tolist() == [8]
    assert run(tf.string_to_hash_bucket_fast(["a"], 10)).tolist() == [9]
    assert run(tf.string_to_hash_bucket_strong(["a"], 1 << 62, key=[1, 2])).tolist() == [546566331822570742]


def test_format_asks_for_as_many_placeholders_as_tensors() -> None:
    with pytest.raises(ValueError, match=r"2 placeholder\(s\) in template does not match 1 tensor"):
        tf.strings.format("{} {}", tf.constant(1))


def test_what_replaces_is_a_code_point() -> None:
    points = tf.strings.unicode_decode(["a"], "UTF-8", replacement_char=0x110000)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="replacement_char out of unicode"):
        session.run(points)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (r"\p{Ll}", "__XY1 __Γ日-_"),
        (r"\p{Lu}+", "ab_1 αβ_日-é"),
        (r"\pN", "abXY_ αβΓ日-é"),
        (r"\p{Greek}", "abXY1 ___日-é"),
        (r"\P{Ll}", "ab____αβ___é"),
        (r"[^\p{Lu}]", "__XY____Γ___"),
        (r"\p{^Lu}", "__XY____Γ___"),
        (r"[\p{Han}\P{L}]", "abXY__αβΓ__é"),
        (r"\p{Any}", "_" * 12),
    ],
)
def test_classes_of_unicode(pattern: str, expected: str) -> None:
    assert run(tf.regex_replace("abXY1 αβΓ日-é", pattern, "_")).decode() == expected
