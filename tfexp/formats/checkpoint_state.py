"""The `checkpoint` file of a folder: which checkpoints it has and which is the latest, as CheckpointState
text.
"""

from __future__ import annotations

import glob
import logging
import os
import re
from collections.abc import Iterable, Sequence
from typing import Any

from google.protobuf import text_format

from tfexp.formats import bundle_files
from tfexp.formats.atomic_file import replace_file
from tfexp.formats.file_errors import file_error
from tfexp.formats.paths import local_path
from tfexp.formats.protos.checkpoint_state import CheckpointState

_log = logging.getLogger("tensorflow")


def generate_checkpoint_state_proto(
    save_dir: str,
    model_checkpoint_path: str,
    all_model_checkpoint_paths: Sequence[str] | None = None,
    all_model_checkpoint_timestamps: Sequence[float] | None = None,
    last_preserved_timestamp: float | None = None,
) -> Any:
    """The CheckpointState of a folder. The latest checkpoint is the last of the list, and put there where it
    is not.

    Where `save_dir` is relative, so are the paths in the proto: to `save_dir`. Raises ValueError unless there
    is one timestamp for each path.
    """
    paths = list(all_model_checkpoint_paths or [])
    if not paths or paths[-1] != model_checkpoint_path:
        paths.append(model_checkpoint_path)
    times = list(all_model_checkpoint_timestamps or [])
    if times and len(times) != len(paths):
        raise ValueError(
            f"Checkpoint timestamps, if provided, must match checkpoint paths (got paths {paths} and timestamps {times})"
        )
    if not os.path.isabs(save_dir):
        paths = [path if os.path.isabs(path) else os.path.relpath(path, save_dir) for path in paths]
        if not os.path.isabs(model_checkpoint_path):
            model_checkpoint_path = os.path.relpath(model_checkpoint_path, save_dir)
    return CheckpointState(
        model_checkpoint_path=model_checkpoint_path,
        all_model_checkpoint_paths=paths,
        all_model_checkpoint_timestamps=times,
        last_preserved_timestamp=last_preserved_timestamp or 0.0,
    )


def update_checkpoint_state(
    save_dir: str | os.PathLike[str],
    model_checkpoint_path: str,
    all_model_checkpoint_paths: Sequence[str] | None = None,
    latest_filename: str | None = None,
    all_model_checkpoint_timestamps: Sequence[float] | None = None,
    last_preserved_timestamp: float | None = None,
    save_relative_paths: bool = False,
) -> None:
    """Writes the folder's `checkpoint` file (or `latest_filename`), in one step: readers see the old one or
    the new.

    With `save_relative_paths` all paths are written relative to the folder, so that it can be moved. Raises
    RuntimeError where the model's own path is that of the state file, and NotFoundError where there is no such
    folder.
    """
    folder = os.fspath(save_dir)
    path = _state_path(folder, latest_filename)
    if save_relative_paths:
        model_checkpoint_path = _inside(model_checkpoint_path, folder)
        all_model_checkpoint_paths = [_inside(one, folder) for one in all_model_checkpoint_paths or ()]
        folder = os.path.abspath(folder)  # to which the relative paths now are
    state = generate_checkpoint_state_proto(
        folder,
        model_checkpoint_path,
        all_model_checkpoint_paths,
        all_model_checkpoint_timestamps,
        last_preserved_timestamp,
    )
    if path == model_checkpoint_path:
        raise RuntimeError(
            f"Save path '{model_checkpoint_path}' conflicts with path used for checkpoint state. "
            "Please use a different save path."
        )
    replace_file(path, text_format.MessageToString(state, as_utf8=True).encode())


def get_checkpoint_state(checkpoint_dir: str | os.PathLike[str], latest_filename: str | None = None) -> Any | None:
    """The CheckpointState of a folder, its paths put behind the folder where they are relative; None where
    there is none.

    A file that is not a CheckpointState is ignored with a warning in the log, as in TensorFlow. Raises
    ValueError where it names no checkpoint.
    """
    folder = os.fspath(checkpoint_dir)
    path = _state_path(folder, latest_filename)
    state = CheckpointState()
    try:
        with open(local_path(path), "rb") as file:
            text_format.Merge(file.read().decode(), state)
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError, text_format.ParseError) as error:
        _log.warning("%s: Checkpoint ignored: %s: %s", path, type(error).__name__, error)
        return None
    if not state.model_checkpoint_path:
        raise ValueError(f"Invalid checkpoint state loaded from {folder}: {path} has no model_checkpoint_path")
    state.model_checkpoint_path = os.path.join(folder, state.model_checkpoint_path)
    for i, one in enumerate(state.all_model_checkpoint_paths):
        state.all_model_checkpoint_paths[i] = os.path.join(folder, one)
    return state


def latest_checkpoint(checkpoint_dir: str | os.PathLike[str], latest_filename: str | None = None) -> str | None:
    """The prefix of the folder's latest checkpoint, or None where there is none or its files are gone."""
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    if state is None:
        return None
    if checkpoint_exists(state.model_checkpoint_path):
        return str(state.model_checkpoint_path)
    _log.error("Couldn't match files for checkpoint %s", state.model_checkpoint_path)
    return None


def checkpoint_exists(checkpoint_prefix: str) -> bool:
    """Whether there is a checkpoint at the prefix, which may be a glob pattern. As in TensorFlow, a file is one, too."""
    prefix = local_path(checkpoint_prefix)
    return bool(
        glob.glob(bundle_files.index_path(prefix))
        or os.path.exists(prefix)
        or glob.glob(prefix)
        or bundle_files.interrupted_commit(prefix)
    )


def get_checkpoint_mtimes(checkpoint_prefixes: Iterable[str]) -> list[float]:
    """When each checkpoint was written, in seconds since 1970; those that do not exist are left out."""
    times = []
    for prefix in map(local_path, checkpoint_prefixes):
        found = glob.glob(bundle_files.index_path(prefix)) or glob.glob(prefix)
        if found:
            times.append(os.path.getmtime(found[0]))
    return times


def meta_graph_path(checkpoint_prefix: str, suffix: str = "meta") -> str:
    """The MetaGraph beside a checkpoint; a pattern of shards is left out of its name."""
    return f"{re.sub(_SHARDS, '', checkpoint_prefix)}.{suffix}"


_SHARDS = r"-[\d\?]+-of-\d+$"


def remove_checkpoint(checkpoint_prefix: str, checkpoint_format_version: int = 2, meta_graph_suffix: str = "meta") -> None:
    """Deletes a checkpoint's files and its MetaGraph. The index goes first, so that no half of it is ever
    found. `checkpoint_format_version` is accepted, and 2.
    """
    prefix = local_path(checkpoint_prefix)
    doomed = [
        bundle_files.index_path(prefix),
        *glob.glob(f"{glob.escape(prefix)}.data-?????-of-?????"),
        meta_graph_path(prefix, meta_graph_suffix),
    ]
    try:
        bundle_files.discard(prefix, "*")
        for path in doomed:
            if os.path.exists(path):
                os.remove(path)
    except OSError as error:
        raise file_error(error.filename or checkpoint_prefix, error) from error


def _state_path(folder: str, latest_filename: str | None) -> str:
    return os.path.join(folder, latest_filename or "checkpoint")


def _inside(path: str, folder: str) -> str:
    """`path` relative to `folder`; one that is relative already is so to where `folder` is."""
    return os.path.relpath(path, folder) if os.path.isabs(path) or not os.path.isabs(folder) else path
