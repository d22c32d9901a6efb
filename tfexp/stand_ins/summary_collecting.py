"""`summary_op_util`: with what summary ops are made, for libraries that make their own. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfexp.graph.replica_modes import in_another_replica as skip_summary
from tfexp.graph.scopes import get_default_graph
from tfexp.ops.summary import clean_tag, summary_scope

__all__ = ["clean_tag", "collect", "skip_summary", "summary_scope"]


def collect(val: Any, collections: Sequence[str] | None, default_collections: Sequence[str]) -> None:
    """Into these collections; into the default ones where there are none."""
    get_default_graph().add_to_collections(default_collections if collections is None else collections, val)
