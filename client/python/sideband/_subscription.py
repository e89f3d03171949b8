# SPDX-License-Identifier: Apache-2.0
"""Telemetry.Subscribe as a state machine, which does no input and output: both clients drive it.

    stream = Subscription(request, timeout_s=10.0)
    call = open(stream.service, stream.method, stream.request())    # again after each end
    for item in stream.received(response): ...                      # within stream.silence_max_s() of the last one
    stream.settle()                                                 # the items have been handed out
    sleep(stream.ended(error))                                      # raises what is final

Not thread-safe.
"""

from sideband import _boards, _values
from sideband._checks import Checks
from sideband._counters import Snapshot
from sideband._errors import InvalidArgument, NotFound, Unimplemented
from sideband._names import asked
from sideband._proto.sideband.v1 import telemetry_pb2 as pb
from sideband._reconnection import Backoff, Reconnection, STEADY_S
from sideband._resumption import Resumption
from sideband._updates import Gap, GapReason, Inconsistent, InconsistentKind, SensorsUpdate, Synced, Update, change_of


class Subscription:
    """A stream of samples, or of changes."""

    service, method = "Telemetry", "Subscribe"
    is_complete = False

    def __init__(self, request, timeout_s, backoff=Backoff(), resume_token=b""):
        """`timeout_s` is for the first response of each connection."""
        self._template = request
        self._is_of_changes = request.stream_mode == pb.SubscribeRequest.STREAM_MODE_ON_CHANGE
        self._heartbeat_s = (_values.field_ns(request, "heartbeat_interval") or 0) / 1e9
        self._timeout_s = timeout_s
        self._reconnection = Reconnection(backoff, self._heartbeat_s or STEADY_S)
        self._resumption = Resumption(resume_token)
        self._checks = Checks()
        self._state_is_known = False  # of a stream of changes: it was resumed, so that the present state is not sent

    @property
    def resume_token(self):
        """For a later stream of the same request; b"" without one."""
        return self._resumption.token

    def request(self):
        """The request of the next connection."""
        self._resumption.begin()
        self._state_is_known = False
        request = pb.SubscribeRequest()
        request.CopyFrom(self._template)
        request.resume_token = self._resumption.token
        return request

    def silence_max_s(self):
        """How long the next response may take; None: for ever, since older daemons have no heartbeats."""
        if not self._resumption.has_begun:
            return self._timeout_s
        return 2 * self._heartbeat_s if self._heartbeat_s and not self._resumption.is_older else None

    def received(self, response):
        """What the response tells the caller, in order. ProtocolError if it is larger than any answer may be."""
        found = self._resumption.count(response)
        # Kinds that this client does not know are of newer daemons.
        kind = response.WhichOneof("response")
        read = self._READERS.get(kind)
        if read is not None:
            found += read(self, response)
        self._reconnection.received(is_synced=kind == "sync_response")
        return found

    def settle(self):
        self._resumption.settle()

    def ended(self, error, has_new_credentials=False):
        """As Reconnection.ended."""
        # An older daemon names the field that it does not know by this value.
        if self._is_of_changes and isinstance(error, InvalidArgument) and error.message.startswith("stream_mode:"):
            raise _too_old()
        names = asked(self._template.filter)
        if isinstance(error, NotFound) and names:
            error.naming(names)
        return self._reconnection.ended(error, has_new_credentials)

    def _read_update(self, response):
        if self._is_of_changes:
            return self._refuse_samples()
        snapshot = Snapshot.of(response.update)
        gap = self._resumption.gap(snapshot.device, snapshot.host_time_ns)
        if gap and self._resumption.is_older and self._checks.is_newest(snapshot):
            return []  # as before the loss: nothing was missed
        update = Update(snapshot, response.skipped, response.heartbeat, response.replayed)
        return [*gap, *self._checks.compare(snapshot), update]

    def _read_sync(self, response):
        if not self._is_of_changes or (self._state_is_known and not response.heartbeat):
            return []
        return [*self._resumption.gap("", None), Synced(response.heartbeat)]

    def _read_change(self, response):
        if not self._is_of_changes:
            return [_unasked("a change of state")]
        items = (change_of(item, response.heartbeat) for item in response.change.items)
        return [*self._resumption.gap("", None), *(item for item in items if item is not None)]

    def _read_sensors(self, response):
        if not self._template.sensors:
            return [_unasked("sensors")]
        sensors = _boards.sensors_of(response.sensors)
        times = [sensor.host_time_ns for sensor in sensors if sensor.host_time_ns is not None]
        gap = self._resumption.gap(response.sensors.device, max(times, default=None))
        return [*gap, SensorsUpdate(response.sensors.device, sensors, response.heartbeat)]

    def _read_resumed(self, response):
        self._state_is_known = True
        if self._resumption.cover(response.resumed.device):
            return []
        return [Inconsistent(response.resumed.device, InconsistentKind.RESUMPTION,
                             "the daemon resumed a stream without having been asked to")]

    def _read_gap(self, response):
        gap = response.gap
        self._state_is_known = self._state_is_known and bool(gap.device)
        self._resumption.cover(gap.device)
        return [Gap(gap.device, _values.field_ns(gap, "from"), _values.field_ns(gap, "to"),
                    GapReason.of(pb.Gap.Reason, gap.reason), gap.sensors)]

    def _refuse_samples(self):
        if self._resumption.is_older:
            raise _too_old()
        return [_unasked("a snapshot")]

    _READERS = {"update": _read_update, "sync_response": _read_sync, "change": _read_change, "sensors": _read_sensors,
                "resumed": _read_resumed, "gap": _read_gap}


def _too_old():
    return Unimplemented("this daemon has no streams of changes: it is older than this client")


def _unasked(what):
    return Inconsistent("", InconsistentKind.CONTENT, "%s, which was not asked for" % what)
