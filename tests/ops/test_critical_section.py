"""Critical sections: their graph is in tests/golden/programs/critical_sections.py; here, that they exclude each other."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

import tfexp as tf
from tfexp.core import errors
from tfexp.core.waiting import Promise
from tfexp.graph.defaults import new_eager_world
from tfexp.ops.mutex import Held, Mutex


@pytest.fixture(autouse=True)
def session() -> Iterator[tf.Session]:
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def test_updates_in_a_section_are_not_lost(session: tf.Session) -> None:
    section = tf.CriticalSection()
    v = tf.get_variable("v", [], use_resource=True, initializer=tf.zeros_initializer())
    pause = tf.py_func(lambda x: x, [v.read_value()], tf.float32, stateful=True)

    def add() -> tf.Tensor:
        seen = v.read_value()
        slowly = tf.py_func(lambda x: x + 1, [seen], tf.float32, stateful=True)
        with tf.control_dependencies([v.assign(slowly)]):
            return v.read_value()

    added = section.execute(add)
    session.run(v.initializer)
    threads = [threading.Thread(target=lambda: [session.run(added) for _ in range(25)]) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert session.run(v) == 75.0 and session.run(pause) == 75.0


def test_two_executions_in_one_step(session: tf.Session) -> None:
    section = tf.CriticalSection(shared_name="shared")
    same = tf.CriticalSection(shared_name="shared")
    v = tf.get_variable("v", [], use_resource=True, initializer=tf.zeros_initializer())
    first = section.execute(lambda: v.assign_add(1.0).read_value(), exclusive_resource_access=False)
    second = same.execute(lambda: v.assign_add(10.0).read_value(), exclusive_resource_access=False)
    session.run(v.initializer)
    for n in range(3):
        assert sum(session.run([first, second])) in (22 * n + 12, 22 * n + 21)
    assert session.run(v) == 33.0


def test_a_step_that_fails_lets_go(session: tf.Session) -> None:
    section = tf.CriticalSection()
    index = tf.placeholder(tf.int32, [])
    found = section.execute(lambda: tf.gather([1.0, 2.0], index))
    for _ in range(2):
        assert session.run(found, {index: 1}) == 2.0
        with pytest.raises(errors.InvalidArgumentError, match="is not in"):
            session.run(found, {index: 5})
    assert session.run(found, {index: 0}) == 1.0


def test_what_is_refused() -> None:
    section, other = tf.CriticalSection(name="one"), tf.CriticalSection(name="two")
    v = tf.get_variable("v", [], use_resource=True)
    with pytest.raises(ValueError, match="within its own execute"):
        section.execute(lambda: section.execute(lambda: tf.constant(1.0)))
    section.execute(lambda: v.read_value())
    with pytest.raises(ValueError, match=r"'two' uses the resources \['v:0'\], as CriticalSection 'one' does"):
        other.execute(lambda: v.read_value())


def test_one_after_the_other() -> None:
    mutex = Mutex("m")
    held = mutex.acquire()
    waiting = [mutex.acquire() for _ in range(3)]
    assert isinstance(held, Held) and all(isinstance(w, Promise) for w in waiting)
    waiting[0].give_up(errors.CancelledError(None, None, "enough"))  # type: ignore[union-attr]
    held.release()
    held.release()  # nothing more happens
    with pytest.raises(errors.CancelledError, match="enough"):
        waiting[0].result()  # type: ignore[union-attr]
    following = waiting[1].result()  # type: ignore[union-attr]
    assert waiting[2].now() is waiting[2] and waiting[2].what == "the mutex 'm'"  # type: ignore[union-attr]
    del following
    waiting.pop(1)
    assert isinstance(waiting[1].now(), Held)  # type: ignore[union-attr]


def test_eager_executions_and_functions_that_use_an_eager_section() -> None:
    with new_eager_world().as_default():
        section, v = tf.CriticalSection(), tf.Variable(1.0)
        add = tf.function(lambda: section.execute(lambda: v.assign_add(1.0)))
        assert add().numpy() == 2
        assert section.execute(lambda: (v, None, tf.no_op()))[0].numpy() == 2
        with pytest.raises(ZeroDivisionError):
            section.execute(lambda: 1 // 0)
        assert section.execute(lambda: v.assign_add(1.0)).numpy() == 3
