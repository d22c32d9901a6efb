"""Graph, Operation and Tensor: names, elements, errors, what surrounds a new node."""

import threading

import pytest
from tensorboard.compat.proto import function_pb2

import tfexp as tf
from tfexp.core.errors import OperatorNotAllowedInGraphError
from tfexp.graph.scopes import graph_of


@pytest.fixture
def graph():
    with tf.Graph().as_default() as g:
        yield g


def test_graphs_are_apart_and_know_their_own(graph):
    x = tf.constant(1.0)
    other = tf.Graph()
    with other.as_default():
        y = tf.constant(2.0)
        assert tf.get_default_graph() is other
    assert x.graph is graph
    assert y.graph is other
    with pytest.raises(ValueError, match="must be from the same graph"):
        tf.add(x, y)
    assert graph_of([], other) is other
    assert graph_of([y], other) is other
    with pytest.raises(ValueError, match=r'Tensor\("Const:0", .* is not from the passed-in graph'):
        graph_of([y, x], other)


def test_reset_is_refused_inside_a_graph_context(graph):
    with pytest.raises(AssertionError, match="nested graphs"):
        tf.reset_default_graph()


def test_names_are_unique_without_regard_to_case(graph):
    names = [tf.constant(1.0, name=n).op.name for n in ("foo", "foo", "Foo", "foo_1", "foo")]
    assert names == ["foo", "foo_1", "Foo_2", "foo_1_1", "foo_3"]
    assert graph.unique_name("foo", mark_as_used=False) == graph.unique_name("foo")


@pytest.mark.parametrize("name", ["-x", "a b", "é", "_x"])
def test_bad_names_are_refused(graph, name):
    with pytest.raises(ValueError, match="not a valid"):
        tf.constant(1.0, name=name)


def test_name_scopes_nest_reenter_and_leave(graph):
    with tf.name_scope("a") as a:
        assert a == "a/"
        with tf.name_scope("b") as b:
            assert b == "a/b/"
            assert tf.constant(1.0).name == "a/b/Const:0"
        with tf.name_scope(""):
            assert tf.constant(1.0).name == "Const:0"
        with tf.name_scope(b):
            assert tf.constant(1.0).name == "a/b/Const_1:0"
    with tf.name_scope("a") as again:
        assert again == "a_1/"
    with tf.name_scope(None, "given", [tf.constant(1.0)]) as scope:
        assert scope == "given/"


def test_names_may_be_bytes(graph):
    with tf.name_scope(b"a", "b", [tf.constant(1)]):
        names = [tf.add(1, 2, name=b"n").name, tf.Variable(1.0, name=b"v").name, tf.constant(1, name=b"c/").name]
    assert names == ["a/n:0", "a/v:0", "c:0"]


def test_elements_by_name(graph):
    x = tf.constant(1.0, name="x")
    assert graph.get_tensor_by_name("x:0") is x
    assert graph.get_operation_by_name("x") is x.op
    assert graph.as_graph_element("x:0") is x
    assert graph.as_graph_element(x.op) is x.op
    assert repr(graph.get_operations()) == "[<tf.Operation 'x' type=Const>]"


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda g: g.get_tensor_by_name("x"), ValueError, "refers to an Operation, not a Tensor"),
        (lambda g: g.get_tensor_by_name("y:0"), KeyError, "The operation, 'y', does not exist in the graph"),
        (lambda g: g.get_tensor_by_name("x:1"), KeyError, "exists but only has 1 outputs"),
        (lambda g: g.get_operation_by_name("x:0"), ValueError, "appears to refer to a Tensor, not a Operation"),
        (lambda g: g.get_operation_by_name("y"), KeyError, "refers to an Operation not in the graph"),
        (lambda g: g.as_graph_element("a:b:c"), ValueError, "not a valid one"),
        (lambda g: g.as_graph_element(1.5), TypeError, "Can not convert a float into a Tensor or Operation"),
        (lambda g: g.as_graph_element("x", False, False), ValueError, "can't both be False"),
    ],
)
def test_elements_that_are_not_there(graph, call, error, text):
    tf.constant(1.0, name="x")
    with pytest.raises(error, match=text):
        call(graph)


def test_a_finalized_graph_does_not_grow(graph):
    graph.finalize()
    with pytest.raises(RuntimeError, match="finalized"):
        tf.constant(1.0)


def test_devices_merge_from_the_inside(graph):
    with tf.device("/job:ps/task:0"), tf.device("/cpu:0"):
        with tf.device("/task:1"):
            assert tf.constant(1.0).device == "/job:ps/task:1/device:CPU:0"
        with tf.device(None):
            assert tf.constant(1.0).device == ""
        with tf.device(lambda op: f"/job:{op.type.lower()}"):  # the outer devices fill what is open
            assert tf.constant(1.0).device == "/job:const/task:0/device:CPU:0"
    assert tf.constant(1.0).device == ""


def test_control_dependencies_are_not_repeated_through_inputs(graph):
    a, b = tf.constant(1.0, name="a"), tf.constant(2.0, name="b")
    with tf.control_dependencies([b, a]):
        c = tf.constant(3.0, name="c")
        d = tf.identity(c)
        with tf.control_dependencies(None):
            e = tf.constant(5.0)
    assert list(c.op.node_def.input) == ["^a", "^b"]
    assert d.op.control_inputs == []
    assert e.op.control_inputs == []


def test_colocation_is_written_and_outranks_devices(graph):
    with tf.device("/gpu:1"):
        x = tf.constant(1.0, name="x")
    with tf.device("/cpu:0"), tf.colocate_with(x):
        y = tf.constant(2.0)
    assert y.op.get_attr("_class") == [b"loc:@x"]
    assert y.device == "/device:GPU:1"
    assert x.op.colocation_groups() == [b"loc:@x"]


def test_collections(graph):
    class Item:
        def __init__(self, name):
            self.name = name

    a, b = Item("scope/a"), Item("other/b")
    tf.add_to_collections(["one", "two"], a)
    tf.add_to_collection("one", b)
    assert tf.get_collection("one") == [a, b]
    assert tf.get_collection("one", scope="scope") == [a]
    assert tf.get_collection("none") == []
    tf.get_collection_ref("two").append(b)
    assert tf.get_collection("two") == [a, b]
    graph.clear_collection("one")
    assert sorted(graph.get_all_collection_keys()) == ["two"]


def test_tensors_are_no_python_values(graph):
    x = tf.placeholder(tf.float32, [2, None], name="x")
    assert str(x) == 'Tensor("x:0", shape=(2, ?), dtype=float32)'
    assert repr(x) == "<tf.Tensor 'x:0' shape=(2, ?) dtype=float32>"
    with pytest.raises(OperatorNotAllowedInGraphError, match="as a Python `bool` is not allowed in Graph execution"):
        bool(x)
    with pytest.raises(OperatorNotAllowedInGraphError, match=r"Use Eager execution .* in a graph use tf\.map_fn"):
        iter(x)
    with pytest.raises(TypeError, match="len is not well defined"):
        len(x)


def test_set_shape_merges(graph):
    x = tf.placeholder(tf.float32, [None, 3])
    x.set_shape([7, None])
    assert x.get_shape().as_list() == [7, 3]
    with pytest.raises(ValueError, match="Dimension 0 in both shapes must be equal, but are 7 and 5"):
        x.set_shape([5, 3])


def test_errors_name_the_node_and_the_shapes(graph):
    x, y = tf.zeros([2, 3]), tf.zeros([2, 3])
    with pytest.raises(ValueError, match=r"are 3 and 2 for 'product' \(op: 'MatMul'\) with input shapes: \[2,3\], \[2,3\]"):
        tf.matmul(x, y, name="product")
    assert "product" not in [op.name for op in graph.get_operations()]
    assert graph.get_operations()[0].outputs[0].consumers() == []


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda x: tf.add(x, tf.constant(1)), "Input 'y' of 'AddV2' Op has type int32 that does not match type float32"),
        (lambda x: tf.logical_and(x, x), "Expected bool|does not match expected type of bool"),
    ],
)
def test_type_errors(graph, call, text):
    with pytest.raises(TypeError, match=text):
        call(tf.zeros([2]))


def test_a_graph_def_has_the_nodes_in_order_and_can_add_shapes(graph):
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    with tf.control_dependencies([x]):
        tf.unstack(x, axis=1, name="u")
    definition = graph.as_graph_def()
    assert [n.name for n in definition.node] == ["x", "u"]
    assert list(definition.node[1].input) == ["x"]
    shapes = graph.as_graph_def(add_shapes=True).node[1].attr["_output_shapes"].list.shape
    assert len(shapes) == 3
    assert graph.as_graph_def(from_version=1).node[0].name == "u"
    assert definition.versions.producer == 134


def test_an_operation_prints_its_node(graph):
    x = tf.constant([[1.0]], name="x")
    text = str(tf.matmul(x, x, name="product").op)
    assert text.startswith('name: "product"\nop: "MatMul"\ninput: "x"\ninput: "x"\nattr {\n  key: "T"')


def test_an_operation_knows_where_it_was_made(graph):
    op = tf.constant(1.0).op
    assert op.origin.rpartition(":")[0] == __file__
    file, line, function, source = op.traceback[-1]
    assert f"{file}:{line}" == op.origin and function == "test_an_operation_knows_where_it_was_made"
    assert source == "op = tf.constant(1.0).op"
    assert op.traceback_with_start_lines[-1] == (*op.traceback[-1], line - 1)
    assert not any("tfexp/graph" in frame[0] for frame in op.traceback)
    assert op.values() == tuple(op.outputs)


def test_lists_of_dimensions_are_shapes():
    """`tf.reshape(x, [-1, x.shape[1] * x.shape[2]])`, as programs for TensorFlow 1 have it."""
    x = tf.placeholder(tf.float32, [None, 3, 5])
    flat = tf.reshape(x, [-1, x.shape[1] * x.shape[2]])
    assert flat.shape.as_list() == [None, 15] and flat.op.inputs[1].dtype == tf.int32
    assert tf.fill([tf.Dimension(2), 3], 1.0).shape.as_list() == [2, 3]
    assert tf.pad(x, [[0, 0], [tf.Dimension(1), 0], [0, 0]]).shape.as_list() == [None, 4, 5]
    with pytest.raises(TypeError, match="Failed to convert object of type"):
        tf.convert_to_tensor([tf.Dimension(2), 3])


def test_float_attributes_are_those_that_a_node_def_holds(graph):
    """So that a graph computes the same after it was written and read."""
    x = tf.constant([-1.0], tf.float64)
    y = tf.nn.leaky_relu(x, 0.3, name="y")
    assert y.op.get_attr("alpha") == y.op.node_def.attr["alpha"].f == 0.30000001192092896
    assert tf.raw_ops.LeakyRelu(features=x, alpha=1e300).op.get_attr("alpha") == float("inf")
    (again,) = tf.import_graph_def(graph.as_graph_def(), return_elements=["y:0"], name="read")
    with tf.Session() as session:
        own, read = session.run([y, again])
    assert own == read == -0.30000001192092896


def test_nodes_by_type_and_protos(graph):
    """`Graph.create_op` with TensorFlow's arguments: types are told by the inputs, attributes are protos."""
    x = tf.constant([[2.0]], name="x")
    node = graph.create_op("MatMul", [x, x], [tf.float32], None, name="product")
    assert node.outputs[0].dtype == tf.float32 and node.get_attr("transpose_a") is False
    packed = graph.create_op("Pack", [x, x], name="packed", attrs={"axis": tf.AttrValue(i=1)})
    assert packed.get_attr("N") == 2 and packed.outputs[0].shape == [1, 2, 1]
    with tf.Session() as session:
        assert session.run(node.outputs[0]) == [[4.0]]
    with pytest.raises(tf.errors.NotFoundError, match="not registered 'NoSuchOp'"):
        graph.create_op("NoSuchOp", [])
    with pytest.raises(ValueError, match="NodeDef missing attr 'dtype' from Op<name=Placeholder"):
        graph.create_op("Placeholder", [])
    with pytest.raises(ValueError, match="takes 2 inputs, not 1"):
        graph.create_op("MatMul", [x])
    with pytest.raises(TypeError, match="Input #1 is not a tensor"):
        graph.create_op("MatMul", [x, 3])


def test_gradient_overrides_are_strings():
    with (
        tf.Graph().as_default() as graph,
        pytest.raises(TypeError, match="must be a dictionary mapping strings to strings"),
        graph.gradient_override_map({"Foo": 3}),
    ):
        pass


def test_attributes_are_written_out_only_where_they_are_wrong():
    class Long(int):
        def __repr__(self):
            raise AssertionError("nobody reads this")

    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [6])
        assert len(tf.raw_ops.Unpack(value=x, num=Long(6))) == 6


def test_libraries_ask_where_a_node_would_go(graph):
    class Capture:  # as Keras does
        device = None

        def _set_device(self, device):
            self.device = device

    def found():
        graph._apply_device_functions(capture := Capture())
        return capture.device

    assert found() is None
    with tf.device("/job:ps"), tf.device("/cpu:1"):
        assert found() == "/job:ps/device:CPU:1"
        with tf.device(lambda op: "/task:3"):
            assert found() == "/job:ps/task:3/device:CPU:1"


def test_control_dependencies_are_not_repeated_by_an_inner_block(graph):
    a, b = tf.constant(1, name="a"), tf.constant(2, name="b")
    with tf.control_dependencies([a]):
        c = tf.constant(3, name="c")
        with tf.control_dependencies([b, a]):
            d, e = tf.identity(c), tf.constant(4)
    assert d.op.control_inputs == [b.op]
    assert e.op.control_inputs == [a.op, b.op]


def test_references_stand_for_tensors_and_variables() -> None:
    with tf.Graph().as_default():
        tensor, variable = tf.constant(1), tf.Variable(1.0)
        assert len({one.experimental_ref() for one in (tensor, variable, tensor, variable)}) == 2
        assert variable.experimental_ref().deref() is variable
        assert tensor.experimental_ref() != tf.constant(1).experimental_ref()


def test_slices_know_what_takes_their_values() -> None:
    with tf.Graph().as_default():
        slices = tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]))
        assert slices.consumers() == []
        assert [(-slices).op] == slices.consumers()


def test_conversions_are_registered_for_types_alone() -> None:
    with pytest.raises(TypeError, match="must be a type or a tuple of types"):
        tf.register_tensor_conversion_function(3, lambda value, **_: tf.constant(value))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="Cannot register conversions for Python numeric types"):
        tf.register_tensor_conversion_function((str, bool), lambda value, **_: tf.constant(value))


def test_each_thread_has_a_default_graph_of_its_own():
    graph = tf.get_default_graph()
    found = []

    def work():
        found.append(tf.get_default_graph())
        assert tf.get_default_graph() is found[-1]
        tf.reset_default_graph()
        found.append(tf.get_default_graph())

    with tf.Graph().as_default() as inner:
        for _ in range(2):
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
    assert len({graph, inner, *found}) == 6
    assert tf.get_default_graph() is graph


def test_a_function_that_is_forgotten_while_the_graph_is_written_down() -> None:
    """Garbage collection finds that nobody can call it any more."""

    class Function:
        @property
        def definition(self) -> function_pb2.FunctionDef:
            graph._functions.pop("forgotten", None)
            return function_pb2.FunctionDef()

    graph = tf.Graph()
    graph._functions.update(kept=Function(), forgotten=Function())  # type: ignore[arg-type]
    assert len(graph.as_graph_def().library.function) == 2


def test_lists_of_tensors_of_several_types_are_cast_where_a_type_is_asked_for(graph):
    mixed = [tf.constant(1), tf.constant(3.0, tf.float64), tf.Variable(4.0)]
    assert tf.convert_to_tensor(mixed, tf.float32).dtype == tf.float32
    for kinds in (mixed[:2], mixed[1:], [mixed[:2], mixed[:2]]):
        with pytest.raises(TypeError, match="Cannot convert a list containing a tensor of dtype"):
            tf.convert_to_tensor(kinds)
