"""What a distribution that validates its arguments refuses, and what it is made of."""

import numpy as np
import pytest

import tfexp as tf
from tfexp.stand_ins.modules import stand_for

ds = tf.distributions
util = stand_for("tensorflow.python.ops.distributions.util")
special = stand_for("tensorflow.python.ops.distributions.special_math")


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        yield


def run(tensors):
    with tf.Session() as session:
        return session.run(tensors)


COIN = {"probs": 0.3, "validate_args": True}


@pytest.mark.parametrize(
    ("distribution", "value", "message"),
    [
        (lambda: ds.Multinomial(4.0, probs=[0.5, 0.5], validate_args=True), [1.0, 1.0], "counts must sum to"),
        (lambda: ds.Multinomial(4.0, probs=[0.5, 0.5], validate_args=True), [1.5, 2.5], "cannot contain fractional"),
        (lambda: ds.Multinomial(4.0, probs=[0.5, 0.5], validate_args=True), [-1.0, 5.0], "must be non-negative"),
        (lambda: ds.Multinomial(2.5, probs=[0.5, 0.5], validate_args=True), [1.0, 1.0], "cannot contain fractional"),
        (lambda: ds.DirichletMultinomial(4.0, [1.0, 2.0], validate_args=True), [1.0, 1.0], "counts last-dimension must sum"),
        (lambda: ds.Dirichlet([1.0, 2.0], validate_args=True), [0.5, 0.6], "sample last-dimension must sum to `1`"),
        (lambda: ds.Dirichlet([1.0, 2.0], validate_args=True), [-0.5, 1.5], "samples must be positive"),
        (lambda: ds.Dirichlet([-1.0, 2.0], validate_args=True), [0.5, 0.5], "Concentration parameter must be positive"),
        (lambda: ds.Beta(1.0, 2.0, validate_args=True), -0.5, "sample must be positive"),
        (lambda: ds.Beta(1.0, 2.0, validate_args=True), 1.5, "sample must be less than `1`"),
        (lambda: ds.Gamma([1.0], [2.0], validate_args=True), [-0.5], "x > 0"),
        (lambda: ds.Exponential(1.0, validate_args=True), -0.5, "x > 0"),
        (lambda: ds.Bernoulli(**COIN), -1, "Elements must be non-negative"),
        (lambda: ds.Bernoulli(**COIN), 2, "Elements cannot exceed 1"),
        (lambda: ds.Bernoulli(**COIN), 0.5, "Elements must be bool-equivalent"),
        (lambda: ds.Categorical(probs=[0.3, 0.7], validate_args=True), -1, "Elements must be non-negative"),
        (lambda: ds.Categorical(probs=[0.3, 0.7], validate_args=True), 0.5, "Elements must be int32-equivalent"),
    ],
)
def test_what_is_refused_in_the_run(distribution, value, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(distribution().prob(value))


def test_what_is_asked_below_the_range_of_a_cumulative_distribution():
    with pytest.raises(tf.errors.InvalidArgumentError, match="x > 0"):
        run(ds.Gamma(1.0, 2.0, validate_args=True).cdf(-1.0))
    assert np.isnan(run(ds.Beta(1.0, 2.0, validate_args=True).cdf(1.5)))


def test_whole_numbers():
    assert run(util.embed_check_integer_casting_closed(tf.constant([1.0, 2.0]), tf.int32)).tolist() == [1, 2]
    for value, kind, message in ((300, tf.int8, "exceed 127"), (2**25, tf.float32, "exceed 16777216"), (-1, tf.int8, "neg")):
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            run(util.embed_check_integer_casting_closed(tf.constant([value]), kind))
    with pytest.raises(TypeError, match="must be integer-type"):
        util.embed_check_integer_casting_closed(tf.constant([1.0]), tf.float64)
    for shape, dtype, error, message in (
        ([1], tf.float32, ValueError, "at least 2 events"),
        ([], tf.float32, ValueError, "at least 1 dimension"),
        ([2], tf.int32, TypeError, "unrecognized dtype"),
        ([4000], tf.half, ValueError, "cannot exceed 2048"),
    ):
        with pytest.raises(error, match=message):
            util.embed_check_categorical_event_shape(tf.ones(shape, dtype))


def test_triangles():
    """TensorFlow 2.15's spirals."""
    x = np.arange(1.0, 7.0)
    assert run(util.fill_triangular(x)).tolist() == [[4, 0, 0], [6, 5, 0], [3, 2, 1]]
    assert run(util.fill_triangular(x, upper=True)).tolist() == [[1, 2, 3], [0, 5, 6], [0, 0, 4]]
    for upper in (False, True):
        assert run(util.fill_triangular_inverse(util.fill_triangular(x, upper), upper)).tolist() == x.tolist()
        pair = np.stack([x, -x])
        triangles = util.fill_triangular(tf.placeholder_with_default(pair, None), upper)
        assert triangles.shape.rank is None
        both = run([triangles, util.fill_triangular_inverse(triangles, upper)])
        np.testing.assert_array_equal(both[0], run(util.fill_triangular(pair, upper)))
        np.testing.assert_array_equal(both[1], pair)
    with pytest.raises(ValueError, match="does not correspond to a triangular matrix"):
        util.fill_triangular([1.0, 2.0])
    three = run(util.tridiag([1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0]))
    np.testing.assert_array_equal(three, np.diag([3, 4, 5]) + np.diag([1, 2], -1) + np.diag([6, 7], 1))


def test_numbers():
    x = np.array([1e-6, 0.5, 7.0, 60.0])
    np.testing.assert_allclose(run(tf.nn.softplus(util.softplus_inverse(x))), x, rtol=1e-9)
    value, sign = run(util.reduce_weighted_logsumexp([[0.0, 1.0, 2.0]], [[2.0, -3.0, 1.0]], axis=1, return_sign=True))
    exact = 2 - 3 * np.exp(1) + np.exp(2)
    np.testing.assert_allclose([value[0], sign[0]], [np.log(abs(exact)), np.sign(exact)], rtol=1e-5)
    np.testing.assert_allclose(run(util.log_combinations([5.0], [[2.0, 3.0]])), [np.log(10)], rtol=1e-6)
    grid, probs = run(util.process_quadrature_grid_and_probs(None, tf.float64, True))
    np.testing.assert_allclose([probs.sum(), (probs * grid**2).sum()], [1, 0.5])


def test_shapes_and_choices():
    fed = tf.placeholder_with_default(tf.ones([2, 3, 4]), None)
    assert [run(tf.shape(util.rotate_transpose(fed, by))).tolist() for by in (1, -2)] == [[4, 2, 3]] * 2
    assert util.prefer_static_shape(tf.ones([2, 3])).tolist() == [2, 3] and util.prefer_static_rank(tf.ones([2])) == 1
    assert run([util.same_dynamic_shape(fed, tf.ones(shape)) for shape in ([2, 3, 4], [4, 3, 2], [4])]) == [
        True,
        False,
        False,
    ]
    assert run(util.pad([1, 2], axis=-1, back=True, count=2, value=9)).tolist() == [1, 2, 9, 9]
    choice = util.pick_vector(tf.placeholder_with_default(False, []), [1, 2], [3, 4, 5])
    assert run(choice).tolist() == [3, 4, 5]
    with pytest.raises(TypeError, match="which is not <dtype: 'bool'>"):
        util.pick_vector(tf.constant(1), [1], [2])

    def function(a, b=2, *args, c=3, **rest):
        return util.parent_frame_arguments()

    assert function(1, 5, 6, d=4) == {"a": 1, "b": 5, "c": 3, "d": 4}


def test_special_functions():
    """TensorFlow 2.15's numbers."""
    x = tf.constant([-30.0, -5.0, 0.0, 6.0], tf.float64)
    np.testing.assert_allclose(
        run(special.log_ndtr(x)), [-454.3212439955, -15.064998394, -np.log(2), -9.865877e-10], rtol=1e-7
    )
    np.testing.assert_allclose(run(special.ndtri(special.ndtr(x[1:3]))), [-5, 0], atol=1e-9)
    np.testing.assert_allclose(run(tf.gradients(special.log_ndtr(x), x)[0])[:2], [30.0332593, 5.1865035], rtol=1e-6)
    np.testing.assert_allclose(run(special.log_cdf_laplace(x))[1:3], [-5.69314718, -0.69314718], rtol=1e-8)
    with pytest.raises(TypeError, match="must be float32 or float64"):
        special.ndtr(tf.constant([1]))
    with pytest.raises(ValueError, match="<= 30"):
        special.log_ndtr(x, series_order=31)


def test_whole_numbers_below_those_of_the_other_type():
    x = tf.placeholder_with_default([1, -1], None)
    for target, fits in ((tf.uint16, False), (tf.int8, True)):
        checked = util.embed_check_integer_casting_closed(x, target, assert_nonnegative=False)
        if fits:
            assert run(checked).tolist() == [1, -1]
        else:
            with pytest.raises(tf.errors.InvalidArgumentError, match="Elements cannot be smaller than 0"):
                run(checked)


@pytest.mark.parametrize("given", ["probs", "logits"])
def test_classes_are_as_many_as_their_type_can_number(given):
    for sizes, message in ((2049, "implies shape .2049. cannot exceed 2048"), (1, "at least 2 events")):
        with pytest.raises(ValueError, match=message):
            util.get_logits_and_probs(**{given: tf.ones([sizes], tf.float16)}, multidimensional=True, validate_args=True)
    assert util.get_logits_and_probs(**{given: tf.ones([2049], tf.float16)}, multidimensional=True)


def test_the_gradient_of_quantiles_is_finite_at_the_ends():
    p = tf.constant([0.0, 0.5, 1.0, -0.5, 1.5])
    for quantiles in (special.ndtri(p), tf.distributions.Normal(0.0, 1.0).quantile(p)):
        values, gradient = run([quantiles, tf.gradients(quantiles, p)[0]])
        np.testing.assert_allclose(values, [-np.inf, 0, np.inf, -np.inf, np.inf], atol=1e-12)
        np.testing.assert_allclose(gradient, [0, np.sqrt(2 * np.pi), 0, 0, 0], rtol=1e-6)
