"""Whenever a process dies amid `Saver.save`, the folder's `checkpoint` file names a whole checkpoint with its MetaGraph."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

import tfexp as tf

# Saves steps 1, 2, 3 of a variable that holds the step, keeps two, and dies by SIGKILL before its call number argv[3] of
# the function argv[2] of `os` in the third save.
WRITER = """
import os, signal, sys
import tfexp as tf

folder, function, left = sys.argv[1], sys.argv[2], int(sys.argv[3])
counting = False
real = getattr(os, function)

def deadly(*args, **kwargs):
    global left
    if counting:
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        left -= 1
    return real(*args, **kwargs)

setattr(os, function, deadly)
step = tf.train.get_or_create_global_step()
table = tf.Variable(tf.fill([70_001], tf.cast(step, tf.float32)), name="table")
saver = tf.train.Saver(max_to_keep=2, sharded=len(sys.argv) > 4)
with tf.Session() as session:
    session.run(step.initializer)
    for number in range(1, 4):
        counting = number == 3
        session.run(tf.assign_add(step, 1))
        session.run(table.initializer)
        saver.save(session, folder + "/m", global_step=step)
"""


def die(folder: Path, function: str, calls: int, *options: str) -> bool:
    """Whether the process died; it may also have come to its end."""
    command = [sys.executable, "-c", WRITER, str(folder), function, str(calls), *options]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False)
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode != 0


def restored(folder: Path) -> int:
    """The step of the latest checkpoint, read by the MetaGraph beside it; all of it must be of one step."""
    latest = tf.train.latest_checkpoint(str(folder))
    assert latest is not None
    with tf.Graph().as_default(), tf.Session() as session:
        saver = tf.train.import_meta_graph(f"{latest}.meta")
        assert saver is not None
        saver.restore(session, latest)
        step = int(session.run("global_step:0"))
        table = session.run("table:0")
    assert table.shape == (70_001,) and (table == step).all()
    return step


@pytest.mark.parametrize("sharded", [(), ("sharded",)], ids=["plain", "sharded"])
def test_death_before_each_renaming(tmp_path: Path, sharded: tuple[str, ...]) -> None:
    steps = []
    for calls in range(100):
        folder = tmp_path / str(calls)
        folder.mkdir()
        died = die(folder, "replace", calls, *sharded)
        steps.append(restored(folder))
        if not died:
            break
    assert steps == sorted(steps)
    assert set(steps) == {2, 3}


def test_death_amid_the_deletion_of_old_ones(tmp_path: Path) -> None:
    for calls in range(3):
        folder = tmp_path / str(calls)
        folder.mkdir()
        assert die(folder, "remove", calls)
        assert restored(folder) == 3
        state = tf.train.get_checkpoint_state(str(folder))
        assert all(tf.train.checkpoint_exists(path) for path in state.all_model_checkpoint_paths)
