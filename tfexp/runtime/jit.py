"""What a session compiles, and by what: with XLA what its ConfigProto says, what the graph marks, and what is on a GPU; with
Numba the loops of element-wise nodes and of optimizers' updates, if its ConfigProto names that optimizer (`with_numba`).

Nothing of JAX or Numba is imported before a step has something to compile.
"""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

from tensorboard.compat.proto import config_pb2

from tfexp.core.device import DeviceName
from tfexp.core.errors import UnimplementedError
from tfexp.plan.rewriters import rewriter_of, with_rewriter
from tfexp.plan.segment import Jit, Segment
from tfexp.runtime.device_list import is_virtual
from tfexp.runtime.gpus import visible_order

if TYPE_CHECKING:
    from tfexp.plan.compiled_loops import Compiler, Loop
    from tfexp.plan.loop_source import LoopSource

NUMBA = "numba"
"""The custom optimizer of a ConfigProto whose name says that Numba compiles loops."""


def jit_of(config: config_pb2.ConfigProto, devices: Collection[str] = ()) -> Jit:
    """How a session with this config and these devices compiles: all that is on GPUs of JAX's, and what it asks for.

    UnimplementedError when it asks for that (`global_jit_level`) and JAX is not installed.
    """
    everywhere = config.graph_options.optimizer_options.global_jit_level > 0
    if everywhere:
        check_installed("global_jit_level")
    gpus = [name for name in devices if DeviceName.parse(name).device_type == "GPU" and not is_virtual(name)]
    return Jit(functools.partial(_compile, visible_order(config, len(gpus))), everywhere, frozenset(gpus))


def can_compile() -> bool:
    """Whether JAX is installed."""
    return importlib.util.find_spec("jax") is not None


def check_installed(who: str) -> None:
    """UnimplementedError, naming who asks, when JAX is not installed."""
    if not can_compile():
        raise UnimplementedError(None, None, f"{who}: compiling needs JAX, which is not installed: pip install 'tfexp[xla]'")


def _compile(gpus: tuple[int, ...], segment: Segment) -> Callable[..., tuple[Any, ...]]:
    check_installed(f"Node {segment.name}, which its graph marks for XLA")
    from tfexp.runtime.xla.compiler import CompiledSegment

    return CompiledSegment(segment, gpus)


# --- loops -------------------------------------------------------------------------------------------------------------


def with_numba(config: config_pb2.ConfigProto | None = None) -> config_pb2.ConfigProto:
    """A copy of the ConfigProto, with which Numba compiles the loops of element-wise nodes and of optimizers' updates."""
    return with_rewriter(config, NUMBA)


def loop_compiler_of(config: config_pb2.ConfigProto) -> Compiler | None:
    """What compiles a session's loops, if anything does; UnimplementedError when that is Numba, and it is not installed."""
    if rewriter_of(config, NUMBA) is None:
        return None
    check_numba()
    return _compile_loop


def check_numba() -> None:
    """UnimplementedError when Numba is not installed."""
    if not has_numba():
        raise UnimplementedError(
            None, None, f"The custom optimizer {NUMBA!r} needs Numba, which is not installed: pip install 'tfexp[jit]'"
        )


def has_numba() -> bool:
    """Whether Numba is installed."""
    return importlib.util.find_spec("numba") is not None


def _compile_loop(name: str, source: LoopSource) -> Loop:
    from tfexp.runtime.numba.compiler import compiled_loop

    return compiled_loop(name, source)
