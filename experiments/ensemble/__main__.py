"""`python -m experiments.ensemble`: three networks in processes of their own answer together; then one of them is killed.

Given at the root of the repository. `--timeout` is the seconds that the asker waits for an answer.
"""

from __future__ import annotations

import argparse
import multiprocessing
import signal
import socket

import numpy as np

import tfexp as tf
from experiments.ensemble.queues import Answer, Asker, Digits, be_member


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.ensemble")
    parser.add_argument("--members", type=int, default=3)
    parser.add_argument("--timeout", type=float, default=0.5)
    parser.add_argument("--steps", type=int, default=200)
    given = parser.parse_args()
    cluster = _cluster(given.members)
    processes = multiprocessing.get_context("spawn")
    members = [
        processes.Process(target=be_member, args=(cluster, number, given.steps), daemon=True)
        for number in range(given.members)
    ]
    server = tf.train.Server(cluster, "asker", 0)
    for process in members:
        process.start()
    digits, asker = Digits.load(), Asker(server.target, given.members, given.timeout)
    while len(_asked(asker, digits).by) < given.members:
        if not all(process.is_alive() for process in members):
            raise SystemExit("a member has ended while it was to be trained")
    print(_told("all", _asked(asker, digits), digits), flush=True)
    members[0].kill()
    members[0].join()
    assert members[0].exitcode == -signal.SIGKILL
    for _ in range(2):
        print(_told("member 0 killed", _asked(asker, digits), digits), flush=True)
    asker.close()
    for process in members:
        process.join(10)


def _asked(asker: Asker, digits: Digits) -> Answer:
    try:
        return asker.ask(digits.test_features)
    except TimeoutError:
        return Answer(np.zeros([len(digits.test_labels), 10]), (), (), 0.0)


def _told(when: str, answer: Answer, digits: Digits) -> str:
    right = float(np.mean(answer.mean.argmax(1) == digits.test_labels))
    return f"{when}: members {list(answer.by)} answered in {answer.seconds:.3f} s; accuracy {right:.4f}"


def _cluster(members: int) -> dict[str, list[str]]:
    sockets = [socket.create_server(("localhost", 0)) for _ in range(members + 1)]
    asker, *others = [f"localhost:{one.getsockname()[1]}" for one in sockets]
    for one in sockets:
        one.close()
    return {"asker": [asker], "member": others}


if __name__ == "__main__":
    main()
