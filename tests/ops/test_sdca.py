"""Rows of the ops of dual ascent. What it comes to is recorded from TensorFlow 2.21, of examples that share no features:
those that do are taken in another order there."""

from __future__ import annotations

import numpy as np
import pytest

import tfexp as tf
from tests.ops.harness import Error, OpCase, op_tests
from tfexp.core.errors import InvalidArgumentError
from tfexp.ops.sdca_losses import LOSSES

IDS = np.int64([5, 7, 9])
ATTRS = {"l1": 0.05, "l2": 1.5, "num_loss_partitions": 2, "num_inner_iterations": 1}


def batch(labels, duals, **changed):
    """The inputs of an optimizer: the first example has features 5 and 7 and two dense ones, the other the rest."""
    state = np.zeros((2, 4), np.float32)
    state[:, 0] = duals
    inputs = {
        "sparse_example_indices": [np.int64([0, 0, 1])],
        "sparse_feature_indices": [IDS],
        "sparse_feature_values": [np.float32([1, 0.5, 2])],
        "dense_features": [np.float32([[1, 2], [0, 0]]), np.float32([[0], [3]])],
        "example_weights": np.float32([2, 0.5]),
        "example_labels": np.float32(labels),
        "sparse_indices": [IDS],
        "sparse_weights": [np.float32([0.3, -0.2, 0.1])],
        "dense_weights": [np.float32([0.1, 0.4]), np.float32([-0.2])],
        "example_state_data": state,
        **changed,
    }
    return list(inputs.values())


RECORDED = {
    "logistic_loss [1, 0]": [
        [[0.293660343, 0.63554281, -1.221728683, 2.0], [-0.21033527, 0.263263047, -0.162541494, 0.5]],
        [-0.008452878, -0.004226439, -0.073556848],
        [-0.008452878, -0.016905757],
        [-0.110335276],
    ],
    "squared_loss [1.5, -2]": [
        [[0.312264174, 0.266944408, -0.810000002, 2.0], [-0.258620679, 0.666944444, -0.097500004, 0.5]],
        [0.016352199, 0.0081761, -0.105747126],
        [0.016352199, 0.032704398],
        [-0.158620685],
    ],
    "hinge_loss [1, 0]": [
        [[0.300999999, 0.03333329, -0.600000024, 2.0], [-0.173076928, 0.316666663, -0.050000001, 0.5]],
        [0.001333332, 0.000666666, -0.04871795],
        [0.001333332, 0.002666663],
        [-0.073076926],
    ],
    "smooth_hinge_loss [0, 1]": [
        [[-0.300943404, 2.966666698, -0.360000014, 2.0], [0.365517229, 0.433333337, -0.109375, 0.5]],
        [-0.134591192, -0.067295596, 0.077011496],
        [-0.134591192, -0.269182384],
        [0.115517244],
    ],
    "poisson_loss [3, 0]": [
        [[0.30058217, -0.553294837, -0.036440451, 2.0], [-0.22818464, 0.346520305, -0.165129259, 0.5]],
        [0.000776222, 0.000388111, -0.085456423],
        [0.000776222, 0.001552444],
        [-0.128184631],
    ],
    "older": [
        [[0.26964286, 0.000138889, -0.254999995, 1.0], [-0.074545458, 0.067222223, 0.005, 1.0]],
        [-0.020238098, -0.010119049, 0.033939395],
        [-0.020238098, -0.040476196],
        [0.050909095],
    ],
}


def case(loss, labels, duals):
    state, sparse, first, second = RECORDED[f"{loss} {labels}"]
    return OpCase(
        "SdcaOptimizerV2",
        batch(labels, duals),
        [np.float32(part) for part in (state, sparse, first, second)],
        attrs={**ATTRS, "loss_type": loss},
        label=f"{loss} {labels}",
        tolerance=1e-5,
    )


def refused(text, loss="squared_loss", labels=(1, 0), **changed):
    return Error(batch(labels, [0, 0], **changed), InvalidArgumentError, text, attrs={**ATTRS, "loss_type": loss})


FINGERPRINTS = np.int64(
    [
        [4463240938071824939, 4374473821787594281],
        [4143508125394299908, -6879828354153669051],
        [8070981441474771022, 2270778681476641245],
        [-3502378980390140299, 8028990795869858245],
        [-2639838977224831595, 160188369956113230],
        [3800503791410175809, 12714643428502192],
        [-5796602132818348091, 9018391249309121099],
        [-401313583238997588, -4245059293239892396],
    ]
)


TEXTS = np.array(
    [b"", b"abc", b"0123456", b"0123456789", b"x" * 16, b"y" * 20, b"z" * 127, bytes(range(97, 122)) * 11], object
)

CASES = [
    case("logistic_loss", [1, 0], [0.3, -0.1]),
    case("squared_loss", [1.5, -2], [0.3, -0.1]),
    case("hinge_loss", [1, 0], [0.3, -0.1]),
    case("smooth_hinge_loss", [0, 1], [-0.2, 0.25]),
    case("poisson_loss", [3, 0], [0.3, -0.1]),
    OpCase(
        "SdcaOptimizer",
        batch([1, 0], [0.3, -0.1], example_weights=np.float32([1, 1])),
        [np.float32(part) for part in RECORDED["older"]],
        attrs={**ATTRS, "loss_type": "squared_loss"},
        errors=[
            refused("Only labels of 0.0 or 1.0 are supported right now. Found example with label: 2", "hinge_loss", [2, 0]),
            refused("Found example with label: -1", "poisson_loss", [-1, 0]),
            refused("Expected 2 example labels but got 3", labels=[1, 0, 1]),
            refused("[2,4] for example_state_data, got [2,3]", example_state_data=np.zeros((2, 3), np.float32)),
            refused("sparse feature indices out of valid range: 8", sparse_feature_indices=[np.int64([5, 7, 8])]),
            refused("examples 0 to 2, but there are 2 examples", sparse_example_indices=[np.int64([0, 0, 2])]),
            refused("Expected 3 example indices for sparse feature 0", sparse_example_indices=[np.int64([0, 1])]),
            refused("Expected 3 values for sparse feature 0", sparse_feature_values=[np.float32([1, 1])]),
            refused("one row for each example: [3,2]", dense_features=[np.ones((3, 2), "f"), np.ones((2, 1), "f")]),
            refused("1 dense weights, but features of 2", dense_features=[np.ones((2, 2), "f")] * 2),
        ],
    ),
    OpCase("SdcaFprint", [TEXTS], FINGERPRINTS, errors=[Error([TEXTS[None]], ValueError, "must be rank 1 but is rank 2")]),
]
test_rows = op_tests(CASES)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_step_goes_to_the_top_of_the_dual(loss):
    """Along one coordinate: minus the dual's loss at the new variable, minus what the weights then cost."""
    of, y, a, wx, size = LOSSES[loss], 1.0, 0.25, 0.4, 0.7
    new = of.step(a, y, wx, size)

    def height(candidates):
        change = candidates - a
        return -of.dual(candidates, np.full_like(candidates, y)) - wx * change - 0.5 * size * change**2

    around = np.linspace(new - 0.2, new + 0.2, 41)
    assert np.argmax(height(around)) in (19, 20, 21)


@pytest.mark.parametrize("loss", LOSSES)
def test_slopes_are_those_of_the_losses(loss):
    of, y, wx, step = LOSSES[loss], np.full(5, 1.0), np.array([-2.0, -0.3, 0.4, 0.9, 1.7]), 1e-6
    slopes = (of.primal(wx + step, y) - of.primal(wx - step, y)) / (2 * step)
    np.testing.assert_allclose(of.slope(wx, y), slopes, atol=1e-6)


def test_hinges_go_to_their_ends_where_nothing_weighs():
    assert [LOSSES["hinge_loss"].step(0.5, 1.0, wx, 0.0) for wx in (0.0, 1.0, 2.0)] == [1.0, 0.5, 0.0]


@pytest.mark.parametrize("adaptive", [False, True])
def test_turns_come_to_the_best_weights(adaptive):
    """Of squares with l2 there is a formula for them."""
    random = np.random.default_rng(1)
    x, y = random.normal(size=(23, 3)).astype(np.float32), random.normal(size=23).astype(np.float32)
    weights, state = np.zeros(3, np.float32), np.zeros((23, 4), np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        now, was = tf.placeholder(tf.float32, [3]), tf.placeholder(tf.float32, [23, 4])
        step = tf.train.sdca_optimizer(
            [], [], [], [x], np.ones(23, "f"), y, [], [], [now], was, "squared_loss", 0.0, 5.0, 1, 1, adaptive
        )
        for _ in range(60):
            state, _, (change,) = session.run(step, {now: weights, was: state})
            weights = weights + change
    np.testing.assert_allclose(weights, np.linalg.solve(x.T @ x + 5 * np.eye(3), x.T @ y), atol=1e-4)


def test_weights_shrink():
    with tf.Graph().as_default(), tf.Session() as session:
        weights = [tf.Variable([1.0, -0.25, 0.5]), tf.Variable([[-3.0]])]
        session.run(tf.global_variables_initializer())
        session.run(tf.train.sdca_shrink_l1(weights, l1=0.5, l2=2.0))
        assert [value.tolist() for value in session.run(weights)] == [[0.75, 0.0, 0.25], [[-2.75]]]
