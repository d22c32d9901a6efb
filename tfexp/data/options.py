"""`tf.data.Options`: how a data set may be run. What is set is kept, and stands in the graph; no result depends on it.

A group of options knows its names, their types and what they are where they are not set: None for most. Source: TF 1.15.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar

from tfexp.data.statistics import StatsAggregator
from tfexp.formats.varint import encode_varint


class AutoShardPolicy(enum.IntEnum):
    """How a data set is divided among workers. TF: `AutoShardPolicy`."""

    OFF = -1
    AUTO = 0
    FILE = 1
    DATA = 2
    HINT = 3


class _Options:
    """A group of options. AttributeError for a name it does not have, TypeError for a value of another type."""

    _types: ClassVar[dict[str, type | tuple[type, ...]]] = {}
    # What they are before they are set, where that is not None.
    _defaults: ClassVar[dict[str, Any]] = {}
    # The fields of TensorFlow's message that hold them; others are not written.
    _fields: ClassVar[dict[str, int]] = {}

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    def __init__(self) -> None:
        for name, kind in self._types.items():
            is_group = isinstance(kind, type) and issubclass(kind, _Options)
            self.__dict__[name] = kind() if is_group else self._defaults.get(name)  # type: ignore[operator]

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._types:
            raise AttributeError(f"Cannot set the property {name} on {type(self).__name__}.")
        kind = self._types[name]
        if value is not None and not isinstance(value, kind):
            raise TypeError(f'Property "{name}" must be of type {kind}, got: {value!r} (type: {type(value)})')
        self.__dict__[name] = value

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        given = {name: value for name, value in self.__dict__.items() if value is not None}
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in given.items())})"

    def updated(self, other: Any) -> Any:
        """A copy with what `other` sets as well; ValueError where both set something, and not the same."""
        result = type(self)()
        for name, value in self.__dict__.items():
            another, unset = getattr(other, name), self._defaults.get(name)
            if isinstance(value, _Options):
                result.__dict__[name] = value.updated(another)
            elif value != unset and another != unset and value != another:
                raise ValueError(f"Cannot merge incompatible values ({value!r} and {another!r}) of option: {name}")
            else:
                result.__dict__[name] = value if another == unset else another
        return result

    def serialized(self) -> bytes:
        """TensorFlow's message of these options."""
        parts = []
        for name, number in sorted(self._fields.items(), key=lambda item: item[1]):
            value = getattr(self, name)
            if isinstance(value, _Options):
                inner = value.serialized()
                parts.append(encode_varint(number << 3 | 2) + encode_varint(len(inner)) + inner)
            elif value is not None and not (value == 0 and isinstance(value, AutoShardPolicy)):
                parts.append(encode_varint(number << 3) + encode_varint(int(value) % (1 << 64)))
        return b"".join(parts)


class MapVectorizationOptions(_Options):
    """`tf.data.experimental.MapVectorizationOptions`."""

    _types: ClassVar = {"enabled": bool, "use_choose_fastest": bool}


class OptimizationOptions(_Options):
    """`tf.data.experimental.OptimizationOptions`."""

    _types: ClassVar = {
        "apply_default_optimizations": bool,
        "autotune": bool,
        "autotune_algorithm": (int, enum.Enum),
        "autotune_buffers": bool,
        "autotune_cpu_budget": int,
        "filter_fusion": bool,
        "filter_parallelization": bool,
        "filter_with_random_uniform_fusion": bool,
        "hoist_random_uniform": bool,
        "map_and_batch_fusion": bool,
        "map_and_filter_fusion": bool,
        "map_fusion": bool,
        "map_parallelization": bool,
        "map_vectorization": MapVectorizationOptions,
        "noop_elimination": bool,
        "parallel_batch": bool,
        "shuffle_and_repeat_fusion": bool,
    }
    _fields: ClassVar = {
        "apply_default_optimizations": 1,
        "filter_fusion": 6,
        "map_and_batch_fusion": 9,
        "map_and_filter_fusion": 10,
        "map_fusion": 11,
        "map_parallelization": 12,
        "noop_elimination": 14,
        "parallel_batch": 15,
        "shuffle_and_repeat_fusion": 17,
        "filter_parallelization": 18,
    }


class ThreadingOptions(_Options):
    """`tf.data.experimental.ThreadingOptions`."""

    _types: ClassVar = {"max_intra_op_parallelism": int, "private_threadpool_size": int}
    _fields: ClassVar = {"max_intra_op_parallelism": 1, "private_threadpool_size": 2}


class DistributeOptions(_Options):
    """`tf.data.experimental.DistributeOptions`."""

    _types: ClassVar = {"auto_shard": bool, "auto_shard_policy": AutoShardPolicy, "num_devices": int}
    _defaults: ClassVar = {"auto_shard": True}
    _fields: ClassVar = {"auto_shard_policy": 1, "num_devices": 2}


class StatsOptions(_Options):
    """`tf.data.experimental.StatsOptions`."""

    _types: ClassVar = {"aggregator": StatsAggregator, "prefix": str, "counter_prefix": str, "latency_all_edges": bool}
    _defaults: ClassVar = {"prefix": "", "counter_prefix": ""}


# The rewritings that an option of their name switches on, and those of them that need none.
_REWRITINGS = (
    *("filter_fusion", "filter_with_random_uniform_fusion", "hoist_random_uniform", "map_and_batch_fusion"),
    *("map_and_filter_fusion", "map_parallelization", "map_fusion", "noop_elimination", "parallel_batch"),
    "shuffle_and_repeat_fusion",
)
_BY_DEFAULT = frozenset({"map_and_batch_fusion", "noop_elimination", "shuffle_and_repeat_fusion"})


class _NoOptions(_Options):
    """A message that TensorFlow always writes, empty."""


class Options(_Options):
    """`tf.data.Options`; `with_options` gives it to a data set."""

    _types: ClassVar = {
        "experimental_deterministic": bool,
        "experimental_distribute": DistributeOptions,
        "experimental_external_state_policy": (int, enum.Enum),
        "experimental_optimization": OptimizationOptions,
        "experimental_slack": bool,
        "experimental_stateful_whitelist": list,
        "experimental_stats": StatsOptions,
        "experimental_threading": ThreadingOptions,
        "_autotune": _NoOptions,
        "_service": _NoOptions,
    }
    _fields: ClassVar = {
        "experimental_deterministic": 1,
        "experimental_distribute": 2,
        "experimental_optimization": 3,
        "experimental_slack": 4,
        "experimental_threading": 5,
        "_autotune": 7,
        "_service": 12,
    }

    def _static_optimizations(self) -> list[str]:
        """The names of the rewritings that these options ask for; none of them changes what comes out."""
        wanted = self.experimental_optimization
        by_default = wanted.apply_default_optimizations is not False
        switched = {name: getattr(wanted, name) for name in _REWRITINGS}
        asked = [name for name, on in switched.items() if on or (on is None and by_default and name in _BY_DEFAULT)]
        further = {
            "inject_prefetch": wanted.autotune_buffers and wanted.autotune is not False,
            "map_vectorization": wanted.map_vectorization.enabled,
            "latency_all_edges": self.experimental_stats.latency_all_edges,
            "slack": self.experimental_slack,
            "make_sloppy": self.experimental_deterministic is False,
        }
        return asked + [name for name, on in further.items() if on]

    def _static_optimization_configs(self) -> list[str]:
        """What else those are to know: `rewriting:setting:value`."""
        fastest = bool(self.experimental_optimization.map_vectorization.use_choose_fastest)
        slack = [f"slack:slack_period:{self.experimental_distribute.num_devices or 1}"] if self.experimental_slack else []
        return [f"map_vectorization:use_choose_fastest:{str(fastest).lower()}", *slack]

    def merge(self, options: Options) -> Options:
        """These options and those that `options` sets; ValueError where the two set something, and not the same.

        TypeError for what is no options.
        """
        if not isinstance(options, Options):
            raise TypeError(f"Incompatible options type: {type(options)} vs {type(self)}")
        merged: Options = self.updated(options)
        return merged


def merged(given: Iterable[Options]) -> Options:
    """All of these; ValueError where two set something, and not the same."""
    result = Options()
    for options in given:
        result = result.merge(options)
    return result
