"""`tensorflow.python.framework.meta_graph`: parts of graphs as MetaGraphs. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorboard.compat.proto.meta_graph_pb2 import MetaGraphDef

from tfexp.graph.collections import GraphKeys
from tfexp.graph.scopes import get_default_graph
from tfexp.train import meta_graph
from tfexp.train.meta_graph import read_meta_graph


def _variables_below(graph: Any, scope: str | None) -> dict[str, Any]:
    """{name below the scope, as "v:0": variable} of the graph's global variables."""
    prefix = f"{scope.rstrip('/')}/" if scope else ""
    variables = graph.get_collection(GraphKeys.GLOBAL_VARIABLES)
    return {v.name.removeprefix(prefix): v for v in variables if v.name.startswith(prefix)}


def export_scoped_meta_graph(
    filename: str | None = None,
    graph: Any = None,
    export_scope: str | None = None,
    as_text: bool = False,
    unbound_inputs_col_name: str = meta_graph.UNBOUND,
    **options: Any,
) -> tuple[Any, dict[str, Any]]:
    """(the MetaGraphDef of what is below a scope, {name: variable} of the variables there).

    The names of what the nodes there take from elsewhere are in that collection.
    """
    graph = graph or get_default_graph()
    definition = meta_graph.export_meta_graph(graph=graph, export_scope=export_scope, **options)
    _rename_collection(definition, meta_graph.UNBOUND, unbound_inputs_col_name)
    if filename:
        meta_graph.write_meta_graph(filename, definition, as_text)
    return definition, _variables_below(graph, export_scope)


def _rename_collection(definition: Any, old: str, new: str) -> None:
    if old != new and old in definition.collection_def:
        definition.collection_def[new].CopyFrom(definition.collection_def[old])
        del definition.collection_def[old]


def import_scoped_meta_graph(meta_graph_or_file: Any, clear_devices: bool = False, **options: Any) -> dict[str, Any]:
    """Add it to the graph; {name below `import_scope`: variable}."""
    return import_scoped_meta_graph_with_return_elements(meta_graph_or_file, clear_devices, **options)[0]


def import_scoped_meta_graph_with_return_elements(
    meta_graph_or_file: Any,
    clear_devices: bool = False,
    graph: Any = None,
    import_scope: str | None = None,
    input_map: Any = None,
    return_elements: Any = None,
    unbound_inputs_col_name: str = meta_graph.UNBOUND,
    restore_collections_predicate: Callable[[str], bool] = lambda key: True,
) -> tuple[dict[str, Any], list[Any] | None]:
    """The same, and the elements of that name."""
    graph = graph or get_default_graph()
    with graph.as_default():
        definition = read_meta_graph(meta_graph_or_file)
        if unbound_inputs_col_name != meta_graph.UNBOUND:
            given, definition = definition, MetaGraphDef()
            definition.CopyFrom(given)
            _rename_collection(definition, unbound_inputs_col_name, meta_graph.UNBOUND)
        scope = meta_graph.import_scoped_meta_graph(
            definition,
            clear_devices,
            import_scope,
            restore_collections_predicate=restore_collections_predicate,
            input_map=input_map or {},
        )
        prefix = f"{scope}/" if scope else ""
        elements = None if return_elements is None else [graph.as_graph_element(prefix + name) for name in return_elements]
        return _variables_below(graph, scope), elements


def copy_scoped_meta_graph(from_scope: str, to_scope: str, from_graph: Any = None, to_graph: Any = None) -> dict[str, Any]:
    """Copy what is below one scope to another; {name: variable} of the copies. ValueError for a scope onto itself."""
    from_graph, to_graph = from_graph or get_default_graph(), to_graph or get_default_graph()
    if from_graph is to_graph and from_scope == to_scope:
        raise ValueError(
            f"'from_scope' and 'to_scope' need to be different when performing copy in the same graph: {to_scope}"
        )
    definition, _ = export_scoped_meta_graph(graph=from_graph, export_scope=from_scope)
    return import_scoped_meta_graph(definition, graph=to_graph, import_scope=to_scope)


def create_meta_graph_def(
    meta_info_def: Any = None,
    graph_def: Any = None,
    saver_def: Any = None,
    collection_list: Any = None,
    graph: Any = None,
    export_scope: str | None = None,
    **options: Any,
) -> Any:
    return meta_graph.export_meta_graph(
        meta_info_def=meta_info_def,
        graph_def=graph_def,
        saver_def=saver_def,
        collection_list=collection_list,
        graph=graph,
        export_scope=export_scope,
        **options,
    )


def add_collection_def(definition: Any, key: str, graph: Any = None, export_scope: str | None = None) -> None:
    """Add the graph's collection of that name."""
    meta_graph._add_collection(definition, graph or get_default_graph(), key, export_scope)


def strip_graph_default_valued_attrs(definition: Any) -> None:
    """Take out the attributes that have their default values."""
    meta_graph.strip_defaults(definition.graph_def)
    definition.meta_info_def.stripped_default_attrs = True
