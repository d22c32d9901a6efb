"""Dimension and TensorShape, as TF 1.15 has them."""

import pickle

import numpy as np
import pytest

from tfexp.core.shape import Dimension, TensorShape, broadcast_shapes


def test_unknown_dimensions_are_contagious():
    assert (Dimension(None) + 3).value is None
    assert (Dimension(7) - Dimension(2)).value == 5
    assert (3 * Dimension(5)).value == 15
    assert (Dimension(7) // 2).value == 3
    assert (Dimension(None) == Dimension(None)) is None
    assert (Dimension(3) < Dimension(5)) is True
    assert Dimension(3) == 3


def test_a_dimension_is_an_index_and_prints_as_tensorflow_does():
    assert list(range(Dimension(3))) == [0, 1, 2]
    assert str(Dimension(None)) == "?"
    assert repr(Dimension(3)) == "Dimension(3)"


@pytest.mark.parametrize("value", [-1, -7])
def test_negative_dimensions_are_refused(value):
    with pytest.raises(ValueError, match="must be >= 0"):
        Dimension(value)


def test_true_division_names_the_right_operator():
    with pytest.raises(TypeError, match="please use // instead"):
        Dimension(6) / 2


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        (TensorShape(None), "<unknown>"),
        (TensorShape([]), "()"),
        (TensorShape([3]), "(3,)"),
        (TensorShape([None, 3]), "(?, 3)"),
    ],
)
def test_printing(shape, text):
    assert str(shape) == text


def test_merging_keeps_what_either_side_knows():
    assert TensorShape([None, 3]).merge_with([2, None]) == [2, 3]
    assert TensorShape(None).merge_with([2]) == [2]
    with pytest.raises(ValueError, match=r"Shapes \(2, 3\) and \(2, 5\) are not compatible"):
        TensorShape([2, 3]).merge_with([2, 5])


def test_slices_of_known_and_unknown_rank():
    assert TensorShape([2, None, 5])[1:] == [None, 5]
    assert TensorShape([2, None, 5])[0].value == 2
    assert TensorShape(None)[1:3].as_list() == [None, None]
    assert TensorShape(None)[1:].ndims is None


def test_number_of_elements_needs_every_dimension():
    assert TensorShape([2, 3, 7]).num_elements() == 42
    assert TensorShape([2, None]).num_elements() is None
    assert TensorShape([]).num_elements() == 1


def test_iteration_and_length_need_a_rank():
    assert [d.value for d in TensorShape([2, None])] == [2, None]
    with pytest.raises(ValueError, match="unknown rank"):
        len(TensorShape(None))
    with pytest.raises(ValueError, match="as_list"):
        TensorShape(None).as_list()


def test_comparison_hash_and_pickle():
    assert TensorShape([2, 3]) == (2, 3)
    assert TensorShape([2, 3]) != [3, 2]
    assert hash(TensorShape([2, None])) == hash(TensorShape([2, None]))
    assert pickle.loads(pickle.dumps(TensorShape([2, None]))).as_list() == [2, None]
    with pytest.raises(ValueError, match="undefined"):
        assert TensorShape(None) != TensorShape([1])


def test_proto_round_trip():
    for shape in (TensorShape(None), TensorShape([]), TensorShape([None, 5])):
        assert TensorShape(shape.as_proto()).known_dims == shape.known_dims


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        ([2, 1, 5], [3, 1], [2, 3, 5]),
        ([None, 3], [3], [None, 3]),
        ([None], [7], [7]),
        ([None], [1], [None]),
        ([], [2, 3], [2, 3]),
        ([0], [1], [0]),
    ],
)
def test_broadcasting(x, y, expected):
    assert broadcast_shapes(TensorShape(x), TensorShape(y)).as_list() == expected
    assert broadcast_shapes(TensorShape(y), TensorShape(x)).as_list() == expected


def test_broadcasting_of_unequal_dimensions():
    with pytest.raises(ValueError, match="Dimensions must be equal, but are 3 and 5"):
        broadcast_shapes(TensorShape([2, 3]), TensorShape([2, 5]))


def test_shapes_add_up() -> None:
    assert [1] + TensorShape([2]) + (3,) == TensorShape([1, 2, 3])
    assert (TensorShape([2]) + TensorShape(None)).rank is None


def test_floats_without_fraction_and_numerals_are_dimensions():
    assert Dimension(4 / 2).value == 2 and TensorShape([np.float32(3), "5", None]).as_list() == [3, 5, None]
    assert (
        TensorShape([1]) != "x"
        and Dimension(3) == 3.0
        and (Dimension(3) * 2.0).value == 6
        and TensorShape([3]).is_compatible_with([3.0])
    )
    with pytest.raises(ValueError, match=r"Ambiguous dimension: 2\.5"):
        TensorShape([2.5])
    with pytest.raises(ValueError, match="invalid literal"):
        Dimension("x")
    with pytest.raises(TypeError, match="must be an integer or None"):
        Dimension([3])
    with pytest.raises(TypeError, match="A string has ambiguous TensorShape"):
        TensorShape("3")
