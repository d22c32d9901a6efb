"""Texts as ragged rows: what TensorFlow gave for the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tfexp as tf
from tests.ragged_tensors.test_ragged import as_lists

S = tf.strings
TEXT = "é☃😀".encode()
BAD = [b"a\xffb\xe2\x98x", b"\xe2\x98", b"\xf0\x9f\x98a", b"\xed\xa0\x80", b"\xc0\x80", b"\x80\x80"]
REPLACED = [[97, 65533, 98, 65533, 120], [65533], [65533, 97], [65533] * 3, [65533] * 2, [65533] * 2]


def words() -> Any:
    return tf.ragged.constant([["a", "b"], [], ["c"]])


def parts_of(sparse: Any) -> list[Any]:
    return [sparse.indices, sparse.values, sparse.dense_shape]


CASES: dict[str, tuple[Callable[[], Any], Any]] = {
    "bytes": (lambda: [S.bytes_split(["ab", "", "c"]), S.bytes_split("ab")], [[[b"a", b"b"], [], [b"c"]], [b"a", b"b"]]),
    "words": (
        lambda: [
            S.split(["a b", "c"], result_type="RaggedTensor"),
            S.split("a b", result_type="RaggedTensor"),
            S.split(tf.placeholder_with_default(["a", "b c"], None), result_type="RaggedTensor"),
            S.split([["a,b"], ["c"]], ",", result_type="RaggedTensor"),
            tf.string_split(["a b", "c"], result_type="RaggedTensor"),
        ],
        [[[b"a", b"b"], [b"c"]], [b"a", b"b"], [[b"a"], [b"b", b"c"]], [[[b"a", b"b"]], [[b"c"]]], [[b"a", b"b"], [b"c"]]],
    ),
    "sparse words of rows of texts": (
        lambda: [
            *parts_of(S.split(tf.ragged.constant([["a b"], [], ["c"]]))),
            *parts_of(S.split([["a b", "c"]])),
        ],
        [
            *([[0, 0, 0], [0, 0, 1], [2, 0, 0]], [b"a", b"b", b"c"], [3, 1, 2]),
            *([[0, 0, 0], [0, 0, 1], [0, 1, 0]], [b"a", b"b", b"c"], [1, 2, 2]),
        ],
    ),
    "the mark of the order of bytes": (
        lambda: [
            list(S.unicode_decode_with_offsets([b"\0a\xfe\xff", b"\xfe\xff\0a\0b", b"\xff\xfea\0b\0"], "UTF-16")),
            S.unicode_decode([b"\0\0\0a", b"\xff\xfe\0\0a\0\0\0"], "UTF-32"),
        ],
        [[[[97, 0xFEFF], [97, 98], [97, 98]], [[0, 2], [0, 4], [0, 4]]], [[97], [97]]],
    ),
    "places of what takes one or two bytes": (
        lambda: [S.unicode_decode_with_offsets("aこbに".encode(codec), codec)[1] for codec in ("shift_jis", "euc_jp")],
        [[0, 1, 3, 4], [0, 1, 3, 4]],
    ),
    "control characters that are left out": (
        lambda: list(
            S.unicode_decode_with_offsets([b"a\0b\xff\x1f", b"\n"], "UTF-8", "ignore", replace_control_characters=True)
        ),
        [[[97, 98], []], [[0, 2], []]],
    ),
    "code points": (
        lambda: [S.unicode_decode(["ab", "", TEXT.decode()], "UTF-8"), S.unicode_decode(TEXT, "UTF-8")],
        [[[97, 98], [], [233, 9731, 128512]], [233, 9731, 128512]],
    ),
    "code points of rows of texts": (
        lambda: S.unicode_decode([["ab", "c"], ["", "d"]], "UTF-8"),
        [[[97, 98], [99]], [[], [100]]],
    ),
    "malformed texts": (
        lambda: [
            S.unicode_decode(BAD, "UTF-8"),
            S.unicode_decode(BAD[:1], "UTF-8", errors="ignore"),
            S.unicode_decode([b"a\xffb\x01\x1f\x7f\x85"], "UTF-8", "replace", 63, True),
            S.unicode_decode([b"\xc3", b"\xa9"], "UTF-8"),
        ],
        [REPLACED, [[97, 98, 120]], [[97, 63, 98, 63, 63, 127, 63]], [[65533], [65533]]],
    ),
    "offsets": (
        lambda: [
            *S.unicode_decode_with_offsets([TEXT + b"\xff" + TEXT, b"ab"], "UTF-8"),
            S.unicode_decode_with_offsets(["aé", "😀b"], "UTF-8")[1],
        ],
        [
            [[233, 9731, 128512, 65533, 233, 9731, 128512], [97, 98]],
            *([[0, 2, 5, 9, 10, 12, 15], [0, 1]], [[0, 1], [0, 4]]),
        ],
    ),
    "other encodings": (
        lambda: [
            S.unicode_decode([TEXT.decode().encode("utf-16-be"), b"\x00ab"], "UTF-16-BE"),
            *S.unicode_decode_with_offsets([b"\xe9a"], "ISO-8859-1"),
        ],
        [[[233, 9731, 128512], [97, 65533]], [[233, 97]], [[0, 1]]],
    ),
    "encoded": (
        lambda: [
            S.unicode_encode(tf.ragged.constant([[97, 233], [], [0x1F600]]), "UTF-8"),
            S.unicode_encode([97, 233], "UTF-16-BE"),
            S.unicode_encode([[97, 233], [98, 99]], "UTF-8"),
            S.unicode_encode([97, 0xD800, 0x110000, -1, 0xFFFE], "UTF-8"),
            S.unicode_encode([97, 0xD800], "UTF-8", errors="ignore"),
        ],
        [
            ["aé".encode(), b"", "😀".encode()],
            *(b"\x00a\x00\xe9", ["aé".encode(), b"bc"], "a\ufffd\ufffd\ufffd\ufffe".encode(), b"a"),
        ],
    ),
    "transcoded": (
        lambda: [
            S.unicode_transcode([["é", "b"]], "UTF-8", "UTF-16-BE"),
            S.unicode_transcode([b"a\x01\xff"], "UTF-8", "UTF-8", replace_control_characters=True),
        ],
        [[[b"\x00\xe9", b"\x00b"]], ["a\ufffd\ufffd".encode()]],
    ),
    "characters": (
        lambda: [S.unicode_split(["ab", "é"], "UTF-8"), *S.unicode_split_with_offsets(TEXT, "UTF-8")],
        [[[b"a", b"b"], ["é".encode()]], ["é".encode(), "☃".encode(), "😀".encode()], [0, 2, 5]],
    ),
    "n-grams": (
        lambda: [S.ngrams([["a", "b", "c"], ["d", "e", "f"]], 2), S.ngrams(["a", "b", "c"], [1, 2])],
        [[[b"a b", b"b c"], [b"d e", b"e f"]], [b"a", b"b", b"c", b"a b", b"b c"]],
    ),
    "padded n-grams": (
        lambda: [
            S.ngrams(words(), 3, pad_values=("L", "R")),
            S.ngrams(words(), [2, 3], "|", "P", padding_width=1),
            S.ngrams(words(), 3, preserve_short_sequences=True),
            S.ngrams(words(), 9, pad_values="P", padding_width=1, preserve_short_sequences=True),
        ],
        [
            [[b"L L a", b"L a b", b"a b R", b"b R R"], [b"L L R", b"L R R"], [b"L L c", b"L c R", b"c R R"]],
            [[b"P|a", b"a|b", b"b|P", b"P|a|b", b"a|b|P"], [b"P|P"], [b"P|c", b"c|P", b"P|c|P"]],
            *([[b"a b"], [], [b"c"]], [[b"P a b P"], [], [b"P c P"]]),
        ],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_texts(name: str) -> None:
    make, wanted = CASES[name]
    with tf.Graph().as_default(), tf.Session() as session:
        assert as_lists(session.run(make())) == wanted


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: S.unicode_decode(BAD, "UTF-8", errors="strict"), tf.errors.InvalidArgumentError, "Invalid formatting"),
        (lambda: S.unicode_decode(["a"], "nope"), tf.errors.InvalidArgumentError, "Could not create converter"),
        (lambda: S.unicode_encode([0xD800], "UTF-8", "strict"), tf.errors.InvalidArgumentError, "out of range for Unicode"),
        (lambda: S.unicode_encode([97], "UTF-7"), ValueError, "UTF-7"),
        (lambda: S.ngrams(["a"], 0), ValueError, "greater than 0"),
        (lambda: S.ngrams(["a"], 2, padding_width=1), ValueError, "pad_values must be provided"),
        (lambda: S.split(["a"], result_type="x"), ValueError, "'RaggedTensor' or 'SparseTensor'"),
    ],
)
def test_what_cannot_be_is_refused(make: Callable[[], Any], error: type[Exception], text: str) -> None:
    with tf.Graph().as_default(), tf.Session() as session, pytest.raises(error, match=text):
        session.run(make())
