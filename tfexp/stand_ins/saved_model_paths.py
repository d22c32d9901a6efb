"""`tensorflow.python.saved_model.utils_impl`: where a SavedModel's files are. Source: TF 1.15."""

from __future__ import annotations

import os
from typing import Any

from tfexp.core.text import as_text
from tfexp.train import saved_model_names as names


def get_variables_dir(export_dir: Any) -> str:
    return os.path.join(as_text(export_dir), names.VARIABLES_DIRECTORY)


def get_variables_path(export_dir: Any) -> str:
    """The prefix of the checkpoint."""
    return os.path.join(get_variables_dir(export_dir), names.VARIABLES_FILENAME)


def get_assets_dir(export_dir: Any) -> str:
    return os.path.join(as_text(export_dir), names.ASSETS_DIRECTORY)


def _made(folder: str) -> str:
    os.makedirs(folder, exist_ok=True)
    return folder


def get_or_create_variables_dir(export_dir: Any) -> str:
    return _made(get_variables_dir(export_dir))


def get_or_create_assets_dir(export_dir: Any) -> str:
    return _made(get_assets_dir(export_dir))
