"""tf.contrib.nn, solvers, deprecated and saved_model."""

import numpy as np
import pytest

import tfexp as tf

nn, solvers = tf.contrib.nn, tf.contrib.solvers


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def run(fetches):
    with tf.Session() as session:
        return session.run(fetches)


def test_alpha_dropout_keeps_mean_and_variance():
    x = tf.nn.selu(tf.random_normal([200, 500], seed=1))
    before, after = run([x, nn.alpha_dropout(x, 0.7, seed=2)])
    assert after.mean() == pytest.approx(before.mean(), abs=0.02) and after.std() == pytest.approx(before.std(), abs=0.02)
    values, counts = np.unique(after, return_counts=True)
    assert counts.max() / after.size == pytest.approx(0.3, abs=0.01) and values.size > 1000
    assert nn.alpha_dropout(x, 1.0) is x and nn.alpha_dropout(x, tf.constant(0.5)).shape.as_list() == [200, 500]
    with pytest.raises(ValueError, match=r"in the range \(0, 1\], got 0.0"):
        nn.alpha_dropout(x, 0.0)


def test_scaled_softplus_and_its_gradients():
    x, alpha = tf.constant([-3.0, 0.0, 5.0]), tf.constant(2.0)
    y = nn.scaled_softplus(x, alpha)
    value, clipped, by_x, by_alpha = run([y, nn.scaled_softplus(x, alpha, clip=3.0), *tf.gradients(y, [x, alpha])])
    wanted = 2 * np.log1p(np.exp(np.array([-3, 0, 5]) / 2))
    np.testing.assert_allclose(value, wanted, rtol=1e-5)
    np.testing.assert_allclose(clipped, np.minimum(wanted, 3), rtol=1e-5)
    np.testing.assert_allclose(by_x, 1 / (1 + np.exp(-np.array([-3, 0, 5]) / 2)), rtol=1e-5)
    assert by_alpha == pytest.approx(np.sum(wanted / 2 - by_x * [-3, 0, 5] / 2), rel=1e-4)


def test_forward_gradients_are_the_jacobian_times_a_vector():
    x = tf.constant([1.0, 2.0, 3.0])
    y = tf.stack([x[0] * x[1], x[2] ** 2])
    by_ones, weighed = run([nn.fwd_gradients([y], [x])[0], nn.fwd_gradients([y], [x], [tf.constant([1.0, 0.0, 2.0])])[0]])
    assert by_ones.tolist() == [3.0, 6.0] and weighed.tolist() == [2.0, 12.0]


def test_losses_with_other_arguments():
    logits, dense = tf.constant([[1.0, 2.0, 0.5]]), tf.constant([[0.2, 0.3, 0.5]])
    pairs = [
        (
            nn.deprecated_flipped_softmax_cross_entropy_with_logits(logits, dense),
            tf.nn.softmax_cross_entropy_with_logits_v2(labels=dense, logits=logits),
        ),
        (
            nn.deprecated_flipped_sparse_softmax_cross_entropy_with_logits(logits, [2]),
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[2], logits=logits),
        ),
        (
            nn.deprecated_flipped_sigmoid_cross_entropy_with_logits(logits, dense),
            tf.nn.sigmoid_cross_entropy_with_logits(labels=dense, logits=logits),
        ),
    ]
    weights, biases, inputs = tf.ones([5, 3]), tf.zeros([5]), logits
    sampled = (tf.constant([0, 3], tf.int64), tf.ones([1, 1]), tf.ones([2]))
    pairs.append(
        (
            nn.sampled_sparse_softmax_loss(weights, biases, [2], inputs, 2, 5, sampled),
            tf.nn.sampled_softmax_loss(weights, biases, tf.constant([[2]], tf.int64), inputs, 2, 5, sampled_values=sampled),
        )
    )
    for one, other in run(pairs):
        np.testing.assert_array_equal(one, other)


def test_linear_systems():
    random = np.random.RandomState(0)
    tall, b, c = random.rand(7, 5), random.rand(5), random.rand(7)
    square = tall.T @ tall + np.eye(5)
    operator, inverse = solvers.util.create_operator(square), solvers.util.create_operator(np.linalg.inv(square))
    solve = solvers.linear_equations.conjugate_gradient
    plain, helped = solve(operator, b, tol=1e-8), solve(operator, b, preconditioner=inverse, tol=1e-8)
    begun, few = solve(operator, b, x=np.linalg.solve(square, b), tol=1e-6), solve(operator, b, tol=1e-8, max_iter=2)
    least = solvers.least_squares.cgls(solvers.util.create_operator(tall), c, tol=1e-8)
    plain, helped, begun, few, least = run([plain, helped, begun, few, least])
    np.testing.assert_allclose(plain.x, np.linalg.solve(square, b), rtol=1e-6)
    np.testing.assert_allclose(helped.x, plain.x, rtol=1e-6)
    assert helped.i == 1 and begun.i == 0 and few.i == 2 and 3 <= plain.i <= 6
    np.testing.assert_allclose(few.r, b - square @ few.x, atol=1e-12)
    np.testing.assert_allclose(least.x, np.linalg.lstsq(tall, c, rcond=None)[0], rtol=1e-5)
    identity = solvers.util.identity_operator(square)
    v = tf.constant([[3.0], [4.0]])
    assert run([solvers.util.l2norm(v), solvers.util.dot(v, v), identity.apply(v)])[:2] == [5.0, 25.0]
    with pytest.raises(ValueError, match="has to have two dimensions"):
        solvers.util.create_operator([1.0])


def test_old_summaries_keep_their_tags():
    deprecated = tf.contrib.deprecated
    deprecated.scalar_summary(["a", "a/b"], [1.0, 2.0])
    deprecated.histogram_summary("h", [1.0, 2.0])
    deprecated.image_summary("i", np.zeros([1, 2, 2, 1], np.uint8), max_images=1)
    deprecated.audio_summary("s", np.zeros([1, 3], np.float32), 10, max_outputs=1)
    found = tf.Summary.FromString(run(deprecated.merge_all_summaries()))
    assert [v.tag for v in found.value] == ["a", "a/b", "h", "i/image", "s/audio"]
    assert [op.name for op in tf.get_default_graph().get_operations() if op.type == "ScalarSummary"] == ["ScalarSummary"]


def test_signatures_by_key():
    meta_graph = tf.MetaGraphDef()
    meta_graph.signature_def["a"].method_name = "m"
    find = tf.contrib.saved_model.get_signature_def_by_key
    assert find(meta_graph, "a").method_name == "m"
    with pytest.raises(ValueError, match=r"No SignatureDef with key 'b' found in MetaGraphDef: it has \['a'\]"):
        find(meta_graph, "b")


def test_a_rank_sampled_loss_is_over_the_likeliest_samples():
    random = np.random.default_rng(3)
    weights, biases, inputs = (random.normal(size=size).astype(np.float32) for size in ([7, 3], [7], [4, 3]))
    labels = tf.constant([[1], [2], [3], [4]], tf.int64)
    sampled, of_true, of_sampled = np.array([0, 2, 3, 5, 6]), np.full([4, 1], 0.3, np.float32), np.float32([9, 7, 5, 3, 2])
    temperature = 0.5
    likely = np.log(np.exp(inputs / temperature @ weights.T).sum(0)) + biases / temperature
    best = np.argsort(-likely[sampled])[:3]

    def loss(function, values, *more):
        return function(weights, biases, labels, inputs, *more, [tf.constant(v) for v in values], **arguments)

    arguments = {"resampling_temperature": temperature, "remove_accidental_hits": True, "partition_strategy": "mod"}
    found = loss(tf.contrib.nn.rank_sampled_softmax_loss, (sampled, of_true, of_sampled), 5, 3, 7, 1)
    del arguments["resampling_temperature"]
    expected = loss(tf.nn.sampled_softmax_loss, (sampled[best], of_true, of_sampled[best]), 3, 7, 1)
    with tf.Session() as session:
        np.testing.assert_allclose(*session.run([found, expected]), rtol=1e-5)


@pytest.mark.parametrize(
    ("sampled", "resampled", "strategy", "message"),
    [(9, 3, "mod", "cannot be greater"), (3, 3, "mod", "must be less"), (5, 3, "odd", "unsupported partition_strategy")],
)
def test_what_a_rank_sampled_loss_refuses(sampled, resampled, strategy, message):
    with pytest.raises(ValueError, match=message):
        tf.contrib.nn.rank_sampled_softmax_loss(None, None, None, None, sampled, resampled, 7, 1, None, 1.0, True, strategy)
