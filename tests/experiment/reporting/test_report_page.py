"""`python -m tfexp.runs report`: one page that opens offline and says what the folders hold; none of their text is HTML."""

from __future__ import annotations

import importlib.resources
import json
import re
import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from written_runs import write_run

import tfexp as tf

VOID = {"meta", "br", "line", "path", "circle", "rect", "link", "img", "input"}


class Page(HTMLParser):
    """The page's elements; fails where they are not closed in the order in which they were opened."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.scripts: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "script":
            self.scripts.append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, text: str) -> None:
        if self.open and self.open[-1] == "script":
            self.scripts[-1] += text
        elif self.open and self.open[-1] != "style":
            self.texts.append(text)

    def all(self, tag: str, kind: str | None = None) -> list[dict[str, str | None]]:
        return [attrs for name, attrs in self.elements if name == tag and kind in (None, attrs.get("class"))]

    @property
    def data(self) -> dict[str, Any]:
        return dict(json.loads(self.scripts[0]))

    @property
    def text(self) -> str:
        return " ".join(self.texts)


def page(path: Path) -> Page:
    return Page(path.read_text())


@pytest.fixture
def sweep(tmp_path: Path) -> Path:
    for number in range(12):
        folder = tmp_path / "sweep" / f"{number}-mlp"
        rate, hidden = 10.0 ** -(1 + number % 3), (13 * (1 + number % 2),)
        write_run(folder, rate=rate, hidden=hidden, seed=number, loss=lambda step, number=number: (1 + number) / (1 + step))
    for number, status in ((12, "failed"), (13, "diverged")):
        folder = write_run(tmp_path / "sweep" / f"{number}-mlp", status=status, result=False, seed=number)
        (folder / "metrics.jsonl").write_text("")
    return tmp_path / "sweep"


def test_a_sweep_is_one_page(sweep: Path, show: Callable) -> None:
    code, out, err = show("report", "sweep")
    assert (code, err) == (0, "")
    assert re.fullmatch(r"sweep/report\.html: 14 runs, \d+ kB\n", out)
    found = page(sweep / "report.html")
    data = found.data
    assert data["runs"][0] == "0-mlp", "the best first"
    assert set(data["runs"][12:]) == {"12-mlp", "13-mlp"}, "what has no numbers, last"
    assert [panel["title"] for panel in data["panels"]] == ["loss", "accuracy"]
    assert data["parallel"]["names"] == ["model.hidden", "optimizer.learning_rate", "train.seed", "test.loss"]
    assert {len(axis) for axis in data["parallel"]["axes"]} == {14}
    run, part, steps, values = data["panels"][0]["curves"][0]
    assert (run, part, steps[-1]) == (0, "test", 100)
    assert values[-1] == pytest.approx(1 / 101, rel=1e-5)
    rows = [attrs for attrs in found.all("tr") if "data-run" in attrs]
    assert len(rows) == 14
    assert "12 finished, 1 failed, 1 diverged" in found.text
    links = [unquote(str(attrs["href"])) for attrs in found.all("a")]
    assert len(links) == 14
    assert all((sweep / link).is_dir() for link in links), "relative to the page"


def test_nothing_is_loaded_from_anywhere(sweep: Path, show: Callable) -> None:
    show("report", "sweep")
    text = (sweep / "report.html").read_text()
    assert "://" not in text
    assert not re.search(r"\b(src|srcset|integrity)=|@import|url\((?!#tip\))", text)
    found = page(sweep / "report.html")
    assert not found.all("link") and not found.all("img") and not found.all("iframe")
    assert found.all("meta")[1] == {"name": "viewport", "content": "width=device-width, initial-scale=1"}
    assert "@media (prefers-color-scheme: dark)" in text


def test_curves_are_drawn_within_their_panels(sweep: Path, show: Callable) -> None:
    show("report", "sweep")
    found = page(sweep / "report.html")
    paths = [attrs for attrs in found.all("path") if "data-run" in attrs]
    assert len(paths) == 2 * 12 + 14
    for attrs in paths[: 2 * 12]:
        places = [tuple(map(float, pair.split())) for pair in str(attrs["d"])[1:].split("L")]
        assert len(places) == 11
        assert all(0 <= x <= 400 and 0 <= y <= 250 for x, y in places)
        assert [x for x, _ in places] == sorted(x for x, _ in places)
    loss = [tuple(map(float, pair.split())) for pair in str(paths[0]["d"])[1:].split("L")]
    assert [y for _, y in loss] == sorted(y for _, y in loss), "a falling loss goes down the page"


def test_one_run_has_its_settings_numbers_environment_and_files(tmp_path: Path, show: Callable) -> None:
    folder = write_run(tmp_path / "a run's <folder>")
    code, out, err = show("report", folder, "--out", "page.html", "--title", "Ein <Titel>")
    assert (code, err) == (0, "")
    assert out.startswith("page.html: 1 run, ")
    found = page(tmp_path / "page.html")
    assert "Ein <Titel>" in found.text, "and it is text"
    for said in ("Curves", "Numbers at step 100", "Settings", "Environment", "Files"):
        assert said in found.text, said
    assert "adam learning_rate=0.1" in found.text
    links = {unquote(str(attrs["href"])) for attrs in found.all("a")}
    assert links == {f"a run's <folder>/{path.name}" for path in folder.iterdir()}
    assert [part for _, part, _, _ in found.data["panels"][0]["curves"]] == ["train", "test"]
    assert found.data["parallel"] is None


def test_what_was_taken_for_what_is_a_matrix(tmp_path: Path, show: Callable) -> None:
    folder = write_run(tmp_path / "run")
    (folder / "confusion.csv").write_text("class,cat,<dog>\ncat,3,0\n<dog>,1,4\n")
    show("report", "run")
    found = page(tmp_path / "run" / "report.html")
    assert "Confusion matrix" in found.text
    right, wrong = found.all("td", "right"), found.all("td", "wrong")
    assert [cell["title"] for cell in (*right, *wrong)] == [
        "3 of 3 cat taken for cat", "4 of 5 <dog> taken for <dog>", "1 of 5 <dog> taken for cat",
    ]  # fmt: skip
    assert [cell["style"] for cell in (*right, *wrong)] == ["--p:50%", "--p:40%", "--p:50%"]
    (folder / "confusion.csv").write_text("class,cat,dog\ncat,3\n")
    show("report", "run")
    assert "confusion.csv: not a line and a column for each class" in page(tmp_path / "run" / "report.html").text


def test_no_text_of_a_folder_becomes_html(tmp_path: Path, show: Callable) -> None:
    hostile = "</script><script>alert(1)</script><!--"
    for number in range(2):
        name = "x'\"><b>&amp;" if number else "y"
        folder = write_run(
            tmp_path / "runs" / name, seed=number, manifest={"command": hostile, "versions": {"numpy": hostile}}
        )
        config = (folder / "config.yaml").read_text()
        (folder / "config.yaml").write_text(config.replace("activation: relu", f"activation: '{hostile}{number}'"))
        lines = (folder / "metrics.jsonl").read_text().replace('"accuracy"', json.dumps(hostile))
        (folder / "metrics.jsonl").write_text(lines)
        result = (folder / "result.json").read_text().replace('"accuracy"', json.dumps(hostile))
        (folder / "result.json").write_text(result)
    assert show("report", "runs")[0] == 0
    found = page(tmp_path / "runs" / "report.html")
    assert len(found.scripts) == 2
    assert not found.all("b") or all("alert" not in str(attrs) for attrs in found.all("b"))
    assert found.data["panels"][1]["title"] == hostile
    assert "x'\"><b>&amp;" in found.data["runs"]


def test_a_hundred_long_runs_stay_a_small_page_that_says_what_is_left_out(tmp_path: Path, show: Callable) -> None:
    for number in range(100):
        write_run(tmp_path / "sweep" / str(number), seed=number, steps=400, evaluate=1, loss=lambda step: 1 + step % 7)
    assert show("report", "sweep")[0] == 0
    text = (tmp_path / "sweep" / "report.html").read_text()
    assert len(text) < 600_000
    found = Page(text)
    shown = sum(len(curve[2]) for curve in found.data["panels"][0]["curves"])
    assert shown <= 100 * 120
    assert (
        f"Of long curves, the least and the greatest value of each stretch are drawn (loss: {shown:,} of 40,100 points"
        in found.text
    )
    assert {min(curve[3]) for curve in found.data["panels"][0]["curves"]} == {1}, "and so no peak is lost"
    assert {max(curve[3]) for curve in found.data["panels"][0]["curves"]} == {7}


@pytest.mark.parametrize("damage", ["config.yaml", "manifest.json", "result.json", "metrics.jsonl"])
def test_damaged_folders_are_reported_on_too(damage: str, tmp_path: Path, show: Callable) -> None:
    for name in ("a", "b"):
        write_run(tmp_path / "runs" / name, rate=0.1 if name == "a" else 0.2)
    (tmp_path / "runs" / "a" / damage).write_text("{ damaged")
    for folders in (["runs"], ["runs/a"]):
        code, _, err = show("report", *folders, "--out", "page.html")
        assert (code, err) == (0, "")
        assert "damaged" in page(tmp_path / "page.html").text or damage == "metrics.jsonl"
    assert "metrics.jsonl is cut short" in page(tmp_path / "page.html").text or damage != "metrics.jsonl"


def test_values_that_a_logarithmic_axis_has_no_place_for_are_counted(tmp_path: Path, show: Callable) -> None:
    write_run(tmp_path / "run", loss=lambda step: 0.0 if step == 50 else 100.0 / (1 + step))
    assert show("report", "run")[0] == 0
    found = page(tmp_path / "run" / "report.html")
    assert "Values that are not above 0 are not on a logarithmic axis: 2 of loss." in found.text
    assert len(found.data["panels"][0]["curves"][0][2]) == 10


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["report", "nowhere"], "tfexp: there is no folder nowhere"),
        (["report", "empty"], "tfexp: there is no run in empty or below it"),
        (
            ["report", "run", "--out", "mine.html"],
            "tfexp: mine.html is there already and is no report: choose another --out",
        ),
        (["report", "run", "--out", "no/page.html"], "tfexp: cannot write no/page.html: No such file or directory"),
    ],
)
def test_what_cannot_be_is_one_line(words: list[str], message: str, tmp_path: Path, show: Callable) -> None:
    write_run(tmp_path / "run")
    (tmp_path / "empty").mkdir()
    (tmp_path / "mine.html").write_text("<html>mine")
    assert show(*words) == (1, "", f"{message}\n")
    assert (tmp_path / "mine.html").read_text() == "<html>mine"


def test_a_report_is_written_over(tmp_path: Path, show: Callable) -> None:
    write_run(tmp_path / "run")
    assert [show("report", "run")[0] for _ in range(2)] == [0, 0]
    assert not list((tmp_path / "run").glob(".*"))


def test_runs_of_one_kind_have_no_parallel_coordinates(tmp_path: Path, show: Callable) -> None:
    for name in ("a", "b"):
        write_run(tmp_path / "runs" / name)
    show("report", "runs")
    found = page(tmp_path / "runs" / "report.html")
    assert not found.all("svg", "parallel")
    assert "Settings and" not in found.text


def test_the_script_is_javascript() -> None:
    """Where there is a node to ask; a browser saw the page when it was made."""
    script = importlib.resources.files("tfexp.experiment.reporting").joinpath("page.js")
    try:
        done = subprocess.run(["node", "--check", str(script)], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no node here")
    assert done.returncode == 0, done.stderr


def test_reports_need_no_plotting_and_no_graph(tmp_path: Path) -> None:
    write_run(tmp_path / "run")
    program = (
        "import sys; from tfexp import runs; runs.main(['report', 'run']);"
        "heavy = {'ray', 'jax', 'grpc', 'hydra', 'matplotlib', 'rich', 'sklearn', 'tfexp.ops.nn'} & set(sys.modules);"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    root = str(Path(next(iter(tf.__path__))).parent)
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env={"PYTHONPATH": root}, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
