"""Rules that a program registers for operators of its own."""

from __future__ import annotations

import numpy as np
import pytest

import tfexp as tf
from tfexp.linear_operators.rules import Rules
from tfexp.stand_ins.modules import stand_for

algebra = stand_for("tensorflow.python.ops.linalg.linear_operator_algebra")
hints = stand_for("tensorflow.python.ops.linalg.registrations_util")


def operators() -> tuple[type, type]:
    """Two new classes, the second one derived from the first."""

    class A(tf.linalg.LinearOperator):
        def __init__(self):
            super().__init__(tf.float32, is_square=True, is_non_singular=True, is_self_adjoint=False)

        def _shape(self):
            return tf.TensorShape([2, 2])

        def _matmul(self, x, adjoint=False, adjoint_arg=False):
            return x

    class B(A):
        pass

    return A, B


def test_the_nearest_rule_counts():
    A, B = operators()
    algebra.RegisterMatmul(A, A)(lambda x, y: "AA")
    assert A().matmul(B()) == algebra.matmul(B(), B()) == "AA"
    algebra.RegisterMatmul(B, B)(lambda x, y: "BB")
    assert B().matmul(B()) == "BB" and B().matmul(A()) == "AA"
    assert isinstance(A().matmul(tf.linalg.LinearOperatorDiag([1.0, 2.0])), tf.linalg.LinearOperatorComposition)


@pytest.mark.parametrize("kind", ["Adjoint", "Inverse"])
def test_rules_of_one_operator(kind):
    A, B = operators()
    getattr(algebra, f"Register{kind}")(A)(lambda x: type(x).__name__)
    for operator, name in ((A(), "A"), (B(), "B")):
        assert getattr(operator, kind.lower())() == getattr(algebra, kind.lower())(operator) == name
    with pytest.raises(ValueError, match=rf"{kind}\(A\) has already been registered"):
        getattr(algebra, f"Register{kind}")(A)(lambda x: None)


def test_solving_for_an_operator():
    A, _ = operators()
    algebra.RegisterSolve(A, A)(lambda x, y: "solved")
    assert A().solve(A()) == "solved"
    with tf.Graph().as_default(), tf.Session() as session:
        diagonal = tf.linalg.LinearOperatorDiag([2.0, 4.0])
        solved = diagonal.solve(tf.linalg.LinearOperatorDiag([2.0, 2.0])).to_dense()
        assert session.run(solved).tolist() == [[1.0, 0.0], [0.0, 0.5]]
        of_batch = tf.linalg.LinearOperatorDiag([1.0, 2.0]).solve(tf.linalg.LinearOperatorIdentity(2, batch_shape=[3]))
        assert session.run(of_batch.to_dense()).tolist() == [[[1.0, 0.0], [0.0, 0.5]]] * 3


def test_what_is_no_rule():
    with pytest.raises(TypeError, match="adjoint_fn must be callable, received: x"):
        Rules("adjoint").register(int)("x")
    with pytest.raises(ValueError, match=r"No solve registered for <class 'int'>.solve\(<class 'str'>\)"):
        Rules("solve")(3, "x")


def test_hints_of_products():
    def combined(name: str, hint: str, first: bool | None, second: bool | None, **settings) -> bool | None:
        made = [tf.linalg.LinearOperatorFullMatrix(np.eye(2), **{hint: one}, **settings) for one in (first, second)]
        return getattr(hints, name)(*made)

    pairs = [(True, True), (True, False), (False, False), (None, True), (None, False)]
    singular = [combined("combined_non_singular_hint", "is_non_singular", *pair) for pair in pairs]
    assert singular == [True, False, False, None, False]
    adjoint = [combined("combined_commuting_self_adjoint_hint", "is_self_adjoint", *pair) for pair in pairs]
    assert adjoint == [True, False, None, None, None]
    positive = [
        combined("combined_commuting_positive_definite_hint", "is_positive_definite", *pair, is_self_adjoint=True)
        for pair in pairs
    ]
    assert positive == [True, None, None, None, None]


def test_products_of_diagonals_have_the_hints():
    real = tf.linalg.LinearOperatorDiag(np.array([2.0, 3.0], complex), is_self_adjoint=True)
    turning = tf.linalg.LinearOperatorDiag(np.array([2j, 3.0]), is_self_adjoint=False)
    products = [a.matmul(b) for a, b in ((real, real), (real, turning), (turning, turning))]
    assert [product.is_self_adjoint for product in products] == [True, False, None]


def test_squares():
    tall, wide, square = (tf.linalg.LinearOperatorFullMatrix(np.ones(shape)) for shape in ((3, 2), (2, 3), (2, 2)))
    assert [hints.is_square(*pair) for pair in ((tall, wide), (wide, wide), (tall, square), (square, square))] == [
        *(True, False, False, True)
    ]
