"""An interrupted run goes on to the numbers of an uninterrupted one; a finished one can be run again."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from run_files import numbers, records

import tfexp as tf
from tests.processes import started
from tfexp.experiment import progress

MLP = [
    "model=mlp", "model.hidden=[13]", "train.steps=90", "train.eval_every=20", "train.checkpoint_every=30",
    "schedule=exponential", "schedule.decay_steps=25",
]  # fmt: skip


class Killed(BaseException):
    """The process is gone; nothing below catches it."""


def at_step(monkeypatch: pytest.MonkeyPatch, step: int, act: Callable[[], None]) -> None:
    """Act in the training loop just after `step`."""
    count = progress.Lines.step

    def counted(self: progress.Lines, done: int, loss: float) -> None:
        count(self, done, loss)
        if done == step:
            act()

    monkeypatch.setattr(progress.Lines, "step", counted)


def kill() -> None:
    raise Killed


@pytest.fixture
def whole(ran: Callable) -> Path:
    """The folder of an uninterrupted run of MLP."""
    return ran("whole", *MLP)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_saves_and_resuming_ends_with_the_same_bits(
    number: signal.Signals, code: int, whole: Path, cli: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = signal.getsignal(number)
    with monkeypatch.context() as patch:
        at_step(patch, 47, lambda: os.kill(os.getpid(), number))
        ended = cli(*MLP, "hydra.run.dir=part")
    assert ended.code == code
    assert ended.err == (
        "tfexp: stopped after step 47 of 90, saved in part/checkpoints/model.ckpt-47\n"
        "go on with: python -m tfexp resume=part\n"
    )
    assert signal.getsignal(number) is before
    assert not (tmp_path / "part" / "result.json").exists()

    ended = cli("resume=part")

    assert ended.code == 0, ended.err
    assert "43 steps in" in ended.out
    assert numbers(tmp_path / "part") == numbers(whole)
    assert (tmp_path / "part" / "metrics.jsonl").read_bytes() == (whole / "metrics.jsonl").read_bytes()
    manifest = json.loads((tmp_path / "part" / "manifest.json").read_text())
    assert [stay["at_step"] for stay in manifest["resumed"]] == [47]
    assert manifest["resumed"][0]["command"] == "python -m tfexp resume=part"


def test_after_a_kill_the_run_goes_on_from_its_last_checkpoint(
    whole: Path, cli: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        at_step(patch, 88, kill)
        with pytest.raises(Killed):
            cli(*MLP, "hydra.run.dir=part")
    with (tmp_path / "part" / "metrics.jsonl").open("a") as file:
        file.write('{"step": 85, "tra')  # a line that the process had no time to end
    assert [record["step"] for record in records_of_whole_lines(tmp_path / "part")] == [0, 20, 40, 60, 80]

    assert cli("resume=part").code == 0

    assert numbers(tmp_path / "part") == numbers(whole)
    assert (tmp_path / "part" / "metrics.jsonl").read_bytes() == (whole / "metrics.jsonl").read_bytes()


def records_of_whole_lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().split("\n")[:-1]]


def test_a_run_can_be_made_longer(whole: Path, cli: Callable, tmp_path: Path) -> None:
    short = ["train.steps=50" if word == "train.steps=90" else word for word in MLP]
    cli(*short, "hydra.run.dir=short")
    ended = cli("resume=short")
    assert ended.code == 1
    assert (
        ended.err == "tfexp: short has ended, at step 50 of 50: to go further, give a larger train.steps or train.epochs\n"
    )

    assert cli("resume=short", "train.steps=90").code == 0

    assert numbers(tmp_path / "short") == numbers(whole)
    assert [record["step"] for record in records(tmp_path / "short")] == [0, 20, 40, 60, 80, 90]
    assert yaml.safe_load((tmp_path / "short" / "config.yaml").read_text())["train"]["steps"] == 90
    assert yaml.safe_load((tmp_path / "short" / "overrides.yaml").read_text())[-2:] == [
        "resume=short",
        "train.steps=90",
    ]


def test_old_checkpoints_are_deleted_across_stays(cli: Callable, tmp_path: Path) -> None:
    words = ["data=line", "train.checkpoint_every=10", "train.keep_checkpoints=3", "hydra.run.dir=run"]
    for command, kept in (
        ([*words, "train.steps=30"], {10, 20, 30}),
        (["resume=run", "train.steps=50"], {30, 40, 50}),
    ):
        assert cli(*command).code == 0
        files = {path.name for path in (tmp_path / "run" / "checkpoints").glob("*.index")}
        assert files == {f"model.ckpt-{step}.index" for step in kept}


def test_early_stop_decides_the_same_after_resuming(cli: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = [*MLP, "train.early_stop.patience=2", "train.early_stop.min_delta=100"]
    cli(*words, "hydra.run.dir=whole")
    with monkeypatch.context() as patch:
        at_step(patch, 37, lambda: os.kill(os.getpid(), signal.SIGINT))
        cli(*words, "hydra.run.dir=part")
    cli("resume=part")
    assert numbers(tmp_path / "whole")["step"] == 40
    assert numbers(tmp_path / "part") == numbers(tmp_path / "whole")
    ended = cli("resume=part", "train.steps=95")
    assert ended.err == (
        "tfexp: part has ended, at step 40 of 95: to go further, give a larger train.early_stop.patience, or null\n"
    )


def test_the_best_checkpoint_stays(cli: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = [*MLP, "data=diabetes", "optimizer.learning_rate=0.1", "train.keep_best=true"]
    cli(*words, "hydra.run.dir=whole")
    with monkeypatch.context() as patch:  # the best so far is later than the checkpoint to go on from
        at_step(patch, 41, kill)
        with pytest.raises(Killed):
            cli(*words, "hydra.run.dir=part")
    cli("resume=part")
    best = min(records(tmp_path / "whole"), key=lambda record: record["test"]["loss"])
    assert 0 < best["step"] < 90
    for name in ("whole", "part"):
        folder = tmp_path / name
        assert [path.stem for path in folder.glob("checkpoints/best/*.index")] == [f"model.ckpt-{best['step']}"]
        assert tf.train.load_variable(str(folder / "checkpoints" / "best"), "global_step") == best["step"]
        assert json.loads((folder / "result.json").read_text())["best"] == best
    assert "keep_best" in (tmp_path / "whole" / "config.yaml").read_text()


def test_a_moved_folder_resumes_where_it_is(cli: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        at_step(patch, 47, lambda: os.kill(os.getpid(), signal.SIGINT))
        cli(*MLP, f"hydra.run.dir={tmp_path}/part")
    shutil.move(tmp_path / "part", tmp_path / "elsewhere")
    assert cli("resume=elsewhere").code == 0
    assert numbers(tmp_path / "elsewhere")["step"] == 90


def test_resuming_refuses_what_would_change_the_numbers(whole: Path, cli: Callable) -> None:
    for word in ("model=linreg", "train.seed=3", "optimizer.learning_rate=1", "train.batch_size=7"):
        ended = cli("resume=whole", word)
        assert ended.code == 2
        assert ended.err.startswith(f"tfexp: {word.partition('=')[0]}: a run goes on as it began; with resume, only")


def test_damaged_and_foreign_checkpoints_are_named(whole: Path, cli: Callable, tmp_path: Path) -> None:
    data = whole / "checkpoints" / "model.ckpt-90.data-00000-of-00001"
    content = bytearray(data.read_bytes())
    content[len(content) // 2] ^= 1
    data.write_bytes(content)
    ended = cli("resume=whole", "train.steps=100")
    assert ended.code == 1
    assert ended.err.startswith("tfexp: cannot resume from whole/checkpoints/model.ckpt-90: ")
    assert len(ended.err.splitlines()) == 1
    assert re.search(r"model/(hidden1|outputs)/(weights|bias)|global_step", ended.err), ended.err

    cli("data=digits", "model=softmax", "train.steps=90", "hydra.run.dir=other")
    for path in (tmp_path / "other" / "checkpoints").glob("model.ckpt-90.*"):
        shutil.copy(path, whole / "checkpoints" / path.name)
    ended = cli("resume=whole", "train.steps=100")
    assert ended.err.startswith("tfexp: cannot resume from whole/checkpoints/model.ckpt-90: ")
    assert re.search(r"Key model/\S+ not found in checkpoint", ended.err), ended.err

    (whole / "checkpoints" / "checkpoint").write_text("")
    ended = cli("resume=whole", "train.steps=100")
    assert ended.err == (
        "tfexp: whole/checkpoints/checkpoint is damaged: it must name the newest checkpoint, "
        'model_checkpoint_path: "model.ckpt-90"\n'
    )

    for path in (whole / "checkpoints").iterdir():
        path.unlink()
    ended = cli("resume=whole", "train.steps=100")
    assert ended.err == "tfexp: whole/checkpoints holds no checkpoint to resume from\n"
    assert json.loads((whole / "result.json").read_text())["numbers"]["step"] == 90, "nothing was overwritten"


def test_damaged_records_are_named(whole: Path, cli: Callable) -> None:
    kept = (whole / "metrics.jsonl").read_text()
    (whole / "metrics.jsonl").write_text(kept.replace('"step": 20', '"step" 20'))
    assert cli("resume=whole", "train.steps=100").err.startswith("tfexp: whole/metrics.jsonl, line 2: ")
    for line in (b"5\n", b"[]\n", b'{"step": 0}\n', b"\xff\n"):
        (whole / "metrics.jsonl").write_bytes(line)
        assert cli("resume=whole", "train.steps=100").err.startswith("tfexp: whole/metrics.jsonl, line 1: ")
    (whole / "metrics.jsonl").unlink()
    assert "metrics.jsonl is missing or damaged: it has no evaluation" in cli("resume=whole", "train.steps=100").err
    assert not (whole / "metrics.jsonl").exists()
    (whole / "metrics.jsonl").write_text(kept)
    for text in (b"{}", b"[1]", b"\xff", b""):
        (whole / "manifest.json").write_bytes(text)
        assert cli("resume=whole", "train.steps=100").err.startswith("tfexp: whole/manifest.json is not a run's manifest: ")
    for text in (b"model: [", b"\x92", b"a: \x00", b"\xff\xff"):
        (whole / "config.yaml").write_bytes(text)
        err = cli("resume=whole", "train.steps=100").err
        assert err.startswith("tfexp: whole/config.yaml cannot be read: ")
        assert err.count("\n") == 1
    (whole / "config.yaml").write_text("colour: red")
    assert cli("resume=whole").err.startswith("tfexp: whole/config.yaml is not a run's configuration: ")


def test_changed_data_is_noticed(cli: Callable, tmp_path: Path) -> None:
    rows = [f"{i % 7},{i}" for i in range(31)]
    (tmp_path / "a.csv").write_text("\n".join(["x,y", *rows]))
    words = ["data=csv", "data.path=a.csv", "data.label=y", "train.batch_size=5", "train.steps=10"]
    assert cli(*words, "hydra.run.dir=run").code == 0
    (tmp_path / "a.csv").write_text("\n".join(["x,y", *rows[:-1], "3,99"]))
    ended = cli("resume=run", "train.steps=20")
    assert ended.code == 1
    assert ended.err.startswith("tfexp: the data (a.csv) is not what run was begun with: its SHA-256 is ")


def test_a_folder_runs_itself_again_and_says_whether_the_numbers_agree(whole: Path, cli: Callable, tmp_path: Path) -> None:
    ended = cli("rerun=whole", "hydra.run.dir=again")
    assert ended.code == 0
    assert ended.out.splitlines()[-1] == "the numbers agree with whole, to the bit"
    assert numbers(tmp_path / "again") == numbers(whole)

    assert cli("rerun=whole").code == 0
    (automatic,) = (tmp_path / "outputs").glob("*/*-rerun")
    assert numbers(automatic) == numbers(whole)

    result = json.loads((whole / "result.json").read_text())
    result["numbers"]["test"]["loss"] += 1e-9
    (whole / "result.json").write_text(json.dumps(result))
    ended = cli("rerun=whole", "hydra.run.dir=different")
    assert ended.code == 1
    assert "the numbers differ from whole" in ended.out
    assert "test.loss" in ended.out
    assert "variables_sha256" not in ended.out


def test_ctrl_c_in_a_process_of_its_own(tmp_path: Path) -> None:
    package_root = Path(next(iter(tf.__path__))).parent
    command = [sys.executable, "-m", "tfexp", "data=line", "train.steps=100000", "hydra.run.dir=run"]
    environment = {**os.environ, "PYTHONPATH": str(package_root)}
    with started(
        command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert re.match(r"Linreg on Line: step \d+/100000", process.stdout.readline())  # how far depends on the machine
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert re.fullmatch(
        r"tfexp: stopped after step \d+ of 100000, saved in run/checkpoints/model\.ckpt-\d+\n"
        r"go on with: python -m tfexp resume=run\n",
        err,
    )
