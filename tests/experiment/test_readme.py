"""README.md and --help are true: what they tell people to type works."""

from __future__ import annotations

import importlib
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from tfexp import records
from tfexp.experiment.choices import conf_dir

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", README, re.DOTALL)
LOOKING = ("python -m tfexp.runs", "python -m tfexp.reproduce ")
COMMANDS = [
    line.removeprefix("python -m ")
    for language, block in BLOCKS
    for line in block.splitlines()
    if language == "sh" and line.startswith(("python -m tfexp ", "python -m tfexp.records ", *LOOKING))
]


def test_set_up_is_two_commands() -> None:
    set_up = [block.strip() for language, block in BLOCKS if language == "sh" and "pip" in block]
    assert set_up == [
        "pip install -e . && python -m tfexp model=linreg",
        "pip install -e '.[test]' && pytest",
    ]


def test_commands_run(cli: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pictures: None) -> None:
    (own,) = [block for language, block in BLOCKS if language == "python" and block.startswith("# mynets.py")]
    (tmp_path / "mynets.py").write_text(own)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert len(COMMANDS) >= 10
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    for command in COMMANDS:
        program, *words = shlex.split(command)
        if program == "tfexp.records":
            assert records.main(words) == 0, command
            continue
        if f"python -m {command}".startswith(LOOKING):
            assert importlib.import_module(program).main(words) == 0, command
            continue
        if any(word.startswith("cluster=") for word in words):  # Ray is at home in a process of its own
            whole = [sys.executable, "-m", "tfexp", *words]
            done = subprocess.run(whole, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
            code, err = done.returncode, done.stderr
        else:
            ended = cli(*words)
            code, err = ended.code, ended.err
        assert code == 0, f"{command}\n{err}"


def test_messages_are_what_is_printed(cli: Callable) -> None:
    (console,) = [block for language, block in BLOCKS if language == "console"]
    command, message = console.splitlines()
    assert cli(*shlex.split(command.removeprefix("$ python -m tfexp "))).err == message + "\n"


def test_library_examples_run(capsys: pytest.CaptureFixture[str]) -> None:
    example, of_input = [block for language, block in BLOCKS if language == "python" and "tf.Session()" in block]
    import numpy as np

    namespace: dict[str, object] = {}
    import tfexp as tf

    with tf.Graph().as_default():
        exec(compile(example, "README.md", "exec"), namespace)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for _ in range(100):
                session.run(namespace["step"], {namespace["x"]: [[1.0]], namespace["y"]: [[2.0]]})
            np.testing.assert_allclose(session.run(namespace["w"]), [[2.0]], rtol=1e-5)
    with tf.Graph().as_default():
        exec(compile(of_input, "README.md", "exec"), {})
    (batch,) = capsys.readouterr().out.splitlines()[-1:]
    assert len(batch.strip("[]").split()) == 4


def test_tables_list_every_choice() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", README, re.MULTILINE))
    for folder in conf_dir().iterdir():
        if folder.is_dir() and folder.name != "hydra":
            choices = set(re.findall(r"`(\w+)`", rows[folder.name]))
            assert choices == {path.stem for path in folder.glob("*.yaml")}


def test_help_examples_are_commands_that_compose(cli: Callable) -> None:
    footer = yaml.safe_load((conf_dir() / "hydra" / "help" / "tfexp.yaml").read_text())["footer"]
    examples = re.findall(r"python -m tfexp (.*?)(?:  .*)?$", footer, re.MULTILINE)
    assert len(examples) >= 8
    for example in examples:
        words = shlex.split(example)
        folder_of_ones_own = any(word.startswith(("resume=", "rerun=", "model.target=")) for word in words)
        if not {"-m", "--cfg"} & set(words) and not folder_of_ones_own:
            ended = cli(*words, "--cfg", "job")
            assert ended.code == 0, f"{example}\n{ended.err}"


def test_starting_loads_nothing_that_a_small_run_can_do_without() -> None:
    """Only the picture at the end needs matplotlib; scikit-learn's data is read without its code."""
    program = (
        "import sys, tfexp.experiment.cli\n"
        "print([name for name in ('matplotlib', 'sklearn', 'scipy', 'ray', 'grpc', 'jax', 'rich') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout == "[]\n"
