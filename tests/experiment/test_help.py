"""`--help` and `tfexp.explain`: everything that can be chosen or set says what it is."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from tfexp import explain
from tfexp.experiment import manifest, schema
from tfexp.experiment.choices import conf_dir, groups, of_runs
from tfexp.experiment.composing import SECTIONS
from tfexp.experiment.hints import hint_of
from tfexp.experiment.of_hydra import OfHydra
from tfexp.experiment.sweeps.schema import Halving

ROOT = Path(__file__).resolve().parents[2]


def schemas() -> Iterator[type]:
    """The class of every choice in conf/, and of every section."""
    for path in sorted(conf_dir().rglob("*.yaml")):
        target = (yaml.safe_load(path.read_text()) or {}).get("target", "???")
        if target != "???":
            yield schema.resolve(target, schema.Section)
    kinds = [kind for kind in SECTIONS.values() if dataclasses.is_dataclass(kind)]
    yield from kinds
    yield from (schema.EarlyStop, Halving, OfHydra)
    yield from (hint_of(OfHydra, name) for name in ("run", "sweep", "job"))


@pytest.fixture
def explained(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    def run(*words: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = explain.main(list(words))
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def test_every_setting_has_a_description() -> None:
    silent = [
        f"{kind.__module__}:{kind.__name__}.{field.name}"
        for kind in schemas()
        for field in dataclasses.fields(kind)
        if not field.metadata.get("description")
    ]
    assert silent == [], "give these fields bounded(…, says=…)"


def test_every_group_and_every_choice_says_what_it_is() -> None:
    there = groups()
    assert {*there, "train"} >= set(SECTIONS)
    silent = [name for name, group in there.items() if not group.says]
    silent += [f"{name}={choice.name}" for name, group in there.items() for choice in group.choices if not choice.says]
    assert silent == [], "groups: the comment in conf/config.yaml's defaults; choices: the first line of their file"
    assert all(of_runs().values())


def test_help_shows_groups_choices_settings_commands_and_examples(cli: Callable) -> None:
    shown = cli("--help", "model=mlp", "train.steps=7")
    assert shown.code == 0
    words = " ".join(shown.out.split())
    for group in groups().values():
        assert f"{group.name} {group.says}" in words
        for choice in group.choices:
            assert f"{choice.name} {' '.join(choice.says.split())}" in words
    assert "» mlp" in words
    assert "» linreg" not in words
    assert "model.hidden=[64,32] widths of the hidden layers" in words
    assert "train.steps=7 " in words
    for path in (ROOT / "tfexp").glob("*.py"):
        if 'if __name__ == "__main__"' in path.read_text() and path.stem not in ("__main__", "completing"):
            assert f"python -m tfexp.{path.stem} " in words, (
                f"its docstring has to begin with `python -m tfexp.{path.stem} …`: "
            )
    assert max(map(len, shown.out.splitlines()[:-20])) <= 118


def test_help_finds_groups_and_choices_of_ones_own(cli: Callable, tmp_path: Path) -> None:
    (tmp_path / "mine" / "optimizer").mkdir(parents=True)
    (tmp_path / "mine" / "colour").mkdir()
    (tmp_path / "mine" / "optimizer" / "fast.yaml").write_text(
        "# very fast\ndefaults:\n  - sgd\n  - _self_\nlearning_rate: 7\n"
    )
    (tmp_path / "mine" / "colour" / "red.yaml").write_text("# @package _global_\n# of blood\n")
    shown = cli("--help", "--config-dir", "mine", "optimizer=fast")
    assert shown.code == 0, shown.err
    assert re.search(r"» fast +very fast", shown.out)
    assert re.search(r"red +of blood", shown.out)
    assert "optimizer.learning_rate=7" in shown.out


def test_a_setting_is_explained(explained: Callable) -> None:
    code, out, _ = explained("optimizer.learning_rate", "optimizer=adam", "optimizer.learning_rate=0.3")
    assert code == 0
    rows = [line.split(None, 1)[1].strip() for line in out.splitlines()]
    assert rows[0] == "where the schedule starts from; with schedule=constant, the rate throughout"
    assert rows[1:5] == ["0.3", "the command line: optimizer.learning_rate=0.3", "0.001", "a number, above 0"]
    assert "tfexp.experiment.optimizers:Adam (optimizer=adam)" in out


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("train.seed", "conf/config.yaml, line {}"),
        ("cluster.workers cluster=2workers", "conf/cluster/2workers.yaml, line 7"),
        ("cluster.hosting cluster=2workers", "conf/cluster/local.yaml, line 2"),
        ("optimizer.beta1 model=mlp", "conf/optimizer/adam.yaml, line 5"),
        ("hidden", "model=linreg has no hidden; with model=mlp:"),
        ("model.width model=own model.target=own_width:Wide", "the default of Wide"),
        ("model.width model=own model.target=own_width:Wide model.width=3", "the command line: model.width=3"),
        ("data.path data=csv", "must be given"),
        ("model.activation model=mlp", "one of relu, tanh, sigmoid, elu"),
        ("optimizer model=mlp", "adam, by conf/model/mlp.yaml"),
        ("optimizer optimizer=ftrl", "ftrl, by the command line: optimizer=ftrl"),
        ("optimizer", "sgd, by conf/config.yaml"),
        ("model model=own", "a model of one's own"),
        ("train.early_stop", "train.early_stop.patience=null"),
        ("train", "train.batch_size=32"),
        ("model.member.hidden model=ensemble", "conf/model/mlp.yaml, line "),
        ("model.member model=ensemble model@model.member=softmax", "model.member.l2=0.0"),
        ("sweep", "chosen  grid, by conf/config.yaml"),
        ("sweep.seeds sweep.seeds=4", "the command line: sweep.seeds=4"),
        ("sampler", "sweep=grid has no sampler; with sweep=optuna:"),
        ("halving", "sweep.halving.least_steps=100"),
        ("sweep sweep=random", "sweep.trials=20"),
        ("hydra.run.dir", "give it with  'hydra.run.dir=outputs/"),
        ("hydra.run.dir hydra.job.name=here", "-here"),
        ("train.steps train.steps=${train.batch_size}", "comes to      32"),
        ("train.steps train.steps=${train.batches}", "nothing: Interpolation key 'train.batches' not found"),
        ("hydra.job.name experiment=digits_cnn", "conf/experiment/digits_cnn.yaml, line "),
        ("hydra", "hydra.searchpath=["),
        ("resume", "a run's folder: go on where it stopped"),
        ("", "proximal_sgd"),
        ("--help", "usage: python -m tfexp.explain"),
    ],
)
def test_origins(words: str, expected: str, explained: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_width.py").write_text(
        "from dataclasses import dataclass\nfrom tfexp.experiment.models.model import Regression\n"
        "@dataclass(frozen=True)\nclass Wide(Regression):\n    width: int = 8\n"
        "    def outputs(self, features, sizes):\n        return features\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    lines = (conf_dir() / "config.yaml").read_text().splitlines()
    seed = next(number for number, line in enumerate(lines, start=1) if line.startswith("  seed:"))
    code, out, err = explained(*words.split())
    assert code == 0, err
    assert expected.format(seed) in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("learning_rte", "there is no group or setting 'learning_rte'; did you mean 'optimizer.learning_rate'?"),
        ("sweep.sed", "there is no setting 'sed'; did you mean 'seeds'? The choices are: "),
        ("hydra.run.dr", "did you mean 'hydra.run.dir'?"),
        ("optimizer optimizer=sgd,adam", "'optimizer=sgd,adam' is several values: add -m to try each"),
        ("modl", "there is no group or setting 'modl'; did you mean 'model'?"),
        ("train.stps", "there is no setting 'stps'; did you mean 'steps'? The choices are: "),
        ("train.steps model=linrg", "there is no choice 'linrg'; did you mean 'linreg'?"),
        ("model --config-dirs=a", "there is no flag '--config-dirs'; did you mean '--config-dir'?"),
    ],
)
def test_what_there_is_not_cannot_be_explained(words: str, message: str, explained: Callable) -> None:
    code, out, err = explained(*words.split())
    assert (code, out) == (2, "")
    assert message in err


def test_the_version_is_that_of_tfexp(cli: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manifest, "version_of", {"tfexp": "7.8.9"}.get)
    shown = cli("--version")
    assert (shown.code, shown.err) == (0, "")
    assert re.fullmatch(r"tfexp 7\.8\.9 \(Hydra [\d.]+\)\n", shown.out)
