"""Graphs of functions, orders of effects, subscriptions and dispatchers, as libraries take them from private modules."""

import numpy as np
import pytest

import tfexp as tf
from tfexp.runtime.eager import eager_mode
from tfexp.stand_ins.modules import stand_for


def module(name):
    return stand_for(f"tensorflow.python.{name}")


func_graph, subscribe = module("framework.func_graph"), module("framework.subscribe")
auto_control_deps, dispatch = module("framework.auto_control_deps"), module("util.dispatch")


def test_graph_of_a_python_function():
    with tf.Graph().as_default() as outer:
        x = tf.constant([1.0, 2.0])
        graph = func_graph.func_graph_from_py_func("f", lambda y: {"r": y * 2 + x}, [tf.TensorSpec([2])])
        assert isinstance(graph, func_graph.FuncGraph) and graph.outer_graph is outer
        assert [tensor.dtype for tensor in graph.inputs] == [tf.float32] * 2 and graph.external_captures == [x]
        assert graph.captures == [(x, graph.inputs[1])] and list(graph.structured_outputs) == ["r"]
        assert graph.internal_captures == graph.inputs[1:]
        signature = func_graph.convert_structure_to_signature({"a": [x], "b": 3, "c": object()})
        assert signature["a"] == [tf.TensorSpec([2], name="a/0")] and signature["b"] == 3
        assert isinstance(signature["c"], func_graph.UnknownArgument)


def test_settings_of_the_graph_of_a_python_function():
    def positive(x):
        if tf.reduce_sum(x) > 0:
            return x
        return -x

    make = func_graph.func_graph_from_py_func
    with tf.Graph().as_default():
        x = tf.constant([1.0, 2.0])
        graph = make("f", positive, [x], autograph=True, collections={"a": [3]}, override_flat_arg_shapes=[[None]])
        assert graph.inputs[0].shape.as_list() == [None] and graph.get_collection("a") == [3]
        with pytest.raises(TypeError, match="as a Python `bool`"):
            make("f", positive, [x])
        with pytest.raises(TypeError, match="unexpected keyword argument 'autografph'"):
            make("f", positive, [x], autografph=True)


def test_graph_of_a_function_def():
    with tf.Graph().as_default():
        concrete = tf.function(lambda z: z + 1).get_concrete_function(tf.TensorSpec([3], tf.int32))
        assert isinstance(concrete.graph, func_graph.FuncGraph) and concrete.graph.inputs == concrete.inputs
        to_graph = module("framework.function_def_to_graph")
        graph = to_graph.function_def_to_graph(concrete.function_def, [[3]])
        assert [tensor.shape.as_list() for tensor in (*graph.inputs, *graph.outputs)] == [[3], [3]]
        assert to_graph.is_function(concrete.name)
        with pytest.raises(ValueError, match="1 inputs and 2 shapes"):
            to_graph.function_def_to_graph(concrete.function_def, [[3], [3]])


def test_what_subscribes_to_a_tensor_runs_before_what_takes_it():
    seen = []

    def note(tensor):
        return [tf.py_func(lambda value: seen.append(int(value)), [tensor], [])]

    with tf.Graph().as_default(), tf.Session() as session:
        a = tf.constant(2, name="a")
        taken = tf.multiply(a, a)
        with tf.control_dependencies([a]):
            later = tf.no_op()
        first = subscribe.subscribe(a, note)
        assert first.name == "a/subscription/Identity:0"
        assert list(taken.op.inputs) == [first, first] and later.control_inputs == [first.op]
        assert subscribe.subscribe({"x": (a,)}, [note])["x"] == (first,) == (subscribe.subscribe(first, lambda _: []),)
        assert session.run(taken) == 4 and seen == [2, 2]
        with tf.device("/cpu:0"):
            v = tf.Variable(5, name="v", use_resource=False)
        of_variable = subscribe.subscribe(v, note)
        assert of_variable.name == "v/read/subscription/Identity:0" and subscribe._is_subscribed_identity(of_variable)
        assert of_variable.device == "/device:CPU:0"
        queue = tf.FIFOQueue(2, tf.float32).queue_ref
        assert subscribe.subscribe(queue, note) is queue
        with pytest.raises(TypeError, match="invalid type"):
            subscribe.subscribe("a", note)


def test_effects_come_before_what_is_returned():
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable(1.0, use_resource=True)
        session.run(v.initializer)
        with auto_control_deps.AutomaticControlDependencies() as block:
            v.assign(v + 1)
            v.assign(2 * v)
            result = block.mark_as_return(v.read_value())
        assert session.run(result) == 4.0

        @auto_control_deps.automatic_control_dependencies
        def step():
            v.assign(v + 1)
            return {"value": v.read_value(), "nothing": None}

        made = step()
        assert session.run(made["value"]) == 5.0 and made["nothing"] is None
        assert auto_control_deps.op_is_stateful(v.op) and not auto_control_deps.op_is_stateful(result.op)


class Length:
    def __init__(self, metres):
        self.metres = metres


def test_dispatchers_answer_what_functions_refuse():
    @dispatch.add_dispatch_support
    def halve(x):
        return np.true_divide(x, 2)

    @dispatch.dispatch_for_types(halve, Length)
    def _(x):
        return Length(x.metres / 2)

    assert halve(Length(3)).metres == 1.5 and halve(5) == 2.5
    with pytest.raises(TypeError):
        halve("text")
    assert dispatch.dispatch(halve, "text") is dispatch.OpDispatcher.NOT_SUPPORTED
    with pytest.raises(AssertionError, match="not enabled"):
        dispatch.OpDispatcher().register(Length)
    with pytest.raises(AssertionError, match="already has"):
        dispatch.add_dispatch_list(halve)


def test_dispatchers_of_tensorflows_functions():
    dispatchers = getattr(tf.add, dispatch.DISPATCH_ATTR)
    before = list(dispatchers)
    dispatch.dispatch_for_types(tf.add, Length)(lambda x, y, name=None: Length(x.metres + y.metres))
    try:
        assert tf.add(Length(1), y=Length(2)).metres == 3
    finally:
        dispatchers[:] = before
    with tf.Graph().as_default(), pytest.raises(TypeError):
        tf.add(Length(1), Length(2))


def test_a_graph_as_a_function() -> None:
    wrap = stand_for("tensorflow.python.eager.wrap_function")
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [], name="x")
        tf.identity(x * 2.0, name="y")
    doubled = wrap.function_from_graph_def(graph.as_graph_def(), "x:0", "y:0")
    with tf.Session() as session:
        assert session.run(doubled(tf.constant(4.0))) == 8.0


def test_wrapped_functions_share_variables() -> None:
    graph = stand_for("tensorflow.python.eager.wrap_function").WrappedGraph()
    with eager_mode():

        def scaled(x: tf.Tensor) -> tf.Tensor:
            return tf.get_variable("v", initializer=3.0, use_resource=True) * x

        one = graph.wrap_function(scaled, [tf.TensorSpec([], tf.float32)], "one")
        graph.wrap_function(scaled, [tf.TensorSpec([], tf.float32)], "two")
        assert one(tf.constant(2.0)).numpy() == 6.0 and len(graph.variables) == 1
        with pytest.raises(ValueError, match="'one' already"):
            graph.wrap_function(scaled, [], "one")


def test_tensors_are_lifted_with_what_they_need() -> None:
    lifting = stand_for("tensorflow.python.eager.lift_to_graph")
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [], name="x")
        y = x * 2.0 + 1.0
    with tf.Graph().as_default() as other, tf.Session() as session:
        copies = lifting.lift_to_graph([y], other, sources=[x], add_sources=True)
        assert session.run(copies[y], {copies[x]: 3.0}) == 7.0
        assert lifting.lift_to_graph([y], other, sources=[x], op_map={x: other.get_tensor_by_name("x:0")})[y].graph is other
        with pytest.raises(lifting.UnliftableError):
            lifting.lift_to_graph([y], other, disallowed_placeholders=[x.op])


def test_definitions_of_functions_as_graphs() -> None:
    to_def = stand_for("tensorflow.python.framework.graph_to_function_def").graph_to_function_def
    to_graph_def = stand_for("tensorflow.python.framework.function_def_to_graph").function_def_to_graph_def
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, name="x")
        parts = tf.split(x, 2, name="parts")
        tf.subtract(*parts, name="difference")
    result = graph.get_tensor_by_name("difference:0")
    definition = to_def(graph, graph.get_operations(), [x], [result], ["out"])
    assert definition.ret["out"] == "difference:z:0" and [arg.name for arg in definition.signature.output_arg] == ["out"]
    graph_def, names = to_graph_def(definition, [[4]])
    assert names["parts:output:1"] == "parts:1" and names["x"] == "x:0"
    assert [node.op for node in graph_def.node][:1] == ["Placeholder"]


def test_ops_by_name_on_values() -> None:
    execute = stand_for("tensorflow.python.eager.execute")
    with eager_mode():
        one = [tf.constant([[3.0]]), tf.constant([[5.0]])]
        attrs = ("transpose_a", False, "transpose_b", False, "T", tf.float32.as_datatype_enum)
        assert execute.execute(b"MatMul", 1, one, attrs, None)[0].numpy() == [[15.0]]
        with pytest.raises(tf.errors.NotFoundError):
            execute.execute(b"NoSuchOp", 1, [], (), None)
        for attrs, told in ((("axis", 3), "'axis' does not exist"), (("T",), "even length")):
            with pytest.raises(tf.errors.InvalidArgumentError, match=told):
                execute.execute(b"Neg", 1, [tf.constant(1.0)], attrs, None)
        number, tensors = execute.args_to_matching_eager([1, tf.constant(2.0)], None)
        assert number == 1 and tensors[0].dtype == tf.float32


def test_functions_that_are_cancelled() -> None:
    manager = stand_for("tensorflow.python.eager.cancellation").CancellationManager()
    function = manager.get_cancelable_function(lambda x: x + 1)
    assert function(1) == 2 and not manager.is_cancelled
    manager.start_cancel()
    with pytest.raises(tf.errors.CancelledError):
        function(1)


def test_a_function_whose_variables_are_constants():
    convert = module("framework.convert_to_constants").convert_variables_to_constants_v2
    with eager_mode():
        v = tf.Variable(2.0)

        @tf.function
        def scaled(x):
            return {"r": v * x + v}

        function = scaled.get_concrete_function(tf.TensorSpec([2], tf.float32))
        frozen = convert(function)
        v.assign(100.0)
        assert frozen(tf.constant([1.0, 2.0]))["r"].numpy().tolist() == [4.0, 6.0]
        assert not {"ReadVariableOp", "VarHandleOp"} & {node.op for node in frozen.graph.as_graph_def().node}

        @tf.function
        def chosen(x):
            return tf.cond(x > 0.0, lambda: v, lambda: x)

        with pytest.raises(NotImplementedError, match="takes a variable"):
            convert(chosen.get_concrete_function(tf.TensorSpec([], tf.float32)))


def test_calls_become_bodies_where_variables_become_constants():
    convert = module("framework.convert_to_constants").convert_variables_to_constants_v2
    with eager_mode():
        v = tf.Variable(2.0)
        inner = tf.function(lambda x, y: (v * x, tf.exp(y)))

        @tf.function
        def outer(x):
            scaled, _ = inner(x + 1.0, x)
            return tf.identity(inner(scaled, x)[0], name="last")

        frozen = convert(outer.get_concrete_function(tf.TensorSpec([2], tf.float32)))
        v.assign(100.0)
        assert frozen(tf.constant([1.0, 2.0])).numpy().tolist() == [8.0, 12.0]
        nodes = {node.name: node.op for node in frozen.graph.as_graph_def().node}
        assert not {"StatefulPartitionedCall", "PartitionedCall", "ReadVariableOp", "VarHandleOp"} & set(nodes.values())
        assert nodes["StatefulPartitionedCall/mul"] == "Mul" and nodes["StatefulPartitionedCall_1/mul"] == "Mul"


defun = module("framework.function")


def library_of_a_function_with_a_gradient():
    @defun.Defun(tf.float32, tf.float32, func_name="ten_times")
    def gradient(x, dy):
        return 10.0 * dy

    @defun.Defun(tf.float32, func_name="squared", grad_func=gradient)
    def squared(x):
        return x * x

    with tf.Graph().as_default() as graph:
        squared(3.0)
    return graph.as_graph_def().library


def test_functions_of_a_library():
    library = library_of_a_function_with_a_gradient()
    made = {function.name: function for function in defun.from_library(library)}
    assert list(made) == ["ten_times", "squared"] and defun.from_library(type(library)()) == []
    squared = made["squared"]
    assert squared.grad_func_name == "ten_times" and squared.declared_input_types == (tf.float32,)
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(7.0)
        y = squared(x)
        assert session.run([y, *tf.gradients(y, x)]) == [49.0, 10.0]
    definition = next(one for one in library.function if one.signature.name == "squared")
    assert defun._from_definition(definition).definition == definition == squared.definition
    library.gradient.add(function_name="ten_times", gradient_func="squared")
    with pytest.raises(ValueError, match="FunctionDefLibrary contains cyclic gradient functions!"):
        defun.from_library(library)
    library.gradient[-1].gradient_func = "none"
    with pytest.raises(ValueError, match="FunctionDefLibrary missing 'none' FunctionDef"):
        defun.from_library(library)
