"""`BaseSaverBuilder`, which programs take SaveSpec and SaveableObject from, and the graph's own saver.

Source: `tensorflow.python.training.saver`, TF 1.15.
"""

from __future__ import annotations

from typing import Any

from tfexp.graph.collections import GraphKeys
from tfexp.graph.scopes import get_collection, get_default_graph
from tfexp.ops.saveable_object import SaveableObject as _SaveableObject
from tfexp.ops.saveable_object import SaveSpec
from tfexp.stand_ins.functional_savers import VariableSaveable as _VariableSaveable
from tfexp.train.save_graph import saveables_from
from tfexp.train.saver import Saver, import_meta_graph


class BaseSaverBuilder:
    """What a Saver takes for its values."""

    SaveSpec = SaveSpec
    SaveableObject = _SaveableObject
    VariableSaveable = ResourceVariableSaveable = _VariableSaveable

    @staticmethod
    def OpListToDict(op_list: Any, convert_variable_to_tensor: bool = True) -> dict[str, Any]:
        """{key: variable}."""
        return {saveable.key: saveable.tensor for saveable in saveables_from(list(op_list))}


class BulkSaverBuilder(BaseSaverBuilder):
    """The same: all values are restored by one op."""


def _get_saver_or_default() -> Saver:
    """The one saver of the collection, else a new one, which is added. RuntimeError for several."""
    savers = get_collection(GraphKeys.SAVERS)
    if len(savers) > 1:
        raise RuntimeError(f"More than one item in collection {GraphKeys.SAVERS}. Please indicate which one to use.")
    if not savers:
        savers = [Saver(sharded=True, allow_empty=True)]
        get_default_graph().add_to_collection(GraphKeys.SAVERS, savers[0])
    return savers[0]


def _import_meta_graph_with_return_elements(
    meta_graph_or_file: Any,
    clear_devices: bool = False,
    import_scope: str | None = None,
    return_elements: Any = None,
    **kw: Any,
) -> tuple[Saver | None, list[Any] | None]:
    """(the saver, the elements of that name below `import_scope`)."""
    graph = get_default_graph()
    scope = graph.unique_name(import_scope, mark_as_used=False) if import_scope else ""
    saver = import_meta_graph(meta_graph_or_file, clear_devices, import_scope, **kw)
    prefix = f"{scope}/" if scope else ""
    return saver, None if return_elements is None else [graph.as_graph_element(prefix + one) for one in return_elements]
