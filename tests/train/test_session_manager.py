"""`tf.train.SessionManager`; the outcomes and messages are TensorFlow's."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tfexp as tf


@pytest.fixture
def model() -> Any:
    """A graph with two global variables and a local one."""

    class Model:
        graph = tf.Graph()
        with graph.as_default():
            v = tf.Variable(1.0, name="v")
            w = tf.Variable(2.0, name="w")
            local = tf.Variable(5.0, name="l", collections=[tf.GraphKeys.LOCAL_VARIABLES])
            init, local_init = tf.global_variables_initializer(), tf.local_variables_initializer()
            part = tf.variables_initializer([v], name="part")
            ready = tf.report_uninitialized_variables()
            ready_global = tf.report_uninitialized_variables(tf.global_variables(), name="ready_global")
            asserted = tf.assert_variables_initialized([v])
            saver = tf.train.Saver()

    return Model


@pytest.fixture
def server() -> Iterator[tf.train.Server]:
    server = tf.train.Server.create_local_server()
    yield server
    server.stop()


def saved(model: Any, folder: Path) -> str:
    with tf.Session(graph=model.graph) as session:
        session.run(model.init)
        session.run(model.v.initializer)
        path = model.saver.save(session, str(folder / "m"), global_step=3)
    assert path is not None
    return str(path)


def test_initialises_what_there_is_no_checkpoint_of(model: Any, tmp_path: Path) -> None:
    manager = tf.train.SessionManager(graph=model.graph, ready_op=model.ready_global)
    for arguments in (
        {"init_op": model.init},
        {"init_op": [model.init, model.local_init]},
        {"init_fn": lambda session: session.run(model.init)},
        {"init_op": model.init, "saver": model.saver, "checkpoint_dir": str(tmp_path)},
    ):
        with manager.prepare_session("", **arguments) as session:
            assert session.run(model.v) == 1.0


def test_local_variables_follow_when_the_model_is_ready_for_them(model: Any) -> None:
    for waits_for in (None, model.ready_global):
        manager = tf.train.SessionManager(
            graph=model.graph, ready_op=model.ready, local_init_op=model.local_init, ready_for_local_init_op=waits_for
        )
        with manager.prepare_session("", init_op=model.init) as session:
            assert session.run(model.local) == 5.0


def test_says_what_has_no_value(model: Any) -> None:
    whole = tf.train.SessionManager(graph=model.graph, ready_op=model.ready)
    with pytest.raises(RuntimeError, match="not initialized and no init_op or init_fn or local_init_op was given"):
        whole.prepare_session("")
    with pytest.raises(RuntimeError, match=r"did not make model ready\..*Init op: part.*Variables not initialized: w, l"):
        whole.prepare_session("", init_op=model.part)
    local = tf.train.SessionManager(
        graph=model.graph, ready_op=model.ready, local_init_op=model.local_init, ready_for_local_init_op=model.ready_global
    )
    with pytest.raises(RuntimeError, match=r"did not make model ready for local_init..*Variables not initialized: w"):
        local.prepare_session("", init_op=model.part)
    older = tf.train.SessionManager(graph=model.graph, ready_op=model.asserted)
    with pytest.raises(RuntimeError, match="Attempting to use uninitialized value v"):
        older.prepare_session("", init_op=model.local_init)
    assert older.prepare_session("", init_op=model.init) is not None


def test_restores_a_file_or_the_latest_of_a_folder(model: Any, tmp_path: Path) -> None:
    path = saved(model, tmp_path)
    manager = tf.train.SessionManager(graph=model.graph, ready_op=model.ready_global)
    for where in ({"checkpoint_dir": str(tmp_path)}, {"checkpoint_filename_with_path": path}):
        with manager.prepare_session("", saver=model.saver, **where) as session:
            assert session.run(model.w) == 2.0
    assert model.saver.last_checkpoints == [path]
    with pytest.raises(ValueError, match="not a valid checkpoint"):
        manager.prepare_session("", saver=model.saver, checkpoint_filename_with_path=str(tmp_path / "none"))
    with pytest.raises(ValueError, match="Can not provide both checkpoint_dir and checkpoint_filename_with_path"):
        manager.prepare_session("", saver=model.saver, checkpoint_dir="a", checkpoint_filename_with_path="b")


def test_recovering_says_whether_it_did(model: Any, tmp_path: Path) -> None:
    saved(model, tmp_path)

    def recovers(ready: Any, **arguments: Any) -> bool:
        manager = tf.train.SessionManager(graph=model.graph, ready_op=ready, recovery_wait_secs=0.01)
        return manager.recover_session("", **arguments)[1]

    assert recovers(model.ready_global, saver=model.saver, checkpoint_dir=str(tmp_path))
    assert not recovers(model.ready, saver=model.saver, checkpoint_dir=str(tmp_path)), "the local variable has no value"
    assert not recovers(model.ready_global, saver=model.saver, checkpoint_dir=str(tmp_path / "none"))
    assert not recovers(model.ready_global)
    assert not recovers(
        model.ready_global,
        saver=model.saver,
        checkpoint_dir=str(tmp_path / "none"),
        wait_for_checkpoint=True,
        max_wait_secs=0.03,
    )


def test_others_wait_for_the_chief(model: Any, server: tf.train.Server) -> None:
    chief = tf.train.SessionManager(graph=model.graph, ready_op=model.ready_global)
    other = tf.train.SessionManager(graph=model.graph, ready_op=model.ready_global, recovery_wait_secs=0.02)
    with pytest.raises(tf.errors.DeadlineExceededError, match=r"Session was not ready after waiting 0 secs\."):
        other.wait_for_session(server.target, max_wait_secs=0)
    sessions: list[tf.Session] = []
    waiting = threading.Thread(target=lambda: sessions.append(other.wait_for_session(server.target, max_wait_secs=30)))
    waiting.start()
    assert sessions == []
    with chief.prepare_session(server.target, init_op=model.init):
        waiting.join(30)
        (session,) = sessions
        assert session.run(model.w) == 2.0
        session.close()


def test_a_readiness_for_local_variables_needs_a_way_to_make_them(model: Any) -> None:
    with pytest.raises(ValueError, match="you must also pass a local_init_op"):
        tf.train.SessionManager(ready_for_local_init_op=model.ready_global, graph=model.graph)
    with model.graph.as_default():
        assert tf.train.SessionManager().prepare_session("", init_op=model.part).graph is model.graph
