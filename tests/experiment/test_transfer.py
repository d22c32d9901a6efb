"""Settings reach the tasks of a run as they are."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from pathlib import Path

import pytest

from tfexp.experiment.composing import settings_of as composed_settings
from tfexp.experiment.errors import SettingError
from tfexp.experiment.schema import Section, Settings
from tfexp.experiment.transfer import _read, from_plain, to_plain


@pytest.fixture
def settings_of(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):  # type: ignore[no-untyped-def]
    def settings(*words: str) -> Settings:
        return composed_settings(list(words))

    return settings


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["model=mlp", "model.activation=tanh", "model.hidden=[3,5]", "train.early_stop.patience=2", "train.batch_size=null"],
        ["cluster=static", "cluster.ps_hosts=[a:1]", "cluster.worker_hosts=[b:1,c:1]", "schedule=piecewise"],
        ["data=csv", "data.path=a.csv", "data.label=b", "optimizer=ftrl", "cluster=2ps3workers"],
    ],
)
def test_comes_back_equal_through_json(words: list[str], settings_of) -> None:  # type: ignore[no-untyped-def]
    settings = settings_of(*words)
    back = from_plain(json.loads(json.dumps(to_plain(settings))))
    assert back == settings
    for field in fields(settings):
        assert type(getattr(back, field.name)) is type(getattr(settings, field.name))


def test_every_check_is_made_again(settings_of) -> None:  # type: ignore[no-untyped-def]
    plain = to_plain(settings_of("cluster=2workers"))
    plain["cluster"]["values"]["ps"] = -1
    with pytest.raises(SettingError, match="ps: -1 must be at least 0"):
        from_plain(plain)
    plain["cluster"]["values"]["ps"] = 0
    with pytest.raises(SettingError, match="between_graph needs a parameter server"):
        from_plain(plain)
    plain["model"]["target"] = "os:system"
    with pytest.raises(SettingError, match="'os:system' is not a dataclass derived from"):
        from_plain(plain)


@dataclass(frozen=True)
class Inner(Section):
    sizes: tuple[int, ...] | None


def test_optional_parts() -> None:
    assert _read(Inner | None, {"sizes": [1, 2]}) == Inner((1, 2))
    assert _read(Inner | None, None) is None
    assert _read(Inner, {"sizes": None}) == Inner(None)
