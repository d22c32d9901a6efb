"""What a reader needs to judge or repeat a run: the machine, the versions, the threads, the data, the code."""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import platform
import subprocess
from pathlib import Path
from typing import Any

from tfexp.experiment.datasets.dataset import Dataset
from tfexp.experiment.schema import Settings
from tfexp.runtime import cpu

__all__ = ["describe"]

_PACKAGES = ("tfexp", "numpy", "protobuf", "ml_dtypes", "tensorboard", "grpcio", "ray", "hydra-core", "omegaconf")
_VARIABLES = (
    "OPENBLAS_",
    "OMP_",
    "MKL_",
    "GOTO_",
    "BLIS_",
    "NVPL_",
    "VECLIB_",
    "NPY_",
    "CUDA_VISIBLE_DEVICES",
)


def describe(settings: Settings, dataset: Dataset, command: str) -> dict[str, Any]:
    """The manifest's content, in JSON's types."""
    return {
        "started": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "command": command,
        "working_directory": str(Path.cwd()),
        "versions": {"python": platform.python_version(), **{name: _version(name) for name in _PACKAGES}},
        "git": _git_state(),
        "seeds": _seeds(settings),
        "data": {
            "origin": dataset.origin,
            "sha256": dataset.digest,
            "train_rows": dataset.rows,
            "test_rows": dataset.test.rows,
            "columns": list(dataset.columns),
        },
        "host": {
            "name": platform.node(),
            "system": platform.platform(),
            "processor": _processor(),
        },
        # What the runtime decided about threads and denormals.
        "runtime": cpu.report(),
        "environment": {name: value for name, value in sorted(os.environ.items()) if name.startswith(_VARIABLES)},
    }


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None  # run from a source tree that is not installed


def _seeds(settings: Settings) -> dict[str, int]:
    return {
        f"{section}.{name}": value
        for section, values in vars(settings).items()
        for name, value in vars(values).items()
        if name == "seed" or name.endswith("_seed")
    }


def _git_state() -> dict[str, Any] | None:
    """The commit of the repository that the run was started in, and whether it had uncommitted changes."""
    try:
        done = subprocess.run(
            ["git", "status", "--porcelain=v2", "--branch", "--untracked-files=no"],
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError:
        return None  # there is no git here
    if done.returncode != 0:
        return None  # not a repository
    lines = done.stdout.splitlines()
    facts = dict(line[2:].split(" ", 1) for line in lines if line.startswith("# "))
    return {
        "commit": facts.get("branch.oid"),
        "branch": facts.get("branch.head"),
        "changed_files": [line.split(" ", 8)[-1] for line in lines if not line.startswith("# ")],
    }


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
