# SPDX-License-Identifier: Apache-2.0
"""Messages become objects: exact numbers, absent fields, values of newer daemons, and sizes that no device has."""

import dataclasses
import unittest

import fake_daemon
import sideband
from sideband import _counters
from sideband._names import did_you_mean
from sideband._proto.sideband.v1 import telemetry_pb2 as pb

LARGEST = 2 ** 64 - 1


class SnapshotTest(unittest.TestCase):
    def test_counts_are_exact(self):
        message = fake_daemon.snapshot(1, fake_daemon.row(LARGEST), fake_daemon.row(2 ** 53 + 1, vm="vm2"))
        snapshot = sideband.Snapshot.of(message)
        self.assertEqual((snapshot.row("vm1")["cycles"], snapshot.row("vm2")["cycles"]), (LARGEST, 2 ** 53 + 1))
        self.assertIs(type(snapshot.row("vm1")["cycles"]), int)

    def test_times_are_whole_nanoseconds(self):
        message = fake_daemon.snapshot(1)
        message.host_time.nanos = 999_999_999
        message.host_time_error.nanos = 7
        snapshot = sideband.Snapshot.of(message)
        self.assertEqual((snapshot.host_time_ns, snapshot.host_time_error_ns), (1_700_000_001_999_999_999, 7))
        self.assertEqual(snapshot.host_time.isoformat(), "2023-11-14T22:13:21.999999+00:00")

    def test_what_is_absent_is_none(self):
        snapshot = sideband.Snapshot.of(pb.Snapshot(device="gpu0"))
        self.assertEqual((snapshot.host_time_ns, snapshot.host_time, snapshot.device_state, snapshot.age_ns,
                          snapshot.elapsed_ns), (None,) * 5)
        counter = sideband.Counter.of(pb.Counter(event="e", count=0))
        self.assertEqual(counter, sideband.Counter("e", 0))
        self.assertIsNone(sideband.Scope.of(pb.Scope()).slice)
        self.assertEqual(sideband.Scope.of(pb.Scope(slice=0)).slice, 0)

    def test_an_estimate(self):
        estimate = pb.Estimate(lower=5, upper=9, method=pb.Estimate.METHOD_RANDOM_TURNS)
        counter = sideband.Counter.of(pb.Counter(event="e", count=7, coverage=0.5, estimate=estimate))
        self.assertEqual((counter.estimate.lower, counter.estimate.upper, counter.estimate.standard_error), (5, 9, None))
        self.assertEqual((counter.estimate.method, counter.coverage), (sideband.Method.RANDOM_TURNS, 0.5))

    def test_states_of_newer_daemons_are_unknown(self):
        device = sideband.Device.of(pb.Device(name="gpu0", state=99, kinds=[pb.Device.KIND_BOARD, 77]))
        self.assertEqual((device.state, device.kinds), ("unknown", ("board", "unknown")))

    def test_objects_are_frozen(self):
        snapshot = sideband.Snapshot.of(fake_daemon.snapshot(1))
        for thing in (snapshot, snapshot.rows[0], snapshot.rows[0].scope):
            with self.assertRaises(dataclasses.FrozenInstanceError):
                thing.device = "other"

    def test_an_event_that_is_there_twice(self):
        message = fake_daemon.row(1)
        message.counters.add(event="cycles", count=2)
        self.assertEqual(sideband.Row.of(message).repeated, ("cycles",))


class EventNamesTest(unittest.TestCase):
    def setUp(self):
        counters = [pb.Counter(event=event, count=count) for count, event in
                    enumerate(("tensor_active_cycles", "tensor_issued_cycles", "busy", "busy_cycles"))]
        ratio = pb.Ratio(name="tensor_active", event="tensor_active_cycles", value=0.25)
        self.row = sideband.Row.of(pb.ScopeCounters(counters=counters, ratios=[ratio]))

    def test_an_event_is_found_by_the_name_that_screens_show(self):
        self.assertEqual([self.row[event] for event in ("tensor_active", "tensor_active_cycles")], [0, 0])
        self.assertEqual([self.row.utilisation(event) for event in ("tensor_active", "tensor_active_cycles")], [0.25] * 2)
        self.assertEqual(self.row.counters["tensor_issued"].event, "tensor_issued_cycles")
        self.assertEqual(self.row.counters.get("tensor_issued").count, 1)
        self.assertEqual((self.row["busy"], self.row["busy_cycles"]), (2, 3), "an event of exactly this name")
        self.assertIn("tensor_active", self.row)
        self.assertNotIn("tensor", self.row)
        self.assertEqual(list(self.row)[0], "tensor_active_cycles")

    def test_an_unknown_event_has_one_error(self):
        for read in (self.row.__getitem__, self.row.utilisation, self.row.counters.__getitem__):
            with self.assertRaises(sideband.UnknownEvent) as raised:
                read("tensor")
            self.assertEqual(str(raised.exception), "no event 'tensor' (did you mean 'tensor_active_cycles'?)")
            self.assertIsInstance(raised.exception, KeyError)
        self.assertIsNone(self.row.counters.get("tensor"))

    def test_an_unknown_share_is_none(self):
        self.assertIsNone(self.row.utilisation("tensor_issued"))

    def test_suggestions(self):
        names = ["sm_active_cycles", "sm_active", "dram_read_cycles", "sm_activist"]
        for word, hint in (("sm_act", "sm_active"), ("DRAM_read", "dram_read_cycles"), ("dram_raed_cycles", "dram_read_cycles"),
                           ("xyz", None), ("", None)):
            self.assertEqual(did_you_mean(word, names), " (did you mean '%s'?)" % hint if hint else "", word)
        self.assertEqual(did_you_mean("sm", ["sm\n\x1b[31m"]), r" (did you mean 'sm\x0a\x1b[31m'?)")


class RowsTest(unittest.TestCase):
    def setUp(self):
        rows = [pb.ScopeCounters(scope=pb.Scope(device="gpu0")), pb.ScopeCounters(scope=pb.Scope(device="gpu0", slice=0, host=True)),
                pb.ScopeCounters(scope=pb.Scope(device="gpu0", vm="vm1", vm_uuid="u-1")),
                pb.ScopeCounters(scope=pb.Scope(device="gpu0", vm="vm1", vm_uuid="u-1", context="train"))]
        self.snapshot = sideband.Snapshot.of(pb.Snapshot(device="gpu0", scopes=rows))

    def test_scopes_by_name_and_uuid(self):
        for vm in ("vm1", "u-1"):
            self.assertEqual(str(self.snapshot.row(vm).scope), "gpu0/vm1")
            self.assertEqual(str(self.snapshot.row(vm, "train").scope), "gpu0/vm1/train")

    def test_without_a_vm_it_is_the_device(self):
        self.assertEqual(str(self.snapshot.row().scope), "gpu0")
        self.assertEqual(str(self.snapshot.rows[1].scope), "gpu0/(host:0)")

    def test_a_row_that_is_not_there(self):
        for wanted, text in ((("vm2",), r"0 rows of gpu0/vm2 \(did you mean 'vm1'\?\)"),
                             (("vm1", "trian"), r"0 rows of gpu0/vm1/trian \(did you mean 'train'\?\)"),
                             (("vm2", "train"), r"0 rows of gpu0/vm2/train \(did you mean 'vm1'\?\)"),
                             (("u-1", "other"), "0 rows of gpu0/u-1/other"), (("other",), "0 rows of gpu0/other")):
            with self.assertRaisesRegex(KeyError, "^['\"]%s['\"]$" % text):
                self.snapshot.row(*wanted)


class SizeTest(unittest.TestCase):
    def test_the_bounds(self):
        rows = pb.Snapshot(device="gpu0", scopes=[pb.ScopeCounters()] * _counters.ROWS_MAX)
        self.assertEqual(len(sideband.Snapshot.of(rows).rows), _counters.ROWS_MAX)
        rows.scopes.add()
        with self.assertRaisesRegex(sideband.ProtocolError, "^gpu0: 65537 rows in one answer: this client takes 65536$"):
            sideband.Snapshot.of(rows)

    def test_too_many_counters(self):
        row = pb.ScopeCounters(counters=[pb.Counter()] * (_counters.COUNTERS_MAX // 4 + 1))
        with self.assertRaisesRegex(sideband.ProtocolError, "1048580 counters, ratios and flags"):
            sideband.Snapshot.of(pb.Snapshot(device="gpu0", scopes=[row] * 4))


if __name__ == "__main__":
    unittest.main()
