"""The networks of flows: what sees what, what they give, and a flow of them."""

import numpy as np
import pytest

import tfexp as tf

b = tf.contrib.distributions.bijectors
X = np.random.RandomState(3).uniform(-1, 1, (5, 3)).astype(np.float32)


@pytest.fixture(autouse=True)
def session():
    with tf.Graph().as_default(), tf.Session() as one:
        yield one


# Recorded from TensorFlow 1.15: inputs, units, blocks, exclusive, and the rows of the mask.
MASKS = [
    (6, 9, 3, True, "000111111 000111111 000000111 000000111 000000000 000000000"),
    (5, 7, 3, False, "1111111 0011111 0000111 0000000 0000000"),
    (5, 12, 5, True, "001111111111 000011111111 000000111111 000000001111 000000000011"),
    (7, 5, 3, True, "01111 01111 00111 00111 00011 00011 00000"),
    (3, 2, 3, True, "11 11 11"),
    (2, 3, 3, False, "000 000"),
]


@pytest.mark.parametrize(("inputs", "units", "blocks", "exclusive", "rows"), MASKS)
def test_masks(inputs, units, blocks, exclusive, rows, session):
    ones = tf.ones_initializer()
    y = b.masked_dense(tf.eye(inputs), units, blocks, exclusive, kernel_initializer=ones, name="layer")
    session.run(tf.global_variables_initializer())
    assert " ".join("".join(f"{n:.0f}" for n in row) for row in session.run(y)) == rows
    assert [v.name for v in tf.global_variables()] == ["layer/kernel:0", "layer/bias:0"]


def test_what_is_not_known_is_refused():
    with pytest.raises(NotImplementedError, match="must be known"):
        b.masked_dense(tf.placeholder(tf.float32, [2, None]), 3, 1)
    with pytest.raises(TypeError, match="num_blocks"):
        b.masked_dense(tf.ones([2, 3]), 3)


@pytest.mark.parametrize("shift_only", [False, True])
def test_numbers_depend_on_those_before_them(shift_only, session):
    x = tf.constant(X)
    shift, log_scale = b.masked_autoregressive_default_template([7, 11], shift_only, tf.tanh)(x)
    session.run(tf.global_variables_initializer())
    for found in [shift] if shift_only else [shift, log_scale]:
        slopes = np.stack([session.run(tf.gradients(found[:, i], x)[0]) for i in range(3)], 1)
        assert np.all(np.triu(np.ones((3, 3))) * slopes == 0) and np.all(slopes[:, 2, :2] != 0)
    assert (log_scale is None) == shift_only
    assert len(tf.trainable_variables("masked_autoregressive_default_template/dense_2")) == 2


@pytest.mark.parametrize("clip_gradient", [False, True])
def test_scales_are_clipped(clip_gradient, session):
    template = b.masked_autoregressive_default_template(
        [3], log_scale_min_clip=0.5, log_scale_clip_gradient=clip_gradient, name="narrow"
    )
    x = tf.constant(X)
    _, log_scale = template(x)
    session.run(tf.global_variables_initializer())
    session.run([v.assign(-abs(v)) for v in tf.trainable_variables("narrow/dense_1")])
    found, slope = session.run([log_scale, tf.gradients(log_scale, x)[0]])
    np.testing.assert_allclose(found, np.full((5, 3), 0.5), rtol=1e-6)
    assert bool(slope.any()) != clip_gradient


def test_flows_of_templates_go_both_ways(session):
    flows = [
        b.MaskedAutoregressiveFlow(b.masked_autoregressive_default_template([8, 8])),
        b.RealNVP(1, b.real_nvp_default_template([8], name="coupled")),
        b.RealNVP(2, b.real_nvp_default_template([8], shift_only=True)),
    ]
    for flow in flows:
        y = flow.forward(X)
        again = flow.inverse(tf.identity(y))
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose(session.run(again), X, atol=1e-5)
    assert {v.name.split("/")[0] for v in tf.trainable_variables()} == {
        "masked_autoregressive_default_template",
        "real_nvp_default_template",
        "real_nvp_default_template_1",
    }
