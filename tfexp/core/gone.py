"""What a namespace answers for names that it does not hold: namespaces loaded on first use, names that are gone or missing.

Asking for a name of TensorFlow 0.x that 1.15 no longer has is an AttributeError that says what to use now; asking for one
of 1.15 that tfexp does not have is an AttributeError that says so. `symbols_1_15.txt` has the public names of 1.15 (and
`symbols_2_0.txt` those of its `tf.compat.v2`).
"""

import functools
import importlib
import os
import re
import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType, ModuleType
from typing import Any

_GONE = {
    "tf": {
        "audio_summary": "tf.summary.audio",
        "batch_matmul": "tf.matmul",
        "complex_abs": "tf.abs",
        "histogram_summary": "tf.summary.histogram",
        "image_summary": "tf.summary.image",
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
    },
    "tf.train": {
        "SummaryWriter": "tf.summary.FileWriter",
        "SummaryWriterCache": "tf.summary.FileWriterCache",
    },
}


@functools.cache
def public_symbols(version: str = "1.15") -> tuple[str, ...]:
    """The public names of TensorFlow 1.15 or 2.0 (`tf.nn.relu`), sorted; of `tf.raw_ops` only the name itself."""
    return tuple(_read(os.path.join(os.path.dirname(__file__), f"symbols_{version.replace('.', '_')}.txt")).split())


def _read(file: str) -> str:
    """A file's text; `pathlib` would be a twentieth of what `import tfexp` takes."""
    with open(file, encoding="utf-8") as opened:
        return opened.read()


def is_tensorflows(symbol: str) -> bool:
    """Whether a name is TensorFlow's; what it has in `tf.contrib` is not listed, so that any of these may be."""
    return symbol in public_symbols() or symbol.startswith("tf.contrib.")


def missing_from(
    namespace: str, on_first_use: Mapping[str, str] = MappingProxyType({}), kept_in: str | None = None
) -> Callable[[str], Any]:
    """The `__getattr__` of the module that is that namespace (`tf.nn`).

    on_first_use: where names are that are loaded when first asked for, as `module` or `module:attribute`; kept_in: the
    module in which they are from then on.
    """
    module = namespace.replace("tf", "tfexp", 1)

    def lookup(name: str) -> Any:
        if name == "__all__" and kept_in is not None:  # `import *` takes what has not been asked for yet, too
            there = {name for name in vars(sys.modules[kept_in]) if is_tensorflows(f"{namespace}.{name}")}
            return sorted(name for name in there | set(on_first_use) if not name.startswith("_"))
        if name in on_first_use:
            found, _, attribute = on_first_use[name].partition(":")
            loaded = importlib.import_module(found)
            value = getattr(loaded, attribute) if attribute else loaded
            if kept_in in sys.modules:  # the next time it is there at once
                setattr(sys.modules[kept_in], name, value)
            return value
        plain = f"module {module!r} has no attribute {name!r}"
        if name in (gone := _GONE.get(namespace, {})):
            raise AttributeError(f"{plain} any more: use {gone[name]}")
        if not name.startswith("_") and is_tensorflows(f"{namespace}.{name}"):
            raise AttributeError(
                f"{plain}: tfexp does not have TensorFlow's {namespace}.{name}; `python -m tfexp.symbols {namespace}` lists "
                "what there is"
            )
        raise AttributeError(plain)

    return lookup


_PACKAGES = ("tfexp", "tfexp.api", "tfexp.data", "tfexp.estimator")
_IMPORT = re.compile(r"^ +from (\S+) import (?:\(\s*)?(\w+) as (\w+)", re.MULTILINE)


def names_of(file: str) -> dict[str, str]:
    """The indented `from module import name as public` of a source file: public name -> `module:name`, or a module."""
    found = _IMPORT.findall(_read(file))
    return {public: f"{module}{'.' if module in _PACKAGES else ':'}{name}" for module, name, public in found}


def namespace(
    name: str, module: str, above: Mapping[str, str] = MappingProxyType({})
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of the module that is that namespace (`tf.nn`), whose source file has the names.

    `above`: names from rooms above, which the file may not import, as `module:attribute`.
    """
    file = sys.modules[module].__file__
    assert file is not None
    names = {**names_of(file), **above}
    own = {"TYPE_CHECKING", namespace.__name__}  # what the file needs for itself

    def listed() -> list[str]:
        # Imported modules are there too, under their names: those of the package, and others that the file needs.
        modules = {key for key, value in vars(sys.modules[module]).items() if isinstance(value, ModuleType)}
        strange = {key for key in modules - set(names) if not is_tensorflows(f"{name}.{key}")}
        return sorted({*vars(sys.modules[module]), *names} - own - strange)

    return missing_from(name, names, module), listed
