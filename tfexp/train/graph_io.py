"""`tf.train.write_graph`: a GraphDef to a file. Source: TF 1.15."""

from __future__ import annotations

import os
from typing import Any

from google.protobuf import text_format

from tfexp.formats.atomic_file import replace_file
from tfexp.formats.file_errors import file_error
from tfexp.formats.paths import local_path
from tfexp.graph.graph import Graph


def write_graph(graph_or_graph_def: Any, logdir: str, name: str, as_text: bool = True) -> str:
    """Write a graph as `logdir/name`, as text or bytes, whole or not at all; makes the folder. Returns the path."""
    definition = graph_or_graph_def.as_graph_def() if isinstance(graph_or_graph_def, Graph) else graph_or_graph_def
    data = text_format.MessageToString(definition).encode() if as_text else definition.SerializeToString()
    path = os.path.join(logdir, name)
    try:
        os.makedirs(local_path(logdir) or ".", exist_ok=True)
    except OSError as error:
        raise file_error(logdir, error) from error
    replace_file(path, data)
    return path
