"""Calls of `tf.function`s in graphs: nodes, traces, structures, signatures, effects."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import tfexp as tf


def library(graph: Any = None) -> dict[str, list[str]]:
    """The nodes' types of each function of the library, by the Python function's name."""
    graph_def = (graph or tf.get_default_graph()).as_graph_def()
    return {f.signature.name: [node.op for node in f.node_def] for f in graph_def.library.function}


def run(fetches: Any, feed: Any = None) -> Any:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feed)


@pytest.fixture(autouse=True)
def _fresh_graph() -> Any:
    with tf.Graph().as_default():
        yield


def test_a_call_is_a_node_that_calls_a_function_of_the_library() -> None:
    @tf.function
    def both(x: Any, y: Any) -> Any:
        return x + y, {"doubled": x * 2.0}

    total, named = both(tf.constant(1.0), tf.constant([2.0, 3.0]))
    node = total.op
    assert (node.type, total.shape.as_list(), named["doubled"].op) == ("PartitionedCall", [2], node)
    (definition,) = tf.get_default_graph().as_graph_def().library.function
    assert definition.signature.name == node.attrs["f"].name and definition.signature.name.startswith("__inference_both_")
    assert [arg.name for arg in definition.signature.input_arg] == ["x", "y"]
    assert [arg.name for arg in definition.signature.output_arg] == ["identity", "identity_1"]
    assert [n.op for n in definition.node_def] == ["AddV2", "Const", "Mul", "Identity", "Identity"]
    np.testing.assert_array_equal(run(total), [3, 4])
    assert run(named) == {"doubled": 2.0}


def test_there_is_one_trace_for_each_kind_of_arguments() -> None:
    traced = []

    @tf.function
    def scaled(x: Any, n: int = 2, negated: bool = False) -> Any:
        traced.append((x.shape.as_list(), n, negated))
        return -x * n if negated else x * n

    for call in (
        lambda: scaled(tf.constant(1.0)),
        lambda: scaled(x=tf.constant(2.0), n=2),
        lambda: scaled(np.array(3, np.float32)),
        lambda: scaled(tf.constant(1.0), 3),
        lambda: scaled(tf.constant(1.0), negated=True),
        lambda: scaled(tf.zeros([2])),
        lambda: scaled(tf.ones([2]), 2, False),
    ):
        call()
    assert traced == [([], 2, False), ([], 3, False), ([], 2, True), ([2], 2, False)]


def test_numbers_of_different_types_and_values_are_different_arguments() -> None:
    same = tf.function(lambda x: x)
    assert run([same(1), same(1.0), same(True), same(2)]) == [1, 1.0, True, 2]
    # NumPy's numbers are numbers, which may say how often something is done; its arrays are tensors.
    assert run(tf.function(lambda n: [n] * n)(np.int64(3))) == [3, 3, 3]


def test_each_graph_has_traces_of_its_own() -> None:
    doubled = tf.function(lambda x: x * 2)
    for value in (1.0, 2.0):
        with tf.Graph().as_default() as graph:
            assert run(doubled(tf.constant(value))) == 2 * value
            assert len(library(graph)) == 1


def test_what_a_function_uses_of_the_graph_around_it_is_handed_over() -> None:
    outside = tf.placeholder(tf.float32, [])
    concrete = tf.function(lambda x: x + outside).get_concrete_function(tf.TensorSpec([], tf.float32))
    assert concrete.captured_inputs == [outside] and len(concrete.inputs) == 2
    assert run(concrete(tf.constant(2.0)), {outside: 3.0}) == 5


def test_reference_variables_are_used_by_value_and_resource_variables_by_handle() -> None:
    reference, resource = tf.Variable(2.0), tf.Variable(3.0, use_resource=True)
    concrete = tf.function(lambda: reference * resource).get_concrete_function()
    assert {t.dtype for t in concrete.captured_inputs} == {tf.float32, tf.resource}
    assert concrete.variables == (resource,)
    assert run(concrete()) == 6


def test_effects_happen_in_the_order_of_the_program(capfd: Any) -> None:
    v = tf.Variable(1.0, use_resource=True)

    @tf.function
    def update(x: Any) -> Any:
        before = v.read_value()
        tf.print("first", output_stream="stdout" and __import__("sys").stdout)
        v.assign_add(x)
        doubled = v * 2
        v.assign(doubled)
        tf.print("second", output_stream=__import__("sys").stdout)
        return before, doubled

    before, doubled = update(tf.constant(5.0))
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run([before, doubled]) == [1, 12]
        assert session.run(v.read_value()) == 12
        assert session.run(before) == 12  # all effects, for whatever result
        assert session.run(v.read_value()) == 34
    assert capfd.readouterr().out.split() == ["first", "second"] * 2


def test_a_function_without_results_gives_its_node() -> None:
    v = tf.Variable(1.0, use_resource=True)

    @tf.function
    def add(x: Any) -> None:
        v.assign_add(x)

    @tf.function
    def add_twice(x: Any) -> None:
        add(x)
        add(x)

    node = add_twice(tf.constant(2.0))
    with tf.Session() as session:
        session.run(v.initializer)
        session.run(node)
        assert session.run(v.read_value()) == 5


def test_a_call_waits_for_what_its_function_waits_for_outside() -> None:
    first, second = tf.no_op("first"), tf.no_op("second")

    @tf.function
    def inner() -> Any:
        with tf.control_dependencies([first, tf.constant(1.0, name="inside")]):
            return tf.constant(2.0)

    @tf.function
    def outer() -> None:
        inner()
        tf.group(second)

    assert inner().op.control_inputs == [first]
    assert outer().control_inputs == [first, second]


def test_a_function_initializes_variables_of_the_graph_around_it() -> None:
    weights = tf.Variable([2.0, 3.0], use_resource=True)
    initialize = tf.function(lambda: tf.variables_initializer([weights]) and None)
    with tf.Session() as session:
        session.run(initialize())
        assert session.run(weights).tolist() == [2.0, 3.0]


def test_queues_keep_the_order_of_the_program() -> None:
    queue = tf.queue.FIFOQueue(5, tf.int32)

    @tf.function
    def through(x: Any) -> Any:
        queue.enqueue(x)
        queue.enqueue(x + 1)
        return queue.dequeue(), queue.dequeue()

    assert run(through(tf.constant(3))) == (3, 4)


def test_methods_have_traces_for_each_object() -> None:
    class Scale:
        def __init__(self, factor: float):
            self.factor = factor

        @tf.function
        def of(self, x: Any) -> Any:
            return x * self.factor

        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def of_many(self, x: Any) -> Any:
            return x * self.factor

    two, three = Scale(2.0), Scale(3.0)
    assert two.of == two.of and two.of != three.of
    assert run([two.of(tf.constant(5.0)), three.of(tf.constant(5.0)), Scale(4.0).of(tf.constant(5.0))]) == [10, 15, 20]

    np.testing.assert_array_equal(run(two.of_many([1.0, 2.0])), [2, 4])
    assert two.of_many.get_concrete_function().outputs[0].shape.as_list() == [None]


def test_a_method_that_is_a_function_becomes_one_again() -> None:
    class Model:
        @tf.function
        def doubled(self, x: Any) -> Any:
            return x * 2

    model = Model()
    assert run(tf.function(model.doubled)(tf.constant(3))) == 6


def test_functions_call_functions() -> None:
    @tf.function
    def inner(x: Any) -> Any:
        return x + 1

    @tf.function
    def outer(x: Any) -> Any:
        return inner(x) * inner(x + 2)

    y = outer(tf.constant(1.0))
    assert sorted(library().values()) == sorted(
        [["Const", "AddV2", "Identity"], ["PartitionedCall", "Const", "AddV2", "PartitionedCall", "Mul", "Identity"]]
    )
    assert run(y) == 8
    graph = tf.get_default_graph()
    body = graph._get_function(y.op.get_attr("f").name).graph
    (first, _) = (op for op in body.get_operations() if op.type == "PartitionedCall")
    assert body._get_function(first.get_attr("f").name.encode()) is not None and graph._get_function("nothing") is None


def test_results_may_be_composite() -> None:
    @tf.function
    def results(x: Any) -> Any:
        sparse = tf.SparseTensor([[0, 1]], [x], [2, 3])
        rows = tf.IndexedSlices(tf.stack([[x, x]]), tf.constant([1]), tf.constant([3, 2]))
        return sparse, [rows, None]

    sparse, (rows, nothing) = results(tf.constant(7.0))
    assert nothing is None and isinstance(rows, tf.IndexedSlices)
    np.testing.assert_array_equal(run(tf.sparse.to_dense(sparse)), [[0, 7, 0], [0, 0, 0]])
    np.testing.assert_array_equal(run(tf.convert_to_tensor(rows)), [[0, 0], [7, 7], [0, 0]])
    total = tf.function(lambda values: tf.sparse.reduce_sum(values))
    assert run(total(sparse)) == 7


def test_devices_around_a_call_are_those_of_the_nodes() -> None:
    made = []
    where = tf.function(lambda x: made.append(x * 2) or x)
    with tf.device("/cpu:0"):
        where(tf.constant(1.0))
    where(tf.constant(1.0))
    assert [t.device for t in made] == ["/device:CPU:0", ""]


# --- input signatures and concrete functions ---------------------------------------------------------------------------


def test_an_input_signature_makes_one_trace() -> None:
    traced = []

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def plus(x: Any) -> Any:
        traced.append(x.shape.as_list())
        return x + 1

    results = [plus([1.0, 2.0]), plus(tf.zeros([3])), plus.get_concrete_function()(tf.ones([1]))]
    assert traced == [[None]]
    for result, expected in zip(run(results), ([2, 3], [1, 1, 1], [2]), strict=True):
        np.testing.assert_array_equal(result, expected)


def test_an_input_signature_takes_defaults_and_no_more_than_it_has() -> None:
    number = tf.TensorSpec([], tf.float32)
    plus = tf.function(lambda x, y=2.0, z=4.0: x + y + z, input_signature=[number, number])
    assert run([plus(1.0), plus(1.0, y=3.0)]) == [7.0, 8.0]
    whole = tf.function(lambda x, y=2.0, z=4.0: x + y + z, input_signature=[number] * 3)
    assert run(whole(1.0, z=5.0)) == 8.0
    for call, received in ((lambda: plus(1.0, 2.0, 3.0), r"3 argument\(s\)"), (lambda: plus(1.0, z=3.0), "argument z")):
        with pytest.raises(TypeError, match=f"only pass arguments covered by it. Received {received}"):
            call()


def test_an_input_signature_of_sparse_and_ragged_tensors() -> None:
    sparse, ragged = tf.SparseTensorSpec([None, 5], tf.float32), tf.RaggedTensorSpec([None, None, None], tf.int32)

    @tf.function(input_signature=[{"a": sparse, "b": ragged}, tf.TensorSpec([], tf.float32)])
    def both(x: Any, y: Any) -> Any:
        return tf.sparse.to_dense(x["a"]) * y, x["b"] + 1

    with pytest.raises(ValueError, match="Python inputs incompatible with input_signature"):
        both({"a": tf.zeros([2, 5]), "b": tf.ragged.constant([[[1]]])}, 2.0)
    wide = tf.SparseTensor([[1, 6, 0]], [3.0], [2, 7, 1])
    with pytest.raises(ValueError, match="Python inputs incompatible with input_signature"):
        both({"a": wide, "b": tf.ragged.constant([[[1]]])}, 2.0)
    concrete = both.get_concrete_function()
    assert [tensor.shape.as_list() for tensor in concrete.inputs] == [[None, 2], [None], [2], [None], [None], [None], []]
    given = tf.SparseTensor([[1, 3]], [3.0], [2, 5])
    dense, more = run(both({"a": given, "b": tf.ragged.constant([[[1], [2, 3]], []], dtype=tf.int32)}, 2.0))
    np.testing.assert_array_equal(dense, [[0, 0, 0, 0, 0], [0, 0, 0, 6, 0]])
    assert more.to_list() == [[[2], [3, 4]], []]
    assert (sparse._dtype, sparse._shape.as_list()) == (tf.float32, [None, 5])


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (tf.TensorSpec([1, 1], tf.float32), "Python inputs incompatible with input_signature"),
        (tf.TensorSpec([1], tf.int32), "Python inputs incompatible with input_signature"),
        ("text", "must be convertible to tensors"),
        ([[1.0], [2.0, 3.0]], "must be convertible to tensors"),
    ],
)
def test_what_does_not_fit_the_input_signature_is_refused(value: Any, message: str) -> None:
    plus = tf.function(lambda x: x, input_signature=[tf.TensorSpec([None], tf.float32)])
    given = tf.zeros(value.shape, value.dtype) if isinstance(value, tf.TensorSpec) else value
    with pytest.raises(ValueError, match=message):
        plus(given)


def test_bad_signatures_and_calls_are_refused() -> None:
    def identity(x: Any) -> Any:
        return x

    with pytest.raises(TypeError, match="must be either a tuple or a list"):
        tf.function(identity, input_signature=tf.TensorSpec([], tf.float32))
    with pytest.raises(TypeError, match="possibly nested sequence of TensorSpec"):
        tf.function(identity, input_signature=[1])
    with pytest.raises(TypeError, match="has 2 elements: too many positional arguments"):
        tf.function(identity, input_signature=[tf.TensorSpec([], tf.float32)] * 2)
    with pytest.raises(TypeError, match="is not a callable object"):
        tf.function(3)
    traced = tf.function(identity)
    with pytest.raises(TypeError, match=r"identity\(\): missing a required argument: 'x'"):
        traced()
    with pytest.raises(TypeError, match=r"identity\(\): got an unexpected keyword argument 'y'"):
        traced(1, y=2)
    with pytest.raises(TypeError, match="must be hashable"):
        traced({1, 2})
    with pytest.raises(TypeError, match=r"must return zero or more Tensors.*found return value of type object"):
        tf.function(lambda: object())()


def test_a_concrete_function_names_each_tensor_of_a_list() -> None:
    concrete = tf.function(lambda x, x_1: x[0] + 2 * x[1] + 4 * x_1).get_concrete_function([tf.ones([])] * 2, tf.ones([]))
    assert run(concrete(x=tf.constant(1.0), x_1=tf.constant(2.0), x_1_1=tf.constant(3.0))) == 17.0


def test_a_concrete_function_says_what_it_is() -> None:
    v = tf.Variable(2.0, use_resource=True)

    @tf.function
    def power(x: Any, n: int) -> Any:
        return {"power": (x**n) * v}

    concrete = power.get_concrete_function(tf.TensorSpec([None], tf.float32, name="base"), 3)
    assert concrete.structured_input_signature == ((tf.TensorSpec([None], tf.float32, name="base"), 3), {})
    assert concrete.structured_outputs["power"].graph is concrete.graph
    assert concrete.output_shapes["power"].as_list() == [None] and concrete.output_dtypes == {"power": tf.float32}
    assert concrete.inputs[0].op.name == "base" and concrete.trainable_variables == (v,)
    assert concrete.name == concrete.function_def.signature.name
    for call in (lambda: concrete(tf.constant([2.0])), lambda: concrete(base=tf.constant([2.0]))):
        np.testing.assert_array_equal(run(call())["power"], [16])
    with pytest.raises(TypeError, match=r"argument names \['base'\] but got values for \[\]. Missing: \['base'\]"):
        concrete()
    with pytest.raises(TypeError, match=r"got values for \['other'\]. Missing: \['base'\]"):
        concrete(other=1.0)
    with pytest.raises(ValueError, match="All inputs to `ConcreteFunction`s must be Tensors; on invocation of power"):
        concrete("text")
    with pytest.raises(TypeError, match=r"argument 'base' is a tensor of float32 and shape .*, got one of int32"):
        concrete(tf.constant([1]))
    with pytest.raises(ValueError, match="not compatible with the shape this function was traced with"):
        concrete(tf.constant(1.0))
    with pytest.raises(TypeError, match="unexpected arguments \\['q'\\]"):
        concrete(tf.constant([1.0]), q=1)


# --- variables -------------------------------------------------------------------------------------------------------------


def test_variables_are_made_once_and_outside() -> None:
    kept: list[Any] = []

    @tf.function
    def scaled(x: Any) -> Any:
        if not kept:
            kept.append(tf.Variable(tf.ones([2]) * 3.0, name="made"))
        return kept[0] * x

    first, second = scaled(tf.constant(1.0)), scaled(tf.constant(2.0))
    (v,) = kept
    assert v.graph is tf.get_default_graph() and tf.global_variables() == [v] and first.op.inputs[1] is v.handle
    assert first.op.attrs["f"].name == second.op.attrs["f"].name and len(library()) == 1
    np.testing.assert_array_equal(run([first, second]), [[3, 3], [6, 6]])


def test_get_variable_in_a_function_is_the_graphs() -> None:
    @tf.function
    def scaled(x: Any) -> Any:
        with tf.variable_scope("layer", reuse=tf.AUTO_REUSE):
            return x * tf.get_variable("w", [2], initializer=tf.constant_initializer(4.0))

    y = scaled(tf.constant([1.0, 2.0]))
    assert [v.name for v in tf.global_variables()] == ["layer/w:0"]
    np.testing.assert_array_equal(run(y), [4, 8])


def test_a_variable_in_every_call_is_refused() -> None:
    makes = tf.function(lambda x: tf.Variable(1.0) * x)
    with pytest.raises(ValueError, match="tried to create variables on non-first call"):
        makes(tf.constant(1.0))


def test_an_initial_value_may_depend_on_what_is_known_outside() -> None:
    outside, kept = tf.constant(3.0), []

    @tf.function
    def scaled(x: Any) -> Any:
        if not kept:
            kept.append(tf.Variable(outside * x + 1.0))
        return kept[0] * 2

    assert run(scaled(tf.constant(4.0))) == 26
    kept.clear()
    with pytest.raises(ValueError, match="depends on the argument 'x'"):
        tf.function(scaled.python_function).get_concrete_function(tf.TensorSpec([], tf.float32))


def test_relaxed_shapes_share_a_trace_for_what_they_have_in_common() -> None:
    traced: list[Any] = []

    @tf.function(experimental_relax_shapes=True)
    def total(x: Any, n: int = 1) -> Any:
        traced.append(x.shape.as_list())
        return tf.reduce_sum(x) * n

    calls = [total(tf.ones(shape)) for shape in ([2, 3], [4, 3], [5, 3], [2, 3], [7, 1], [1, 1], [2])]
    assert traced == [[2, 3], [4, 3], [None, 3], [None, None], [2]]  # as in TensorFlow 1.15, the first is only for itself
    assert run(calls) == [6, 12, 15, 6, 7, 1, 2]


def test_a_function_says_whether_it_is_compiled() -> None:
    @tf.function(experimental_compile=True)
    def double(x: Any) -> Any:
        return x * 2.0

    assert run(double(tf.constant(3.0))) == 6.0
    definition = tf.get_default_graph().as_graph_def().library.function[0]
    assert definition.attr["_XlaCompile"].b
    assert next(node for node in definition.node_def if node.op == "Mul").attr["_XlaCompile"].b


def test_a_call_waits_for_what_its_body_is_to_wait_for():
    v = tf.Variable(1.0)
    op = v.assign_add(1.0)

    @tf.function
    def inner():
        with tf.control_dependencies([op]):
            return tf.constant(1.0)

    outer = tf.function(lambda: inner() + 1.0)
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(inner()) == 1.0 and session.run(v) == 2.0
        assert session.run(outer()) == 2.0 and session.run(v) == 3.0


@pytest.mark.usefixtures("only_new_garbage")
def test_objects_go_though_their_methods_were_traced():
    class Counted:
        @tf.function
        def plus_one(self, x):
            return x + 1

    counted = Counted()
    counted.plus_one(tf.constant(1))
    gone = weakref.ref(counted)
    del counted
    gc.collect()
    assert gone() is None


def test_calls_say_what_is_to_run_them():
    function = tf.function(lambda x: x + 1.0)
    plain = function(1.0)
    with tf.experimental.function_executor_type("SINGLE_THREADED_EXECUTOR"):
        single = function(1.0)
        with tf.experimental.function_executor_type(None):
            again = function(1.0)
    calls = [one.op for one in (plain, single, again)]
    assert [call.get_attr("executor_type") for call in calls] == [b"", b"SINGLE_THREADED_EXECUTOR", b""]
    with tf.Session() as session:
        assert session.run([plain, single]) == [2.0, 2.0]
    with pytest.raises(TypeError, match="Expected string for argument 'executor_type' not 3"):
        tf.experimental.function_executor_type(3).__enter__()
