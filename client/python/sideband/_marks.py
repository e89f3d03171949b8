# SPDX-License-Identifier: Apache-2.0
"""Marks, and what was counted between two of them."""

import dataclasses
import typing

from sideband import _values
from sideband._counters import Counter, Scope
from sideband._names import ByEvent
from sideband._proto.sideband.v1 import telemetry_pb2 as pb


class MarkState(_values.Word):
    """PENDING: its counts come with the next snapshot. LOST: it came too late."""

    UNKNOWN = "unknown"
    PENDING = "pending"
    READ = "read"
    LOST = "lost"


@dataclasses.dataclass(frozen=True)
class Mark:
    """An instant of a scope's work. The last three are None unless the mark was read."""

    mark_id: int
    scope: Scope
    label: str
    boot_id: int
    state: MarkState
    requested_ns: int
    reference_time_ns: typing.Optional[int]
    host_time_ns: typing.Optional[int]
    host_time_error_ns: typing.Optional[int]

    @property
    def host_time(self):
        return _values.datetime_of(self.host_time_ns)

    @classmethod
    def of(cls, message):
        return cls(message.mark_id, Scope.of(message.scope), message.label, message.boot_id,
                   MarkState.of(pb.MarkInfo.State, message.state), message.requested_ns,
                   _values.optional(message, "reference_time_ns"), _values.field_ns(message, "host_time"),
                   _values.field_ns(message, "host_time_error"))


@dataclasses.dataclass(frozen=True)
class Span:
    """What a scope has counted between two of its marks, by event; `duration_ns` is by the device's clock."""

    begin: Mark
    end: Mark
    duration_ns: int
    duration_error_ns: int
    counters: typing.Mapping[str, Counter]
    flags: typing.Tuple[str, ...]

    def __getitem__(self, event):
        """The count of an event, by its full or its short name. UnknownEvent, a KeyError, if it was counted in none of
        the time."""
        return self.counters[event].count

    def __iter__(self):
        return iter(self.counters)

    @classmethod
    def of(cls, message):
        counters = ByEvent((counter.event, Counter.of(counter)) for counter in message.counters)
        return cls(Mark.of(getattr(message, "from")), Mark.of(message.to), message.duration_ns,
                   message.duration_error_ns, counters, tuple(message.flags))
