# SPDX-License-Identifier: Apache-2.0
"""The methods that both clients have. The synchronous client returns results, the asynchronous one awaitables of them;
streams are iterators of the one, and asynchronous iterators of the other.

A call is an `_operation`: it is written as a generator of steps (see _steps). A client names its library, grpc or
grpc.aio, and its class of streams, and has `_run`, which performs an operation.
"""

import functools
import threading
import time
import weakref

from sideband import _boards, _config, _connection, _errors, _values
from sideband._board_stream import BoardEvents
from sideband._counters import Device, Event, ROWS_MAX, Row, Scope, Snapshot, check_count
from sideband._history import History
from sideband._marks import Mark, Span
from sideband._names import any_of, explained, needs
from sideband._proto.sideband.v1 import sensors_pb2, telemetry_pb2 as pb
from sideband._reconnection import Backoff
from sideband._steps import Call, Sleep
from sideband._subscription import Subscription


def _operation(steps):
    """Makes a generator of steps a method. Its body begins when the client runs it: of an awaitable, at await."""
    @functools.wraps(steps)
    def method(self, *arguments, **keywords):
        return self._run(steps(self, *arguments, **keywords))
    return method


class Methods:
    """A connection to sidebandd, by the configuration of the program `sideband`.

    config: a Config, or the path of a YAML file. Without it: $SIDEBAND_CONFIG, else ~/.config/sideband/client.yaml.
    address, ca_file, cert_file, key_file, token_file, server_name: override single members of the configuration.
    timeout: seconds for an answer, including the connection; of a stream, for its first response.
    backoff: the pace at which streams connect again.

    ConfigError if the configuration, or a file that it names, cannot be used. Every call raises an Error if it fails.
    `device`, `vm` (name or UUID), `context` and `events` choose what is returned; empty ones set no limit.
    """

    def __init__(self, config=None, *, timeout=10.0, backoff=Backoff(), **members):
        loaded = config if isinstance(config, _config.Config) else _config.find_and_load(config or "")
        self.config = loaded.override(**members)
        self.timeout, self.backoff = timeout, backoff
        self._streams = weakref.WeakSet()
        self._renewal = threading.Lock()
        self._open(_connection.endpoint_of(self.config))

    def _open(self, endpoint):
        self._endpoint = endpoint
        self._channel = _connection.open_channel(self._library, endpoint)
        self._stubs = _connection.Stubs(self._channel)

    def _renew(self, error, stubs):
        """Opens another channel if a call of `stubs` failed for want of a valid certificate, and the files have another
        one by now. Returns the former channel, to be closed; or raises the error."""
        if isinstance(error, (_errors.Unauthenticated, _errors.Unavailable)):
            endpoint = _connection.endpoint_of(self.config)
            with self._renewal:
                if endpoint.certificates != self._endpoint.certificates and stubs is self._stubs:
                    former = self._channel
                    self._open(endpoint)
                    return former
        raise error

    def _watch(self, stream):
        watch = self._stream_type(self.config, stream)
        self._streams.add(watch)
        return watch

    def _subscribe(self, request, heartbeat, resume_token):
        if heartbeat is not None:
            _values.set_ns(request.heartbeat_interval, _values.to_ns(heartbeat))
        return self._watch(Subscription(request, self.timeout, self.backoff, resume_token))

    @_operation
    def devices(self):
        """The Devices of the host that are visible to the caller."""
        return (yield Call("Telemetry", "ListDevices", pb.ListDevicesRequest(),
                           lambda answer: _all_of(Device, answer.devices)))

    @_operation
    def events(self, device=""):
        """The Events that devices count."""
        def convert(answer):
            return tuple(Event.of(one.device, event) for one in answer.devices for event in one.events)
        call = Call("Telemetry", "ListEvents", pb.ListEventsRequest(device=device), convert)
        return (yield from explained(call, device=device))

    @_operation
    def scopes(self, device=""):
        """The Scopes whose counters the caller may read."""
        return (yield from explained(_list_scopes(device), device=device))

    @_operation
    def get(self, *, vm="", context="", device="", events=()):
        """The newest Snapshot of each device; none of a device that has not answered yet."""
        def convert(answer):
            check_count("", sum(len(snapshot.scopes) for snapshot in answer.snapshots), ROWS_MAX, "rows")
            return _all_of(Snapshot, answer.snapshots)
        events = _names(events)
        request = pb.GetSnapshotRequest(filter=_filter(vm, context, device, events))
        call = Call("Telemetry", "GetSnapshot", request, convert)
        return (yield from explained(call, device=device, vm=vm, context=context, events=events))

    @_operation
    def history(self, *, vm="", context="", device="", events=(), since=None, until=None, step=None):
        """The History from `since` to `until`, each a datetime with a time zone, or a timedelta before now.

        step: the least seconds between two points. FailedPrecondition if the daemon keeps no history.
        """
        events = _names(events)
        request = pb.GetHistoryRequest(filter=_filter(vm, context, device, events))
        now_ns = time.time_ns()
        for field, value in (("since", since), ("until", until)):
            if value is not None:
                _values.set_ns(getattr(request, field), _values.time_to_ns(value, now_ns))
        if step is not None:
            _values.set_ns(request.step, _values.to_ns(step))
        call = Call("Telemetry", "GetHistory", request, History.of)
        return (yield from explained(call, device=device, vm=vm, context=context, events=events))

    @_operation
    def peek(self, events, *, device="", vm="", context="", host_slice=None):
        """A Row of up to 64 events of one scope as they are now, read from the device for this call alone."""
        if vm and not device:
            device = yield from _device_of(vm)
        events = _names(events)
        request = pb.PeekRequest(device=device, vm=vm, context=context, events=events, host_slice=host_slice)
        call = Call("Telemetry", "Peek", request, lambda answer: Row.of(answer.counters))
        return (yield from explained(call, device=device, vm=vm, context=context, events=events, hint=needs("peek")))

    @_operation
    def sensors(self, device="", names=()):
        """The newest Sensors of boards; `names` are those of metrics."""
        def convert(answer):
            return tuple(sensor for one in answer.devices for sensor in _boards.sensors_of(one))
        names = _names(names)
        request = sensors_pb2.GetSensorsRequest(filter=_sensor_filter(device, names))
        call = Call("Sensors", "GetSensors", request, convert)
        return (yield from explained(call, device=device, hint=any_of("sensor", names)))

    @_operation
    def sensor_descriptions(self, device="", names=()):
        """What the sensors mean."""
        def convert(answer):
            return tuple(_boards.SensorDescription.of(one.device, sensor)
                         for one in answer.devices for sensor in one.sensors)
        names = _names(names)
        request = sensors_pb2.ListSensorsRequest(filter=_sensor_filter(device, names))
        call = Call("Sensors", "ListSensors", request, convert)
        return (yield from explained(call, device=device, hint=any_of("sensor", names)))

    @_operation
    def mark(self, vm, *, context="", device="", label="", patience=10.0):
        """Marks this instant of a VM's, or a context's, work; returns the Mark, pending.

        Without a device, the first one that has the VM. patience: seconds to wait where the scope's last mark has not
        been served, or others of its VM have used its share.
        """
        if not device:
            device = yield from _device_of(vm)
        request = pb.MarkRequest(device=device, vm=vm, context=context, label=label)
        call = Call("Telemetry", "Mark", request, lambda answer: Mark.of(answer.mark))
        return (yield from explained(_patiently(call, patience), device=device, vm=vm, context=context,
                                     hint=needs("mark")))

    @_operation
    def marks(self, *, vm="", context="", device=""):
        """The Marks that the daemon keeps, oldest first."""
        call = Call("Telemetry", "ListMarks", pb.ListMarksRequest(device=device, vm=vm, context=context),
                    lambda answer: _all_of(Mark, answer.marks))
        return (yield from explained(call, device=device, vm=vm, context=context))

    @_operation
    def span(self, begin, end, events=(), *, patience=10.0):
        """The Span: what was counted between two Marks of a scope, exactly.

        patience: seconds to wait for the snapshot that brings what was counted.
        """
        if not isinstance(begin, Mark) or not isinstance(end, Mark):
            raise TypeError("a span is between two Marks, not their numbers: client.marks() returns them")
        scope, events = begin.scope, _names(events)
        request = pb.GetSpanRequest(device=scope.device, vm=scope.vm_uuid or scope.vm, from_mark=begin.mark_id,
                                    to_mark=end.mark_id, events=events)
        call = _patiently(Call("Telemetry", "GetSpan", request, Span.of), patience)
        return (yield from explained(call, device=scope.device, vm=scope.vm, events=events,
                                     hint=any_of("mark", (begin.mark_id, end.mark_id))))

    def watch(self, *, interval=None, vm="", context="", device="", events=(), sensors=False, suppress_redundant=False,
              heartbeat=10.0, resume_token=b""):
        """A stream of Updates, one per device and `interval` seconds, or the device's own interval; it does not end.

        It connects again after a loss, and goes on where it was. What may have been missed is a Gap in the stream, and
        what cannot be true an Inconsistent. With `sensors`, there are SensorsUpdates, too.

        suppress_redundant: an update has only rows in which something has changed, but for heartbeats.
        heartbeat: seconds, from 1 to a day; a stream without a response for two is taken for dead. None: no heartbeats.
        resume_token: of an earlier stream with the same arguments.
        """
        request = pb.SubscribeRequest(
            mode=pb.SubscribeRequest.MODE_STREAM, stream_mode=pb.SubscribeRequest.STREAM_MODE_SAMPLE,
            filter=_filter(vm, context, device, events), sensors=sensors, suppress_redundant=suppress_redundant)
        if interval is not None:
            _values.set_ns(request.sample_interval, _values.to_ns(interval))
        return self._subscribe(request, heartbeat, resume_token)

    def watch_state(self, *, vm="", context="", device="", events=(), heartbeat=30.0, resume_token=b""):
        """A stream of Changes of devices, scopes, limits, marks and board events; Synced after the present state.

        Otherwise as `watch`. Unimplemented: the daemon is older than such streams.
        """
        request = pb.SubscribeRequest(
            mode=pb.SubscribeRequest.MODE_STREAM, stream_mode=pb.SubscribeRequest.STREAM_MODE_ON_CHANGE,
            filter=_filter(vm, context, device, events))
        return self._subscribe(request, heartbeat, resume_token)

    def board_events(self, device="", *, follow=False):
        """What happens to boards: DriverMessage, RaisedEvent and MessagesLost; first what the daemon holds.

        follow: then each as it comes; the stream connects again after a loss, with a Gap.
        """
        return self._watch(BoardEvents(device, follow, self.timeout, self.backoff))


def _list_scopes(device=""):
    return Call("Telemetry", "ListScopes", pb.ListScopesRequest(device=device),
                lambda answer: _all_of(Scope, answer.scopes))


def _device_of(vm):
    """The first device on which the caller may read something of the VM."""
    for scope in (yield _list_scopes()):
        if vm in (scope.vm, scope.vm_uuid):
            return scope.device
    raise _errors.NotFound("nothing that this caller may read is of the VM %r" % vm)


def _patiently(call, patience_s):
    """Repeats a call when the daemon says that it can succeed then, for `patience_s` seconds of waiting at most."""
    while True:
        try:
            return (yield call)
        except (_errors.FailedPrecondition, _errors.ResourceExhausted) as error:
            if error.retry_after_s is None or error.retry_after_s > patience_s:
                raise
            # A device may take a little longer than was foreseen.
            wait_s = max(error.retry_after_s, 0.01)
        patience_s -= wait_s
        yield Sleep(wait_s)


def _all_of(kind, messages):
    return tuple(map(kind.of, messages))


def _names(names):
    return [names] if isinstance(names, str) else list(names)


def _filter(vm, context, device, events):
    return pb.Filter(device=device, vm=vm, context=context, events=_names(events))


def _sensor_filter(device, names):
    return sensors_pb2.SensorFilter(device=device, names=_names(names))
