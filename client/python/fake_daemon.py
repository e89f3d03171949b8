# SPDX-License-Identifier: Apache-2.0
"""A gRPC server with the daemon's services and scripted answers, for tests.

    with FakeDaemon() as daemon:
        daemon.answers["ListDevices"] = pb.ListDevicesResponse(devices=[…])
        daemon.streams.append([response, response, Fail("UNAVAILABLE")])    # the first connection
        daemon.streams.append([response, HANG])                             # the second one
        client = sideband.Client(address=daemon.address)

A stream's script ends the stream with OK, after Fail with its status, and after HANG not until the client does. When all
scripts are used up, streams fail with UNIMPLEMENTED. `requests` has what was asked, as (method, request, metadata).
"""

import collections
import concurrent.futures
import os
import shutil
import tempfile
import threading

import grpc

from sideband._proto.sideband.v1 import sensors_pb2, sensors_pb2_grpc, telemetry_pb2 as pb, telemetry_pb2_grpc

HANG = object()
Fail = collections.namedtuple("Fail", "code details metadata", defaults=("scripted", ()))


class FakeDaemon:
    """Listens on a Unix socket, or with `credentials` on a port of the loopback."""

    def __init__(self, credentials=None):
        self.answers = {}   # method: an answer, a Fail, or a list of them for one call each
        self.streams = []   # scripts
        self.requests = []
        self._ended = threading.Event()
        self._folder = tempfile.mkdtemp(prefix="sb-")
        self._pool = concurrent.futures.ThreadPoolExecutor(max_workers=16)
        self._server = grpc.server(self._pool, options=[("grpc.so_reuseport", 0), ("grpc.max_send_message_length", -1)])
        telemetry_pb2_grpc.add_TelemetryServicer_to_server(_services(telemetry_pb2_grpc.TelemetryServicer, self), self._server)
        sensors_pb2_grpc.add_SensorsServicer_to_server(_services(sensors_pb2_grpc.SensorsServicer, self), self._server)
        if credentials is None:
            self.address = "unix:" + os.path.join(self._folder, "socket")
            self._server.add_insecure_port(self.address)
        else:
            self.address = "localhost:%d" % self._server.add_secure_port("localhost:0", credentials)
        self._server.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._ended.set()
        self._server.stop(0).wait()
        self._pool.shutdown()
        shutil.rmtree(self._folder)

    def asked(self, method):
        """The requests of a method so far."""
        return [request for name, request, _ in self.requests if name == method]

    def answer(self, method, request, context):
        self._note(method, request, context)
        scripted = self.answers.get(method, Fail("UNIMPLEMENTED"))
        if isinstance(scripted, list):
            scripted = scripted.pop(0)
        return self._fail(scripted, context) if isinstance(scripted, Fail) else scripted

    def stream(self, method, request, context):
        self._note(method, request, context)
        for step in self.streams.pop(0) if self.streams else [Fail("UNIMPLEMENTED")]:
            if isinstance(step, Fail):
                self._fail(step, context)
            elif step is HANG:
                self._hang(context)
            else:
                yield step

    def _note(self, method, request, context):
        self.requests.append((method, request, dict(context.invocation_metadata())))

    @staticmethod
    def _fail(step, context):
        context.set_trailing_metadata(step.metadata)
        context.abort(getattr(grpc.StatusCode, step.code), step.details)

    def _hang(self, context):
        ended = threading.Event()
        if context.add_callback(ended.set):
            while not ended.wait(0.05) and not self._ended.is_set():
                pass


def _services(kind, daemon):
    """A servicer whose methods are answered by the daemon's scripts."""
    def method(name):
        if name in ("Subscribe", "WatchBoardEvents"):
            return lambda self, request, context: daemon.stream(name, request, context)
        return lambda self, request, context: daemon.answer(name, request, context)
    names = [name for name in vars(kind) if name[0].isupper()]
    return type("Scripted", (kind,), {name: method(name) for name in names})()


def row(count, vm="vm1", context="", generation=1, **more):
    """A ScopeCounters message of one event, "cycles"."""
    scope = pb.Scope(device=more.pop("device", "gpu0"), vm=vm, vm_uuid=more.pop("vm_uuid", ""), context=context,
                     generation=generation)
    return pb.ScopeCounters(scope=scope, state=pb.ScopeCounters.STATE_ACTIVE,
                            counters=[pb.Counter(event="cycles", count=count)], **more)


def snapshot(number, *rows, device="gpu0", boot_id=7):
    """A Snapshot message, the `number`-th of its device, a second after the one before."""
    message = pb.Snapshot(device=device, boot_id=boot_id, snapshot_id=number, reference_time_ns=number * 1_000_000_000,
                          scopes=rows or [row(number * 1000)])
    message.host_time.seconds = 1_700_000_000 + number
    return message


def update(number, *rows, sequence=0, token=b"", device="gpu0", boot_id=7, **more):
    """A response with that snapshot; without a sequence, as older daemons send it."""
    return pb.SubscribeResponse(update=snapshot(number, *rows, device=device, boot_id=boot_id), sequence=sequence,
                                resume_token=token, **more)


def synced(sequence=0, token=b"", **more):
    return pb.SubscribeResponse(sync_response=True, sequence=sequence, resume_token=token, **more)


def resumed(sequence, device=""):
    return pb.SubscribeResponse(resumed=pb.Resumed(device=device), sequence=sequence)


def gap(sequence, reason=pb.Gap.REASON_NOT_KEPT, device="gpu0"):
    return pb.SubscribeResponse(gap=pb.Gap(device=device, reason=reason), sequence=sequence)


def xid(sequence, number=63, device="gpu0"):
    """A WatchBoardEventsResponse."""
    message = sensors_pb2.DriverMessage(xid=number, sequence=sequence, text="Row remapping pending")
    return sensors_pb2.WatchBoardEventsResponse(device=device, driver_message=message)
