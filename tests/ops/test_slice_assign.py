"""Assignment to a slice of a variable."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.core import errors

A = np.float32([[1, -2, 3], [4, 5, -6]])


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as g:
        yield g


class Index:
    """Gives the index that it was indexed with."""

    def __getitem__(self, key: Any) -> Any:
        return key


SLICES = [
    (lambda v: v[0], [7.0, 8.0, 9.0]),
    (lambda v: v[:, 1], [7.0, 8.0]),
    (lambda v: v[1, 2], 7.0),
    (lambda v: v[..., tf.newaxis, 1:], [[[7.0, 8.0]], [[9.0, 0.0]]]),
    (lambda v: v[::-1, ::2], [[7.0, 8.0], [9.0, 0.0]]),
    (lambda v: v[1:], [[-1.0, -2.0, -3.0]]),
]


@pytest.mark.parametrize(("cut", "value"), SLICES)
def test_assignment_to_slices(cut: Any, value: Any) -> None:
    v = tf.Variable(A, name="v")
    with tf.name_scope("s"):
        part = cut(v)
    assigned = part.assign(value)
    expected = A.copy()
    expected[cut(Index())] = value
    assert (assigned.op.name, assigned.op.type, assigned.get_shape()) == (
        "s/strided_slice/_assign",
        "StridedSliceAssign",
        [2, 3],
    )
    with tf.Session() as session:
        session.run(v.initializer)
        np.testing.assert_array_equal(session.run(assigned), expected)
        np.testing.assert_array_equal(session.run(v), expected)


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("value", [1.0, [1.0], [1.0, 2.0], [[1.0, 2.0, 3.0]]])
def test_assignment_to_slices_refuses_other_shapes(value: Any, use_resource: bool) -> None:
    v = tf.Variable(A, name="v", use_resource=use_resource)
    named = v[0].assign(val=value, name="named")
    of_nothing = v[0:0].assign(value)
    shape = str(list(np.shape(value))).replace(" ", "")
    with tf.Session() as session:
        session.run(v.initializer)
        with pytest.raises(
            errors.UnimplementedError, match=rf"l-value shape \[3\] .* r-value shape {re.escape(shape)}\. Auto"
        ) as caught:
            session.run(named)
        assert caught.value.op.name == "named"
        np.testing.assert_array_equal(session.run(of_nothing), A)
        np.testing.assert_array_equal(session.run(v), A)
