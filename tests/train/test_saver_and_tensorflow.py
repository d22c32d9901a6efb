"""Checkpoints and MetaGraphs go both ways: TensorFlow's recorded ones, and ours to TensorFlow where it is installed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tests.golden import oracle
from tests.golden.training_cases import HALF, MODEL, RECORDING, build_model, key, model_steps


@pytest.fixture(scope="module")
def finished() -> dict[str, Any]:
    """The model's variables as TensorFlow has them after all steps."""
    prefix = key("model", "")
    with np.load(RECORDING) as arrays:
        return {name.removeprefix(prefix): arrays[name] for name in arrays if name.startswith(prefix)}


def assert_same(actual: dict[str, Any], expected: dict[str, Any]) -> None:
    assert sorted(actual) == sorted(expected)
    for name, values in expected.items():
        np.testing.assert_allclose(actual[name], values, rtol=2e-5, atol=2e-6, err_msg=name)
        assert actual[name].dtype == values.dtype


def test_training_goes_on_from_tensorflows_checkpoint(finished: dict[str, Any]) -> None:
    build_model(tf)
    with tf.Session() as session:
        tf.train.Saver().restore(session, str(MODEL))
        assert session.run(tf.train.get_global_step()) == HALF
        assert_same(model_steps(tf, session, HALF, 2 * HALF), finished)


def test_training_goes_on_from_tensorflows_metagraph(finished: dict[str, Any]) -> None:
    """No code of the model: its graph, collections and saver come from the file."""
    saver = tf.train.import_meta_graph(f"{MODEL}.meta")
    assert saver is not None
    assert [t.name for t in tf.get_collection("feeds")] == ["x:0", "y:0"]
    assert [v.op.name for v in tf.trainable_variables()] == ["layer/w", "layer/b", "parts/p/part_0", "parts/p/part_1"]
    assert tf.train.get_global_step() is tf.get_collection(tf.GraphKeys.GLOBAL_STEP)[0]
    assert tf.train.get_global_step() in tf.global_variables()
    with tf.Session() as session:
        saver.restore(session, str(MODEL))
        assert_same(model_steps(tf, session, HALF, 2 * HALF), finished)


def test_tensorflows_metagraph_in_a_scope(finished: dict[str, Any]) -> None:
    tf.no_op(name="copy")  # the name is taken
    saver = tf.train.import_meta_graph(f"{MODEL}.meta", import_scope="copy")
    assert saver is not None
    assert {v.op.name for v in tf.global_variables()} == {f"copy_1/{name}" for name in finished}
    with tf.Session() as session:
        saver.restore(session, str(MODEL))
        assert session.run("copy_1/global_step:0") == HALF


def test_the_same_model_makes_the_same_checkpoint(tmp_path: Path) -> None:
    build_model(tf)
    with tf.Session() as session:
        session.run("init")
        model_steps(tf, session, 0, HALF)
        path = tf.train.Saver().save(session, str(tmp_path / "model"), global_step=tf.train.get_global_step())
    ours, theirs = tf.train.load_checkpoint(path), tf.train.load_checkpoint(str(MODEL))
    assert ours.get_variable_to_shape_map() == theirs.get_variable_to_shape_map()
    for name in theirs.get_variable_to_shape_map():
        np.testing.assert_allclose(ours.get_tensor(name), theirs.get_tensor(name), rtol=2e-5, atol=2e-6, err_msg=name)


# What real TensorFlow makes of a checkpoint with MetaGraph: restores it by its own means and trains on.
READER = """
import json, sys
from tests.golden import oracle
from tests.golden.training_cases import HALF, model_steps
tf = oracle.tensorflow()
saver = tf.train.import_meta_graph(sys.argv[1] + ".meta")
with tf.Session() as session:
    saver.restore(session, sys.argv[1])
    found = model_steps(tf, session, HALF, 2 * HALF)
print(json.dumps({name: value.tolist() for name, value in found.items()}))
"""


@pytest.mark.skipif(not oracle.is_installed(), reason="TensorFlow is not installed")
def test_tensorflow_goes_on_from_our_files(tmp_path: Path, finished: dict[str, Any]) -> None:
    build_model(tf)
    with tf.Session() as session:
        session.run("init")
        model_steps(tf, session, 0, HALF)
        path = tf.train.Saver(sharded=True).save(session, str(tmp_path / "model"))
    command = [sys.executable, "-W", "ignore", "-c", READER, str(path)]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = {name: np.array(value, finished[name].dtype) for name, value in json.loads(done.stdout).items()}
    assert_same(found, finished)


def test_parts_of_resources_are_read_among_the_nodes_that_save() -> None:
    tf.get_variable("w", [4], partitioner=tf.fixed_size_partitioner(2), use_resource=True)
    tf.train.Saver()
    saving = tf.get_default_graph().get_operation_by_name("save/SaveV2")
    values = [value.op for value in saving.inputs[3:]]
    assert [(op.name, op.device) for op in values] == [
        ("save/Identity_1", "/device:CPU:0"),
        ("save/Identity_3", "/device:CPU:0"),
    ]
    reads = [value.inputs[0].op.inputs[0].op.name for value in values]
    assert reads == ["save/Read/ReadVariableOp", "save/Read_1/ReadVariableOp"]
