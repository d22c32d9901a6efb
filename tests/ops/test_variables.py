"""`tf.Variable`: names, nodes, collections, operators, initial values, protos. Whole graphs: golden `variables`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.core import errors


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as g:
        yield g


def nodes(g: Any, *prefixes: str) -> list[str]:
    """`name: Type(inputs)` of each node, of those below the prefixes if any."""
    return [
        f"{n.name}: {n.op}({', '.join(n.input)})"
        for n in g.as_graph_def().node
        if not prefixes or n.name.startswith(prefixes)
    ]


# --- names and nodes ---------------------------------------------------------------------------------------------------


def test_names_are_made_unique() -> None:
    """The printout of the source's `Variable` example (B 4.3.3)."""
    names = [
        tf.Variable(value, name=name).name
        for value, name in ((1.0, "firstvar"), (2.0, "firstvar"), (3.0, None), (4.0, None))
    ]
    assert names == ["firstvar:0", "firstvar_1:0", "Variable:0", "Variable_1:0"]
    assert tf.get_variable("firstvar", [1], initializer=tf.constant_initializer(0.3)).name == "firstvar_2:0"


def test_nodes_of_a_value(graph: Any) -> None:
    tf.Variable([1.0, 2.0], name="v")
    assert nodes(graph) == [
        "v/initial_value: Const()",
        "v: VariableV2()",
        "v/Assign: Assign(v, v/initial_value)",
        "v/read: Identity(v)",
    ]


def test_nodes_of_a_function(graph: Any) -> None:
    with tf.device("/job:ps"):
        tf.Variable(lambda: tf.fill([2], 3.0), name="v", dtype=tf.float32)
    assert nodes(graph) == [
        "v/Initializer/Fill/dims: Const()",
        "v/Initializer/Fill/value: Const()",
        "v/Initializer/Fill: Fill(v/Initializer/Fill/dims, v/Initializer/Fill/value)",
        "v: VariableV2()",
        "v/Assign: Assign(v, v/Initializer/Fill)",
        "v/read: Identity(v)",
    ]
    fill, storage, assign = (graph.get_operation_by_name(n) for n in ("v/Initializer/Fill", "v", "v/Assign"))
    assert [op.get_attr("_class") for op in (fill, storage, assign)] == [[b"loc:@v"]] * 3
    assert [op.device for op in (fill, storage, assign)] == ["", "/job:ps", "/job:ps"]


def test_reads_are_where_they_are_cached(graph: Any) -> None:
    with tf.device("/job:ps"):
        plain, cached = tf.Variable(1.0, name="plain"), tf.Variable(1.0, name="cached", caching_device="/job:worker")
    assert plain.value().op.get_attr("_class") == [b"loc:@plain"]
    assert plain.value().device == plain.device == "/job:ps"
    assert cached.value().device == "/job:worker"
    with pytest.raises(ValueError, match="_class"):
        cached.value().op.get_attr("_class")


def test_a_variable_does_not_wait_for_its_surroundings(graph: Any) -> None:
    with tf.control_dependencies([tf.constant(1, name="first")]):
        v = tf.Variable(lambda: tf.ones([2]), name="v")
        read = v.read_value()
    assert all(not op.control_inputs for op in graph.get_operations() if op.name.startswith("v"))
    assert [op.name for op in read.op.control_inputs] == ["first"]


def test_attributes() -> None:
    v = tf.Variable([[1.0, 2.0, 3.0]] * 2, name="s/v", dtype=tf.float64, constraint=abs)
    assert (v.name, v.op.type, v.dtype, v.shape, v.device) == ("s/v:0", "VariableV2", tf.float64._as_ref, [2, 3], "")
    assert v.initializer.name == "s/v/Assign"
    assert v.initial_value.name == "s/v/initial_value:0"
    assert v.value().name == "s/v/read:0"
    assert v.value() is v.value()
    assert v._as_graph_element() is v._ref()
    assert v.graph is tf.get_default_graph()
    assert v.constraint is abs
    assert v.trainable
    assert repr(v) == str(v) == "<tf.Variable 's/v:0' shape=(2, 3) dtype=float64_ref>"
    assert isinstance(v, tf.Variable)
    assert v._get_save_slice_info() is None


def test_shape_can_be_left_open_and_refined() -> None:
    v = tf.Variable([1.0, 2.0], shape=[None])
    assert v.shape.as_list() == [None]
    assert tf.Variable([1.0], validate_shape=False).shape.ndims is None
    v.set_shape([2])
    assert v.shape == v.value().get_shape() == [2]
    with pytest.raises(ValueError, match="Dimension 0 in both shapes must be equal, but are 2 and 3"):
        v.set_shape([3])


# --- collections -------------------------------------------------------------------------------------------------------


def test_lists_of_variables() -> None:
    a = tf.Variable(1.0, name="a")
    b = tf.Variable(1.0, name="b", trainable=False)
    c = tf.Variable(1.0, name="c", collections=[tf.GraphKeys.LOCAL_VARIABLES])
    d = tf.Variable(1.0, name="d", collections=[])
    e = tf.Variable(1.0, name="ae", trainable=False, collections=["mine", tf.GraphKeys.MODEL_VARIABLES])
    assert tf.global_variables() == [a, b]
    assert tf.global_variables("a") == [a]
    assert tf.trainable_variables() == [a, c, d]
    assert tf.local_variables() == [c]
    assert tf.model_variables() == [e]
    assert tf.moving_average_variables() == []
    assert tf.get_collection("mine") == [e]


def test_initializers_of_lists() -> None:
    a, b = tf.Variable(1.0, name="a"), tf.Variable(2.0, name="b", trainable=False)
    c = tf.Variable(3.0, name="c", collections=[tf.GraphKeys.LOCAL_VARIABLES])
    everything, local = tf.global_variables_initializer(), tf.local_variables_initializer()
    some, none = tf.variables_initializer([b], name="some"), tf.variables_initializer([])
    assert [op.name for op in (everything, local, some, none)] == ["init", "init_1", "some", "init_2"]
    assert [op.type for op in (everything, none)] == ["NoOp", "NoOp"]
    assert [op.name for op in everything.control_inputs] == ["a/Assign", "b/Assign"]
    with tf.Session() as session:
        session.run([some, none])
        assert session.run(b) == 2.0
        with pytest.raises(errors.FailedPreconditionError, match="uninitialized value a"):
            session.run(a)
        session.run(everything)
        session.run(local)
        assert session.run([a, b, c]) == [1.0, 2.0, 3.0]


def test_reports_of_uninitialized_variables() -> None:
    a, b = tf.Variable(1.0, name="s/a"), tf.Variable(2.0, name="b")
    c = tf.Variable(3.0, name="c", collections=[tf.GraphKeys.LOCAL_VARIABLES])
    report, some = tf.report_uninitialized_variables(), tf.report_uninitialized_variables([b], name="some")
    check, check_all = tf.assert_variables_initialized([a]), tf.assert_variables_initialized()
    assert report.op.name == "report_uninitialized_variables/boolean_mask/GatherV2"
    assert (report.dtype, report.get_shape().as_list(), report.device) == (tf.string, [None], "/device:CPU:0")
    with tf.Session() as session:
        assert session.run(report).tolist() == [b"s/a", b"b", b"c"]
        session.run(a.initializer)
        assert session.run(report).tolist() == [b"b", b"c"]
        assert session.run(some).tolist() == [b"b"]
        session.run(check)
        with pytest.raises(errors.FailedPreconditionError, match="uninitialized value"):
            session.run(check_all)
        session.run([b.initializer, c.initializer])
        assert session.run(report).tolist() == []
        session.run(check_all)
    with tf.Graph().as_default(), tf.Session() as session:
        assert tf.assert_variables_initialized() is None
        assert session.run(tf.report_uninitialized_variables()).tolist() == []


def test_initializer_run_and_eval() -> None:
    v = tf.Variable([1.0, 2.0])
    with tf.Session():
        v.initializer.run()
        assert v.eval().tolist() == [1.0, 2.0]
        v.load([3.0, 4.0])
        assert v.eval().tolist() == [3.0, 4.0]


# --- arithmetic --------------------------------------------------------------------------------------------------------

A = np.float32([[1, -2, 3], [4, 5, -6]])
B = np.float32([[2, 3, 5], [7, 11, 13]])

OPERATIONS = [
    ("v + t", lambda v, t: v + t), ("t + v", lambda v, t: t + v), ("v - t", lambda v, t: v - t),
    ("1 - v", lambda v, t: 1.0 - v), ("v * v", lambda v, t: v * v), ("2 * v", lambda v, t: 2.0 * v),
    ("v / t", lambda v, t: v / t), ("1 / v", lambda v, t: 1.0 / v), ("v // t", lambda v, t: v // t),
    ("7 // v", lambda v, t: 7.0 // v), ("v % t", lambda v, t: v % t), ("7 % v", lambda v, t: 7.0 % v),
    ("v ** 2", lambda v, t: v**2.0), ("2 ** v", lambda v, t: 2.0**v), ("-v", lambda v, t: -v),
    ("abs", lambda v, t: abs(v)), ("<", lambda v, t: v < t), ("<=", lambda v, t: v <= t), (">", lambda v, t: v > t),
    (">=", lambda v, t: v >= t), ("array + v", lambda v, t: B + v), ("row", lambda v, t: v[1]),
    ("element", lambda v, t: v[0, 1]), ("slice", lambda v, t: v[:, 1:]),
]  # fmt: skip


@pytest.mark.parametrize("operation", [o for _, o in OPERATIONS], ids=[n for n, _ in OPERATIONS])
def test_operators_work_on_the_value(operation: Any) -> None:
    v, t = tf.Variable(A, name="v"), tf.constant(B)
    result = operation(v, t)
    reads = {tensor for op in v.graph.get_operations() for tensor in op.inputs if tensor.op.name == "v/read"}
    assert reads == {v.value()}
    with tf.Session() as session:
        session.run(v.initializer)
        np.testing.assert_allclose(session.run(result), operation(A, B), rtol=1e-6)


def test_logical_operators_and_matmul() -> None:
    p, q = tf.Variable([True, False]), tf.Variable([True, True])
    m = tf.Variable(A)
    made = [p & q, p | q, p ^ q, ~p, m @ tf.constant(B.T)]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        got = session.run(made)
    assert [x.tolist() for x in got[:4]] == [[True, False], [True, True], [False, True], [False, True]]
    np.testing.assert_allclose(got[4], A @ B.T)


def test_a_variable_is_no_sequence_and_compares_by_identity() -> None:
    v, w = tf.Variable([1.0, 2.0]), tf.Variable([1.0, 2.0])
    with pytest.raises(TypeError, match="'Variable' object is not iterable"):
        list(v)
    same = v
    assert (v == same) is True
    assert (v == w) is False
    assert (v != w) is True
    assert len({v, w, v}) == 2


def test_conversion() -> None:
    v = tf.Variable([1, 2], name="v")
    assert tf.convert_to_tensor(v) is v.value()
    assert tf.convert_to_tensor(v, dtype=tf.int32) is v.value()
    assert tf.identity(v).op.inputs[0] is v.value()
    assert tf.stack([v, v]).get_shape() == [2, 2]
    with pytest.raises(
        ValueError, match="Incompatible type conversion requested to type 'float32' for variable of type 'int32_ref'"
    ):
        tf.convert_to_tensor(v, dtype=tf.float32)


# --- methods that change it --------------------------------------------------------------------------------------------


def test_assign_methods() -> None:
    v = tf.Variable([1.0, 2.0], name="v")
    assert v.assign([3.0, 4.0], name="set").op.get_attr("use_locking") is False
    assert v.assign_add([1.0, 1.0], read_value=False).type == "AssignAdd"
    count = tf.Variable(1, name="count")
    steps = [(v.assign([3.0, 4.0]), [3, 4]), (v.assign_add([1.0, 1.0]), [4, 5]), (v.assign_sub([2.0, 0.0]), [2, 5])]
    up = count.count_up_to(2)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for op, expected in steps:
            assert session.run(op).tolist() == expected
            assert session.run(v).tolist() == expected
        assert session.run(up) == 1
        with pytest.raises(errors.OutOfRangeError, match="Reached limit of 2"):
            session.run(up)


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("scatter_update", [2, 20, 3]), ("scatter_add", [3, 20 + 20, 3]), ("scatter_sub", [-1, 0, 3]),
        ("scatter_mul", [2, 400, 3]), ("scatter_div", [0.5, 1, 3]), ("scatter_min", [1, 20, 3]),
        ("scatter_max", [2, 20, 3]),
    ],
)  # fmt: skip
def test_scatter_methods_take_indexed_slices(method: str, expected: Any) -> None:
    v = tf.Variable([1.0, 20.0, 3.0], name="v")
    op = getattr(v, method)(tf.IndexedSlices(tf.constant([2.0, 20.0]), tf.constant([0, 1])), name="op")
    assert op.name == "op:0"
    with tf.Session() as session:
        session.run(v.initializer)
        np.testing.assert_allclose(session.run(op), expected)
    with pytest.raises(TypeError, match="sparse_delta is not IndexedSlices: 3"):
        getattr(v, method)(3)


def test_scatter_nd_methods() -> None:
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    ops = [v.scatter_nd_update([[0, 1]], [7.0]), v.scatter_nd_add([[1]], [[1.0, 1.0]]), v.scatter_nd_sub([[0, 0]], [5.0])]
    with tf.Session() as session:
        session.run(v.initializer)
        got = [session.run(op).tolist() for op in ops]
    assert got == [[[1, 7], [3, 4]], [[1, 7], [4, 5]], [[-4, 7], [4, 5]]]


def test_what_reads_a_variable_has_the_shape_that_was_assigned_last() -> None:
    v = tf.Variable(A, name="v")
    change = tf.assign(v, np.full([5, 2], 3.0, np.float32), validate_shape=False)
    read = [v.read_value(), v + 1.0, tf.reduce_sum(v, 0)]
    with tf.Session() as session:
        session.run(v.initializer)
        session.run(change)
        same, more, total = session.run(read)
    assert (same.shape, more.shape) == ((5, 2), (5, 2))
    np.testing.assert_array_equal(total, [15.0, 15.0])


# --- initial values ----------------------------------------------------------------------------------------------------


def test_initialized_value_before_and_after() -> None:
    v = tf.Variable([1.0, 2.0], name="v")
    value = v.initialized_value()
    with tf.Session() as session:
        assert session.run(value).tolist() == [1.0, 2.0]
        session.run(v.assign([5.0, 6.0]))
        assert session.run(value).tolist() == [5.0, 6.0]


def test_initial_values_may_read_variables(graph: Any) -> None:
    """All are initialized in one run, whatever the order."""
    a = tf.Variable(tf.constant([2.0, 3.0]), name="a")
    b = tf.Variable(a * 2.0, name="b")
    c = tf.Variable(lambda: a - 1.0, name="c")
    d = tf.Variable(a, name="d")
    e = tf.Variable(a.initialized_value() + 1.0, name="e")
    init = tf.global_variables_initializer()
    assert "mul_b: Mul(a/read_b, mul/y)" in nodes(graph, "mul")
    assert "a/read_b: Identity(b/cond/Merge)" in nodes(graph, "a/read")
    with tf.Session() as session:
        session.run(init)
        got = session.run([a, b, c, d, e])
    assert [x.tolist() for x in got] == [[2, 3], [4, 6], [1, 2], [2, 3], [3, 4]]


def test_initial_values_in_scopes_keep_their_scope_s_name(graph: Any) -> None:
    with tf.variable_scope("s"):
        v = tf.Variable([1.0], name="v")
        tf.Variable(v * 2.0, name="w")
    assert nodes(graph, "s/mul_s") == ["s/mul_s/w: Mul(s/v/read_s/w, s/mul/y)"]


def test_what_does_not_depend_on_variables_is_not_copied(graph: Any) -> None:
    hidden = tf.Variable(1.0, name="hidden", collections=[], trainable=False)
    t = tf.constant(2.0, name="t")
    tf.Variable(t * 3.0, name="a")
    tf.Variable(hidden * 3.0, name="b")
    assert nodes(graph, "a/Assign", "b/Assign") == ["a/Assign: Assign(a, mul)", "b/Assign: Assign(b, mul_1)"]


def test_long_chains_of_initial_values() -> None:
    v = tf.Variable(1.0)
    t = v.value()
    for _ in range(1500):
        t = tf.negative(t)
    w = tf.Variable(t)
    assert len(w.initializer.inputs[1].name) > 0
    assert w.initializer.inputs[1] is not t


def test_variable_inside_cond() -> None:
    made: list[Any] = []

    def inside() -> Any:
        made.append(tf.Variable(lambda: tf.constant(5.0), name="inside"))
        return made[0] + 1.0

    result = tf.cond(tf.constant(True), inside, lambda: tf.constant(0.0))
    with tf.Session() as session:
        session.run(made[0].initializer)
        assert session.run(result) == 6.0


# --- errors ------------------------------------------------------------------------------------------------------------

ERRORS = [
    (tf.Variable, ValueError, "initial_value must be specified."),
    (lambda: tf.Variable(None), ValueError, "initial_value must be specified."),
    (lambda: tf.Variable(tf.placeholder(tf.float32)), ValueError, "initial_value must have a shape specified: Tensor"),
    (lambda: tf.Variable(tf.placeholder(tf.float32, [None])), ValueError, "initial_value must have a shape specified"),
    (lambda: tf.Variable(1.0, dtype=tf.int32), TypeError, "Expected int32"),
    (lambda: tf.Variable(1.0, collections="abc"), ValueError, "must be a list, tuple, or set. Got abc"),
    (lambda: tf.Variable(1.0, constraint=3), ValueError, "The `constraint` argument must be a callable."),
    (
        lambda: tf.Variable(1.0, aggregation="x", name="q"),
        ValueError,
        "Invalid variable aggregation mode: x for variable: q",
    ),
    (lambda: tf.Variable(1.0, shape=[2]), ValueError, "Shapes must be equal rank, but are 1 and 0 for 'Variable/Assign'"),
    (lambda: tf.Variable(1.0, no_such=1), TypeError, "no_such"),
    (lambda: tf.Variable(1.0).load(2.0), ValueError, "Either session argument should be provided"),
    (lambda: tf.Variable(1.0).eval(), ValueError, "No default session is registered"),
    (lambda: tf.Variable(1.0).initializer.run(session=None), ValueError, "No default session is registered"),
]


@pytest.mark.parametrize(("make", "error", "message"), ERRORS)
def test_errors(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()


def test_initial_value_from_inside_a_branch() -> None:
    def branch() -> Any:
        return tf.Variable(tf.constant(1.0) * 2.0, name="v") + 1.0

    with pytest.raises(ValueError, match="Initializer for variable cond/v is from inside a control-flow construct"):
        tf.cond(tf.constant(True), branch, lambda: tf.constant(0.0))


# --- who makes it, and how it is written down --------------------------------------------------------------------------


def test_protos_go_round() -> None:
    v = tf.Variable([1.0, 2.0], name="s/v", trainable=False)
    proto = v.to_proto()
    assert (proto.variable_name, proto.initializer_name) == ("s/v:0", "s/v/Assign")
    assert (proto.snapshot_name, proto.initial_value_name, proto.trainable) == ("s/v/read:0", "s/v/initial_value:0", False)
    before = len(tf.get_default_graph().get_operations())
    again = tf.Variable.from_proto(proto)
    assert (again.name, again.initializer, again.value(), again.trainable) == (v.name, v.initializer, v.value(), False)
    assert again.initial_value is v.initial_value
    assert len(tf.get_default_graph().get_operations()) == before
    assert again not in tf.global_variables()
    assert v.to_proto(export_scope="s").variable_name == "v:0"
    assert v.to_proto(export_scope="other") is None
    assert tf.Variable.from_proto(v.to_proto(export_scope="s"), import_scope="s").name == "s/v:0"
    with pytest.raises(ValueError, match="mutually exclusive"):
        tf.Variable(1.0, variable_def=proto)
    with pytest.raises(KeyError, match="z/s/v"):
        tf.Variable.from_proto(proto, import_scope="z")
