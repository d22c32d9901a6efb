"""`python -m tfexp.reference`: public names and settings, in the terminal and as pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from tfexp import reference
from tfexp.experiment.choices import groups

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return reference.pages()


def test_nothing_of_this_process_is_written(pages: dict[str, str]) -> None:
    assert [name for name, text in pages.items() if " at 0x" in text or str(ROOT) in text] == []


def test_every_choice_and_setting_is_on_the_page_of_settings(pages: dict[str, str]) -> None:
    lines = pages["settings.md"].splitlines()
    given = {line.split("`")[1] for line in lines if line.startswith("| `")}
    for group in groups().values():
        assert f"## {group.name}" in lines
        for choice in group.choices:
            assert f"### {group.name}={choice.name}" in lines
            for key in () if group.name == "experiment" else choice.keys:
                assert any(name == f"{group.name}.{key}" or name.startswith(f"{group.name}.{key}.") for name in given), key
    assert "| `train.steps` | `1000` | a whole number or null, at least 1 |" in pages["settings.md"]


def test_links_lead_to_sections(pages: dict[str, str]) -> None:
    assert "[`exp`](tf.md#tfexp)" in pages["tf.math.md"]
    assert "## tf.exp\n" in pages["tf.md"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("tf.nn.relu", "tf.nn.relu(features, name=None)"),
        ("nn.relu", "tf.nn.relu(features, name=None)"),
        ("tf.math.exp", "tf.math.exp is tf.exp\n\ntf.exp(x, name=None)"),
        ("tf.Session", ".run(fetches, feed_dict=None, options=None, run_metadata=None)\n    Run one step: "),
        ("tf.errors.OUT_OF_RANGE", "`11`"),
        ("", "tf.train "),
        ("--help", "usage: python -m tfexp.reference [NAME ...]"),
    ],
)
def test_what_is_shown(words: str, expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert reference.main(words.split()) == 0
    assert expected in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["tf.nn.rellu"], "there is no name in tf.nn called 'rellu'; did you mean 'relu'?"),
        (["tf.mth.exp"], "there is no namespace 'tf.mth'; did you mean 'tf.math'?"),
        (["tf.nn", "out=here"], "out: give one folder, and no names"),
        (["out="], "out: give one folder, and no names"),
    ],
)
def test_what_cannot_be_shown(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert reference.main(words) == 2
    assert message in capsys.readouterr().err


def test_a_folder_of_something_else_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(reference, "pages", lambda: {"README.md": f"{reference._WRITTEN}\n", "tf.md": "new\n"})
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "tf.md").write_text("mine")
    assert reference.main([f"out={tmp_path}/mine"]) == 1
    assert "holds something else than a reference" in capsys.readouterr().err
    assert (tmp_path / "mine" / "tf.md").read_text() == "mine"

    assert reference.main([f"out={tmp_path}/new"]) == 0
    (tmp_path / "new" / "tf.gone.md").write_text("of a namespace that is gone")
    assert reference.main([f"out={tmp_path}/new"]) == 0
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["README.md", "tf.md"]
