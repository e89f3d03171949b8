# SPDX-License-Identifier: Apache-2.0
"""A tenant's own gRPC client, made from telemetry.proto, and what that imports, as a tenant would make it.

    pb = tenant_client.messages()
    with tenant_client.Client(site, "tenant-a") as client:
        client.telemetry.ListDevices(pb.ListDevicesRequest())
"""

import functools
import importlib
import json
import subprocess
import sys
import tempfile

import grpc

import programs

_CALL_S = programs.PATIENCE_S


@functools.lru_cache(maxsize=None)
def _generated():
    """(messages, stubs): generated once; the files are not needed after the import."""
    with tempfile.TemporaryDirectory(prefix="sb-") as folder:
        # Debian's compiler and plugin: the compiler in python3-grpc-tools is too old for the library.
        subprocess.run(["/usr/bin/protoc", "-I" + programs.runfile("proto/api"), "--python_out=" + folder,
                        "--plugin=protoc-gen-grpc=/usr/bin/grpc_python_plugin", "--grpc_out=" + folder,
                        "sideband/v1/telemetry.proto", "sideband/v1/sensors.proto"], check=True)
        sys.path.insert(0, folder)
        try:
            return (importlib.import_module("sideband.v1.telemetry_pb2"),
                    importlib.import_module("sideband.v1.telemetry_pb2_grpc"))
        finally:
            sys.path.remove(folder)


def messages():
    return _generated()[0]


def stubs():
    return _generated()[1]


# A client beyond its quota waits for the daemon's retry time, and repeats the call.
_PATIENCE = json.dumps({"methodConfig": [{
    "name": [{"service": "sideband.v1.Telemetry"}, {"service": "sideband.v1.Confidential"}],
    "retryPolicy": {"maxAttempts": 5, "initialBackoff": "1s", "maxBackoff": "1s", "backoffMultiplier": 1,
                    "retryableStatusCodes": ["RESOURCE_EXHAUSTED"]}}]})


class Client:
    """A connection of a site's user; None has no certificate. A patient client obeys its quota."""

    def __init__(self, site, user, patient=False):
        own = (site.read(user + ".key"), site.read(user + ".pem")) if user is not None else (None, None)
        credentials = grpc.ssl_channel_credentials(site.read("ca.pem"), *own)
        options = (("grpc.service_config", _PATIENCE),) if patient else ()
        self._channel = grpc.secure_channel("127.0.0.1:%d" % site.grpc_port, credentials, options)
        self.telemetry = stubs().TelemetryStub(self._channel)
        self.confidential = stubs().ConfidentialStub(self._channel)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._channel.close()

    @property
    def channel(self):
        """The channel, for calls of other services."""
        return self._channel

    def snapshot(self, **wanted):
        """The single snapshot that GetSnapshot returns for this filter."""
        response = self.telemetry.GetSnapshot(messages().GetSnapshotRequest(filter=messages().Filter(**wanted)),
                                              timeout=_CALL_S)
        if len(response.snapshots) != 1:
            raise AssertionError("%d snapshots" % len(response.snapshots))
        return response.snapshots[0]

    def subscribe(self, timeout=_CALL_S, **wanted):
        """The stream of a SubscribeRequest with these fields."""
        return self.telemetry.Subscribe(messages().SubscribeRequest(**wanted), timeout=timeout)

    def stream(self, timeout=_CALL_S):
        pb = messages()
        return self.subscribe(timeout, mode=pb.SubscribeRequest.MODE_STREAM,
                              stream_mode=pb.SubscribeRequest.STREAM_MODE_SAMPLE)

    def sealed(self, vm, timeout=_CALL_S):
        return self.confidential.SubscribeSealed(messages().SubscribeSealedRequest(vm=vm), timeout=timeout)


def counters(snapshot):
    """{(event, vm, context): count}, in the form of exposition.counters()."""
    found = {}
    for row in snapshot.scopes:
        for counter in row.counters:
            key = (counter.event, row.scope.vm or None, row.scope.context or None)
            if key in found:
                raise AssertionError("a counter is there twice: %s" % (key,))
            found[key] = counter.count
    return found


def refusal(call):
    """(code, message) of a call or stream that must end with an error before it answers."""
    try:
        answer = call()
        if hasattr(answer, "__next__"):
            answer = next(answer)
    except grpc.RpcError as error:
        return error.code(), error.details()
    raise AssertionError("it was answered: %s" % answer)
