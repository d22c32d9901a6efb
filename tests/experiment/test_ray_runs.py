"""Runs on Ray: one of the run's own, which leaves nothing behind, and a cluster of several nodes that is joined."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from documents import ON_RAY, documents
from run_files import numbers

import tfexp as tf
from tests.processes import started

ROOT = Path(next(iter(tf.__path__))).parent


def processes_of(folder: Path) -> list[int]:
    """The processes whose command line names the folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            words = (path / "cmdline").read_bytes()
        except OSError:
            continue  # it has ended meanwhile
        if bytes(folder) in words:
            found.append(int(path.name))
    return found


def until(holds: Callable[[], bool], seconds: float = 60) -> bool:
    ends = time.monotonic() + seconds
    while not holds() and time.monotonic() < ends:
        time.sleep(0.05)
    return holds()


README = ["model=linreg", "cluster=2workers", "train.steps=300"]


def test_the_command_is_that_of_the_readme() -> None:
    """Which test_guides does not run once more."""
    assert f"python -m tfexp {' '.join(README)}" == ON_RAY
    assert ON_RAY in documents()[0].commands


@pytest.mark.parametrize("stopped", [None, signal.SIGTERM])  # which Ray would take over
def test_a_ray_of_its_own_leaves_no_process_port_or_file(stopped: int | None, tmp_path: Path) -> None:
    temporary = Path(f"/tmp/tfexp-{os.getpid()}-{stopped or 0}")  # its path must be short
    temporary.mkdir()
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(temporary)}
    words = [*README, *(["train.steps=1000000"] if stopped else []), "hydra.run.dir=run"]
    try:
        with started(
            [sys.executable, "-m", "tfexp", *words],
            cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        ) as process:  # fmt: skip
            assert process.stdout is not None
            said = []
            for line in process.stdout:
                said.append(line)
                if stopped and "the first step was made" in line:
                    process.send_signal(stopped)
            err = process.stderr.read() if process.stderr else ""
            process.wait(60)
        assert process.returncode == (128 + stopped if stopped else 0), err
        tasks = json.loads((tmp_path / "run" / "tasks.json").read_text())
        assert tasks["hosting"] == "ray"
        assert until(lambda: processes_of(temporary) == [])
        assert list(temporary.iterdir()) == []
        for row in tasks["tasks"]:
            assert until(lambda pid=row["pid"]: not Path(f"/proc/{pid}").exists())
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(("localhost", row["port"]), timeout=5)
    finally:
        for pid in processes_of(temporary):
            os.kill(pid, signal.SIGKILL)
    assert "waiting for Ray to start on this machine\n" in said
    if stopped:
        assert re.match(r"tfexp: stopped after step \d+ of 1000000, saved in run/checkpoints/model\.ckpt-\d+\n", err)
        return
    assert numbers(tmp_path / "run")["step"] == 300
    (ray,) = [float(line.split()[4]) for line in said if line.startswith("Ray is up after ")]
    (first,) = [float(line.split()[5]) for line in said if line.startswith("the first step was made ")]
    assert 0 < ray < first
    assert all(row["blas_threads"] == max(1, row["cores"] // 3) for row in tasks["tasks"])


@pytest.fixture
def nodes(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A Ray cluster of three nodes with a CPU each."""
    from ray.cluster_utils import Cluster

    cluster = Cluster()
    try:
        cluster.add_node(wait=False, num_cpus=1, include_dashboard=False)
        for _ in range(2):
            cluster.add_node(wait=False, num_cpus=1)
        cluster.wait_for_nodes(timeout=120)  # it waits for half a minute by itself: too short on a busy machine
        monkeypatch.setenv("RAY_ADDRESS", cluster.address)
        yield cluster
    finally:
        cluster.shutdown()


def test_a_cluster_of_several_nodes_is_joined(nodes: Any, cli: Callable, tmp_path: Path) -> None:
    common = ["cluster=2workers", "cluster.address=auto", "cluster.worker_cpus=1", "train.steps=100"]
    ended = cli(*common, "cluster.placement=spread", "hydra.run.dir=run")
    assert ended.code == 0, ended.err
    assert numbers(tmp_path / "run")["step"] == 100
    tasks = json.loads((tmp_path / "run" / "tasks.json").read_text())["tasks"]
    assert len({row["place"] for row in tasks}) == 3, "each task has a node of its own"
    assert (tmp_path / "run" / "logs" / "worker-1.log").read_text().startswith("worker:1 serves at grpc://")

    ended = cli(*common, "cluster.workers=4", "hydra.run.dir=large")
    assert ended.code == 1
    assert ended.err.startswith("tfexp: 5 tasks need 4 CPUs and this Ray has 3 in all: give smaller cluster.worker_cpus")
    ended = cli(*common, "cluster.workers=1", "cluster.worker_cpus=2", "hydra.run.dir=wide")
    assert ended.err.startswith("tfexp: worker:0 needs 2 CPUs on one machine and the largest of this Ray's has 1")


def test_a_ray_that_is_not_there_is_said(cli: Callable) -> None:
    ended = cli("cluster=2workers", "cluster.address=127.0.0.1:1", "hydra.run.dir=run")
    assert ended.code == 1
    assert "cluster.address=127.0.0.1:1" in ended.err
    assert "leave cluster.address=local" in ended.err
