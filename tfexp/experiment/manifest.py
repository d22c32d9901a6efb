"""What a reader needs to judge or repeat a run: the machine, the versions, the threads, the data, the code."""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import platform
from pathlib import Path
from typing import Any

from tfexp.experiment.code_state import digests, git_state
from tfexp.experiment.datasets.dataset import Dataset
from tfexp.experiment.schema import Settings
from tfexp.runtime import cpu

__all__ = ["describe", "version_of"]

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
    now = datetime.datetime.now(datetime.UTC)
    return {
        "started": now.isoformat(timespec="seconds"),
        # Who writes in the folder: with this, whether a run that has not ended is going on can be seen.
        "process": {"pid": os.getpid(), "host": platform.node(), "began": now.isoformat(timespec="microseconds")},
        "command": command,
        "working_directory": str(Path.cwd()),
        "versions": {"python": platform.python_version(), **{name: version_of(name) for name in _PACKAGES}},
        "git": git_state(),
        "code": digests(settings),
        "seeds": _seeds(settings),
        "data": {
            "origin": dataset.origin,
            "sha256": dataset.digest,
            "train_rows": dataset.rows,
            "test_rows": dataset.test.rows,
            "skipped_rows": dataset.skipped.rows,
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


def version_of(package: str) -> str | None:
    """None where it is not installed."""
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


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
