"""README.md and --help are true: set-up, tables and examples. test_guides.py runs what documents tell people to type."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Callable

import yaml
from documents import ROOT, documents

from tfexp.experiment.choices import conf_dir

README = documents()[0]


def test_set_up_is_two_commands() -> None:
    set_up = [block.strip() for block in README.blocks("sh") if "pip" in block]
    assert set_up == [
        "pip install -e . && python -m tfexp model=linreg",
        "pip install -e '.[test]' && pytest",
    ]


def test_tables_list_every_choice() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", README.text, re.MULTILINE))
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
    """Only the picture at the end needs matplotlib, and nothing needs scikit-learn or SciPy."""
    program = (
        "import sys, tfexp.experiment.cli\n"
        "print([name for name in ('matplotlib', 'sklearn', 'scipy', 'ray', 'grpc', 'jax', 'rich') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout == "[]\n"
