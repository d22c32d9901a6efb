"""README.md and the guides are true: commands and programs in them run, and print what they say."""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from documents import ON_RAY, ROOT, Document, documents

import tfexp as tf

DOCUMENTS = pytest.mark.parametrize("document", documents(), ids=lambda document: document.path.name)
IN_PROCESS = (
    "completion",
    "explain",
    "export",
    "new",
    "preview",
    "records",
    "reference",
    "reproduce",
    "runs",
    "symbols",
)
APART = "tfexp.script"
"""Changes the process for good."""


@pytest.fixture
def forgotten(tmp_path: Path) -> Iterator[None]:
    """What is imported from the folder of a test is forgotten with it."""
    before = sys.modules.get("experiments")  # this project's, which other tests have
    yield
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None) or "").startswith(str(tmp_path)) or name == "experiments":
            del sys.modules[name]
    if before is not None:
        sys.modules["experiments"] = before


@DOCUMENTS
@pytest.mark.usefixtures("forgotten", "tasks_are_threads")
def test_commands_run(document: Document, cli: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, content in document.files.items():
        (tmp_path / name).write_text(content)
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in document.files:
        if name.startswith("test_"):
            importlib.import_module(Path(name).stem)
    for command in document.commands:
        if command == ON_RAY:
            continue
        python, flag, program, *words = shlex.split(command)
        assert (python, flag) == ("python", "-m"), f"nobody runs this: {command}"
        if program == APART:
            code, err = _apart([program, *words], tmp_path)
        elif program == "tfexp":
            ended = cli(*words)
            code, err = ended.code, ended.err
        else:
            assert program.removeprefix("tfexp.") in IN_PROCESS, f"nobody runs this: {command}"
            code, err = importlib.import_module(program).main(words), ""
        assert code == 0, f"{command}\n{err}"


def test_one_may_follow_one_document_after_another() -> None:
    made = re.compile(r"(?:hydra\.(?:run|sweep)\.dir|\bout)=(\S+)|tfexp\.export \S+ (\S+)")
    folders = [one or other for document in documents() for line in document.commands for one, other in made.findall(line)]
    assert len(folders) > 8
    assert sorted(folders) == sorted(set(folders)), "a folder that another command made is in the way"


def _apart(words: list[str], folder: Path) -> tuple[int, str]:
    done = _python("-m", *words, folder=folder)
    return done.returncode, done.stderr


def _python(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run([sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True, check=False)


@DOCUMENTS
def test_programs_print_what_they_say(document: Document, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / f"{document.path.stem}.py"
    for program in document.programs:
        printed = _eager(program, tmp_path) if "enable_eager_execution()" in program else _printed(program, path)
        expected = re.findall(r"^ *print\(.*\)  # (.*)$", program, re.MULTILINE)
        there = iter(printed.splitlines())
        assert all(line in there for line in expected), f"{printed}\nis not what this says:\n{program}"


def _printed(program: str, path: Path) -> str:
    path.write_text(program)  # where what looks for the source of functions finds it
    tf.reset_default_graph()
    try:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(program, path, "exec"), {"__name__": "__main__"})
    finally:
        tf.reset_default_graph()
    return out.getvalue()


def _eager(program: str, folder: Path) -> str:
    """In a process of its own: it is switched on for good."""
    done = _python("-c", program, folder=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


@DOCUMENTS
def test_messages_are_what_is_printed(document: Document, cli: Callable) -> None:
    for command, message in document.messages:
        assert cli(*shlex.split(command.removeprefix("python -m tfexp "))).err == message


@DOCUMENTS
def test_links_lead_somewhere(document: Document) -> None:
    for link in document.links:
        path, _, anchor = link.partition("#")
        target = (document.path.parent / path).resolve() if path else document.path
        assert target.exists(), link
        if anchor:
            headings = re.findall(r"^#+ (.*)$", target.read_text(), re.MULTILINE)
            assert anchor in {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}, link


@pytest.mark.parametrize("index", [Path("docs"), Path()], ids=str)
def test_every_guide_is_in_the_index(index: Path) -> None:
    guides = {path for path in (ROOT / "docs").glob("*.md") if path.stem != "README"}
    assert guides <= {ROOT / index / link for link in Document(ROOT / index / "README.md").links}


def test_pictures_are_shown_and_small() -> None:
    shown = {(document.path.parent / link).resolve() for document in documents() for link in document.links}
    for picture in (ROOT / "docs" / "pictures").iterdir():
        assert picture in shown, f"{picture.name} is shown nowhere"
        assert picture.stat().st_size < 150_000
