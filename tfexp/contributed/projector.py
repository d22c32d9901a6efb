"""`tf.contrib.tensorboard.plugins.projector.visualize_embeddings`. Source: TF 1.15."""

from __future__ import annotations

import os
from typing import Any

from google.protobuf import text_format

from tfexp.formats.atomic_file import replace_file

_FILE = "projector_config.pbtxt"


def visualize_embeddings(summary_writer: Any, config: Any) -> None:
    """Write a ProjectorConfig where TensorBoard looks for it: beside the events of `summary_writer` (or in a folder)."""
    folder = summary_writer.get_logdir() if hasattr(summary_writer, "get_logdir") else summary_writer
    if folder is None:
        raise ValueError("Summary writer must have a logdir")
    replace_file(os.path.join(os.fspath(folder), _FILE), text_format.MessageToString(config).encode())
