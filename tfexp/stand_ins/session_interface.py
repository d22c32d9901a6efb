"""`tensorflow.python.client.session.SessionInterface`: what sessions, and what wraps them, have. Source: TF 1.15."""

from __future__ import annotations

import abc
from typing import Any

from tfexp.core.device import DeviceName
from tfexp.runtime.device_list import DeviceAttributes
from tfexp.runtime.session import BaseSession


class SessionInterface(abc.ABC):  # noqa: B024 - programs make one whose methods are not all there
    """A base for wrappers of sessions; every session is one. What a class does not define is a NotImplementedError."""

    @property
    def graph(self) -> Any:
        raise NotImplementedError("graph")

    @property
    def sess_str(self) -> Any:
        """The target."""
        raise NotImplementedError("sess_str")

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        raise NotImplementedError("run")

    def partial_run_setup(self, fetches: Any, feeds: Any = None) -> Any:
        raise NotImplementedError("partial_run_setup")

    def partial_run(self, handle: Any, fetches: Any, feed_dict: Any = None) -> Any:
        raise NotImplementedError("partial_run")


SessionInterface.register(BaseSession)


class _DeviceAttributes(DeviceAttributes):
    """A device of a session, of TensorFlow's arguments. The name is made whole: `/cpu:0` is `/device:CPU:0`."""

    def __init__(self, name: str, device_type: str, memory_limit_bytes: int, incarnation: int):
        super().__init__(str(DeviceName.parse(name)), memory_limit_bytes, incarnation)
        self._device_type = device_type

    @property
    def device_type(self) -> str:
        return self._device_type
