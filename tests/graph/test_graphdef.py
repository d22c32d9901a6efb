"""GraphDef in, cut and frozen."""

import pytest
from google.protobuf import text_format
from tensorboard.compat.proto import graph_pb2

import tfexp as tf


def graph_def_of(build):
    with tf.Graph().as_default() as graph:
        build()
        return graph.as_graph_def()


FLOAT = 'attr { key: "T" value { type: DT_FLOAT } }'


def _count(attr, value):
    return f' attr {{ key: "{attr}" value {{ i: {value} }} }}'


def linear():
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    w = tf.constant([[1.0], [2.0], [3.0]], name="w")
    tf.matmul(x, w, name="y")


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def test_a_graph_comes_back_as_it_was(graph):
    definition = graph_def_of(linear)
    assert tf.import_graph_def(definition, name="") is None
    assert graph.as_graph_def() == definition
    with tf.Session() as session:
        assert session.run("y:0", {"x:0": [[1.0, 1.0, 1.0]]}).tolist() == [[6.0]]


def test_nodes_go_below_a_scope_of_their_own(graph):
    definition = graph_def_of(linear)
    y, op = tf.import_graph_def(definition, return_elements=["y:0", "w"])
    assert (y.name, op.name) == ("import/y:0", "import/w")
    assert y.get_shape().as_list() == [None, 1]
    (again,) = tf.import_graph_def(definition, return_elements=["y"])
    assert again.name == "import_1/y"


def test_inputs_can_be_replaced(graph):
    with tf.Session() as session:
        fed = tf.constant([[2.0, 2.0, 2.0]])
        (y,) = tf.import_graph_def(graph_def_of(linear), {"x": fed}, ["y:0"], name="copy")
        assert session.run(y).tolist() == [[12.0]]
    assert y.op.inputs[0] is fed


def test_one_graph_into_another_twice_keeps_colocation_within_each():
    def build():
        v = tf.Variable([1.0], name="v")
        tf.assign_add(v, [1.0], name="add")

    definition = graph_def_of(build)
    for prefix in ("a", "b"):
        tf.import_graph_def(definition, name=prefix)
    graph = tf.get_default_graph()
    assert graph.get_operation_by_name("b/add").get_attr("_class") == [b"loc:@b/v"]


def test_nodes_may_come_in_any_order():
    definition = graph_def_of(linear)
    shuffled = graph_pb2.GraphDef(node=reversed(definition.node))
    (y,) = tf.import_graph_def(shuffled, return_elements=["y:0"])
    with tf.Session() as session:
        assert session.run(y, {"import/x:0": [[1.0, 0.0, 0.0]]}).tolist() == [[1.0]]


def test_defaults_are_filled_in(graph):
    definition = graph_def_of(linear)
    del definition.node[2].attr["transpose_a"]
    (y,) = tf.import_graph_def(definition, return_elements=["y"])
    assert y.get_attr("transpose_a") is False


def test_an_op_that_is_not_there(graph):
    definition = text_format.Parse('node { name: "a" op: "Nope" } node { name: "b" op: "Nope" }', tf.GraphDef())
    with pytest.raises(tf.errors.NotFoundError, match=r"Op type not registered 'Nope': .*'a', 'b'"):
        tf.import_graph_def(definition)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('node { name: "a" op: "NoOp" input: "^gone" }', "Node 'a': Unknown input node '\\^gone'"),
        ('node { name: "" op: "NoOp" }', "Node '': Node name contains invalid characters"),
        (
            f'node {{ name: "x" op: "NoOp" }} node {{ name: "y" op: "Placeholder" {FLOAT.replace("T", "dtype", 1)} }}'
            f'node {{ name: "a" op: "Identity" {FLOAT} input: "^x" input: "y" }}',
            "Control dependencies must come after regular dependencies",
        ),
        ("versions { bad_consumers: 134 }", "GraphDef disallows consumer version 134"),
        ('node { name: "a" op: "NoOp" } node { name: "a" op: "NoOp" }', "Node 'a' is not unique: more than one node is"),
        ('node { name: "a" op: "NoOp" attr { key: "_class" value { list { s: "loc:@z" } } } }', "with unknown node 'z'"),
        ("versions { min_consumer: 9999 }", "min consumer version 9999 above current version 134 for TensorFlow"),
        ("versions { producer: -1 }", "producer version -1 below min producer 0 supported by TensorFlow"),
        ('node { name: "a" op: "NoOp" input: "^b" } node { name: "b" op: "NoOp" input: "^a" }', "a cycle goes through"),
        ('node { name: "a" op: "Identity" }', "missing attr 'T'"),
        (
            'node { name: "a" op: "Identity" attr { key: "T" value { type: DT_FLOAT } } }',
            "NodeDef expected inputs 'float' do not match 0 inputs specified",
        ),
        ('node { name: "a" op: "NoOp" attr { key: "what" value { i: 1 } } }', "mentions attr 'what' not in Op"),
        ('node { name: "a" op: "Placeholder" attr { key: "dtype" value { i: 3 } } }', "with type 'int' when 'type'"),
        (f'node {{ name: "a" op: "AddN" {FLOAT} {_count("N", 1 << 60)} }}', "attr 'N' asks for 1152921504606846976 inputs"),
        (f'node {{ name: "a" op: "AddN" {FLOAT} {_count("N", 0)} }}', "attr 'N' of 0 must be at least minimum 1"),
        (
            f'node {{ name: "x" op: "Placeholder" {FLOAT.replace("T", "dtype", 1)} }}'
            f'node {{ name: "a" op: "Unpack" input: "x" {FLOAT} {_count("num", 1 << 40)} }}',
            "attr 'num' asks for 1099511627776 outputs, but a node has",
        ),
        (
            'node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_STRING } } }'
            'node { name: "a" op: "Abs" input: "x" attr { key: "T" value { type: DT_STRING } } }',
            "attr 'T' of string is not in the list of allowed values",
        ),
        (
            'node { name: "a" op: "Placeholder" attr { key: "dtype" value { type: DT_INT32_REF } } }',
            "must not have reference type value of int32_ref for attr 'dtype'",
        ),
        ('node { name: "a" op: "NoOp" } node { name: "m" op: "Merge" ' + FLOAT + _count("N", 0) + " }", "minimum 1"),
    ],
)
def test_what_cannot_be_imported_leaves_the_graph_as_it_was(graph, text, message):
    definition = text_format.Parse(text, graph_pb2.GraphDef())
    with pytest.raises(ValueError, match=message):
        tf.import_graph_def(definition, name="")
    assert graph.get_operations() == []


def test_types_of_connected_nodes_must_agree(graph):
    definition = graph_def_of(linear)
    definition.node[2].attr["T"].type = 2
    wanted = "Input 0 of node import/y was passed float from import/x:0 incompatible with expected double"
    with pytest.raises(ValueError, match=wanted):
        tf.import_graph_def(definition)


def test_names_may_be_bytes():
    with tf.Graph().as_default() as graph:
        tf.identity(tf.placeholder(tf.int32, name="a"), name="b")
    with tf.Graph().as_default():
        found = tf.import_graph_def(graph.as_graph_def(), {b"a:0": tf.constant(3, name="three")}, [b"b:0"])
        assert [found[0].name, found[0].op.inputs[0].name] == ["import/b:0", "three:0"]


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"graph_def": "text"}, TypeError, "must be a GraphDef proto"),
        ({"input_map": ["x"]}, TypeError, "must be a dictionary mapping strings"),
        ({"input_map": {"gone:0": 1.0}}, ValueError, r"Attempted to map inputs .*\[gone:0\]"),
        ({"return_elements": ["gone:0"]}, ValueError, "Requested return tensor 'gone:0' not found in graph def"),
        ({"return_elements": ["gone"]}, ValueError, "Requested return node 'gone' not found in graph def"),
        ({"return_elements": ["^gone"]}, ValueError, "Requested return node '\\^gone' not found in graph def"),
        ({"return_elements": ["gone:0:0"]}, ValueError, "Cannot convert 'gone:0:0' to a tensor name"),
        ({"return_elements": ["gone:x"]}, ValueError, "Cannot convert 'gone:x' to a tensor name"),
        ({"return_elements": [3]}, TypeError, "must be a list of strings"),
    ],
)
def test_arguments_are_checked(arguments, error, text):
    with pytest.raises(error, match=text):
        tf.import_graph_def(**{"graph_def": graph_def_of(linear), **arguments})


def test_extracting_a_part():
    def build():
        linear()
        tf.constant(1.0, name="apart")

    part = tf.graph_util.extract_sub_graph(graph_def_of(build), ["y"])
    assert [n.name for n in part.node] == ["x", "w", "y"]
    with pytest.raises(AssertionError, match="gone is not in graph"):
        tf.graph_util.extract_sub_graph(part, ["gone"])
    with pytest.raises(TypeError, match="iterable of strings"):
        tf.graph_util.extract_sub_graph(part, "y")


def test_freezing_gives_the_same_numbers_without_variables(graph):
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    w = tf.Variable([[2.0], [3.0]], name="w")
    unused = tf.Variable(1.0, name="unused")
    y = tf.matmul(x, w, name="y")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        expected = session.run(y, {x: [[1.0, 1.0]]})
        frozen = tf.graph_util.convert_variables_to_constants(session, graph.as_graph_def(), ["y"])
    assert unused.op.name not in [n.name for n in frozen.node]
    assert {n.op for n in frozen.node} == {"Placeholder", "Const", "Identity", "MatMul"}
    with tf.Graph().as_default():
        tf.import_graph_def(frozen, name="")
        with tf.Session() as session:
            assert session.run("y:0", {"x:0": [[1.0, 1.0]]}) == expected


def test_attributes_that_only_the_producer_knows_are_left_out_where_they_have_its_defaults():
    made = tf.MetaGraphDef().meta_info_def.stripped_op_list
    declared = made.op.add(name="Neg")
    declared.attr.add(name="later", type="bool").default_value.b = False
    definition = tf.GraphDef()
    definition.node.add(name="x", op="Placeholder").attr["dtype"].type = tf.float32.as_datatype_enum
    node = definition.node.add(name="y", op="Neg", input=["x"])
    node.attr["T"].type = tf.float32.as_datatype_enum
    node.attr["later"].b = False
    with tf.Graph().as_default() as graph:
        with pytest.raises(ValueError, match="NodeDef mentions attr 'later' not in Op Neg"):
            tf.import_graph_def(definition)
        tf.import_graph_def(definition, producer_op_list=made, name="")
        assert sorted(graph.get_operation_by_name("y").node_def.attr) == ["T"]
        node.attr["later"].b = True
        with pytest.raises(ValueError, match="NodeDef mentions attr 'later' not in Op Neg"):
            tf.import_graph_def(definition, producer_op_list=made)
        with pytest.raises(TypeError, match="producer_op_list must be an OpList"):
            tf.import_graph_def(definition, producer_op_list=3)


def test_what_nothing_takes_may_be_mapped_where_it_exists():
    definition = graph_def_of(linear)
    x = tf.constant([[1.0, 1.0, 1.0]])
    (y,) = tf.import_graph_def(definition, {"x:0": x, "y:0": x}, ["y:0"])
    assert y.op.inputs[0] is x
    with pytest.raises(ValueError, match=r"not found in graph_def: \[y:1\]"):
        tf.import_graph_def(definition, {"y:1": x})


def test_devices_around_an_import_complete_those_of_nodes() -> None:
    graph_def = tf.GraphDef()
    for name, device in (("a", "/job:x"), ("b", "/device:GPU:0"), ("c", "")):
        graph_def.node.add(name=name, op="NoOp", device=device)
    asked = []
    with tf.Graph().as_default(), tf.device("/device:CPU:1"), tf.device(lambda op: asked.append(op.device) or op.device):
        imported = tf.import_graph_def(graph_def, return_elements=["a", "b", "c"])
    assert asked == ["/job:x", "/device:GPU:0", ""]
    assert [op.device for op in imported] == ["/job:x/device:CPU:1", "/device:GPU:0", "/device:CPU:1"]


def test_an_import_is_of_the_older_version_and_keeps_what_both_exclude() -> None:
    with tf.Graph().as_default() as graph:
        for producer, min_consumer, bad_consumers in ((200, 1, [300, 301]), (100, 2, [302, 300]), (120, 0, [])):
            graph_def = tf.GraphDef()
            graph_def.versions.producer, graph_def.versions.min_consumer = producer, min_consumer
            graph_def.versions.bad_consumers.extend(bad_consumers)
            tf.import_graph_def(graph_def, name="")
    for versions in (graph.graph_def_versions, graph.as_graph_def().versions):
        assert (versions.producer, versions.min_consumer, list(versions.bad_consumers)) == (100, 2, [300, 301, 302])
    assert tf.Graph().graph_def_versions.producer == tf.GRAPH_DEF_VERSION


def test_attributes_that_1_15_did_not_know_are_written_where_they_say_something():
    with tf.Graph().as_default() as graph:
        tf.raw_ops.TopKV2(input=[1.0], k=1, name="plain")
        tf.raw_ops.TopKV2(input=[1.0], k=1, index_type=tf.int64, name="long")
        nodes = {node.name: node for node in graph.as_graph_def().node}
        assert graph.get_operation_by_name("plain").get_attr("index_type") == tf.int32
    assert set(nodes["long"].attr) - set(nodes["plain"].attr) == {"index_type"}


def test_each_imported_node_waits_for_what_is_around_the_import() -> None:
    with tf.Graph().as_default() as source:
        one = tf.constant(1.0, name="a")
        tf.negative(one, name="b")
        with tf.control_dependencies([one]):
            tf.no_op(name="c")
    with tf.Graph().as_default() as graph:
        x, y = tf.constant(1.0, name="x"), tf.constant(2.0, name="y")
        with tf.control_dependencies([x]), tf.control_dependencies([y]):
            tf.import_graph_def(source.as_graph_def(), {"a:0": y}, name="in")
            after = tf.identity(graph.get_tensor_by_name("in/b:0"))
        waits = {op.name: [c.name for c in op.control_inputs] for op in graph.get_operations() if op.name.startswith("in/")}
    assert waits == {"in/a": ["x", "y"], "in/b": ["x", "y"], "in/c": ["in/a", "x", "y"]}
    assert after.op.control_inputs == []


def _of_no_ops(**nodes):
    """A GraphDef of NoOps: of each name its device and what it is to be with."""
    graph_def = tf.GraphDef()
    for name, (device, *others) in nodes.items():
        node = graph_def.node.add(name=name, op="NoOp", device=device)
        node.attr["_class"].list.s.extend(f"loc:@{other}".encode() for other in others)
    return graph_def


def _names(graph_def, name=""):
    nodes = [node.name for node in graph_def.node]
    return [op.name for op in tf.import_graph_def(graph_def, name=name, return_elements=nodes)]


def test_imported_nodes_keep_names_that_only_empty_scopes_have():
    with tf.Graph().as_default() as graph:
        with tf.name_scope("empty"):
            pass
        with tf.name_scope("full"):
            tf.no_op("inside")
        assert _names(_of_no_ops(empty=[""], Full=[""], full=[""])) == ["empty", "Full", "full_1"]
        assert _names(_of_no_ops(empty=[""], empty_1=[""])) == ["empty_2", "empty_1"]
        assert _names(_of_no_ops(empty=[""]), name="full") == ["full_2/empty"]
        assert graph.unique_name("empty") == "empty_3"


@pytest.mark.parametrize(
    ("nodes", "devices"),
    [
        ({"a": ["/cpu:1"], "b": ["", "a"]}, ["/device:CPU:1"] * 2),
        ({"a": [""], "b": ["/cpu:1", "a"]}, ["", ""]),
        ({"b": ["", "a", "c"], "c": ["/cpu:2", "c"], "a": [""]}, ["/device:CPU:2", "/device:CPU:2", ""]),
    ],
)
def test_imported_nodes_are_where_those_are_that_they_have_to_be_with(nodes, devices):
    with tf.Graph().as_default():
        assert [
            op.device for op in tf.import_graph_def(_of_no_ops(**nodes), name="", return_elements=list(nodes))
        ] == devices


def test_a_device_function_around_an_import_is_not_asked_about_colocated_nodes():
    asked = []

    def device(op):
        asked.append(op.name)
        return "/device:CPU:3"

    with tf.Graph().as_default(), tf.device(device):
        a, b = tf.import_graph_def(_of_no_ops(a=[""], b=["", "a"]), name="x", return_elements=["a", "b"])
    assert asked == ["x/a"] and (a.device, b.device) == ("/device:CPU:3",) * 2
