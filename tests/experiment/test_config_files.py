"""Configuration files are parsed and put together once, and again when they change."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.core_plugins.file_config_source import FileConfigSource
from hydra.core.global_hydra import GlobalHydra
from hydra.plugins.config_source import ConfigResult
from omegaconf import OmegaConf

from tfexp.experiment.composing import composer, parse, search_path
from tfexp.experiment.origins import Origins


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that are parsed."""
    names = []
    really: Callable[[FileConfigSource, str], ConfigResult] = FileConfigSource.load_config

    def load(self: FileConfigSource, config_path: str) -> ConfigResult:
        names.append(config_path)
        return really(self, config_path)

    monkeypatch.setattr(FileConfigSource, "load_config", load)
    return names


def test_a_file_is_parsed_again_only_when_it_has_changed(tmp_path: Path, parsed: list[str]) -> None:
    own = tmp_path / "optimizer" / "mine.yaml"
    own.parent.mkdir()
    rates = []
    for text in ("learning_rate: 0.5", "learning_rate: 0.25", None):
        if text is not None:
            own.write_text(text)
        with composer(search_path(str(tmp_path))) as compose:
            config = compose(parse(["optimizer=mine"]))
        rates.append(config.optimizer.learning_rate)
        config.optimizer.learning_rate = 7  # is nobody else's
    assert rates == [0.5, 0.25, 0.25]
    assert parsed.count("optimizer/mine") == 2
    assert parsed.count("config") <= 1


@pytest.mark.parametrize(
    "words",
    [
        ["train.steps=5", "model=mlp", "model.hidden=[3,4]", "hydra.run.dir=x/${hydra.job.override_dirname}"],
        ["model=ensemble", "model@model.member=softmax", "model.member.l2=0.5", "model.member.new={a: 1}"],
        ["resume=run", "train.steps=5", "+rerun=other"],
        ["train.steps=4", "train={steps: 3}", "train.seed=4", "+hydra.job.env_set.A=b"],
    ],
)
def test_values_in_copies_of_choices_are_what_hydra_composes(words: list[str]) -> None:
    composed = []
    for whole in (True, False, False):
        with composer([]) as compose:
            if whole:
                state = GlobalHydra.instance().hydra
                assert state is not None
                state.config_loader = ConfigLoaderImpl(state.config_loader.get_search_path())
            composed.append(compose(parse(words)))
    assert OmegaConf.to_yaml(composed[0]) == OmegaConf.to_yaml(composed[1]) == OmegaConf.to_yaml(composed[2])
    assert composed[1]._metadata.flags == composed[0]._metadata.flags


def test_a_file_that_was_looked_for_in_vain_is_found_once_it_is_there(tmp_path: Path) -> None:
    (tmp_path / "model" / "extras").mkdir(parents=True)
    (tmp_path / "model" / "mine.yaml").write_text("defaults:\n  - mlp\n  - optional extras: some\n")
    found = []
    for _ in range(2):
        with composer(search_path(str(tmp_path))) as compose:
            found.append("extras" in compose(parse(["model=mine"])).model)
        (tmp_path / "model" / "extras" / "some.yaml").write_text("a: 1\n")
    assert found == [False, True]


def test_where_values_are_written_is_looked_for_again_only_when_a_file_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, searched = tmp_path / "optimizer" / "mine.yaml", list[str]()
    own.parent.mkdir()
    really = ConfigLoaderImpl.compute_defaults_list

    def search(self: ConfigLoaderImpl, name: str, *arguments: Any) -> Any:
        searched.append(name)
        return really(self, name, *arguments)

    monkeypatch.setattr(ConfigLoaderImpl, "compute_defaults_list", search)
    places = []
    for text in ("learning_rate: 0.5", None, "# slow\nlearning_rate: 0.25"):
        if text is not None:
            own.write_text(text)
        words = [*search_path(str(tmp_path)), "optimizer=mine", f"++train.steps={len(places) + 1}"]
        with composer(search_path(str(tmp_path))):
            places.append(str(Origins("config", words, parse(words)).of("optimizer.learning_rate")))
    assert [place.rpartition(" ")[2] for place in places] == ["1", "1", "2"]
    assert len(searched) == 2
