"""Arrays in lines, and where their elements are. Recorded from TensorFlow 1.15."""

from __future__ import annotations

import types

import numpy as np
import pytest

from tfexp.debug.tensors import InconvertibleTensorProto
from tfexp.stand_ins import debug_tensor_format as tensor_format
from tfexp.stand_ins.debug_text_tests import assert_array_lines_close, assert_lines_equal_ignoring_whitespace

CHECKS = types.SimpleNamespace(assertEqual=np.testing.assert_equal, assertAllClose=np.testing.assert_allclose)


@pytest.fixture(autouse=True)
def printing():
    with np.printoptions(precision=8, threshold=1000, edgeitems=3, linewidth=75):
        yield


@pytest.mark.parametrize(
    ("array", "lines"),
    [
        (
            np.array([[1.0, -2.0, 0.0], [np.nan, np.inf, -np.inf]]),
            [
                "|  nan -inf    -    0    + +inf | total |",
                "|    1    1    1    1    1    1 |     6 |",
                "|                 min                 max                mean                 std |",
                "|                -2.0                 1.0 -0.3333333333333333   1.247219128924647 |",
            ],
        ),
        (np.array([True, False, True]), ["| False  True | total |", "|     1     2 |     3 |"]),
        (np.array([np.nan]), ["| nan | total |", "|   1 |     1 |"]),
        (
            np.array([-1, -3], np.int8),
            ["| - | total |", "| 2 |     2 |", "|  min  max mean  std |", "|   -3   -1 -2.0  1.0 |"],
        ),
        (np.array([]), ["No numeric summary available due to empty tensor."]),
        (np.array(["a"]), ["No numeric summary available due to tensor dtype: <U1."]),
    ],
)
def test_what_elements_are_like(array, lines):
    assert tensor_format.numeric_summary(array).lines == lines


def test_heads_of_arrays():
    array = np.arange(3.0)
    out = tensor_format.format_tensor(
        array, "a:0:DebugIdentity", True, "and", highlight_options=tensor_format.HighlightOptions(lambda v: v > 1, "> 1")
    )
    head = 'Tensor "a:0:DebugIdentity": Highlighted(> 1): 1 of 3 element(s) (33.33%)'
    assert out.lines == [head, "  dtype: float64", "  shape: (3,)", "and", "", "array([0., 1., 2.])"]
    assert out.font_attr_segs == {0: [(8, 11, "bold"), (12, 25, "yellow")], 5: [(15, 17, "bold")]}
    out = tensor_format.format_tensor(array, None, auxiliary_message="and", include_numeric_summary=True)
    assert_lines_equal_ignoring_whitespace(CHECKS, ["and", "", "Numeric summary:", "| 0 + | total |"], out.lines[:4])
    assert_array_lines_close(CHECKS, array, out.lines[-1:])


def test_elements_are_found():
    options = {"threshold": 100, "edgeitems": 2}
    out = tensor_format.format_tensor(np.arange(2000.0).reshape(20, 100), None, np_printoptions=options)
    assert [out.annotations[row] for row in range(5)] == [
        {"i0": [0, 0]},
        {"i0": [1, 0]},
        {"omitted": [2, 0]},
        {"i0": [18, 0]},
        {"i0": [19, 0]},
    ]
    where = {(0, 1): (False, 0, 19, 28), (0, 5): (False, 0, None, None), (3, 99): (True, 2, None, None)}
    assert {at: tensor_format.locate_tensor_element(out, list(at)) for at in where} == where
    assert tensor_format.locate_tensor_element(out, [[0, 0], [5, 5]]) == ([False, True], [0, 2], [8, None], [17, None])
    for wrong, message in (
        ([20, 0], "Indices exceed tensor dimensions"),
        ([0, -1], "negative value"),
        ([0], "Dimensions mismatch"),
        ([[1, 0], [0, 5]], "not in ascending order"),
    ):
        with pytest.raises(ValueError, match=message):
            tensor_format.locate_tensor_element(out, wrong)


def test_rows_may_take_several_lines():
    array = np.array([["a, b", "]"], ["c" * 40, "d" * 40]])
    out = tensor_format.format_tensor(array, "text:0")
    for at in np.ndindex(2, 2):
        _, row, start, end = tensor_format.locate_tensor_element(out, list(at))
        assert out.lines[row][start:end] == repr(str(array[at]))


def test_other_values_have_no_elements():
    out = tensor_format.format_tensor(InconvertibleTensorProto("dtype: DT_RESOURCE\n", initialized=False), "a")
    assert out.lines == ['Tensor "a":', "", "Uninitialized tensor:", "dtype: DT_RESOURCE", ""]
    with pytest.raises(AttributeError, match="tensor_metadata is not available"):
        tensor_format.locate_tensor_element(out, [0])
