"""Models whose batch is cut over several devices (tf.contrib.estimator.replicate_model_fn)."""

import numpy as np
import pytest

import tfexp as tf

estimator = tf.contrib.estimator
modes = tf.estimator.ModeKeys

pytestmark = pytest.mark.usefixtures("quiet")

X = np.arange(12, dtype=np.float32).reshape(4, 3) / 7
IDS = np.array([0, 2, 2, 4])
Y = np.array([[1.0], [2.0], [0.5], [-1.0]], np.float32)


def model_fn(features, labels, mode):
    weights = tf.get_variable("w", [3, 1], initializer=tf.constant_initializer(0.5))
    table = tf.get_variable("table", [5, 1], initializer=tf.constant_initializer(0.1))
    found = features["x"] @ weights + tf.gather(table, features["ids"])
    if mode == modes.PREDICT:
        return tf.estimator.EstimatorSpec(mode, {"found": found}, export_outputs={
            "number": tf.estimator.export.RegressionOutput(found),
            "serving_default": tf.estimator.export.PredictOutput({"all": found}),
        })  # fmt: skip
    loss = tf.losses.mean_squared_error(labels, found)
    metrics = {"error": tf.metrics.mean_absolute_error(labels, found)}
    if mode == modes.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    first = estimator.TowerOptimizer(tf.train.MomentumOptimizer(0.1, 0.9))
    second = estimator.TowerOptimizer(lambda: tf.train.AdagradOptimizer(0.1))
    steps = first.minimize(loss, tf.train.get_global_step(), [weights]), second.minimize(loss, var_list=[table])
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=tf.group(*steps))


def input_fn():
    return tf.data.Dataset.from_tensor_slices(({"x": X, "ids": IDS}, Y)).batch(4, drop_remainder=True)


def made(folder, devices, reduction=tf.losses.Reduction.MEAN):
    return tf.estimator.Estimator(estimator.replicate_model_fn(model_fn, reduction, devices), str(folder))


def test_towers_train_evaluate_and_predict_as_one_device_does(tmp_path):
    alone, both = made(tmp_path / "one", ["/cpu:0"]), made(tmp_path / "two", ["/cpu:0"] * 2)
    for model in (alone, both):
        model.train(lambda: input_fn().repeat(3))
    assert sorted(both.get_variable_names()) == ["global_step", "table", "table/Adagrad", "w", "w/Momentum"]
    assert both.get_variable_value("global_step") == 3
    for name in alone.get_variable_names():
        np.testing.assert_allclose(both.get_variable_value(name), alone.get_variable_value(name), rtol=1e-5, atol=1e-6)
    assert both.evaluate(input_fn) == pytest.approx(alone.evaluate(input_fn), rel=1e-5)
    predicted = [[float(one["found"][0]) for one in model.predict(input_fn)] for model in (both, alone)]
    np.testing.assert_allclose(*predicted, rtol=1e-5)


def test_losses_and_gradients_of_towers_may_be_summed(tmp_path):
    averaged, summed = made(tmp_path / "a", ["/cpu:0"] * 2), made(tmp_path / "b", ["/cpu:0"] * 2, tf.losses.Reduction.SUM)
    for model in (averaged, summed):
        model.train(input_fn)
    assert summed.get_variable_value("w/Momentum") == pytest.approx(2 * averaged.get_variable_value("w/Momentum"))


def test_outputs_to_export_are_put_together():
    with tf.Graph().as_default():
        features = {"x": tf.constant(X), "ids": tf.SparseTensor([[n, 0] for n in range(4)], IDS, [4, 1]).values}
        spec = estimator.replicate_model_fn(model_fn, devices=["/cpu:0"] * 2)(features, None, modes.PREDICT)
        assert spec.export_outputs["number"].value.shape == [4, 1]
        assert spec.export_outputs["serving_default"].outputs["all"].shape == [4, 1]


def test_what_towers_cannot_do_is_refused(tmp_path):
    with pytest.raises(ValueError, match="need to be reduced"):
        estimator.replicate_model_fn(model_fn, tf.losses.Reduction.NONE)
    with pytest.raises(ValueError, match="Batch size 4 needs to be divisible by the number of GPUs, which is 3"):
        made(tmp_path, ["/cpu:0"] * 3).train(input_fn)

    def bare(features, labels, mode):
        loss = tf.reduce_sum(features["x"]) * tf.get_variable("w", [])
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=tf.train.GradientDescentOptimizer(1.0).minimize(loss))

    def uneven(features, labels, mode):
        loss = tf.reduce_sum(features["x"]) * tf.get_variable("w", [])
        optimizer = estimator.TowerOptimizer(tf.train.GradientDescentOptimizer(1.0))
        if not tf.get_variable_scope().reuse:
            optimizer.minimize(loss)
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=optimizer.minimize(loss))

    for function, told in ((bare, "wrap optimizers with TowerOptimizer"), (uneven, "the same optimizer calls")):
        replicated = estimator.replicate_model_fn(function, devices=["/cpu:0"] * 2)
        with tf.Graph().as_default(), pytest.raises(ValueError, match=told):
            replicated({"x": tf.constant(X)}, tf.constant(Y), modes.TRAIN)


def test_without_towers_the_optimizer_is_the_given_one():
    with tf.Graph().as_default(), tf.Session() as session:
        variable = tf.get_variable("v", initializer=3.0)
        optimizer = estimator.TowerOptimizer(tf.train.MomentumOptimizer(0.5, 0.9))
        step = optimizer.minimize(2.0 * variable)
        session.run(tf.global_variables_initializer())
        session.run(step)
        assert session.run(variable) == 2.0 and optimizer.get_name() == "Momentum"
        assert [v.op.name for v in optimizer.variables()] == ["v/Momentum"] and optimizer.get_slot_names() == ["momentum"]
        assert optimizer.get_slot(variable, "momentum").op.name == "v/Momentum"
