"""Where strategies build, and where values are and go. Results are TensorFlow 1.15's."""

import pytest

import tfexp as tf
from tfexp.stand_ins.modules import stand_for

contexts, library, kinds = (
    stand_for(f"tensorflow.python.distribute.{name}")
    for name in ("distribution_strategy_context", "distribute_lib", "cross_device_ops")
)
CPU = "/replica:0/task:0/device:CPU:{}".format


@pytest.fixture(autouse=True)
def session():
    with tf.Graph().as_default(), tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
        yield session


def test_which_strategy_and_replica_is_built_for():
    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    asked = []

    def replica():
        context = tf.distribute.get_replica_context()
        library.require_replica_context(context)
        asked.append(contexts.get_strategy_and_replica_context() == (strategy, context))
        asked.append(contexts.get_cross_replica_context() is None)
        return tf.constant(1.0)

    assert contexts.get_cross_replica_context() is None
    with strategy.scope():
        assert contexts.get_cross_replica_context() is strategy
        assert contexts.get_strategy_and_replica_context() == (strategy, None)
        strategy.experimental_run_v2(replica)
    assert asked == [True] * 4


def test_the_device_that_is_updated():
    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    devices = []

    def update(variable, value):
        devices.append(library.get_update_device())
        return variable.assign_add(value)

    with strategy.scope():
        variable = tf.Variable(1.0)
        strategy.extended.update(variable, update, (1.0,))
        assert library.get_update_device() is None
    assert devices == [CPU(0), CPU(1)] and library.get_update_device() is None
    assert issubclass(tf.distribute.StrategyExtended, library.StrategyExtendedV2)


def test_devices_of_destinations():
    with tf.device("/cpu:1"):
        tensor = tf.constant(1.0)
    assert kinds.get_devices_from(tensor) == (CPU(1),) and kinds.get_devices_from("CPU:0") == (CPU(0),)
    mirrored = kinds.simple_broadcast(tensor, ["/cpu:0", "/cpu:1"])
    assert kinds.get_devices_from(mirrored) == (CPU(0), CPU(1))
    assert [kinds.check_destinations(one) for one in (tensor, "CPU:0", mirrored, ["CPU:0"])] == [True] * 4
    assert [kinds.check_destinations(one) for one in ("", [], None, tf.constant(1.0))] == [False] * 4
    for one in (tensor, "CPU:0", mirrored):
        kinds.validate_destinations(one)
    for wrong in (["CPU:0"], None, 3):
        with pytest.raises(ValueError, match=r"^destinations must be one of a `DistributedValues` object"):
            kinds.validate_destinations(wrong)
    for empty in ("", tf.constant(1.0)):
        with pytest.raises(ValueError, match=r"^destinations can not be empty"):
            kinds.validate_destinations(empty)


def test_devices_of_this_machine():
    local = stand_for("tensorflow.python.distribute.mirrored_strategy").all_local_devices
    assert local(2) == ("/device:GPU:0", "/device:GPU:1") and local() == local(0) == ("/device:CPU:0",)


def test_copies_on_devices(session):
    tensor = tf.constant(3.0)
    one = kinds.simple_broadcast(tensor, "/cpu:1")
    assert isinstance(one, tf.Tensor) and one.device == CPU(1)
    both = kinds.simple_broadcast(tensor, ["/cpu:0", "/cpu:1"])
    assert [part.device for part in both.values] == [CPU(0), CPU(1)] and session.run(list(both.values)) == [3.0, 3.0]
    mirrored = stand_for("tensorflow.python.distribute.values").Mirrored
    alone = kinds.simple_broadcast(tensor, "/cpu:1", always_mirrored=True)
    assert isinstance(alone, mirrored) and len(alone.values) == 1


@pytest.mark.parametrize(
    "ops",
    [
        tf.contrib.distribute.AllReduceCrossDeviceOps("hierarchical_copy", num_packs=2, agg_small_grads_max_bytes=9),
        tf.contrib.distribute.MultiWorkerAllReduce(["/cpu:0"], 2, ("pscpu/pscpu", 2, -1), num_packs=1),
        kinds.AllReduceCrossTowerOps(),
        kinds.choose_the_best(["/cpu:0", "/cpu:1"]),
    ],
    ids=lambda ops: type(ops).__name__,
)
def test_all_reduce_of_contrib_sums_on_all_devices(session, ops):
    values = stand_for("tensorflow.python.distribute.values")
    parts = values.PerReplica([tf.constant([1.0, 2.0]), tf.constant([3.0, 5.0])])
    summed = ops.reduce(tf.distribute.ReduceOp.SUM, parts, ["/cpu:0", "/cpu:1"])
    assert [part.tolist() for part in session.run(list(summed.values))] == [[4.0, 7.0]] * 2
    with tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"], cross_device_ops=ops).scope():
        assert isinstance(tf.Variable(1.0), values.DistributedVariable)


def test_kinds_of_all_reduce():
    base = tf.contrib.distribute.AllReduceCrossDeviceOps
    assert all(issubclass(kind, base) for kind in (tf.distribute.NcclAllReduce, tf.distribute.HierarchicalCopyAllReduce))
