"""Texts in one array of bytes: found and cut all at once as they are one by one."""

import re

import numpy as np
import pytest

import tfexp as tf
from tfexp.ops.string_bytes import decimals, lay_out

TEXTS = [b"one", b"", b"a\0b", b"three", b"\0", "zw\u00f6lf".encode(), b"x" * 70_000, b""]
MANY = [b"%d and %s" % (n, b"b" * (n % 3)) for n in range(1000)]


@pytest.mark.parametrize("texts", [TEXTS, MANY, [], [b""], [b"", b""], [b"alone"]], ids=len)
def test_texts_are_found_again(texts: list[bytes]) -> None:
    laid = lay_out(texts)
    assert laid.texts().tolist() == texts
    assert [laid.text(i) for i in range(len(texts))] == texts
    assert laid.sizes.tolist() == [len(text) for text in texts]
    rows: dict[int, bytes] = {}
    for here, matrix in laid.by_size():
        rows.update(zip(np.arange(len(texts))[here].tolist(), map(bytes, matrix), strict=True))
    assert [rows[i] for i in range(len(texts))] == texts


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32, np.int64, np.uint64])
def test_integers_are_written_as_python_writes_them(dtype: type) -> None:
    info = np.iinfo(dtype)
    numbers = np.array([0, 9, 10, 99, 100, info.max, info.min, info.min + 1, info.max - 1], dtype)
    assert decimals(numbers).texts().tolist() == [b"%d" % n for n in numbers.tolist()]
    assert decimals(numbers[:0]).texts().tolist() == []


def run(value: tf.Tensor) -> np.ndarray:
    with tf.Session() as session:
        return session.run(value)  # type: ignore[no-any-return]


@pytest.mark.parametrize("delimiter", [" ", "n", "an ", "\0", "ö"])
@pytest.mark.parametrize("skip_empty", [True, False])
@pytest.mark.parametrize("texts", [MANY, TEXTS[:6], [], [b"", b" "]], ids=len)
def test_splitting_all_is_splitting_each(texts: list[bytes], delimiter: str, skip_empty: bool) -> None:
    apart = re.compile(b"[" + re.escape(delimiter.encode()) + b"]").split
    wanted = [[part for part in apart(text) if part or (text and not skip_empty)] for text in texts]
    _check_split(run(tf.string_split(tf.constant(texts, tf.string, [len(texts)]), delimiter, skip_empty)), wanted)


def _check_split(made: tf.SparseTensorValue, wanted: list[list[bytes]]) -> None:
    assert made.values.tolist() == [part for parts in wanted for part in parts]
    assert made.indices.tolist() == [[row, i] for row, parts in enumerate(wanted) for i in range(len(parts))]
    assert made.dense_shape.tolist() == [len(wanted), max(map(len, wanted), default=0)]


def test_parts_of_all_are_parts_of_each() -> None:
    words = ["\u00e4hnlich", "zw\u00f6lf", "plain", "\u6d77\u95ca\u5929\u7a7a"] * 50
    texts = tf.constant([word.encode() for word in words])
    random = np.random.default_rng(7)
    for start, length in ((1, 2), (-3, 2), (0, 99), (4, -1), (2, 0)):
        stop = None if length < 0 or (start < 0 <= start + length) else start + length
        assert run(tf.substr(texts, start, length)).tolist() == [word.encode()[start:stop] for word in words]
        assert run(tf.substr(texts, start, length, unit="UTF8_CHAR")).tolist() == [
            word[start:stop].encode() for word in words
        ]
    starts, lengths = random.integers(0, 4, len(words)), random.integers(0, 5, len(words))
    cuts = [slice(a, a + n) for a, n in zip(starts.tolist(), lengths.tolist(), strict=True)]
    made = run(tf.substr(texts, starts, lengths, unit="UTF8_CHAR"))
    assert made.tolist() == [word[cut].encode() for word, cut in zip(words, cuts, strict=True)]


@pytest.mark.parametrize(
    ("pattern", "rewrite", "wanted"),
    [
        ("x*", "-", b"-a-b-c-"),  # RE2 finds nothing again where a match ended
        ("b", r"\\", b"ax\\xc"),
        ("(x)(b)", r"\2\1\0", b"abxxbxc"),
        (r"\bax?", "<", b"<bxc"),
        ("[^a]", ".", b"a...."),
        ("b|c", "\u00e9", "ax\u00e9x\u00e9".encode()),
    ],
)
def test_replacing(pattern: str, rewrite: str, wanted: bytes) -> None:
    assert run(tf.regex_replace("axbxc", pattern, rewrite)) == wanted


def test_replacing_the_first_alone() -> None:
    assert run(tf.regex_replace(["aba", "b"], "a", "-", replace_global=False)).tolist() == [b"-ba", b"b"]
    assert run(tf.regex_replace(["aba", "b"], "a*", "-", replace_global=False)).tolist() == [b"-ba", b"-b"]


def test_one_delimiter_is_given() -> None:
    with pytest.raises(ValueError, match="Cannot specify both 'delimiter' and 'sep'"):
        tf.string_split(["a b"], sep=",", delimiter=" ")
