# SPDX-License-Identifier: Apache-2.0
"""Both clients against a scripted daemon: calls, errors, streams that are cut, that fall silent and that are hostile.

The cases are written once, for a client whose results are at once or awaited.
"""

import asyncio
import os
import resource
import tempfile
import threading
import time
import unittest

import grpc

import fake_daemon
import files_test
import sideband
from fake_daemon import HANG, Fail, resumed, synced, update
from sideband._proto.sideband.v1 import sensors_pb2, telemetry_pb2 as pb

QUICK = sideband.Backoff(first_s=0.01, last_s=0.05, patience_s=0.2)
# Generous: a loaded machine must not fail a test that only waits.
PATIENCE_S = 60


class Synchronous:
    """Runs the cases with sideband.Client."""

    def client(self, **options):
        client = sideband.Client(**self.options(options))
        self.addCleanup(client.close)
        return client

    def call(self, name, *arguments, **keywords):
        return getattr(self.client(), name)(*arguments, **keywords)

    def take(self, count, name="watch", client=None, **keywords):
        """The first `count` items of a stream, and its resume token; all of a stream that ends."""
        items = []
        with getattr(client or self.client(), name)(**keywords) as stream:
            for item in stream:
                items.append(item)
                if len(items) == count:
                    return items, stream.resume_token
        return items, stream.resume_token


class Asynchronous:
    """Runs the cases with sideband.aio.Client, each step in an event loop of its own."""

    def client(self, **options):
        return self.options(options)

    def call(self, name, *arguments, **keywords):
        async def run():
            async with sideband.aio.Client(**self.options({})) as client:
                return await getattr(client, name)(*arguments, **keywords)
        return asyncio.run(run())

    def take(self, count, name="watch", client=None, **keywords):
        async def run():
            items = []
            async with sideband.aio.Client(**(client or self.options({}))) as connected:
                async with getattr(connected, name)(**keywords) as stream:
                    async for item in stream:
                        items.append(item)
                        if len(items) == count:
                            break
                    return items, stream.resume_token
        return asyncio.run(run())


class ClientTestCase(unittest.TestCase):
    def setUp(self):
        self.daemon = fake_daemon.FakeDaemon()
        self.addCleanup(self.daemon.__exit__)

    def options(self, options):
        return {"config": sideband.Config(address=self.daemon.address), "timeout": PATIENCE_S, "backoff": QUICK, **options}

    def numbers(self, items):
        """The snapshots of updates by their numbers; other items as they are."""
        return [item.snapshot.snapshot_id if isinstance(item, sideband.Update) else item for item in items]


class CallCases:
    def test_devices(self):
        self.daemon.answers["ListDevices"] = pb.ListDevicesResponse(devices=[pb.Device(name="gpu0", boot_id=2 ** 64 - 1)])
        device, = self.call("devices")
        self.assertEqual((device.name, device.boot_id, device.interval_ns), ("gpu0", 2 ** 64 - 1, None))

    def test_filters(self):
        self.daemon.answers["GetSnapshot"] = pb.GetSnapshotResponse(snapshots=[fake_daemon.snapshot(3)])
        snapshot, = self.call("get", vm="vm1", context="train", device="gpu0", events=["a", "b"])
        self.assertEqual(snapshot.snapshot_id, 3)
        self.call("get", events="a")
        full, one = self.daemon.asked("GetSnapshot")
        self.assertEqual(full.filter, pb.Filter(device="gpu0", vm="vm1", context="train", events=["a", "b"]))
        self.assertEqual(list(one.filter.events), ["a"])

    def test_an_error_has_status_message_and_request(self):
        self.daemon.answers["ListScopes"] = Fail("NOT_FOUND", "no such device", (("x-request-id", "abc-1"),))
        with self.assertRaises(sideband.NotFound) as raised:
            self.call("scopes", "gpu9")
        error = raised.exception
        self.assertEqual((error.code, error.message, error.request_id), ("NOT_FOUND", "no such device", "abc-1"))
        self.assertEqual((str(error), error.retry_after_s), (self.daemon.address + ": no such device", None))

    def a_site(self):
        """vm1 with context train, vm3, which is confidential, and two events; everything that is asked for is absent."""
        scopes = [pb.Scope(device="gpu0", vm="vm1", vm_uuid="6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10", context=context)
                  for context in ("", "train")] + [pb.Scope(device="gpu0", vm="vm3", confidential=True)]
        events = pb.ListEventsResponse.DeviceEvents(
            device="gpu0", events=[pb.Event(name="sm_active_cycles"), pb.Event(name="dram_bytes")])
        self.daemon.answers.update(
            ListDevices=pb.ListDevicesResponse(devices=[pb.Device(name="gpu0")]),
            ListScopes=pb.ListScopesResponse(scopes=scopes), ListEvents=pb.ListEventsResponse(devices=[events]),
            **{method: Fail("NOT_FOUND", "absent") for method in ("GetSnapshot", "GetHistory", "Peek", "Mark")})

    def absent(self, name, *arguments, **keywords):
        """The message of the NotFound, whose text begins with the daemon's address."""
        with self.assertRaises(sideband.NotFound) as raised:
            self.call(name, *arguments, **keywords)
        self.assertEqual(str(raised.exception), "%s: %s" % (self.daemon.address, raised.exception.message))
        return raised.exception.message

    def test_a_not_found_names_what_was_not_found(self):
        self.a_site()
        for keywords, message in (
                ({"vm": "vm2"}, "absent: VM 'vm2' (did you mean 'vm1'?)"),
                ({"vm": "vm3"}, "absent: VM 'vm3' (confidential: its counters are in sealed records only)"),
                ({"vm": "vm1", "context": "trian"}, "absent: context 'trian' (did you mean 'train'?)"),
                ({"device": "gpu1", "vm": "vm9"}, "absent: device 'gpu1' (did you mean 'gpu0'?), VM 'vm9' (did you mean 'vm1'?)"),
                ({"events": iter(["sm_active", "sm"])}, "absent: event 'sm' (did you mean 'sm_active_cycles'?)"),
                ({"vm": "6F1C0A52-3D0E-4A53-9A51-0D4C2A7E9B10", "events": "dram_bytes"}, "absent")):
            with self.subTest(keywords=keywords):
                self.assertEqual(self.absent("get", **keywords), message)
        self.assertEqual(self.absent("history", vm="vm2"), "absent: VM 'vm2' (did you mean 'vm1'?)")
        self.assertEqual(list(self.daemon.asked("GetSnapshot")[4].filter.events), ["sm_active", "sm"])

    def test_a_right_that_is_missing_is_named(self):
        self.a_site()
        self.assertEqual(self.absent("peek", ["sm_active"], vm="vm1"),
                         "absent: it is there, but this call needs the right `peek`")
        self.assertEqual(self.absent("mark", "vm1", context="train"),
                         "absent: it is there, but this call needs the right `mark`")
        self.assertEqual(self.absent("mark", "vm1", context="eval"), "absent: context 'eval'")

    def test_sensors_and_marks_that_are_not_there_are_named(self):
        self.a_site()
        for method in ("GetSensors", "ListSensors", "GetSpan"):
            self.daemon.answers[method] = Fail("NOT_FOUND", "absent")
        self.assertEqual(self.absent("sensors", "gpu0", ["a", "b"]), "absent: sensor 'a' or sensor 'b'")
        self.assertEqual(self.absent("sensor_descriptions", "gpu1"), "absent: device 'gpu1' (did you mean 'gpu0'?)")
        begin, end = (sideband.Mark.of(pb.MarkInfo(mark_id=number, scope=pb.Scope(device="gpu0", vm="vm1")))
                      for number in (3, 4))
        self.assertEqual(self.absent("span", begin, end), "absent: mark '3' or mark '4'")
        self.assertEqual(self.absent("span", begin, end, ["sm"]), "absent: event 'sm' (did you mean 'sm_active_cycles'?)")

    def test_an_operator_is_told_that_it_sees_no_contexts(self):
        self.a_site()
        scopes = [pb.Scope(device="gpu0"), pb.Scope(device="gpu0", vm="vm1")]
        self.daemon.answers["ListScopes"] = pb.ListScopesResponse(scopes=scopes)
        self.assertEqual(self.absent("get", context="train"),
                         "absent: context 'train' (operators see VMs, not their contexts)")

    def test_a_daemon_that_lists_nothing_leaves_its_own_text(self):
        self.daemon.answers["GetSnapshot"] = Fail("NOT_FOUND", "absent")
        self.assertEqual(self.absent("get", device="gpu0", vm="vm1", events=["a"]), "absent")

    def test_without_a_request_id(self):
        with self.assertRaises(sideband.Unimplemented) as raised:
            self.call("devices")
        self.assertIsNone(raised.exception.request_id)

    def test_a_status_that_has_no_class(self):
        self.daemon.answers["ListDevices"] = Fail("DATA_LOSS", "two\nlines")
        with self.assertRaises(sideband.Error) as raised:
            self.call("devices")
        self.assertEqual((raised.exception.code, raised.exception.message), ("DATA_LOSS", "two lines"))

    def test_a_daemon_that_is_not_there(self):
        self.daemon.address += ".none"
        with self.assertRaises(sideband.Unavailable):
            self.call("devices")

    def test_a_mark_waits_as_long_as_the_daemon_says(self):
        refused = Fail("RESOURCE_EXHAUSTED", "later", (("grpc-retry-pushback-ms", "20"),))
        mark = pb.MarkResponse(mark=pb.MarkInfo(mark_id=5, state=pb.MarkInfo.STATE_PENDING))
        self.daemon.answers["Mark"] = [refused, refused, mark]
        self.assertEqual(self.call("mark", "vm1", device="gpu0", label="x").mark_id, 5)
        self.daemon.answers["Mark"] = refused
        with self.assertRaises(sideband.ResourceExhausted) as raised:
            self.call("mark", "vm1", device="gpu0", patience=0.01)
        self.assertEqual(raised.exception.retry_after_s, 0.02)

    def test_the_time_of_a_retry_may_be_in_the_message_alone(self):
        for text, seconds in (("a; retry in 1s", 1), ("a; retry in 1m2.5s", 62.5), ("a; retry in 20ms", 0.02),
                              ("a; retry in 1h", 3600), ("a; retry in 999999999h", 3600), ("retry in 1s", None),
                              ("a; retry in soon", None),
                              ("a; retry in 1s, or not", None)):
            self.daemon.answers["ListDevices"] = Fail("FAILED_PRECONDITION", text)
            with self.subTest(text=text), self.assertRaises(sideband.FailedPrecondition) as raised:
                self.call("devices")
            self.assertEqual(raised.exception.retry_after_s, seconds)

    def test_the_time_of_a_retry_is_an_hour_at_most(self):
        for told, seconds in (("3600000", 3600), ("3600001", 3600), ("999999999", 3600), ("9999999999", None)):
            self.daemon.answers["ListDevices"] = Fail("RESOURCE_EXHAUSTED", "x", (("grpc-retry-pushback-ms", told),))
            with self.subTest(told=told), self.assertRaises(sideband.ResourceExhausted) as raised:
                self.call("devices")
            self.assertEqual(raised.exception.retry_after_s, seconds)

    def test_marks_and_peeks_find_their_device(self):
        scopes = [pb.Scope(device="gpu1", vm="vm1", vm_uuid="u-1")]
        self.daemon.answers["ListScopes"] = pb.ListScopesResponse(scopes=scopes)
        self.daemon.answers["Mark"] = pb.MarkResponse()
        self.daemon.answers["Peek"] = pb.PeekResponse()
        for vm in ("vm1", "u-1"):
            self.call("mark", vm)
            self.call("peek", ["cycles"], vm=vm)
        for method in ("Mark", "Peek"):
            self.assertEqual([request.device for request in self.daemon.asked(method)], ["gpu1", "gpu1"])
        with self.assertRaisesRegex(sideband.NotFound, "nothing that this caller may read is of the VM 'vm2'"):
            self.call("mark", "vm2")

    def test_a_span(self):
        begin, end = (sideband.Mark.of(pb.MarkInfo(mark_id=number, scope=pb.Scope(device="gpu0", vm="vm1")))
                      for number in (3, 4))
        pending = Fail("FAILED_PRECONDITION", "mark 4 is pending; retry in 1ms")
        answer = pb.GetSpanResponse(duration_ns=7, counters=[pb.Counter(event="cycles", count=9)])
        self.daemon.answers["GetSpan"] = [pending, answer]
        span = self.call("span", begin, end)
        self.assertEqual((span.duration_ns, span["cycles"]), (7, 9))
        self.assertEqual((self.daemon.asked("GetSpan")[1].from_mark, self.daemon.asked("GetSpan")[1].to_mark), (3, 4))
        for marks in ((3, 4), (begin, 4), (3, end)):
            with self.assertRaisesRegex(TypeError, r"^a span is between two Marks, not .*: client.marks\(\) returns them$"):
                self.call("span", *marks)

    def test_sensors(self):
        answer = sensors_pb2.GetSensorsResponse()
        device = answer.devices.add(device="gpu0")
        sensor = device.sensors.add(name="sideband_energy_joules_total", value=1.5, count=1500, count_per_unit=1000, group="g")
        sensor.labels.add(name="part", value="board")
        device.groups.add(name="g").age.seconds = 2
        self.daemon.answers["GetSensors"] = answer
        found, = self.call("sensors", names=["sideband_energy_joules_total"])
        self.assertEqual((found.value, found.count, found.label("part"), found.age_ns, found.created_ns),
                         (1.5, 1500, "board", 2 * 10 ** 9, None))

    def test_an_answer_beyond_the_limit_of_bytes(self):
        label = "x" * (17 << 20)
        self.daemon.answers["ListMarks"] = pb.ListMarksResponse(marks=[pb.MarkInfo(label=label)])
        with self.assertRaisesRegex(sideband.ResourceExhausted, "larger than max"):
            self.call("marks")

    def test_an_answer_with_too_many_rows(self):
        many = pb.Snapshot(device="gpu0", scopes=[pb.ScopeCounters()] * 40_000)
        self.daemon.answers["GetSnapshot"] = pb.GetSnapshotResponse(snapshots=[many, many])
        with self.assertRaisesRegex(sideband.ProtocolError, "the daemon: 80000 rows in one answer"):
            self.call("get")


class StreamCases:
    def test_updates(self):
        self.daemon.streams.append([update(1), synced(), update(2, skipped=3), HANG])
        items, _ = self.take(2, vm="vm1", interval=0.25, heartbeat=2)
        self.assertEqual((self.numbers(items), items[1].skipped), ([1, 2], 3))
        request, = self.daemon.asked("Subscribe")
        self.assertEqual((request.filter.vm, request.sample_interval.nanos, request.heartbeat_interval.seconds),
                         ("vm1", 250_000_000, 2))
        self.assertEqual(request.stream_mode, pb.SubscribeRequest.STREAM_MODE_SAMPLE)

    def test_a_cut_stream_goes_on_after_its_token(self):
        self.daemon.streams += [[update(1, sequence=1, token=b"a"), update(2, sequence=2, token=b"b"), Fail("UNAVAILABLE")],
                                [resumed(1, "gpu0"), update(3, sequence=2, replayed=True, token=b"c"), HANG]]
        items, token = self.take(3)
        self.assertEqual((self.numbers(items), items[2].replayed, token), ([1, 2, 3], True, b"c"))
        self.assertEqual([request.resume_token for request in self.daemon.asked("Subscribe")], [b"", b"b"])

    def test_an_older_daemon(self):
        self.daemon.streams += [[update(1), synced(), Fail("UNAVAILABLE")], [update(4), synced(), update(5), HANG]]
        items, token = self.take(4)
        self.assertEqual(self.numbers(items)[0::2], [1, 4])
        self.assertEqual((items[1].device, items[1].reason, token), ("gpu0", "no_resumption", b""))

    def test_a_stream_that_the_daemon_ends(self):
        self.daemon.streams += [[update(1, sequence=1, token=b"a")], [resumed(1), update(2, sequence=2), HANG]]
        self.assertEqual(self.numbers(self.take(2)[0]), [1, 2])

    def test_several_attempts(self):
        lost = [Fail("UNAVAILABLE")]
        self.daemon.streams += [[update(1, sequence=1, token=b"a"), *lost], lost, lost, [Fail("NOT_FOUND")], lost,
                                [resumed(1), update(2, sequence=2), HANG]]
        self.assertEqual(self.numbers(self.take(2)[0]), [1, 2])
        self.assertEqual([request.resume_token for request in self.daemon.asked("Subscribe")[1:]], [b"a"] * 5)

    def test_a_half_open_connection(self):
        """Nothing comes, and nothing ends: after two heartbeats the connection is given up."""
        # A machine that stalls may need more than two connections.
        self.daemon.streams += [[update(1, sequence=1, token=b"a"), HANG]]
        self.daemon.streams += [[resumed(1), update(2, sequence=2), HANG] for _ in range(9)]
        self.assertEqual(self.numbers(self.take(2, heartbeat=1)[0]), [1, 2])
        self.assertEqual(self.daemon.asked("Subscribe")[1].resume_token, b"a")

    def test_heartbeats_keep_it_alive(self):
        def script():
            yield update(1, sequence=1)
            for sequence in range(2, 9):
                time.sleep(1)
                yield synced(sequence, heartbeat=True)
            yield update(2, sequence=9)
            yield HANG
        self.daemon.streams.append(script())
        self.assertEqual(self.numbers(self.take(2, heartbeat=3)[0]), [1, 2])
        self.assertEqual(len(self.daemon.asked("Subscribe")), 1)

    def test_a_daemon_that_does_not_answer_a_new_stream(self):
        self.daemon.streams.append([HANG])
        with self.assertRaisesRegex(sideband.Unavailable, "nothing was received for 0.5 s: the connection is taken for dead"):
            self.take(1, client=self.client(timeout=0.5))

    def test_a_limit_is_waited_for_after_a_loss(self):
        refused = [Fail("RESOURCE_EXHAUSTED", "at most 64 streams at a time")]
        later = [Fail("RESOURCE_EXHAUSTED", "at most 64 streams at a time", (("grpc-retry-pushback-ms", "20"),))]
        self.daemon.streams += [[update(1, sequence=1, token=b"a"), Fail("UNAVAILABLE")], refused, later, refused,
                                [resumed(1), update(2, sequence=2), HANG]]
        self.assertEqual(self.numbers(self.take(2)[0]), [1, 2])
        self.assertEqual([request.resume_token for request in self.daemon.asked("Subscribe")], [b""] + [b"a"] * 4)

    def test_a_limit_is_an_error_of_a_new_stream(self):
        self.daemon.streams.append([Fail("RESOURCE_EXHAUSTED", "at most 64 streams at a time; retry in 1ms")])
        with self.assertRaisesRegex(sideband.ResourceExhausted, "at most 64 streams"):
            self.take(1)

    def test_what_is_final(self):
        self.daemon.streams += [[update(1), Fail("PERMISSION_DENIED", "no more")]]
        with self.assertRaisesRegex(sideband.PermissionDenied, "no more"):
            self.take(2)

    def test_liars(self):
        self.daemon.streams.append([update(1, fake_daemon.row(9, generation=2), sequence=1),
                                    update(2, fake_daemon.row(8, generation=2), sequence=2),
                                    update(3, fake_daemon.row(9, generation=1), sequence=9), HANG])
        items, _ = self.take(6)
        self.assertEqual([getattr(item, "kind", "update") for item in items],
                         ["update", "count_fell", "update", "sequence", "generation_fell", "update"])

    def test_a_million_rows(self):
        """They are refused with a clear error, and take no more memory than the message itself."""
        huge = update(1, sequence=1)
        huge.update.scopes.extend([pb.ScopeCounters()] * 10 ** 6)
        self.daemon.streams.append([huge])
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with self.assertRaisesRegex(sideband.ProtocolError, "gpu0: 1000001 rows in one answer: this client takes 65536"):
            self.take(1)
        # The server's own copy is among it; a million objects of rows would be above 500 MiB.
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        self.assertLess(grown, 300 << 10)

    def test_more_bytes_than_any_message(self):
        huge = update(1, sequence=1)
        huge.update.scopes.add(flags=["x" * (17 << 20)])
        self.daemon.streams.append([update(1, sequence=1), huge])
        with self.assertRaisesRegex(sideband.ResourceExhausted, "larger than max"):
            self.take(2)

    def test_changes(self):
        item = pb.StateItem(device=pb.Device(name="gpu0", state=pb.Device.STATE_STALE))
        change = pb.SubscribeResponse(change=pb.StateChange(items=[item]), sequence=1)
        self.daemon.streams.append([change, synced(2), HANG])
        (changed, done), _ = self.take(2, "watch_state", device="gpu0")
        self.assertEqual((changed.item.state, done), ("stale", sideband.Synced(False)))
        self.assertEqual(self.daemon.asked("Subscribe")[0].stream_mode, pb.SubscribeRequest.STREAM_MODE_ON_CHANGE)

    def test_board_events_that_are_held(self):
        done = sensors_pb2.WatchBoardEventsResponse(sync_response=True)
        self.daemon.streams.append([fake_daemon.xid(1), fake_daemon.xid(2), done, HANG])
        items, _ = self.take(None, "board_events", device="gpu0")
        self.assertEqual([(item.xid, item.sequence) for item in items], [(63, 1), (63, 2)])

    def test_board_events_are_told_once(self):
        done = sensors_pb2.WatchBoardEventsResponse(sync_response=True)
        raised = sensors_pb2.WatchBoardEventsResponse(device="gpu0", raised=sensors_pb2.RaisedEvent(name="power", count=2))
        self.daemon.streams += [[fake_daemon.xid(1), done, raised, Fail("UNAVAILABLE")],
                                [fake_daemon.xid(1), fake_daemon.xid(2), done, HANG]]
        items, _ = self.take(4, "board_events", follow=True)
        self.assertEqual([getattr(item, "sequence", None) or getattr(item, "reason", None) or item.name for item in items],
                         [1, "power", "no_resumption", 2])


class SynchronousCallTest(Synchronous, CallCases, ClientTestCase):
    pass


class AsynchronousCallTest(Asynchronous, CallCases, ClientTestCase):
    pass


class SynchronousStreamTest(Synchronous, StreamCases, ClientTestCase):
    def test_close_wakes_a_reader(self):
        self.daemon.streams.append([update(1), HANG])
        stream = self.client().watch()
        next(stream)
        closer = threading.Timer(0.1, stream.close)
        closer.start()
        self.assertEqual(list(stream), [])
        closer.join()

    def test_close_wakes_a_reader_that_waits_to_connect_again(self):
        self.daemon.streams.append([update(1), Fail("UNAVAILABLE")])
        stream = self.client(backoff=sideband.Backoff(first_s=PATIENCE_S)).watch()
        next(stream)
        closer = threading.Timer(0.1, stream.close)
        closer.start()
        self.assertEqual(list(stream), [])
        closer.join()

    def test_close_wakes_a_reader_that_a_daemon_told_to_wait_for_ever(self):
        self.daemon.streams.append([update(1), Fail("UNAVAILABLE", "later; retry in 999999999h")])
        stream = self.client().watch()
        next(stream)
        closer = threading.Timer(0.1, stream.close)
        closer.start()
        self.assertEqual(list(stream), [])
        closer.join()

    def test_a_limit_that_is_reached_as_the_response_comes(self):
        """The next response has no limit, but its call has been cancelled."""
        self.daemon.streams += [[update(1, sequence=1, token=b"a"), HANG], [resumed(1), update(2, sequence=2), HANG]]
        with self.client().watch(heartbeat=None) as stream:
            items = [next(stream)]
            stream._connection._watchdog.has_bitten = True
            stream._connection.cancel()
            items.append(next(stream))
        self.assertEqual(self.numbers(items), [1, 2])

    def test_no_thread_outlives_a_stream(self):
        self.daemon.streams.append([update(1), HANG])
        with self.client().watch() as stream:
            next(stream)
            self.assertIn("sideband-watchdog", [thread.name for thread in threading.enumerate()])
        self.assertNotIn("sideband-watchdog", [thread.name for thread in threading.enumerate()])


    def test_a_loop_that_is_left_ends_its_stream(self):
        self.daemon.streams.append([update(1), HANG])
        for _ in self.client().watch():
            break
        self.assertNotIn("sideband-watchdog", [thread.name for thread in threading.enumerate()])

    def test_a_client_that_is_closed_ends_its_streams(self):
        self.daemon.streams.append([update(1), HANG])
        client = self.client()
        stream = client.watch()
        next(stream)
        client.close()
        self.assertEqual(list(stream), [])


class AsynchronousStreamTest(Asynchronous, StreamCases, ClientTestCase):
    async def poll(self, stream, seconds):
        """The next item, by attempts that take no longer."""
        while True:
            try:
                return await asyncio.wait_for(stream.__anext__(), seconds)
            except asyncio.TimeoutError:
                pass

    def run_stream(self, use, client_options=None, **keywords):
        """await use(stream), of a new client."""
        async def run():
            async with sideband.aio.Client(**self.options(client_options or {})) as client:
                async with client.watch(**keywords) as stream:
                    return await use(stream)
        return asyncio.run(run())

    def test_a_cancelled_reader_goes_on_with_the_same_connection(self):
        released = threading.Event()
        self.addCleanup(released.set)

        def script():
            yield update(1, sequence=1)
            released.wait(PATIENCE_S)
            yield update(2, sequence=2)
            yield HANG
        self.daemon.streams.append(script())

        async def use(stream):
            items = [await stream.__anext__()]
            for _ in range(3):
                with self.assertRaises(asyncio.TimeoutError):
                    await asyncio.wait_for(stream.__anext__(), 0.05)
            released.set()
            return items + [await self.poll(stream, 0.05)]
        self.assertEqual(self.numbers(self.run_stream(use)), [1, 2])
        self.assertEqual(len(self.daemon.asked("Subscribe")), 1)

    def test_a_delay_outlives_its_reader(self):
        self.daemon.streams.append([update(1), Fail("UNAVAILABLE")])

        async def use(stream):
            await stream.__anext__()
            for _ in range(20):
                with self.assertRaises(asyncio.TimeoutError):
                    await asyncio.wait_for(stream.__anext__(), 0.05)
        self.run_stream(use, {"backoff": sideband.Backoff(first_s=PATIENCE_S)})
        self.assertEqual(len(self.daemon.asked("Subscribe")), 1)

    def test_silence_is_noticed_by_readers_with_less_patience(self):
        # A machine that stalls may need more than two connections.
        self.daemon.streams += [[update(1, sequence=1, token=b"a"), HANG]]
        self.daemon.streams += [[resumed(1), update(2, sequence=2), HANG] for _ in range(9)]

        async def use(stream):
            return [await self.poll(stream, 0.3), await self.poll(stream, 0.3)]
        self.assertEqual(self.numbers(self.run_stream(use, heartbeat=1)), [1, 2])
        self.assertEqual(self.daemon.asked("Subscribe")[1].resume_token, b"a")


class TokenCases:
    """A daemon with TLS, and a token whose file is replaced."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        files_test.make_pair(self.folder, "server")
        with open(self.path("server.key"), "rb") as key, open(self.path("server.pem"), "rb") as chain:
            credentials = grpc.ssl_server_credentials([(key.read(), chain.read())])
        self.daemon = fake_daemon.FakeDaemon(credentials)
        self.addCleanup(self.daemon.__exit__)
        self.write_token("first")

    def path(self, name):
        return os.path.join(self.folder, name)

    def write_token(self, token):
        with open(self.path("new"), "w", encoding="utf-8") as file:
            file.write(token + "\n")
        os.rename(self.path("new"), self.path("token"))

    def options(self, options):
        config = sideband.Config(address=self.daemon.address, ca_file=self.path("server.pem"), token_file=self.path("token"))
        return {"config": config, "timeout": PATIENCE_S, "backoff": QUICK, **options}

    def tokens(self):
        return [metadata["authorization"] for _, _, metadata in self.daemon.requests]

    def test_each_call_has_the_newest(self):
        self.daemon.answers["ListDevices"] = pb.ListDevicesResponse()
        self.call("devices")
        self.write_token("second")
        self.call("devices")
        self.assertEqual(self.tokens(), ["Bearer first", "Bearer second"])

    def test_a_stream_whose_token_has_expired(self):
        def script():
            yield update(1, sequence=1, token=b"a")
            self.write_token("second")
            yield Fail("UNAUTHENTICATED", "the token has expired")
        self.daemon.streams += [script(), [resumed(1), update(2, sequence=2), Fail("UNAUTHENTICATED", "denied")]]
        with self.assertRaisesRegex(sideband.Unauthenticated, "denied"):
            self.take(3)
        self.assertEqual(self.tokens(), ["Bearer first", "Bearer second"])

    def test_a_token_that_is_not_one(self):
        self.write_token("two words")
        with self.assertRaisesRegex(sideband.ConfigError, "token: more than one token, or none"):
            self.call("devices")


class SynchronousTokenTest(Synchronous, TokenCases, ClientTestCase):
    pass


class AsynchronousTokenTest(Asynchronous, TokenCases, ClientTestCase):
    pass


class CertificatesTestCase(unittest.TestCase):
    """A daemon that accepts some certificates, and a client whose file has one of them, or another, at first."""

    first, accepted = "former", ("former", "valid")

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        for name in {"server", self.first, *self.accepted}:
            files_test.make_pair(self.folder, name)
        authorities = b"".join(self.read(name + ".pem") for name in self.accepted)
        server = grpc.ssl_server_credentials([(self.read("server.key"), self.read("server.pem"))], authorities, True)
        self.daemon = fake_daemon.FakeDaemon(server)
        self.addCleanup(self.daemon.__exit__)
        self.use(self.first)
        self.config = sideband.Config(self.daemon.address, *(os.path.join(self.folder, name) for name in (
            "server.pem", "own.pem", "own.key")))

    def read(self, name):
        with open(os.path.join(self.folder, name), "rb") as file:
            return file.read()

    def use(self, name, kinds=(".pem", ".key")):
        for kind in kinds:
            with open(os.path.join(self.folder, "own" + kind), "wb") as file:
                file.write(self.read(name + kind))


class RenewalTest(CertificatesTestCase):
    """Calls of a client whose certificate has expired."""

    first, accepted = "expired", ("valid",)

    def setUp(self):
        super().setUp()
        self.daemon.answers["ListDevices"] = pb.ListDevicesResponse()

    def test_calls(self):
        with sideband.Client(self.config) as client:
            with self.assertRaises(sideband.Unavailable):
                client.devices()
            self.use("valid")
            self.assertEqual(client.devices(), ())

    def test_awaited_calls(self):
        async def run():
            async with sideband.aio.Client(self.config) as client:
                with self.assertRaises(sideband.Unavailable):
                    await client.devices()
                self.use("valid")
                return await client.devices()
        self.assertEqual(asyncio.run(run()), ())


class CertificateCases:
    """Streams that the daemon ends because the certificate of their connection has expired."""

    def options(self, options):
        return {"config": self.config, "timeout": PATIENCE_S, "backoff": QUICK, **options}

    def expire(self, renew):
        """The script of a stream that ends so, after a change of the files."""
        yield update(1, sequence=1, token=b"a")
        renew()
        yield Fail("UNAUTHENTICATED", "the certificate has expired")

    def test_a_renewed_certificate(self):
        self.daemon.streams += [self.expire(lambda: self.use("valid")), [resumed(1), update(2, sequence=2), HANG]]
        self.assertEqual(self.numbers(self.take(2)[0]), [1, 2])
        self.assertEqual([request.resume_token for request in self.daemon.asked("Subscribe")], [b"", b"a"])

    def test_it_is_tried_once(self):
        self.daemon.streams += [self.expire(lambda: self.use("valid")), [Fail("UNAUTHENTICATED", "denied")]]
        with self.assertRaisesRegex(sideband.Unauthenticated, "denied"):
            self.take(2)
        self.assertEqual(len(self.daemon.asked("Subscribe")), 2)

    def test_the_same_certificate(self):
        self.daemon.streams += [self.expire(lambda: self.use("former"))]
        with self.assertRaisesRegex(sideband.Unauthenticated, "the certificate has expired"):
            self.take(2)

    def test_files_that_are_replaced_one_after_the_other(self):
        later = threading.Timer(0.2, self.use, ("valid", (".key",)))
        self.addCleanup(later.join)

        def renew():
            self.use("valid", (".pem",))
            later.start()
        self.daemon.streams += [self.expire(renew), [resumed(1), update(2, sequence=2), HANG]]
        patient = self.client(backoff=sideband.Backoff(first_s=0.01, last_s=0.05, patience_s=PATIENCE_S))
        self.assertEqual(self.numbers(self.take(2, client=patient)[0]), [1, 2])


class SynchronousCertificateTest(Synchronous, CertificateCases, CertificatesTestCase, ClientTestCase):
    pass


class AsynchronousCertificateTest(Asynchronous, CertificateCases, CertificatesTestCase, ClientTestCase):
    pass


class ConnectionTest(unittest.TestCase):
    def refused(self, **members):
        with self.assertRaises(sideband.ConfigError) as raised:
            sideband.Client(sideband.Config(**members))
        return str(raised.exception)

    def test_addresses(self):
        for address in ("host", "host:", ":1", "host:0", "host:65536", "dns:host:1", "http://host:1", "::1:1", "a b:1"):
            self.assertEqual(self.refused(address=address),
                             "address '%s': expected HOST:PORT, [IPv6]:PORT or unix:PATH" % address)
        self.assertEqual(self.refused(address="unix:"), "address 'unix:': the socket's path is missing")

    def test_members_that_are_missing(self):
        self.assertEqual(self.refused(address="host:1"),
                         "no ca_file is given: name it in the configuration file or as an argument")
        self.assertIn("no cert_file is given", self.refused(address="[::1]:1", ca_file="ca"))
        self.assertIn("no key_file is given", self.refused(address="host:1", ca_file="ca", cert_file="c", token_file="t"))


if __name__ == "__main__":
    unittest.main()
