"""`tf.test.Benchmark`: classes whose `benchmark…` methods measure steps and report. Source: TF 1.15."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from tensorboard.compat.proto import config_pb2

from tfexp.graph.defaults import get_default_session

_WANTED = "--benchmarks"
_registered: list[type[Benchmark]] = []


def benchmark_config() -> config_pb2.ConfigProto:
    """A session configuration for measuring."""
    return config_pb2.ConfigProto()


class Benchmark:
    """Subclasses' methods called `benchmark…` are run by `tf.test.main` with `--benchmarks=pattern`."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        _registered.append(cls)

    @classmethod
    def is_abstract(cls) -> bool:
        return not any(name.startswith("benchmark") for name in dir(cls))

    def _get_name(self, overwrite_name: str | None = None) -> str:
        """`Class.name`, where the name is the given one or that of the running `benchmark…` method."""
        name = overwrite_name
        frame: Any = sys._getframe(1)
        while name is None and frame is not None:
            if frame.f_locals.get("self") is self and frame.f_code.co_name.startswith("benchmark"):
                name = frame.f_code.co_name
            frame = frame.f_back
        if name is None:
            raise ValueError("Unable to determine calling Benchmark function.")
        return f"{type(self).__name__}.{name}"

    def report_benchmark(
        self,
        iters: int | None = None,
        cpu_time: float | None = None,
        wall_time: float | None = None,
        throughput: float | None = None,
        extras: dict[str, Any] | None = None,
        name: str | None = None,
        metrics: Sequence[Mapping[str, Any]] | None = None,
    ) -> None:
        """Print one result; times in seconds, throughput in MB a second; `metrics` have a `name` and a `value`."""
        for key, value in (extras or {}).items():
            if not isinstance(value, (int, float, str, np.number)):
                raise TypeError(f"extras[{key!r}] must be a number or a string, got {value!r}")
        figures = {"iters": iters, "wall_time": wall_time, "cpu_time": cpu_time, "throughput": throughput, **(extras or {})}
        figures |= {metric["name"]: metric["value"] for metric in metrics or ()}
        said = ", ".join(f"{key}: {value}" for key, value in figures.items() if value is not None)
        print(f"{self._get_name(name)}: {said}")

    def run_op_benchmark(
        self,
        sess: Any,
        op_or_tensor: Any,
        feed_dict: Any = None,
        burn_iters: int = 2,
        min_iters: int = 10,
        store_trace: bool = False,
        store_memory_usage: bool = True,
        name: str | None = None,
        extras: dict[str, Any] | None = None,
        mbs: float = 0,
    ) -> dict[str, Any]:
        """Run an op `min_iters` times after `burn_iters` uncounted runs, report the median, and return what is reported."""
        for _ in range(burn_iters):
            sess.run(op_or_tensor, feed_dict=feed_dict)
        times = np.zeros(min_iters)
        for i in range(min_iters):
            began = time.perf_counter()
            sess.run(op_or_tensor, feed_dict=feed_dict)
            times[i] = time.perf_counter() - began
        median = float(np.median(times)) if min_iters else -1.0
        more = {
            **(extras or {}),
            "wall_time_mean": float(times.mean()) if min_iters else -1.0,
            "wall_time_stdev": float(times.std()) if min_iters else -1.0,
        }
        throughput = mbs / median if mbs and median > 0 else None
        self.report_benchmark(iters=min_iters, wall_time=median, throughput=throughput, extras=more, name=name)
        return {"iters": min_iters, "wall_time": median, "throughput": throughput or 0.0, "extras": more}

    def evaluate(self, tensors: Any) -> Any:
        """The values of tensors in the default session."""
        session = get_default_session()
        if session is None:
            raise ValueError("Benchmark.evaluate needs a default session")
        return session.run(tensors)


TensorFlowBenchmark = Benchmark


def run_benchmarks(pattern: str) -> None:
    """Run the `benchmark…` methods of all subclasses whose `Class.method` matches the pattern; `all` and `.` match all."""
    matches = re.compile("" if pattern in ("all", ".") else pattern).search
    for cls in _registered:
        for name in dir(cls):
            if name.startswith("benchmark") and matches(f"{cls.__name__}.{name}"):
                getattr(cls(), name)()


def wanted_benchmarks(argv: list[str]) -> str | None:
    """The pattern of a `--benchmarks=pattern` among the arguments, which is taken out of them."""
    for argument in argv[1:]:
        if argument.startswith(f"{_WANTED}="):
            argv.remove(argument)
            return argument.partition("=")[2]
    return None
