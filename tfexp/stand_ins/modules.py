"""What serves the modules below `tensorflow` which are no public namespaces, by the table in `places`.

TensorFlow's own tests, and many scripts, import from the modules in which its public functions are defined
(`from tensorflow.python.ops import array_ops`). tfexp is cut up differently, so each of these names stands for an ordered
list of places here: the first that has an attribute answers, attributes that the list names one by one before whole places.
"""

from __future__ import annotations

import functools
import importlib
import re
import types
from typing import Any

from tfexp.api import raw_ops
from tfexp.core.op import all_ops, find_op
from tfexp.stand_ins.generated_names import generated_name
from tfexp.stand_ins.places import CONTRIB, MESSAGES, OTHERS, PYTHON


class Stand(types.ModuleType):
    """The module that stands for a private module of TensorFlow's: its attributes are those of its places."""

    def __init__(self, name: str, places: str):
        super().__init__(name, f"Stands for TensorFlow's {name}; its names come from {places}.")
        self.__path__: list[str] = []
        # What the table names by itself goes before whole places.
        self._places = sorted(places.split(), key=lambda place: ":" not in place)
        for place in self._places:
            if place.startswith("tfexp.stand_ins."):
                _place(place.partition(":")[0])  # what was written for this module comes with it: it may register ops

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":  # for `from … import *`, which asks nothing else
            return [known for known in dir(self) if not known.startswith("_") and hasattr(self, known)]
        common = name.startswith("__")  # such names every module has of its own: what stands for one of these names it
        for place in self._places:
            found = _NOTHING if common and ":" not in place else _find(place, name)
            if isinstance(found, types.ModuleType):
                return stand_for(f"{self.__name__}.{name}") or found
            if found is not _NOTHING:
                return found
        if not common:
            if name.endswith(("_v1", "_v2")) and (found := self._of_version(name)) is not _NOTHING:
                return found
            if self.__name__.startswith("tensorflow.python"):
                below = stand_for(f"{self.__name__}.{name}")
                if below is not None or name in _siblings():
                    return below or stand_for(_siblings()[name])
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}: tfexp, which stands in here, lacks it")

    def _of_version(self, name: str) -> Any:
        """`boolean_mask_v2` is `tf.compat.v2.boolean_mask`, and `conv3d_v1` is `tf.nn.conv3d`."""
        for place in self._places:
            if place.partition(".")[0] == "tf" and ":" not in place:
                home = place if name.endswith("_v1") else place.replace("tf", "tf.compat.v2", 1)
                if (found := _find(home, name[:-3])) is not _NOTHING:
                    return found
        return _NOTHING

    def __dir__(self) -> list[str]:
        names = set(super().__dir__())
        for place in self._places:
            module, _, attribute = place.partition(":")
            if place == "ops":
                names |= {generated_name(op) for op in all_ops()}
            elif attribute:
                names.add(attribute.partition("=")[0])
            else:
                found = _place(module)
                ours = vars(found) if module.startswith("tfexp.") else {}
                imported = {name for name, value in ours.items() if isinstance(value, types.ModuleType)}
                names |= {name for name in dir(found) if not name.startswith("__")} - imported
        return sorted(names)


@functools.cache
def _siblings() -> dict[str, str]:
    """{last part: module}: modules of TensorFlow's import each other, and programs take them from there."""
    return {key.rpartition(".")[2]: f"tensorflow.python.{key}" for key in PYTHON if key.startswith(("framework.", "ops."))}


_NOTHING = object()


def _find(place: str, name: str) -> Any:
    """What one place has under that name."""
    if place == "ops":
        return _generated(name)
    module, _, attribute = place.partition(":")
    if attribute:
        theirs, _, ours = attribute.partition("=")
        return getattr(_place(module), ours) if theirs == name else _NOTHING
    found = getattr(_place(module), name, _NOTHING)
    # A module that one of ours imports is not a name of TensorFlow's.
    return _NOTHING if module.startswith("tfexp.") and isinstance(found, types.ModuleType) else found


@functools.cache
def _place(name: str) -> Any:
    """A namespace or module; one that tfexp does not have yet is empty."""
    if name.partition(".")[0] != "tf":
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{name}.".startswith(f"{error.name}."):
                raise
            return types.ModuleType(name)
    found = importlib.import_module("tfexp")
    for part in name.split(".")[1:]:
        found = getattr(found, part, types.ModuleType(name))
    return found


# --- the generated functions -------------------------------------------------------------------------------------------


@functools.cache
def _op_names() -> dict[str, str]:
    """{generated name: op}. Names that Python or TensorFlow's own modules use have an underscore before them as well."""
    names = {generated_name(op): op for op in all_ops() if not op.startswith("_")}
    return {**{f"_{name}": op for name, op in names.items()}, **names}


def _generated(name: str) -> Any:
    if name in _op_names():
        return find_op(_op_names()[name])
    return getattr(raw_ops, name, _NOTHING)  # `MatMul` beside `mat_mul` takes keywords only


# The packages of `tensorflow.core`, which have nothing but messages.
_OF_MESSAGES = {
    *("", "debug", "example", "framework", "grappler", "grappler.costs", "kernels", "kernels.boosted_trees"),
    *("lib", "lib.core", "profiler", "protobuf", "protobuf.tpu", "util"),
}

# --- the whole -----------------------------------------------------------------------------------------------------------


@functools.cache
def stand_for(fullname: str) -> types.ModuleType | None:
    """What stands for `tensorflow.…`, a module outside of the public namespaces; None where nothing does.

    `tensorflow_estimator.python.…` are the modules below `tensorflow.python`.
    """
    if fullname.startswith("tensorflow_estimator."):
        return stand_for(fullname.replace("_estimator", "", 1))
    head, _, rest = fullname.removeprefix("tensorflow.").partition(".")
    below = fullname.removeprefix("tensorflow.")
    if place := OTHERS.get(below, CONTRIB.get(below)):
        return Stand(fullname, place)
    if any(known.startswith(f"{below}.") for known in OTHERS):
        return _package(fullname)
    if head == "python":
        if rest in PYTHON:
            same = PYTHON[rest].removeprefix("is ")
            return Stand(fullname, same) if same == PYTHON[rest] else _place(same)
        if re.fullmatch(r"(ops|training|framework)\.gen_\w+_ops", rest):
            return Stand(fullname, "ops")
        if rest == "" or any(known.startswith(f"{rest}.") for known in PYTHON):
            return Stand(fullname, "" if rest else "tf")
    if head == "contrib" and (found := re.fullmatch(r"(\w+)\.python(\.(?!.*\bnets\b).*)?", rest)):
        public = f"tf.contrib.{found[1]}"
        library = _place(public)
        named = (part for part in reversed(rest.split(".")[2:]) if isinstance(vars(library).get(part), types.ModuleType))
        if part := next(named, None):  # of it, a namespace of its own
            return Stand(fullname, f"{public}.{part} {public}")
        return Stand(fullname, public) if dir(library) else None
    if head == "core":
        last = rest.rpartition(".")[2]
        if last.endswith("_pb2"):
            return _messages(last)
        if rest in _OF_MESSAGES:
            return _package(fullname)
    return None


def _package(fullname: str) -> types.ModuleType:
    package = types.ModuleType(fullname)
    package.__path__ = []
    return package


def _messages(name: str) -> types.ModuleType | None:
    if name in MESSAGES:
        return Stand(f"tensorflow.core.{name}", MESSAGES[name])
    try:
        return importlib.import_module(f"tensorboard.compat.proto.{name}")
    except ModuleNotFoundError:
        return None
