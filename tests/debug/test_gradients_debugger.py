"""The gradients of chosen tensors in the middle of a graph are found by name."""

import pytest

import tfexp as tf
from tfexp.debug.dump_dir import DebugDumpDir
from tfexp.debug.gradients import GradientsDebugger, clear_gradient_debuggers, gradient_values_from_dump
from tfexp.debug.watching import watch_graph


@pytest.fixture(autouse=True)
def no_others():
    clear_gradient_debuggers()


def product(**how):
    """u, v, their product w, and y = w ** 2."""
    u = tf.get_variable("u", initializer=2.0, **how)
    v = tf.get_variable("v", initializer=3.0, **how)
    w = tf.multiply(u, v, name="w")
    return u, v, w, tf.square(w, name="y")


def evaluate(tensors):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(tensors)


def test_gradients_of_what_is_identified_are_found():
    u, v, w, _ = product()
    debugger = GradientsDebugger()
    known = debugger.identify_gradient(w)
    assert known.op.type == "DebugGradientIdentity" and known.name.startswith("w_0/gradient_debug_")
    with debugger:
        gradients = tf.gradients(tf.exp(known - 6.0), [u, v])
    assert evaluate([*gradients, debugger.gradient_tensor(w), debugger.gradient_tensor("w:0")]) == [3, 2, 1, 1]
    assert list(debugger.gradient_tensors()) == ["w:0"] and debugger.graph is u.graph
    with pytest.raises(ValueError, match="already contains an op named w_0/gradient_debug_"):
        debugger.identify_gradient(w)


@pytest.mark.parametrize("use_resource", [False, True])
def test_watched_tensors_and_variables_keep_their_gradients(use_resource):
    u, v, w, y = product(use_resource=use_resource)
    debugger = GradientsDebugger(y)
    with debugger.watch_gradients_by_tensors(tf.get_default_graph(), [u, w]):
        gradients = tf.gradients(y, [u, v])
    found = debugger.gradient_tensors()
    assert sorted(found) == ["u:0", "w:0"] and debugger.y_tensor is y
    assert evaluate([found["u:0"], found["w:0"], *gradients]) == [36, 12, 36, 24]


def test_each_debugger_finds_gradients_in_its_own_context():
    u, _, w, y = product()
    five, graph = w * 5.0, tf.get_default_graph()
    first, second = GradientsDebugger(), GradientsDebugger()
    with first.watch_gradients_by_tensor_names(graph, "w:0"):
        tf.gradients(five, u)
    with second.watch_gradients_by_tensor_names(graph, "w:"):
        tf.gradients(y, u)
    tf.gradients(tf.exp(w), u)
    assert evaluate([first.gradient_tensor(w), second.gradient_tensor(w)]) == [5, 12]


def test_gradients_that_were_not_found():
    _, _, w, _ = product()
    debugger = GradientsDebugger(w)
    with pytest.raises(LookupError, match="not received any gradient tensor for x-tensor w:0"):
        debugger.gradient_tensor(w)
    with pytest.raises(TypeError, match="x_tensor must be a str"):
        debugger.gradient_tensor(3)
    with tf.Graph().as_default(), pytest.raises(ValueError, match="of another graph"):
        debugger.register_gradient_tensor("w:0", tf.constant(1.0))


def test_values_of_a_gradient_are_read_from_a_dump(tmp_path):
    u, _, w, y = product()
    debugger, options = GradientsDebugger(), tf.RunOptions()
    with debugger.watch_gradients_by_tensors(tf.get_default_graph(), w):
        (gradient,) = tf.gradients(y, u)
    watch_graph(options, tf.get_default_graph(), debug_urls=f"file://{tmp_path}")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(gradient, options=options)
    dump = DebugDumpDir(str(tmp_path))
    assert gradient_values_from_dump(debugger, w, dump) == [12]
    debugger.register_gradient_tensor("u:0", tf.constant(1.0))
    assert gradient_values_from_dump(debugger, u, dump) == []
    dump.set_python_graph(tf.Graph())
    with pytest.raises(ValueError, match="differs from the graph of the DebugDumpDir"):
        gradient_values_from_dump(debugger, w, dump)
