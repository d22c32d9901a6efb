"""`tf.contrib.saved_model`: reading signatures."""

from typing import Any

from tfexp.core.gone import missing_from
from tfexp.keras.saving.saved_model import export_saved_model as save_keras_model
from tfexp.keras.saving.saved_model import load_from_saved_model as load_keras_model


def get_signature_def_by_key(meta_graph_def: Any, signature_def_key: str) -> Any:
    """The signature of that key of a MetaGraphDef. ValueError where there is none."""
    if signature_def_key not in meta_graph_def.signature_def:
        have = sorted(meta_graph_def.signature_def)
        raise ValueError(f"No SignatureDef with key {signature_def_key!r} found in MetaGraphDef: it has {have}")
    return meta_graph_def.signature_def[signature_def_key]


__getattr__ = missing_from("tf.contrib.saved_model")
