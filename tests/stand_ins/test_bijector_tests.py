"""What every bijector has to keep, asked of one that does and of ones that do not."""

import numpy as np
import pytest

import tfexp as tf
from tfexp.stand_ins.context import eager_mode
from tfexp.stand_ins.modules import stand_for

util = stand_for("tensorflow.python.ops.distributions.bijector_test_util")
bijectors = tf.contrib.distributions.bijectors


class WrongJacobian(bijectors.Exp):
    def _forward_log_det_jacobian(self, x):
        return 2.0 * x

    def _inverse_log_det_jacobian(self, y):
        return -2.0 * tf.math.log(y)


class Even(bijectors.Exp):
    def _forward(self, x):
        return tf.square(x)


def test_a_bijector_keeps_what_it_has_to():
    x = np.linspace(-2.0, 2.0, 7, dtype=np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        util.assert_scalar_congruency(bijectors.Exp(), -2.0, 1.5)
        util.assert_scalar_congruency(bijectors.Softplus(), 0.5, 3.0)
        util.assert_bijective_and_finite(bijectors.Exp(), x, np.exp(x), event_ndims=0, sess=session)
    with eager_mode():
        util.assert_bijective_and_finite(bijectors.Sigmoid(), x, [0.2, 0.9], event_ndims=0, rtol=1e-4)


def test_what_is_none_is_told():
    with tf.Graph().as_default(), tf.Session():
        with pytest.raises(AssertionError):
            util.assert_scalar_congruency(WrongJacobian(), -1.0, 1.0)
        with pytest.raises(AssertionError):
            util.assert_scalar_congruency(Even(), -1.0, 1.0)
        with pytest.raises(AssertionError):
            util.assert_bijective_and_finite(Even(), [2.0], [4.0], event_ndims=0)
        with pytest.raises(AssertionError, match="not all finite"):
            util.assert_bijective_and_finite(bijectors.Exp(), [1.0], [0.0], event_ndims=0)
