"""What the devices of servers are called within a session that brings a cluster of its own."""

from __future__ import annotations

from dataclasses import replace

from tensorboard.compat.proto import config_pb2

from tfexp.core.errors import UnavailableError
from tfexp.distributed import messages as m
from tfexp.plan.stages import task_of


def incarnation_within(session: str, incarnation: int) -> int:
    """Of a server's device within the session: master and worker come to the same, and no two sessions do."""
    return ((incarnation ^ int(session, 16)) & ((1 << 63) - 1)) | 1


def shares_state(config: config_pb2.ConfigProto) -> bool:
    """Whether a session that brings a cluster has the variables of the servers: as a rule it has its own."""
    return config.experimental.share_session_state_in_clusterspec_propagation and not config.isolate_session_state


def renamed(session: str, task: str, status: m.Status) -> m.Status:
    """What a server says of its devices, for the session in which it is `task`."""
    if not status.devices:
        raise UnavailableError(None, None, f"The server that is to be {task} has no devices")
    own = task_of(status.devices[0].name)
    return m.Status(
        tuple(
            replace(
                device,
                name=device.name.replace(own, task, 1),
                incarnation=incarnation_within(session, device.incarnation),
            )
            for device in status.devices
        )
    )
