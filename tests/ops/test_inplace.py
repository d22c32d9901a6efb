"""Rows of a tensor changed: values, the input unharmed, what is refused."""

import numpy as np
import pytest

import tfexp as tf
from tests.ops.harness import Error, OpCase, op_tests
from tfexp.core.errors import InvalidArgumentError
from tfexp.ops import inplace

ROWS = np.int32([4, 0])


def changed(ufunc):
    def reference(x, i, v):
        y = x.copy()
        y[i] = ufunc(y[i], v)
        return y

    return reference


CASES = [
    OpCase(
        "InplaceUpdate",
        [(5, 3), ROWS, (2, 3)],
        changed(lambda old, new: new),
        dtypes=["float32", "int64", "bool", "float16"],
        gradient=(),
        errors=[
            Error([(5, 3), np.int32([[0]]), (2, 3)], InvalidArgumentError, "i must be a vector. [1,1]"),
            Error([(5, 3), ROWS, (2, 7)], InvalidArgumentError, "x and v shape doesn't match"),
            Error([(5, 3), ROWS, (3, 3)], InvalidArgumentError, "i and x shape doesn't match at index 0: [2] vs. [3,3]"),
        ],
    ),
    OpCase("InplaceAdd", [(5, 3), ROWS, (2, 3)], changed(np.add), dtypes=["float32", "int32"], gradient=()),
    OpCase("InplaceSub", [(5, 3), ROWS, (2, 3)], changed(np.subtract), dtypes=["float64", "int8"], gradient=()),
    OpCase("DeepCopy", [(5, 3)], lambda x: x, dtypes=["float32", "string"], gradient=()),
    OpCase("Empty", [np.int32([2, 3])], lambda dims: np.zeros(dims, np.int16), attrs={"dtype": tf.int16}),
]
test_rows = op_tests(CASES)


def test_rows_that_are_named_in_other_ways():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.zeros([3, 2])
        one = inplace.inplace_update(x, 1, [5.0, 6.0])
        whole = inplace.inplace_add(one, None, [[1.0, 1.0]] * 3)
        twice = inplace.inplace_sub(x, [2, 2], [[1.0, 2.0], [3.0, 4.0]])
        found = session.run([one, whole, twice, x, inplace.empty([2], tf.string), inplace.empty_like(x)])
    assert found[0].tolist() == [[0, 0], [5, 6], [0, 0]] and found[1].tolist() == [[1, 1], [6, 7], [1, 1]]
    assert found[2].tolist() == [[0, 0], [0, 0], [-4, -6]] and not found[3].any()
    assert found[4].tolist() == [b"", b""] and found[5].shape == (3, 2)


@pytest.mark.parametrize("use_resource", [False, True])
def test_rows_of_a_batch_of_variables(use_resource):
    with tf.Graph().as_default(), tf.Session() as session:
        start = np.arange(24.0).reshape(2, 3, 4)
        variable = tf.Variable(start, use_resource=use_resource)
        indices = np.array([[2, 0], [1, 2]])
        update = tf.batch_scatter_update(variable, indices, -np.ones((2, 2, 4)))
        again = variable.batch_scatter_update(tf.IndexedSlices(tf.constant(np.ones([2, 1, 4])), tf.constant([[0], [0]])))
        session.run(tf.global_variables_initializer())
        session.run(update)
        expected = start.copy()
        expected[[0, 0, 1, 1], indices.ravel()] = -1
        np.testing.assert_array_equal(session.run(variable), expected)
        session.run(again)
        assert (session.run(variable)[:, 0] == 1).all()
