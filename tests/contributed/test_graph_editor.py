"""tf.contrib.graph_editor: what is selected, what copies compute, and where wires go."""

import numpy as np
import pytest

import tfexp as tf

ge = tf.contrib.graph_editor


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def names(elements):
    return [e.name for e in elements]


def run(fetches, feeds=None):
    with tf.Session() as session:
        return session.run(fetches, feeds)


def chain():
    """a -> scope/b = a + 1 -> scope/c = 2 b -> d = c * c; e = b - 3."""
    a = tf.placeholder_with_default(4.0, [], name="a")
    with tf.name_scope("scope"):
        b = tf.add(a, tf.constant(1.0, name="one"), name="b")
        c = tf.multiply(b, 2.0, name="c")
    return a, b, c, tf.multiply(c, c, name="d"), tf.subtract(b, 3.0, name="e")


def test_lists(graph):
    a, b, c, d, _ = chain()
    assert ge.make_list_of_op([a.op, [b.op, a.op], (c.op,)]) == [a.op, b.op, c.op]
    assert ge.make_list_of_op(graph) == graph.get_operations() and ge.make_list_of_op(None) == []
    assert ge.make_list_of_t([d, [c]]) == [d, c] and a in ge.make_list_of_t(graph)
    assert ge.get_generating_ops([c, d]) == [c.op, d.op] and names(ge.get_consuming_ops([b])) == ["scope/c", "e"]
    assert names(ge.filter_ops_from_regex(graph, "^scope/.$")) == ["scope/b", "scope/c"]
    assert names(ge.filter_ts_from_regex(graph, "^[ad]:0")) == ["a:0", "d:0"]
    assert names(ge.get_name_scope_ops(graph, "scope/")) == ["scope/one", "scope/b", "scope/c/y", "scope/c"]
    assert names(ge.select_ops("^d", "^e$", "(?#ts)^a", b.op, graph=graph)) == ["d", "e", "scope/b"]
    assert ge.select_ts("(?#ts)^d", b, graph=graph) == [d, b]
    ops, ts = ge.select_ops_and_ts(c.op, "(?#ts)^a:", graph=graph)
    assert (ops, ts) == ([c.op], [a])
    other = tf.Graph()
    with other.as_default():
        foreign = tf.constant(1.0)
    for call, error, text in (
        (lambda: ge.make_list_of_op([foreign]) + ge.make_list_of_op("a"), TypeError, "Expected a tf.Operation"),
        (lambda: ge.make_list_of_t([a.op]), TypeError, "Expected a tf.Tensor"),
        (lambda: ge.make_list_of_op([a.op, foreign.op]), ValueError, "does not belong to the graph"),
        (lambda: ge.make_list_of_op(graph, allow_graph=False), TypeError, "allow_graph is False"),
        (lambda: ge.select_ops("a"), ValueError, "Use the keyword argument 'graph'"),
    ):
        with pytest.raises(error, match=text):
            call()


def test_walks(graph):
    a, b, c, d, e = chain()
    assert names(ge.get_forward_walk_ops(b.op)) == ["scope/b", "scope/c", "e", "d"]
    assert names(ge.get_forward_walk_ops([b], inclusive=False)) == ["d"]  # from what takes it in
    assert names(ge.get_forward_walk_ops(a.op, stop_at_ts=[c])) == ["a", "scope/b", "scope/c", "e"]
    assert set(ge.get_backward_walk_ops(d)) == {d.op, c.op, b.op, a.op, *graph.get_operations()} - {e.op, e.op.inputs[1].op}
    assert names(ge.get_backward_walk_ops(d, within_ops=[d.op, c.op])) == ["d", "scope/c"]
    assert names(ge.get_backward_walk_ops(d, within_ops_fn=lambda op: "/" not in op.name)) == ["d"]
    assert names(ge.get_walks_intersection_ops([b.op], [d.op])) == ["scope/b", "scope/c", "d"]
    union = ge.get_walks_union_ops([c.op], [b.op])
    assert {"scope/c", "d", "a", "scope/b"} <= set(names(union)) and e.op not in union
    with tf.control_dependencies([e]):
        after = tf.no_op("after")
    assert after in ge.get_forward_walk_ops(e.op, control_outputs=ge.ControlOutputs(graph))
    assert after in ge.get_walks_union_ops([e.op], [b.op], control_ios=ge.ControlOutputs(graph))
    assert e.op in ge.get_backward_walk_ops(after, control_inputs=True)
    assert ge.get_forward_walk_ops(a.op, within_ops=[b.op]) == []
    assert names(ge.get_forward_walk_ops([a.op, b.op], within_ops=[b.op, c.op])) == ["scope/b", "scope/c"]


def test_what_is_connected_within_boundaries(graph):
    _, b, c, d, _ = chain()
    with tf.control_dependencies([d]):
        after = tf.no_op("after")
    waiting = ge.ControlOutputs(graph)
    assert waiting.graph is graph
    assert waiting.update().get_all() == {d.op: [after]}
    assert names(ge.get_within_boundary_ops(graph, [d.op], [b.op])) == ["scope/b", "scope/c/y", "scope/c", "d"]
    assert names(ge.get_within_boundary_ops([d.op, b.op], [d.op], [b.op], inclusive=False)) == ["d"]
    found = ge.get_within_boundary_ops(graph, [d.op], [c.op], control_ios=waiting)
    assert names(found) == ["scope/c", "d", "after"]
    assert ge.get_within_boundary_ops(graph, after, c.op, inclusive=False, control_inputs=True) == [d.op, after]
    assert ge.get_ops_ios([d.op], control_outputs=waiting) == [c.op, after]
    for call, error, text in (
        (lambda: ge.get_within_boundary_ops(graph, [d.op], [d.op]), ValueError, "intersecting with the seeds"),
        (lambda: ge.get_ops_ios([d.op], control_ios=True), TypeError, "Expected a util.ControlOutputs"),
        (lambda: ge.check_cios(False, waiting, waiting), ValueError, "control_outputs should be None"),
        (lambda: ge.ControlOutputs(3), TypeError, "Expected a tf.Graph"),
    ):
        with pytest.raises(error, match=text):
            call()


def test_views(graph):
    a, b, c, d, e = chain()
    view = ge.sgv(b.op, c.op)
    assert view.inputs == [a, b.op.inputs[1], c.op.inputs[1]] and view.outputs == [b, c]
    assert view.graph is graph and names(view.consumers()) == ["e", "d"] and view.op(1) is c.op
    assert view.find_op_by_name("scope/c") is c.op and view.input_index(a) == 0 and view.output_index(c) == 1
    assert names(ge.sgv_scope("scope", graph).ops) == ["scope/one", "scope/b", "scope/c/y", "scope/c"]
    assert view.remap([0], [1, 1]).outputs == [c, c] and view.remap([0], [1]).inputs == [a]
    assert view.remap_outputs([c, c]).remap_outputs_make_unique().outputs == [c]
    assert ge.sgv(c.op).remap_outputs_to_consumers().outputs == [c, c][: len(c.consumers())]
    assert view.remap([0], [1]).remap_default().outputs == view.outputs and ge.sgv(view) is view
    passed = ge.SubGraphView([b.op], [d])
    assert passed.passthroughs == [d] and passed.inputs[-1] is d and d not in passed.connected_inputs
    assert not ge.SubGraphView() and "scope/c (Mul)" in str(view) and "scope/b:0" in repr(view)
    for call, error, text in (
        (lambda: view.remap_inputs([0, 0]), ValueError, "an input may come once only"),
        (lambda: view.remap_outputs([d]), ValueError, "d:0 is not an output"),
        (lambda: view.input_index(d), ValueError, "d:0 is not one of the inputs"),
        (lambda: view.find_op_by_name("z"), AttributeError, "z not found"),
    ):
        with pytest.raises(error, match=text):
            call()
    assert e.op not in view.ops


def test_copies_in_the_same_graph_keep_their_inputs_where_some_are_replaced(graph):
    a, b, c, *_ = chain()
    copied, info = ge.copy_with_input_replacements(ge.sgv_scope("scope", graph), {}, dst_scope="twin", src_scope="scope")
    assert names(copied.ops) == ["twin/one", "twin/b", "twin/c/y", "twin/c"]
    assert info.transformed(c).name == "twin/c:0" and info.original("twin/b") is b.op and info.transformed("a:0") is a
    assert info.transformed("d") is None and info.transformed("d", lambda op: op.name) == "d"
    assert run([info.transformed(c), c], {a: 1.0}) == [4.0, 4.0] and "scope/c -> twin/c" in str(info)
    again, _ = ge.copy([b.op], dst_scope="twin")
    assert names(again.ops) == ["twin_1/scope/b"] and again.inputs[0].name == "twin_1/geph__a_0:0"
    with pytest.raises(ValueError, match="the view is empty"):
        ge.copy([], tf.Graph())
    with pytest.raises(ValueError, match="does not belong to source scope"):
        ge.copy(graph, src_scope="scope")


def test_copies_in_another_graph_take_placeholders(graph):
    _, b, c, *_ = chain()
    with tf.control_dependencies([b]), tf.device("/cpu:0"), tf.colocate_with(c):
        e = tf.identity(c, name="e")
    other = tf.Graph()
    copied, info = ge.copy([b.op, c.op, e.op], other)
    assert [t.op.type for t in copied.inputs] == ["Placeholder"] * 3 and copied.inputs[0].name == "geph__a_0:0"
    made = info.transformed(e.op)
    assert made.graph is other and names(made.control_inputs) == ["scope/b"]
    assert made.colocation_groups() == [b"loc:@scope/c"] and made.device == e.op.device
    with other.as_default(), tf.Session() as session:
        assert session.run(copied.outputs[-1], dict(zip(copied.inputs, (4.0, 1.0, 2.0)))) == 10.0


def test_loops_are_copied(graph):
    start = tf.placeholder(tf.int32, [], name="start")
    end = tf.while_loop(lambda i: i < 10, lambda i: i + 3, [start])
    other = tf.Graph()
    view = ge.sgv([op for op in graph.get_operations() if op.type != "Placeholder"])
    copied, info = ge.copy(view, other)
    with other.as_default(), tf.Session() as session:
        assert session.run(info.transformed(end), {copied.inputs[0]: 2}) == 11


def test_replacing_copies_what_is_between(graph):
    a, b, c, d, e = chain()
    before = len(graph.get_operations())
    twin, same = ge.graph_replace([d, e], {c: tf.constant(7.0)})
    assert same is e and len(graph.get_operations()) == before + 2
    third = ge.graph_replace({"d": d}, {a: tf.constant(0.0)}, dst_scope="zero")
    assert third["d"].name == "zero/d:0" and run([d, twin, third["d"]]) == [100.0, 49.0, 4.0]
    copied, _ = ge.copy_with_input_replacements([c.op, d.op], {b: tf.constant(1.0)})
    assert run(copied.outputs) == [4.0]
    with pytest.raises(ValueError, match="Targets and replacements are not connected"):
        ge.graph_replace(a, {d: tf.constant(1.0)})


def test_variables_may_be_replaced():
    v = tf.Variable(3.0)
    y = v * 2.0
    replaced = ge.graph_replace(y, {v: tf.constant(5.0)})
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run([y, replaced]) == [6.0, 10.0]


def test_consumers_move(graph):
    x, y = tf.constant(1.0, name="x"), tf.constant(2.0, name="y")
    of_x, of_y = x + 10.0, y + 20.0
    assert ge.swap_ts(x, y) == 2 and run([of_x, of_y]) == [12.0, 21.0]
    assert ge.swap_ts([x], [y], can_modify=[of_x.op]) == 1 and run([of_x, of_y]) == [11.0, 21.0]
    assert ge.reroute_ts(y, x, cannot_modify=[of_y.op]) == 1 and run([of_x, of_y]) == [12.0, 21.0]
    for call, error, text in (
        (lambda: ge.reroute_ts(x, tf.constant(1)), TypeError, "must have one type"),
        (lambda: ge.reroute_ts(x, tf.zeros([2])), ValueError, "must have shapes that fit"),
        (lambda: ge.reroute_ts([x], [x, y]), ValueError, "but there are 1 and 2"),
    ):
        with pytest.raises(error, match=text):
            call()


def test_a_session_sees_what_changed(graph):
    x, y = tf.constant(1.0), tf.constant(2.0)
    of_x = x + 10.0
    with tf.Session() as session:
        assert session.run(of_x) == 11.0
        ge.reroute_ts(y, x)
        assert session.run(of_x) == 12.0


def two_views():
    ins = [tf.constant(float(i)) for i in (1, 2)]
    middle = [tf.negative(ins[0], name="m0"), tf.square(ins[1], name="m1")]
    outs = [tf.identity(m, name=f"out{i}") for i, m in enumerate(middle)]
    return ins, [ge.sgv(m.op) for m in middle], outs


def test_views_change_places():
    _, (first, second), outs = two_views()
    assert run(outs) == [-1.0, 4.0]
    ge.swap_outputs(first, second)
    assert run(outs) == [4.0, -1.0]
    ge.swap_ios(first, second)
    assert run(outs) == [-2.0, 1.0]
    _, second = ge.reroute_inputs(first, second)
    assert second.inputs == first.inputs and run(outs) == [-2.0, 4.0]
    ge.reroute_outputs(first, second)
    assert run(outs) == [-2.0, -2.0]


def test_reroute_ios_takes_over():
    ins, (first, second), outs = two_views()
    _, after = ge.reroute_ios(first, second)
    assert after.inputs == [ins[0]] and run(outs) == [-1.0, -1.0]


def test_views_are_cut_out_and_connected(graph):
    a, b, c, d, _ = chain()
    with tf.control_dependencies([a]):
        tf.no_op("waits")
    ge.add_control_inputs(c.op, [a.op])
    ge.add_control_inputs(d.op, [c.op])
    view, inputs, outputs = ge.detach(ge.sgv(c.op), control_ios=True)
    assert c.op.control_inputs == d.op.control_inputs == [] and view.inputs == inputs
    assert names(inputs) == ["scope/geph__b_0:0", "scope/c/geph__y_0:0"] and names(outputs) == ["scope/geph__c_0:0"]
    assert run([c, d], {inputs[0]: 3.0, inputs[1]: 4.0, outputs[0]: 5.0}) == [12.0, 25.0]
    ge.connect(ge.sgv(b.op), view.remap_inputs([0]))
    assert run(c, {inputs[1]: 2.0}) == 10.0
    with pytest.raises(ValueError, match="it is no control_input"):
        ge.remove_control_inputs(d.op, [a.op])
    with pytest.raises(ValueError, match="cannot be connected"):
        ge.connect(ge.sgv(a.op, b.op), ge.sgv(d.op).remap_inputs([]))


def test_a_view_is_put_past():
    _, b, c, d, _ = chain()
    _, placed = ge.bypass(ge.sgv(c.op).remap_inputs([0]))
    assert run(d) == 25.0 and b.op not in c.op.inputs and len(placed) == 1
    connected, _ = ge.connect(ge.sgv(b.op), ge.sgv(d.op), disconnect_first=True)
    assert connected.outputs == [b] and run(d) == 25.0


def test_placeholders():
    t = tf.constant([1, 2], name="scope/t")
    assert ge.placeholder_name(t) == "scope/geph__t_0" and ge.placeholder_name(t, "other/") == "other/geph__t_0"
    assert ge.placeholder_name(t, prefix="p") == "scope/p__t_0" and ge.ph(tf.int32, prefix="p").op.name == "p"
    assert ge.placeholder_name(scope="s") == "s/geph" and ge.ph(tf.int32, [3]).shape.as_list() == [3]
    made = ge.make_placeholder_from_tensor(t)
    assert made.shape.as_list() == [2] and made.dtype is tf.int32
    with pytest.raises(TypeError, match="Expected a tf"):
        ge.placeholder_name("t")
    np.testing.assert_array_equal(run(made, {made: [5, 6]}), [5, 6])


def test_copies_are_in_the_collections_of_the_originals_and_wait_for_what_they_wait_for(graph):
    with tf.name_scope("s"):
        first = tf.constant(1.0, name="first")
        with tf.control_dependencies([tf.no_op(name="before")]):
            second = tf.identity(first, name="second")
    tf.add_to_collection(tf.GraphKeys.LOSSES, second)
    tf.add_to_collection("s/mine", second.op)
    copied, _ = ge.copy([second.op], dst_scope="d", src_scope="s")
    assert names(tf.get_collection(tf.GraphKeys.LOSSES)) == ["s/second:0", "d/second:0"]
    assert tf.get_collection("d/mine") == copied.ops
    assert names(copied.ops[0].control_inputs) == ["s/before"]
    other = tf.Graph()
    elsewhere, _ = ge.copy([second.op], other, dst_scope="e")
    assert names(other.get_operations()) == ["e/geph__first_0", "e/s/second"]
    assert other.get_collection("e/s/mine") == elsewhere.ops and not elsewhere.ops[0].control_inputs


def test_handlers_say_what_becomes_of_what(graph):
    _, b, c, _, _ = chain()

    def doubled(info, op, inputs):
        made, outputs = ge.copy_op_handler(info, op, inputs, nodedef_fn=on_the_first_device)
        return made, [tf.multiply(one, 2.0) for one in outputs] if op is b.op else outputs

    def on_the_first_device(node):
        node.device = "/device:CPU:0"
        return node

    transformer = ge.Transformer()
    transformer.transform_op_handler = doubled
    transformer.transform_external_input_handler = ge.keep_t_if_possible_handler
    transformer.assign_collections_handler = lambda info, original, copy: None
    tf.add_to_collection("kept", c)
    _, info = transformer(ge.sgv([b.op, c.op]), graph, "twice")
    assert run([c, info.transformed(c)]) == [10.0, 20.0]
    assert info.transformed(c.op).device == "/device:CPU:0"
    assert tf.get_collection("kept") == [c]
    transformer.transform_op_handler = lambda info, op, inputs: (op, op.outputs)
    with pytest.raises(ValueError, match="In-place transformation not allowed"):
        transformer([b.op], graph, "")
