"""What tasks do in `test_hostings.py`; the tasks' processes import it by name."""

from __future__ import annotations

import os
import signal
from typing import Any

import tfexp as tf
from tfexp.distributed.hosted import Member


def add(member: Member, arguments: dict[str, Any]) -> dict[str, Any]:
    """Add `amount` to the parameter server's variable once told to, in a session of the task's own server."""
    with tf.Graph().as_default():
        with tf.device("/job:ps/task:0"):
            total = tf.Variable(0.0, name="total")
        added = tf.assign_add(total, arguments["amount"])
        with tf.Session(member.target) as session:
            if member.index == 0:
                session.run(total.initializer)
            member.send("ready")
            member.wait_for("go")
            value = float(session.run(added))
    print(f"{member.name} added {arguments['amount']}", flush=True)
    return {"value": value, "tasks": member.cluster.as_dict(), "pid": os.getpid()}


PRINTED = b"one\0two\0three\n\0 7\n\0\0\r\n\xff\xfe no newline"


def print_bytes(member: Member, arguments: dict[str, Any]) -> str:
    """Print what might be taken for messages or text, before a message and after it."""
    os.write(1, PRINTED)
    member.send("printed")
    member.wait_for("go")
    os.write(2, PRINTED)
    return "printed"


def until_stopped(member: Member, arguments: dict[str, Any]) -> dict[str, Any]:
    """Count steps until the driver asks for the end."""
    steps = 0
    with tf.Graph().as_default():
        with tf.device("/job:ps/task:0"):
            total = tf.Variable(0.0, name="total")
        added = tf.assign_add(total, 1.0)
        with tf.Session(member.target) as session:
            if member.index == 0:
                session.run(total.initializer)
            member.send("ready")
            member.wait_for("go")
            while not member.stopping:
                session.run(added)
                steps += 1
                if steps == 3:
                    member.send("running")
    return {"steps": steps}


def fail(member: Member, arguments: dict[str, Any]) -> None:
    member.send("ready")
    member.wait_for("go")
    print("about to fail", flush=True)
    raise ValueError(f"{member.name} cannot do this")


def die(member: Member, arguments: dict[str, Any]) -> None:
    member.send("ready")
    member.wait_for("go")
    print("about to die", flush=True)
    os.kill(os.getpid(), arguments.get("signal", signal.SIGKILL))
