"""Checks of a debugger's lines: `tensorflow.python.debug.cli.cli_test_utils`. Source: TF 1.15."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np


def assert_lines_equal_ignoring_whitespace(test: Any, expected_lines: Sequence[str], actual_lines: Sequence[str]) -> None:
    """Lines are the same but for white space."""
    test.assertEqual(*(["".join(line.split()) for line in lines] for lines in (expected_lines, actual_lines)))


def assert_array_lines_close(test: Any, expected_array: Any, array_lines: Iterable[str]) -> None:
    """The numbers of lines are close to an array's, whose shape may be another."""
    numbers = re.sub(r"array|[()\[\]|,]", " ", " ".join(array_lines)).split()
    test.assertAllClose(np.ravel(expected_array), [float(number) for number in numbers])
