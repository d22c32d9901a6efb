"""tf.contrib.learn: experiments, monitors, metrics and settings of runs."""

import numpy as np
import pytest

import tfexp as tf

learn = tf.contrib.learn
monitors = learn.monitors


pytestmark = pytest.mark.usefixtures("quiet")


def inputs():
    return {"x": tf.constant([[1.0], [2.0]])}, tf.constant([1.0, 2.0])


def model(features, labels, mode):
    predicted = tf.layers.dense(features["x"], 1)[:, 0]
    if labels is None:
        return learn.ModelFnOps(mode, predicted)
    loss = tf.losses.mean_squared_error(labels, predicted)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return learn.ModelFnOps(mode, predicted, loss, train)


def estimator(folder, **settings):
    return learn.Estimator(model, str(folder), learn.RunConfig(tf_random_seed=1, **settings))


ERROR = {"mse": learn.MetricSpec(tf.contrib.metrics.streaming_mean_squared_error)}


# --- monitors


class Told(monitors.EveryN):
    def __init__(self, *args):
        super().__init__(*args)
        self.log = []

    def every_n_step_begin(self, step):
        return ["global_step:0"]

    def every_n_step_end(self, step, outputs):
        self.log.append((step, int(outputs["global_step:0"])))
        return False

    def every_n_post_step(self, step, session):
        self.log.append(step)


def test_a_monitor_is_told_of_the_first_steps_and_then_of_some(tmp_path):
    told, kept = Told(3, 2), monitors.CaptureVariable("global_step:0", every_n=2)
    made = estimator(tmp_path)
    made.fit(input_fn=inputs, steps=9, monitors=[told, kept, tf.train.StopAtStepHook(num_steps=20)])
    assert [one if isinstance(one, int) else one[0] for one in told.log] == [1, 1, 2, 2, 5, 5, 8, 8, 9]
    assert sorted(kept.values) == [1, 3, 5, 7, 9]
    made.fit(input_fn=inputs, steps=50, monitors=[monitors.StopAtStep(last_step=12)])
    assert made.get_variable_value("global_step") == 12
    made.fit(input_fn=inputs, steps=50, monitors=[monitors.StopAtStep(num_steps=3)])
    assert made.get_variable_value("global_step") == 15


def test_steps_are_counted_over_all_trainings():
    told = Told(3, -1)
    for steps in (range(1, 5), range(5, 8)):
        told.begin()
        for step in steps:
            told.step_begin(step)
            told.step_end(step, {"global_step:0": step})
            told.post_step(step, None)
        told.end()
    assert told.log == [(3, 3), 3, 4, (6, 6), 6, 7]


def test_a_validation_stops_what_does_not_become_better(tmp_path):
    made = estimator(tmp_path, save_checkpoints_steps=2)
    watch = monitors.ValidationMonitor(
        input_fn=inputs,
        eval_steps=1,
        metrics=ERROR,
        every_n_steps=2,
        early_stopping_rounds=4,
        early_stopping_metric="mse",
        early_stopping_metric_minimize=False,
        check_interval_secs=None,
    )
    made.fit(input_fn=inputs, steps=60, monitors=[watch])
    reached = made.get_variable_value("global_step")
    assert watch.early_stopped and reached == watch.best_step + 4 < 20
    assert sorted(watch.best_metrics) == ["global_step", "loss", "mse"] and watch.best_metrics["mse"] == watch.best_value


def test_tensors_are_logged_and_nans_are_found(tmp_path, monkeypatch):
    said = []
    monkeypatch.setattr("tfexp.contributed.learn.monitors._log.info", lambda text, *values: said.append(text % values))
    watch = [monitors.PrintTensor({"kernel": "dense/kernel:0"}), monitors.LoggingTrainable("dense/bias")]
    estimator(tmp_path / "a").fit(input_fn=inputs, steps=1, monitors=watch)
    lines = [line for line in said if "tep 1: " in line]
    assert lines[0].startswith("Step 1: kernel = [[") and lines[1].startswith(
        "Logging Trainable for Step 1: {'dense/bias:0'"
    )

    def diverged(features, labels, mode):
        ops = model(features, labels, mode)
        return ops._replace(training_hooks=monitors.replace_monitors_with_hooks([monitors.NanLoss(ops.loss * np.nan)], made))

    made = learn.Estimator(diverged, str(tmp_path / "b"))
    with pytest.raises(learn.NanLossDuringTrainingError, match="NaN loss during training"):
        made.fit(input_fn=inputs, steps=2)


def test_monitors_save_checkpoints_and_summaries(tmp_path):
    with tf.Graph().as_default():
        step = tf.train.create_global_step()
        summary, counted = tf.summary.scalar("loss", 2.0), tf.assign_add(step, 1)
        saved = monitors.CheckpointSaver(str(tmp_path / "a"), save_steps=3, saver=tf.train.Saver(max_to_keep=None))
        written = monitors.get_default_monitors(step, summary, 2, str(tmp_path / "b"))
        watching = monitors.RunHookAdapterForMonitors([saved, *written])
        with tf.train.MonitoredSession(hooks=[watching]) as session:
            for _ in range(5):
                session.run(counted)
    names = {path.name for path in (tmp_path / "a").glob("*.index")}
    assert names == {f"model.ckpt-{number}.index" for number in (1, 4, 5)}
    [path] = (tmp_path / "b").glob("events*")
    kept = [event.step for event in tf.train.summary_iterator(str(path)) if event.summary.value]
    assert kept == [1, 3, 5]
    for settings in ({}, {"save_secs": 1, "save_steps": 1}):
        with pytest.raises(ValueError, match="save_steps"):
            monitors.CheckpointSaver(str(tmp_path), **settings)


def test_steps_out_of_turn():
    base = monitors.BaseMonitor()
    base.begin()
    with pytest.raises(ValueError, match="begin called twice without end"):
        base.begin()
    assert base.step_begin(3) == []
    with pytest.raises(ValueError, match="step_end expected 3 but got 4"):
        base.step_end(4, None)
    assert base.step_end(3, None) is False and base.step_begin(1) == []  # as of another estimator
    with pytest.raises(ValueError, match="Invalid step -1"):
        base.step_begin(-1)
    base.epoch_begin(0)
    with pytest.raises(ValueError, match="epoch_end expected 0 but got 1"):
        base.epoch_end(1)
    for given in ({}, {"num_steps": 1, "last_step": 2}):
        with pytest.raises(ValueError, match="of num_steps or last_step"):
            monitors.StopAtStep(**given)
    with pytest.raises(ValueError, match="Either x or input_fn"):
        monitors.ValidationMonitor()


# --- metrics


def test_a_metric_finds_its_arguments_by_name():
    spec = learn.MetricSpec(lambda predictions, targets, weights: (predictions, targets, weights), weight_key="w")
    assert spec.create_metric_ops({"w": 3}, 2, 1) == (1, 2, 3)
    assert learn.MetricSpec(lambda a, b: (a, b), label_key="y").create_metric_ops({}, {"y": 2, "z": 0}, {"one": 1}) == (1, 2)
    shown = "MetricSpec(metric_fn=streaming_accuracy, prediction_key=classes, label_key=None, weight_key=None)"
    assert str(learn.MetricSpec(tf.contrib.metrics.streaming_accuracy, "classes")) == shown
    with pytest.raises(ValueError, match="without specified prediction_key requires predictions tensor"):
        learn.MetricSpec(lambda labels, predictions: 0).create_metric_ops(None, 1, {"a": 1, "b": 2})
    with pytest.raises(KeyError, match="Key 'z' missing"):
        learn.MetricSpec(lambda labels, predictions: 0, "z").create_metric_ops(None, 1, {"a": 1})
    with pytest.raises(ValueError, match="missing from <lambda>"):
        learn.MetricSpec(lambda labels, predictions: 0, weight_key="w").create_metric_ops({"w": 1}, 1, 1)


# --- experiments


def test_an_experiment_trains_evaluates_and_exports(tmp_path):
    exports = []

    def export(given, path, checkpoint_path, eval_result):
        exports.append((given, path.removeprefix(str(tmp_path)), eval_result["global_step"]))
        return "exported"

    made = estimator(tmp_path)
    experiment = learn.Experiment(
        made,
        inputs,
        inputs,
        ERROR,
        train_steps=5,
        eval_steps=1,
        min_eval_frequency=2,
        export_strategies=learn.ExportStrategy("servo", export),
    )
    found, exported = experiment.train_and_evaluate()
    assert sorted(found) == ["global_step", "loss", "mse"] and found["global_step"] == 5
    assert exported == ["exported"] and exports == [(made, "/export/servo", 5)]
    assert experiment.evaluate()["mse"] == found["mse"] and (tmp_path / "eval_one_pass").is_dir()
    assert [one.name for one in experiment.reset_export_strategies()] == ["servo"]
    assert experiment.test()[1] == []


def test_an_experiment_with_an_estimator_of_the_core(tmp_path):
    def core(features, labels, mode):
        made = model(features, labels, mode)._replace(eval_metric_ops={"mean": tf.metrics.mean(labels)})
        return made.estimator_spec()

    made = tf.estimator.Estimator(core, str(tmp_path), tf.estimator.RunConfig(save_checkpoints_steps=1))
    seen = []

    class Hook(tf.train.SessionRunHook):
        def end(self, session):
            seen.append("evaluated")

    experiment = learn.Experiment(
        made, inputs, inputs, train_steps=3, eval_steps=1, eval_hooks=[Hook()], min_eval_frequency=1, check_interval_secs=0
    )
    found, exported = experiment.train_and_evaluate()
    assert found["mean"] == 1.5 and exported == [] and len(seen) > 1
    watch = monitors.ValidationMonitor(input_fn=inputs, batch_size=2, metrics=ERROR)
    watch.set_estimator(made)
    with pytest.raises(ValueError, match=r"does not support following arguments.* Given: batch_size, metrics"):
        watch.every_n_step_end(1, {})
    assert experiment.continuous_train_and_eval()[0]["global_step"] == 3
    for evaluate in (experiment.continuous_eval, experiment.continuous_eval_on_train_data):
        found, _ = evaluate(0, 0)
        assert found["global_step"] == 3


def test_training_and_evaluating_in_turn(tmp_path):
    experiment = learn.Experiment(
        estimator(tmp_path), inputs, inputs, train_steps=5, eval_steps=1, train_steps_per_iteration=2
    )
    told = Told(1)
    experiment.extend_train_hooks([told])
    found, _ = experiment.continuous_train_and_eval(lambda results: results is None or results["global_step"] < 4)
    assert found["global_step"] == 4 and [one for one in told.log if isinstance(one, int)] == [1, 2, 3, 4]


def test_what_experiments_refuse(tmp_path):
    made = estimator(tmp_path)
    with pytest.raises(ValueError, match="must implement"):
        learn.Experiment(3, inputs, inputs)
    with pytest.raises(ValueError, match="`saving_listeners` must be `None`"):
        learn.Experiment(made, inputs, inputs, saving_listeners=[1])
    with pytest.raises(ValueError, match="`eval_metrics` must be `None`"):
        learn.Experiment(tf.estimator.Estimator(model, str(tmp_path)), inputs, inputs, eval_metrics=ERROR)
    with pytest.raises(ValueError, match="`export_strategies` must be"):
        learn.Experiment(made, inputs, inputs, export_strategies=[3])


def test_an_experiment_is_run_by_its_schedule(tmp_path):
    run = learn.learn_runner.run

    def experiment(run_config, hparams):
        made = learn.Estimator(model, config=run_config)
        return learn.Experiment(made, inputs, inputs, train_steps=hparams, eval_steps=1)

    config = learn.RunConfig(model_dir=str(tmp_path))
    found, _ = run(experiment, run_config=config, hparams=2)
    assert found["global_step"] == 2
    assert run(lambda output_dir: experiment(config, 2), str(tmp_path), "evaluate")["global_step"] == 2
    for error, says, arguments in (
        (ValueError, "Must set value for `output_dir` or `run_config`", {}),
        (ValueError, "Cannot provide both", {"output_dir": "a", "run_config": config}),
        (ValueError, "Must specify a model directory", {"run_config": learn.RunConfig()}),
        (ValueError, "non-existent task fly", {"run_config": config, "schedule": "fly"}),
        (TypeError, "non-callable member train_steps", {"run_config": config, "schedule": "train_steps"}),
    ):
        with pytest.raises(error, match=says):
            run(experiment, **arguments)
    with pytest.raises(TypeError, match="is not callable"):
        run(3, "a")
    with pytest.raises(TypeError, match="did not return an Experiment"):
        run(lambda output_dir: 4, "a")
    with pytest.raises(RuntimeError, match="expected to be used by the `Estimator`"):
        run(lambda run_config, hparams: experiment(config, 1), run_config=config.replace(save_summary_steps=3))


def test_settings_of_contribs_time():
    config = learn.RunConfig(num_cores=3, log_device_placement=True, gpu_memory_fraction=0.5, save_checkpoints_steps=7)
    assert (config.save_checkpoints_secs, config.save_checkpoints_steps, config.master) == (None, 7, "")
    made = config.session_config
    assert (made.intra_op_parallelism_threads, made.inter_op_parallelism_threads, made.log_device_placement) == (3, 3, True)
    assert made.gpu_options.per_process_gpu_memory_fraction == 0.5
    assert learn.RunConfig().save_checkpoints_secs == 600 and isinstance(config, tf.estimator.RunConfig)
    with pytest.raises(ValueError, match="master of this task is ''"):
        learn.RunConfig(master="grpc://elsewhere:1")


def test_an_experiment_exports_what_is_served(tmp_path):
    serving = learn.build_parsing_serving_input_fn({"x": tf.FixedLenFeature([1], tf.float32)})
    strategy = learn.make_export_strategy(serving, exports_to_keep=1)
    experiment = learn.Experiment(
        estimator(tmp_path), inputs, inputs, train_steps=2, eval_steps=1, export_strategies=[strategy]
    )
    experiment.train_and_evaluate()
    [folder] = (tmp_path / "export" / "Servo").iterdir()
    example = tf.train.Example(features=tf.train.Features(feature={"x": tf.train.Feature(float_list={"value": [3.0]})}))
    served = tf.contrib.predictor.from_saved_model(str(folder))({"examples": [example.SerializeToString()]})
    expected = next(experiment.estimator.predict(input_fn=lambda: ({"x": tf.constant([[3.0]])}, None)))
    np.testing.assert_allclose(served["output"], [expected], rtol=1e-6)
    core = tf.estimator.LinearRegressor([tf.feature_column.numeric_column("x")], str(tmp_path / "core"))
    with pytest.raises(ValueError, match=r"default_output_alternative_key is not supported in core Estimator. Given: a"):
        learn.make_export_strategy(serving, "a").export(core, str(tmp_path / "out"))


def serving_of_arrays():
    given = learn.utils.build_default_serving_input_fn({"x": tf.constant([[1.0]], name="x_like")})
    return given()


def test_the_only_alternative_is_served(tmp_path):
    def doubled(features, labels, mode):
        made = model(features, labels, mode)
        return made if labels is not None else learn.ModelFnOps(
            mode, made.predictions, output_alternatives={"only": (None, {"double": made.predictions * 2.0})}
        )  # fmt: skip

    trained = learn.Estimator(doubled, str(tmp_path)).fit(input_fn=inputs, steps=1)
    folder = trained.export_savedmodel(str(tmp_path / "out"), serving_of_arrays)
    served = tf.contrib.predictor.from_saved_model(folder.decode())({"x": [[3.0]]})
    assert list(served) == ["double"] and served["double"].shape == (1,)


def test_columns_say_what_is_parsed():
    strategy = learn.utils.saved_model_export_utils.make_parsing_export_strategy([tf.feature_column.numeric_column("x")])
    assert (strategy.name, strategy.strip_default_attrs) == ("Servo", None)


def test_placeholders_are_like_the_features():
    with tf.Graph().as_default():
        features, labels, fed = serving_of_arrays()
        assert labels is None and features is fed and fed["x"].shape.as_list() == [None, 1]
