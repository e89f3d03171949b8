# SPDX-License-Identifier: Apache-2.0
"""Devices, events, scopes, and snapshots of their counters, as frozen dataclasses made from messages.

Counts are int and exact, however large; rates and shares are float. What is absent in a message is None.
"""

import dataclasses
import typing

from sideband import _values
from sideband._errors import ProtocolError
from sideband._names import ByEvent, did_you_mean, full_name
from sideband._proto.sideband.v1 import telemetry_pb2 as pb

# More than a device can have: 1 + 1024 VMs + 16384 contexts + slices, and their events. An answer beyond them is
# refused before it takes several times its size in objects.
ROWS_MAX = 65_536
COUNTERS_MAX = 1 << 20


class DeviceState(_values.Word):
    """FRESH: the newest snapshot is younger than three intervals. STALE: older. AWAY: there is none yet."""

    UNKNOWN = "unknown"
    FRESH = "fresh"
    STALE = "stale"
    AWAY = "away"


class DeviceKind(_values.Word):
    """COUNTERS: it has counters of VMs and contexts. BOARD: its board's sensors are read."""

    UNKNOWN = "unknown"
    COUNTERS = "counters"
    BOARD = "board"


class EventScope(_values.Word):
    """CONTEXT: attributed to VM and context. DEVICE: counted for the device as a whole."""

    UNKNOWN = "unknown"
    CONTEXT = "context"
    DEVICE = "device"


class Counting(_values.Word):
    """FIXED: always, or while its gate is open. ROTATED: in turns with others. DERIVED: computed from others."""

    UNKNOWN = "unknown"
    FIXED = "fixed"
    ROTATED = "rotated"
    DERIVED = "derived"


class RowState(_values.Word):
    """RETIRED: it has ended; these are its final counts."""

    UNKNOWN = "unknown"
    ACTIVE = "active"
    IDLE = "idle"
    RETIRED = "retired"


class Method(_values.Word):
    """What the standard error of an estimate rests on. COUNTED: nothing was estimated, `lower` is the count."""

    UNKNOWN = "unknown"
    RANDOM_TURNS = "random_turns"
    MODEL = "model"
    COUNTED = "counted"


@dataclasses.dataclass(frozen=True)
class Device:
    """A device; of one that is a board alone, boot_id and reference_clock_hz are 0."""

    name: str
    uuid: str
    boot_id: int
    state: DeviceState
    interval_ns: typing.Optional[int]
    reference_clock_hz: int
    kinds: typing.Tuple[DeviceKind, ...]

    @classmethod
    def of(cls, message):
        kinds = tuple(DeviceKind.of(pb.Device.Kind, kind) for kind in message.kinds)
        return cls(message.name, message.uuid, message.boot_id, DeviceState.of(pb.Device.State, message.state),
                   _values.field_ns(message, "interval"), message.reference_clock_hz, kinds)


@dataclasses.dataclass(frozen=True)
class Event:
    """An event that a device counts. A masked one has no counters."""

    device: str
    name: str
    unit: str
    scope: EventScope
    description: str
    masked: bool
    gate_group: typing.Optional[str]
    counting: Counting

    @classmethod
    def of(cls, device, message):
        return cls(device, message.name, message.unit, EventScope.of(pb.Event.Scope, message.scope),
                   message.description, message.masked, _values.optional(message, "gate_group"),
                   Counting.of(pb.Event.Counting, message.counting))


@dataclasses.dataclass(frozen=True)
class Scope:
    """What a row of counters is of: the device (no VM), a slice's host (`host`), a VM (no context), or a context.

    A new generation means that the counters have restarted from zero. Of a confidential scope there are only sealed
    records.
    """

    device: str
    vm: str = ""
    context: str = ""
    slice: typing.Optional[int] = None
    vm_uuid: str = ""
    generation: int = 0
    confidential: bool = False
    host: bool = False

    @property
    def key(self):
        """The same of all generations of one scope. Another VM of the same name is another scope."""
        return (self.device, self.vm_uuid, self.vm, self.context, self.slice, self.host)

    def __str__(self):
        if self.host:
            return "%s/(host:%s)" % (self.device, "" if self.slice is None else self.slice)
        return "/".join(filter(None, (self.device, self.vm, self.context)))

    @classmethod
    def of(cls, message):
        return cls(message.device, message.vm, message.context, _values.optional(message, "slice"), message.vm_uuid,
                   message.generation, message.confidential, message.host)


@dataclasses.dataclass(frozen=True)
class Estimate:
    """Of an event that takes turns. The truth is from lower to upper; None is unknown."""

    standard_error: typing.Optional[int]
    lower: int
    upper: typing.Optional[int]
    time_enabled_ns: int
    time_running_ns: int
    method: Method

    @classmethod
    def of(cls, message):
        return cls(_values.optional(message, "standard_error"), message.lower, _values.optional(message, "upper"),
                   message.time_enabled_ns, message.time_running_ns, Method.of(pb.Estimate.Method, message.method))


@dataclasses.dataclass(frozen=True)
class Counter:
    """A cumulative count since the generation began, exact unless there is an `estimate`.

    rate_per_second: by the daemon, over its last interval. coverage, rate_coverage: the share of the scope's cycles in
    which the event was counted; None: all.
    """

    event: str
    count: int
    rate_per_second: typing.Optional[float] = None
    coverage: typing.Optional[float] = None
    rate_coverage: typing.Optional[float] = None
    estimate: typing.Optional[Estimate] = None

    @classmethod
    def of(cls, message):
        numbers = (_values.optional(message, name) for name in ("rate_per_second", "coverage", "rate_coverage"))
        estimate = Estimate.of(message.estimate) if message.HasField("estimate") else None
        return cls(message.event, message.count, *numbers, estimate)


@dataclasses.dataclass(frozen=True)
class Ratio:
    """A share over the last interval, from 0 to 1: a configured one (`formula`), or the utilisation of `event`."""

    name: str
    value: float
    event: str
    formula: str
    numerator_per_second: float
    denominator_per_second: float

    @classmethod
    def of(cls, message):
        return cls(message.name, message.value, message.event, message.formula, message.numerator_per_second,
                   message.denominator_per_second)


@dataclasses.dataclass(frozen=True)
class Row:
    """The counters of one scope at one instant, by event. Without flags they are exact.

    repeated: the names of events that the daemon has sent more than once, which it never should; the last counts.
    """

    scope: Scope
    state: RowState
    flags: typing.Tuple[str, ...]
    counters: typing.Mapping[str, Counter]
    ratios: typing.Tuple[Ratio, ...]
    repeated: typing.Tuple[str, ...] = ()

    def __getitem__(self, event):
        """The count of an event, by its full or its short name. UnknownEvent, a KeyError, if the row has none."""
        return self.counters[event].count

    def __contains__(self, event):
        return event in self.counters

    def __iter__(self):
        """The names of the events."""
        return iter(self.counters)

    def utilisation(self, event):
        """The share of its capacity that the event has used, from 0 to 1; None if it is unknown. UnknownEvent, a
        KeyError, if the row has no such event."""
        shares = {ratio.event: ratio.value for ratio in self.ratios if ratio.event}
        return shares.get(full_name(event, [*self.counters, *shares]))

    @classmethod
    def of(cls, message):
        counters, repeated = {}, []
        for counter in map(Counter.of, message.counters):
            if counter.event in counters:
                repeated.append(counter.event)
            counters[counter.event] = counter
        return cls(Scope.of(message.scope), RowState.of(pb.ScopeCounters.State, message.state), tuple(message.flags),
                   ByEvent(counters), tuple(map(Ratio.of, message.ratios)), tuple(repeated))


@dataclasses.dataclass(frozen=True)
class Snapshot:
    """All visible counters of a device, latched at one instant.

    reference_time_ns: the device's clock, since its boot; comparable between snapshots of one boot_id.
    host_time_ns, host_time_error_ns: the host's clock, with an error to either side.
    elapsed_ns: the interval of the daemon's rates and ratios.
    """

    device: str
    boot_id: int
    snapshot_id: int
    trigger_id: int
    reference_time_ns: int
    host_time_ns: typing.Optional[int]
    host_time_error_ns: typing.Optional[int]
    rows: typing.Tuple[Row, ...]
    device_state: typing.Optional[DeviceState]
    age_ns: typing.Optional[int]
    elapsed_ns: typing.Optional[int]
    host_utc_error_ns: typing.Optional[int]

    @property
    def host_time(self):
        """As a datetime in UTC, to the microsecond."""
        return _values.datetime_of(self.host_time_ns)

    def find(self, vm="", context=""):
        """The rows of a VM, by name or UUID, or of one of its contexts; without a VM, that of the device."""
        return tuple(row for row in self.rows if vm in (row.scope.vm, row.scope.vm_uuid or row.scope.vm) and
                     row.scope.context == context and (vm or not row.scope.host))

    def row(self, vm="", context=""):
        """The only row that `find` finds; KeyError if it is not there, or if a scope is on several slices."""
        found = self.find(vm, context)
        if len(found) != 1:
            hint = "" if found else self._nearest(vm, context)
            raise KeyError("%d rows of %s%s" % (len(found), Scope(self.device, vm, context), hint))
        return found[0]

    def _nearest(self, vm, context):
        """A suggestion for a row that is not there: a context of the VM, else a VM."""
        scopes = [row.scope for row in self.rows]
        contexts = {scope.context for scope in scopes if scope.context and vm in (scope.vm, scope.vm_uuid)}
        vms = {scope.vm for scope in scopes if scope.vm}
        return did_you_mean(context, contexts) if context and self.find(vm) else did_you_mean(vm, vms)

    @classmethod
    def of(cls, message):
        """ProtocolError for a message of more rows or counters than a device can have."""
        check_size(message)
        state = DeviceState.of(pb.Device.State, message.device_state) if message.HasField("device_state") else None
        times = (_values.field_ns(message, name) for name in ("host_time", "host_time_error"))
        return cls(message.device, message.boot_id, message.snapshot_id, message.trigger_id, message.reference_time_ns,
                   *times, tuple(map(Row.of, message.scopes)), state,
                   *(_values.field_ns(message, name) for name in ("age", "elapsed", "host_utc_error")))


def check_size(message):
    """ProtocolError for a Snapshot message beyond ROWS_MAX or COUNTERS_MAX."""
    check_count(message.device, len(message.scopes), ROWS_MAX, "rows")
    counters = sum(len(row.counters) + len(row.ratios) + len(row.flags) for row in message.scopes)
    check_count(message.device, counters, COUNTERS_MAX, "counters, ratios and flags")


def check_count(device, count, count_max, what):
    if count > count_max:
        raise ProtocolError("%s: %d %s in one answer: this client takes %d" %
                            (device or "the daemon", count, what, count_max))
