"""What a namespace answers for names that it does not hold: namespaces loaded on first use, and names that are gone.

Asking for a name of TensorFlow 0.x that 1.15 no longer has is an AttributeError that says what to use now.
"""

import importlib
from collections.abc import Callable, Mapping
from typing import Any

# Sub-namespaces that few programs use, and that would make `import tfexp` slower.
_ON_FIRST_USE = frozenset({"app", "flags", "gfile", "test"})

_TOP_LEVEL = {
    "audio_summary": "tf.summary.audio",
    "batch_matmul": "tf.matmul",
    "complex_abs": "tf.abs",
    "histogram_summary": "tf.summary.histogram",
    "image_summary": "tf.summary.image",
    "initialize_all_variables": "tf.global_variables_initializer",
    "inv": "tf.reciprocal",
    "listdiff": "tf.setdiff1d",
    "merge_all_summaries": "tf.summary.merge_all",
    "merge_summary": "tf.summary.merge",
    "mul": "tf.multiply",
    "neg": "tf.negative",
    "pack": "tf.stack",
    "scalar_summary": "tf.summary.scalar",
    "select": "tf.where",
    "sub": "tf.subtract",
    "unpack": "tf.unstack",
}
_TRAIN = {
    "SummaryWriter": "tf.summary.FileWriter",
    "SummaryWriterCache": "tf.summary.FileWriterCache",
}


def _lookup(namespace: str, gone: Mapping[str, str], on_first_use: frozenset[str] = frozenset()) -> Callable[[str], Any]:
    """A module's `__getattr__`."""

    def lookup(name: str) -> Any:
        if name in on_first_use:
            return importlib.import_module(f"{namespace}.api.{name}")
        replacement = gone.get(name)
        if replacement is None:
            raise AttributeError(f"module {namespace!r} has no attribute {name!r}")
        raise AttributeError(f"module {namespace!r} has no attribute {name!r} any more: use {replacement}")

    return lookup


of_top_level = _lookup("tfexp", _TOP_LEVEL, _ON_FIRST_USE)
of_train = _lookup("tfexp.train", _TRAIN)
