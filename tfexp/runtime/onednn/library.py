"""oneDNN's C library (version 3, `libdnnl.so.3`), called through ctypes on NumPy's memory: the one file that knows it.

It comes with the extra `onednn` (the PyPI package `onednn-cpu-gomp`). Primitives run in the thread that calls them: the
intra-op threads (`core.workers`) share the work out, and OpenMP's own threads would get in their way.

Source: the C API of oneDNN 3, https://oneapi-src.github.io/oneDNN/.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.metadata
import threading
import weakref
from collections.abc import Mapping, Sequence
from ctypes import Structure, byref, c_char_p, c_float, c_int, c_int64, c_size_t, c_void_p
from typing import Any

import numpy as np

from tfexp.core.errors import InternalError
from tfexp.core.workers import scratch

DISTRIBUTION = "onednn-cpu-gomp"
_FILE = "libdnnl.so.3"

_CPU, _IN_ORDER, _FLOAT32, _ANY_LAYOUT, _USER_SCRATCHPAD = 1, 1, 3, 1, 1
TRAINING, INFERENCE, DIRECT = 64, 96, 1  # what a forward primitive is for, and how a convolution is computed
_RELU = 0x20
_UNIMPLEMENTED = 3
_IMPLEMENTATION, _LAYOUT = 8, 255  # what can be asked of a primitive's description


class Arg:
    """The arrays that primitives read and write: plain numbers, since an enum's members take long to look up."""

    SRC = 1
    DST = 17
    WEIGHTS = 33
    BIAS = 41
    WORKSPACE = 64
    SCRATCHPAD = 80
    DIFF_SRC = 129
    DIFF_DST = 145
    DIFF_WEIGHTS = 161


class LacksError(Exception):
    """oneDNN has nothing for this, or nothing that is quick."""


class _ExecArg(Structure):
    _fields_ = [("arg", c_int), ("memory", c_void_p)]  # ctypes wants a list


@functools.cache
def installed_file() -> str | None:
    """The library's path, or None where the package is not installed."""
    try:
        files = importlib.metadata.files(DISTRIBUTION) or []
    except importlib.metadata.PackageNotFoundError:
        return None
    return next((str(file.locate()) for file in files if file.name == _FILE), None)


class Layout:
    """How a float32 array lies in memory: oneDNN's order of dimensions, and strides in elements (None: it may choose)."""

    def __init__(self, dims: Sequence[int], strides: Sequence[int] | None):
        handle = c_void_p()
        if strides is None:
            _check("dnnl_memory_desc_create_with_tag", byref(handle), len(dims), ints(dims), _FLOAT32, _ANY_LAYOUT)
        else:
            _check("dnnl_memory_desc_create_with_strides", byref(handle), len(dims), ints(dims), _FLOAT32, ints(strides))
        self.handle = handle
        _destroy_with(self, "dnnl_memory_desc_destroy", handle)


class Primitive:
    """Something to compute, ready to run, by several threads at once."""

    def __init__(self, create: str, *arguments: Any, hint: Primitive | None = None, relu: bool = False):
        """`create`: the function that makes its description, called with the arguments, `hint`'s description and attributes.

        `relu`: what is below 0 or NaN becomes 0 at the end.
        LacksError if there is none, or only the reference code.
        """
        self._description, self._primitive = c_void_p(), c_void_p()
        middle = () if hint is None else (hint._description,)
        given = [a.handle if isinstance(a, Layout) else a for a in arguments]
        engine = () if create == _REORDER else (_library().engine,)
        with _OneThread():  # how many threads are to share the work is decided here
            _check(create, byref(self._description), *engine, *given, *middle, _library().attributes[relu])
        _destroy_with(self, "dnnl_primitive_desc_destroy", self._description)
        name = c_char_p()
        _check("dnnl_primitive_desc_query", self._description, _IMPLEMENTATION, 0, byref(name))
        self.implementation = (name.value or b"").decode()
        if self.implementation.startswith("ref"):
            raise LacksError(f"{create}: {self.implementation}")
        with _OneThread():
            _check("dnnl_primitive_create", byref(self._primitive), self._description)
        _destroy_with(self, "dnnl_primitive_destroy", self._primitive)
        self._layouts: dict[int, Any] = {}
        self._arguments = _Arguments()
        self._has_scratchpad = self.size_of(Arg.SCRATCHPAD) > 0

    def layout_of(self, arg: int) -> Any:
        """A handle that lives as long as the primitive."""
        if arg not in self._layouts:
            self._layouts[arg] = c_void_p(_library().quick.dnnl_primitive_desc_query_md(self._description, _LAYOUT, arg))
        return self._layouts[arg]

    def memory_for(self, arg: int) -> np.ndarray:
        """The calling thread's own memory, of the size of this array."""
        return scratch(f"onednn {arg}", (self.size_of(arg),), np.uint8)

    def size_of(self, arg: int) -> int:
        """Of this array, in bytes."""
        size: int = _library().quick.dnnl_memory_desc_get_size(self.layout_of(arg))
        return size

    def run(self, arrays: Mapping[int, np.ndarray]) -> None:
        """Compute, from and to the memory of these arrays, whose layouts are those of `layout_of`."""
        given = {**arrays, Arg.SCRATCHPAD: self.memory_for(Arg.SCRATCHPAD)} if self._has_scratchpad else arrays
        library, names = _library(), tuple(given)
        if names not in self._arguments.of:
            memories = [_Memory(self.layout_of(arg)) for arg in names]
            pairs = [_ExecArg(arg, memory.handle) for arg, memory in zip(names, memories, strict=True)]
            self._arguments.of[names] = (_ExecArg * len(names))(*pairs), memories
        arguments, memories = self._arguments.of[names]
        for memory, array in zip(memories, given.values(), strict=True):
            _called(library.quick, "dnnl_memory_set_data_handle", memory.handle, array.ctypes.data)
        with _OneThread():
            _check("dnnl_primitive_execute", self._primitive, library.stream(), len(names), arguments)


class _Memory:
    """An array as primitives take it, wherever it is."""

    def __init__(self, layout: c_void_p):
        self.handle = c_void_p()
        _check("dnnl_memory_create", byref(self.handle), layout, _library().engine, None)
        _destroy_with(self, "dnnl_memory_destroy", self.handle)


class _Arguments(threading.local):
    """Those of a primitive, in one thread, by their names: they take longer to make than to use."""

    def __init__(self) -> None:
        self.of: dict[tuple[int, ...], tuple[Any, list[_Memory]]] = {}


_REORDER = "dnnl_reorder_primitive_desc_create"


class Reorder(Primitive):
    """A copy from one layout to another, from SRC to DST."""

    def __init__(self, source: Layout | c_void_p, target: Layout | c_void_p):
        """Handles have to live as long as this does."""
        engine = _library().engine
        super().__init__(_REORDER, source, engine, target, engine)
        self._kept = source, target
        self._layouts |= {arg: getattr(a, "handle", a) for arg, a in ((Arg.SRC, source), (Arg.DST, target))}

    def copy(self, source: np.ndarray, target: np.ndarray) -> None:
        self.run({Arg.SRC: source, Arg.DST: target})


def ints(values: Sequence[int]) -> Any:
    """As the library takes dimensions."""
    return (c_int64 * len(values))(*values)


class _Library:
    """The loaded library, an engine for the processor, and the attributes of primitives: without and with a Relu."""

    def __init__(self, path: str):
        self.dll = ctypes.CDLL(path)
        # These take nanoseconds, too little to let go of the interpreter's lock.
        self.quick = ctypes.PyDLL(path)
        self.quick.dnnl_primitive_desc_query_md.restype = c_void_p
        self.quick.dnnl_primitive_desc_query_md.argtypes = [c_void_p, c_int, c_int]
        self.quick.dnnl_memory_desc_get_size.restype = c_size_t
        self.quick.dnnl_memory_desc_get_size.argtypes = [c_void_p]
        self.quick.dnnl_memory_set_data_handle.argtypes = [c_void_p, c_void_p]
        self.engine = c_void_p()
        self._streams = threading.local()
        _called(self.dll, "dnnl_engine_create", byref(self.engine), _CPU, c_size_t(0))
        self.attributes = self._new_attributes(), self._new_attributes()
        relu = c_void_p()
        _called(self.dll, "dnnl_post_ops_create", byref(relu))
        _called(self.dll, "dnnl_post_ops_append_eltwise", relu, _RELU, c_float(0), c_float(0))
        _called(self.dll, "dnnl_primitive_attr_set_post_ops", self.attributes[True], relu)

    def _new_attributes(self) -> c_void_p:
        attributes = c_void_p()
        _called(self.dll, "dnnl_primitive_attr_create", byref(attributes))
        _called(self.dll, "dnnl_primitive_attr_set_scratchpad_mode", attributes, _USER_SCRATCHPAD)
        return attributes

    def stream(self) -> c_void_p:
        """The calling thread's own."""
        if not hasattr(self._streams, "handle"):
            handle = c_void_p()
            _called(self.dll, "dnnl_stream_create", byref(handle), self.engine, _IN_ORDER)
            self._streams.handle = handle
        stream: c_void_p = self._streams.handle
        return stream


@functools.cache
def _library() -> _Library:
    path = installed_file()
    if path is None:
        raise OSError(f"The package {DISTRIBUTION} is not installed")
    return _Library(path)


def load() -> None:
    """Make sure that the library can be used here. OSError if not, which says what is missing."""
    _library()


def _check(function: str, *arguments: Any) -> None:
    _called(_library().dll, function, *arguments)


def _called(dll: ctypes.CDLL, function: str, *arguments: Any) -> None:
    status = getattr(dll, function)(*arguments)
    if status == _UNIMPLEMENTED:
        raise LacksError(function)
    if status:
        raise InternalError(None, None, f"oneDNN: {function} failed with status {status}")


class _OneThread:
    """A block in which the library computes in the calling thread alone."""

    __slots__ = ("_before",)

    def __enter__(self) -> None:
        quick = _library().quick
        self._before = quick.omp_get_max_threads()
        quick.omp_set_num_threads(1)

    def __exit__(self, *error: object) -> None:
        _library().quick.omp_set_num_threads(self._before)


def _destroy_with(owner: object, function: str, handle: c_void_p) -> None:
    weakref.finalize(owner, getattr(_library().dll, function), handle).atexit = False
