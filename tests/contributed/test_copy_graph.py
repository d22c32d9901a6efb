"""Variables and operations that another graph gets under their names."""

import numpy as np
import pytest

import tfexp as tf

copy_graph = tf.contrib.copy_graph


@pytest.fixture
def source() -> tf.Graph:
    with tf.Graph().as_default() as graph:
        a = tf.placeholder(tf.float32, [None, 2], name="a")
        v = tf.get_variable("v", initializer=np.float32([[1], [2]]), collections=["mine", tf.GraphKeys.GLOBAL_VARIABLES])
        u = tf.Variable(3.0, trainable=False, name="u")
        tf.nn.relu(tf.matmul(a, v) + u, name="b")
    return graph


def _variables(source: tf.Graph) -> dict[str, tf.Variable]:
    return {one.op.name: one for one in source.get_collection(tf.GraphKeys.GLOBAL_VARIABLES)}


@pytest.mark.parametrize("scope", ["", "outer/inner"])
def test_a_part_of_a_graph_runs_in_another(source: tf.Graph, scope: str) -> None:
    target, below = tf.Graph(), f"{scope}/" if scope else ""
    copies = [copy_graph.copy_variable_to_graph(one, target, scope) for one in _variables(source).values()]
    result = copy_graph.copy_op_to_graph(source.get_tensor_by_name("b:0"), target, copies, scope)
    assert result.graph is target and result.name == f"{below}b:0"
    assert copy_graph.get_copied_op(source.get_operation_by_name("b"), target, scope) is result.op
    nodes = len(target.get_operations())
    assert copy_graph.copy_op_to_graph(result.op if not scope else source.get_operation_by_name("b"), target, copies, scope)
    assert len(target.get_operations()) == nodes  # what is there already is not copied again
    with target.as_default(), tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(session.run(result, {f"{below}a:0": [[1.0, 1.0], [-9.0, 0.0]]}), [[6.0], [0.0]])


def test_copies_of_variables_are_in_the_collections_of_these(source: tf.Graph) -> None:
    target = tf.Graph()
    copies = {name: copy_graph.copy_variable_to_graph(one, target) for name, one in _variables(source).items()}
    assert target.get_collection("mine") == [copies["v"]]
    assert target.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES) == [copies["v"]]
    assert target.get_collection(tf.GraphKeys.GLOBAL_VARIABLES) == [copies["v"], copies["u"]]


def test_what_cannot_be_copied(source: tf.Graph) -> None:
    with pytest.raises(TypeError, match="is not a Variable"):
        copy_graph.copy_variable_to_graph(source.get_tensor_by_name("b:0"), tf.Graph())
    with pytest.raises(TypeError, match="neither an operation nor a tensor"):
        copy_graph.copy_op_to_graph(3, tf.Graph(), [])
    with pytest.raises(ValueError, match="Not in the graph"):
        copy_graph.copy_op_to_graph(source.get_tensor_by_name("b:0"), tf.Graph(), list(_variables(source).values()))
    with pytest.raises(KeyError, match="no/b"):
        copy_graph.get_copied_op(source.get_operation_by_name("b"), tf.Graph(), "no")
