"""Libraries that compute a session's nodes where they are quicker than NumPy, if its ConfigProto names them.

A library is asked for by a custom optimizer of its name (`graph_options.rewrite_options`). What it has no code for is
computed by NumPy, and without it everything is: the results are the same but for rounding.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from tensorboard.compat.proto import config_pb2

from tfexp.core.errors import UnimplementedError
from tfexp.plan.rewriters import rewriter_of, with_rewriter
from tfexp.runtime.jit import NUMBA, check_numba

ONEDNN = "onednn"
"""The custom optimizer of a ConfigProto that lets oneDNN compute, and what the ops' rules for it are registered under."""


def with_onednn(config: config_pb2.ConfigProto | None = None) -> config_pb2.ConfigProto:
    """A copy of the ConfigProto, with which oneDNN computes convolutions, pooling and products of matrices."""
    return with_rewriter(config, ONEDNN)


def libraries_of(config: config_pb2.ConfigProto) -> Mapping[str, Any]:
    """What computes beside NumPy, by name, first choice first; UnimplementedError when what is asked for cannot be used."""
    libraries: dict[str, Any] = {}
    if rewriter_of(config, ONEDNN) is not None:
        why = lacks_onednn()
        if why is not None:
            raise UnimplementedError(None, None, f"The custom optimizer {ONEDNN!r}: {why}")
        from tfexp.runtime.onednn import kernels as onednn

        libraries[ONEDNN] = onednn
    if rewriter_of(config, NUMBA) is not None:
        check_numba()
        from tfexp.runtime.numba import kernels as numba

        libraries[NUMBA] = numba
    return MappingProxyType(libraries)


@functools.cache
def lacks_onednn() -> str | None:
    """Why oneDNN cannot be used here, and what to do about it; None where it can."""
    from tfexp.runtime.onednn import library

    if library.installed_file() is None:
        return "oneDNN is not installed: pip install 'tfexp[onednn]'"
    try:
        library.load()
    except OSError as error:
        return f"oneDNN cannot be loaded: {error}"  # without OpenMP's library, or for another processor
    return None
