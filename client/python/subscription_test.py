# SPDX-License-Identifier: Apache-2.0
"""What a stream yields, without a network: resumption, gaps, older daemons, and daemons that contradict themselves."""

import math
import unittest

import fake_daemon
import sideband
from fake_daemon import gap, resumed, synced, update
from sideband._proto.sideband.v1 import sensors_pb2, telemetry_pb2 as pb
from sideband._resumption import Resumption
from sideband._subscription import Subscription

Kind, Reason = sideband.InconsistentKind, sideband.GapReason
FIRST_S = 1_700_000_000


def request(mode=pb.SubscribeRequest.STREAM_MODE_SAMPLE, **more):
    message = pb.SubscribeRequest(mode=pb.SubscribeRequest.MODE_STREAM, stream_mode=mode, **more)
    message.heartbeat_interval.seconds = 5
    return message


class SubscriptionTestCase(unittest.TestCase):
    mode = pb.SubscribeRequest.STREAM_MODE_SAMPLE

    def setUp(self):
        self.stream = Subscription(request(self.mode), timeout_s=3.0)

    def connect(self):
        """The resume token with which a connection is opened."""
        return self.stream.request().resume_token

    def lose(self):
        self.stream.ended(sideband.Unavailable("gone"))

    def take(self, *responses):
        """What the responses yield, in a short form."""
        found = []
        for response in responses:
            found += self.stream.received(response)
            self.stream.settle()
        return [self.short(item) for item in found]

    @staticmethod
    def short(item):
        if isinstance(item, sideband.Update):
            return item.snapshot.snapshot_id
        if isinstance(item, sideband.Gap):
            return (item.device, item.reason)
        return item.kind if isinstance(item, sideband.Inconsistent) else item


class AbsentNameTest(unittest.TestCase):
    def test_a_not_found_names_what_was_asked_for(self):
        for names, message in ((pb.Filter(), "absent"), (pb.Filter(vm="vm9"), "absent: VM 'vm9'"),
                               (pb.Filter(device="gpu0", context="c", events=["a"]),
                                "absent: device 'gpu0' or context 'c' or event 'a'")):
            stream = Subscription(request(filter=names), timeout_s=3.0)
            with self.assertRaises(sideband.NotFound) as raised:
                stream.ended(sideband.NotFound("absent"))
            self.assertEqual(raised.exception.message, message)


class ResumptionTest(SubscriptionTestCase):
    def test_the_first_connection_has_no_token(self):
        self.assertEqual(self.connect(), b"")
        self.assertEqual(self.take(update(1, sequence=1, token=b"a"), synced(2, b"b")), [1])
        self.assertEqual(self.stream.resume_token, b"b")

    def test_a_resumed_stream_has_no_gap(self):
        self.connect()
        self.take(update(1, sequence=1, token=b"a"))
        self.lose()
        self.assertEqual(self.connect(), b"a")
        self.assertEqual(self.take(resumed(1, "gpu0"), update(2, sequence=2, replayed=True), update(3, sequence=3)), [2, 3])

    def test_a_gap_of_the_daemons(self):
        self.connect()
        self.take(update(1, sequence=1, token=b"a"))
        self.lose()
        self.connect()
        self.assertEqual(self.take(gap(1, pb.Gap.REASON_POLICY_CHANGED), update(9, sequence=2)),
                         [("gpu0", Reason.POLICY_CHANGED), 9])

    def test_a_gap_of_sensors_alone(self):
        self.connect()
        self.take(update(1, sequence=1, token=b"a"))
        self.lose()
        self.connect()
        missed = gap(2)
        missed.gap.sensors = True
        self.assertEqual(self.take(resumed(1, "gpu0")), [])
        found, = self.stream.received(missed)
        self.assertEqual((found.device, found.reason, found.sensors), ("gpu0", Reason.NOT_KEPT, True))
        self.assertEqual(self.take(update(2, sequence=3, replayed=True)), [2])

    def test_a_resumption_of_all_devices(self):
        self.connect()
        self.take(update(1, sequence=1), update(1, sequence=2, token=b"a", device="gpu1"))
        self.lose()
        self.connect()
        self.assertEqual(self.take(resumed(1), update(2, sequence=2), update(2, sequence=3, device="gpu1")), [2, 2])

    def test_a_token_is_that_of_what_was_dealt_with(self):
        self.connect()
        self.take(update(1, sequence=1, token=b"a"))
        self.stream.received(update(2, sequence=2, token=b"b"))
        self.lose()
        self.assertEqual(self.connect(), b"a")

    def test_a_token_of_an_earlier_program(self):
        self.stream = Subscription(request(), 3.0, resume_token=b"earlier")
        self.assertEqual(self.connect(), b"earlier")
        self.assertEqual(self.take(resumed(1, "gpu0"), update(5, sequence=2, replayed=True)), [5])

    def test_a_device_that_is_new_has_missed_nothing(self):
        self.connect()
        self.take(update(1, sequence=1, token=b"a"))
        self.lose()
        self.connect()
        self.assertEqual(self.take(resumed(1, "gpu0"), update(1, sequence=2, device="gpu1")), [1])

    def test_a_daemon_that_forgets_its_promise(self):
        self.connect()
        self.take(update(1, sequence=1, token=b"a"))
        self.lose()
        self.connect()
        self.assertEqual(self.take(update(5, sequence=1), update(6, sequence=2)),
                         [Kind.RESUMPTION, ("gpu0", Reason.NO_RESUMPTION), 5, 6])

    def test_a_resumption_that_nobody_asked_for(self):
        self.connect()
        self.assertEqual(self.take(resumed(1), update(1, sequence=2)), [Kind.RESUMPTION, 1])

    def test_a_token_that_is_too_long_is_not_sent(self):
        self.connect()
        self.assertEqual(self.take(update(1, sequence=1, token=b"x" * ((32 << 10) + 1))), [Kind.CONTENT, 1])
        self.assertEqual(self.connect(), b"")


class OlderDaemonTest(SubscriptionTestCase):
    """Its responses have neither numbers nor tokens."""

    def test_a_loss_is_a_gap(self):
        self.connect()
        self.assertEqual(self.take(update(1), synced(), update(2)), [1, 2])
        self.lose()
        self.assertEqual(self.connect(), b"")
        found = self.stream.received(update(5))
        self.assertEqual(found[0], sideband.Gap("gpu0", (FIRST_S + 2) * 10 ** 9, (FIRST_S + 5) * 10 ** 9,
                                                Reason.NO_RESUMPTION))
        self.assertEqual(found[1].snapshot.snapshot_id, 5)
        self.assertEqual(self.take(update(6)), [6], "once")

    def test_each_device_has_its_gap(self):
        self.connect()
        self.take(update(1), update(1, device="gpu1"))
        self.lose()
        self.connect()
        self.assertEqual(self.take(update(3), update(3, device="gpu1")),
                         [("gpu0", Reason.NO_RESUMPTION), 3, ("gpu1", Reason.NO_RESUMPTION), 3])

    def test_the_snapshot_before_the_loss_is_left_out(self):
        self.connect()
        self.take(update(1))
        self.lose()
        self.connect()
        self.assertEqual(self.take(update(1), update(2)), [2])

    def test_a_newer_daemon_was_replaced(self):
        self.connect()
        self.take(update(1, sequence=1, token=b"a"))
        self.lose()
        self.assertEqual(self.connect(), b"a")
        self.assertEqual(self.take(update(5)), [("gpu0", Reason.NO_RESUMPTION), 5])
        self.lose()
        self.assertEqual(self.connect(), b"", "its token tells of an earlier time")

    def test_with_the_token_of_an_earlier_program(self):
        self.stream = Subscription(request(), 3.0, resume_token=b"earlier")
        self.connect()
        self.assertEqual(self.take(update(5)), [("gpu0", Reason.NO_RESUMPTION), 5])


class PaceTest(SubscriptionTestCase):
    """The delays between connections."""

    def setUp(self):
        self.stream = Subscription(request(), 3.0, sideband.Backoff(first_s=1, last_s=64))

    def delays(self, *responses):
        """The bounds of five delays, each after a connection with these responses: powers of two."""
        found = []
        for _ in range(5):
            self.connect()
            self.take(*responses)
            found.append(2 ** math.ceil(math.log2(self.stream.ended(sideband.Unavailable("gone")))))
        return found

    def test_a_daemon_that_falls_over_each_time(self):
        self.assertEqual(self.delays(resumed(1)), [1, 2, 4, 8, 16])

    def test_a_connection_with_the_present_state(self):
        self.assertEqual(self.delays(update(1, sequence=1), synced(2)), [1] * 5)


class SilenceTest(SubscriptionTestCase):
    def test_the_first_response_has_the_clients_time(self):
        self.connect()
        self.assertEqual(self.stream.silence_max_s(), 3.0)

    def test_then_two_heartbeats(self):
        self.connect()
        self.take(update(1, sequence=1))
        self.assertEqual(self.stream.silence_max_s(), 10.0)

    def test_older_daemons_have_no_heartbeats(self):
        self.connect()
        self.take(update(1))
        self.assertIsNone(self.stream.silence_max_s())

    def test_without_heartbeats(self):
        self.stream = Subscription(pb.SubscribeRequest(), timeout_s=3.0)
        self.connect()
        self.take(update(1, sequence=1))
        self.assertIsNone(self.stream.silence_max_s())


class LiarTest(SubscriptionTestCase):
    def setUp(self):
        super().setUp()
        self.connect()

    def test_numbers_that_jump(self):
        self.assertEqual(self.take(update(1, sequence=1), update(2, sequence=3), update(3, sequence=4)),
                         [1, Kind.SEQUENCE, 2, 3])

    def test_numbers_that_go_back_or_end(self):
        self.assertEqual(self.take(update(1, sequence=1), update(2, sequence=1)), [1, Kind.SEQUENCE, 2])
        self.assertEqual(self.take(update(3)), [Kind.SEQUENCE, 3])

    def test_a_stream_that_does_not_begin_with_one(self):
        self.assertEqual(self.take(update(1, sequence=7)), [Kind.SEQUENCE, 1])

    def test_contradictions_come_before_their_update(self):
        self.assertEqual(self.take(update(1, sequence=1), update(2, fake_daemon.row(1), sequence=2)),
                         [1, Kind.COUNT_FELL, 2])

    def test_they_are_seen_over_a_loss(self):
        self.take(update(1, sequence=1, token=b"a"))
        self.lose()
        self.connect()
        self.assertEqual(self.take(resumed(1), update(2, fake_daemon.row(1), sequence=2)), [Kind.COUNT_FELL, 2])

    def test_what_was_not_asked_for(self):
        change = pb.SubscribeResponse(change=pb.StateChange(), sequence=1)
        sensors = pb.SubscribeResponse(sensors=sensors_pb2.DeviceSensors(device="gpu0"), sequence=2)
        self.assertEqual(self.take(change, sensors), [Kind.CONTENT, Kind.CONTENT])

    def test_a_kind_of_a_newer_daemon_is_passed_over(self):
        self.assertEqual(self.take(pb.SubscribeResponse(sequence=1), update(1, sequence=2)), [1])

    def test_a_million_rows_are_refused(self):
        response = pb.SubscribeResponse(sequence=1)
        response.update.device = "gpu0"
        response.update.scopes.extend([pb.ScopeCounters()] * 10 ** 6)
        with self.assertRaisesRegex(sideband.ProtocolError, "gpu0: 1000000 rows in one answer: this client takes 65536"):
            self.stream.received(response)


class MemoryTest(unittest.TestCase):
    def test_devices_without_end(self):
        resumption = Resumption(b"token")
        for number in range(10_000):
            resumption.cover("gpu%d" % number)
            resumption.gap("gpu%d" % number, number)
        self.assertEqual(len(resumption), 4096)


class ChangesTest(SubscriptionTestCase):
    mode = pb.SubscribeRequest.STREAM_MODE_ON_CHANGE

    def change(self, sequence, **item):
        return pb.SubscribeResponse(change=pb.StateChange(items=[pb.StateItem(**item)]), sequence=sequence, resume_token=b"t")

    def test_items(self):
        self.connect()
        device, scope, mark = self.take(
            self.change(1, device=pb.Device(name="gpu0", state=pb.Device.STATE_FRESH)),
            self.change(2, scope=pb.ScopeState(scope=pb.Scope(device="gpu0", vm="vm1"), flags=["overflow"])),
            self.change(3, mark=pb.MarkInfo(mark_id=4), gone=True))
        self.assertEqual((device.item.name, device.item.state, device.gone), ("gpu0", "fresh", False))
        self.assertEqual((str(scope.item.scope), scope.item.flags), ("gpu0/vm1", ("overflow",)))
        self.assertEqual((mark.item.mark_id, mark.gone), (4, True))

    def test_limits_and_board_events(self):
        sensor = sensors_pb2.Sensor(name="sideband_power_limit_watts", value=300)
        self.connect()
        limit, event = self.take(self.change(1, limit=pb.SensorLimit(device="gpu0", sensor=sensor)),
                                 self.change(2, board_event=fake_daemon.xid(1)))
        self.assertEqual((limit.item.sensor.device, limit.item.sensor.value), ("gpu0", 300))
        self.assertEqual(event.item.xid, 63)

    def test_the_present_state_ends_with_synced(self):
        self.connect()
        self.assertEqual(self.take(synced(1), synced(2, heartbeat=True)), [sideband.Synced(False), sideband.Synced(True)])

    def test_a_loss(self):
        self.connect()
        self.take(self.change(1, device=pb.Device(name="gpu0")))
        self.lose()
        self.assertEqual(self.connect(), b"t")
        self.assertEqual(self.take(resumed(1), synced(2)), [], "what was known holds")
        self.assertEqual(self.take(self.change(3, device=pb.Device(name="gpu0")), synced(4, heartbeat=True))[1:],
                         [sideband.Synced(True)])
        self.lose()
        self.connect()
        self.assertEqual(self.take(gap(1, pb.Gap.REASON_STATE_CHANGED, device=""), synced(2)),
                         [("", Reason.STATE_CHANGED), sideband.Synced(False)])
        self.lose()
        self.connect()
        self.assertEqual(self.take(resumed(1), gap(2, device="gpu1"), synced(3)), [("gpu1", Reason.NOT_KEPT)],
                         "messages of a board are missing, but no state")
        self.lose()
        self.connect()
        self.assertEqual(self.take(synced(1)), [Kind.RESUMPTION, ("", Reason.NO_RESUMPTION), sideband.Synced(False)])

    def test_an_older_daemon_has_no_such_streams(self):
        self.connect()
        with self.assertRaisesRegex(sideband.Unimplemented, "older than this client"):
            self.stream.received(update(1))
        with self.assertRaisesRegex(sideband.Unimplemented, "older than this client"):
            self.stream.ended(sideband.InvalidArgument("stream_mode: must be STREAM_MODE_SAMPLE"))


if __name__ == "__main__":
    unittest.main()
