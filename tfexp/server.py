"""`python -m tfexp.server job=ps task=0 cluster=...`: serve one task of a cluster until SIGTERM or Ctrl-C.

For clusters whose addresses are given (`cluster=static`): start one on each host, then the run anywhere.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

import tfexp as tf
from tfexp.runtime import cpu

HELP = """\
Serve one task of a cluster, until SIGTERM or Ctrl-C.

  python -m tfexp.server job=JOB task=NUMBER cluster=CLUSTER [bind=HOST] [tasks_here=NUMBER]

  job         ps, worker, or another job of the cluster
  task        which task of it, from 0
  cluster     every task's address: '{ps: [a:2222], worker: [b:2222, c:2222]}', or a YAML or JSON file with that
  bind        the interface to listen at, if it is not the host of the task's own address; 0.0.0.0 is all of them
  tasks_here  how many tasks share this machine's cores (as many as the cluster has at the task's host, if not given)

Whoever may use a server can run graphs with the rights of its process. Unless it listens at localhost, give it and the run
the same TFEXP_TOKEN, or certificates (TFEXP_TLS_CERT, TFEXP_TLS_KEY, TFEXP_TLS_CA, TFEXP_TLS_MUTUAL), in the environment.

Example: a parameter server and two workers on one machine, and a training that uses them
  python -m tfexp.server job=ps     task=0 cluster='{ps: [localhost:2222], worker: [localhost:2223, localhost:2224]}' &
  python -m tfexp.server job=worker task=0 cluster='{ps: [localhost:2222], worker: [localhost:2223, localhost:2224]}' &
  python -m tfexp.server job=worker task=1 cluster='{ps: [localhost:2222], worker: [localhost:2223, localhost:2224]}' &
  python -m tfexp model=linreg cluster=static cluster.ps_hosts=[localhost:2222] \\
      cluster.worker_hosts=[localhost:2223,localhost:2224]
"""
_WORDS = ("job", "task", "cluster", "bind", "tasks_here")


class _Wrong(Exception):  # noqa: N818 -- what the command line is
    """The command line cannot be followed."""


_LOOKS_EVERY = 1.0  # seconds


def main(argv: Sequence[str] | None = None) -> int:
    """Serve; returns the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    if {"--help", "-h"} & set(words):
        print(HELP, end="")
        return 0
    try:
        given = _given(words)
        cluster = _cluster(given["cluster"])
        job, task = given["job"], _number("task", given["task"])
        if job not in cluster.jobs:
            raise _Wrong(f"job: the cluster has no '{job}'; its jobs are {', '.join(cluster.jobs)}")
        if task not in cluster.task_indices(job):
            known = ", ".join(map(str, cluster.task_indices(job)))
            raise _Wrong(f"task: the cluster's job {job} has no task {task}; there are {known}")
        here = _at_the_same_host(cluster, job, task)
        if "tasks_here" in given:
            here = _number("tasks_here", given["tasks_here"], least=1)
        server = tf.train.Server(cluster, job, task, bind=given.get("bind"), start=False)
    except _Wrong as error:
        print(f"tfexp.server: {error}\n(python -m tfexp.server --help says what there is)", file=sys.stderr)
        return 2
    except tf.errors.OpError as error:
        print(f"tfexp.server: /job:{job}/task:{task}: {error.message}", file=sys.stderr)
        return 1
    cpu.share_cores(here)
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    server.start()
    print(f"serving /job:{job}/task:{task} at {server.target}", flush=True)
    # A signal that comes just before a wait without limit, or that another thread takes, would not end it.
    while not ended.wait(_LOOKS_EVERY):
        pass
    server.stop()
    print(f"/job:{job}/task:{task} has ended", flush=True)
    return 0


def _given(words: Sequence[str]) -> dict[str, str]:
    given: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or name not in _WORDS:
            raise _Wrong(f"cannot read '{word}': give job=, task= and cluster=")
        given[name] = value
    for name in _WORDS[:3]:
        if not given.get(name):
            raise _Wrong(f"{name} must be given: {name}=…")
    return given


def _number(name: str, text: str, least: int = 0) -> int:
    if not text.isdecimal() or int(text) < least:
        raise _Wrong(f"{name}: '{text}' is not a whole number from {least}")
    return int(text)


def _cluster(text: str) -> tf.train.ClusterSpec:
    try:
        read: Any = yaml.safe_load(Path(text).read_text(encoding="utf-8") if not text.startswith("{") else text)
    except OSError as error:
        raise _Wrong(f"cluster: '{text}' is neither {{job: [host:port, …], …}} nor a file: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise _Wrong(f"cluster: {text} is not a text file in UTF-8") from error
    except yaml.YAMLError as error:
        raise _Wrong(f"cluster: {' '.join(str(error).split())}") from error
    try:
        cluster = tf.train.ClusterSpec(read)
    except TypeError as error:
        raise _Wrong(f"cluster: {error}") from error
    addresses = [cluster.task_address(job, task) for job in cluster.jobs for task in cluster.task_indices(job)]
    for address in addresses:
        host, _, port = address.rpartition(":")
        if not host or not port.isdecimal() or int(port) > 65535:
            raise _Wrong(f"cluster: '{address}' is not host:port")
    twice = sorted({address for address in addresses if addresses.count(address) > 1})
    if twice:
        raise _Wrong(f"cluster: two tasks have the address {twice[0]}")
    if not addresses:
        raise _Wrong(f"cluster: {text} has no task")
    return cluster


def _at_the_same_host(cluster: tf.train.ClusterSpec, job: str, task: int) -> int:
    """How many tasks have this task's host, itself included."""
    own = cluster.task_address(job, task).rpartition(":")[0]
    addresses = [cluster.task_address(name, index) for name in cluster.jobs for index in cluster.task_indices(name)]
    return sum(address.rpartition(":")[0] == own for address in addresses)


if __name__ == "__main__":
    sys.exit(main())
