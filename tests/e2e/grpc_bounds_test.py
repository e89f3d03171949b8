# SPDX-License-Identifier: Apache-2.0
"""The bounds on one peer of the gRPC listener, while others are served normally."""

import resource
import unittest

import grpc

import exposition
import http2_peer
import programs
import site_layout
import tenant_client

SNAPSHOT = "/sideband.v1.Telemetry/GetSnapshot"
CALLS_AT_A_TIME = 128
CALLS_AT_ONCE = 100
CROWD = 1000


class GrpcBoundsTest(unittest.TestCase):
    def setUp(self):
        self.site = site_layout.Site(interval="100ms")
        self.addCleanup(self.site.close)
        self.site.start()
        self.pb = tenant_client.messages()

    def client(self, user):
        client = tenant_client.Client(self.site, user)
        self.addCleanup(client.__exit__)
        return client

    def peer(self, user, **options):
        peer = http2_peer.Peer(self.site, user, **options)
        self.addCleanup(peer.close)
        return peer

    def own(self, name, **labels):
        return exposition.value(self.site.metrics("operator"), name, **labels)

    def ask(self, client):
        """(code, message) of a call."""
        try:
            client.telemetry.GetSnapshot(self.pb.GetSnapshotRequest(), timeout=programs.PATIENCE_S)
        except grpc.RpcError as error:
            return error.code(), error.details()
        return grpc.StatusCode.OK, ""

    def test_pings(self):
        """A peer that pings without limit is disconnected; streams of others continue."""
        stream = iter(self.client("tenant-a").stream())
        next(stream)
        peer = self.peer("tenant-b")
        peer.ping(10)
        self.assertEqual(peer.goodbye(), (http2_peer.ENHANCE_YOUR_CALM, "too_many_pings"))
        with self.assertRaises(ConnectionError):
            peer.goodbye()
        for _ in range(10):
            next(stream)

    def test_connections_that_do_nothing(self):
        """Most of a crowd of idle connections are closed; streams and calls of others continue."""
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        if hard < CROWD + 500:
            self.skipTest("this host allows %d files only" % hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        stream = iter(self.client("tenant-a").stream(timeout=300))
        next(stream)
        before = self.own("process_resident_memory_bytes")
        crowd = []
        for _ in range(CROWD):
            try:
                crowd.append(self.peer("tenant-b"))
            except OSError:
                pass  # the connection was not accepted
        # Without a bound they would be 100 MB.
        self.assertLess(self.own("process_resident_memory_bytes") - before, 85 << 20)
        with self.assertRaises(ConnectionError):
            crowd[0].goodbye()
            crowd[0].goodbye()
        self.assertEqual(self.ask(self.client("operator"))[0], grpc.StatusCode.OK)
        for _ in range(10):
            next(stream)

    def test_calls_without_end(self):
        """Beyond its quota an identity receives a retry time; other identities are not affected."""
        greedy, other = self.client("tenant-b"), self.client("tenant-a")
        request = self.pb.GetSnapshotRequest()
        calls = [greedy.telemetry.GetSnapshot.future(request, timeout=programs.PATIENCE_S) for _ in range(1000)]
        self.assertEqual(self.ask(other)[0], grpc.StatusCode.OK)
        good = sum(call.code() == grpc.StatusCode.OK for call in calls)
        refused = [call for call in calls if call.code() != grpc.StatusCode.OK]
        self.assertGreaterEqual(good, CALLS_AT_ONCE)
        self.assertGreater(len(refused), 0)
        for call in refused:
            self.assertEqual((call.code(), call.details()),
                             (grpc.StatusCode.RESOURCE_EXHAUSTED, "at most 50 calls a second"))
            wait_ms = int(dict(call.trailing_metadata())["grpc-retry-pushback-ms"])
            self.assertTrue(0 < wait_ms <= 20, wait_ms)
        self.assertEqual(self.own("sideband_grpc_requests_total", method="GetSnapshot", code="RESOURCE_EXHAUSTED"),
                         len(refused))
        programs.wait_until(lambda: self.ask(greedy)[0] == grpc.StatusCode.OK, "it is answered again")

    def test_answers_that_nobody_reads(self):
        """A peer that reads no answer gets no more calls, on any connection, until the earlier ones have ended."""
        deaf = [self.peer("tenant-b", window=0) for _ in range(2)]
        own, other = self.client("tenant-b"), self.client("tenant-a")

        def is_full():
            for peer in deaf:
                peer.call(SNAPSHOT)
            return self.ask(own) == (grpc.StatusCode.RESOURCE_EXHAUSTED,
                                     "at most %d calls at a time; retry in 1s" % CALLS_AT_A_TIME)

        programs.wait_until(is_full, "as many calls as it may have wait for their reader")
        self.assertEqual(self.ask(other)[0], grpc.StatusCode.OK)
        for peer in deaf:
            peer.close()
        programs.wait_until(lambda: self.ask(own)[0] == grpc.StatusCode.OK, "it is answered again")

    def test_a_reader_that_takes_nothing_for_two_heartbeats(self):
        deaf = self.peer("tenant-b", window=0)
        request = self.pb.SubscribeRequest(mode=self.pb.SubscribeRequest.MODE_STREAM, heartbeat_interval={"seconds": 1})
        deaf.call("/sideband.v1.Telemetry/Subscribe", request.SerializeToString())

        def ended():
            return self.own("sideband_grpc_requests_total", method="Subscribe", code="DEADLINE_EXCEEDED")
        programs.wait_until(lambda: ended() == 1, "its end")

    def test_streams_that_nobody_reads(self):
        """Each stream costs one message, and a reader that resumes gets the newest."""
        deaf = self.peer("tenant-b", window=0)
        request = self.pb.SubscribeRequest(mode=self.pb.SubscribeRequest.MODE_STREAM)
        for _ in range(CALLS_AT_ONCE):
            deaf.call("/sideband.v1.Telemetry/Subscribe", request.SerializeToString())
        programs.wait_until(lambda: self.own("sideband_grpc_streams") == 64, "as many streams as it may have")
        stream = iter(self.client("tenant-a").stream())
        first = next(stream).update.snapshot_id
        for _ in range(10):
            next(stream)
        before = self.own("process_resident_memory_bytes")
        for _ in range(20):
            newest = next(stream)
        self.assertGreater(newest.update.snapshot_id, first)
        self.assertLess(self.own("process_resident_memory_bytes") - before, 4 << 20)
        deaf.close()
        programs.wait_until(lambda: self.own("sideband_grpc_streams") == 1, "its streams have ended")
