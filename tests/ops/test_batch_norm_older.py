"""Rows of TensorFlow 0.x's batch normalisation; the references take moments and gradients channel by channel."""

from __future__ import annotations

import numpy as np

from tests.ops.harness import Error, OpCase, op_tests

EPSILON = 0.125
VARIANCE = np.float64([0.5, 2, 0.25])
SCALED = {"variance_epsilon": EPSILON, "scale_after_normalization": True}
UNSCALED = {"variance_epsilon": EPSILON, "scale_after_normalization": False}


def normalised(scaled):
    def reference(t, m, v, beta, gamma):
        y = np.empty_like(t)
        for k in range(t.shape[3]):
            y[..., k] = (t[..., k] - m[k]) / np.sqrt(v[k] + EPSILON) * (gamma[k] if scaled else 1) + beta[k]
        return y

    return reference


def slopes(scaled):
    def reference(t, m, v, gamma, dy):
        made = [np.empty_like(t), *(np.zeros_like(m) for _ in range(4))]
        for k in range(t.shape[3]):
            deviation, weight = np.sqrt(v[k] + EPSILON), gamma[k] if scaled else 1
            made[0][..., k] = dy[..., k] * weight / deviation
            made[1][k] = -np.sum(dy[..., k]) * weight / deviation
            made[2][k] = -0.5 * np.sum(dy[..., k] * (t[..., k] - m[k])) * weight / deviation**3
            made[3][k] = np.sum(dy[..., k])
            if scaled:
                made[4][k] = np.sum(dy[..., k] * (t[..., k] - m[k])) / deviation
        return made

    return reference


GIVEN = [(2, 3, 5, 3), (3,), VARIANCE, (3,), (3,)]
FLOAT64 = ["float64"]
CASES = [
    OpCase(
        "BatchNormWithGlobalNormalization",
        GIVEN,
        normalised(True),
        SCALED,
        FLOAT64,
        second=False,
        errors=[
            Error([(3, 5, 3), (3,), (3,), (3,), (3,)], ValueError, "Shape must be rank 4 but is rank 3", SCALED),
            Error([(2, 3, 5, 3), (2,), (3,), (3,), (3,)], ValueError, "must be equal, but are 3 and 2", SCALED),
        ],
    ),
    OpCase("BatchNormWithGlobalNormalization", GIVEN, normalised(False), UNSCALED, FLOAT64, second=False, label="unscaled"),
    OpCase(
        "BatchNormWithGlobalNormalizationGrad",
        [(2, 3, 5, 3), (3,), VARIANCE, (3,), (2, 3, 5, 3)],
        slopes(True),
        SCALED,
        FLOAT64,
        gradient=(),
    ),
    OpCase(
        "BatchNormWithGlobalNormalizationGrad",
        [(2, 3, 5, 3), (3,), VARIANCE, (3,), (2, 3, 5, 3)],
        slopes(False),
        UNSCALED,
        FLOAT64,
        gradient=(),
        label="unscaled",
    ),
]
test_rows = op_tests(CASES)
