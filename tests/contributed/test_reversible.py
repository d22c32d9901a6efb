"""Reversible residual layers (tf.contrib.layers.rev_block)."""

import numpy as np
import pytest

import tfexp as tf

layers = tf.contrib.layers


def half(x, side=None):
    made = tf.layers.dense(x, 3, activation=tf.tanh, bias_initializer=tf.constant_initializer(0.1))
    return made if side is None else made * side[0]


def values(shape, seed):
    return tf.constant(np.random.RandomState(seed).randn(*shape).astype(np.float32))


@pytest.mark.parametrize("sides", [{}, {"f_side_input": 4}, {"f_side_input": 4, "g_side_input": 5}])
def test_gradients_from_the_outputs_are_those_of_all_layers(sides):
    def found(is_training):
        with tf.Graph().as_default(), tf.Session() as session:
            tf.set_random_seed(1)
            x1, x2 = values([2, 3], 1), values([2, 3], 2)
            side = {name: [values([2, 3], seed)] for name, seed in sides.items()}
            y1, y2 = layers.rev_block(x1, x2, half, half, 2, **side, is_training=is_training)
            targets = [x1, x2, *(one for [one] in side.values()), *tf.trainable_variables()]
            session.run(tf.global_variables_initializer())
            for number, variable in enumerate(tf.trainable_variables()):
                variable.load(np.random.RandomState(number).randn(*variable.shape.as_list()), session)
            return session.run([y1, y2, *tf.gradients(tf.reduce_sum(y1 * y2), targets)])

    for efficient, plain in zip(found(True), found(False), strict=True):
        np.testing.assert_allclose(efficient, plain, rtol=2e-4, atol=2e-4)


def test_a_block_has_its_layers_variables_and_goes_back():
    with tf.Graph().as_default(), tf.Session() as session:
        block = layers.RevBlock([half, half], half, 2, name="block")
        x1, x2 = values([2, 3], 1), values([2, 3], 2)
        back = block.backward(*block.forward(x1, x2))
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose(session.run(back), session.run([x1, x2]), rtol=1e-5, atol=1e-5)
        parts = [f"revlayer_{number}/{letter}" for number in (0, 1) for letter in "fg"]
        assert [v.op.name for v in block.trainable_weights] == [
            f"block/{part}/dense/{kind}" for part in parts for kind in ("kernel", "bias")
        ]


def test_there_is_a_function_for_each_layer():
    with pytest.raises(ValueError, match="f has 1 functions for 2 layers"):
        layers.RevBlock([half], half, 2)
