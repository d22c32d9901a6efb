"""`cross_device_utils`: sums of gradients of several replicas, and small ones as one. Results are TensorFlow 1.15's."""

import numpy as np
import pytest

import tfexp as tf
from tfexp.stand_ins.modules import stand_for

utils = stand_for("tensorflow.python.distribute.cross_device_utils")
SHAPES = [(2,), (3, 1), (), (5,)]


@pytest.fixture(autouse=True)
def session():
    with tf.Graph().as_default(), tf.Session(config=tf.ConfigProto(device_count={"CPU": 6})) as session:
        yield session


def devices(count):
    return [f"/job:localhost/task:0/device:CPU:{number}" for number in range(count)]


def gradients(count, shapes=SHAPES):
    replicas = []
    for number, place in enumerate(devices(count)):
        with tf.device(place):
            replicas.append([(tf.fill(shape, 10.0**number), f"v{at}") for at, shape in enumerate(shapes)])
    return replicas


def check_sums(session, replicas, count):
    assert len(replicas) == count
    for place, pairs in zip(devices(count), replicas, strict=True):
        assert [variable for _, variable in pairs] == ["v0", "v1", "v2", "v3"]
        assert {tensor.device for tensor, _ in pairs} == {place}
        for value, shape in zip(session.run([tensor for tensor, _ in pairs]), SHAPES, strict=True):
            np.testing.assert_array_equal(value, np.full(shape, (10**count - 1) / 9, np.float32))


@pytest.mark.parametrize("count", [2, 3, 6])
def test_sums_of_both_halves_of_the_devices(session, count):
    sums = utils.aggregate_gradients_using_hierarchical_copy(devices(count), gradients(count))
    check_sums(session, sums, count)
    total = sums[-1][0][0].op.inputs[0].op.inputs[0].op
    assert total.device == devices(1)[0] and [tensor.device for tensor in total.inputs] == [
        devices(count)[0],
        devices(count)[count // 2],
    ]


@pytest.mark.parametrize(
    ("alg", "shards"), [("nccl", 1), ("xring", 2), ("nccl/xring", 1), ("nccl/rechd", 1), ("nccl/pscpu", 1), ("pscpu", 1)]
)
def test_sums_by_an_algorithm(session, alg, shards):
    prefix = "/job:localhost/task:0"
    sums = utils.sum_gradients_all_reduce([prefix], gradients(2), 1, alg, shards, [0, 1])
    check_sums(session, sums, 2)
    assert sums[0][0][0].op.name.startswith("allreduce/")


def test_each_variable_has_its_devices_to_gather_on():
    prefixes = ["/job:worker/task:0", "/job:worker/task:1"]
    utils.sum_gradients_all_reduce(prefixes, gradients(2), 1, "psgpu", 2, [0, 1])
    sums = [op.device for op in tf.get_default_graph().get_operations() if op.type == "AddN"]
    of_first, of_second = ([f"{prefix}/device:GPU:{number}" for number in range(2)] for prefix in prefixes)
    assert sums == [*of_first, *of_second, *of_first, *of_second]
    with pytest.raises(ValueError, match=r"unsupported all_reduce alg: ', 'rechd'"):
        utils.sum_gradients_all_reduce(prefixes, gradients(2), 1, "rechd", 1, [0])
    with pytest.raises(ValueError, match=r"only 2 devices, but group_size=3"):
        utils.sum_gradients_all_reduce(prefixes, gradients(2), 1, "pscpu", 3, [0])


def test_one_variable(session):
    pairs = [(tf.constant([1.0, np.inf]), "a"), (tf.constant([3.0, 0.0]), "b")]
    (total, variable), broken = utils.aggregate_single_gradient_using_copy(pairs, False, False)
    assert session.run(total).tolist() == [4.0, np.inf] and variable == "a" and broken is None
    (mean, _), broken = utils.aggregate_single_gradient_using_copy(pairs, True, True)
    assert session.run(mean).tolist() == [2.0, np.inf] and session.run(broken)
    assert not session.run(utils.aggregate_single_gradient_using_copy(pairs[1:], True, True)[1])


def test_small_gradients_travel_together(session):
    replicas = gradients(2, [(2,), (1, 3), (9,), (4,), (1,), (8,), (2, 2)])
    packed, packing = utils.pack_small_tensors(replicas, max_bytes=16, max_group=1)
    assert [tensor.shape.as_list() for tensor, _ in packed[1]] == [[5], [5], [9], [8], [2, 2]]
    assert packed[0][0][1] == "packing_var_placeholder" and sorted(packing) == ["0:0", "0:1", "1:0", "1:1"]
    assert packing["1:1"].indices == range(3, 5) and packing["1:1"].vars == ["v3", "v4"]
    restored = utils.unpack_small_tensors(packed, packing)
    for before, after in zip(replicas, restored, strict=True):
        assert [(tensor.shape, variable) for tensor, variable in after] == [(tensor.shape, name) for tensor, name in before]
        assert after[0][0].device == before[0][0].device and session.run(after[4][0]) == session.run(before[4][0])


@pytest.mark.parametrize(
    ("max_bytes", "kinds"),
    [(7, [tf.float32] * 2), (99, [tf.float64] * 2), (99, [tf.float32, tf.int32, tf.float32]), (99, [tf.float32])],
)
def test_nothing_to_pack(max_bytes, kinds):
    replicas = [[(tf.zeros([2], kind), number) for number, kind in enumerate(kinds)]]
    packed, packing = utils.pack_small_tensors(replicas, max_bytes=max_bytes, max_group=9)
    assert packed is replicas and packing is None and utils.unpack_small_tensors(packed, packing) is replicas


def test_stretches_of_numbers():
    assert utils.extract_ranges([1, 2, 3, 5, 6, 8, 9, 10], 2) == ([[1, 3], [5, 6], [8, 10]], [])
    assert utils.extract_ranges(range(9), 4) == ([[0, 5], [6, 8]], [])
    assert utils.extract_ranges([5]) == ([], [5]) and utils.extract_ranges([]) == ([], [])


def test_groups_of_devices():
    assert utils.group_device_names(list("abcd"), 2) == [["a", "c"], ["b", "d"]]
    assert utils.group_device_names(list("abcde"), 4) == [["a", "c", "e", "b"], ["b", "d", "a", "c"]]


def test_large_gradients_apart():
    replicas = gradients(2)
    small, large = utils.split_grads_by_size(3, replicas)
    assert [[variable for _, variable in pairs] for pairs in small] == [["v0", "v1", "v2"]] * 2
    assert large == [[list(pairs[3])] for pairs in replicas] and utils.split_grads_by_size(5, replicas)[1] == []


def test_sparse_values_apart():
    per_replica = stand_for("tensorflow.python.distribute.values").PerReplica
    slices, dense = tf.IndexedSlices(tf.ones([1]), tf.constant([0])), tf.constant(1.0)
    sparse, mixed = per_replica((slices, slices)), per_replica((dense, slices))
    assert utils.split_by_sparsity([sparse, mixed, sparse]) == ([mixed], [1], [sparse, sparse], [0, 2])
    assert utils.is_indexed_slices(slices)
    with pytest.raises(AssertionError):
        utils.is_indexed_slices(dense)
    assert utils.stitch_values([(["a", "b"], [0, 2]), (["c"], [1])]) == ["a", "c", "b"]
    with pytest.raises(AssertionError):
        utils.stitch_values([(["a"], [0]), (["b"], [0])])
