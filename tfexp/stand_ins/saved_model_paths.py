"""`utils_impl` and `builder_impl` of `tensorflow.python.saved_model`: where a SavedModel's files are. Source: TF 1.15."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from tfexp.core.text import as_text
from tfexp.train import saved_model_names as names
from tfexp.train.saved_model_builder import copy_assets


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


def copy_assets_to_destination_dir(asset_filename_map: Mapping[str, str], destination_dir: Any) -> None:
    """Copy files into the folder of assets of an export: {its name there: where it is}."""
    get_or_create_assets_dir(destination_dir)
    copy_assets(as_text(destination_dir), asset_filename_map)
