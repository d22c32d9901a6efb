"""The devices that JAX sees, and which of them a device of a session is."""

from __future__ import annotations

from typing import Any

import jax

from tfexp.core.device import DeviceName


def gpus() -> list[Any]:
    """JAX's devices that are GPUs, in its order; those of other platforms than the CPU where it is neither (TPUs)."""
    return [device for device in jax.devices() if device.platform != "cpu"]


def device_of(name: str) -> Any:
    """JAX's device for a device of this process: of `/gpu:N` the N-th that it sees, of any other the CPU."""
    wanted = DeviceName.parse(name)
    found = gpus() if wanted.device_type == "GPU" else []
    number = wanted.device_index or 0
    return found[number] if number < len(found) else jax.devices("cpu")[0]
