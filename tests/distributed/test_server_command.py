"""`python -m tfexp.server`: serves until it is told to end; what is wrong with the command is said in a line."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import tfexp as tf
from tests.distributed.clusters import free_ports
from tests.processes import started
from tfexp.server import main

ROOT = Path(__file__).parents[2]
CLUSTER = "cluster={ps: [localhost:2222], worker: [localhost:2223, localhost:2224]}"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_serves_until_a_signal_ends_it(number: signal.Signals) -> None:
    (port,) = free_ports(1)
    command = [sys.executable, "-m", "tfexp.server", "job=ps", "task=0", f"cluster={{ps: [localhost:{port}]}}"]
    with started(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == f"serving /job:ps/task:0 at grpc://localhost:{port}\n"
        with tf.Graph().as_default(), tf.Session(f"grpc://localhost:{port}") as session:
            assert session.run(tf.constant(3) * 5) == 15
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "/job:ps/task:0 has ended\n", "")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("localhost", port), timeout=5)


def test_help_says_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    for word in ("job", "task", "cluster", "bind", "tasks_here", "SIGTERM", "cluster=static", "TFEXP_TOKEN"):
        assert word in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "job must be given: job=…"),
        (["job=ps", "task=0"], "cluster must be given: cluster=…"),
        (["job=ps", "task=0", CLUSTER, "port=3"], "cannot read 'port=3': give job=, task= and cluster="),
        (["job=master", "task=0", CLUSTER], "job: the cluster has no 'master'; its jobs are ps, worker"),
        (["job=worker", "task=2", CLUSTER], "task: the cluster's job worker has no task 2; there are 0, 1"),
        (["job=worker", "task=one", CLUSTER], "task: 'one' is not a whole number from 0"),
        (["job=ps", "task=0", CLUSTER, "tasks_here=0"], "tasks_here: '0' is not a whole number from 1"),
        (["job=ps", "task=0", "cluster={ps: [a]}"], "cluster: 'a' is not host:port"),
        (["job=ps", "task=0", "cluster={ps: [a:1, a:1]}"], "cluster: two tasks have the address a:1"),
        (["job=ps", "task=0", "cluster={}"], "cluster: {} has no task"),
        (["job=ps", "task=0", "cluster={ps: 3}"], "cluster: The tasks for job 'ps' must be a list or a dictionary"),
        (["job=ps", "task=0", "cluster={ps: ["], "cluster: while parsing"),
        (["job=ps", "task=0", f"cluster={sys.executable}"], f"cluster: {sys.executable} is not a text file in UTF-8"),
        (["job=ps", "task=0", "cluster=nowhere.yaml"], "cluster: 'nowhere.yaml' is neither {job: [host:port, …], …} nor a"),
    ],
)
def test_what_is_wrong_is_said(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"tfexp.server: {said}")
    assert err.endswith("(python -m tfexp.server --help says what there is)\n")


def test_a_port_in_use_is_said_with_its_address(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    server = tf.train.Server.create_local_server()
    (tmp_path / "cluster.yaml").write_text(f"ps: ['{server.address}']\n")
    try:
        assert main(["job=ps", "task=0", f"cluster={tmp_path / 'cluster.yaml'}", f"tasks_here={os.cpu_count()}"]) == 1
    finally:
        server.stop()
    port = server.address.rpartition(":")[2]
    said = capsys.readouterr().err
    assert re.match(rf"tfexp.server: /job:ps/task:0: Could not start gRPC server: \S+:{port} cannot be listened at", said)
    assert "in use" in said
