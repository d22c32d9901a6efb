"""`tf.estimator.tpu` as it is without TPUs, and `tf.tpu`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lines import X, Y, receiver

import tfexp as tf
from tfexp.estimator.tpu.config import logged_every
from tfexp.ops.cross_replica import tpu_shard_context

tpu = tf.estimator.tpu


def input_fn(params: Any) -> Any:
    rows = tf.data.Dataset.from_tensor_slices(({"x": X}, Y))
    return rows.batch(params["batch_size"], drop_remainder=True)


def model_fn(told: list[Any]) -> Any:
    def build(features: Any, labels: Any, mode: str, params: Any) -> Any:
        told.append((mode, dict(params)))
        slope = tf.get_variable("slope", [], initializer=tf.zeros_initializer())
        made = features["x"] * slope
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tpu.TPUEstimatorSpec(mode, predictions={"y": made})
        loss = tf.reduce_mean(tf.square(made - labels))
        train_op = tf.train.GradientDescentOptimizer(0.01).minimize(loss, tf.train.get_global_step())
        return tpu.TPUEstimatorSpec(
            mode,
            loss=loss,
            train_op=train_op,
            eval_metrics=(lambda y, made: {"error": tf.metrics.mean_absolute_error(y, made)}, [labels, made]),
            host_call=(lambda loss: tf.py_func(told.append, [loss[0]], []), {"loss": tf.reshape(loss, [1])}),
        )

    return build


def estimator(function: Any, folder: Any = None, **settings: Any) -> Any:
    config = tpu.RunConfig(model_dir=None if folder is None else str(folder), log_step_count_steps=1, save_summary_steps=9)
    return tpu.TPUEstimator(function, config=config, **{"use_tpu": False, **settings})


def test_functions_are_told_batch_sizes_and_a_step_runs_the_host_call(tmp_path: Path) -> None:
    told: list[Any] = []
    sizes = {"train_batch_size": 3, "eval_batch_size": 5, "predict_batch_size": 2}
    model = estimator(model_fn(told), tmp_path, params={"rate": 1}, **sizes)
    model.train(input_fn)
    assert told[0] == ("train", {"rate": 1, "batch_size": 3, "use_tpu": False})
    assert len(told) == 1 + 3 and told[1] == np.square(Y[:3]).mean()
    results = model.evaluate(input_fn)
    assert results["global_step"] == 3 and results["error"] > 0
    assert told[4] == ("eval", {"rate": 1, "batch_size": 5, "use_tpu": False})
    assert len(told) == 5 + 2
    assert len(list(model.predict(lambda params: input_fn(params)))) == 10
    assert told[7] == ("infer", {"rate": 1, "batch_size": 2, "use_tpu": False})
    model.export_saved_model(str(tmp_path / "export"), receiver)
    assert told[8] == ("infer", {"rate": 1, "use_tpu": False})
    assert model.params == {"rate": 1} and model.config.log_step_count_steps is None
    tf.summary.FileWriterCache.clear()
    (file,) = tmp_path.glob("events*")
    steps = [(event.step, v.tag) for event in tf.train.summary_iterator(str(file)) for v in event.summary.value]
    assert (2, "examples/sec") in steps and (3, "global_step/sec") in steps


def test_there_are_no_tpus(tmp_path: Path) -> None:
    model = estimator(model_fn([]), tmp_path, use_tpu=True, train_batch_size=3, eval_batch_size=5, eval_on_tpu=False)
    with pytest.raises(RuntimeError, match="Cannot find any TPU cores in the system"):
        model.train(input_fn, steps=1)
    assert model.evaluate(input_fn)["global_step"] == 0


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: tpu.TPUEstimator(model_fn([])), ValueError, "`config` must be provided with type"),
        (lambda: estimator(model_fn([]), use_tpu=True), ValueError, "`train_batch_size` cannot be `None`"),
        (lambda: estimator(model_fn([]), params={"batch_size": 1}), ValueError, "are reserved keys but existed in params"),
        (lambda: estimator(None), ValueError, "model_fn must be provided"),
        (lambda: estimator(model_fn([])).train(lambda: 3), ValueError, "input_fn .* does not include params argument"),
        (lambda: estimator(lambda features: 3).train(input_fn), ValueError, "model_fn .* does not include params argument"),
        (lambda: tpu.TPUConfig(iterations_per_loop=0), ValueError, "iterations_per_loop must be positive, .* got 0"),
        (lambda: tpu.TPUConfig(iterations_per_loop="1d"), ValueError, "iterations_per_loop .* 3600s, 60m and 1h; got 1d"),
        (lambda: tpu.TPUConfig(num_shards=-1), ValueError, "num_shards must be positive, got -1"),
        (lambda: tpu.TPUConfig(num_cores_per_replica=3), ValueError, "num_cores_per_replica must be 1, 2, .*; got 3"),
        (lambda: tpu.TPUConfig(input_partition_dims=[[1]]), ValueError, "only supported in PER_HOST_V2 mode"),
        (lambda: tpu.TPUConfig(input_partition_dims=[]), ValueError, "with one or two elements"),
        (lambda: tpu.TPUEstimatorSpec("eval", eval_metrics=3), ValueError, "eval_metrics should be tuple or list"),
        (lambda: tpu.TPUEstimatorSpec("eval", eval_metrics=(1,)), ValueError, "eval_metrics should have two elements"),
        (lambda: tpu.TPUEstimatorSpec("eval", eval_metrics=(1, [])), TypeError, r"eval_metrics\[0\] should be callable"),
        (lambda: tpu.TPUEstimatorSpec("eval", host_call=(len, 3)), ValueError, r"host_call\[1\] should be tuple or list"),
        (
            lambda: tpu.TPUEstimatorSpec("eval", eval_metrics=(lambda a, b: {}, [1])),
            RuntimeError,
            "the 1 tensors do not match the arguments of the function: missing a required argument: 'b'",
        ),
        (lambda: tpu.TPUEstimatorSpec("eval", training_hooks=[3]), TypeError, "must be SessionRunHook instances, given: 3"),
    ],
)
def test_what_does_not_fit_is_refused(make: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize(
    ("steps", "loop", "every"),
    [
        (100, 2, {"every_n_steps": 50}),
        (7, 3, {"every_n_steps": 3}),
        (None, 3, None),
        (7, "10m", {"every_n_steps": None, "every_n_secs": 600}),
    ],
)
def test_steps_are_logged_by_loops(steps: int | None, loop: int | str, every: Any) -> None:
    assert logged_every(steps, tpu.TPUConfig(iterations_per_loop=loop).iterations_per_loop) == every


def test_masters_are_the_configs_own() -> None:
    assert tpu.RunConfig().master == tpu.RunConfig().evaluation_master == ""
    assert tpu.RunConfig(master="a").evaluation_master == "a"
    config = tpu.RunConfig(master="a", evaluation_master="b", tpu_config=tpu.TPUConfig(num_shards=4))
    changed = config.replace(save_summary_steps=3, tpu_config=tpu.TPUConfig(7, per_host_input_for_training=False))
    assert (changed.master, changed.evaluation_master, changed.save_summary_steps) == ("a", "b", 3)
    assert changed.tpu_config[:4] == (7, None, None, tpu.InputPipelineConfig.PER_SHARD_V1)
    assert config.tpu_config.num_shards == 4


def test_gradients_are_summed_over_shards() -> None:
    variable = tf.get_variable("v", [2], use_resource=False)
    optimizer = tf.tpu.CrossShardOptimizer(tf.train.MomentumOptimizer(0.1, 0.9))
    with tpu_shard_context(4):
        pairs = optimizer.compute_gradients(tf.reduce_sum(variable * variable))
        step = optimizer.apply_gradients(pairs)
    (update,) = [node for node in tf.get_default_graph().get_operations() if node.type == "ApplyMomentum"]
    summed = update.inputs[3].op
    assert summed.type == "CrossReplicaSum" and summed.inputs[0] is pairs[0][0]
    assert optimizer.get_slot(variable, "momentum") is not None
    with tf.Session() as sess:
        np.testing.assert_array_equal(sess.run(summed.inputs[1]), [[0, 1, 2, 3]])
        np.testing.assert_allclose(*sess.run([pairs[0][0], variable / 2], {variable: [3, 5]}))
        with pytest.raises(
            tf.errors.InvalidArgumentError, match="No OpKernel was registered to support Op 'CrossReplicaSum'"
        ):
            sess.run(step)
    (grad,) = tf.gradients(summed.outputs[0], summed.inputs[0])
    assert grad.op.type == "CrossReplicaSum"


def test_optimizers_across_shards_refuse_other_things() -> None:
    with pytest.raises(TypeError, match="only works with"):
        tf.tpu.CrossShardOptimizer(3)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    with pytest.raises(ValueError, match="Unsupported reduction: none"):
        tf.tpu.CrossShardOptimizer(optimizer, reduction="none")
    loss = tf.reduce_sum(tf.get_variable("v", [2]))
    for groups, said in (([[0, 1]], "must have each of the 3 shards once"), ([[0, 1], [2]], "must have one size")):
        across = tf.tpu.CrossShardOptimizer(optimizer, group_assignment=groups)
        with tpu_shard_context(3), pytest.raises(ValueError, match=said):
            across.compute_gradients(loss)


def test_shards_are_not_nested() -> None:
    with tpu_shard_context(2), pytest.raises(NotImplementedError), tpu_shard_context(2):
        pass


def test_variables_are_read_as_bfloat16_within_its_scope() -> None:
    with tf.tpu.bfloat16_scope():
        short, other = tf.get_variable("a", [2], tf.bfloat16), tf.get_variable("b", [2])
    assert short.dtype == tf.bfloat16 and short.op.type == "Cast"
    assert [v.dtype.base_dtype for v in tf.global_variables()] == [tf.float32, tf.float32] and other.name == "b:0"
    assert tf.tpu.core(3) == "device:TPU_REPLICATED_CORE:3"
