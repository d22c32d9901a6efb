"""Device names: `/job:worker/replica:0/task:1/device:GPU:0`, whole or in part. Source: `tf.DeviceSpec`, TF 1.15."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import Any, Self


@dataclass(frozen=True)
class DeviceName:
    """A (partial) device name; a field that is None is left open. The immutable value that the runtime works with."""

    job: str | None = None
    replica: int | None = None
    task: int | None = None
    device_type: str | None = None
    device_index: int | None = None

    @staticmethod
    @functools.lru_cache(maxsize=1024)
    def parse(text: str) -> DeviceName:
        """Read a name, also in the short forms `/cpu:0`, `/gpu:1`; `*` leaves a field open. ValueError if it is none."""
        fields: dict[str, Any] = {}
        for part in filter(None, text.split("/")):
            key, *values = part.split(":")
            if key.upper() in _SHORT_TYPES and fields.get("device_type") is not None:
                raise ValueError(f"Cannot specify multiple device types: {text}")
            try:
                found = _fields(key, values)
            except ValueError as error:
                raise ValueError(f"Unknown attribute: {key!r} in {text!r}: {error}") from None
            if found is None:
                raise ValueError(f"Unknown attribute: {key!r} in {text!r}")
            fields |= found
        return DeviceName(**fields)

    def merged_over(self, base: DeviceName) -> DeviceName:
        """This name, its open fields filled from `base` (an open index too, whatever the types)."""
        return DeviceName(
            base.job if self.job is None else self.job,
            base.replica if self.replica is None else self.replica,
            base.task if self.task is None else self.task,
            base.device_type if self.device_type is None else self.device_type,
            base.device_index if self.device_index is None else self.device_index,
        )

    def matches(self, full: DeviceName) -> bool:
        """Whether every field that is given here is the same in `full`."""
        return all(
            mine is None or mine == theirs
            for mine, theirs in (
                (self.job, full.job),
                (self.replica, full.replica),
                (self.task, full.task),
                (self.device_type, full.device_type),
                (self.device_index, full.device_index),
            )
        )

    def __str__(self) -> str:
        text = ""
        if self.job is not None:
            text += f"/job:{self.job}"
        if self.replica is not None:
            text += f"/replica:{self.replica}"
        if self.task is not None:
            text += f"/task:{self.task}"
        if self.device_type is not None:
            index = "*" if self.device_index is None else self.device_index
            text += f"/device:{self.device_type}:{index}"
        return text


_SHORT_TYPES = ("CPU", "GPU", "TPU", "XLA_CPU", "XLA_GPU")


def _fields(key: str, values: list[str]) -> dict[str, Any] | None:
    """The fields that one part of a name gives; None where it is no such part, ValueError for a number that is none."""
    match key, values:
        case "job", [job]:
            return {"job": job}
        case "replica" | "task", [number]:
            return {key: _number(number)}
        case "device", [kind]:
            return {"device_type": _type(kind)}
        case "device", [kind, index]:
            return {"device_type": None if kind == "*" else _type(kind), "device_index": _number(index)}
        case _, [] | [_] if key.upper() in _SHORT_TYPES:
            return {"device_type": key.upper(), "device_index": _number(values[0]) if values else None}
    return None


def _type(kind: str) -> str:
    """A type of devices that is known is written in capitals; one of a name of its own keeps that."""
    return kind.upper() if kind.upper() in _SHORT_TYPES else kind


def _number(text: str) -> int | None:
    return None if text == "*" else int(text)


_FIELDS = ("job", "replica", "task", "device_type", "device_index")


class DeviceSpecV2:
    """`tf.DeviceSpec` of version 2: a DeviceName, whose fields stay as they are."""

    def __init__(
        self,
        job: str | None = None,
        replica: int | None = None,
        task: int | None = None,
        device_type: str | None = None,
        device_index: int | None = None,
    ):
        self._name = DeviceName(
            None if job is None else str(job),
            None if replica is None else int(replica),
            None if task is None else int(task),
            None if device_type is None else _type(str(device_type)),
            None if device_index is None else int(device_index),
        )

    @classmethod
    def from_string(cls, spec: str) -> Self:
        return cls()._named(DeviceName.parse(spec))

    def parse_from_string(self, spec: str) -> Self:
        """Another one, read from `spec`."""
        return self.from_string(spec)

    def make_merged_spec(self, dev: DeviceSpecV2) -> Self:
        """Another one: every field that `dev` gives, the others from here."""
        return type(self)()._named(dev._name.merged_over(self._name))

    def replace(self, **kwargs: Any) -> Self:
        """A copy with other values of these fields (None: not given). TypeError for what is no field."""
        return type(self)(**{**{field: getattr(self._name, field) for field in _FIELDS}, **kwargs})

    def to_string(self) -> str:
        return str(self._name)

    def __str__(self) -> str:
        return self.to_string()

    def __repr__(self) -> str:
        given = [f"{f}={getattr(self._name, f)!r}" for f in _FIELDS if getattr(self._name, f) is not None]
        return f"{type(self).__name__}({', '.join(given)})"

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._name == other._name

    def __hash__(self) -> int:
        return hash(self._name)

    def _named(self, name: DeviceName) -> Self:
        self._name = name
        return self


class DeviceSpec(DeviceSpecV2):
    """TF 1.15's mutable `tf.DeviceSpec`: one whose fields may be set."""

    def parse_from_string(self, spec: str) -> Self:
        """Read `spec` into this object and return it."""
        return self._named(DeviceName.parse(spec))

    def merge_from(self, dev: DeviceSpecV2) -> None:
        """Take every field that `dev` gives."""
        self._name = dev._name.merged_over(self._name)

    def _set(self, **fields: Any) -> None:
        self._name = replace(self._name, **fields)


def _field(name: str) -> property:
    return property(lambda self: getattr(self._name, name))


def _settable(name: str) -> property:
    return _field(name).setter(lambda self, value: self._set(**{name: value}))


for _name in _FIELDS:
    setattr(DeviceSpecV2, _name, _field(_name))
    setattr(DeviceSpec, _name, _settable(_name))


def canonical_name(device: str | DeviceSpecV2 | None) -> str:
    """The long form of a device name: `/cpu:0` -> `/device:CPU:0`; `""` for None."""
    if device is None:
        return ""
    return str(DeviceName.parse(device) if isinstance(device, str) else device)
