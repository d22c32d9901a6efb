"""Whenever a process dies amid `Saver.save`, the folder's `checkpoint` file names a whole checkpoint with its MetaGraph."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

import tfexp as tf

# In a process for each n = 0, 1, … below argv[3]: saves steps 1, 2, 3 of a variable that holds the step, in the folder n in
# argv[1], keeps two, and dies by SIGKILL before its call number n of the function argv[2] of `os` in the third save. Prints
# how each ended, the last one being that which was not to die. They are forks, with TensorFlow's names imported once.
WRITER = """
import os, signal, sys
import tfexp as tf

tf.train.Saver, tf.train.get_or_create_global_step, tf.Session, tf.Variable, tf.fill, tf.cast, tf.assign_add
function = sys.argv[2]
for left in range(int(sys.argv[3])):
    child = os.fork()
    if child == 0:
        break
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print(ended, flush=True)
    if ended != -signal.SIGKILL:
        sys.exit()
else:
    sys.exit()
folder = os.path.join(sys.argv[1], str(left))
os.mkdir(folder)
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


def deaths(folder: Path, function: str, most: int, *options: str) -> list[bool]:
    """Whether the process died, for each number of calls before; the last may have come to its end."""
    command = [sys.executable, "-c", WRITER, str(folder), function, str(most), *options]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True)
    ends = [int(line) for line in done.stdout.split()]
    assert set(ends) <= {0, -signal.SIGKILL}, done.stderr
    return [end != 0 for end in ends]


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
    died = deaths(tmp_path, "replace", 100, *sharded)
    assert not died[-1]
    steps = [restored(tmp_path / str(calls)) for calls in range(len(died))]
    assert steps == sorted(steps)
    assert set(steps) == {2, 3}


def test_death_amid_the_deletion_of_old_ones(tmp_path: Path) -> None:
    assert deaths(tmp_path, "remove", 3) == [True, True, True]
    for calls in range(3):
        folder = tmp_path / str(calls)
        assert restored(folder) == 3
        state = tf.train.get_checkpoint_state(str(folder))
        assert all(tf.train.checkpoint_exists(path) for path in state.all_model_checkpoint_paths)
