"""Resources that trackers count, and the greatest common divisor, as TensorFlow's tests call them."""

import pytest

import tfexp as tf
from tfexp.stand_ins.modules import stand_for

tracking = stand_for("tensorflow.python.training.tracking.tracking")
util_ops = stand_for("tensorflow.python.ops.signal.util_ops")


class Named(tracking.TrackableResource):
    def __init__(self, name, device=""):
        super().__init__(device)
        self.name = name

    def _create_resource(self):
        return tf.constant(self.name)


def test_every_open_tracker_hears_of_a_new_resource():
    outer, inner = tracking.ResourceTracker(), tracking.ResourceTracker()
    with tracking.resource_tracker_scope(outer):
        first = Named("first")
        with tracking.resource_tracker_scope(inner):
            second = Named("second")
    Named("of none")
    assert outer.resources == [first, second]
    assert inner.resources == [second]


def test_a_scope_that_fails_is_closed():
    tracker = tracking.ResourceTracker()
    with pytest.raises(KeyError), tracking.resource_tracker_scope(tracker):
        raise KeyError
    Named("later")
    assert tracker.resources == []


def test_a_handle_is_made_once_on_the_device_of_the_resource():
    with tf.Graph().as_default():
        resource = Named("one", "/cpu:0")
        handle = resource.resource_handle
        assert resource.resource_handle is handle
        assert handle.device == "/device:CPU:0"


def test_what_makes_no_handle_says_so():
    with pytest.raises(NotImplementedError):
        _ = tracking.CapturableResource().resource_handle


def test_gcd_of_known_numbers_is_a_constant_and_of_fed_ones_a_loop():
    with tf.Graph().as_default(), tf.Session() as session:
        known = util_ops.gcd(48, 32)
        assert known.op.type == "Const"
        a, b = tf.placeholder(tf.int64, []), tf.placeholder(tf.int64, [])
        fed = util_ops.gcd(a, b)
        assert session.run([known, util_ops.gcd(5, 0)]) == [16, 5]
        assert [session.run(fed, {a: x, b: y}) for x, y in ((48, 32), (9, 6), (0, 5))] == [16, 3, 5]


@pytest.mark.parametrize(("a", "b"), [([1, 2], 3), (1.0, 2), (4, [1])])
def test_gcd_is_of_two_integer_scalars(a, b):
    with tf.Graph().as_default(), pytest.raises(ValueError, match=r"rank 0|integer"):
        util_ops.gcd(a, b)
