"""Estimators of libraries that make another global step for their graphs."""

import numpy as np
import pytest

import tfexp as tf


def examples():
    return tf.data.Dataset.from_tensors(({"x": [1.0]}, [1.0])).repeat(2)


def model(features, labels, mode):
    weight, step = tf.get_variable("w", []), tf.train.get_global_step()
    product = weight * features["x"]
    outputs = {"serving_default": tf.estimator.export.PredictOutput({"product": product})}
    return tf.estimator.EstimatorSpec(
        mode,
        {"product": product, "step": tf.reshape(step, [1])},
        tf.reduce_sum((product - 1) ** 2),
        tf.assign_add(step, 1),
        export_outputs=outputs,
    )


def step_called(name, dtype=tf.int32, known=True):
    collections = [tf.GraphKeys.GLOBAL_VARIABLES] + [tf.GraphKeys.GLOBAL_STEP] * known
    return tf.get_variable(name, [], dtype, tf.constant_initializer(5), trainable=False, collections=collections)


class LibraryEstimator(tf.estimator.Estimator):
    @staticmethod
    def _assert_members_are_not_overridden(estimator):
        """Allow what 1.15 refuses to subclasses that do not replace this, as libraries do."""


def subclass(method, make):
    return type("Subclass", (LibraryEstimator,), {method: lambda estimator, graph: make()})


@pytest.mark.parametrize("method", ["_create_global_step", "_create_and_assert_global_step"])
def test_it_is_the_step_of_all_that_they_do(method, tmp_path):
    estimator = subclass(method, lambda: step_called("step_of_mine"))(model, model_dir=str(tmp_path / "model"))
    estimator.train(examples, steps=2)
    assert sorted(estimator.get_variable_names()) == ["step_of_mine", "w"]
    assert estimator.evaluate(examples)["global_step"] == 7
    assert [int(np.squeeze(one["step"])) for one in estimator.predict(examples)] == [7, 7]
    receiver = tf.estimator.export.build_raw_serving_input_receiver_fn({"x": tf.placeholder(tf.float32, [None])})
    exported = estimator.export_saved_model(str(tmp_path / "exported"), receiver)
    names = [name for name, _ in tf.train.list_variables(f"{exported.decode()}/variables/variables")]
    assert sorted(names) == ["step_of_mine", "w"]


@pytest.mark.parametrize(
    ("step", "error"),
    [
        (lambda: step_called("unknown", known=False), AssertionError),
        (lambda: step_called("global_step", tf.float32), TypeError),
    ],
    ids=["unknown", "float"],
)
def test_it_has_to_be_the_step_of_the_graph(step, error, tmp_path):
    with pytest.raises(error):
        subclass("_create_global_step", step)(model, model_dir=str(tmp_path)).train(examples, steps=1)
