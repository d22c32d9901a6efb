"""What has other arguments in tf.contrib than in the core."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfexp as tf

framework, distribute = tf.contrib.framework, tf.contrib.distribute


def test_predictions_come_before_labels() -> None:
    with tf.Graph().as_default():
        predictions, labels = framework.remove_squeezable_dimensions(tf.zeros([3, 1]), tf.zeros([3]), name="fit")
        assert predictions.op.name == "fit/Squeeze" and labels.shape.as_list() == [3]
        _, labels = framework.remove_squeezable_dimensions(predictions=tf.zeros([3]), labels=tf.ones([3, 1]))
        assert labels.shape.as_list() == [3]


def test_weights_come_before_dimensions_of_labels() -> None:
    for head_of in (tf.contrib.estimator.regression_head, tf.contrib.estimator.poisson_regression_head):
        with tf.Graph().as_default(), tf.Session() as session:
            head = head_of("weight", 2, name="mine")
            features = {"weight": tf.constant([[1.0], [0.0]])}
            assert (head.logits_dimension, head.name) == (2, "mine")
            loss = head.loss(tf.ones([2, 2]), tf.constant([[1.0, 1.0], [9.0, 9.0]]), features)
            plain = head_of(label_dimension=2).loss(tf.ones([1, 2]), tf.ones([1, 2]))
            np.testing.assert_allclose(*session.run([loss, plain / 2]), rtol=1e-6)  # of two rows, one of them of weight 0


def test_checkpoints_are_named_as_they_were(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        variable = tf.get_variable("v", initializer=[3.0, 5.0])
        session.run(variable.initializer)
        path = tf.train.Saver().save(session, str(tmp_path / "model"))
        assert framework.list_variables(checkpoint_dir=path) == [("v", [2])]
        assert framework.load_variable(checkpoint_dir=str(tmp_path), name="v").tolist() == [3.0, 5.0]
        assert framework.load_checkpoint(filepattern=path).has_tensor("v")
        other = tf.get_variable("w", [2])
        framework.init_from_checkpoint(checkpoint_dir=path, assignment_map={"v": other})
        session.run(other.initializer)
        assert session.run(other).tolist() == [3.0, 5.0]


def test_strategies_ask_for_gpus_and_give_each_replica_a_batch() -> None:
    assert distribute.MirroredStrategy(num_gpus=2).num_replicas_in_sync == 2
    assert distribute.MirroredStrategy(num_gpus_per_worker=0).num_replicas_in_sync == 1
    assert distribute.ParameterServerStrategy(num_gpus_per_worker=1).num_replicas_in_sync == 1
    with pytest.raises(ValueError, match="both `num_gpus` and"):
        distribute.MirroredStrategy(num_gpus=1, num_gpus_per_worker=1)
    with pytest.raises(ValueError, match="one of `devices`"):
        distribute.MirroredStrategy(["/cpu:0"], num_gpus=1)
    with tf.Graph().as_default(), tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
        strategy = distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
        iterator = strategy.make_dataset_iterator(tf.data.Dataset.range(8).batch(2))
        session.run(iterator.initialize())
        given = strategy.experimental_local_results(iterator.get_next())
        assert [batch.tolist() for batch in session.run(given)] == [[0, 1], [2, 3]]


def test_functions_are_converted_by_a_decorator() -> None:
    @tf.contrib.autograph.convert()
    def squared_above_zero(x: Any) -> Any:
        if x > 0:
            x = x * x
        return x

    @tf.contrib.autograph.convert(recursive=True)
    def grown(x: Any) -> Any:
        while x < 10:
            x = squared_above_zero(x) + 1
        return x

    with tf.Graph().as_default(), tf.Session() as session:
        found = session.run([squared_above_zero(tf.constant(-3)), grown(tf.constant(2))])
    assert found == [-3, 26] and grown(2) == 26 and grown.__name__ == "grown"
