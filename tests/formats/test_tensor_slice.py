"""Slices: text, proto, keys that sort as the slices do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfexp.core.errors import InvalidArgumentError
from tfexp.formats.tensor_slice import TensorSlice, parse_shape_and_slice, slice_key

EXTENTS = st.lists(st.one_of(st.just((0, None)), st.tuples(st.integers(0, 1 << 40), st.integers(1, 1 << 40))), min_size=1)


@given(EXTENTS)
def test_text_and_proto_and_back(extents: list[tuple[int, int | None]]) -> None:
    part = TensorSlice(tuple(extents))
    assert TensorSlice.parse(str(part)) == part
    assert TensorSlice.from_proto(part.to_proto()) == part


def test_boxes() -> None:
    shape, part = parse_shape_and_slice("7 5 11 2,3:-:10,1")
    assert shape == (7, 5, 11)
    assert part.boxes(shape) == (slice(2, 5), slice(0, 5), slice(10, 11))
    assert np.zeros(shape)[part.boxes(shape)].shape == (3, 5, 1)
    assert not part.is_full(shape)
    assert TensorSlice.parse("-:-:-").is_full(shape)


def test_keys_of_tensorflow() -> None:
    """Seen in the index of a partitioned variable that TensorFlow saved."""
    assert slice_key("p/w", TensorSlice.parse("3,2:0,5")) == b"\x00p/w\x00\x01\x01\x02\x83\x82\x80\x85"
    assert slice_key("p2/w2", TensorSlice.parse("0,3:150,150")) == b"\x00p2/w2\x00\x01\x01\x02\x80\x83\xc0\x96\xc0\x96"
    assert slice_key("a", TensorSlice.parse("-:0,1")) == b"\x00a\x00\x01\x01\x02\x80\x7f\x80\x81"
    assert slice_key("a\0", TensorSlice(())) == b"\x00a\x00\xff\x00\x01\x00"


@given(st.integers(0, 1 << 62), st.integers(0, 1 << 62))
def test_keys_sort_as_starts_do(a: int, b: int) -> None:
    keys = [slice_key("t", TensorSlice(((start, 1),))) for start in (a, b)]
    assert (keys[0] < keys[1]) == (a < b)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("0,3", "Need least two elements in shape_and_slice specification: 0,3"),
        ("x 0,3", "Non numerical dimension in shape_and_slice: x 0,3"),
        ("3 0,4", "Extent in dimension 0 out of bounds"),
        ("3 5 0,3", "has 1 dimensions, the shape"),
        ("3 0:3", "got '0'"),
        ("3 0,0", "got '0,0'"),
        ("3 -1,2", "got '-1,2'"),
        ("3 ", "got ''"),
    ],
)
def test_bad_specifications(text: str, complaint: str) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        parse_shape_and_slice(text)
    assert complaint in str(caught.value)
