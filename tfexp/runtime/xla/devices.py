"""The devices that JAX sees, and which of them a device of a session is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax

from tfexp.core.device import DeviceName


def gpus() -> list[Any]:
    """JAX's devices that are GPUs, in its order; those of other platforms than the CPU where it is neither (TPUs)."""
    return [device for device in jax.devices() if device.platform != "cpu"]


def device_of(name: str, visible: Sequence[int] = ()) -> Any:
    """JAX's device for a device of this process: for `/gpu:N` its GPU number `visible[N]`, for any other the CPU."""
    wanted = DeviceName.parse(name)
    number = wanted.device_index or 0
    if wanted.device_type == "GPU" and number < len(visible):
        return gpus()[visible[number]]
    return jax.devices("cpu")[0]
