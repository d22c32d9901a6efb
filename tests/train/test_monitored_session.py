"""`tf.train.MonitoredSession`: its life, its hooks, its ends and its recovery. As in TensorFlow 1.15."""

import logging
import threading

import pytest

import tfexp as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph
    tf.summary.FileWriterCache.clear()


def counter():
    return tf.assign_add(tf.train.get_or_create_global_step(), 1, name="add")


class Told(tf.train.SessionRunHook):
    """Notes what it is told; asks for `args`; fails with `errors[n]` at its n-th step."""

    def __init__(self, args=None, errors=None, note=None):
        self.args, self.errors = args, errors or {}
        self.note = [] if note is None else note
        self.steps = 0
        self.values = []

    def begin(self):
        self.note.append("begin")

    def after_create_session(self, session, coord):
        assert isinstance(session, tf.Session) and isinstance(coord, tf.train.Coordinator)
        self.note.append("created")

    def before_run(self, run_context):
        self.steps += 1
        if self.steps in self.errors:
            raise self.errors[self.steps]
        self.note.append("before")
        return self.args

    def after_run(self, run_context, run_values):
        self.values.append(run_values)
        self.note.append("after")

    def end(self, session):
        assert session.run("add:0") is not None
        self.note.append("end")


def aborted():
    return tf.errors.AbortedError(None, None, "a task was lost")


def test_a_creator_makes_sessions():
    with pytest.raises(TypeError, match="abstract"):
        tf.train.SessionCreator()


def test_hooks_are_told_in_order(graph):
    add = counter()
    note = []
    with tf.train.MonitoredSession(hooks=[Told(note=note), Told(note=note)]) as session:
        assert session.graph is graph and graph.finalized
        assert session.run({"a": add}) == {"a": 1}
    assert note == [call for call in ("begin", "created", "before", "after", "end") for _ in range(2)]
    assert not graph.finalized and session.should_stop()


def test_a_graph_that_was_final_stays_so(graph):
    counter()
    scaffold = tf.train.Scaffold().finalize()
    with tf.train.MonitoredSession(tf.train.ChiefSessionCreator(scaffold)):
        pass
    assert graph.finalized


def test_hooks_add_fetches_feeds_and_options():
    add, x = counter(), tf.placeholder(tf.float32, [])
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, timeout_in_ms=60_000)
    adding = Told(tf.train.SessionRunArgs({"twice": x * 2}, {x: 7.0}, options))
    silent = Told()
    with tf.train.MonitoredSession(hooks=[adding, silent]) as session:
        assert session.run([add, x], options=tf.RunOptions(timeout_in_ms=70_000)) == [1, 7.0]
    assert adding.values[0].results == {"twice": 14.0} and silent.values[0].results is None
    merged = silent.values[0].options
    assert (merged.trace_level, merged.timeout_in_ms) == (tf.RunOptions.FULL_TRACE, 70_000)
    assert silent.values[0].run_metadata.step_stats.dev_stats


def test_the_context_is_the_callers_step():
    add = counter()
    seen = []

    class Asking(tf.train.SessionRunHook):
        def before_run(self, run_context):
            seen.append((run_context.original_args, run_context.session.run(add), run_context.stop_requested))

    with tf.train.MonitoredSession(hooks=[Asking()]) as session:
        assert session.run(add) == 2
    assert seen == [(tf.train.SessionRunArgs(add), 1, False)]


def test_what_is_fed_twice_is_an_error():
    add, x = counter(), tf.placeholder(tf.float32, [])
    feeding = [Told(tf.train.SessionRunArgs(None, {x: 1.0})) for _ in range(2)]
    session = tf.train.MonitoredSession(hooks=feeding)
    with pytest.raises(RuntimeError, match="Same tensor is fed by two hooks"):
        session.run(add)
    session.close()
    session = tf.train.MonitoredSession(hooks=feeding[:1])
    with pytest.raises(RuntimeError, match="Same tensor is fed by a SessionRunHook and user"):
        session.run(add, {x: 2.0})
    session.close()


def test_a_hook_asks_for_the_end():
    add = counter()

    class Once(tf.train.SessionRunHook):
        def after_run(self, run_context, run_values):
            run_context.request_stop()

    with tf.train.MonitoredSession(hooks=[Once()]) as session:
        assert not session.should_stop()
        session.run(add)
        assert session.should_stop()
        with pytest.raises(RuntimeError, match="Run called even after should_stop requested"):
            session.run(add)


@pytest.mark.parametrize("error", [tf.errors.OutOfRangeError(None, None, "end"), StopIteration("end")])
def test_the_end_of_the_input_ends_the_block(error):
    add = counter()
    hook = Told(errors={2: error})
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        session.run(add)
        session.run(add)
        raise AssertionError("a step too many")
    assert hook.note[-1] == "end" and session.should_stop()


def test_another_error_ends_it_without_the_hooks_end(graph):
    add = counter()
    hook = Told(errors={1: ArithmeticError("mine")})
    with pytest.raises(ArithmeticError, match="mine"), tf.train.MonitoredSession(hooks=[hook]) as session:
        session.run(add)
    assert hook.note == ["begin", "created"] and not graph.finalized
    with pytest.raises(RuntimeError, match="closed"):
        session.run(add)
    with pytest.raises(RuntimeError, match="Session is already closed"):
        session.close()


@pytest.mark.parametrize("lost", [aborted(), tf.errors.UnavailableError(None, None, "gone")])
def test_a_lost_session_is_made_anew_and_the_step_repeated(lost, tmp_path):
    add = counter()
    hook = Told(errors={3: lost})
    saver = tf.train.CheckpointSaverHook(str(tmp_path), save_steps=1)
    creator = tf.train.ChiefSessionCreator(checkpoint_dir=str(tmp_path))
    with tf.train.MonitoredSession(creator, [saver, hook]) as session:
        assert [session.run(add) for _ in range(4)] == [1, 2, 3, 4]
    assert hook.note.count("begin") == 1 and hook.note.count("created") == 2


def test_without_a_checkpoint_it_begins_anew():
    add = counter()
    with tf.train.MonitoredSession(hooks=[Told(errors={2: aborted()})]) as session:
        assert [session.run(add) for _ in range(3)] == [1, 1, 2]


def test_a_session_that_cannot_be_made_is_tried_again():
    add = counter()

    class Late(tf.train.ChiefSessionCreator):
        tries = 0

        def create_session(self):
            Late.tries += 1
            if Late.tries == 1:
                raise tf.errors.UnavailableError(None, None, "not yet")
            return super().create_session()

    with tf.train.MonitoredSession(Late()) as session:
        assert session.run(add) == 1
    assert Late.tries == 2


def test_a_thread_that_sees_the_loss_does_not_end_the_training():
    add = counter()
    coords = []

    class Threads(tf.train.SessionRunHook):
        def after_create_session(self, session, coord):
            coords.append(coord)

    with tf.train.MonitoredSession(hooks=[Threads()]) as session:
        coords[0].request_stop(aborted())
        assert not session.should_stop()
        assert session.run(add) == 1 and len(coords) == 2


def test_the_error_of_a_thread_is_raised():
    add = counter()
    coords = []

    class Threads(tf.train.SessionRunHook):
        def after_create_session(self, session, coord):
            coords.append(coord)

    def train():
        with tf.train.MonitoredSession(hooks=[Threads()]) as session:
            coords[0].request_stop(ArithmeticError("in a thread"))
            assert session.should_stop()
            session.run(add)

    with pytest.raises(ArithmeticError, match="in a thread"):
        train()


def test_queue_runners_run_and_stop():
    queue = tf.FIFOQueue(3, tf.int32, shapes=[[]])
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(7)] * 2))
    taken = queue.dequeue()
    before = set(threading.enumerate())
    with tf.train.MonitoredSession() as session:
        assert [session.run(taken) for _ in range(5)] == [7] * 5
        assert tf.train.start_queue_runners(session) == []
    assert not [thread for thread in set(threading.enumerate()) - before if thread.is_alive()]


def test_an_epoch_of_a_queue_ends_the_block():
    value = tf.train.limit_epochs(tf.constant([1, 2]), num_epochs=2)
    steps = 0
    with tf.train.MonitoredSession() as session:
        while not session.should_stop():
            session.run(value)
            steps += 1
    assert steps == 2


@pytest.mark.parametrize("kind", [tf.train.MonitoredSession, tf.train.SingularMonitoredSession])
def test_the_session_within_is_there_until_it_is_closed(kind):
    with tf.Graph().as_default():
        x = tf.constant(5)
        with kind() as session:
            assert session._tf_sess().run(x) == 5 and not session._is_closed()
        assert session._tf_sess() is None and session._is_closed()


def test_a_singular_session_does_not_recover():
    add = counter()
    session = tf.train.SingularMonitoredSession(hooks=[Told(errors={2: aborted()})])
    assert session.run(add) == 1 and isinstance(session.raw_session(), tf.Session)
    with pytest.raises(tf.errors.AbortedError):
        session.run(add)
    session.close()
    assert session.raw_session() is None




def test_functions_of_steps():
    add = counter()
    hook = Told()

    class Model:
        def step(self, step_context):
            return step_context.session.run(add), step_context.run_with_hooks(add)

    with tf.train.MonitoredSession(hooks=[hook]) as session:
        assert session.run_step_fn(Model().step) == (1, 2)
        assert hook.steps == 1
        with pytest.raises(ValueError, match=r"`step_fn` may either have one `step_context` argument.*Got \('x',\)"):
            session.run_step_fn(lambda x: x)
        session.run_step_fn(lambda step_context: step_context.request_stop())
        raise AssertionError("the block goes on")
    assert hook.note[-1] == "end"


def test_a_model_that_is_not_ready(graph):
    tf.Variable(1.0, name="v")
    with pytest.raises(RuntimeError, match=r"did not make model ready for local_init.*Variables not initialized: v"):
        tf.train.MonitoredSession(tf.train.ChiefSessionCreator(tf.train.Scaffold(init_op=tf.no_op())))


def test_scaffolds(graph):
    given = tf.train.Scaffold(init_fn=lambda scaffold, session: session.run(assign))
    v = tf.get_variable("v", initializer=1.0)
    assign = tf.assign(v, 5.0)
    with pytest.raises(TypeError, match="copy_from_scaffold is not a Scaffold instance"):
        tf.train.Scaffold(copy_from_scaffold=3)
    creator = tf.train.ChiefSessionCreator(tf.train.Scaffold(copy_from_scaffold=given))
    with tf.train.MonitoredSession(creator) as session:
        assert session.run(v) == 5.0
    tf.add_to_collection(tf.GraphKeys.SUMMARY_OP, tf.no_op())
    tf.add_to_collection(tf.GraphKeys.SUMMARY_OP, tf.no_op())
    with pytest.raises(RuntimeError, match='More than one item in the collection "summary_op"'):
        tf.train.Scaffold().finalize()


def test_training_writes_checkpoints_summaries_and_the_rate(tmp_path, caplog):
    add = counter()
    tf.summary.scalar("value", tf.cast(add, tf.float32))
    with caplog.at_level(logging.INFO, "tensorflow"):
        settings = {"save_summaries_steps": 2, "log_step_count_steps": 2}
        with tf.train.MonitoredTrainingSession(checkpoint_dir=str(tmp_path), **settings) as session:
            assert [session.run(add) for _ in range(5)] == [1, 2, 3, 4, 5]
    tf.summary.FileWriterCache.clear()
    (file,) = tmp_path.glob("events*")
    found = [
        (e.step, e.WhichOneof("what"), e.summary.value[0].tag if e.summary.value else e.session_log.status)
        for e in tf.train.summary_iterator(str(file))
    ]
    start, saved = tf.SessionLog.START, tf.SessionLog.CHECKPOINT
    graphs = [(0, "graph_def", 0), (0, "meta_graph_def", 0)]
    assert found[:6] == [(0, "file_version", 0), *graphs, *graphs, (0, "session_log", saved)]
    assert found[6] == (1, "session_log", start)
    assert [f for f in found if f[2] == "value"] == [(step, "summary", "value") for step in (1, 3, 5)]
    assert [f for f in found[7:] if f[2] == saved] == [(5, "session_log", saved)]
    assert any(f[2] == "global_step/sec" for f in found)
    assert "Saving checkpoints for 0 into" in caplog.text and "Saving checkpoints for 5 into" in caplog.text
    assert (tmp_path / "graph.pbtxt").exists() and (tmp_path / "model.ckpt-5.index").exists()


def test_training_goes_on_from_the_checkpoint(tmp_path):
    add = counter()
    for first, last in ((1, 4), (5, 8)):
        stop = tf.train.StopAtStepHook(num_steps=4)
        with tf.train.MonitoredTrainingSession(checkpoint_dir=str(tmp_path), hooks=[stop]) as session:
            steps = []
            while not session.should_stop():
                steps.append(session.run(add))
        assert steps == list(range(first, last + 1))


def test_workers_wait_for_the_chief(graph):
    cluster = tf.train.Server.create_local_server()
    add = counter()
    worker = {"master": cluster.target, "is_chief": False}
    with pytest.raises(tf.errors.DeadlineExceededError, match="Session was not ready after waiting 0 secs"):
        tf.train.MonitoredTrainingSession(**worker, max_wait_secs=0)
    with tf.train.MonitoredTrainingSession(cluster.target) as chief:
        assert chief.run(add) == 1
        told = Told()
        with tf.train.MonitoredTrainingSession(**worker, hooks=[told], chief_only_hooks=[Told()]) as session:
            assert session.run(add) == 2
        assert told.note[0] == "begin"


def test_the_basic_loop():
    add = counter()
    supervisor = tf.train.Supervisor()
    steps = []

    def step(session, least, *, most):
        steps.append(session.run(add))
        if steps[-1] == most:
            supervisor.request_stop()

    tf.train.basic_train_loop(supervisor, step, args=(0,), kwargs={"most": 3})
    assert steps == [1, 2, 3]


def test_the_basic_loop_goes_on_in_a_new_session_when_one_is_lost(tmp_path):
    tf.train.create_global_step()
    supervisor = tf.train.Supervisor(logdir=str(tmp_path), save_model_secs=0, save_summaries_secs=0)
    sessions = []

    def step(session):
        sessions.append(session)
        if len(sessions) < 3:
            raise tf.errors.AbortedError(None, None, "lost")
        supervisor.request_stop()

    tf.train.basic_train_loop(supervisor, step)
    assert len({id(session) for session in sessions}) == 3
