"""Names and scopes beyond the sources: corner cases of name_scope, variable_scope, lookups, collections."""

from __future__ import annotations

from typing import Any

from tests.golden.programs.registry import Outcome, Run, program, raised, runs


@program("V3")
def name_scope_corners(tf: Any) -> Outcome:
    names = []
    with tf.name_scope("a") as first:
        names.append(first)
        with tf.name_scope("b"):
            names.append(tf.constant(1, name="c").name)
        with tf.name_scope("b"):
            names.append(tf.constant(1, name="c").name)
        with tf.name_scope("absolute/"):
            names.append(tf.constant(1, name="c").name)
        with tf.name_scope(None):
            names.append(tf.constant(1, name="root").name)
        with tf.name_scope(""):
            names.append(tf.constant(1, name="root").name)
    with tf.name_scope("a") as second:
        names.append(second)
    with tf.name_scope(first):
        names.append(tf.constant(1, name="c").name)
        names.append(tf.constant(1, name="c").name)
    with tf.name_scope(None, "default", [1.0]) as third:
        names.append(third)
    with tf.name_scope("given", "default") as fourth:
        names.append(fourth)
    with tf.get_default_graph().name_scope("plain") as fifth:
        names.append(fifth)
    names.append(tf.constant(1, name="x/y/z").name)
    names.append(tf.constant(1, name="x/y/z").name)
    names.append(tf.constant(1, name="X").name)
    names.append(tf.constant(1, name="x").name)
    names.append(tf.constant(1, name="n_1").name)
    names.append(tf.constant(1, name="n").name)
    names.append(tf.constant(1, name="n").name)
    names.append(tf.constant(1, name="n").name)
    names.append(tf.get_default_graph().unique_name("n"))
    names.append(tf.get_default_graph().unique_name("n", mark_as_used=False))
    names.append(tf.get_default_graph().unique_name("n"))
    bad = [raised(lambda name=name: tf.constant(1, name=name)) for name in ("_x", "a b", "-a", "a:0", "é", "a.b-c/d")]
    bad += [raised(lambda name=name: tf.name_scope(name).__enter__()) for name in ("_x", "a b", "/slash/")]
    return runs(names=names, bad=bad)


@program("V2: reuse and its limits")
def variable_scope_reuse(tf: Any) -> Outcome:
    facts: dict[str, Any] = {}
    with tf.variable_scope("a") as a:
        facts["reuse"] = [bool(a.reuse)]
        v = tf.get_variable("v", [2, 3])
        with tf.variable_scope("b", reuse=True) as b:
            facts["reuse"].append(bool(b.reuse))
            facts["missing"] = raised(lambda: tf.get_variable("w", [1]))
            with tf.variable_scope("c", reuse=False) as c:
                facts["reuse"].append(bool(c.reuse))
    with tf.variable_scope(a, reuse=True):
        facts["same"] = tf.get_variable("v", [2, 3]) is v
        facts["shape"] = raised(lambda: tf.get_variable("v", [3, 2]))
        facts["dtype"] = raised(lambda: tf.get_variable("v", [2, 3], tf.float64))
    facts["no shape"] = raised(lambda: tf.get_variable("no_shape"))
    facts["initializer and shape"] = raised(lambda: tf.get_variable("both", [2], initializer=tf.constant([1.0, 2.0])))
    tf.get_variable_scope().reuse_variables()
    facts["root"] = raised(lambda: tf.get_variable("u", [1]))
    return runs(**facts)


@program("V2: what scopes hand down")
def inherited_settings(tf: Any) -> Outcome:
    def regularizer(weights: Any) -> Any:
        return 0.1 * tf.reduce_sum(tf.square(weights))

    with tf.variable_scope("outer", dtype=tf.float64, regularizer=regularizer, initializer=tf.ones_initializer()) as s:
        w = tf.get_variable("w", [3])
        with tf.variable_scope("inner", initializer=tf.zeros_initializer()):
            x = tf.get_variable("x", [2])
            y = tf.get_variable("y", [2], regularizer=None, trainable=False)
        s.set_initializer(tf.constant_initializer(7.0))
        z = tf.get_variable("z", [2], tf.float32)
    init = tf.global_variables_initializer()
    losses = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    return runs(Run(init), Run([w, x, y, z, *losses]), losses=[t.name for t in losses])


@program("V2: default names, reopened scopes, auxiliary name scopes")
def variable_scope_names(tf: Any) -> Outcome:
    names: list[str] = []

    def note(name: str) -> None:
        variable = tf.get_variable(name, [1], initializer=tf.zeros_initializer())
        names.append(f"{variable.name} {tf.add(variable, 1.0).name} {tf.get_variable_scope().original_name_scope}")

    with tf.variable_scope(None, default_name="layer"):
        note("a")
    with tf.variable_scope(None, default_name="layer") as layer:
        note("a")
    with tf.variable_scope("layer"):
        note("b")
    with tf.variable_scope(layer):
        note("c")
    with tf.variable_scope(layer, auxiliary_name_scope=False):
        note("d")
    with tf.name_scope("top"):
        with tf.variable_scope("vs") as vs:
            note("a")
        with tf.variable_scope("vs", reuse=tf.AUTO_REUSE):
            note("a")
            with tf.variable_scope(vs.name + "/deep"):
                note("e")
    with tf.variable_scope(vs) as again, tf.name_scope(again.original_name_scope):
        note("f")
    with tf.variable_scope("vs/x"):
        note("g")
    with tf.variable_op_scope([], None, "op_scope"):
        note("h")
    return runs(names=names)


@program("V1: tf.Variable in scopes")
def variables_in_scopes(tf: Any) -> Outcome:
    names = []
    with tf.name_scope("n"):
        names.append(tf.Variable(1.0, name="v").name)
        with tf.variable_scope("s"):
            names.append(tf.Variable(1.0, name="v").name)
            names.append(tf.get_variable("v", [1]).name)
            names.append(tf.get_variable("v2", [1]).name)
        with tf.variable_scope("s"):
            names.append(tf.Variable(1.0, name="v").name)
    return runs(names=names)


@program("G2: lookups")
def lookups(tf: Any) -> Outcome:
    a, b = tf.split(tf.constant([1.0, 2.0], name="x"), 2, name="parts")
    graph = tf.get_default_graph()
    facts = {
        "tensor": str(graph.get_tensor_by_name("parts:1")),
        "operation": graph.get_operation_by_name("parts").name,
        "element": str(graph.as_graph_element("parts:0")),
        "by name": graph.as_graph_element("x").name,
        "errors": [
            raised(lambda: graph.get_tensor_by_name("parts")),
            raised(lambda: graph.get_tensor_by_name("parts:2")),
            raised(lambda: graph.get_tensor_by_name("nobody:0")),
            raised(lambda: graph.get_operation_by_name("nobody")),
            raised(lambda: graph.get_operation_by_name("parts:0")),
            raised(lambda: graph.as_graph_element(3)),
            raised(lambda: graph.as_graph_element("x", allow_operation=False)),
            raised(lambda: tf.Graph().as_graph_element(a)),
        ],
        "repr": [repr(a), repr(b.op), str(graph.get_operations())],
        "consumers": [op.name for op in graph.get_tensor_by_name("x:0").consumers()],
        "index": [a.value_index, b.value_index],
        "attr": [a.op.get_attr("num_split"), a.op.get_attr("T").name],
        "missing attr": raised(lambda: a.op.get_attr("nothing")),
        "finalized": [graph.finalized, graph.version],
    }
    return runs(**facts)


@program("G7: collections")
def collections_by_scope(tf: Any) -> Outcome:
    with tf.name_scope("a"):
        x = tf.constant(1.0, name="x")
        with tf.name_scope("b"):
            y = tf.constant(1.0, name="y")
    for tensor in (x, y):
        tf.add_to_collection("things", tensor)
    tf.add_to_collection("things", "text")
    tf.add_to_collection(tf.GraphKeys.LOSSES, y)
    reference = tf.get_collection_ref("things")
    reference.append(x)
    names = {scope: [t.name for t in tf.get_collection("things", scope)] for scope in ("a", "a/b", "b", ".*/y")}
    return runs(names=names, count=len(tf.get_collection("things")), empty=tf.get_collection("nobody"))


@program("V1, get_variable naming and uniquifying of ops")
def repeated_ops(tf: Any) -> Outcome:
    a, b = tf.constant(1.0), tf.constant(2.0)
    made = [a + b, a + b, a - b, a * b, a / b, a // b, a % b, a**b, -a, abs(a), a < b, a <= b, a > b, a >= b]
    made += [
        tf.add(a, b),
        tf.subtract(a, b),
        tf.multiply(a, b),
        tf.divide(a, b),
        tf.add_n([a, b]),
        1.0 + a,
        1.0 - a,
    ]
    made += [2.0 * a, 2.0 / a, 2.0 // a, 2.0 % a, 2.0**a, tf.equal(a, b), tf.not_equal(a, b)]
    t, f = tf.constant(True), tf.constant(False)
    made += [t & f, t | f, t ^ f, ~t, tf.logical_and(t, f), tf.logical_xor(t, f)]
    return runs(Run(made), names=[m.name for m in made])
