"""What suites written for TensorFlow ask graphs, sessions and savers beneath their public faces."""

import collections
import os

import numpy as np
import pytest
from tensorboard.compat.proto.attr_value_pb2 import AttrValue

import tfexp as tf
from tfexp.runtime.eager import eager_mode
from tfexp.stand_ins.modules import stand_for


def module(name):
    return stand_for(f"tensorflow.python.{name}")


def test_signatures_and_types_of_nodes():
    test_ops = module("framework.test_ops")
    with tf.Graph().as_default():
        ref, value = test_ops.ref_output_float_output(name="op1")
        node = test_ops.ref_input_float_input(ref, value)
        assert node._input_types == [tf.float32._as_ref, tf.float32]
        assert [tensor._as_node_def_input() for tensor in (ref, value)] == ["op1", "op1:1"]
        assert [arg.name for arg in node.op_def.input_arg] == ["a", "b"] and node.op_def.input_arg[0].is_ref
        attr = test_ops.int_attr().op
        attr._set_attr("foo", AttrValue(i=2))
        assert attr.get_attr("foo") == 2


def test_inputs_that_are_changed():
    with tf.Graph().as_default() as graph:
        x, y = tf.constant(1), tf.constant(2)
        total = tf.add(x, x)
        assert x.consumers() == [total.op, total.op]
        total.op._update_input(1, y)
        assert x.consumers() == [total.op] == y.consumers()
        total.op._add_control_inputs([x.op, y.op])
        total.op._remove_all_control_inputs()
        assert total.op.control_inputs == []
        with pytest.raises(tf.errors.OutOfRangeError, match="no input 2"):
            total.op._update_input(2, y)
        with tf.Graph().as_default(), pytest.raises(ValueError, match="must be from the same graph"):
            total.op._update_input(0, tf.constant(3))
        x.op._add_control_input(total.op)
        with tf.Session(graph=graph) as session, pytest.raises(tf.errors.InvalidArgumentError, match="contains a cycle"):
            session.run(total)


def test_attributes_and_devices_of_new_nodes():
    with tf.Graph().as_default() as graph:
        with graph._attr_scope({"_A": AttrValue(s=b"a"), "_B": lambda node: AttrValue(s=node.op.encode())}):
            op = tf.constant(1.0).op
        assert (op.get_attr("_A"), op.get_attr("_B")) == (b"a", b"Const")
        op._set_device(tf.DeviceSpec(job="worker", device_type="CPU", device_index=1))
        assert op.device == "/job:worker/device:CPU:1" and not graph.as_graph_def().HasField("library")


def test_text_of_a_graph_without_versions():
    with tf.Graph().as_default() as graph:
        tf.no_op(name="a")
    tf.test.TestCase().assertProtoEqualsVersion("node { name: 'a' op: 'NoOp' }", graph.as_graph_def())


def test_layers_of_monitored_sessions():
    layers, seen = module("training.monitored_session"), []

    class Hook(tf.train.SessionRunHook):
        def before_run(self, run_context):
            return tf.train.SessionRunArgs({"double": double})

        def after_run(self, run_context, run_values):
            seen.append(run_values.results)
            run_context.request_stop()

    class Lost(layers._WrappedSession):
        lost = 0

        def run(self, *args, **kwargs):
            if not Lost.lost:
                Lost.lost += 1
                raise tf.errors.AbortedError(None, None, "lost")
            return super().run(*args, **kwargs)

    class Creator:
        made = 0

        def create_session(self):
            self.made += 1
            return Lost(tf.Session())

    with tf.Graph().as_default():
        x = tf.placeholder_with_default(3, [])
        double, coordinator, creator = x * 2, tf.train.Coordinator(), Creator()
        recoverable = layers._RecoverableSession(creator)
        hooked = layers._HookedSession(layers._CoordinatedSession(recoverable, coordinator), [Hook()])
        assert hooked.run(x, feed_dict={x: 5}) == 5 and seen == [{"double": 10}] and creator.made == 2
        assert hooked.should_stop() and not recoverable.should_stop()
        with pytest.raises(RuntimeError, match="after should_stop"):
            hooked.run(x)
        hooked.close()
        assert coordinator.should_stop() and recoverable.should_stop()


def test_a_function_put_into_the_log_gets_what_is_logged(monkeypatch):
    tf_logging, said = module("platform.tf_logging"), []
    assert tf_logging is tf.logging
    with monkeypatch.context() as patched:
        patched.setattr(tf_logging, "info", lambda message, *args: said.append(message % args))
        with tf.Graph().as_default():
            x = tf.constant(42.0, name="answer")
            with tf.train.MonitoredSession(hooks=[tf.train.LoggingTensorHook({"answer": x}, every_n_iter=1)]) as session:
                session.run(x)
    assert any("answer = 42.0" in text for text in said)
    count = len(said)
    tf.logging.info("unheard")
    assert len(said) == count


def test_a_table_that_is_saved(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        table = module("training.saver_test_utils").CheckpointedOp(name="table")
        saver = tf.train.Saver({"table": table.saveable})
        table.insert("k", 30.0).run()
        path = saver.save(session, os.fspath(tmp_path / "model"))
        table.insert("k", 1.0).run()
        saver.restore(session, path)
        assert session.run([table.keys(), table.values(), table.lookup("no", 7.0)]) == [[b"k"], [30.0], 7.0]
    assert os.path.exists(module("training.checkpoint_management").meta_graph_filename(path))


def test_shapes_that_tensors_describe():
    tensor_util = module("framework.tensor_util")
    with tf.Graph().as_default():
        sizes = tf.shape(tf.placeholder(tf.float32, [None, 2, 3]))
        assert tensor_util.constant_value_as_shape(sizes[1:]).as_list() == [2, 3]
        assert tensor_util.constant_value_as_shape(tf.placeholder(tf.int32, [2])).as_list() == [None, None]
        assert tensor_util.shape_tensor([]).dtype == tf.int32
    with eager_mode():
        assert tensor_util.constant_value_as_shape(tf.constant([5, -1, 3])).as_list() == [5, None, 3]


def test_what_python_does_with_values_is_not_asked_of_tensors():
    error = module("framework.errors_impl").OperatorNotAllowedInGraphError
    with tf.Graph().as_default():
        for act in (bool, iter):
            with pytest.raises(error):
                act(tf.constant([1]))
    assert issubclass(error, TypeError)


def test_values_of_several_tensors():
    utils, ops = (
        stand_for("tensorflow.python.framework.composite_tensor_utils"),
        stand_for("tensorflow.python.framework.ops"),
    )
    sparse = tf.SparseTensor([[0, 0]], [1.0], [2, 3])
    assert ops.internal_convert_n_to_tensor_or_composite([sparse, None])[0] is sparse
    assert ops.internal_convert_n_to_tensor_or_indexed_slices([1, None], tf.float64, "x")[0].dtype == tf.float64
    assert [one.dtype for one in ops.convert_n_to_tensor([1, "a"], None, None, tf.int64)] == [tf.int64, tf.string]
    assert ops.internal_convert_n_to_tensor([1], None, None, False, tf.int64)[0].dtype == tf.int64
    assert ops.internal_convert_to_tensor(1, None, "x", True, tf.int64).dtype == tf.int64
    assert [len(part) for part in utils.replace_composites_with_components([sparse])] == [3]
    one = tf.SparseTensorValue([[0, 0]], [1], [1, 2])
    both = utils.append_composite_tensor(one, tf.SparseTensorValue([[0, 2]], [2], [2, 3]))
    assert both.indices.tolist() == [[0, 0], [1, 2]] and both.dense_shape.tolist() == [3, 3]
    ragged = tf.ragged.constant_value([[1, 2], []])
    assert utils.append_composite_tensor(ragged, tf.ragged.constant_value([[3]])).to_list() == [[1, 2], [], [3]]
    with pytest.raises(RuntimeError, match="Unable to concatenate"):
        utils.append_composite_tensor(one, ragged)


def test_registered_kernels():
    kernels = stand_for("tensorflow.python.framework.kernels")
    assert {kernel.op for kernel in kernels.get_registered_kernels_for_op("MatMul").kernel} == {"MatMul"}
    assert not kernels.get_registered_kernels_for_op("no such op").kernel


def test_gradients_by_name():
    registry = stand_for("tensorflow.python.framework.ops")._gradient_registry
    name = "GradientOfTheTestOnly"
    assert name not in registry._registry
    registry.register(lambda op, grad: grad, name)
    assert name in registry._registry and name in registry.list()
    assert registry.lookup("MatMul") is not None


def test_another_rule_in_the_place_of_a_registered_one():
    entries = stand_for("tensorflow.python.framework.ops")._gradient_registry._registry
    original = entries["Softsign"]["type"]
    x = tf.constant([1.0, 3.0])
    entries["Softsign"]["type"] = lambda op, grad: 2 * original(op, grad)
    try:
        doubled = tf.gradients(tf.nn.softsign(x), x)[0]
    finally:
        entries["Softsign"]["type"] = original
    plain = tf.gradients(tf.nn.softsign(x), x)[0]
    with tf.Session() as session:
        np.testing.assert_allclose(session.run([doubled, plain]), [[0.5, 0.125], [0.25, 0.0625]])
    entries["OfTheTestOnly"] = {**entries["Softsign"], "type": None}
    assert entries["OfTheTestOnly"]["type"] is None and "OfTheTestOnly" in list(entries)
    del entries["OfTheTestOnly"]
    assert "OfTheTestOnly" not in entries and entries["Softsign"]["type"] is original
    with pytest.raises(KeyError):
        entries["Softsign"]["location"] = "elsewhere"


def test_rules_of_gradients_by_the_names_of_their_functions():
    nn_grad, math_grad = module("ops.nn_grad"), module("ops.math_grad")
    y = tf.nn.relu(tf.constant([-1.0, 2.0]))
    assert nn_grad._SoftplusGrad is not None and math_grad._SelectGradV2 is not math_grad._SelectGrad
    with tf.Session() as session:
        assert session.run(nn_grad._ReluGrad(y.op, tf.constant([3.0, 3.0]))).tolist() == [0.0, 3.0]
    for name in ("_NoSuchOpGrad", "_ShapeGrad", "_relu"):  # of a shape there is no gradient
        with pytest.raises(AttributeError):
            getattr(nn_grad, name)


def test_versions_of_functions():
    array_ops, nn_ops = stand_for("tensorflow.python.ops.array_ops"), stand_for("tensorflow.python.ops.nn_ops")
    assert array_ops.boolean_mask_v2 is tf.compat.v2.boolean_mask and nn_ops.conv3d_v1 is tf.nn.conv3d
    with pytest.raises(AttributeError):
        _ = array_ops.no_such_v2


def test_static_shapes():
    shapes = stand_for("tensorflow.python.framework.common_shapes")
    assert shapes.is_broadcast_compatible([2, 1], [None, 3]) and not shapes.is_broadcast_compatible([2], [3])
    assert not shapes.is_broadcast_compatible(None, [3])
    assert shapes.rank(tf.zeros([2, 3])) == 2 and shapes.has_fully_defined_shape(tf.zeros([2]))


def test_names_that_are_declared_public():
    export = module("util.tf_export")

    def one():
        pass

    def other():
        pass

    export.tf_export("a.b", v1=["c", "d"])(one)
    assert export.get_v2_names(one) == ["a.b"] and export.get_v1_names(one) == ["c", "d"]
    assert export.get_canonical_name_for_symbol(one) == "a.b"
    with pytest.raises(export.SymbolAlreadyExposedError, match="one is already exposed"):
        export.tf_export("e")(one)
    export.tf_export(v1=["c"])(other)
    assert export.get_canonical_name_for_symbol(other, add_prefix_to_v1_names=True) == "compat.v1.c"
    with pytest.raises(export.InvalidSymbolNameError):
        export.tf_export("estimator.x")
    with pytest.raises(export.InvalidSymbolNameError):
        export.keras_export("a.b")
    export.estimator_export("estimator.x")(other)
    assert (export.get_v1_names(other), export.get_v2_names(other)) == (["c", "estimator.x"], ["estimator.x"])
    assert export.get_canonical_name_for_symbol(other, "estimator") == "estimator.x"
    assert export.get_canonical_name(["a", "b"], ["a"]) == "b"
    with pytest.raises(TypeError, match="only takes keyword args"):
        export.kwarg_only(lambda a: a)(1)


def test_sessions_of_eager_tests():
    session = module("framework.test_util").FakeEagerSession(tf.test.TestCase())
    with eager_mode():
        assert session.run(tf.constant(3), feed_dict={}) == session.run(lambda: tf.constant(3)) == 3
        for arguments in ({"feed_dict": {"x": 1}}, {"options": None}):
            with pytest.raises(RuntimeError, match="not supported"):
                session.run(tf.constant(3), **arguments)


def test_dispatched_functions_take_what_the_op_takes():
    dispatch = module("util.dispatch")
    double = dispatch.add_dispatch_support(lambda x: x * 2)
    with pytest.raises(AssertionError, match="must exactly match"):
        dispatch.dispatch_for_types(double, bytes)(lambda y: y)


def test_questions_about_one_structure():
    nest = module("util.nest")
    pair = collections.namedtuple("Pair", "x y")

    class Fields(pair):
        pass

    assert nest._is_namedtuple(pair(1, 2)) and nest._is_namedtuple(pair(1, 2), strict=True)
    assert nest._is_namedtuple(Fields(1, 2)) and not nest._is_namedtuple(Fields(1, 2), strict=True)
    assert not any(nest._is_namedtuple(value) for value in ((1, 2), [1], 3, pair, None))
    assert nest._same_namedtuples(pair(1, 2), collections.namedtuple("Pair", "x y")(3, 4))
    assert not nest._same_namedtuples(pair(1, 2), Fields(1, 2))
    assert nest._sequence_like(pair(0, 0), [3, 4]) == pair(3, 4)
    assert nest._sequence_like({"b": 1, "a": 2}, [3, 4]) == {"a": 3, "b": 4}
    assert nest._is_mapping({}) and not nest._is_mapping({}.keys())
    assert nest._is_mapping_view({}.keys()) and not nest._is_mapping_view({})
    assert not nest._is_attrs(pair(1, 2))


def test_messages_of_nest():
    nest = module("util.nest")
    with pytest.raises(ValueError) as raised:
        nest.assert_shallow_structure([1], [1, 2])
    assert str(raised.value) == nest._STRUCTURES_HAVE_MISMATCHING_LENGTHS.format(input_length=2, shallow_length=1)


def test_nodes_in_texts_tell_where_they_were_made():
    texts, place = module("framework.error_interpolation"), module("framework.traceable_stack").TraceableObject
    assert texts.parse_message("a{{node foo}}b{{node bar/_x}}") == (["a", "b", ""], [("node", "foo"), ("node", "bar/_x")])
    assert texts.parse_message("^ {{node X") == (["^ {{node X"], [])
    assert texts.parse_message("{{node }}") == (["{{node }}"], [])
    with tf.Graph().as_default() as graph:
        tf.constant(1, name="One")
    told = texts.interpolate("in {{node One}} and {{node Two}}", graph)
    assert told.startswith(f"in node One (defined at {__file__}:") and told.endswith(" and {{node Two}}")
    devices = texts._compute_device_summary_from_list("n", [place("/cpu:0", "a.py", 3)], prefix="  ")
    assert "'n'" in devices and "\n    with tf.device(/cpu:0): <a.py:3>" in devices
    assert "No device assignments" in texts._compute_device_summary_from_list("n", [])
    assert "tf.colocate_with(m): <b.py:4>" in texts._compute_colocation_summary_from_dict("n", {"m": place(None, "b.py", 4)})
    assert "No node-device colocations" in texts._compute_colocation_summary_from_dict("n", {})


def test_a_function_put_into_the_log_gets_what_keras_warns_of(monkeypatch):
    tf_logging, said = module("platform.tf_logging"), []
    with monkeypatch.context() as patched, tf.Graph().as_default():
        patched.setattr(tf_logging, "warning", lambda message: said.append(message))
        x = tf.keras.Input((2,))
        model = tf.keras.Model(x, [tf.keras.layers.Dense(1, name=name)(x) for name in ("kept", "left_out")])
        model.compile("sgd", {"kept": "mse"})
        assert [text.split(".")[0] for text in said] == ["Output left_out missing from loss dictionary"]
    tf.logging.warning("unheard")
    assert len(said) == 1


def test_nodes_and_values_made_by_their_classes():
    ops = module("framework.ops")
    graph = tf.Graph()
    with graph.as_default(), tf.device("/cpu:0"), tf.name_scope("scope"):
        node = ops.Operation(ops._NodeDef("NoOp", "a", device="/gpu:1"), graph, [], [])
        after = ops.Operation(ops._NodeDef("NoOp", "b"), graph, [], [], [node])
    assert (node.name, node.device, after.device, after.control_inputs) == ("a", "/device:GPU:1", "", [node])
    assert graph.get_operations() == [node, after] and isinstance(node, ops.Operation)
    assert not isinstance(graph, ops.Operation)
    with pytest.raises(TypeError, match="needs to be a NodeDef"):
        ops.Operation("NoOp", graph)
    with pytest.raises(TypeError, match="needs to be a Graph"):
        ops.Operation(ops._NodeDef("NoOp", "c"), "graph")
    with pytest.raises(ValueError, match="'-c' is not a valid node name"):
        ops.Operation(ops._NodeDef("NoOp", "-c"), graph)
    with pytest.raises(TypeError, match="pos 2"):
        ops.EagerTensor(1)
    with pytest.raises(TypeError, match=r"Expecting a DataType value for dtype. Got str"):
        ops.EagerTensor(1, device="CPU:0", dtype="1")
    value = ops.EagerTensor([1, 2], device="CPU:0", dtype=tf.float64.as_datatype_enum)
    assert (value.dtype, value.numpy().tolist()) == (tf.float64, [1.0, 2.0])
    with eager_mode():
        assert isinstance(value, ops.EagerTensor) and isinstance(tf.constant(1), ops.EagerTensor)


def test_sizes_and_numbers_of_tensors():
    ops, wrapped = module("framework.ops"), module("pywrap_tensorflow")
    device = module("eager.context").context().device_name
    one, other = ops.EagerTensor([[1, 2], [3, 4], [5, 6]], device), ops.EagerTensor([1.0, 2.0], device)
    assert (one._rank(), one._shape_as_list(), one._num_elements()) == (2, [3, 2], 6)
    assert (other._datatype_enum(), other._numpy().tolist(), other.backing_device) == (1, [1, 2], device)
    with tf.Graph().as_default():
        unknown = tf.placeholder(tf.float32)
        assert (unknown._rank(), unknown._shape_as_list()) == (None, None)
    assert wrapped.TFE_Py_TensorShapeSlice([one, other], 0).numpy().tolist() == [3, 2]
    for tensors, dim, error, message in (
        (one, 0, TypeError, "must be a list or a tuple"),
        ([one, "a"], 0, TypeError, 'element 1 has type "str"'),
        ([one], -2, ValueError, "must be non-negative. Got -2"),
        ([one, other], 1, IndexError, r"dimension \(1\) must be smaller than rank .* index 1 has rank 1"),
    ):
        with pytest.raises(error, match=message):
            wrapped.TFE_Py_TensorShapeSlice(tensors, dim)


def test_tensors_that_stand_for_values():
    ragged_tensor, specs = module("ops.ragged.ragged_tensor"), module("framework.tensor_spec")
    sparse_specs = module("framework.sparse_tensor")
    with tf.Graph().as_default(), tf.Session() as session:
        ragged = tf.ragged.constant([[1, 2], [3]])
        values = [tf.ones([2, 3]), tf.SparseTensor([[0, 1]], [1.0], [2, 3]), ragged]
        for spec, value, stored, batch in zip(
            [
                specs.TensorSpec([2, None], tf.float32),
                sparse_specs.SparseTensorSpec([2, 3], tf.float32),
                ragged_tensor.RaggedTensorSpec([2, None], tf.int32),
            ],
            values,
            ["float32", "variant", "variant"],
            [[2, 3], [None, 3], [2]],
            strict=True,
        ):
            assert type(spec)._deserialize(spec._serialize()) == spec
            assert (spec._shape, spec._dtype) == (spec._to_legacy_output_shapes(), spec._to_legacy_output_types())
            (tensor,) = spec._to_tensor_list(value)
            assert tensor.dtype.name == stored
            assert [one.shape.as_list() for one in spec._to_batched_tensor_list(value)] == [batch]
            again = spec._from_tensor_list([tensor])
            assert type(again) is type(value)
            assert repr(session.run(again)) == repr(session.run(value))
            with pytest.raises(ValueError, match="wrong number of tensors"):
                spec._from_tensor_list([])
            with pytest.raises(ValueError, match=r"tensor 0 .* is incompatible with TensorSpec"):
                spec._from_tensor_list([tf.constant("a")])
        assert (spec._ragged_rank, spec._row_splits_dtype, spec._to_legacy_output_classes()) == (1, tf.int64, spec)


def test_ragged_tensors_in_variants():
    RaggedTensor = module("ops.ragged.ragged_tensor").RaggedTensor
    with tf.Graph().as_default(), tf.Session() as session:
        ragged = tf.ragged.constant([[1, 2], [3]])
        whole, rows = ragged._to_variant(), ragged._to_variant(batched_input=True)
        assert (whole.shape.as_list(), rows.shape.as_list(), ragged._is_eager()) == ([], [2], False)
        assert whole.op.name.startswith("RaggedToVariant/")
        for variant, rank in ((whole, None), (rows, 0)):
            again = RaggedTensor._from_variant(variant, tf.int32, output_ragged_rank=1, input_ragged_rank=rank)
            assert session.run(again).to_list() == [[1, 2], [3]]
        with pytest.raises(ValueError, match="output_ragged_rank must be equal to input_ragged_rank"):
            RaggedTensor._from_variant(rows, tf.int32, 2, 0)


@pytest.fixture
def graph():
    with tf.Graph().as_default() as made:
        yield made


def test_attributes_that_nothing_is_given_for(graph):
    with graph._attr_scope({"_A": lambda node: None}):
        op = tf.no_op()
    with pytest.raises(ValueError, match="no attr named '_A'"):
        op.get_attr("_A")
    op._set_attr("_A", AttrValue(i=3))
    op._clear_attr("_A")
    assert "_A" not in op.attrs


def test_what_waits_and_what_comes_out(graph):
    one = tf.constant(1.0)
    assert one.op._output_types == [tf.float32.as_datatype_enum]
    with pytest.raises(TypeError, match="op must be an Operation: Tensor"):
        tf.no_op()._add_control_input(one)


def test_the_collection_of_what_a_scope_takes_from_elsewhere(graph, tmp_path):
    meta_graph = module("framework.meta_graph")
    outside = tf.constant(2.0, name="outside")
    with tf.name_scope("inside"):
        tf.identity(outside, name="copy")
    file = str(tmp_path / "part.meta")
    part, _ = meta_graph.export_scoped_meta_graph(file, export_scope="inside", unbound_inputs_col_name="wanted")
    assert list(part.collection_def) == ["wanted"]
    assert meta_graph.read_meta_graph_file(file) == part
    with pytest.raises(ValueError, match=r"unbound inputs: \$unbound_inputs_outside"):
        meta_graph.import_scoped_meta_graph(part, import_scope="again", unbound_inputs_col_name="wanted")
    given = {"$unbound_inputs_outside": tf.constant(3.0)}
    meta_graph.import_scoped_meta_graph(part, import_scope="again", input_map=given, unbound_inputs_col_name="wanted")
    with tf.Session() as session:
        assert session.run("again/copy:0") == 3.0
    assert list(part.collection_def) == ["wanted"]
