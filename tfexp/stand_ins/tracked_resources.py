"""Objects that own a resource, and what counts them as they are made. Source: `training.tracking.tracking`, TF 1.15."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from tfexp.graph.scopes import device as device_scope
from tfexp.ops.trackable import Trackable

# Every tracker whose scope is open hears of a new resource, not the innermost alone.
_open_trackers: list[ResourceTracker] = []


class ResourceTracker:
    """The resources that were made in its scopes, in that order."""

    def __init__(self) -> None:
        self._resources: list[TrackableResource] = []

    @property
    def resources(self) -> list[TrackableResource]:
        return self._resources

    def add_resource(self, resource: TrackableResource) -> None:
        self._resources.append(resource)


@contextlib.contextmanager
def resource_tracker_scope(resource_tracker: ResourceTracker) -> Iterator[None]:
    """The tracker has each `TrackableResource` that is made within."""
    _open_trackers.append(resource_tracker)
    try:
        yield
    finally:
        _open_trackers.pop()


class CapturableResource(Trackable):
    """An object whose handle `_create_resource` makes, on `device`, when it is first asked for.

    `deleter` lives as long as the object: its own end is what destroys the resource.
    """

    def __init__(self, device: Any = "", deleter: Any = None):
        self._resource_handle: Any = None
        self._resource_device = device
        self._resource_deleter = deleter

    def _create_resource(self) -> Any:
        raise NotImplementedError("TrackableResource._create_resource not implemented.")

    def _initialize(self) -> None:
        """Fills the resource: nothing, unless a subclass has something to fill it with."""

    @property
    def resource_handle(self) -> Any:
        if self._resource_handle is None:
            with device_scope(self._resource_device):
                self._resource_handle = self._create_resource()
        return self._resource_handle


class TrackableResource(CapturableResource):
    """A `CapturableResource` of which the open trackers hear."""

    def __init__(self, device: Any = "", deleter: Any = None):
        for tracker in _open_trackers:
            tracker.add_resource(self)
        super().__init__(device, deleter)
