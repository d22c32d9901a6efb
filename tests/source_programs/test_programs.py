"""The programs in experiments/sources print what they say they print: on tfexp, and where it is installed on TensorFlow.

Whatever a program's docstring has under `Prints:` is expected, line by line; `...` stands for any text.
"""

from __future__ import annotations

import contextlib
import os
import re
import runpy
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from tests.distributed.clusters import free_ports
from tests.processes import started
from tests.source_programs.printed import Printed

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "experiments" / "sources"
IN_PROCESSES = {"eager.py", "between_graph.py"}
"""Run in processes of their own: one changes how its whole process executes, of the other several make a cluster."""
NO_PROGRAMS = {"local_cluster.py"}
TFEXP_ONLY = re.compile(r"local_cluster|tf\.train\.Server|tf\.contrib")
"""TensorFlow's servers cannot be stopped, and TensorFlow 2 has no `contrib`."""

PROGRAMS = sorted(path for path in SOURCES.rglob("*.py") if path.name not in IN_PROCESSES | NO_PROGRAMS)


def expected(path: Path) -> list[str]:
    docstring = path.read_text().partition('"""')[2].partition('"""')[0]
    block = docstring.partition("\nPrints:\n")[2]
    assert block.strip(), f"{path} does not say what it prints"
    return textwrap.dedent(block).strip("\n").split("\n")


def assert_printed(lines: list[str], path: Path) -> None:
    wanted = [line.rstrip() for line in expected(path)]
    patterns = [re.escape(line).replace(r"\.\.\.", ".*") for line in wanted]
    if len(lines) != len(wanted) or not all(map(re.fullmatch, patterns, lines)):
        assert lines == wanted


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_program(path: Path, tf: Any, out: Printed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if tf is not sys.modules["tfexp"]:
        if TFEXP_ONLY.search(path.read_text()):
            pytest.skip("tfexp only")
        monkeypatch.setitem(sys.modules, "tfexp", tf)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(path.parent))
    monkeypatch.delitem(sys.modules, "local_cluster", raising=False)
    with contextlib.suppress(SystemExit):  # tf.app.run ends with it; what was printed tells how
        runpy.run_path(str(path), run_name="__main__")
    assert_printed(out.lines, path)


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def test_eager() -> None:
    path = SOURCES / "programming_basics" / "eager.py"
    done = subprocess.run([sys.executable, str(path)], env=environment(), capture_output=True, text=True, check=True)
    assert_printed([line.rstrip() for line in done.stdout.splitlines()], path)


def test_between_graph(tmp_path: Path) -> None:
    """A parameter server and a worker, as processes; the other worker may come later, or never."""
    ps, first, second = free_ports(3)
    path = SOURCES / "distributed_intro" / "between_graph.py"
    hosts = [f"--ps_hosts=localhost:{ps}", f"--worker_hosts=localhost:{first},localhost:{second}"]
    command = [sys.executable, str(path), *hosts, f"--logdir={tmp_path / 'logs'}"]
    with started([*command, "--job_name=ps"], env=environment()) as server:
        try:
            done = subprocess.run(
                [*command, "--job_name=worker"], env=environment(), capture_output=True, text=True, check=False, timeout=120
            )
        finally:
            server.send_signal(signal.SIGKILL)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout.splitlines()[-1].rpartition(" ")[2]) <= 1.0


def test_the_table_has_every_program_and_every_folder_a_readme() -> None:
    table = (ROOT / "experiments" / "README.md").read_text()
    for path in SOURCES.rglob("*.py"):
        if path.name not in NO_PROGRAMS:
            assert f"(sources/{path.relative_to(SOURCES)})" in table, f"experiments/README.md has no line for {path.name}"
    linked = re.findall(r"\]\(([^)#]+)\)", table)
    assert [link for link in linked if not (ROOT / "experiments" / link).exists()] == []
    for folder in {path.parent for path in SOURCES.rglob("*.py")}:
        readme = (folder / "README.md").read_text()
        assert all(f"**{word}" in readme for word in ("Claim", "Command", "Result")), folder
