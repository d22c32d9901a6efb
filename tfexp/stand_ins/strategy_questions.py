"""`tensorflow.python.distribute`: where strategies build, and where values are and go. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfexp.distribute.contexts import get_replica_context, get_strategy
from tfexp.distribute.cross_device import CrossDeviceOps, ReductionToOneDevice
from tfexp.distribute.devices import devices_of, whole
from tfexp.distribute.values import Mirrored, copies_of
from tfexp.graph.convert import IndexedSlices
from tfexp.graph.replica_modes import current_mode
from tfexp.graph.tensor import Tensor
from tfexp.ops.variable_base import Variable
from tfexp.runtime import eager
from tfexp.stand_ins.devices import local_devices_from_num_gpus


def get_update_device() -> str | None:
    """The device of the copy whose update is being built; None elsewhere."""
    mode = current_mode()
    if mode is None or mode.updating is None:
        return None
    device: str = mode.strategy.extended._replica_device(mode.updating)
    return device


def get_strategy_and_replica_context() -> tuple[Any, Any]:
    """What `get_strategy` and `get_replica_context` answer."""
    return get_strategy(), get_replica_context()


def all_local_devices(num_gpus: int | None = None) -> tuple[str, ...]:
    """The names of this machine's GPUs, or of so many; of its CPU where there are none."""
    return local_devices_from_num_gpus(eager.num_gpus() if num_gpus is None else num_gpus)


def get_devices_from(destinations: Any) -> tuple[str, ...]:
    """The whole names of the devices of a value, or of one device."""
    return tuple(whole(place) for place in devices_of(destinations))


def check_destinations(destinations: Any) -> bool:
    """Whether there is any device among the destinations; what is not empty or a tensor counts as one."""
    if isinstance(destinations, Variable | Tensor):
        return bool(destinations.device)
    return bool(destinations) if copies_of(destinations) is None else True


def validate_destinations(destinations: Any) -> None:
    """ValueError for what names no device: only values of devices and one device's name do."""
    known = isinstance(destinations, str | Tensor | Variable) or copies_of(destinations) is not None
    if not known or isinstance(destinations, IndexedSlices):
        raise ValueError(
            "destinations must be one of a `DistributedValues` object, a tf.Variable object, or a device string."
        )
    if not check_destinations(destinations):
        raise ValueError("destinations can not be empty")


def simple_broadcast(value: Any, destinations: Any, always_mirrored: bool = False) -> Any:
    """A copy of the tensor on each device; of one, the copy itself, but where `always_mirrored`."""
    copies = CrossDeviceOps().broadcast(value, get_devices_from(destinations))
    return Mirrored([copies]) if always_mirrored and not isinstance(copies, Mirrored) else copies


def choose_the_best(devices: Sequence[str], session_config: Any = None) -> CrossDeviceOps:
    """What reduces values of these devices: there is one algorithm."""
    return ReductionToOneDevice()
