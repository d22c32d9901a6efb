"""Batch renormalization, virtual batches and adjustments: values recorded from TensorFlow 2.15 (`compat.v1.layers`)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfexp as tf

CLIPPED: dict[str, Any] = {"renorm_clipping": {"rmax": 1.5, "rmin": 0.5, "dmax": 0.3}, "renorm_momentum": 0.5}


def adjusted(shape: tf.Tensor) -> tuple[Any, Any]:
    return tf.ones([shape[0], 1]) * 1.5, tf.ones([1, 1]) * 0.25


@pytest.mark.parametrize(
    ("shape", "axis", "arguments", "outputs", "gradients", "averages"),
    [
        pytest.param(
            (8, 3), -1, {"renorm": True},
            [-3.4709, 0.4489, 2.9678, 2.6616, 3.1399], [17.739, -9.535, 7.054],
            [[0.2932, 0.0831, 0.2457], [1.6769, 1.6303, 1.5131], [1.2953, 1.2772, 1.2305],
             [0.0315, 0.0096, 0.0259], [1.0314, 1.0307, 1.0249]],
            id="renorm",
        ),
        pytest.param(
            (8, 3), -1, {"renorm": True, **CLIPPED},
            [-2.3231, 0.2293, 1.146, 0.7564, 1.7115], [2.247, -1.594, 1.508],
            [[0.2932, 0.0831, 0.2457], [1.6769, 1.6303, 1.5131], [1.2953, 1.2772, 1.2305],
             [1.0959, 0.2305, 0.9821], [2.1596, 1.8411, 1.7873]],
            id="clipped",
        ),
        pytest.param(
            (4, 3, 2, 2), 1, {"renorm": True},
            [2.2838, -0.7249, 0.3637, 5.1838, 2.6778], [-6.62, 2.981, -6.64],
            [[0.3432, 0.1767, 0.1847], [1.5588, 1.5379, 1.5283], [1.2489, 1.2405, 1.2367],
             [0.0377, 0.0189, 0.019], [1.0275, 1.0269, 1.026]],
            id="channels first",
        ),
        pytest.param(
            (8, 2, 3), [1, 2], {"renorm": True},
            [2.288, -0.715, 0.3778, 5.2249, 2.6919], [0.474, -6.293, -5.013],
            [[0.2789, 0.2851, 0.2403], [1.4486, 1.6613, 1.3219], [1.204, 1.2893, 1.1502],
             [0.031, 0.0313, 0.0262], [1.023, 1.0327, 1.0165]],
            id="two axes",
        ),
        pytest.param(
            (8, 3), -1, {"virtual_batch_size": 4},
            [-1.6331, 0.0115, 1.046, 0.1159, 1.6992], [0.369, -1.528, 2.189],
            [[0.2932, 0.0831, 0.2457], [1.8495, 1.8011, 1.6354]],
            id="virtual batches",
        ),
        pytest.param(
            (8, 3, 2, 2), 1, {"virtual_batch_size": 2},
            [-0.649, -0.2401, -0.0252, -1.3614, 1.0557], [0.011, -1.184, -1.593],
            [[0.3671, 0.275, 0.2826], [1.5448, 1.6201, 1.7961]],
            id="virtual batches of images",
        ),
        pytest.param(
            (8, 3), -1, {"virtual_batch_size": 4, "renorm": True},
            [-3.0622, 0.4286, 3.4255, 2.1089, 3.4447], [9.528, -8.721, 12.577],
            [[0.2932, 0.0831, 0.2457], [1.5046, 1.6043, 1.4871], [1.227, 1.267, 1.2199],
             [0.0315, 0.0096, 0.0259], [1.0233, 1.0295, 1.0238]],
            id="virtual batches renormalised",
        ),
        pytest.param(
            (8, 3), -1, {"adjustment": adjusted},
            [-2.3731, 0.2847, 1.4002, 0.7064, 2.5458], [2.247, -5.657, 3.789],
            [[0.2932, 0.0831, 0.2457], [2.0968, 1.8439, 1.677]],
            id="adjusted",
        ),
    ],
)  # fmt: skip
@pytest.mark.parametrize("known", [True, False])
def test_three_steps_of_training(
    shape: tuple[int, ...], axis: Any, arguments: dict[str, Any], outputs: Any, gradients: Any, averages: Any, known: bool
) -> None:
    random = np.random.RandomState(3)
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, *shape[1:]])
        training = True if known else tf.placeholder_with_default(True, [])
        y = tf.layers.batch_normalization(x, axis, 0.9, training=training, **arguments)
        assert y.shape.as_list() == [None, *shape[1:]]
        gradient = tf.gradients(tf.reduce_sum(y * y * y), x)[0]
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            batch = random.randn(*shape).astype(np.float32) * 2 + 1
            found = session.run([y, gradient, tf.get_collection(tf.GraphKeys.UPDATE_OPS)], {x: batch})
        moving = session.run(tf.global_variables()[2:])
    np.testing.assert_allclose(found[0].ravel()[:5], outputs, atol=2e-4)
    np.testing.assert_allclose(found[1].ravel()[:3], gradients, atol=2e-3)
    np.testing.assert_allclose([value.ravel()[:3] for value in moving], averages, atol=2e-4)


@pytest.mark.parametrize(
    ("arguments", "outputs"),
    [
        ({"renorm": True}, [-2.9257, 0.2986, 2.2598, 1.8624, 2.4532]),
        ({"virtual_batch_size": 4}, [-2.7859, 0.2841, 2.1737, 1.7734, 2.3341]),
        ({"adjustment": adjusted}, [-2.6165, 0.2808, 2.1466, 1.6656, 2.3068]),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_the_averages_serve_after_training(arguments: dict[str, Any], outputs: list[float]) -> None:
    random = np.random.RandomState(3)
    with tf.Graph().as_default(), tf.Session() as session:
        x, training = tf.placeholder(tf.float32, [None, 3]), tf.placeholder_with_default(True, [])
        y = tf.layers.batch_normalization(x, momentum=0.9, training=training, **arguments)
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            batch = random.randn(8, 3).astype(np.float32) * 2 + 1
            session.run(tf.get_collection(tf.GraphKeys.UPDATE_OPS), {x: batch})
        found = session.run(y, {x: batch, training: False})
    np.testing.assert_allclose(found.ravel()[:5], outputs, atol=2e-4)
