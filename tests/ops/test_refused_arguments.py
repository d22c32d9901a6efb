"""What is wrong with arguments of functions, in TensorFlow's words, which tests of programs look for."""

import numpy as np
import pytest

import tfexp as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda c: c([True]) / c([True]), TypeError, r"Invalid dtype tf\.bool in __truediv__"),
        (lambda c: tf.truediv(c(["a"]), c(["b"])), TypeError, r"Invalid dtype tf\.string in __truediv__"),
        (
            lambda c: tf.truediv(c([1]), c([2.0])),
            TypeError,
            r"^x and y must have the same dtype, got tf\.int32 != tf\.float32$",
        ),
        (lambda c: tf.complex(c([1.0]), c([2])), TypeError, "^real and imag have incorrect types: float32 int32$"),
        (lambda c: tf.tensordot(c([[1]]), c([[1]]), [0, 1, 1]), ValueError, "'axes' must be an integer or have length 2"),
        (lambda c: tf.tensordot(c([[1]]), c([[1]]), -1), ValueError, "'axes' must be at least 0"),
        (
            lambda c: tf.tensordot(c([[1]]), c([[1]]), 3),
            ValueError,
            "'axes' must not be larger than the number of dimensions",
        ),
        (lambda c: tf.stack([1, 2], axis=1), ValueError, r"^axis = 1 not in \[-1, 1\)$"),
        (lambda c: tf.unstack(c([1]), axis=-2), ValueError, r"^axis = -2 not in \[-1, 1\)$"),
        (lambda c: tf.split(c([1, 2]), tf.placeholder(tf.int32)), ValueError, "^Cannot infer num from shape Tensor"),
        (
            lambda c: tf.searchsorted(c([1]), c([0]), side="mid"),
            ValueError,
            "^side must be either 'right' or 'left'.  Saw: mid",
        ),
        (
            lambda c: tf.linalg.transpose(c([1])),
            ValueError,
            r"'a' should be a \(batch\) matrix, with rank >= 2.  Found: \(1,\)",
        ),
        (
            lambda c: tf.ensure_shape(c([1, 2]), [3]),
            ValueError,
            "^Dimension 0 in both shapes must be equal, but are 3 and 2",
        ),
        (
            lambda c: tf.slice(c([1, 2]), [0], [1, 1]),
            ValueError,
            "^Dimension 0 in both shapes must be equal, but are 1 and 2",
        ),
        (lambda c: tf.nn.dropout(c([1.0]), keep_prob=2.0), ValueError, r"^rate must be .* in the range \[0, 1\), got -1$"),
        (lambda c: tf.nn.dropout(c([1]), rate=0.5), ValueError, "^x has to be a floating point tensor"),
        (
            lambda c: tf.nn.max_pool(tf.zeros([1, 3, 3, 1]), [1, 2, 2], 1, "SAME"),
            ValueError,
            "^ksize .* 1, 2 or 4 but was 3$",
        ),
        (lambda c: tf.nn.convolution(tf.zeros([1, 5]), tf.zeros([2, 1]), "SAME"), ValueError, "rank 3, 4 or 5 but was 2"),
        (
            lambda c: tf.nn.softmax(c([[1.0]]), axis=3),
            tf.errors.InvalidArgumentError,
            r"^Dimension \(3\) must be in the range",
        ),
        (
            lambda c: tf.nn.log_poisson_loss(c([1.0]), c([1.0, 2.0])),
            ValueError,
            r"must have the same shape \(\(2,\) vs \(1,\)\)$",
        ),
        (
            lambda c: tf.nn.ctc_loss(c([[1]]), tf.zeros([3, 1, 3]), [3]),
            TypeError,
            "^Expected labels .* to be a SparseTensor$",
        ),
        (lambda c: tf.losses.mean_squared_error(None, c([1.0])), ValueError, "^labels must not be None"),
        (lambda c: tf.losses.cosine_distance(c([1.0]), c([1.0])), ValueError, "^You must specify 'axis'"),
        (lambda c: tf.random.uniform([2], dtype=tf.string), ValueError, r"^Invalid dtype tf\.string$"),
        (lambda c: tf.metrics.average_precision_at_k(c([[1]]), c([[0.5]]), 0), ValueError, "^Invalid k=0"),
        (
            lambda c: tf.lookup.TextFileInitializer("a", tf.string, -1, tf.int64, -2),
            ValueError,
            "^Signature mismatch. Keys must",
        ),
        (lambda c: tf.lookup.TextFileInitializer("a", tf.string, -2, tf.int64, -5), ValueError, "^Invalid value index -5"),
        (lambda c: tf.global_norm(c([1.0])), TypeError, "^t_list should be a sequence$"),
        (
            lambda c: tf.confusion_matrix([0, 1], [0, 1], weights=[1, 2, 3]),
            ValueError,
            r"^Shapes \(2,\) and \(3,\) are incompatible$",
        ),
    ],
)
def test_texts(call, error, message):
    with pytest.raises(error, match=message):
        call(tf.constant)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda: tf.self_adjoint_eigvals([[np.nan, 0.0], [0.0, 1.0]]),
            "^Self-adjoint eigen decomposition was not successful",
        ),
        (lambda: tf.self_adjoint_eig([[1.0, 0.0], [np.inf, 1.0]]), "^Self-adjoint eigen decomposition was not successful"),
        (
            lambda: tf.linalg.tridiagonal_solve([[1.0, 0], [0, 0], [0, 1]], [1.0, 2], partial_pivoting=False),
            "requires pivoting. Try setting partial_pivoting",
        ),
    ],
)
def test_texts_of_what_runs(build, message):
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=message):
        session.run(build())


def test_the_upper_triangle_of_a_self_adjoint_matrix_does_not_count():
    with tf.Session() as session:
        assert session.run(tf.self_adjoint_eigvals([[1.0, np.nan], [0.0, 2.0]])).tolist() == [1, 2]
