"""The tasks of a run as its driver sees them, on a hosting that says what the test wants."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tfexp.distributed.gang import Gang, Restarts
from tfexp.distributed.hosting import Hosting, Message, Say, Sink, TaskSpec

BOUND = {"kind": "bound", "address": "localhost:1", "host": "here", "pid": 1, "place": None, "cores": 1}
GONE = {"kind": "exited", "why": "it is gone", "same_process": True}


class Server(Hosting):
    """One that somebody else starts again; `then`: what becomes of it before it says that it serves."""

    kind = "static"
    starts_again = False

    def __init__(self) -> None:
        self.then: list[Message] = []

    def start(self, tasks: Sequence[TaskSpec], sink: Sink, say: Say) -> None:
        self.restart(tasks[0], None, sink)

    def restart(self, task: TaskSpec, address: str | None, sink: Sink) -> None:
        self.sink, self.name = sink, task.name
        self.say(BOUND)

    def say(self, message: Message) -> None:
        self.sink(self.name, message)

    def tell(self, task: str, message: Message) -> None:
        if message["kind"] == "cluster":
            for fate in self.then:
                self.say(fate)
            self.then = []
            self.say({"kind": "serving", "blas_threads": None})

    def close(self, grace: float) -> None:
        """There is nothing to end."""


def test_a_server_that_goes_again_before_it_was_heard_is_back_once(tmp_path: Path) -> None:
    hosting = Server()
    with Gang(hosting, [TaskSpec("ps", 0)], tmp_path, lambda _: None, restarts=Restarts(3)) as gang:
        hosting.then = [GONE]
        hosting.say(GONE)
        fates = [gang.next(timeout=60)[1]["kind"] for _ in range(3)]
        assert fates == ["lost", "lost", "back"]
        assert gang._events.empty()  # it was all heard by then
        assert gang.restarted == {"ps:0": 2}
