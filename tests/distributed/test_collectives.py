"""Collective ops between tasks of a cluster: sums, and how the others' steps end when one of them fails or is gone."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tests.distributed.clusters import cluster_spec, leave_nothing, running
from tfexp.distributed import messages as m
from tfexp.distributed.task_exchange import TaskExchange
from tfexp.ops import collective
from tfexp.runtime.collectives import Formed, Forming, Member

Servers = dict[str, tf.train.Server]
LEADER = "/job:worker/replica:0/task:0"


@pytest.fixture(scope="module")
def servers() -> Iterator[Servers]:
    with running(worker=3) as servers:
        yield servers


def _config(task: int) -> tf.ConfigProto:
    config = tf.ConfigProto(device_filters=[f"/job:worker/task:{task}"], operation_timeout_in_ms=20000)
    config.experimental.collective_group_leader = LEADER
    return config


class Worker:
    """A worker's own graph and session: `total` is what the workers sum up, of `x`; it fails where `x` is negative."""

    def __init__(self, servers: Servers, task: int, count: int, group: int):
        with tf.Graph().as_default() as graph, tf.device(f"/job:worker/task:{task}"):
            self.x = tf.placeholder(tf.float32)
            self.total = collective.all_reduce(self.x, count, group, 1, "Add", "Id")
            with tf.control_dependencies([self.total]):
                checked = tf.assert_greater_equal(self.x, 0.0)
            with tf.control_dependencies([checked]):
                self.twice = collective.all_reduce(tf.identity(self.total), count, group, 2, "Add", "Id")
        self.session = tf.Session(servers[f"worker:{task}"].target, graph, _config(task))
        self._threads = ThreadPoolExecutor(1)

    def start(self, x: Any, fetch: str = "total", milliseconds: int = 0) -> Future[Any]:
        options = tf.RunOptions(timeout_in_ms=milliseconds) if milliseconds else None
        return self._threads.submit(self.session.run, getattr(self, fetch), {self.x: x}, options)

    def close(self) -> None:
        self.session.close()
        self._threads.shutdown()


_groups = iter(range(100, 200))


@contextlib.contextmanager
def _workers(servers: Servers, count: int) -> Iterator[list[Worker]]:
    group = next(_groups)
    workers = [Worker(servers, task, count, group) for task in range(count)]
    try:
        yield workers
    finally:
        for worker in workers:
            worker.close()


def _together(workers: list[Worker], *values: Any, fetch: str = "total") -> list[Any]:
    return [step.result(60) for step in [w.start(x, fetch) for w, x in zip(workers, values, strict=True)]]


def _together_again(workers: list[Worker], *values: Any) -> list[Any]:
    """Like `_together`, once everyone can be reached: gRPC lets some time pass before it calls a lost address again."""
    limit = time.monotonic() + 30
    while True:
        steps = [worker.start(value) for worker, value in zip(workers, values, strict=True)]
        failures = [failure for step in steps if (failure := step.exception(60))]
        if not failures:
            return [step.result() for step in steps]
        assert all(isinstance(one, tf.errors.UnavailableError | tf.errors.AbortedError) for one in failures)
        assert time.monotonic() < limit


def _until(happened: Callable[[], object]) -> None:
    limit = time.monotonic() + 30
    while not happened():
        assert time.monotonic() < limit
        threading.Event().wait(0.005)


def _time_is_over(worker: Worker, servers: Servers, happened: Callable[[Any], bool]) -> None:
    """A step whose time is over once this has happened to the first worker's task: how long that takes nobody knows."""
    for milliseconds in (50, 500, 5000):
        with pytest.raises(tf.errors.DeadlineExceededError):
            worker.start(1.0, milliseconds=milliseconds).result(60)
        if happened(servers["worker:0"]._task):
            return
    pytest.fail("the step did not begin")


def _is_asked(servers: Servers, task: int) -> bool:
    """Whether somebody waits for what that worker has not sent yet."""
    return any(step.takers for step in servers[f"worker:{task}"]._task._worker._steps.values())


@pytest.mark.parametrize("count", [2, 3])
def test_workers_sum_up(servers, count):
    with _workers(servers, count) as workers:
        for size in ((), (7,), (150, 101)):  # the last in shares
            draws = np.random.RandomState(3).randn(count, *size).astype(np.float32)
            expected = draws[0] + draws[1] if count == 2 else draws[0] + draws[1] + draws[2]
            for total in _together(workers, *draws):
                np.testing.assert_array_equal(total, expected)
    leave_nothing(servers)


def test_large_tensors_do_not_all_go_through_one_task(servers):
    """Of three tasks, one that has them all would get twice a tensor's bytes."""
    with _workers(servers, 3) as workers:
        values = np.ones((3, 250, 1000), np.float32)
        _together(workers, *values)
        before = [servers[f"worker:{task}"].traffic.received for task in range(3)]
        _together(workers, *values)
        for task in range(3):
            received = servers[f"worker:{task}"].traffic.received - before[task]
            assert received < 1.5 * values[0].nbytes


@pytest.mark.parametrize("left", [0, 1])
def test_a_closed_session_ends_the_steps_of_the_others(servers, left):
    with _workers(servers, 2) as workers:
        assert _together(workers, 1.0, 2.0) == [3.0, 3.0]
        step = workers[1 - left].start(1.0)
        _until(lambda: _is_asked(servers, left))
        workers[left].session.close()
        with pytest.raises(tf.errors.AbortedError, match=f"task:{left} gave it up"):
            step.result(60)
    leave_nothing(servers)


def test_who_was_quicker_leaves_behind_what_the_others_need(servers):
    with _workers(servers, 2) as workers:
        assert _together(workers, 1.0, 2.0) == [3.0, 3.0]
        slow = workers[1].start(1.0)
        _until(lambda: _is_asked(servers, 0))
        assert workers[0].start(2.0).result(60) == 3.0
        workers[0].session.close()
        assert slow.result(60) == 3.0
    leave_nothing(servers)


def test_a_server_that_stops_waits_for_those_who_fetch(monkeypatch):
    may_fetch, fetch = threading.Event(), TaskExchange._fetch

    def late(exchange: TaskExchange, number: int, key: str, done: Any) -> Any:
        if "task:1" in key.split(";")[2]:
            may_fetch.wait(30)
        return fetch(exchange, number, key, done)

    with running(worker=2) as servers, _workers(servers, 2) as workers:
        assert _together(workers, 1.0, 2.0) == [3.0, 3.0]
        monkeypatch.setattr(TaskExchange, "_fetch", late)
        slow = workers[1].start(1.0)
        assert workers[0].start(2.0).result(60) == 3.0
        workers[0].session.close()
        quick = servers.pop("worker:0")
        stopping = threading.Thread(target=quick.stop)
        stopping.start()
        _until(lambda: quick._task._worker._awaiting)
        may_fetch.set()
        assert slow.result(60) == 3.0
        stopping.join(30)
        assert not stopping.is_alive()


def test_a_server_that_stops_does_not_wait_for_ever(monkeypatch):
    monkeypatch.setattr("tfexp.distributed.server._FETCHED_WITHIN", 0.01)
    with running(worker=1) as servers:
        task = servers["worker:0"]._task
        task._worker.takes_part = True
        task.call(m.Post(1, "nobody fetches this", np.zeros(1)))
        servers.pop("worker:0").stop()
        assert not task._worker._awaiting


def test_a_step_that_fails_ends_those_of_the_others_and_the_next_ones_run(servers):
    with _workers(servers, 3) as workers:
        assert _together(workers, 1.0, 2.0, 3.0, fetch="twice") == [18.0] * 3
        steps = [worker.start(x, "twice") for worker, x in zip(workers, (1.0, -1.0, 1.0), strict=True)]
        with pytest.raises(tf.errors.InvalidArgumentError, match="x >= y did not hold"):
            steps[1].result(60)
        for step in (steps[0], steps[2]):
            with pytest.raises(tf.errors.AbortedError, match="gave it up"):
                step.result(60)
        assert _together(workers, 1.0, 2.0, 3.0, fetch="twice") == [18.0] * 3
    leave_nothing(servers)


def test_time_that_is_over_ends_the_steps_of_all(servers):
    with _workers(servers, 3) as workers:
        _together(workers, 1.0, 2.0, 3.0)
        _time_is_over(workers[0], servers, lambda task: not any(s.exchange._groups for s in task._sessions.values()))
        for step in [worker.start(1.0) for worker in workers[1:]]:
            with pytest.raises(tf.errors.AbortedError, match="gave it up"):
                step.result(60)
        assert _together(workers, 1.0, 2.0, 3.0) == [6.0, 6.0, 6.0]
    leave_nothing(servers)


def test_who_gave_up_waiting_for_the_group_is_in_it_the_next_time(servers):
    with _workers(servers, 2) as workers:
        with pytest.raises(tf.errors.DeadlineExceededError):
            workers[1].start(1.0, milliseconds=50).result(60)
        assert _together(workers, 1.0, 2.0) == [3.0, 3.0]
    leave_nothing(servers)


def test_groups_of_another_size_are_refused(servers):
    group = next(_groups)
    with contextlib.closing(Worker(servers, 0, 2, group)) as two, contextlib.closing(Worker(servers, 1, 3, group)) as three:
        for step in (two.start(1.0), three.start(1.0)):
            with pytest.raises(tf.errors.InvalidArgumentError, match="joining a group with size"):
                step.result(60)
    leave_nothing(servers)


def test_a_task_that_is_gone_ends_the_steps_of_the_others_and_may_come_back():
    spec = cluster_spec(worker=3)
    servers = {f"worker:{task}": tf.train.Server(spec, "worker", task) for task in range(3)}
    try:
        with _workers(servers, 3) as workers:
            _together(workers, 1.0, 2.0, 3.0)
            steps = [worker.start(1.0) for worker in workers[:2]]
            _until(lambda: _is_asked(servers, 2))
            servers["worker:2"].stop()
            for step in steps:
                with pytest.raises((tf.errors.UnavailableError, tf.errors.AbortedError)):
                    step.result(60)
            servers["worker:2"] = tf.train.Server(spec, "worker", 2)
            key = workers[0].total.op.get_attr("group_key")
            with contextlib.closing(Worker(servers, 2, 3, key)) as again:
                assert _together_again([*workers[:2], again], 1.0, 2.0, 3.0) == [6.0, 6.0, 6.0]
    finally:
        for server in servers.values():
            server.stop()


def test_a_group_that_forms_when_nobody_waits_any_more_is_left_at_once(servers):
    """Its other members do not wait for one whose session has ended."""
    group = next(_groups)
    first = Worker(servers, 0, 2, group)
    key = first.total.op.get_attr("group_key")
    _time_is_over(first, servers, lambda task: key in task._worker._forming._joined)
    first.close()
    with contextlib.closing(Worker(servers, 1, 2, group)) as second:
        with pytest.raises(tf.errors.AbortedError, match="its session has ended"):
            second.start(1.0).result(60)
        with contextlib.closing(Worker(servers, 0, 2, group)) as again:
            assert _together([again, second], 1.0, 2.0) == [3.0, 3.0]


@pytest.mark.parametrize(
    ("device", "size"),
    [
        ("", 2),
        (f"{LEADER}/device:CPU:x", 2),
        (f"{LEADER}/cpu:0", 2),
        ("/job:other/replica:0/task:0/device:CPU:0", 2),
        (f"{LEADER}/device:CPU:0", 0),
    ],
)
def test_who_cannot_join_a_group(servers, device, size):
    with pytest.raises(tf.errors.InvalidArgumentError, match="cannot join the group 1"):
        servers["worker:0"]._task.call(m.CompleteGroup(1, size, Member(device)))


def test_what_groups_say_to_each_other_travels():
    from tfexp.distributed.wire import METHODS

    method = METHODS[m.CompleteGroup]
    request = m.CompleteGroup(7, 2, Member("/job:worker/replica:0/task:1/device:CPU:0", (1 << 64) - 3))
    assert method.read_request(method.request_bytes(request)) == (request, False)
    reply = Formed((1 << 63) - 1, (Member("/job:worker/replica:0/task:0/device:CPU:0", 5), request.member))
    assert method.read_reply(method.reply_bytes(reply, request), request) == reply


def test_a_group_forms_of_those_who_wait_for_it():
    forming: Forming[str] = Forming(iter([11, 12]).__next__)
    members = {task: Member(f"/job:worker/replica:0/task:{task}/device:CPU:0") for task in (2, 10)}
    assert forming.join("gone", 1, 2, members[10]) == []
    forming.withdraw("gone")
    assert forming.join("before", 1, 2, members[2]) == []
    ((who, error),) = forming.join("again", 1, 2, members[2])
    assert who == "before"
    assert isinstance(error, tf.errors.AbortedError)
    formed = Formed(11, (members[2], members[10]))
    assert forming.join("other", 1, 2, members[10]) == [("again", formed), ("other", formed)]
    assert forming.join("next", 1, 2, members[10]) == []
