"""What the shells offer after `python -m tfexp`, and that it is there at once."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import started
from tfexp import completion
from tfexp.experiment.choices import groups
from tfexp.experiment.class_fields import fields_of
from tfexp.experiment.completing import candidates

ROOT = Path(__file__).resolve().parents[2]
LINES = {
    "python -m tfexp mod": ["model=", "model."],
    "python -m tfexp model=m": ["mlp"],
    "python3 -m tfexp model=mlp optimizer.b": ["optimizer.beta1=", "optimizer.beta2="],
    "tfexp -m optimizer=sgd,ada": ["sgd,adadelta", "sgd,adagrad", "sgd,adam"],
    "python -m tfexp model=mlp model.activation=": ["relu", "tanh", "sigmoid", "elu"],
    "python -m tfexp.expl": ["tfexp.explain"],
    "python other.py model=": [],
}
"""A line -> what bash has to put in place of its last part."""
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}


def offered(line: str) -> list[str]:
    """The words that complete what stands behind `tfexp` (or `tfexp.explain`, …) in the line."""
    module, *words = line.split(" ")
    return [candidate.word for candidate in candidates(module, words[:-1], words[-1])]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("tfexp opt", ["optimizer=", "optimizer."]),
        ("tfexp +model=li", ["+model=linreg"]),
        ("tfexp ++optimizer.l", ["++optimizer.learning_rate="]),
        ("tfexp train.early", ["train.early_stop.patience=", "train.early_stop.min_delta="]),
        ("tfexp train.seed=", ["train.seed=0"]),
        ("tfexp device.soft_placement=", ["device.soft_placement=true", "device.soft_placement=false"]),
        ("tfexp cluster.hosting=", ["cluster.hosting=ray", "cluster.hosting=process", "cluster.hosting=static"]),
        ("tfexp cluster=2workers cluster.workers=", ["cluster.workers=2"]),
        ("tfexp data=csv data.classe", ["data.classes="]),
        ("tfexp data=csv data.path=ta", ["data.path=table.csv"]),
        ("tfexp model=mlp data.", ["data.standardize=", "data.test_fraction=", "data.split_seed="]),
        ("tfexp model=mlp data=line data.s", ["data.slope=", "data.standardize=", "data.split_seed="]),
        ("tfexp model=own model.target=own_nets:Wide model.", ["model.width=", "model.kind="]),
        (
            "tfexp model=own model.target=own_nets:Wide model.kind=",
            ["model.kind=flat", "model.kind=steep", "model.kind=null"],
        ),
        ("tfexp --config-dir mine optimizer=f", ["optimizer=fast", "optimizer=ftrl"]),
        ("tfexp --config-dir mine optimizer=fast optimizer.r", ["optimizer.rho="]),
        ("tfexp --cfg ", ["job", "hydra", "all"]),
        ("tfexp --in", ["--info"]),
        ("tfexp resume=outputs/", ["resume=outputs/one"]),
        ("tfexp resume=outputs/one/", []),
        ("tfexp train.start_from=outputs/", ["train.start_from=outputs/one"]),
        ("tfexp nothing.", []),
        ("tfexp.explain learn", []),
        ("tfexp.explain optimizer.", ["optimizer.learning_rate", "optimizer.clip_norm"]),
        ("tfexp.explain optimizer.rho optimizer=adad", ["optimizer=adadelta"]),
        ("tfexp.preview optimizer=adad", ["optimizer=adadelta"]),
        ("tfexp.records co", ["compression="]),
        ("tfexp.records compression=g", ["compression=gzip"]),
        ("tfexp.server ", []),
    ],
)
def test_offered(line: str, expected: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_nets.py").write_text(
        "from dataclasses import dataclass\nfrom enum import Enum\nfrom tfexp.experiment.models.model import Regression\n"
        "class Kind(Enum):\n    flat = 1\n    steep = 2\n"
        "@dataclass(frozen=True)\nclass Wide(Regression):\n    width: int = 8\n    kind: Kind | None = None\n"
    )
    (tmp_path / "table.csv").touch()
    (tmp_path / "outputs" / "one").mkdir(parents=True)
    (tmp_path / "outputs" / "one" / "config.yaml").touch()
    (tmp_path / "mine" / "optimizer").mkdir(parents=True)
    (tmp_path / "mine" / "optimizer" / "fast.yaml").write_text("defaults:\n  - adadelta\n  - _self_\nlearning_rate: 7\n")
    monkeypatch.chdir(tmp_path)
    assert offered(line) == expected


def test_every_group_every_choice_and_every_setting_of_a_file_is_offered() -> None:
    assert {f"{name}=" for name in groups()} <= set(offered("tfexp "))
    for name, group in groups().items():
        assert offered(f"tfexp {name}=") == [f"{name}={choice.name}" for choice in group.choices]
        for choice in group.choices:
            there = {word.removeprefix(f"{name}.").rstrip("=") for word in offered(f"tfexp {name}={choice.name} {name}.")}
            assert set(choice.keys) - {"target"} <= there | {word.partition(".")[0] for word in there}


def test_what_is_read_from_a_class_s_text_is_what_the_class_has() -> None:
    import dataclasses

    from tfexp.experiment.schema import Cluster

    found = fields_of("tfexp.experiment.schema:Cluster")
    assert {name: field.says for name, field in found.items()} == {
        field.name: field.metadata["description"] for field in dataclasses.fields(Cluster)
    }
    assert fields_of("tfexp.experiment.schema:Nothing") == fields_of("no.such:Class") == {}


def test_other_arguments_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert completion.main(["fish"]) == 2
    assert "bash and zsh" in capsys.readouterr().err
    assert completion.main(["--help"]) == 0
    assert "source <(python -m tfexp.completion bash)" in capsys.readouterr().out


def script(shell: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Path:
    assert completion.main([shell]) == 0
    path = tmp_path / f"complete.{shell}"
    path.write_text(capsys.readouterr().out)
    return path


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    lines = [f"source {script('bash', capsys, tmp_path)}"]
    for line in LINES:
        lines += [f"COMP_LINE='{line}' COMP_POINT={len(line)} COMPREPLY=()", f"__tfexp_complete {line.split()[0]}"]
        lines += ['echo "${COMPREPLY[*]}"']
    done = subprocess.run(
        ["bash", "--norc", "-c", "\n".join(lines)], cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    assert dict(zip(LINES, map(str.split, done.stdout.split("\n")[:-1]), strict=True)) == LINES


@pytest.mark.skipif(shutil.which("zsh") is None, reason="there is no zsh")
def test_zsh(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """As it is used: on a terminal, with the Tab key."""
    path = script("zsh", capsys, tmp_path)
    (tmp_path / ".zshrc").write_text(f"PS1='ready '\nautoload -Uz compinit; compinit -D -u\nsource {path}\n")
    process, terminal = pty.fork()
    if process == 0:
        os.execvpe("zsh", ["zsh", "-i"], {**ENVIRONMENT, "ZDOTDIR": str(tmp_path), "TERM": "dumb", "COLUMNS": "120"})
    try:
        seen_until(terminal, "ready ")
        os.write(terminal, b"python -m tfexp model=ml\t")
        seen_until(terminal, "model=mlp ")
        os.write(terminal, b"optimizer.bet\t\t")
        seen_until(terminal, "optimizer.beta2=                  share of the squared gradients' running mean")
    finally:
        os.kill(process, 9)
        os.waitpid(process, 0)
        os.close(terminal)


def seen_until(terminal: int, text: str) -> None:
    """Read what is shown until `text` is; AssertionError if it is not for twenty seconds."""
    shown = ""
    while text not in shown:
        ready, _, _ = select.select([terminal], [], [], 20)
        assert ready, f"{text!r} is not shown, but {shown!r}"
        shown += os.read(terminal, 65536).decode(errors="replace")


def test_an_answer_takes_less_than_a_fifth_of_a_second_and_loads_little() -> None:
    program = completion._WITHOUT_TFEXP + ";print([n for n in ('numpy', 'hydra', 'yaml', 'rich') if n in sys.modules])"
    command = [sys.executable, "-c", program, "tfexp", " model=mlp optimizer=adam optimizer.b"]
    seconds = []
    for _ in range(3):
        with started(command, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            assert process.stdout.read().splitlines()[-1] == "[]"
            # What it used itself: other children may end at this moment.
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        seconds.append(used.ru_utime + used.ru_stime)
    assert min(seconds) < 0.2
