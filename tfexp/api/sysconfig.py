"""`tf.sysconfig`: where the package is. What compiles ops against TensorFlow's library is refused: there is none here."""

from __future__ import annotations

import os
from typing import NoReturn

from tfexp.core.gone import missing_from
from tfexp.ops.libraries import INSTEAD

CXX11_ABI_FLAG = MONOLITHIC_BUILD = 0  # of 1.15.0's packages


def get_lib() -> str:
    """The folder of the package."""
    return os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def get_include() -> NoReturn:
    """NotImplementedError: there are no headers."""
    raise NotImplementedError(_REASON)


def get_compile_flags() -> NoReturn:
    """NotImplementedError: there is nothing to compile against."""
    raise NotImplementedError(_REASON)


def get_link_flags() -> NoReturn:
    """NotImplementedError: there is no library to link with."""
    raise NotImplementedError(_REASON)


_REASON = f"tfexp has neither headers nor a library in C++, so ops cannot be compiled for it; {INSTEAD}"

__getattr__ = missing_from("tf.sysconfig")
