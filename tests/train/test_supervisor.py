"""`tf.train.Supervisor`: what it finds in the graph, what it writes, how it ends. Graphs are compared in tests/golden."""

import glob
import threading

import pytest

import tfexp as tf
from tfexp.train.supervisor import Supervisor


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def counter():
    step = tf.train.get_or_create_global_step()
    return step, tf.assign_add(step, 1)


def events(folder):
    return [event for path in sorted(glob.glob(f"{folder}/events*")) for event in tf.train.summary_iterator(path)]


def test_a_model_is_initialised_once_and_restored_after(tmp_path):
    step, add = counter()
    supervisor = Supervisor(logdir=str(tmp_path), save_model_secs=3600, save_summaries_secs=0)
    with supervisor.managed_session() as session:
        assert [session.run(add) for _ in range(3)] == [1, 2, 3]
        supervisor.saver.save(session, supervisor.save_path, global_step=step)
    with supervisor.managed_session() as session:
        assert session.run(step) == 3
    assert (tmp_path / "graph.pbtxt").exists()


def test_the_services_write_checkpoints_and_summaries(tmp_path):
    step, add = counter()
    tf.summary.scalar("value", tf.cast(step, tf.float32))
    supervisor = Supervisor(logdir=str(tmp_path), save_model_secs=3600, save_summaries_secs=3600)
    with supervisor.managed_session() as session:
        session.run(add)
        supervisor.summary_computed(session, session.run(supervisor.summary_op))
    found = events(tmp_path)
    logs = [e.session_log.status for e in found if e.HasField("session_log")]
    assert logs[0] == tf.SessionLog.START and logs[-1] == tf.SessionLog.STOP and tf.SessionLog.CHECKPOINT in logs
    assert {v.tag for e in found for v in e.summary.value} == {"value", "global_step/sec"}
    assert [e.step for e in found if e.summary.value and e.summary.value[0].simple_value == 1.0]
    assert any(e.HasField("graph_def") for e in found) and any(e.HasField("meta_graph_def") for e in found)
    assert tf.train.latest_checkpoint(str(tmp_path)) is not None


def test_what_is_in_the_collections_is_used(graph):
    variable = tf.Variable(1.0)
    mine = tf.group(tf.assign(variable, 5.0), name="mine")
    tf.add_to_collection(tf.GraphKeys.INIT_OP, mine)
    supervisor = Supervisor()
    assert supervisor.init_op is mine and supervisor.summary_op is None and supervisor.global_step is None
    assert graph.finalized
    with supervisor.managed_session() as session:
        assert session.run(variable) == 5.0


def test_an_error_in_the_block_is_raised_after_all_threads_have_ended(tmp_path):
    queue = tf.FIFOQueue(3, tf.int32, shapes=[[]])
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(7)] * 2))
    taken = queue.dequeue()
    supervisor = Supervisor(logdir=str(tmp_path))
    before = set(threading.enumerate())

    def block():
        with supervisor.managed_session() as session:
            assert session.run(taken) == 7
            raise ArithmeticError("mine")

    with pytest.raises(ArithmeticError, match="mine"):
        block()
    assert supervisor.should_stop()
    assert not [t for t in set(threading.enumerate()) - before if t.is_alive()]


def test_the_end_of_the_input_is_no_error():
    epochs = tf.train.limit_epochs(tf.constant([1, 2]), num_epochs=1)
    supervisor = Supervisor()
    with supervisor.managed_session() as session:
        session.run(epochs)
        session.run(epochs)  # OutOfRangeError: the block ends here
        raise AssertionError("an epoch too many")
    assert supervisor.should_stop()


def test_a_loop_runs_until_the_stop():
    calls = threading.Semaphore(0)
    supervisor = Supervisor()
    with supervisor.managed_session():
        looper = supervisor.loop(0.001, calls.release)
        for _ in range(3):
            assert calls.acquire(timeout=60)
    assert not looper.is_alive()


def test_who_is_not_chief_writes_nothing_and_needs_devices(tmp_path):
    tf.Variable(1.0)
    with pytest.raises(ValueError, match="all Variables must have their device set"):
        Supervisor(is_chief=False)
    with tf.Graph().as_default():
        supervisor = Supervisor(is_chief=False, logdir=str(tmp_path))
        assert supervisor.summary_writer is None and supervisor.save_path is None
        with pytest.raises(RuntimeError, match="Only chief supervisor can start standard services"):
            supervisor.start_standard_services(None)
        with pytest.raises(RuntimeError, match="Writing a summary requires a summary writer"):
            supervisor.summary_computed(None, b"")
    assert list(tmp_path.iterdir()) == []
