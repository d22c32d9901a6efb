"""The GPUs that JAX sees: how many, which one is `/gpu:N`, and how much of their memory it takes.

JAX is imported only where a plugin of its for GPUs is installed (`pip install 'jax[cuda12]'`), when the first session opens.
Where there is none, GPUs are virtual (`runtime.device_list`).
"""

from __future__ import annotations

import functools
import importlib.util
import os
import pkgutil
import sys

from tensorboard.compat.proto import config_pb2


@functools.cache
def has_plugin() -> bool:
    """Whether something is installed through which JAX could see a GPU."""
    found = importlib.util.find_spec("jax_plugins")
    if found is None or importlib.util.find_spec("jax") is None:
        return False
    return any(module.name.startswith("xla_") for module in pkgutil.iter_modules(found.submodule_search_locations))


def real_gpus(config: config_pb2.ConfigProto | None) -> int:
    """How many GPUs there are. The first call settles how their memory is taken (`gpu_options`)."""
    if not has_plugin():
        return 0
    if config is not None and "jax" not in sys.modules:
        os.environ.update(memory_settings(config.gpu_options))
    from tfexp.runtime.xla.devices import gpus

    return len(gpus())


def memory_settings(options: config_pb2.GPUOptions) -> dict[str, str]:
    """JAX's environment for these options; what the environment says already stands."""
    wanted: dict[str, str] = {}
    if options.per_process_gpu_memory_fraction:
        wanted["XLA_PYTHON_CLIENT_MEM_FRACTION"] = f"{options.per_process_gpu_memory_fraction:g}"
    if options.allow_growth:
        wanted["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
    return {name: value for name, value in wanted.items() if name not in os.environ}


def visible_order(config: config_pb2.ConfigProto | None, count: int) -> tuple[int, ...]:
    """JAX's number of each GPU of a session: `gpu_options.visible_device_list`, or all in order."""
    listed = "" if config is None else config.gpu_options.visible_device_list
    return tuple(int(number) for number in listed.split(",")) if listed else tuple(range(count))
