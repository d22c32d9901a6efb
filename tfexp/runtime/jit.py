"""What a session compiles with XLA: what its ConfigProto says, what the graph marks, and what is on a GPU.

Nothing of JAX is imported before a step has something to compile.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Collection
from typing import Any

from tensorboard.compat.proto import config_pb2

from tfexp.core.errors import UnimplementedError
from tfexp.plan.segment import Jit, Segment


def jit_of(config: config_pb2.ConfigProto, gpus: Collection[str] = ()) -> Jit:
    """How a session with this config compiles; `gpus`: the names of its devices that are GPUs of JAX's.

    UnimplementedError when it asks for that (`global_jit_level`) and JAX is not installed.
    """
    everywhere = config.graph_options.optimizer_options.global_jit_level > 0
    if everywhere:
        check_installed("global_jit_level")
    return Jit(_compile, everywhere, frozenset(gpus))


def check_installed(who: str) -> None:
    """UnimplementedError, naming who asks, when JAX is not installed."""
    if importlib.util.find_spec("jax") is None:
        raise UnimplementedError(None, None, f"{who}: compiling needs JAX, which is not installed: pip install 'tfexp[xla]'")


def _compile(segment: Segment) -> Callable[..., tuple[Any, ...]]:
    check_installed(f"Node {segment.name}, which its graph marks for XLA")
    from tfexp.runtime.xla.compiler import CompiledSegment

    return CompiledSegment(segment)
