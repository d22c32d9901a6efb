"""The hooks of `tf.train`: when each acts, what it writes, what it refuses. Expectations are what TensorFlow 1.15 does."""

import json
import logging

import numpy as np
import pytest

import tfexp as tf
from tfexp.train.step_timer import SecondOrStepTimer


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph
    tf.summary.FileWriterCache.clear()


def counter():
    return tf.assign_add(tf.train.get_or_create_global_step(), 1, name="add")


def run(steps, *hooks, fetch="add:0"):
    """What so many steps give, or as many as the hooks let."""
    with tf.train.MonitoredSession(hooks=hooks) as session:
        values = []
        while len(values) < steps and not session.should_stop():
            values.append(session.run(fetch))
    return values


def events(folder):
    tf.summary.FileWriterCache.clear()
    return [event for path in folder.glob("events*") for event in tf.train.summary_iterator(str(path))]


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def test_a_timer_by_steps():
    timer = SecondOrStepTimer(every_steps=3)
    assert timer.last_triggered_step() is None and timer.should_trigger_for_step(0)
    assert timer.update_last_triggered_step(0) == (None, None)
    assert [timer.should_trigger_for_step(step) for step in (0, 2, 3, 7)] == [False, False, True, True]
    assert timer.update_last_triggered_step(3)[1] == 3 and timer.last_triggered_step() == 3
    timer.reset()
    assert timer.should_trigger_for_step(3)


def test_a_timer_by_seconds():
    timer = SecondOrStepTimer(every_secs=5)
    timer._clock = clock = Clock()
    timer.update_last_triggered_step(1)
    clock.now += 4.9
    assert not timer.should_trigger_for_step(2)
    clock.now += 0.1
    assert timer.should_trigger_for_step(2) and not timer.should_trigger_for_step(1)
    assert timer.update_last_triggered_step(4) == (5.0, 3)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: tf.train.SecondOrStepTimer(), "Either every_secs or every_steps should be provided"),
        (lambda: tf.train.SecondOrStepTimer(1, 1), "Can not provide both every_secs and every_steps"),
        (lambda: tf.train.StopAtStepHook(), "One of num_steps or last_step must be specified"),
        (lambda: tf.train.StopAtStepHook(1, 2), "Only one of num_steps or last_step can be specified"),
        (lambda: tf.train.LoggingTensorHook(["a"]), "exactly one of every_n_iter and every_n_secs"),
        (lambda: tf.train.LoggingTensorHook(["a"], 1, 1), "exactly one of every_n_iter and every_n_secs"),
        (lambda: tf.train.LoggingTensorHook(["a"], every_n_iter=0), "invalid every_n_iter=0"),
        (lambda: tf.train.CheckpointSaverHook("x"), "Either every_secs or every_steps"),
        (lambda: tf.train.CheckpointSaverHook("x", 1, 1), "Can not provide both"),
        (lambda: tf.train.CheckpointSaverHook("x", 1, saver=1, scaffold=1), "cannot provide both saver and scaffold"),
        (lambda: tf.train.SummarySaverHook(1), "Exactly one of scaffold or summary_op"),
        (lambda: tf.train.SummarySaverHook(1, summary_op=1, scaffold=1), "Exactly one of scaffold or summary_op"),
        (lambda: tf.train.SummarySaverHook(summary_op=1), "Either every_secs or every_steps"),
        (lambda: tf.train.StepCounterHook(None), "exactly one of every_n_steps and every_n_secs"),
        (lambda: tf.train.StepCounterHook(1, 1), "exactly one of every_n_steps and every_n_secs"),
        (lambda: tf.train.ProfilerHook(), "Either every_secs or every_steps"),
    ],
)
def test_senseless_arguments_are_refused(make, text):
    with pytest.raises(ValueError, match=text):
        make()


@pytest.mark.parametrize(
    "name", ["StepCounterHook", "StopAtStepHook", "ProfilerHook", "CheckpointSaverHook", "SummarySaverHook"]
)
def test_hooks_that_count_need_a_global_step(name, tmp_path):
    folder = str(tmp_path)
    arguments = {
        "StopAtStepHook": {"num_steps": 1},
        "ProfilerHook": {"save_steps": 1, "output_dir": folder},
        "CheckpointSaverHook": {"checkpoint_dir": folder, "save_steps": 1},
        "SummarySaverHook": {"save_steps": 1, "summary_op": 1},
    }
    with pytest.raises(RuntimeError, match=f"Global step should be created to use {name}"):
        getattr(tf.train, name)(**arguments.get(name, {})).begin()


def test_stopping_at_a_step():
    counter()
    assert run(9, tf.train.StopAtStepHook(last_step=3)) == [1, 2, 3]
    assert run(9, tf.train.StopAtStepHook(num_steps=2)) == [1, 2]


@pytest.mark.parametrize("value", [1.0, float("nan")])
def test_a_loss_that_is_no_number(value, caplog):
    counter()
    loss = tf.constant(value)
    if np.isnan(value):
        with pytest.raises(tf.train.NanLossDuringTrainingError, match=r"NaN loss during training\."):
            run(3, tf.train.NanTensorHook(loss))
        assert "Model diverged with loss = NaN." in caplog.text
    else:
        assert run(3, tf.train.NanTensorHook(loss)) == [1, 2, 3]
    assert len(run(3, tf.train.NanTensorHook(loss, fail_on_nan_loss=False))) == (1 if np.isnan(value) else 3)


def test_logged_tensors(caplog):
    counter()
    x = tf.constant([1.5, 2.0], name="x")
    lines = []
    hooks = [
        tf.train.LoggingTensorHook({"step": "add", "x": x}, every_n_iter=2),
        tf.train.LoggingTensorHook(["x:0"], at_end=True),
        tf.train.LoggingTensorHook([x], every_n_secs=3600, formatter=lambda values: lines.append(values) or "mine"),
    ]
    with caplog.at_level(logging.INFO, "tensorflow"):
        run(4, *hooks)
    logged = [record.getMessage().partition(" (")[0] for record in caplog.records if "=" in record.getMessage()]
    assert logged == ["step = 1, x = [1.5 2. ]", "step = 3, x = [1.5 2. ]", "x:0 = [1.5 2. ]"]
    assert len(lines) == 1 and list(lines[0]) == ["x:0"] and "mine" in caplog.text


def test_a_name_that_is_not_in_the_graph():
    counter()
    with pytest.raises(KeyError, match="nope"):
        run(1, tf.train.LoggingTensorHook(["nope"], every_n_iter=1))


def test_steps_per_second_are_counted(tmp_path, caplog):
    counter()
    hook = tf.train.StepCounterHook(every_n_steps=2, output_dir=str(tmp_path))
    hook._timer._clock = clock = Clock()
    with caplog.at_level(logging.INFO, "tensorflow"), tf.train.MonitoredSession(hooks=[hook]) as session:
        for _ in range(5):
            clock.now += 0.25
            session.run("add:0")
    rates = [(v.tag, v.simple_value) for e in events(tmp_path) for v in e.summary.value]
    assert rates and {tag for tag, _ in rates} == {"global_step/sec"} and all(rate == 4.0 for _, rate in rates)
    assert "global_step/sec: 4" in caplog.text


def test_a_step_that_does_not_move_is_told_five_times(caplog):
    tf.train.get_or_create_global_step()
    tf.constant(1, name="add")
    run(9, tf.train.StepCounterHook(every_n_steps=100))
    assert caplog.text.count("does not seem to increase") == 5


def test_summaries_are_written(tmp_path):
    add = counter()
    summaries = [tf.summary.scalar(name, tf.cast(add, tf.float32)) for name in ("a", "b")]
    run(4, tf.train.SummarySaverHook(save_steps=3, output_dir=str(tmp_path), summary_op=summaries))
    found = [(e.step, v.tag, v.simple_value) for e in events(tmp_path) for v in e.summary.value]
    assert found == [(step, tag, step) for step in (1, 4) for tag in ("a", "b")]


class Listener(tf.train.CheckpointSaverListener):
    def __init__(self, last):
        self.last, self.told = last, []

    def begin(self):
        self.told.append("begin")

    def before_save(self, session, global_step_value):
        self.told.append(f"before {global_step_value}")

    def after_save(self, session, global_step_value):
        self.told.append(f"after {global_step_value}")
        return global_step_value >= self.last

    def end(self, session, global_step_value):
        self.told.append(f"end {global_step_value}")


def test_listeners_of_saves_may_end_the_training(tmp_path):
    counter()
    listener = Listener(last=3)
    hook = tf.train.CheckpointSaverHook(
        str(tmp_path), save_steps=2, saver=tf.train.Saver(), listeners=[listener], checkpoint_basename="m"
    )
    assert run(9, hook) == [1, 2, 3, 4]
    saved = [f"{when} {step}" for step in (0, 2, 4) for when in ("before", "after")]
    assert listener.told == ["begin", *saved, "end 4"]
    assert sorted(path.name for path in tmp_path.glob("*.index")) == ["m-0.index", "m-2.index", "m-4.index"]


def test_profiles(tmp_path):
    add = counter()
    product = tf.matmul(tf.random_uniform([3, 5]), tf.ones([5, 7]), name="product")
    hook = tf.train.ProfilerHook(save_steps=2, output_dir=str(tmp_path), show_memory=True)
    run(4, hook, fetch=[add, product])
    assert sorted(path.name for path in tmp_path.glob("timeline*")) == ["timeline-2.json", "timeline-4.json"]
    assert [e.tagged_run_metadata.tag for e in events(tmp_path) if e.HasField("tagged_run_metadata")] == ["step_2", "step_4"]
    trace = json.loads((tmp_path / "timeline-4.json").read_text())["traceEvents"]
    boxes = {e["args"]["name"]: e for e in trace if e["ph"] == "X"}
    assert boxes["product"]["name"] == "MatMul" and boxes["product"]["dur"] > 0
    assert {e["ph"] for e in trace} == {"M", "X", "s", "t", "C"}
    arrows = {(e["ph"], e["id"]) for e in trace if e["ph"] in "st"}
    assert {number for phase, number in arrows if phase == "s"} == {number for phase, number in arrows if phase == "t"}
    assert any(e["ph"] == "M" and "CPU:0 Compute" in e["args"]["name"] for e in trace)


def test_feeds_of_a_function():
    counter()
    x = tf.placeholder(tf.float32, [], name="x")
    numbers = iter([3.0, 5.0])
    assert run(2, tf.train.FeedFnHook(lambda: {x: next(numbers)}), fetch="x:0") == [3.0, 5.0]


def test_what_is_computed_at_the_end():
    add, x = counter(), tf.placeholder(tf.float32, [])
    hook = tf.train.FinalOpsHook({"doubled": x * 2, "step": tf.train.get_global_step()}, {x: 4.0})
    assert hook.final_ops_values is None
    run(3, hook, fetch=add)
    assert hook.final_ops_values == {"doubled": 8.0, "step": 3}
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(1, tf.train.FinalOpsHook(x), fetch=add)


def test_waiting_for_others_to_make_steps():
    add = counter()
    waiter = tf.train.GlobalStepWaiterHook(3)
    waiter.poll_secs = 0.001
    looks = []

    class Others(tf.train.SessionRunHook):
        def after_create_session(self, session, coord):
            """Another worker: a step for each look of this one."""
            read = session.run

            def look(fetches, *args, **kwargs):
                looks.append(read(add))
                return read(fetches, *args, **kwargs)

            session.run = look

    with tf.train.MonitoredSession(hooks=[Others(), waiter]) as session:
        session.run(add.op)
    assert looks[:3] == [1, 2, 3]


def test_logged_numbers_have_the_digits_of_their_type(caplog):
    with tf.Graph().as_default(), caplog.at_level("INFO", logger="tensorflow"):
        third = tf.identity(tf.constant(1.0) / 3.0, name="third")
        with tf.train.MonitoredSession(hooks=[tf.train.LoggingTensorHook(["third"], every_n_iter=1)]) as session:
            session.run(third)
    assert "third = 0.33333334" in caplog.text
