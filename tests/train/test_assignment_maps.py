"""Variables that begin with a checkpoint's values."""

import os

import numpy as np
import pytest

import tfexp as tf


@pytest.fixture
def checkpoint(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        for name in ("a/v", "a/w", "z"):
            tf.get_variable(name, [2, 3])
        with tf.variable_scope("p", partitioner=tf.fixed_size_partitioner(2)):
            tf.get_variable("q", [4, 2])
        session.run(tf.global_variables_initializer())
        yield tf.train.Saver().save(session, str(tmp_path / "model")), session


def test_scopes_names_and_parts(checkpoint):
    path, saved = checkpoint
    with tf.Graph().as_default() as graph, tf.Session() as session:
        v, w = tf.get_variable("new/v", [2, 3]), tf.get_variable("new/w", [2, 3])
        z = tf.get_variable("y", [2, 3], initializer=tf.zeros_initializer())
        with tf.variable_scope("r", partitioner=tf.fixed_size_partitioner(2)):
            q = tf.get_variable("q", [4, 2])
        before = len(graph.get_operations())
        tf.train.init_from_checkpoint(path, {"a/": "new/", "z": "y", "p/q": list(q)})
        new = graph.get_operations()[before:]
        # As TensorFlow makes them.
        assert [op.name for op in new if op.type != "Const"] == [
            f"{name}{number}" for number in ("", "_1", "_2", "_3", "_4") for name in ("checkpoint_initializer", "Assign")
        ]
        assert {op.device for op in new if op.type != "Assign"} == {"/device:CPU:0"}
        session.run(tf.global_variables_initializer())
        expected = saved.run(["a/v:0", "a/w:0", "z:0", "p/q/part_0:0", "p/q/part_1:0"])
        for got, value in zip(session.run([v, w, z, *q]), expected, strict=True):
            np.testing.assert_array_equal(got, value)


@pytest.mark.parametrize("kind", [str, os.fsencode])
def test_the_root_and_folders(checkpoint, tmp_path, kind):
    _, saved = checkpoint
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.get_variable("below/a/v", [2, 3])
        tf.train.init_from_checkpoint(kind(tmp_path), {"/": "below/"})
        session.run(v.initializer)
        np.testing.assert_array_equal(session.run(v), saved.run("a/v:0"))


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ({"nope": "y"}, "Tensor nope is not found in .* checkpoint"),
        ({"z": "nope"}, "Variable nope is not found in the graph"),
        ({"p/q": "y"}, r"Shape of variable y:0 \(\(2, 3\)\) doesn't match with shape of tensor p/q \(\[4, 2\]\)"),
        ({"a/": "y"}, "Assignment map with scope only name a/ should map to scope only y"),
        ({"z": 3}, "assignment_map's values are variables"),
    ],
)
def test_refusals(checkpoint, mapping, message):
    with tf.Graph().as_default():
        tf.get_variable("y", [2, 3])
        with pytest.raises(ValueError, match=message):
            tf.train.init_from_checkpoint(checkpoint[0], mapping)


def test_variables_behind_handles_are_assigned_and_not_read(checkpoint):
    path, saved = checkpoint
    with tf.Graph().as_default() as graph, tf.Session() as session:
        z = tf.get_variable("z", [2, 3], use_resource=True)
        before = len(graph.get_operations())
        tf.train.init_from_checkpoint(path, {"z": z})
        new = graph.get_operations()[before:]
        assert [op.type for op in new if op.type != "Const"] == ["RestoreV2", "Identity", "AssignVariableOp"]
        session.run(z.initializer)
        np.testing.assert_array_equal(session.run(z), saved.run("z:0"))
