"""The words of commands, as `tensorflow.python.debug.cli.command_parser` reads them. Recorded from TensorFlow 1.15."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from tfexp.stand_ins import debug_command_parser as parser
from tfexp.stand_ins.debug_command_parser import Interval


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("  ", []),
        (' pt "a b"  c', ["pt", "a b", "c"]),
        ("pt a:0[0, 1] -x", ["pt", "a:0[0, 1]", "-x"]),
        ("pt 'a b'[0, 1]", ["pt", "'a b'[0, 1]"]),
        ("pt 'a", ["pt", "'a"]),
    ],
)
def test_words(command, words):
    assert parser.parse_command(command) == words


@pytest.mark.parametrize(
    ("words", "rest", "path"),
    [
        ("a > f", "a", "f"),
        ("a >f", "a", "f"),
        ("a>f", "a", "f"),
        ("a> f", "a", "f"),
        ("a > f g", "a > f g", None),
        ("lt -m >1k", "lt -m >1k", None),
        ("lt -m >=2s", "lt -m >=2s", None),
        ("lt -m >1k > f", "lt -m >1k", "f"),
        ("lt -s >f", "lt -s", "f"),
        ("lt -s=>f", "lt -s=>f", None),
        ("lt -s >-.5k", "lt -s >-.5k", None),
        ("a b>c>d", "a b>c>d", None),
    ],
)
def test_files_that_output_goes_to(words, rest, path):
    assert parser.extract_output_file_path(words.split()) == (rest.split(), path)


def test_files_must_be_named():
    with pytest.raises(SyntaxError, match="Redirect file path is empty"):
        parser.extract_output_file_path(["pt", ">"])


def test_slices():
    array = np.arange(15).reshape(3, 5)
    assert parser.parse_tensor_name_with_slicing("ns/a:0[1, :]") == ("ns/a:0", "[1, :]")
    assert parser.parse_tensor_name_with_slicing("ns/a:0") == ("ns/a:0", "")
    assert parser.evaluate_tensor_slice(array, "[1:, 2]").tolist() == [7, 12]
    assert parser.evaluate_tensor_slice(array, "[::2]").tolist() == array[::2].tolist()
    for wrong in ("[-1]", "[...]", "[a]", "[1", "[]", "[1.5]", "0"):
        with pytest.raises(ValueError, match="Invalid tensor-slicing"):
            parser.evaluate_tensor_slice(array, wrong)


def test_numbers_and_pairs():
    assert parser.parse_indices(" [-1, 3]") == [-1, 3]
    assert parser.parse_ranges("") == [] and parser.parse_ranges("[1,2]") == [[1, 2]]
    assert parser.parse_ranges("[[1, 2], [-inf, 5.5]]") == [[1, 2], [-sys.float_info.max, 5.5]]
    for wrong, message in (("[[1,2,3]]", "number of elements"), ("[[1,'a']]", "2nd element"), ("[[1,a]]", "malformed")):
        with pytest.raises(ValueError, match=message):
            parser.parse_ranges(wrong)


def test_sizes_and_times():
    sizes = {"0": 0, " 12B": 12, "100k": 102400, "2.5M": 2621440, "1 GB": 2**30}
    assert {text: parser.parse_readable_size_str(text) for text in sizes} == sizes
    times = {"0": 0, "1.5us": 1, "2ms": 2000, "3 s": 3000000}
    assert {text: parser.parse_readable_time_str(text) for text in times} == times
    for wrong in ("", "1K", "-1", "1.5"):
        with pytest.raises(ValueError, match="human-readable byte size"):
            parser.parse_readable_size_str(wrong)
    with pytest.raises(ValueError, match="must be positive"):
        parser.parse_readable_time_str("-1s")


def test_intervals():
    assert parser.parse_time_interval("(1us, 2ms]") == Interval(1, False, 2000, True)
    assert parser.parse_time_interval(">=2s") == Interval(2000000, True, float("inf"), False)
    assert parser.parse_memory_interval("<5k") == Interval(0, False, 5120, False)
    assert [Interval(1, True, 3, False).contains(value) for value in (0, 1, 2, 3)] == [False, True, True, False]
    wrong = {"1k": "Invalid interval format", "[2,1]": "Invalid interval", "(x,1)": "first item", ">x": "after >"}
    for text, message in {**wrong, "(1,2,3)": "two values"}.items():
        with pytest.raises(ValueError, match=message):
            parser.parse_memory_interval(text)
