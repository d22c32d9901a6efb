"""Packages that are slow to import have one owner each, so that a start loads only what it needs."""

from __future__ import annotations

import ast
from pathlib import Path

import tfexp.experiment

FOLDER = Path(tfexp.experiment.__file__).parent
OWNERS = {
    "hydra": {
        "cli.py",
        "composing.py",
        "config_files.py",
        "origins.py",
        "sweeps/command.py",
        "sweeps/plan.py",
        "sweeps/space.py",
    },
    "omegaconf": {"cli.py", "composing.py", "config_files.py", "sweeps/plan.py"},
    "yaml": {"cli.py", "composing.py", "origins.py", "reporting/run.py", "sweeps/command.py"},
    "rich": {
        "pages.py",
        "previewing.py",
        "progress.py",
        "report.py",
        "reporting/listing.py",
        "reporting/one_run.py",
        "reporting/comparison.py",
        "sweeps/table.py",
    },
    "matplotlib": {"reporting/figures.py", "reporting/picture.py", "sweeps/curves.py", "sweeps/plots.py"},
    "optuna": {"sweeps/optuna_search.py"},
    "sklearn": set(),
    "ray": set(),
}
LAZY = {"rich", "matplotlib", "optuna"}
"""Imported where they are used, not with the module."""


def test_each_has_its_owners() -> None:
    for path in FOLDER.rglob("*.py"):
        tree = ast.parse(path.read_text())
        for node in ast.walk(tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [name.name for name in node.names]
                for package in {name.partition(".")[0] for name in names} & set(OWNERS):
                    where = str(path.relative_to(FOLDER))
                    assert where in OWNERS[package], f"{where} imports {package}"
                    assert package not in LAZY or node not in tree.body, f"{where} imports {package} at its top"


def test_ray_is_a_few_modules_business() -> None:
    package = FOLDER.parent
    found = [str(path.relative_to(package)) for path in package.rglob("*.py") if "import ray\n" in path.read_text()]
    owners = ("ray_host", "ray_joining", "ray_nodes", "ray_pool")
    assert sorted(found) == [f"distributed/{owner}.py" for owner in owners]
