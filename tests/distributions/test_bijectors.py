"""Bijectors: round trips, Jacobians against those that gradients make, and what is kept of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tfexp as tf

d = tf.contrib.distributions
b = d.bijectors
A = np.array
TRIL = A([[1.5, 0.0, 0.0], [0.3, -0.7, 0.0], [0.2, 0.4, 2.0]])
X = A([[0.3, -0.6, 1.2], [2.0, 0.1, -0.4]])
POSITIVE = np.abs(X) + 0.1

STRICT = A([[0.0, 0.3, -0.4], [0.0, 0.0, 0.7], [0.0, 0.0, 0.0]])  # of numbers by those before them


def autoregressive(y: Any) -> tuple[Any, Any]:
    seen = tf.matmul(y, STRICT)
    return seen, tf.tanh(seen)


def coupled(first: Any, count: int) -> tuple[Any, Any]:
    return tf.matmul(first, STRICT[:1, 3 - count :]), tf.sin(first) * np.arange(1.0, count + 1.0)


# (a bijector, events of so many axes, x)
CASES: dict[str, tuple[Any, int, Any]] = {
    "identity": (lambda: b.Identity(), 0, X),
    "exp": (lambda: b.Exp(), 0, X),
    "softplus": (lambda: b.Softplus(), 0, X),
    "softer plus": (lambda: b.Softplus(hinge_softness=np.float64(2.5)), 0, X),
    "sigmoid": (lambda: b.Sigmoid(), 0, X),
    "power": (lambda: b.PowerTransform(0.7), 0, X),
    "scalar affine": (lambda: b.AffineScalar(A(0.5), A(-3.0)), 0, X),
    "shift": (lambda: b.Affine(shift=A([1.0, 2.0, 3.0])), 1, X),
    "times a number": (lambda: b.Affine(scale_identity_multiplier=A(-1.7)), 1, X),
    "diagonal": (lambda: b.Affine(X[0], 0.3, A([1.0, 2.0, -3.0]), validate_args=True), 1, X),
    "triangle": (lambda: b.Affine(X[0], scale_tril=TRIL), 1, X),
    "sum of all": (lambda: b.Affine(X[0], A(2.0), A([1.0, 2.0, 3.0]), TRIL, POSITIVE.T, A([1.0, 0.5])), 1, X),
    "perturbed": (lambda: b.Affine(scale_identity_multiplier=A(2.0), scale_perturb_factor=POSITIVE.T), 1, X),
    "operator": (lambda: b.AffineLinearOperator(X[1], tf.linalg.LinearOperatorFullMatrix(TRIL + 0.1)), 1, X),
    "permutation": (lambda: b.Permute([2, 0, 1]), 1, X),
    "reshape": (lambda: b.Reshape([3, 1]), 1, X),
    "centered softmax": (lambda: b.SoftmaxCentered(), 1, X),
    "softsign": (lambda: b.Softsign(validate_args=True), 0, X),
    "square": (lambda: b.Square(validate_args=True), 0, POSITIVE),
    "gumbel": (lambda: b.Gumbel(A(0.3), A(1.7), validate_args=True), 0, X),
    "kumaraswamy": (lambda: b.Kumaraswamy(A(0.7), A(1.3), validate_args=True), 0, POSITIVE / 3),
    "sinh arcsinh": (lambda: b.SinhArcsinh(A(0.5), A(1.5), validate_args=True), 0, X),
    "ordered": (lambda: b.Ordered(validate_args=True), 1, np.cumsum(POSITIVE, 1)),
    "triangle of numbers": (lambda: b.FillTriangular(validate_args=True), 1, X),
    "upper triangle": (lambda: b.FillTriangular(upper=True), 1, X),
    "scale": (lambda: b.ScaleTriL(b.Exp(), None), 1, X),
    "diagonal only": (lambda: b.TransformDiagonal(b.Exp()), 2, X[:, :2].reshape(1, 2, 2)),
    "outer product": (lambda: b.CholeskyOuterProduct(validate_args=True), 2, np.abs([TRIL])),
    "inverse": (lambda: b.Invert(b.Softplus()), 0, POSITIVE),
    "chain": (lambda: b.Chain([b.Exp(), b.Affine(X[0], scale_tril=TRIL), b.Sigmoid()]), 1, X),
    "chain of shapes": (lambda: b.Chain([b.Exp(), b.Reshape([3, 1]), b.Softplus()]), 1, X),
    "nothing chained": (lambda: b.Chain(), 0, X),
    "real nvp": (lambda: b.RealNVP(1, coupled), 1, X),
    "masked flow": (lambda: b.MaskedAutoregressiveFlow(autoregressive), 1, X),
    "unrolled flow": (lambda: b.MaskedAutoregressiveFlow(autoregressive, unroll_loop=True), 1, X),
    "inline": (lambda: b.Inline(tf.exp, tf.log, lambda y: -tf.log(y), forward_min_event_ndims=0), 0, X),
}


@pytest.fixture
def session() -> Iterator[tf.Session]:
    with tf.Graph().as_default(), tf.Session() as one:
        yield one


def jacobian(x: np.ndarray, y: Any, at: Any, session: tf.Session) -> np.ndarray:
    """dy / dx of one event, as a matrix."""
    numbers = tf.reshape(y, [-1])
    rows = [tf.gradients(numbers[i], at)[0] for i in range(numbers.shape[0].value)]
    return np.stack([row.ravel() for row in session.run(rows, {at: x})])


@pytest.mark.parametrize("name", CASES)
def test_round_trips_and_jacobians(name: str, session: tf.Session) -> None:
    make, axes, values = CASES[name]
    x = tf.placeholder(tf.float64, values.shape)
    one = make()
    y = one.forward(x)
    after = axes - one.forward_min_event_ndims + one.inverse_min_event_ndims
    found = session.run(
        {
            "again": make().inverse(y),
            "forward": make().forward_log_det_jacobian(x, axes) + tf.zeros(values.shape[: values.ndim - axes], tf.float64),
            "inverse": make().inverse_log_det_jacobian(y, after) + tf.zeros(values.shape[: values.ndim - axes], tf.float64),
            "event": one.forward_event_shape_tensor(values.shape[values.ndim - axes :]),
            "back": one.inverse_event_shape_tensor(y.shape.as_list()[len(y.shape) - after :]),
        },
        {x: values},
    )
    np.testing.assert_allclose(found["again"], values, atol=1e-9)
    np.testing.assert_allclose(found["forward"], -found["inverse"], atol=1e-9)
    event = values.shape[values.ndim - axes :]
    assert list(found["event"]) == one.forward_event_shape(event).as_list() == y.shape.as_list()[len(y.shape) - after :]
    assert list(found["back"]) == one.inverse_event_shape(found["event"].tolist()).as_list() == list(event)
    first = values[:1] if axes else values[0, 0]
    at = tf.placeholder(tf.float64, first.shape)
    matrix = jacobian(first, make().forward(at), at, session)
    if name == "centered softmax":
        matrix = matrix[:-1]  # the last number is what the others leave
    if name == "outer product":
        lower = np.tril(np.ones((3, 3), bool)).ravel()  # the others follow from these
        matrix = matrix[lower][:, lower]
    matrix = matrix[matrix.any(1)]  # the zeros of triangles are not the bijector's
    np.testing.assert_allclose(np.linalg.slogdet(matrix)[1], found["forward"].ravel()[0], atol=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_further_axes_are_summed(name: str, session: tf.Session) -> None:
    make, axes, values = CASES[name]
    more = values.ndim - axes
    each = make().forward_log_det_jacobian(values, axes) + np.zeros(values.shape[:more])
    whole, parts = session.run([make().forward_log_det_jacobian(values, values.ndim), each])
    np.testing.assert_allclose(whole, parts.sum())


def test_inverses_of_triangles(session: tf.Session) -> None:
    one = b.MatrixInverseTriL(validate_args=True)
    inverse, again, logs = session.run([one.forward(TRIL), one.inverse(TRIL), one.forward_log_det_jacobian(TRIL, 2)])
    np.testing.assert_allclose(inverse, np.linalg.inv(TRIL), atol=1e-12)
    np.testing.assert_array_equal(inverse, again)
    assert logs == pytest.approx(-6 * np.log(abs(np.diag(TRIL))).sum())
    x = tf.placeholder(tf.float64, [2, 2])
    for wrong, message in ([[1.0, 2.0], [0.0, 1.0]], "lower triangular"), ([[1.0, 0.0], [2.0, 0.0]], "nonzero"):
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            session.run(one.forward(x), {x: wrong})


def test_triangles_have_triangular_counts(session: tf.Session) -> None:
    one = b.FillTriangular(validate_args=True)
    with pytest.raises(ValueError, match="5 cannot"):
        one.forward_event_shape([5])
    with pytest.raises(ValueError, match="must be square"):
        one.inverse_event_shape([2, 3])
    with pytest.raises(tf.errors.InvalidArgumentError, match="triangular"):
        session.run(one.forward_event_shape_tensor(tf.placeholder_with_default([5], [1])))


@pytest.mark.parametrize(
    ("make", "wrong"),
    [
        (lambda: b.Softsign(validate_args=True).inverse, -1.5),
        (lambda: b.Square(validate_args=True).forward, -1.5),
        (lambda: b.Gumbel(validate_args=True).inverse, 1.5),
        (lambda: b.Kumaraswamy(1.0, 2.0, validate_args=True).inverse, 1.5),
        (lambda: b.Ordered(validate_args=True).forward, [2.0, 1.0]),
        (lambda: lambda x: b.SinhArcsinh(0.0, x, validate_args=True).forward(1.0), -1.5),
    ],
)
def test_values_are_checked_where_arguments_are(make: Any, wrong: Any, session: tf.Session) -> None:
    value = tf.placeholder_with_default(wrong, np.shape(wrong))
    with pytest.raises(tf.errors.InvalidArgumentError):
        session.run(make()(value))


def test_what_was_computed_is_kept() -> None:
    for one in (b.Exp(), b.Chain([b.Exp(), b.AffineScalar(scale=2.0)])):
        x = tf.constant([1.0, 2.0])
        y = one.forward(x)
        assert one.inverse(y) is x
        assert one.forward(x) is y
        logs = one.inverse_log_det_jacobian(y, 0)
        before = len(tf.get_default_graph().get_operations())
        assert one.inverse_log_det_jacobian(y, 0) is logs
        assert len(tf.get_default_graph().get_operations()) == before
        assert one.forward_log_det_jacobian(x, 0).op.type == "Neg"


def test_numbers_with_two_preimages(session: tf.Session) -> None:
    one = b.AbsoluteValue(validate_args=True)
    (low, high), logs = session.run([one.inverse([1.0, 2.0]), one.inverse_log_det_jacobian([1.0, 2.0], 0)])
    assert low.tolist() == [-1, -2] and high.tolist() == [1, 2] and logs == (0, 0)
    with pytest.raises(NotImplementedError, match="non-injective"):
        one.forward_log_det_jacobian([1.0], 0)
    with pytest.raises(ValueError, match="non-injective"):
        b.Invert(one)
    with pytest.raises(tf.errors.InvalidArgumentError, match="negative"):
        session.run(one.inverse(tf.placeholder_with_default([-1.0], [1])))
    half = d.TransformedDistribution(d.Normal(A([0.0, 0.0]), A([1.0, 2.0])), b.AbsoluteValue())
    x = A([0.3, 4.0])
    np.testing.assert_allclose(*session.run([half.log_prob(x), d.HalfNormal(A([1.0, 2.0])).log_prob(x)]))


@pytest.mark.parametrize(
    ("make", "error", "told"),
    [
        (lambda: b.Bijector(), ValueError, "at least one of"),
        (lambda: b.Bijector(forward_min_event_ndims=-1), ValueError, "non-negative"),
        (lambda: b.Exp().inverse_log_det_jacobian([1.0], event_ndims=-1), ValueError, "min_event_ndims"),
        (lambda: b.Affine(scale_diag=[1.0]).forward_log_det_jacobian([1.0], event_ndims=0), ValueError, "min_event_ndims"),
        (lambda: b.Affine(scale_perturb_diag=[1.0]), ValueError, "scale_perturb_factor must be"),
        (lambda: b.Affine(scale_diag=A([1.0])).forward(np.float32([1])), TypeError, "float64"),
        (lambda: b.AffineLinearOperator(scale=3.0), TypeError, "LinearOperator"),
        (lambda: b.PowerTransform(-1.0), ValueError, "non-negative"),
        (lambda: b.RealNVP(0, coupled), ValueError, "positive"),
        (lambda: b.RealNVP(3, coupled).forward(X), ValueError, "smaller than the event size"),
        (lambda: b.Permute([0, 2]), ValueError, "exactly one of each"),
        (lambda: b.Permute([0.0, 1.0]), TypeError, "integer"),
        (lambda: b.Reshape([2, 3], [5]), ValueError, "mismatch"),
        (lambda: b.Reshape([-1, -1]), ValueError, "at most one -1"),
        (lambda: b.Inline(tf.exp, forward_min_event_ndims=0).inverse([1.0]), NotImplementedError, "inverse not"),
    ],
)
def test_what_is_refused(make: Any, error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        make()


def test_log_normal(session: tf.Session) -> None:
    one = d.TransformedDistribution(d.Normal(A([0.5, -1.0]), A([0.7, 2.0])), b.Exp(), name="LogNormal")
    x = A([0.3, 4.0])
    drawn, logs, below, middle = session.run([one.sample(20000, seed=3), one.log_prob(x), one.cdf(x), one.quantile(0.5)])
    z = (np.log(x) - [0.5, -1.0]) / [0.7, 2.0]
    np.testing.assert_allclose(logs, -0.5 * z**2 - np.log([0.7, 2.0]) - 0.5 * np.log(2 * np.pi) - np.log(x))
    np.testing.assert_allclose((drawn <= x).mean(0), below, atol=0.02)
    np.testing.assert_allclose(middle, np.exp([0.5, -1.0]))
    for question in (one.mean, one.entropy):
        with pytest.raises(NotImplementedError):
            question()
    sample = one.sample([5, 2])
    assert one.bijector.inverse(sample).op.type != "Log"  # it is known what the sample is of


def test_distributions_given_a_batch_and_an_event(session: tf.Session) -> None:
    """Independent normal numbers by a triangle are a multivariate normal vector."""
    one = d.TransformedDistribution(
        d.Normal(np.float64(0), np.float64(1)), b.Affine(X[0], scale_tril=TRIL), batch_shape=[2], event_shape=[3]
    )
    like = d.MultivariateNormalTriL(X[0] + np.zeros((2, 3)), TRIL)
    assert (one.batch_shape.as_list(), one.event_shape.as_list()) == ([2], [3])
    for question in ("mean", "mode", "entropy"):
        np.testing.assert_allclose(*session.run([getattr(one, question)(), getattr(like, question)()]), atol=1e-12)
    drawn = session.run(one.sample(9000, seed=1))
    np.testing.assert_allclose(*session.run([one.log_prob(drawn[:5]), like.log_prob(drawn[:5])]))
    np.testing.assert_allclose(np.cov(drawn[:, 1].T), TRIL @ TRIL.T, atol=0.2)
    with pytest.raises(ValueError, match="has one"):
        d.TransformedDistribution(d.Normal([0.0], 1.0), b.Exp(), batch_shape=[2])


def test_events_come_after_the_batch(session: tf.Session) -> None:
    one = d.TransformedDistribution(d.Normal(A([0.0, 100.0]), 1.0), b.Affine(scale_diag=A([1.0, 2.0, 3.0])), event_shape=[3])
    drawn = session.run(one.sample([5, 7], seed=1))
    assert drawn.shape == (5, 7, 2, 3)
    np.testing.assert_allclose(drawn[:, :, 1].mean((0, 1)), [100, 200, 300], atol=4)
    assert session.run(one.entropy()).shape == (2,)


def test_the_rank_of_events_may_be_known_in_the_run_only(session: tf.Session) -> None:
    probs, axes = tf.placeholder(tf.float64, None), tf.placeholder(tf.int32, [])
    shares = np.exp(POSITIVE) / np.exp(POSITIVE).sum(-1, keepdims=True)
    one, known = (d.RelaxedOneHotCategorical(np.float64(0.5), probs=given) for given in (probs, shares))
    assert one.event_shape.ndims is None
    np.testing.assert_allclose(*session.run([one.log_prob(shares), known.log_prob(shares)], {probs: shares}))
    for bijector in (b.Exp(), b.AffineScalar(scale=np.float64(3.0))):
        asked = [bijector.inverse_log_det_jacobian(tf.constant(POSITIVE), axes)]
        asked.append(bijector.forward_log_det_jacobian(tf.constant(X), axes))
        for rank in (0, 1, 2):
            wanted = [bijector.inverse_log_det_jacobian(POSITIVE, rank), bijector.forward_log_det_jacobian(X, rank)]
            found, known = session.run([asked, wanted], {axes: rank})
            for one, other in zip(found, known, strict=True):
                np.testing.assert_allclose(one, other)
