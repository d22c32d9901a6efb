"""`nccl_ops`: sums and other reductions of tensors of several devices, on each of them."""

import pytest

import tfexp as tf
from tfexp.stand_ins.modules import stand_for

nccl_ops = stand_for("tensorflow.python.ops.nccl_ops")
DEVICES = ["/device:CPU:0", "/device:CPU:1"]


@pytest.fixture(autouse=True)
def session():
    with tf.Graph().as_default(), tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
        yield session


def on_devices(*values):
    tensors = []
    for place, value in zip(DEVICES, values, strict=True):
        with tf.device(place):
            tensors.append(tf.constant(value))
    return tensors


@pytest.mark.parametrize(
    ("name", "wanted"),
    [("sum", [6.0, 9.0]), ("prod", [5.0, 14.0]), ("min", [1.0, 2.0]), ("max", [5.0, 7.0])],
)
def test_reductions_on_all_devices(session, name, wanted):
    results = getattr(nccl_ops, f"all_{name}")(on_devices([1.0, 7.0], [5.0, 2.0]))
    assert [result.device for result in results] == DEVICES
    assert [value.tolist() for value in session.run(results)] == [wanted] * 2


def test_a_sum_on_the_current_device(session):
    tensors = on_devices([1.0, 7.0], [5.0, 2.0])
    with tf.device(DEVICES[1]):
        result = nccl_ops.reduce_sum(tensors)
    assert result.device == DEVICES[1]
    assert session.run(result).tolist() == [6.0, 9.0]
    with pytest.raises(ValueError, match="One input tensor must be assigned to current device"):
        nccl_ops.reduce_sum(tensors)


def test_a_tensor_for_all_devices(session):
    tensor, _ = on_devices([1.0, 2.0], 0.0)
    sent = nccl_ops.broadcast(tensor)
    assert sent.device == DEVICES[0] and session.run(sent).tolist() == [1.0, 2.0]


def test_gradients_are_summed_as_well(session):
    tensors = on_devices([1.0, 7.0], [5.0, 2.0])
    grads = on_devices([1.0, 3.0], [10.0, 20.0])
    found = tf.gradients(nccl_ops.all_sum(tensors), tensors, grad_ys=grads)
    assert [value.tolist() for value in session.run(found)] == [[11.0, 23.0]] * 2


def test_what_reductions_refuse():
    for reduction, kind in ((nccl_ops.all_sum, "all reduce"), (nccl_ops.reduce_sum, "reduce")):
        with pytest.raises(ValueError, match=f"Must pass >0 tensors to {kind} operations"):
            reduction([])
        with pytest.raises(ValueError, match="Device assignment required for nccl collective ops"):
            reduction([tf.constant(1.0)])
    with pytest.raises(ValueError, match="Device assignment required"):
        nccl_ops.broadcast(tf.constant(1.0))
