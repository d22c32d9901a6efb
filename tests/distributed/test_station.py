"""A worker of a pool on a machine that does not have the folder in which it is to work."""

import os
import queue

from tfexp.distributed.child import Pipes
from tfexp.distributed.hosting import Work
from tfexp.distributed.pool import Job
from tfexp.distributed.station import begin_job, serve
from tfexp.runtime import cpu


class Link:
    def __init__(self, *messages):
        self.sent = []
        self._messages = queue.SimpleQueue()
        for message in messages:
            self._messages.put(message)

    def send(self, message):
        self.sent.append(message)

    def receive(self):
        return self._messages.get()


def test_a_log_that_cannot_be_written_fails_its_job_alone(tmp_path):
    work = Work("tests.distributed.test_station:answer")
    (tmp_path / "here").mkdir()
    elsewhere, here = (Job(name, work, tmp_path / name / "trial.log") for name in ("elsewhere", "here"))
    link = Link(begin_job(elsewhere), begin_job(here), {"kind": "exit"})
    try:
        serve(link)
    finally:
        cpu.share_cores(1)  # the worker took this process for its own
    failed, ended = link.sent
    assert (failed["job"], failed["kind"]) == ("elsewhere", "failed")
    assert failed["message"].startswith(f"{elsewhere.log} cannot be written on ")
    assert failed["message"].endswith(": No such file or directory; its folder must be on storage that all machines have")
    assert ended == {"job": "here", "kind": "ended", "result": 42}


def answer(station, arguments):
    return 42


def test_whoever_is_listened_to_no_more_ends(monkeypatch):
    """And does not fail with a broken pipe, which is not what happened to its work."""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb", buffering=0) as sending:
        pipes, abandoned = Pipes(sending), []
        monkeypatch.setattr(pipes, "abandon", lambda: abandoned.append(True))
        pipes.send({"kind": "alive"})
    assert abandoned
