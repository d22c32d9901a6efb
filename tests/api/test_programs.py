"""Programs written for TensorFlow 1, each run unchanged by `python -m tfexp.script`; they check what they compute."""

import os
import pathlib
import subprocess
import sys

import pytest

import tfexp as tf

PROGRAMS = sorted(pathlib.Path(__file__).with_name("programs").glob("*.py"), key=lambda path: path.name)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_it_runs(program, tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(tf.__file__).parents[1]), "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-m", "tfexp.script", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
