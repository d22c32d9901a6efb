"""Looking into checkpoints without a graph. Source: `tf.train.load_checkpoint`, `tf.train.list_variables`, TF 1.15."""

from __future__ import annotations

import math
import os
import re
from typing import Any

from tfexp.formats.bundle_reader import BundleReader
from tfexp.formats.checkpoint_state import latest_checkpoint
from tfexp.formats.paths import local_path


def checkpoint_of(ckpt_dir_or_file: str | bytes | os.PathLike[str]) -> str:
    """The prefix of a checkpoint: what is given, or the latest one of a folder. ValueError where that has none."""
    path = os.fsdecode(ckpt_dir_or_file)
    if not os.path.isdir(local_path(path)):
        return path
    latest = latest_checkpoint(path)
    if latest is None:
        raise ValueError(f"Couldn't find 'checkpoint' file or checkpoints in given directory {path}")
    return latest


def load_checkpoint(ckpt_dir_or_file: str | bytes | os.PathLike[str]) -> BundleReader:
    """A reader of a checkpoint: a prefix, or a folder whose latest it takes. ValueError where there is none."""
    return BundleReader(checkpoint_of(ckpt_dir_or_file))


def load_variable(ckpt_dir_or_file: str, name: str) -> Any:
    """The value of one variable; a trailing `:0` is allowed."""
    with load_checkpoint(ckpt_dir_or_file) as reader:
        return reader.get_tensor(name.removesuffix(":0"))


def list_variables(ckpt_dir_or_file: str) -> list[tuple[str, list[int]]]:
    """[(name, shape), …] by name."""
    with load_checkpoint(ckpt_dir_or_file) as reader:
        return sorted(reader.get_variable_to_shape_map().items())


def print_tensors_in_checkpoint_file(
    file_name: str,
    tensor_name: str | None = None,
    all_tensors: bool = True,
    all_tensor_names: bool = False,
    count_exclude_pattern: str = "",
) -> None:
    """Print the checkpoint's tensors: all with values, one by name, or only the names and shapes.

    Last comes how many numbers they have, those left out whose names match a regular expression.
    """
    with load_checkpoint(file_name) as reader:
        if all_tensors or all_tensor_names:
            for name in sorted(reader.get_variable_to_shape_map()):
                print("tensor_name: ", name)
                if all_tensors:
                    print(reader.get_tensor(name))
        elif tensor_name:
            print("tensor_name: ", tensor_name)
            print(reader.get_tensor(tensor_name))
        else:
            print(reader.debug_string().decode())
        sizes = {name: math.prod(shape) for name, shape in reader.get_variable_to_shape_map().items()}
        if count_exclude_pattern:
            left_out = [sizes.pop(name) for name in list(sizes) if re.search(count_exclude_pattern, name)]
            count = f"{len(left_out)} tensors ({sum(left_out)} params)"
            print(f"# Excluding {count} that match {count_exclude_pattern} when counting.")
        print(f"# Total number of params: {sum(sizes.values())}")
