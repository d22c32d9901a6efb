"""How many requests a step costs: one per task in each direction in which data flows, whatever the cluster looks like."""

from __future__ import annotations

import contextlib
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tests.distributed.clusters import leave_nothing, running
from tfexp.distributed import messages as m
from tfexp.distributed.program import GraphProgram

PS0, PS1, W0, W1 = "/job:ps/task:0", "/job:ps/task:1", "/job:worker/task:0", "/job:worker/task:1"
Servers = dict[str, tf.train.Server]
# What to run first, what to run, its feeds.
Program = tuple[Any, Any, dict[Any, Any]]


@pytest.fixture(scope="module")
def servers() -> Iterator[Servers]:
    with running(ps=2, worker=2) as servers:
        yield servers


@pytest.fixture(autouse=True)
def _graph(servers: Servers) -> Iterator[None]:
    with tf.Graph().as_default():
        yield
    tf.Session.reset(servers["worker:0"].target)


@contextlib.contextmanager
def _listening(servers: Servers) -> Iterator[dict[str, Counter[str]]]:
    """What every task is asked by others, but for what is left of earlier sessions."""
    seen: dict[str, Counter[str]] = {name: Counter() for name in servers}

    def listen(name: str, run: Callable[..., Any]) -> Callable[..., Any]:
        def counted(number: int, request: m.Request, timeout: float | None = None) -> Any:
            if not isinstance(request, m.DeleteWorkerSession):
                seen[name][type(request).__name__] += 1
            return run(number, request, timeout)

        return counted

    for name, server in servers.items():
        server._task.run = listen(name, server._task.run)  # type: ignore[method-assign]
    try:
        yield seen
    finally:
        for server in servers.values():
            del server._task.run


def _requests(servers: Servers, master: str, program: Program) -> dict[str, dict[str, int]]:
    """The requests of one step, when the session has run it before. All of a session's answers come before its end."""
    first, fetches, feed = program
    with tf.Session(servers[master].target) as session:
        session.run(first)
        session.run(fetches, feed)
        with _listening(servers) as seen:
            session.run(fetches, feed)
    return {name: dict(requests) for name, requests in seen.items() if requests}


def _trained(servers: Servers, optimizer: Callable[[Any], Any], decay: bool) -> Program:
    """Two variables and the step counter on two parameter servers; the counter is read, and counts when all is done."""
    with tf.device(tf.train.replica_device_setter(cluster=servers["ps:0"]._cluster, worker_device=W0)):
        x, y = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [None, 1])
        w, b = tf.Variable(tf.zeros([3, 1])), tf.Variable(tf.zeros([1]))
        step = tf.train.get_or_create_global_step()
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - y))
        rate = tf.train.exponential_decay(0.1, step, 10, 0.9) if decay else 0.1
        train = optimizer(rate).minimize(loss, global_step=step)
    return tf.global_variables_initializer(), [train, loss], {x: np.ones((2, 3)), y: np.ones((2, 1))}


@pytest.mark.parametrize("decay", [False, True])
@pytest.mark.parametrize(
    "optimizer",
    [tf.train.GradientDescentOptimizer, tf.train.AdamOptimizer, lambda rate: tf.train.MomentumOptimizer(rate, 0.9)],
)
def test_a_training_step_asks_a_parameter_server_once_to_read_and_once_to_update(
    servers: Servers, optimizer: Callable[[Any], Any], decay: bool
) -> None:
    twice = {"RunGraph": 2}
    program = _trained(servers, optimizer, decay)
    assert _requests(servers, "worker:0", program) == {"worker:0": {"RunStep": 1}, "ps:0": twice, "ps:1": twice}


def test_a_training_step_whose_master_is_the_parameter_server_asks_the_worker_once(servers: Servers) -> None:
    program = _trained(servers, tf.train.GradientDescentOptimizer, False)
    # What the worker reads comes with the request, and the gradients with the answer.
    assert _requests(servers, "ps:0", program) == {
        "ps:0": {"RunStep": 1},
        "ps:1": {"RunGraph": 2},
        "worker:0": {"RunGraph": 1},
    }


@pytest.mark.parametrize("master", ["worker:0", "worker:1", "ps:0"])
def test_data_from_worker_to_worker(servers: Servers, master: str) -> None:
    with tf.device(W0):
        a = tf.random_uniform([2])
    with tf.device(W1):
        b = a * 2.0
    asked = {name: {"RunGraph": 1} for name in ("worker:0", "worker:1")} | {master: {"RunStep": 1}}
    assert _requests(servers, master, (tf.no_op(), b, {})) == asked


@pytest.mark.parametrize("master", ["worker:0", "ps:1"])
def test_in_graph_replication(servers: Servers, master: str) -> None:
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    with tf.device(PS0):
        w, b = tf.Variable(tf.zeros([3, 1])), tf.Variable(tf.zeros([1]))
    towers = []
    for worker in (W0, W1):
        with tf.device(worker):
            loss = tf.reduce_mean(tf.square(tf.matmul(tf.random_normal([5, 3]), w) + b - 1.0))
            towers.append(optimizer.compute_gradients(loss, [w, b]))
    with tf.device(PS0):
        train = optimizer.apply_gradients([((g + h) / 2.0, v) for (g, v), (h, _) in zip(*towers, strict=True)])
    program = tf.global_variables_initializer(), [train, loss], {}
    asked = {"ps:0": {"RunGraph": 2}, "worker:0": {"RunGraph": 1}, "worker:1": {"RunGraph": 1}}
    assert _requests(servers, master, program) == asked | {master: {"RunStep": 1}}


def test_a_dequeue_shares_a_request_with_what_is_wanted_together_with_it(servers: Servers) -> None:
    with tf.device(PS0):
        features, labels = (tf.FIFOQueue(9, tf.float32, [[]]) for _ in range(2))
        fill = [queue.enqueue_many([tf.ones([9])]) for queue in (features, labels)]
        w = tf.Variable(2.0)
        x, y = features.dequeue(), labels.dequeue()
    with tf.device(W0):
        loss = tf.square(w * x - y)
    program = [w.initializer, *fill], loss, {}
    assert _requests(servers, "worker:0", program) == {"worker:0": {"RunStep": 1}, "ps:0": {"RunGraph": 1}}


def test_a_dequeue_that_others_need_not_wait_for_has_a_request_to_itself(servers: Servers) -> None:
    """The step fills the queue with what it reads beside the dequeue: in one request, it would wait for itself."""
    with tf.device(PS0):
        queue = tf.FIFOQueue(9, tf.float32, [[]])
        w = tf.Variable(2.0)
        x = queue.dequeue()
    with tf.device(W0):
        doubled = w * 2.0
    with tf.device(PS0):
        put = queue.enqueue(doubled)
    requests = _requests(servers, "worker:0", (w.initializer, [x, put], {}))
    assert requests == {"worker:0": {"RunStep": 1}, "ps:0": {"RunGraph": 3}}


def test_groups_cost_no_request(servers: Servers) -> None:
    with tf.device(PS0):
        a = tf.Variable(1.0)
    with tf.device(PS1):
        b = tf.Variable(1.0)
    both = tf.group(a.assign_add(1.0), b.assign_add(1.0))
    with tf.device(PS1):
        pinned = tf.group(both)
    with tf.control_dependencies([pinned]), tf.device(PS0):
        after = a.assign_add(1.0)
    init = tf.global_variables_initializer()
    once = {"RunGraph": 1}
    assert _requests(servers, "worker:0", (init, both, {})) == {"worker:0": {"RunStep": 1}, "ps:0": once, "ps:1": once}
    assert _requests(servers, "worker:0", (init, pinned, {})) == {"worker:0": {"RunStep": 1}, "ps:0": once, "ps:1": once}
    # What is on the same server as what has to come after all of it waits for that.
    assert _requests(servers, "worker:0", (init, after, {})) == {"worker:0": {"RunStep": 1}, "ps:0": once, "ps:1": once}
    with tf.Session(servers["worker:0"].target) as session:
        session.run(init)
        session.run(after)
        assert session.run([a, b]) == [3.0, 2.0]


def test_a_large_tensor_goes_straight_to_where_it_is_wanted(servers: Servers) -> None:
    with tf.device(PS0):
        v = tf.Variable(tf.ones([307, 311]))
    with tf.device(W1):
        doubled = v * 2.0
        total = tf.reduce_sum(doubled)
    with tf.device(PS0):
        back = tf.assign(v, doubled).op
    program = v.initializer, [back, total], {}
    # The sender is asked for it. So it is on its way once, and not twice, by way of the master.
    straight = {"worker:0": {"RunStep": 1}, "ps:0": {"RunGraph": 2, "RecvTensor": 1}, "worker:1": {"RunGraph": 1}}
    straight["worker:1"]["RecvTensor"] = 1
    assert _requests(servers, "worker:0", program) == straight
    # Where it is the master's anyway, it comes with the answer, and goes with the request.
    assert _requests(servers, "worker:1", program) == {"worker:1": {"RunStep": 1}, "ps:0": {"RunGraph": 2}}
    leave_nothing(servers)
    with tf.Session(servers["worker:0"].target) as session:
        session.run(v.initializer)
        session.run(back)
        np.testing.assert_array_equal(session.run(v), np.full([307, 311], 2.0))


def test_a_large_tensor_that_nobody_fetches_any_more_is_forgotten(servers: Servers) -> None:
    with tf.device(PS0):
        v = tf.random_uniform([307, 311])
    with tf.device(W1):
        bad = tf.check_numerics(tf.reduce_sum(v) * tf.placeholder_with_default(np.float32("nan"), []), "bad")
    with tf.Session(servers["worker:0"].target) as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"From /job:worker/replica:0/task:1:\nbad"):
            session.run(bad)
        assert session.run(tf.shape(v)).tolist() == [307, 311]
    leave_nothing(servers)


def test_steps_of_several_threads_do_not_mix_their_tensors(servers: Servers) -> None:
    x = tf.placeholder(tf.float32, [])
    with tf.device(PS0):
        v = tf.fill([307, 311], x)
    with tf.device(W1):
        y = tf.reduce_mean(v)
    seen: list[tuple[float, float]] = []
    with tf.Session(servers["worker:0"].target) as session:

        def run(value: float) -> None:
            for _ in range(5):
                seen.append((value, float(session.run(y, {x: value}))))

        threads = [threading.Thread(target=run, args=[float(n)]) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    assert len(seen) == 20
    assert all(abs(a - b) < 1e-3 for a, b in seen)


def test_what_is_read_for_another_task_is_read_beside_other_work(servers: Servers, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stage of its own would run beside the request that it does not wait for, and cost a thread."""
    with tf.device(PS0):
        w = tf.Variable(2.0)
    with tf.device(W0):
        local = tf.Variable(3.0)
        product = w * 2.0
    with tf.device(PS0):
        added = w.assign_add(product * local)
    stages: list[GraphProgram] = []
    run = GraphProgram.run
    with tf.Session(servers["worker:0"].target) as session:
        session.run(tf.global_variables_initializer())
        assert session.run(added) == 14.0
        monkeypatch.setattr(GraphProgram, "run", lambda self, *given: (stages.append(self), run(self, *given))[1])
        assert session.run(added) == 14.0 + 28.0 * 3.0
    assert len(stages) == 3, "the server reads, the worker computes, the server adds"
