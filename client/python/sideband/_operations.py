# SPDX-License-Identifier: Apache-2.0
"""The calls of the daemon as steps (see _steps), and the requests of its streams."""

import time

from sideband import _boards, _values
from sideband._board_stream import BoardEvents
from sideband._counters import Device, Event, ROWS_MAX, Row, Scope, Snapshot, check_count
from sideband._errors import FailedPrecondition, NotFound, ResourceExhausted
from sideband._history import History
from sideband._marks import Mark, Span
from sideband._proto.sideband.v1 import sensors_pb2, telemetry_pb2 as pb
from sideband._steps import Call, Sleep
from sideband._subscription import Subscription


def devices():
    return (yield Call("Telemetry", "ListDevices", pb.ListDevicesRequest(),
                       lambda answer: _all_of(Device, answer.devices)))


def events(device=""):
    def convert(answer):
        return tuple(Event.of(one.device, event) for one in answer.devices for event in one.events)
    return (yield Call("Telemetry", "ListEvents", pb.ListEventsRequest(device=device), convert))


def scopes(device=""):
    return (yield Call("Telemetry", "ListScopes", pb.ListScopesRequest(device=device),
                       lambda answer: _all_of(Scope, answer.scopes)))


def get(**filters):
    def convert(answer):
        check_count("", sum(len(snapshot.scopes) for snapshot in answer.snapshots), ROWS_MAX, "rows")
        return _all_of(Snapshot, answer.snapshots)
    return (yield Call("Telemetry", "GetSnapshot", pb.GetSnapshotRequest(filter=_filter(**filters)), convert))


def history(since=None, until=None, step=None, **filters):
    request = pb.GetHistoryRequest(filter=_filter(**filters))
    now_ns = time.time_ns()
    for field, value in (("since", since), ("until", until)):
        if value is not None:
            _values.set_ns(getattr(request, field), _values.time_to_ns(value, now_ns))
    if step is not None:
        _values.set_ns(request.step, _values.to_ns(step))
    return (yield Call("Telemetry", "GetHistory", request, History.of))


def peek(events, device="", vm="", context="", host_slice=None):
    if vm and not device:
        device = yield from _device_of(vm)
    request = pb.PeekRequest(device=device, vm=vm, context=context, events=_names(events), host_slice=host_slice)
    return (yield Call("Telemetry", "Peek", request, lambda answer: Row.of(answer.counters)))


def sensors(device="", names=()):
    def convert(answer):
        return tuple(sensor for one in answer.devices for sensor in _boards.sensors_of(one))
    request = sensors_pb2.GetSensorsRequest(filter=_sensor_filter(device, names))
    return (yield Call("Sensors", "GetSensors", request, convert))


def sensor_descriptions(device="", names=()):
    def convert(answer):
        return tuple(_boards.SensorDescription.of(one.device, sensor)
                     for one in answer.devices for sensor in one.sensors)
    request = sensors_pb2.ListSensorsRequest(filter=_sensor_filter(device, names))
    return (yield Call("Sensors", "ListSensors", request, convert))


def marks(device="", vm="", context=""):
    return (yield Call("Telemetry", "ListMarks", pb.ListMarksRequest(device=device, vm=vm, context=context),
                       lambda answer: _all_of(Mark, answer.marks)))


def mark(vm, context="", device="", label="", patience=10.0):
    if not device:
        device = yield from _device_of(vm)
    request = pb.MarkRequest(device=device, vm=vm, context=context, label=label)
    return (yield from _patiently(Call("Telemetry", "Mark", request, lambda answer: Mark.of(answer.mark)), patience))


def span(begin, end, events=(), patience=10.0):
    scope = begin.scope
    request = pb.GetSpanRequest(device=scope.device, vm=scope.vm_uuid or scope.vm, from_mark=begin.mark_id,
                                to_mark=end.mark_id, events=_names(events))
    return (yield from _patiently(Call("Telemetry", "GetSpan", request, Span.of), patience))


def _device_of(vm):
    """The first device on which the caller may read something of the VM."""
    for scope in (yield from scopes()):
        if vm in (scope.vm, scope.vm_uuid):
            return scope.device
    raise NotFound("nothing that this caller may read is of the VM %r" % vm)


def _patiently(call, patience_s):
    """Repeats a call when the daemon says that it can succeed then, for `patience_s` seconds of waiting at most."""
    while True:
        try:
            return (yield call)
        except (FailedPrecondition, ResourceExhausted) as error:
            if error.retry_after_s is None or error.retry_after_s > patience_s:
                raise
            # A device may take a little longer than was foreseen.
            wait_s = max(error.retry_after_s, 0.01)
        patience_s -= wait_s
        yield Sleep(wait_s)


def watch(timeout_s, backoff, interval=None, heartbeat=10.0, sensors=False, suppress_redundant=False, resume_token=b"",
          **filters):
    """The Subscription of a stream of samples."""
    request = pb.SubscribeRequest(mode=pb.SubscribeRequest.MODE_STREAM,
                                  stream_mode=pb.SubscribeRequest.STREAM_MODE_SAMPLE, filter=_filter(**filters),
                                  sensors=sensors, suppress_redundant=suppress_redundant)
    if interval is not None:
        _values.set_ns(request.sample_interval, _values.to_ns(interval))
    return _subscription(request, heartbeat, timeout_s, backoff, resume_token)


def watch_state(timeout_s, backoff, heartbeat=30.0, resume_token=b"", **filters):
    """The Subscription of a stream of changes."""
    request = pb.SubscribeRequest(mode=pb.SubscribeRequest.MODE_STREAM,
                                  stream_mode=pb.SubscribeRequest.STREAM_MODE_ON_CHANGE, filter=_filter(**filters))
    return _subscription(request, heartbeat, timeout_s, backoff, resume_token)


def board_events(timeout_s, backoff, device="", follow=False):
    return BoardEvents(device, follow, timeout_s, backoff)


def _subscription(request, heartbeat, timeout_s, backoff, resume_token):
    if heartbeat is not None:
        _values.set_ns(request.heartbeat_interval, _values.to_ns(heartbeat))
    return Subscription(request, timeout_s, backoff, resume_token)


def _all_of(kind, messages):
    return tuple(map(kind.of, messages))


def _names(names):
    return [names] if isinstance(names, str) else list(names)


def _filter(vm="", context="", device="", events=()):
    return pb.Filter(device=device, vm=vm, context=context, events=_names(events))


def _sensor_filter(device, names):
    return sensors_pb2.SensorFilter(device=device, names=_names(names))
