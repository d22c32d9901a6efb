"""`tf.flags`: absl's flags, whose DEFINE functions also take the argument names of TensorFlow's older ones."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import absl.logging
from absl.flags import *  # noqa: F403
from absl.flags import FLAGS as _FLAGS
from absl.flags import DEFINE_bool as _define_bool
from absl.flags import DEFINE_float as _define_float
from absl.flags import DEFINE_integer as _define_integer
from absl.flags import DEFINE_string as _define_string
from absl.flags import FlagValues as _FlagValues
from absl.flags import disclaim_key_flags as _disclaim_key_flags

_OLD_NAMES = {"flag_name": "name", "default_value": "default", "docstring": "help"}


def _taking_old_names(define: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(define)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return define(*args, **{_OLD_NAMES.get(key, key): value for key, value in kwargs.items()})

    return wrapper


# What is defined through the functions below belongs to their callers.
_disclaim_key_flags()

DEFINE_bool = DEFINE_boolean = _taking_old_names(_define_bool)
DEFINE_float = _taking_old_names(_define_float)
DEFINE_integer = _taking_old_names(_define_integer)
DEFINE_string = _taking_old_names(_define_string)


class _ParsedWhenUsed(_FlagValues):
    """absl's own flags; the first that is asked for has the command line parsed, unless `tf.app.run` did so before."""

    def __init__(self) -> None:
        object.__setattr__(self, "__dict__", vars(_FLAGS))

    def __getattr__(self, name: str) -> Any:
        if not self.is_parsed():
            self(sys.argv)
        return super().__getattr__(name)


FLAGS = _ParsedWhenUsed()

# Programs of TensorFlow 1 define flags, such as `log_dir`, that absl.logging has since taken for itself.
for _flag in _FLAGS.flags_by_module_dict().get(absl.logging.__name__, ()):
    _flag.allow_override = True
