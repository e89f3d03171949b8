# SPDX-License-Identifier: Apache-2.0
"""What the streams yield."""

import dataclasses
import typing

from sideband import _values
from sideband._boards import DriverMessage, MessagesLost, RaisedEvent, Sensor, board_event_of
from sideband._counters import Device, RowState, Scope, Snapshot
from sideband._marks import Mark
from sideband._proto.sideband.v1 import telemetry_pb2 as pb


class GapReason(_values.Word):
    """Why something may be missing.

    NO_RESUMPTION is this client's own: it connected again, and the daemon did not say what was missed. Older daemons
    never do. The others are the daemon's: see `Gap` in telemetry.proto.
    """

    UNKNOWN = "unknown"
    UNKNOWN_TOKEN = "unknown_token"
    POLICY_CHANGED = "policy_changed"
    REBOOTED = "rebooted"
    NOT_KEPT = "not_kept"
    STATE_CHANGED = "state_changed"
    GONE = "gone"
    APPEARED = "appeared"
    NO_RESUMPTION = "no_resumption"


@dataclasses.dataclass(frozen=True)
class Gap:
    """Something may be missing between two times of the host's clock. No count is: counters are cumulative.

    The whole present state follows. device: "" is all devices. The times are None where they are unknown. sensors: it is
    of what the device's board has measured, which is not replayed, and not of its counters.
    """

    device: str
    from_ns: typing.Optional[int]
    to_ns: typing.Optional[int]
    reason: GapReason
    sensors: bool = False


class InconsistentKind(_values.Word):
    """What a stream contradicts itself in."""

    UNKNOWN = "unknown"
    SEQUENCE = "sequence"            # a response is missing, repeated or out of order
    COUNT_FELL = "count_fell"        # within a generation
    GENERATION_FELL = "generation_fell"  # within a boot
    TIME_FELL = "time_fell"          # the device's clock, within a boot
    REPEATED = "repeated"            # a scope, or an event of it, twice in one snapshot
    RESUMPTION = "resumption"        # the answer to a resume token, or its lack
    CONTENT = "content"              # something that was not asked for, or a token of excessive length


@dataclasses.dataclass(frozen=True)
class Inconsistent:
    """What the client saw and should not have: the daemon, the device, or something between, is wrong.

    It comes before the update that it is about, which is passed on as it is. device: "" where it is about none.
    """

    device: str
    kind: InconsistentKind
    text: str


@dataclasses.dataclass(frozen=True)
class Update:
    """A snapshot. skipped: snapshots since the previous update that were not sent: resolution is lost, no count.

    heartbeat: it was sent because it was time. replayed: it is of the time while the stream was cut, and has no rates.
    """

    snapshot: Snapshot
    skipped: int
    heartbeat: bool
    replayed: bool


@dataclasses.dataclass(frozen=True)
class SensorsUpdate:
    """What a board has measured."""

    device: str
    sensors: typing.Tuple[Sensor, ...]
    heartbeat: bool


@dataclasses.dataclass(frozen=True)
class Synced:
    """The whole present state was sent since the stream's beginning, a Gap or the last Synced; what was not is no more.

    There is none where a stream goes on without a gap: what was known before holds.
    """

    heartbeat: bool


@dataclasses.dataclass(frozen=True)
class ScopeState:
    """State and flags of a scope."""

    scope: Scope
    state: RowState
    flags: typing.Tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Limit:
    """A sensor that is a limit: it changes when somebody sets it."""

    sensor: Sensor


Item = typing.Union[Device, ScopeState, Limit, Mark, DriverMessage, RaisedEvent, MessagesLost]


@dataclasses.dataclass(frozen=True)
class Change:
    """An item that is new or has changed; with `gone` it is no more, and has only what identifies it."""

    item: Item
    gone: bool
    heartbeat: bool


def change_of(message, heartbeat):
    """The Change of a StateItem message; None of an item of a kind that this version does not know."""
    item = _item_of(message)
    return None if item is None else Change(item, message.gone, heartbeat)


def _item_of(message):
    kind = message.WhichOneof("item")
    if kind == "scope":
        scope = message.scope
        return ScopeState(Scope.of(scope.scope), RowState.of(pb.ScopeCounters.State, scope.state), tuple(scope.flags))
    if kind == "limit":
        return Limit(Sensor.of(message.limit.device, message.limit.sensor))
    makers = {"device": Device.of, "mark": Mark.of, "board_event": board_event_of}
    return makers[kind](getattr(message, kind)) if kind in makers else None
