"""How the files of a checkpoint are called. Source: `tensorflow.python.training.checkpoint_management`, TF 1.15."""

from __future__ import annotations

import re


def meta_graph_filename(checkpoint_filename: str, meta_graph_suffix: str = "meta") -> str:
    """The file of the graph that was saved with a checkpoint: one for all shards (`NAME-?????-of-00002`)."""
    return f"{re.sub('-[0-9?]+-of-[0-9?]+$', '', checkpoint_filename)}.{meta_graph_suffix}"
