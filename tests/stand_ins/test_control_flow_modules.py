"""Nodes of control flow that TensorFlow's tests put together by hand, and nodes that run a Defun."""

import numpy as np
import pytest

import tfexp as tf
from tfexp.ops.defun import Defun
from tfexp.runtime.eager import eager_mode
from tfexp.stand_ins.modules import stand_for

control_flow_ops = stand_for("tensorflow.python.ops.control_flow_ops")
functional_ops = stand_for("tensorflow.python.ops.functional_ops")


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_references_stay_references():
    variable = tf.Variable(7, use_resource=False)
    inside = control_flow_ops._Enter(control_flow_ops._Identity(variable), "frame", is_constant=True)
    assert [inside.op.type, inside.op.inputs[0].op.type] == ["RefEnter", "RefIdentity"]
    assert control_flow_ops._Identity(tf.constant(3)).op.type == "Identity"


def test_a_frame_in_which_nothing_goes_round():
    generated = stand_for("tensorflow.python.ops.gen_control_flow_ops")
    enter, loop_cond = generated.enter, generated.loop_cond
    variable = tf.Variable(7, use_resource=False)
    inside = control_flow_ops._Enter(variable, "frame", is_constant=True)
    with tf.control_dependencies([tf.assign(inside, enter(tf.constant(9), "frame"))]):
        left = control_flow_ops.exit(tf.identity(inside))
    decided = loop_cond(enter(tf.constant(False), "other"))
    ended = control_flow_ops.exit(control_flow_ops.switch(enter(tf.constant(3), "other"), decided)[0])
    with tf.Session() as session:
        session.run(variable.initializer)
        for _ in range(2):
            assert session.run([left, ended]) == [9, 3]


@pytest.mark.parametrize("go", ["_Identity", "_Enter", "_NextIteration", "exit"])
def test_the_parts_of_composite_values_go_on_by_themselves(graph, go):
    def gone(value):
        frame = {"frame_name": "frame"} if go == "_Enter" else {}
        return getattr(control_flow_ops, go)(value, name="mine", **frame)

    kind = "Exit" if go == "exit" else go.removeprefix("_")
    sparse = gone(tf.SparseTensor([[0, 5]], ["x"], [7, 11]))
    assert [part.op.name for part in (sparse.indices, sparse.values, sparse.dense_shape)] == [kind, f"{kind}_1", f"{kind}_2"]
    slices = gone(tf.IndexedSlices(tf.constant([2.0]), tf.constant([3])))
    assert [slices.values.op.name, slices.indices.op.name, slices.dense_shape] == [f"{kind}_3", f"{kind}_4", None]
    whole = gone(tf.IndexedSlices(tf.constant([2.0]), tf.constant([3]), tf.constant([5])))
    assert whole.dense_shape.op.type == kind
    assert gone([2, 3]).op.name == "mine"


def test_what_merge_gives_has_names():
    with tf.Session() as session:
        merged = control_flow_ops.merge(control_flow_ops.switch(tf.constant([3, 5]), True))
        assert session.run([merged.output.op.outputs[1], merged.value_index]) == [1, 1]
        np.testing.assert_array_equal(session.run(merged.output), [3, 5])


def test_cond_v2_is_there():
    cond_v2 = stand_for("tensorflow.python.ops.cond_v2").cond_v2
    with tf.Session() as session:
        assert session.run(cond_v2(tf.constant(False), lambda: 3, lambda: 5)) == 5


def test_nodes_that_run_a_defun():
    double = Defun(tf.float32, func_name="double")(lambda x: 2 * x)
    triple = Defun(tf.float32, func_name="triple")(lambda x: 3 * x)
    small = Defun(tf.float32, func_name="small")(lambda x: x < 100)
    with tf.Session() as session:
        chosen = functional_ops.If(tf.constant(0), [7.0], double, triple)
        repeated = functional_ops.While([3.0], small, double)
        called = functional_ops.partitioned_call([5.0], triple)
        assert session.run([*chosen, *repeated, *called]) == [21, 192, 15]
        with pytest.raises(ValueError, match="signatures do not match"):
            functional_ops.While([3], Defun(tf.int32)(lambda x: x < 5), double)


def test_what_merge_gives_is_a_merge():
    merged = control_flow_ops.merge([tf.constant(1)])
    assert type(merged).__name__ == "Merge" and merged._fields == ("output", "value_index")


def test_a_loop_over_a_defun_keeps_shapes_and_types():
    kinds = (tf.int32, tf.float32)
    below = Defun(*kinds, func_name="below")(lambda i, x: i < 3)
    swapped = functional_ops.While([1, 2.0], below, Defun(*kinds, func_name="swap")(lambda i, x: (x, i)))
    assert [result.shape.as_list() for result in swapped] == [[], []]
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="to be int32 but float is provided"):
        session.run(swapped)
    short = functional_ops.While([1, 2.0], below, Defun(*kinds, func_name="short")(lambda i, x: x))
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="body returned 1 arguments"):
        session.run(short)


def test_loops_over_a_defun_that_uses_a_tensor_of_the_graph():
    with tf.Session() as session:
        step = tf.constant(5.0)
        small = Defun(tf.float32, func_name="small")(lambda x: x < 100)
        onward = Defun(tf.float32, func_name="onward")(lambda x: x + step)
        turn = Defun(tf.int32, tf.float32, func_name="turn")(lambda i, x: x + step * tf.cast(i, tf.float32))
        repeated = functional_ops.While([3.0], small, onward)
        counted = functional_ops.For(0, 4, 1, [1.0], turn)
        assert session.run([*repeated, *counted]) == [103, 31]
        with pytest.raises(ValueError, match="captured inputs"):
            functional_ops.While([3.0], Defun(tf.float32)(lambda x: x < step), onward)


def test_a_condition_of_a_loop_gives_one_value():
    onward, nothing = Defun(tf.float32)(lambda x: x + 1), Defun(tf.float32)(lambda x: None)
    twice = Defun(tf.float32)(lambda x: [x < 1, x < 2])
    for condition, count in (nothing, 0), (twice, 2):
        loop = functional_ops.While([3.0], condition, onward)
        with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=f"cond, got {count} tensors"):
            session.run(loop)


def test_a_loop_over_numbers_by_a_while():
    turn = Defun(tf.int32, tf.float32, func_name="turn")(lambda i, x: 10.0 * x + tf.cast(i, tf.float32))
    idle = Defun(tf.int32, func_name="idle")(lambda i: None)
    with tf.Graph().as_default() as graph, tf.Session() as session:
        loops = [functional_ops.For(*numbers, [0.0], turn, rewrite_with_while=True) for numbers in ((1, 6, 2), (4, 0, -1))]
        assert session.run(loops) == [[135], [4321]] and loops[0][0].name == "While:4"
        assert functional_ops.For(0, 3, 1, [], idle, rewrite_with_while=True) == []
        assert functional_ops.For(0, 3, 1, [], idle, name="for") == []
        session.run([graph.get_operation_by_name("for"), graph.get_operation_by_name("While_2")])
        names = {function.signature.name for function in graph.as_graph_def().library.function}
    assert names == {"turn", "turn_Cond", "turn_Body", "idle", "idle_Cond", "idle_Body"}


def test_a_loop_over_numbers_whose_body_gives_nothing_and_uses_a_tensor_of_the_graph():
    with tf.Graph().as_default() as graph, tf.Session() as session:
        step = tf.constant(5.0)

        @Defun(tf.int32)
        def idle(i):
            tf.add(step, 1.0)

        assert idle.captured_inputs == [step]
        for by_while in (False, True):
            assert functional_ops.For(0, 3, 1, [], idle, rewrite_with_while=by_while, name=f"loop_{by_while}") == []
            session.run(graph.get_operation_by_name(f"loop_{by_while}"))


def test_gradients_of_a_function_by_a_node():
    product = Defun(tf.float32, tf.float32)(lambda x, y: x * y * y)
    with tf.Graph().as_default(), tf.Session() as session:
        gradients = functional_ops.Gradient([3.0, 5.0, 7.0], product, name="of_product")
        assert session.run(gradients) == [175, 210] and gradients[1].name == "of_product:1"


def test_functions_called_somewhere_else_run_here():
    both = Defun(tf.float32, tf.float32, func_name="both")(lambda x, y: (x + 1, y * 2))
    with tf.Session() as session:
        found = functional_ops.remote_call("/cpu:0", [2.0, 3.5], [tf.float32, tf.float32], both)
        assert found[0].op.type == "RemoteCall"
        assert session.run(found) == [3, 7]


def test_loops_and_branches_that_are_one_node_each(graph):
    while_v2, cond_v2 = stand_for("tensorflow.python.ops.while_v2"), stand_for("tensorflow.python.ops.cond_v2")
    x, chosen = tf.constant(2.0), tf.placeholder(tf.bool)
    squared = while_v2.while_loop(lambda v: v < 8.0, lambda v: v * v, [x])
    limited = while_v2.while_loop(lambda v: True, lambda v: v + x, [x], None, 10, 3, return_same_structure=False)
    either = cond_v2.cond_v2(chosen, lambda: [x * 3.0], lambda: [x])
    second = cond_v2.indexed_case(tf.constant(1), [lambda: x, lambda: -x])
    kinds = {op.type for op in graph.get_operations()}
    assert any("While" in kind for kind in kinds) and any(kind.endswith("If") for kind in kinds)
    assert not kinds & {"Switch", "Merge", "Enter"} and not tf.control_flow_v2_enabled()
    assert isinstance(squared, list) and isinstance(either, list)
    gradients = tf.gradients(squared, x) + tf.gradients(either, x)
    with tf.Session() as session:
        results = session.run([squared[0], limited, either[0], second, *gradients], {chosen: True})
    assert results == [16.0, 8.0, 6.0, -2.0, 32.0, 3.0]


def test_what_a_run_needs_of_a_meta_graph(graph):
    optimize = stand_for("tensorflow.python.grappler.tf_optimizer").OptimizeGraph
    x = tf.placeholder(tf.float32, name="x")
    whole = tf.add(tf.constant(1.0, name="one"), tf.constant(2.0, name="two"), name="three")
    needed = tf.multiply(x, whole, name="needed")
    tf.exp(x, name="other")
    kept = tf.constant(5, name="kept")
    variable = tf.Variable(tf.ones([2]), name="v")
    with pytest.raises(tf.errors.InvalidArgumentError, match="Failed to import metagraph"):
        optimize(None, tf.train.export_meta_graph())
    tf.add_to_collection("train_op", needed)
    tf.add_to_collection("mine", kept)
    names = {node.name: node.op for node in optimize(None, tf.train.export_meta_graph()).node}
    assert names["three"] == "Const" and not {"one", "other"} & set(names)
    assert {"x", "needed", "kept", variable.op.name, variable.initializer.name} <= set(names)
    config = tf.ConfigProto()
    for setting in ({"optimizers": ["pruning"]}, {"constant_folding": 2}, {"disable_meta_optimizer": True}):
        config.graph_options.rewrite_options.Clear()
        config.graph_options.rewrite_options.MergeFrom(type(config.graph_options.rewrite_options)(**setting))
        assert "one" in {node.name for node in optimize(config, tf.train.export_meta_graph()).node}


def test_what_is_said_and_checked_is_stripped_of_a_meta_graph(graph):
    optimize = stand_for("tensorflow.python.grappler.tf_optimizer").OptimizeGraph
    x = tf.placeholder(tf.float32, [2], name="x")
    with tf.control_dependencies(
        [stand_for("tensorflow.python.ops.gen_logging_ops")._assert(x[0] > 0.0, [x], name="assert")]
    ):
        checked = tf.check_numerics(x, "text", name="checked")
    tf.add_to_collection("train_op", tf.Print(checked, [x, checked, x], name="said"))
    config = tf.ConfigProto()
    for settings in ({"optimizers": ["debug_stripper"]}, {"debug_stripper": 1}):
        config.graph_options.rewrite_options.CopyFrom(type(config.graph_options.rewrite_options)(**settings))
        nodes = {node.name: node for node in optimize(config, tf.train.export_meta_graph()).node}
        assert [nodes[name].op for name in ("assert", "checked", "said")] == ["NoOp", "Identity", "Identity"]
        assert list(nodes["said"].input) == ["checked", "^x", "^checked"] and list(nodes["said"].attr) == ["T"]
        with tf.Graph().as_default(), tf.Session() as session:
            tf.import_graph_def(tf.GraphDef(node=nodes.values()), name="")
            assert session.run("said:0", {"x:0": [-1.0, float("nan")]})[0] == -1.0
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    assert "Print" in {node.op for node in optimize(config, tf.train.export_meta_graph()).node}


def test_devices_that_a_graph_is_optimized_for(graph):
    cluster = stand_for("tensorflow.python.grappler.cluster")
    described = stand_for("tensorflow.core.protobuf.device_properties_pb2").NamedDevice(name="/GPU:0")
    with cluster.Provision(devices=[described]) as one:
        assert [device.name for device in one.ListDevices()] == ["/GPU:0"]
    (own, *_) = cluster.Cluster().ListDevices()
    assert own.name.endswith("device:CPU:0") and own.properties.type == "CPU" and own.properties.memory_size > 0
    assert {"MatMul", "Placeholder"} <= set(one.ListAvailableOps())
    tf.add_to_collection("train_op", tf.constant(1.0, name="kept"))
    optimize = stand_for("tensorflow.python.grappler.tf_optimizer").OptimizeGraph
    assert [node.name for node in optimize(None, tf.train.export_meta_graph(), cluster=one).node] == ["kept"]


def test_loops_are_as_they_were_when_a_graph_is_optimized(graph):
    optimize = stand_for("tensorflow.python.grappler.tf_optimizer").OptimizeGraph
    start = tf.add(tf.constant(1), tf.constant(2))
    _, last = tf.while_loop(lambda i, x: i < 5, lambda i, x: (i + 1, x * tf.add(1, 1)), [tf.constant(0), start])
    tf.add_to_collection("train_op", tf.identity(last, name="last"))
    optimized = optimize(None, tf.train.export_meta_graph())
    assert len(optimized.node) < len(graph.as_graph_def().node)
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(optimized, name="")
        assert session.run("last:0") == 96


def test_variables_that_results_come_from(graph):
    custom_gradient = stand_for("tensorflow.python.ops.custom_gradient")
    v, x = tf.get_variable("v", initializer=1.0, use_resource=True), tf.constant(1.0)
    tf.get_variable("unused", initializer=1.0, use_resource=True)
    y = x * v
    assert custom_gradient.get_dependent_variables([x], [y * 2.0]) == [v]
    assert custom_gradient.get_dependent_variables([y], [y * 2.0]) == []


def test_branches_have_to_be_functions():
    with pytest.raises(TypeError, match="true_fn must be callable"):
        tf.cond(tf.constant(True), tf.constant(1), lambda: tf.constant(1))


def test_numbers_of_states():
    random = stand_for("tensorflow.python.ops.stateful_random_ops")
    assert [random._uint_to_int(n) for n in (5, 2**63, 2**64 - 1)] == [5, -(2**63), -1]
    with tf.Session() as session:
        assert session.run(random._convert_to_state_tensor([1, 2**63])).tolist() == [1, -(2**63)]
        assert session.run(random.non_deterministic_ints([2, 3])).shape == (2, 3)


def test_nothing_is_left_to_wait_for_in_eager_execution():
    with eager_mode():
        x = tf.constant(3)
        assert control_flow_ops.with_dependencies(tf.constant(2), x) is x
        assert control_flow_ops.with_dependencies([], [2, 3]) == [2, 3]
