"""Parts of graphs copied, within a graph or to another. Source: `tf.contrib.graph_editor`, TF 1.15."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfexp.contributed.graph_editor import select
from tfexp.contributed.graph_editor.transforming import (
    Transformation,
    Transformer,
    TransformerInfo,
    keep_t_if_possible_handler,
)
from tfexp.contributed.graph_editor.view import SubGraphView, make_view
from tfexp.core import nest
from tfexp.graph.graph import Graph
from tfexp.graph.tensor import Tensor


def copy(
    sgv: Any, dst_graph: Graph | None = None, dst_scope: str = "", src_scope: str = "", reuse_dst_scope: bool = False
) -> tuple[SubGraphView, TransformerInfo]:
    """(the copy of a view, what became of what).

    The copy takes in placeholders, also in the same graph. Names are those of the view, relative to `src_scope`, below
    `dst_scope`, which is made unique unless `reuse_dst_scope`. ValueError for an empty view.
    Source: `tf.contrib.graph_editor.copy`.
    """
    view = make_view(sgv)
    return Transformer()(view, _graph_of_copy(view, dst_graph), dst_scope, src_scope, reuse_dst_scope)


def copy_with_input_replacements(
    sgv: Any,
    replacement_ts: Mapping[Tensor, Any],
    dst_graph: Graph | None = None,
    dst_scope: str = "",
    src_scope: str = "",
    reuse_dst_scope: bool = False,
) -> tuple[SubGraphView, TransformerInfo]:
    """As `copy`, with some inputs replaced by other tensors, and in the same graph all others kept."""
    view = make_view(sgv)
    replacements = {key: _tensor(value) for key, value in replacement_ts.items()}

    def replaced(info: Transformation, tensor: Tensor) -> Tensor:
        return replacements[tensor] if tensor in replacements else keep_t_if_possible_handler(info, tensor)

    copier = Transformer()
    copier.transform_external_input_handler = replaced
    return copier(view, _graph_of_copy(view, dst_graph), dst_scope, src_scope, reuse_dst_scope)


def _graph_of_copy(view: SubGraphView, asked: Graph | None) -> Any:
    return asked or view.graph  # which an empty view has not


def _tensor(value: Any) -> Tensor:
    return select.make_list_of_t(value, allow_graph=False)[0]


def graph_replace(
    target_ts: Any,
    replacement_ts: Mapping[Any, Any],
    dst_scope: str = "",
    src_scope: str = "",
    reuse_dst_scope: bool = False,
) -> Any:
    """What `target_ts` (a tensor or a structure) would be with some tensors replaced: copies of all between those and it.

    ValueError where no target depends on what is replaced.
    """
    replacements = {_tensor(key): _tensor(value) for key, value in replacement_ts.items()}
    targets = [_tensor(t) for t in nest.flatten(target_ts)]
    between = select.get_walks_intersection_ops(
        list(dict.fromkeys(op for t in replacements for op in t.consumers())), [t.op for t in targets]
    )
    if not between and not any(t in replacements for t in targets):
        raise ValueError("Targets and replacements are not connected!")
    found = dict(replacements)
    if between:
        view = SubGraphView(between)
        _, info = copy_with_input_replacements(view, replacements, None, dst_scope, src_scope, reuse_dst_scope)
        found = {**info.transformed_ts, **replacements}
    return nest.pack_sequence_as(target_ts, [found.get(t, t) for t in targets])
