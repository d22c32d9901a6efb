"""A profile of a program's lines for the `pprof` tool. Source: profile.proto of github.com/google/pprof."""

from __future__ import annotations

import gzip

from tfexp.formats.protos.schema import define
from tfexp.profiler.views import Row

_MESSAGES = define(
    "pprof_profile",
    """
    message ValueType
      type 1 int64
      unit 2 int64
    message Sample
      location_id 1 repeated uint64
      value 2 repeated int64
    message Line
      function_id 1 uint64
      line 2 int64
    message Location
      id 1 uint64
      line 4 repeated Line
    message Function
      id 1 uint64
      name 2 int64
      system_name 3 int64
      filename 4 int64
    message Profile
      sample_type 1 repeated ValueType
      sample 2 repeated Sample
      location 4 repeated Location
      function 5 repeated Function
      string_table 6 repeated string
    """,
)

_VALUES = (("count", "count", "run_count"), ("time", "microseconds", "exec_micros"), ("memory", "bytes", "requested_bytes"))


def pprof(root: Row) -> bytes:
    """A compressed Profile with a sample for each line: how often its nodes ran, how long, what memory they asked for."""
    profile = _MESSAGES["Profile"]()
    strings: dict[str, int] = {"": 0}

    def text(value: str) -> int:
        return strings.setdefault(value, len(strings))

    for kind, unit, _ in _VALUES:
        profile.sample_type.add(type=text(kind), unit=text(unit))
    for number, row in enumerate(root.children, start=1):
        file, _, line = row.name.rpartition(":")
        profile.function.add(id=number, name=text(row.name), system_name=text(row.name), filename=text(file))
        profile.location.add(id=number).line.add(function_id=number, line=int(line))
        values = [getattr(row.own, measure) for _, _, measure in _VALUES]
        profile.sample.add(location_id=[number], value=values)
    profile.string_table.extend(strings)
    return gzip.compress(profile.SerializeToString(), mtime=0)
