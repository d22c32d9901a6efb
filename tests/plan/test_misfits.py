"""Values whose shapes a node turns out not to fit: the node's error, whatever the plan knew of them."""

from __future__ import annotations

import numpy as np
import pytest
from tensorboard.compat.proto import graph_pb2

import tfexp as tf
from tfexp.graph.graphdef import import_graph_def


def _hidden(value):
    """A value that is the same in every run, with a shape that nobody knows before the plan."""
    return tf.placeholder_with_default(np.asarray(value), None)


FLOATS = np.ones(3, np.float32)
MISFITS = {
    "AddN": lambda: tf.add_n([tf.constant(1.0), _hidden(FLOATS)], name="misfit"),
    "MatMul of vectors": lambda: tf.matmul(_hidden(FLOATS), _hidden(FLOATS), name="misfit"),
    "an axis that is a vector": lambda: tf.argmax(_hidden(FLOATS), _hidden([0, 0]), name="misfit"),
    "an axis of a gather": lambda: tf.gather(_hidden(FLOATS), _hidden([0]), axis=_hidden([0, 0]), name="misfit"),
    "a reshaped vector": lambda: tf.reshape(_hidden(FLOATS), _hidden([5]), name="misfit"),
    "a size that is a number": lambda: tf.slice(_hidden(FLOATS), _hidden(0), _hidden(1), name="misfit"),
}


@pytest.mark.parametrize("what", MISFITS)
def test_misfits_are_the_nodes_error(what):
    with tf.Graph().as_default():
        fetch = MISFITS[what]()
        with tf.Session() as session:
            for _ in range(2):  # the first run is interpreted
                with pytest.raises(tf.errors.InvalidArgumentError, match="node misfit"):
                    session.run(fetch)


def _claimed(given):
    claimed = tf.identity(given)
    claimed.set_shape([3])
    return claimed


# What a graph says of claimed shapes, and of those that follow from them, does not hold; the feed has two elements.
CLAIMS = {
    "sum": lambda x: tf.reduce_sum(x + 1.0),
    "size": lambda x: tf.size(tf.identity(x) * 2.0, name="size") + tf.shape(tf.identity(x))[0] * 0,
    "loop": lambda x: tf.while_loop(lambda i, _: i < 2, lambda i, y: (i + 1, y + x), [0, x])[1],
    "loops": lambda x: tf.while_loop(
        lambda i, _: i < 2,
        lambda i, y: (i + 1, tf.while_loop(lambda j, _: j < 2, lambda j, z: (j + 1, z + x), [0, y])[1]),
        [0, x],
    )[1],
    "branch": lambda x: tf.cond(tf.reduce_sum(x) > 0, lambda: x + 1.0, lambda: x),
    "default": lambda x: _claimed(tf.placeholder_with_default(x, None)) - 1.0,
}
CLAIMED = {"sum": 5.0, "size": 3, "loop": [3.0, 6.0], "loops": [5.0, 10.0], "branch": [2.0, 3.0], "default": [0.0, 1.0]}


@pytest.mark.parametrize("what", CLAIMS)
def test_a_false_claim_of_a_shape_is_not_believed_where_the_feed_shows_it(what):
    with tf.Graph().as_default(), tf.Session() as session:
        given = tf.placeholder(tf.float32)
        fetch = CLAIMS[what](_claimed(given))
        for _ in range(2):
            assert np.array_equal(session.run(fetch, {given: [1.0, 2.0]}), CLAIMED[what])


def test_a_loops_node_without_a_loop():
    definition = graph_pb2.GraphDef()
    definition.node.add(name="misfit", op="Exit", input=["x"]).attr["T"].type = 1
    definition.node.add(name="x", op="Placeholder").attr["dtype"].type = 1
    with tf.Graph().as_default(), tf.Session() as session:
        import_graph_def(definition, name="")
        with pytest.raises(tf.errors.InvalidArgumentError, match="only as part of its loop"):
            session.run("misfit:0", {"x:0": 1.0})
