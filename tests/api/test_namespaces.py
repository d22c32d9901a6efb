"""The public names: those of the feature list are there, each table's entries resolve, and what is missing says so."""

from __future__ import annotations

import subprocess
import sys
import types
from pathlib import Path

import pytest

import tfexp as tf
from tfexp.documented import documented, namespaces

REQUIRED = Path(__file__).with_name("required_names.txt").read_text()


@pytest.mark.parametrize("row", [line.split() for line in REQUIRED.splitlines()], ids=lambda row: row[0].rstrip(":"))
def test_names_of_the_feature_list_are_there(row: list[str]) -> None:
    missing = []
    for name in row[1:]:
        found: object = tf
        for part in name.split("."):
            found = getattr(found, part, None)
        missing += [] if found is not None else [name]
    assert missing == []


@pytest.mark.parametrize("space", namespaces())
def test_every_listed_name_resolves(space: str) -> None:
    module = namespaces()[space]
    assert [name for name in dir(module) if not name.startswith("__") and not hasattr(module, name)] == []


def test_every_public_name_has_a_description() -> None:
    assert [one.name for names in documented().values() for one in names.values() if not one.text.strip("` ")] == []


def test_star_import_brings_what_loads_late() -> None:
    names: dict[str, object] = {}
    exec("from tfexp import *\nfrom tfexp.train import Saver", names)
    assert names["matmul"] is tf.matmul
    assert isinstance(names["nn"], types.ModuleType)


@pytest.mark.parametrize(
    ("space", "name"), [("tf", "lite"), ("tf.nn", "ctc_loss"), ("tf.train", "Checkpoint"), ("tf.contrib", "slim")]
)
def test_a_missing_name_is_one_attribute_error(space: str, name: str) -> None:
    module = namespaces()[space]
    with pytest.raises(AttributeError, match=f"module '{module.__name__}' has no attribute '{name}'$"):
        getattr(module, name)


@pytest.mark.parametrize(
    ("module", "name", "replacement"),
    [
        (tf, "mul", "tf.multiply"),
        (tf, "pack", "tf.stack"),
        (tf, "merge_all_summaries", "tf.summary.merge_all"),
        (tf, "scalar_summary", "tf.summary.scalar"),
        (tf.train, "SummaryWriter", "tf.summary.FileWriter"),
    ],
)
def test_names_of_tensorflow_0_name_their_replacement(module: types.ModuleType, name: str, replacement: str) -> None:
    with pytest.raises(AttributeError, match=f"has no attribute '{name}': TensorFlow 1.15 has {replacement} in its place"):
        getattr(module, name)


def test_symbols_lists_a_namespace_and_refuses_another() -> None:
    listed = subprocess.run(
        [sys.executable, "-m", "tfexp.symbols", "nn.rnn_cell"], capture_output=True, text=True, check=True
    )
    assert "tf.nn.rnn_cell.GRUCell" in listed.stdout.split()
    refused = subprocess.run(
        [sys.executable, "-m", "tfexp.symbols", "tf.trian"], capture_output=True, text=True, check=False
    )
    assert refused.returncode == 2
    assert "tf.train" in refused.stderr
