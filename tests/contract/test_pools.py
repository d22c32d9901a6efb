"""The contract of a pool: jobs run and print where they should, workers stay warm, and whoever dies is heard of."""

from __future__ import annotations

import os
import queue
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tfexp.distributed.hosting import Message, Work
from tfexp.distributed.local_pool import LocalPool
from tfexp.distributed.pool import Capacity, Job, Pool
from tfexp.distributed.process_pool import ProcessPool
from tfexp.distributed.ray_pool import RayPool
from tfexp.distributed.station import Station

SECONDS = 60
HERE = "tests.contract.test_pools"


def double(station: Station, arguments: dict[str, Any]) -> dict[str, Any]:
    print(f"doubling {arguments['number']}")
    station.send("noted", number=arguments["number"])
    return {"double": 2 * arguments["number"], "pid": os.getpid()}


def converse(station: Station, arguments: dict[str, Any]) -> list[int]:
    return [station.ask("question", number=number)["number"] for number in range(3)]


def raising(station: Station, arguments: dict[str, Any]) -> None:
    raise ValueError("a fault of its own")


def dying(station: Station, arguments: dict[str, Any]) -> None:
    print("about to die", flush=True)
    if arguments["how"] == "exit":
        os._exit(3)
    os.kill(os.getpid(), {"kill": signal.SIGKILL, "terminate": signal.SIGTERM}[arguments["how"]])


def leaving(station: Station, arguments: dict[str, Any]) -> None:
    sys.exit("no more")


def obeying(station: Station, arguments: dict[str, Any]) -> bool:
    station.ask("ready")
    return station.stopping


def gang(station: Station, arguments: dict[str, Any]) -> bool:
    """Whether two tasks get their places at once, beside this one."""
    from ray.util.placement_group import placement_group, remove_placement_group

    group = placement_group([{"CPU": arguments["cpus"]}] * 2)
    try:
        return bool(group.wait(SECONDS))
    finally:
        remove_placement_group(group)


class Heard:
    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.messages: queue.SimpleQueue[tuple[str, Message]] = queue.SimpleQueue()
        self.capacity = pool.open(lambda job, message: self.messages.put((job, message)), lambda text: None)

    def next(self) -> tuple[str, Message]:
        return self.messages.get(timeout=SECONDS)

    def last(self) -> tuple[str, Message]:
        """The last message of the job that ends next."""
        while True:
            job, message = self.next()
            if message["kind"] in ("ended", "failed", "exited"):
                return job, message


class PoolContract:
    """What every pool passes."""

    def pool(self, folder: Path) -> Pool:
        raise NotImplementedError

    @pytest.fixture
    def heard(self, tmp_path: Path) -> Iterator[Heard]:
        pool = self.pool(tmp_path)
        try:
            yield Heard(pool)
        finally:
            pool.close()
            pool.close()

    def start(self, heard: Heard, folder: Path, name: str, function: Any, log: Path | None = None, **arguments: Any) -> None:
        heard.pool.start(Job(name, Work(f"{HERE}:{function.__name__}", arguments), log or folder / f"{name}.log"))

    def test_jobs_of_every_kind_one_after_the_other(self, heard: Heard, tmp_path: Path) -> None:
        assert heard.capacity.cpus >= 1
        self.start(heard, tmp_path, "a", double, number=21)
        assert heard.next() == ("a", {"kind": "noted", "number": 21})
        job, first = heard.next()
        assert (job, first["kind"], first["result"]["double"]) == ("a", "ended", 42)
        assert (tmp_path / "a.log").read_text() == "doubling 21\n"

        self.start(heard, tmp_path, "b", raising)
        job, failed = heard.last()
        assert (job, failed["kind"], failed["error"], failed["message"]) == (
            "b",
            "failed",
            "ValueError",
            "a fault of its own",
        )
        assert "in raising" in failed["traceback"]
        assert "a fault of its own" in (tmp_path / "b.log").read_text()

        self.start(heard, tmp_path, "c", converse)
        for number in range(3):
            assert heard.next() == ("c", {"kind": "question", "number": number, "asked": True})
            heard.pool.tell("c", {"kind": "answer", "number": number + 10})
        assert heard.last() == ("c", {"kind": "ended", "result": [10, 11, 12]})

        self.start(heard, tmp_path, "d", obeying)
        assert heard.next()[1]["kind"] == "ready"
        heard.pool.tell("d", {"kind": "stop"})
        heard.pool.tell("d", {"kind": "answer"})
        assert heard.last() == ("d", {"kind": "ended", "result": True})

        self.start(heard, tmp_path, "full", double, log=Path("/dev/full"), number=1)
        job, failed = heard.last()
        assert (job, failed["kind"], failed["error"]) == ("full", "failed", "OSError")
        assert failed["message"].startswith("/dev/full cannot be written")
        assert failed["message"].endswith("No space left on device")

        self.start(heard, tmp_path, "left", leaving)
        job, failed = heard.last()
        assert (job, failed["kind"], failed["error"], failed["message"]) == ("left", "failed", "SystemExit", "no more")

        heard.pool.tell("a", {"kind": "answer"})  # it is gone: nothing happens
        self.start(heard, tmp_path, "e", double, number=1)
        assert heard.last()[1]["result"]["pid"] == first["result"]["pid"], "the worker is a new one"


class TestLocalPool(PoolContract):
    def pool(self, folder: Path) -> Pool:
        return LocalPool()


class ProcessesContract(PoolContract):
    """What pools pass whose workers are processes."""

    def test_who_dies_is_heard_of_and_the_others_go_on(self, heard: Heard, tmp_path: Path) -> None:
        self.start(heard, tmp_path, "a", converse)
        assert heard.next()[0] == "a"
        for how in ("exit", "kill", "terminate"):
            self.start(heard, tmp_path, how, dying, how=how)
            job, message = heard.last()
            assert (job, message["kind"]) == (how, "exited")
            assert message["why"]
            assert (tmp_path / f"{how}.log").read_text() == "about to die\n"
        for _ in range(3):
            heard.pool.tell("a", {"kind": "answer", "number": 5})
        assert heard.last() == ("a", {"kind": "ended", "result": [5, 5, 5]})

    def test_jobs_run_at_once(self, heard: Heard, tmp_path: Path) -> None:
        for name in ("a", "b"):
            self.start(heard, tmp_path, name, converse)
        assert {heard.next()[0], heard.next()[0]} == {"a", "b"}


class TestProcessPool(ProcessesContract):
    def pool(self, folder: Path) -> Pool:
        return ProcessPool(folder / "workers.log")

    def test_closing_ends_workers(self, heard: Heard, tmp_path: Path) -> None:
        self.start(heard, tmp_path, "a", double, number=1)
        pid = heard.last()[1]["result"]["pid"]
        self.start(heard, tmp_path, "b", converse)
        heard.next()
        heard.pool.close()
        assert not Path(f"/proc/{pid}").exists()


@pytest.mark.usefixtures("one_ray")
class TestRayPool(ProcessesContract):
    def pool(self, folder: Path) -> Pool:
        return RayPool("local")

    def test_idle_workers_give_way_to_a_gang(self, heard: Heard, tmp_path: Path) -> None:
        assert heard.capacity == Capacity(2.0)
        for name in ("a", "b"):
            self.start(heard, tmp_path, name, double, number=1)
        pids = {heard.last()[1]["result"]["pid"] for _ in range(2)}
        assert len(pids) == 2, "they ran one after the other"
        work = Work(f"{HERE}:gang", {"cpus": 1})
        heard.pool.start(Job("gang", work, tmp_path / "gang.log", cpus=0, gang_cpus=2))
        assert heard.last() == ("gang", {"kind": "ended", "result": True})

    def test_what_can_never_fit_is_said(self, heard: Heard, tmp_path: Path) -> None:
        heard.pool.start(Job("large", Work(f"{HERE}:double", {"number": 1}), tmp_path / "large.log", cpus=3))
        assert heard.last() == (
            "large", {"kind": "exited", "why": "it needs 3 CPUs and 0 GPUs, and this Ray has 2 and 0 in all"},
        )  # fmt: skip
