"""Computations for TPUs: what they are told, and that nothing here runs them. Their graphs: tests/golden/programs/tpu.py."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import numpy as np
import pytest

import tfexp as tf
from tfexp.ops.cross_replica import get_tpu_context


@pytest.fixture(autouse=True)
def in_a_graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def test_a_computation_is_called_once_and_knows_how_many_replicas_there_are() -> None:
    seen = []
    tf.tpu.replicate(lambda x: seen.append((x.name, get_tpu_context().number_of_shards)), [[1.0], [2.0], [3.0]])
    assert seen == [("replicated_input_0:0", 3)]
    assert get_tpu_context().number_of_shards is None


def test_running_names_what_is_not_here() -> None:
    (made,) = tf.tpu.rewrite(lambda x: x + 1.0, [tf.constant(1.0)])
    added = made.op.inputs[0].op.inputs[0].op.inputs[0]
    absent = {
        made: "TPU_REPLICATED_CORE:0",
        added.op.inputs[0].op.inputs[0]: "TPUReplicatedInput",
        tf.tpu.initialize_system(): "TPU_SYSTEM:0",
    }
    with tf.Session() as sess:
        for fetch, what in absent.items():
            with pytest.raises(tf.errors.InvalidArgumentError, match=what):
                sess.run(fetch)


def test_nothing_of_it_has_a_gradient() -> None:
    x = tf.constant(1.0)
    with pytest.raises(LookupError, match="TPUReplicatedOutput"):
        tf.gradients(tf.tpu.rewrite(lambda a: a * a, [x])[0], x)


def test_variables_are_resources_in_one_part(caplog: pytest.LogCaptureFixture) -> None:
    logging.getLogger("tensorflow").propagate = True
    halves = tf.fixed_size_partitioner(2)
    with tf.variable_scope("outer", custom_getter=lambda getter, *args, **kwargs: tf.identity(getter(*args, **kwargs))):
        with caplog.at_level("WARNING", "tensorflow"):
            tf.tpu.rewrite(lambda x: tf.get_variable("v", [4], partitioner=halves) * x, [1.0])
        assert not tf.get_variable_scope().use_resource
    (variable,) = tf.global_variables()
    assert variable.op.type == "VarHandleOp" and variable.shape == (4,)
    assert "Partitioned variables are not supported on TPU: outer/v" in caplog.text
    older = tf.get_variable("older", [], use_resource=False)
    with pytest.raises(NotImplementedError, match="Non-resource Variables are not supported inside TPU computations"):
        tf.tpu.rewrite(lambda x: tf.assign(older, x), [1.0])


def test_what_tpus_leave_out_is_named_once(caplog: pytest.LogCaptureFixture) -> None:
    logging.getLogger("tensorflow").propagate = True

    def computation(x: tf.Tensor) -> tf.Tensor:
        tf.summary.scalar("inside", x)
        tf.tpu.outside_compilation(lambda: tf.summary.scalar("outside", x))
        return tf.Print(x, [x], name="printed") + tf.placeholder(tf.float32, [], name="fed")

    tf.tpu.rewrite(computation, [1.0])
    refused, left_out = [record.getMessage() for record in caplog.records]
    assert refused == "Placeholder (fed) is not supported on the TPU: the graph will not run."
    assert left_out == "2 unsupported operations found: ScalarSummary (inside), Print (printed)"


def test_shapes_of_inputs_are_merged() -> None:
    rows, columns = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [2, None])
    of_each = tf.tpu.replicate(lambda x: x, [[rows], [columns]])
    assert [one.shape.as_list() for (one,) in of_each] == [[2, 3], [2, 3]]
    with pytest.raises(ValueError, match="must be equal, but are 2 and 3"):
        tf.tpu.replicate(lambda x: x, [[np.zeros(2)], [np.zeros(3)]])


@pytest.mark.parametrize(
    ("inputs", "needs"),
    [([], "at least 1 argument"), ([1.0, 2.0, 3.0], "at most 2 arguments")],
)
def test_numbers_of_arguments(inputs: list[float], needs: str) -> None:
    with pytest.raises(TypeError, match=f"You specified {len(inputs)} inputs.*needs {needs}$"):
        tf.tpu.rewrite(lambda a, b=2.0: a, inputs)


def test_what_only_tpus_can_use_is_refused() -> None:
    for arguments in ({"infeed_queue": object()}, {"maximum_shapes": [tf.TensorShape([4])]}):
        with pytest.raises(NotImplementedError, match=next(iter(arguments))):
            tf.tpu.replicate(lambda x: x, [[1.0]], **arguments)
    with pytest.raises(ValueError, match="a list for each replica"):
        tf.tpu.replicate(lambda x: x, [])


def test_only_one_part_at_a_time_is_on_the_host() -> None:
    outside = tf.tpu.outside_compilation
    with pytest.raises(NotImplementedError, match="Cannot nest outside_compilation clusters"):
        tf.tpu.rewrite(lambda x: outside(lambda a: outside(lambda b: b, a), x), [1.0])
