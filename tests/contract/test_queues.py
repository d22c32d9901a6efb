"""What a queue promises wherever it lives: in a local session, at a server in this process, behind gRPC, on another task.

`place.clients` says how many sessions share it: only local ones are alone.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tests.distributed.clusters import running
from tests.runtime.asleep import Asleep, Background
from tfexp.core.errors import (
    CancelledError,
    DeadlineExceededError,
    InvalidArgumentError,
    OpError,
    OutOfRangeError,
    UnavailableError,
)
from tfexp.distributed import server as server_module
from tfexp.runtime import waiting


@dataclass(frozen=True)
class Place:
    target: str
    device: str = ""
    other_target: str = ""  # of a second client


@pytest.fixture(scope="module")
def servers() -> Iterator[dict[str, tf.train.Server]]:
    with running(ps=1, worker=2) as servers:
        yield servers


@pytest.fixture(params=["local", "server", "grpc", "other task"])
def place(request: pytest.FixtureRequest, servers: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    first, second = servers["worker:0"].target, servers["worker:1"].target
    if request.param == "local":
        yield Place("")
        return
    if request.param == "grpc":
        monkeypatch.setattr(server_module, "_serving", {})  # this process's servers are as far away as any
    yield Place(first, "/job:ps/task:0", second) if request.param == "other task" else Place(first, "", first)
    monkeypatch.undo()
    with tf.Session(first) as session:
        tf.Session.reset(session.sess_str, ["box"])


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as g:
        yield g


@pytest.fixture
def asleep(monkeypatch: pytest.MonkeyPatch) -> Asleep:
    return Asleep(monkeypatch)


@pytest.fixture
def queue(place: Place) -> Any:
    with tf.container("box"), tf.device(place.device):
        return tf.FIFOQueue(3, [tf.float32, tf.string], [[2], []], shared_name="shared")


def elements(queue: Any) -> tuple[Any, dict[str, Any], Callable[[float], dict[Any, Any]]]:
    numbers = tf.placeholder(tf.float32, [2])
    give = queue.enqueue([numbers, tf.as_string(numbers[0])])
    return give, queue.dequeue(), lambda x: {numbers: [x, -x]}


def test_what_goes_in_comes_out(place: Place, queue: Any) -> None:
    give, take, fed = elements(queue)
    size = queue.size()
    with tf.Session(place.target) as session:
        for number in range(3):
            session.run(give, fed(number))
        assert session.run(size) == 3
        for number in range(3):
            numbers, text = session.run(take)
            assert numbers.tolist() == [number, -number] and float(text) == number


def test_a_step_sleeps_until_it_is_served(place: Place, queue: Any, asleep: Asleep) -> None:
    give, take, fed = elements(queue)
    with tf.Session(place.target) as session:
        for number in (5.0, 6.0, 7.0):
            waiting = Background(lambda: session.run(take))
            asleep.wait()
            session.run(give, fed(number))
            assert waiting.result()[0].tolist() == [number, -number]


def test_both_ends_in_one_step(place: Place, queue: Any) -> None:
    give, take, fed = elements(queue)
    with tf.Session(place.target) as session:
        for number in (1.0, 2.0, 3.0):
            assert session.run([take, give], fed(number))[0][0].tolist() == [number, -number]


def test_the_end(place: Place, queue: Any, asleep: Asleep) -> None:
    give, take, fed = elements(queue)
    many, close, up_to = queue.dequeue_many(3), queue.close(), queue.dequeue_up_to(3)
    with tf.Session(place.target) as session:
        session.run(give, fed(1.0))
        waiting = Background(lambda: session.run(many))
        asleep.wait()
        session.run(close)
        with pytest.raises(
            OutOfRangeError, match=r"FIFOQueue 'shared' is closed and has insufficient elements .* size 1"
        ) as e:
            waiting.result()
        assert e.value.op is many[0].op
        with pytest.raises(CancelledError, match=r"FIFOQueue 'shared' is closed\."):
            session.run(give, fed(2.0))
        assert session.run(up_to)[1].tolist() == [b"1.000000"]
        with pytest.raises(OutOfRangeError, match="current size 0"):
            session.run(take)


def test_time_is_up_and_nothing_lost(place: Place, queue: Any) -> None:
    give, take, fed = elements(queue)
    many, size = queue.dequeue_many(3), queue.size()
    with tf.Session(place.target) as session:
        session.run(give, fed(1.0))
        for _ in range(3):
            with pytest.raises(DeadlineExceededError):
                session.run(many, options=tf.RunOptions(timeout_in_ms=50))
        session.run(give, fed(2.0))
        assert session.run(take)[0].tolist() == [1.0, -1.0]
        assert session.run(size) == 1
    config = tf.ConfigProto(operation_timeout_in_ms=100)
    with tf.Session(place.target, config=config) as impatient:
        for _ in range(2):
            with pytest.raises(DeadlineExceededError):
                impatient.run(many)


def test_closing_the_session_ends_its_steps(place: Place, queue: Any, asleep: Asleep) -> None:
    give, take, fed = elements(queue)
    session = tf.Session(place.target)
    session.run(queue.size())
    steps = [Background(lambda: session.run(take)) for _ in range(2)]
    asleep.wait(2)
    session.close()
    for step in steps:
        with pytest.raises((CancelledError, UnavailableError)):
            step.result()
    with tf.Session(place.target) as session:
        session.run(give, fed(3.0))
        assert session.run(take)[0].tolist() == [3.0, -3.0]


def test_errors_name_the_node(place: Place, queue: Any) -> None:
    fed = tf.placeholder(tf.float32)
    give = queue.enqueue([fed, "x"])
    with tf.Session(place.target) as session, pytest.raises(InvalidArgumentError) as caught:
        session.run(give, {fed: [1.0]})
    assert "Shape mismatch in tuple component 0. Expected [2], got [1]" in caught.value.message
    assert caught.value.op is give


def test_several_clients_share_it(place: Place, queue: Any, asleep: Asleep) -> None:
    give, take, fed = elements(queue)
    if not place.other_target:
        pytest.skip("a local session shares nothing")
    with tf.Session(place.target) as giver, tf.Session(place.other_target) as taker:
        waiting = Background(lambda: taker.run(take))
        asleep.wait()
        giver.run(give, fed(4.0))
        assert waiting.result()[0].tolist() == [4.0, -4.0]
        for number in range(3):
            giver.run(give, fed(number))
        blocked = Background(lambda: giver.run(give, fed(9.0)))
        asleep.wait()
        assert [taker.run(take)[0][0] for _ in range(4)] == [0.0, 1.0, 2.0, 9.0]
        blocked.result()


def test_many_clients_at_once(place: Place, queue: Any) -> None:
    """Nothing is lost and nothing comes twice."""
    give, take, fed = elements(queue)
    targets = [place.target, place.other_target or place.target]
    with tf.Session(targets[0]) as one, tf.Session(targets[1]) as second:
        other = second if place.other_target else one
        one.run(queue.size())

        def produce(session: Any, start: int) -> None:
            for number in range(start, start + 20):
                session.run(give, fed(number))

        def consume(session: Any) -> list[float]:
            return [float(session.run(take)[0][0]) for _ in range(15)]

        producers = [Background(lambda s=s, n=n: produce(s, n)) for n, s in ((0, one), (100, other), (200, one))]
        consumers = [Background(lambda s=s: consume(s)) for s in (one, other, one, other)]
        for producer in producers:
            producer.result()
        taken = [consumer.result() for consumer in consumers]
    assert sorted(n for part in taken for n in part) == sorted(
        float(n) for start in (0, 100, 200) for n in range(start, start + 20)
    )
    # Each consumer sees each producer's numbers in their order.
    for part in taken:
        for start in (0, 100, 200):
            mine = [n for n in part if start <= n < start + 20]
            assert mine == sorted(mine)


def test_readers_and_runners(place: Place, tmp_path: Any) -> None:
    path = tmp_path / "lines.txt"
    path.write_text("".join(f"{n}\n" for n in range(10)))
    with tf.device(place.device):
        names = tf.train.string_input_producer([str(path)], num_epochs=2, shuffle=False)
        line = tf.TextLineReader().read(names).value
        batch = tf.train.batch([line], 4)
        epochs = tf.get_collection(tf.GraphKeys.LOCAL_VARIABLES)
    with tf.Session(place.target) as session:
        session.run([v.initializer for v in epochs])
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coord)
        found: list[bytes] = []
        # Twenty lines are five batches.
        for _ in range(5):
            found.extend(session.run(batch))
        with pytest.raises(OutOfRangeError):
            session.run(batch)
        coord.request_stop()
        coord.join(threads)
    assert found == [str(n).encode() for n in range(10)] * 2


def test_a_failed_read_says_where(place: Place) -> None:
    with tf.device(place.device):
        names = tf.FIFOQueue(3, [tf.string], [[]])
        key = tf.TextLineReader().read(names).key
        give = names.enqueue("no such file")
    with tf.Session(place.target) as session:
        session.run(give)
        with pytest.raises(OpError, match="no such file; No such file or directory") as caught:
            session.run(key)
    assert caught.value.op is key.op


def test_a_forgotten_start_is_hinted_at(
    place: Place, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(waiting, "HINT_AFTER", 0.01)
    with tf.device(place.device):
        names = tf.train.string_input_producer(["a"])
    taken = names.dequeue()
    with tf.Session(place.target) as session, caplog.at_level(logging.WARNING, "tensorflow"):
        waits = Background(lambda: session.run(taken))
        while not caplog.records:
            assert waits.running
            threading.Event().wait(0.001)
        session.run(names.close())
        with pytest.raises(OutOfRangeError):
            waits.result()
    assert "Nothing fills the queues input_producer: was tf.train.start_queue_runners() forgotten?" in caplog.text


def test_a_worker_feeds_the_queue_that_it_waits_for(servers: Any) -> None:
    """A node of the queue's task waits in the same step for what the worker makes of another node of that task."""
    with tf.device("/job:ps/task:0"):
        queue = tf.FIFOQueue(3, [tf.float32], [[]])
        source = tf.constant(np.float32(3.0)) * tf.placeholder_with_default(2.0, [])
        taken = queue.dequeue()
    with tf.device("/job:worker/task:0"):
        squared = tf.square(source)
    given = queue.enqueue(squared)
    with tf.Session(servers["worker:0"].target) as session:
        assert session.run([taken, given], options=tf.RunOptions(timeout_in_ms=5000))[0] == 36.0
