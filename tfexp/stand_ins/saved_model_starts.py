"""What loaded graphs say of themselves: `loader_impl` and `utils_impl` of `tensorflow.python.saved_model`. Source: TF 1.15.

Imported as they are, graphs name what starts them and what trains them; nothing is run here.
"""

from __future__ import annotations

from typing import Any

from tfexp.core.errors import NotFoundError
from tfexp.graph.scopes import get_default_graph
from tfexp.train import saved_model_names as names
from tfexp.train.saved_model_loader import get_element_from_tensor_info


def get_init_op(meta_graph_def: Any, import_scope: str | None = None) -> Any:
    """What is run first in the default graph, where `meta_graph_def` was imported; None where nothing is.

    NotFoundError for a node that its signature names and the graph lacks.
    """
    keys = (names.MAIN_OP_KEY, names.LEGACY_INIT_OP_KEY)
    return _signed(meta_graph_def, names.INIT_OP_SIGNATURE_KEY, import_scope) or _collected(meta_graph_def, keys)


def get_train_op(meta_graph_def: Any, import_scope: str | None = None) -> Any:
    """What makes a step of training: an Operation or a Tensor, or None."""
    keys = (names.TRAIN_OP_KEY,)
    return _signed(meta_graph_def, names.TRAIN_OP_SIGNATURE_KEY, import_scope) or _collected(meta_graph_def, keys)


def _signed(meta_graph: Any, key: str, import_scope: str | None) -> Any:
    if key not in meta_graph.signature_def:
        return None
    try:
        return get_element_from_tensor_info(meta_graph.signature_def[key].outputs[key], import_scope=import_scope)
    except KeyError as error:
        raise NotFoundError(
            None,
            None,
            f"The {key} could not be found in the graph. A SignatureDef of the SavedModel has the key {key!r}, which only "
            "a SavedModelBuilder may give, or its graph was not imported whole.",
        ) from error


def _collected(meta_graph: Any, keys: tuple[str, ...]) -> Any:
    """The first of the graph's collection of the first key that was saved with one."""
    for key in keys:
        if key in meta_graph.collection_def and meta_graph.collection_def[key].node_list.value:
            return get_default_graph().get_collection(key)[0]
    return None
