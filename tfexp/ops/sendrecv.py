"""The nodes where a graph is cut between tasks. `plan.partition` makes them; tasks feed and fetch what they stand for."""

from __future__ import annotations

from typing import Any

from tfexp.core.op import define_op
from tfexp.core.shape import TensorShape

_ATTRS = (
    "tensor_name: string; send_device: string; send_device_incarnation: int; recv_device: string; "
    "client_terminated: bool = false"
)

send = define_op(f"_Send(tensor: T) -> () {{T: type; {_ATTRS}}} #stateful")
host_send = define_op(f"_HostSend(tensor: T) -> () {{T: type; {_ATTRS}}} #stateful")
recv = define_op(f"_Recv() -> (tensor: tensor_type) {{tensor_type: type; {_ATTRS}}} #stateful")
host_recv = define_op(f"_HostRecv() -> (tensor: tensor_type) {{tensor_type: type; {_ATTRS}}} #stateful")


@recv.shape
def _() -> TensorShape:
    """Nothing is known of what another task sends."""
    return TensorShape(None)


@host_recv.shape
def _() -> TensorShape:
    return TensorShape(None)


@send.shape
def _(tensor: Any) -> None:
    return None


@host_send.shape
def _(tensor: Any) -> None:
    return None
