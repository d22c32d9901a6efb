"""Every hosting starts tasks, carries their messages, names the one that fails, and leaves nothing running."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import tfexp as tf
from tests.contract.hosted_work import PRINTED
from tests.distributed.clusters import free_ports
from tests.processes import all_ended
from tfexp.distributed.gang import Gang, Restarts, Row, TaskFailed
from tfexp.distributed.hosting import Hosting, HostingError, TaskSpec, Work
from tfexp.distributed.process_host import ProcessHosting
from tfexp.distributed.ray_host import RayHosting
from tfexp.distributed.static_host import StaticHosting

ROOT = Path(__file__).parents[2]
Make = Callable[[], Hosting]


@contextlib.contextmanager
def servers_elsewhere() -> Iterator[tuple[dict[str, list[str]], list[int]]]:
    """A parameter server and two workers as `python -m tfexp.server` starts them; their cluster and their processes."""
    ports = free_ports(3)
    cluster = {"ps": [f"localhost:{ports[0]}"], "worker": [f"localhost:{port}" for port in ports[1:]]}
    started = []
    for job, addresses in cluster.items():
        for task in range(len(addresses)):
            command = [sys.executable, "-m", "tfexp.server", f"job={job}", f"task={task}", f"cluster={cluster}"]
            started.append(subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True))
    try:
        for process in started:
            assert process.stdout is not None
            assert process.stdout.readline().startswith("serving /job:")
        yield cluster, [process.pid for process in started]
    finally:
        for process in started:
            process.terminate()
        for process in started:
            process.communicate(timeout=60)


@pytest.fixture(scope="module")
def static_cluster() -> Iterator[tf.train.ClusterSpec]:
    """Servers for all tests of this module that leave them running."""
    with servers_elsewhere() as (cluster, _):
        yield tf.train.ClusterSpec(cluster)


@pytest.fixture(params=["process", "ray", "static"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Make]:
    """Makes a hosting whose logs are in `tmp_path`."""
    if request.param == "process":
        yield lambda: ProcessHosting(tmp_path)
    elif request.param == "ray":
        request.getfixturevalue("one_ray")
        yield lambda: RayHosting("local")
    else:
        cluster = request.getfixturevalue("static_cluster")
        yield lambda: StaticHosting(cluster, tmp_path, within=20)


def gang_of(make: Make, logs: Path, *works: Work, said: list[str] | None = None) -> Gang:
    """A parameter server and workers, who take both CPUs of `one_ray`."""
    tasks = [TaskSpec("ps", 0), *(TaskSpec("worker", i, work, cpus=2 / len(works)) for i, work in enumerate(works))]
    return Gang(make(), tasks, logs, (said if said is not None else []).append, start_within=60)


def collect(gang: Gang, kind: str, count: int) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    while len(found) < count:
        name, message = gang.next(timeout=60)
        if message["kind"] == kind:
            found[name] = message
    return found


def test_tasks_share_a_variable_and_answer(make: Make, tmp_path: Path) -> None:
    work = Work("tests.contract.hosted_work:add", {"amount": 2.5})
    said: list[str] = []
    with gang_of(make, tmp_path, work, work, said=said) as gang:
        rows = {row.task: row for row in gang.rows}
        assert list(rows) == ["ps:0", "worker:0", "worker:1"]
        assert collect(gang, "ready", 2).keys() == {"worker:0", "worker:1"}
        gang.tell("go", "worker:0", "worker:1")
        ended = {name: message["result"] for name, message in collect(gang, "ended", 2).items()}
        gang.dismiss()
    assert sorted(result["value"] for result in ended.values()) == [2.5, 5.0]
    for name, result in ended.items():
        assert result["tasks"] == gang.cluster.as_dict()
        assert rows[name].pid == result["pid"] != os.getpid()
        assert all_ended([result["pid"]])
        assert "added 2.5" in (tmp_path / f"{name.replace(':', '-')}.log").read_text()
    assert len({row.port for row in rows.values()}) == 3
    assert any(line.startswith("waiting for ps:0, worker:0, worker:1 to start") for line in said), said


def test_what_a_task_prints_is_in_its_log_byte_for_byte_and_never_a_message(make: Make, tmp_path: Path) -> None:
    log = tmp_path / "worker-0.log"
    with gang_of(make, tmp_path, Work("tests.contract.hosted_work:print_bytes")) as gang:
        collect(gang, "printed", 1)
        assert log.read_bytes().endswith(PRINTED)
        gang.tell("go", "worker:0")
        assert collect(gang, "ended", 1)["worker:0"]["result"] == "printed"
        gang.dismiss()
    assert log.read_bytes().endswith(PRINTED + PRINTED)


def test_work_ends_when_it_is_asked_to(make: Make, tmp_path: Path) -> None:
    with gang_of(make, tmp_path, *[Work("tests.contract.hosted_work:until_stopped")] * 2) as gang:
        collect(gang, "ready", 2)
        gang.tell("go", "worker:0", "worker:1")
        collect(gang, "running", 2)
        with pytest.raises(queue.Empty):
            gang.next(timeout=0)
        gang.wake("signal")
        assert gang.next() == ("", {"kind": "signal"})
        gang.tell("stop")
        assert all(message["result"]["steps"] >= 3 for message in collect(gang, "ended", 2).values())
        gang.dismiss()


def lead(gang: Gang, act: Callable[[Gang, list[Row]], None] = lambda gang, rows: None) -> None:
    """Start the work of both workers, act, and wait for its end."""
    with gang:
        collect(gang, "ready", 2)
        gang.tell("go", "worker:0", "worker:1")
        act(gang, gang.rows)
        collect(gang, "ended", 2)


def workers_gone(rows: list[Row]) -> bool:
    return all_ended(row.pid for row in rows if row.task.startswith("worker") and row.pid is not None)


def test_work_that_fails_is_named_with_its_error_and_log(make: Make, tmp_path: Path) -> None:
    works = [Work("tests.contract.hosted_work:until_stopped"), Work("tests.contract.hosted_work:fail")]
    gang = gang_of(make, tmp_path, *works)
    with pytest.raises(TaskFailed) as caught:
        lead(gang)
    assert str(caught.value) == "worker:1 failed: ValueError: worker:1 cannot do this"
    assert caught.value.log == tmp_path / "worker-1.log"
    assert any("about to fail" in line for line in caught.value.last_lines())
    assert caught.value.last_lines()[-1] == "ValueError: worker:1 cannot do this"
    assert workers_gone(gang.rows)


def test_a_task_that_dies_is_named(make: Make, tmp_path: Path) -> None:
    ended = Work("tests.contract.hosted_work:die", {"signal": int(signal.SIGTERM)})  # which Ray handles, too
    gang = gang_of(make, tmp_path, Work("tests.contract.hosted_work:until_stopped"), ended)
    with pytest.raises(TaskFailed) as caught:
        lead(gang)
    assert caught.value.task == "worker:1"
    assert f"worker:1 is gone (process {gang.rows[2].pid} on " in str(caught.value)
    assert workers_gone(gang.rows)


def kill_ps(gang: Gang, rows: list[Row]) -> None:
    collect(gang, "running", 2)
    assert rows[0].task == "ps:0"
    assert rows[0].pid is not None
    os.kill(rows[0].pid, signal.SIGKILL)


def test_a_parameter_server_that_dies_is_named_and_not_who_missed_it(make: Make, tmp_path: Path) -> None:
    if isinstance(make(), StaticHosting):
        pytest.skip("its servers' processes are not known here: see test_a_server_elsewhere_that_goes_is_named")
    gang = gang_of(make, tmp_path, *[Work("tests.contract.hosted_work:until_stopped")] * 2)
    with pytest.raises(TaskFailed, match=r"^ps:0 is gone \(process \d+ on "):
        lead(gang, kill_ps)


def test_a_task_that_dies_is_started_again_where_it_was_as_often_as_it_may_be(make: Make, tmp_path: Path) -> None:
    tasks = [TaskSpec("ps", 0), TaskSpec("worker", 0, Work("tests.contract.hosted_work:die"))]
    gang = Gang(make(), tasks, tmp_path, lambda _: None, start_within=60, restarts=Restarts(1))
    fates: list[tuple[str, str]] = []
    pids: list[int | None] = []
    clusters: list[Any] = []

    def follow() -> None:
        with gang:
            while True:
                name, message = gang.next(timeout=60)
                fates.append((name, message["kind"]))
                if message["kind"] == "ready":
                    clusters.append(gang.cluster)
                    pids.append(next(row.pid for row in gang.rows if row.task == "worker:0"))
                    gang.tell("go", name)
                elif message["kind"] == "lost":
                    assert (message["attempt"], message["of"]) == (1, 1)
                    assert f"is gone (process {pids[0]} on " in message["why"]

    with pytest.raises(TaskFailed) as caught:
        follow()
    assert fates.count(("worker:0", "lost")) == 1
    assert [fate for _, fate in fates if fate in ("lost", "ready")] == ["ready", "lost", "ready"]
    assert ("worker:0", "back") in fates
    assert clusters[0] == clusters[1]
    assert gang.restarted == {"ps:0": 0, "worker:0": 1}
    assert len(set(pids)) == 2
    assert str(caught.value).endswith("after it was started again 1 time, which is all that it may")
    assert all_ended(pids)


def give_up(gang: Gang, rows: list[Row]) -> None:
    raise KeyError("something else")


def test_leaving_early_leaves_nothing(make: Make, tmp_path: Path) -> None:
    gang = gang_of(make, tmp_path, *[Work("tests.contract.hosted_work:until_stopped")] * 2)
    with pytest.raises(KeyError):
        lead(gang, give_up)
    assert workers_gone(gang.rows)


# --- what only one of them can get wrong ----------------------------------------------------------------------------


def test_a_server_elsewhere_that_goes_is_named(tmp_path: Path) -> None:
    with servers_elsewhere() as (cluster, pids):
        serving = cluster["ps"][0]

        def make() -> Hosting:
            return StaticHosting(tf.train.ClusterSpec(cluster), tmp_path)

        def kill(gang: Gang, rows: list[Row]) -> None:
            collect(gang, "running", 2)
            os.kill(pids[0], signal.SIGKILL)

        gang = gang_of(make, tmp_path, *[Work("tests.contract.hosted_work:until_stopped")] * 2)
        with pytest.raises(TaskFailed, match=f"^ps:0 is gone: its server at {serving} does not answer any more"):
            lead(gang, kill)


def test_servers_that_are_not_there_or_are_others_are_said(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    absent = tf.train.ClusterSpec({"ps": [f"localhost:{port}"]})
    with pytest.raises(HostingError, match=rf"no answer within 0\.3 s from ps:0 at localhost:{port}: start it there"):
        StaticHosting(absent, tmp_path, within=0.3).start([TaskSpec("ps", 0)], lambda *_: None, lambda _: None)
    server = tf.train.Server.create_local_server()
    try:
        other = tf.train.ClusterSpec({"ps": [server.address]})
        with pytest.raises(HostingError, match=f"{server.address} is /job:local/replica:0/task:0, and not ps:0"):
            StaticHosting(other, tmp_path, within=10).start([TaskSpec("ps", 0)], lambda *_: None, lambda _: None)
    finally:
        server.stop()


@pytest.mark.usefixtures("one_ray")
def test_what_can_never_fit_into_ray_is_said_before_anything_waits() -> None:
    for tasks, text in (
        ([TaskSpec("worker", i, cpus=2) for i in range(3)], "3 tasks need 6 CPUs and this Ray has 2 in all"),
        ([TaskSpec("ps", 0, gpus=1)], "1 task need.* 1 GPUs and this Ray has 0 in all"),
    ):
        with pytest.raises(HostingError, match=text):
            RayHosting("local").start(tasks, lambda *_: None, lambda _: None)


def test_servers_that_were_started_with_other_clusters_are_said(tmp_path: Path) -> None:
    ports = free_ports(3)
    truth = {"ps": [f"localhost:{ports[0]}"], "worker": [f"localhost:{ports[1]}"]}
    tasks = [TaskSpec("ps", 0), TaskSpec("worker", 0, Work("tests.contract.hosted_work:add", {"amount": 1.0}))]

    class Impatient(StaticHosting):
        """Once all have answered."""

        def _check_views(self, tasks: Sequence[TaskSpec]) -> None:
            self._within = 0.3
            super()._check_views(tasks)

    def start(kind: type[StaticHosting]) -> None:
        kind(tf.train.ClusterSpec(truth), tmp_path, within=60.0).start(tasks, lambda *_: None, lambda _: None)

    ps = tf.train.Server(truth, "ps", 0)
    try:
        # One that looks elsewhere, where nobody is.
        blind = tf.train.Server({**truth, "ps": [f"localhost:{ports[2]}"]}, "worker", 0)
        try:
            with pytest.raises(HostingError, match=rf"^worker:0 at localhost:{ports[1]} did not reach ps:0 within 0.3 s"):
                start(Impatient)
        finally:
            blind.stop()
        # One that has another task at an address than the server there says.
        beside = tf.train.Server({"ps": [f"localhost:{ports[0]}"], "worker": [f"127.0.0.1:{ports[1]}"]}, "worker", 0)
        try:
            with pytest.raises(HostingError, match=f"/job:worker/replica:0/task:0 is at 127.0.0.1:{ports[1]} there and at"):
                start(StaticHosting)
        finally:
            beside.stop()
    finally:
        ps.stop()


def test_a_task_that_says_nothing_is_named_and_after_a_while_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tfexp.distributed.gang._SILENT_AFTER", 1.3)
    tasks = [TaskSpec("ps", 0)]  # nobody else, who might say nothing for as long on a busy machine
    with Gang(ProcessHosting(tmp_path), tasks, tmp_path, lambda _: None, start_within=60, restarts=Restarts(1)) as gang:
        ps = gang.rows[0].pid
        assert ps is not None
        os.kill(ps, signal.SIGSTOP)
        said = collect(gang, "silent", 1)
        assert said["ps:0"]["seconds"] > 1.3
        os.kill(ps, signal.SIGCONT)
        assert collect(gang, "heard", 1).keys() == {"ps:0"}
        monkeypatch.setattr(gang, "_restarts", Restarts(1, after_silence=3.0))  # when it can no more be heard late
        os.kill(ps, signal.SIGSTOP)
        assert collect(gang, "lost", 1)["ps:0"]["why"].endswith("nobody has heard of it for 3 s")
        collect(gang, "back", 1)
        assert gang.rows[0].pid != ps
        assert all_ended([ps])
