# SPDX-License-Identifier: Apache-2.0
"""A tenant's client: of the Python package, `sideband`; or the package's bare messages and stubs, for tests of what its
own client does not show.

    with tenant_client.connect(site, "tenant-a") as client:
        client.devices()
    pb = tenant_client.messages()
    with tenant_client.Client(site, "tenant-a") as client:
        client.telemetry.ListDevices(pb.ListDevicesRequest())

`bare_messages` is without the package.
"""

import json
import sys

import grpc

import programs

sys.path.insert(0, programs.runfile("client/python"))
import sideband  # noqa: E402
from sideband._proto.sideband.v1 import telemetry_pb2, telemetry_pb2_grpc  # noqa: E402

_CALL_S = programs.PATIENCE_S


def connect(site, user, **options):
    """A sideband.Client of a site's user."""
    config = sideband.Config("localhost:%d" % site.grpc_port, site.path("ca.pem"), site.path(user + ".pem"),
                             site.path(user + ".key"))
    return sideband.Client(config, timeout=_CALL_S, **options)


def messages():
    return telemetry_pb2


def stubs():
    return telemetry_pb2_grpc


# A client beyond its quota waits for the daemon's retry time, and repeats the call.
_PATIENCE = json.dumps({"methodConfig": [{
    "name": [{"service": "sideband.v1.Telemetry"}, {"service": "sideband.v1.Confidential"}],
    "retryPolicy": {"maxAttempts": 5, "initialBackoff": "1s", "maxBackoff": "1s", "backoffMultiplier": 1,
                    "retryableStatusCodes": ["RESOURCE_EXHAUSTED"]}}]})


class Client:
    """A connection of a site's user; None has no certificate. A patient client obeys its quota. `generated` are stubs."""

    def __init__(self, site, user, patient=False, generated=telemetry_pb2_grpc):
        own = (site.read(user + ".key"), site.read(user + ".pem")) if user is not None else (None, None)
        credentials = grpc.ssl_channel_credentials(site.read("ca.pem"), *own)
        options = (("grpc.service_config", _PATIENCE),) if patient else ()
        self._channel = grpc.secure_channel("127.0.0.1:%d" % site.grpc_port, credentials, options)
        self.telemetry = generated.TelemetryStub(self._channel)
        self.confidential = generated.ConfidentialStub(self._channel)

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
