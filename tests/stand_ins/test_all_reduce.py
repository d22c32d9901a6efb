"""`all_reduce`: reductions of tensors of several devices, part by part. Results are TensorFlow 1.15's."""

import numpy as np
import pytest

import tfexp as tf
from tfexp.stand_ins.modules import stand_for

all_reduce = stand_for("tensorflow.python.distribute.all_reduce")
WORKERS = [f"/job:worker/task:{task}/device:CPU:{number}" for task in range(2) for number in range(2)]
FIRSTS = WORKERS[::2]


@pytest.fixture(autouse=True)
def session():
    with tf.Graph().as_default(), tf.Session(config=tf.ConfigProto(device_count={"CPU": 4})) as session:
        yield session


def inputs(devices, shape=(7,)):
    tensors = []
    for number, place in enumerate(devices):
        with tf.device(place):
            tensors.append(tf.constant(np.arange(np.prod(shape), dtype=np.float32).reshape(shape) + 10 * number))
    return tensors


def local(count):
    return [f"/job:localhost/task:0/device:CPU:{number}" for number in range(count)]


@pytest.mark.parametrize("shape", [(7,), (2, 4), (1,)])
@pytest.mark.parametrize(
    ("count", "build"),
    [
        (4, lambda tensors: all_reduce.build_ring_all_reduce(tensors, 1, 1, [2, 0, 1, 3], tf.add, tf.sqrt)),
        (4, lambda tensors: all_reduce.build_ring_all_reduce(tensors, 2, 2, [0, 1], tf.add, tf.sqrt)),
        (3, lambda tensors: all_reduce.build_ring_all_reduce(tensors, 1, 3, [0, 2, 1], tf.add, tf.sqrt)),
        (3, lambda tensors: all_reduce.build_shuffle_all_reduce(tensors, local(2), tf.add_n, tf.sqrt)),
        (3, lambda tensors: all_reduce.build_nccl_all_reduce(tensors, tf.add, tf.sqrt)),
        (2, lambda tensors: all_reduce.build_nccl_then_ring(tensors, 1, tf.add, tf.sqrt)),
        (2, lambda tensors: all_reduce.build_nccl_then_shuffle(tensors, local(1), tf.add, tf.add_n, tf.sqrt)),
        (3, lambda tensors: all_reduce.build_shuffle_then_ring(tensors, local(1), 1, tf.add_n, tf.add, tf.sqrt)),
        (2, lambda tensors: all_reduce.build_shuffle_then_shuffle(tensors, local(1), local(2), tf.add_n, tf.sqrt)),
    ],
)
def test_the_reduction_is_on_every_device(session, count, build, shape):
    tensors = inputs(local(count), shape)
    results = build(tensors)
    wanted = np.sqrt(np.sum(session.run(tensors), 0))
    assert [result.device for result in results] == local(count) and {tuple(result.shape) for result in results} == {shape}
    for value in session.run(results):
        np.testing.assert_allclose(value, wanted, rtol=1e-6)


@pytest.mark.parametrize("count", [1, 2, 4])
def test_recursive_halving_and_doubling(session, count):
    tensors = inputs(local(count), (2, 4))
    results = all_reduce.build_recursive_hd_all_reduce(tensors, tf.maximum, tf.negative)
    for value in session.run(results):
        assert value.tolist() == (-np.max(session.run(tensors), 0)).tolist()


def test_a_ring_reduces_each_part_with_the_device_before():
    left, right = all_reduce.build_ring_all_reduce(inputs(WORKERS[:2], (4,)), 1, 2, [0, 1], tf.subtract)
    sums = [op for op in tf.get_default_graph().get_operations() if op.type == "Sub"]
    assert [[tensor.name for tensor in op.inputs] for op in sums] == [
        ["split_1:0", "split:0"],
        ["split_1:3", "split:3"],
        ["split:2", "split_1:2"],
        ["split:1", "split_1:1"],
    ]
    assert [op.device for op in sums] == [WORKERS[0]] * 2 + [WORKERS[1]] * 2
    assert [tensor.op.name for tensor in left.op.inputs][:4] == ["Sub", "Identity_1", "Identity", "Sub_1"]
    assert [tensor.op.name for tensor in right.op.inputs][:4] == ["Identity_2", "Sub_3", "Sub_2", "Identity_3"]


@pytest.mark.parametrize(
    ("build", "between"),
    [
        (lambda t: all_reduce.build_nccl_then_ring(t, 1, tf.add), "AddV2"),
        (lambda t: all_reduce.build_nccl_then_recursive_hd(t, tf.add), "AddV2"),
        (lambda t: all_reduce.build_nccl_then_shuffle(t, FIRSTS, tf.add, lambda two: tf.add(*two)), "AddV2"),
        (lambda t: all_reduce.build_shuffle_then_ring(t, FIRSTS, 1, tf.add_n, tf.add), "AddV2"),
        (lambda t: all_reduce.build_shuffle_then_shuffle(t, FIRSTS, FIRSTS, tf.add_n), "AddN"),
    ],
)
def test_first_within_workers_then_between_them(build, between):
    results = build(inputs(WORKERS, (6,)))
    assert [result.device for result in results] == WORKERS
    sums = [op for op in tf.get_default_graph().get_operations() if op.type == between]
    assert {op.device for op in sums[-2:]} == set(FIRSTS)


def test_rings_through_devices():
    rings = all_reduce._ring_permutations
    assert rings(1, 2, []) == ([], [])
    assert rings(2, 1, [2, 0, 1]) == ([[2, 0, 4, 5, 3, 1]], [[1, 2, 0, 4, 5, 3]])
    assert rings(1, 2, [0, 1, 2, 3]) == ([[3, 0, 1, 2], [3, 0, 1, 2]], [[0, 1, 2, 3], [2, 3, 0, 1]])
    with pytest.raises(ValueError, match=r"num_subchunks 2 must be <= num_gpus 1"):
        rings(3, 2, [0])


def test_parts_of_vectors(session):
    ten = tf.range(10.0)
    pieces, lacking = all_reduce._padded_split(ten, 4)
    assert [value.tolist() for value in session.run(pieces)] == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 0, 0]] and lacking == 2
    assert all_reduce._padded_split(ten, 5)[1] == 0
    pieces, lacking = all_reduce._padded_split(ten[:1], 3)
    assert [value.tolist() for value in session.run(pieces)] == [[0], [0], [0]] and lacking == 2
    assert [value.tolist() for value in session.run(all_reduce._strip_padding([ten], 7))] == [[0, 1, 2]]
    assert [tensor.shape for tensor in all_reduce._ragged_split(ten, 4)] == [(2,), (2,), (2,), (4,)]
    for wrong in (all_reduce._padded_split, all_reduce._ragged_split):
        with pytest.raises(ValueError, match=r"input tensor must be 1D"):
            wrong(tf.zeros([2, 3]), 2)
    with pytest.raises(ValueError, match=r"tensors must have 1D shape"):
        all_reduce._strip_padding([tf.zeros([2, 3])], 1)


def test_devices_by_task():
    devices = [WORKERS[0], WORKERS[2], WORKERS[1]]
    assert all_reduce._split_by_task(devices, "abc") == ([WORKERS[:2], [WORKERS[2]]], [["a", "c"], ["b"]])
    with pytest.raises(AssertionError, match=r"failed to parse device /device:CPU:0"):
        all_reduce._split_by_task(["/device:CPU:0"], ["a"])
    with pytest.raises(ValueError, match=r"len\(devices\) must equal len\(values\)"):
        all_reduce._split_by_task(devices, "ab")


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: all_reduce.build_ring_all_reduce(inputs(WORKERS[:1]), 1, 1, [0], tf.add), "must be length 2 or longer"),
        (lambda: all_reduce.build_recursive_hd_all_reduce(inputs(WORKERS[:3]), tf.add), "must be a power of 2"),
        (lambda: all_reduce.build_recursive_hd_all_reduce(inputs(WORKERS), tf.add), "evenly divisible by 2 but is 7"),
        (lambda: all_reduce.build_nccl_all_reduce(inputs(WORKERS), tf.multiply), "red_op not supported by NCCL"),
        (lambda: all_reduce.build_nccl_all_reduce([], tf.add), "Must pass >0 tensors"),
        (lambda: all_reduce.build_shuffle_all_reduce([], WORKERS, tf.add_n), "tensors cannot be empty"),
        (
            lambda: all_reduce.build_shuffle_then_ring(inputs(WORKERS), WORKERS, 1, tf.add_n, tf.add),
            "must contain one device per worker",
        ),
        (lambda: all_reduce._flatten_tensors([tf.zeros([2]), tf.zeros([3])]), r"Shapes \(2,\) and \(3,\)"),
    ],
)
def test_errors(build, message):
    with pytest.raises(ValueError, match=message):
        build()
