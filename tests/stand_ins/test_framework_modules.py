"""What TensorFlow's own tests take from its framework's modules: registries, statistics, parts of graphs, whole files."""

import gc
import unittest

import pytest
from absl.testing import parameterized

import tfexp as tf
from tfexp.stand_ins.context import eager_mode
from tfexp.stand_ins.modules import stand_for


def module(name):
    return stand_for(f"tensorflow.python.{name}")


def test_statistics_of_ops():
    ops = module("framework.ops")

    @ops.RegisterStatistics("AStatisticOp", "flops")
    def flops(graph, node):
        return ops.OpStats("flops", 3)

    total = ops.get_stats_for_node_def(None, ops._NodeDef("AStatisticOp", "a"), "flops")
    total += ops.OpStats("flops", 4)
    total += ops.get_stats_for_node_def(None, ops._NodeDef("Another", "b"), "flops")
    assert total.value == 7
    with pytest.raises(KeyError, match="Registering two"):
        ops.RegisterStatistics("AStatisticOp", "flops")(flops)
    with pytest.raises(ValueError, match="Can't add an OpStat of type flops"):
        total += ops.OpStats("bytes", 1)


def test_what_counts_as_a_tensor():
    ops = module("framework.ops")

    class Like:
        name, dtype = property(lambda self: "x"), property(lambda self: tf.float32)

    assert ops.is_dense_tensor_like(tf.constant(1.0)) and not ops.is_dense_tensor_like(Like())
    assert isinstance(tf.constant(1.0), ops._TensorLike) and not isinstance(Like(), ops._TensorLike)
    ops.register_dense_tensor_like_type(Like)
    assert ops.is_dense_tensor_like(Like())
    with pytest.raises(TypeError, match="does not define a `name` property"):
        ops.register_dense_tensor_like_type(int)


def test_registries_and_stacks_that_know_where():
    registry = module("framework.registry").Registry("things")
    registry.register(test_what_counts_as_a_tensor)
    assert registry.lookup("test_what_counts_as_a_tensor") and list(registry.list()) == ["test_what_counts_as_a_tensor"]
    with pytest.raises(KeyError, match="Registering two things with name 'test_what"):
        registry.register(test_what_counts_as_a_tensor)
    with pytest.raises(LookupError, match="things registry has no entry for: x"):
        registry.lookup("x")
    stack = module("framework.traceable_stack").TraceableStack()
    stack.push_obj("a")
    stack.push_obj("b")
    assert (stack.peek_top_obj(), stack.peek_objs(), stack.pop_obj()) == ("b", ["b", "a"], "b")
    (traced,) = stack.peek_traceable_objs()
    assert traced.filename == __file__ and traced.lineno > 50


@pytest.mark.usefixtures("only_new_garbage")
def test_objects_by_identity():
    identity = module("util.object_identity")
    one, other = [1], [1]
    found = identity.ObjectIdentitySet([one, one])
    assert list(found.intersection([one])) == [one] and not found.intersection([])
    assert one in found and other not in found and len(found) == 1 and list(found.difference([one])) == []
    with pytest.raises(TypeError, match="unwrapped"):
        identity._ObjectIdentityWrapper(one).__eq__(one)
    by_object = identity.ObjectIdentityDictionary([(one, "one")])
    by_object[other] = "other"
    assert (by_object[one], by_object[other], len(by_object)) == ("one", "other", 2)

    class Held:
        pass

    held = Held()
    weak = identity.ObjectIdentityWeakSet([held])
    assert len(weak) == 1
    del held
    gc.collect()
    assert len(weak) == 0


def test_devices_merged_and_completed():
    device, device_util = module("framework.device"), module("distribute.device_util")
    immutable = tf.compat.v2.DeviceSpec(task=1, device_type="GPU", device_index=2)
    assert device.is_device_spec(immutable) and device.is_device_spec(tf.DeviceSpec())
    with tf.Graph().as_default(), tf.device("/job:ps"), tf.device(device.merge_device(immutable)):
        assert tf.constant(1).device == "/job:ps/task:1/device:GPU:2"
    with tf.Graph().as_default(), tf.device("/job:ps"), tf.device(device.merge_device("/task:1/gpu:2")):
        assert tf.constant(1.0).device == "/job:ps/task:1/device:GPU:2"
        assert device_util.current() == "/job:ps"
    assert device_util.canonicalize("/cpu:0") == "/replica:0/task:0/device:CPU:0"
    with eager_mode():
        assert device_util.resolve("/gpu:2") == "/job:localhost/replica:0/task:0/device:GPU:2"
    assert device_util.get_host_for_device("/job:worker/task:1/device:GPU:1") == "/job:worker/task:1/device:CPU:0"
    assert device_util.local_devices_from_num_gpus(2) == ("/device:GPU:0", "/device:GPU:1")
    assert device_util.local_devices_from_num_gpus(0) == ("/device:CPU:0",)
    assert device_util.canonicalize("/gpu:1", default="/job:worker/task:3") == "/job:worker/replica:0/task:3/device:GPU:1"
    with pytest.raises(ValueError, match="Unknown attribute"):
        device.check_valid("/nothing:3")


def test_parts_of_graphs():
    meta_graph = module("framework.meta_graph")
    with tf.Graph().as_default() as source, tf.variable_scope("from"):
        tf.get_variable("w", initializer=3.0)
    with tf.Graph().as_default() as graph:
        copies = meta_graph.copy_scoped_meta_graph("from", "to", from_graph=source, to_graph=graph)
        assert {name: v.name for name, v in copies.items()} == {"w:0": "to/w:0"}
        with pytest.raises(ValueError, match="need to be different"):
            meta_graph.copy_scoped_meta_graph("to", "to")
        used = meta_graph.stripped_op_list_for_graph(graph.as_graph_def())
    assert [op.name for op in used.op] == ["Assign", "Const", "Identity", "VariableV2"]


def test_files_as_a_whole(tmp_path):
    file_io, path = module("lib.io.file_io"), str(tmp_path / "file")
    file_io.atomic_write_string_to_file(path, "one")
    assert file_io.read_file_to_string(path) == "one" and file_io.has_atomic_move(path)
    with pytest.raises(tf.errors.AlreadyExistsError):
        file_io.atomic_write_string_to_file(path, "two", overwrite=False)
    file_io.write_string_to_file(path + "2", "one")
    assert file_io.filecmp(path, path + "2") and file_io.file_crc32(path) == file_io.file_crc32(path + "2")


def test_writers_that_keep_what_they_get():
    fake = module("summary.writer.fake_summary_writer").FakeSummaryWriter
    fake.install()
    try:
        writer = tf.summary.FileWriterCache.get("nowhere")
        assert isinstance(writer, fake) and tf.summary.FileWriter is not fake
        writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=2.0)]), 5)
        writer.assert_summaries(unittest.TestCase(), "nowhere", expected_summaries={5: {"loss": 2.0}})
        with pytest.raises(AssertionError, match="no summaries of step 6"):
            writer.assert_summaries(unittest.TestCase(), expected_summaries={6: {}})
    finally:
        fake.uninstall()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda op: op("Bogus"), RuntimeError, "Unrecognized Op name Bogus"),
        (lambda op: op("Simple"), TypeError, "No argument for input a"),
        (lambda op: op("Simple", a=3, foo=1), TypeError, "got unexpected keyword arguments: foo"),
        (lambda op: op("Polymorphic", a="s", T=tf.bool), TypeError, "Should not specify value for inferred attr 'T'"),
        (lambda op: op("TypeList", a=[tf.int32, None]), TypeError, "NOT CONVERTIBLE TO TENSOR.*that are invalid"),
        (
            lambda op: op("TypeListTwice", a=["a", True], b=["e", "f"]),
            TypeError,
            "list of string, string that does not",
        ),
        (lambda op: op("TypeListRestrict", a=[True, 12]), TypeError, "parameter 'a' has DataType int32 not in list"),
        (lambda op: op("Attr", a="bad"), TypeError, "Expected int for argument 'a' not 'bad'"),
        (lambda op: op("Attr"), TypeError, "No argument for attr a"),
        (lambda op: op("AttrBool", a=0), TypeError, "Expected bool for argument 'a' not 0"),
        (lambda op: op("AttrShape", a="ABC"), TypeError, r"Error converting 'ABC' \(arg name = a\) to a TensorShape"),
        (lambda op: op("NIntsIn", a=[1, "a"]), TypeError, r"types \[int32, string\] that do not match expected type int32"),
    ],
)
def test_calls_of_ops_that_cannot_be(call, error, message):
    module("framework.test_ops")
    with pytest.raises(error, match=message):
        call(module("framework.op_def_library").apply_op)


def test_ops_by_name_and_keywords():
    with tf.Graph().as_default():
        node = module("framework.test_ops")._op_def_lib.apply_op("ReservedAttr", range_=7, name="seven")
        assert (node.name, node.get_attr("range")) == ("seven", 7)
    assert module("framework.op_def_registry").get_registered_ops()["MatMul"].input_arg[0].name == "a"


def test_decorators_that_ask_for_modes_there_are_not():
    test_util = module("framework.test_util")

    def test(self):
        return "ran"

    assert test_util.disable_all_xla("why")(test) is test and test_util.eager_lazy_remote_copy_on_and_off(test) is test


def test_shapes_of_tensor_protos():
    equals = module("framework.tensor_util").ShapeEquals
    proto = tf.make_tensor_proto([[1, 2, 3]])
    assert equals(proto, [1, 3]) and equals(proto, proto.tensor_shape) and not equals(proto, (3,))
    with pytest.raises(TypeError, match="tensor_proto is not a"):
        equals(3, [1])
    with pytest.raises(TypeError, match="shape is not a list or tuple"):
        equals(proto, 3)


def test_variables_of_version_2_describe_variables_too():
    kind = module("ops.variables").Variable
    with tf.Graph().as_default():
        v = tf.Variable([1.0])
        assert kind.from_proto(v.to_proto()).name == v.name and kind.SaveSliceInfo is tf.Variable.SaveSliceInfo


def test_tests_run_in_the_modes_that_decorators_name():
    test_util, modes = module("framework.test_util"), []

    class Modes(parameterized.TestCase, tf.test.TestCase):
        @test_util.also_run_as_tf_function
        def test_twice(self):
            modes.append(("twice", tf.executing_eagerly()))

        @test_util.build_as_function_and_v1_graph
        def test_graphs(self):
            modes.append((self.id().rpartition("_")[2], tf.executing_eagerly(), tf.get_default_graph().is_traced))

    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Modes).run(result)
    assert not result.failures + result.errors
    assert modes == [("function", False, True), ("graph", False, False), ("twice", True), ("twice", False)]
    with pytest.raises(ValueError, match="`build_as_function_and_v1_graph` only supports test methods"):
        test_util.build_as_function_and_v1_graph(Modes)


def test_objects_that_track_their_parts():
    class Model(module("training.tracking.tracking").AutoTrackable):
        def __init__(self):
            self.weight = tf.get_variable("w", initializer=2.0)

    with tf.Graph().as_default():
        checkpoint = module("training.tracking.util").Checkpoint(model=Model())
        assert [name for name, _ in checkpoint.model._checkpoint_children()] == ["weight"]


def test_versions_under_their_older_names():
    versions = module("framework.versions")
    assert (versions.__version__, versions.__git_version__) == (tf.__version__, tf.__git_version__)
    assert versions.__version__ == versions.VERSION
    assert not hasattr(versions, "__path_of_nothing__")
