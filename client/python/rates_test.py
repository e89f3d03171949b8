# SPDX-License-Identifier: Apache-2.0
"""Rates: never negative, and never across a restart."""

import unittest
import warnings

import fake_daemon
import sideband


def snapshot(number, *rows, **more):
    return sideband.Snapshot.of(fake_daemon.snapshot(number, *rows, **more))


class RatesTest(unittest.TestCase):
    def test_a_difference_by_the_devices_clock(self):
        row, = sideband.rates(snapshot(1, fake_daemon.row(100)), snapshot(3, fake_daemon.row(150)))
        self.assertEqual((row.scope.vm, row.elapsed_ns, row.counts), ("vm1", 2_000_000_000, {"cycles": 50}))
        self.assertEqual(row.per_second, {"cycles": 25.0})

    def test_large_counts_are_exact(self):
        row, = sideband.rates(snapshot(1, fake_daemon.row(2 ** 64 - 2)), snapshot(2, fake_daemon.row(2 ** 64 - 1)))
        self.assertEqual(row.counts, {"cycles": 1})

    def test_another_generation_or_boot_has_no_rate(self):
        before = snapshot(1, fake_daemon.row(100))
        self.assertEqual(list(sideband.rates(before, snapshot(2, fake_daemon.row(150, generation=2)))), [])
        self.assertEqual(list(sideband.rates(before, snapshot(2, fake_daemon.row(150), boot_id=8))), [])

    def test_another_vm_of_the_same_name_has_no_rate(self):
        """Its generation is the first one, too."""
        before = snapshot(1, fake_daemon.row(100, vm_uuid="a"), fake_daemon.row(100, vm_uuid="a", context="train"))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for count in (150, 50):
                after = snapshot(2, fake_daemon.row(count, vm_uuid="b"), fake_daemon.row(count, vm_uuid="b", context="train"))
                self.assertEqual(list(sideband.rates(before, after)), [])

    def test_the_final_counts_of_a_vm_beside_those_of_its_successor(self):
        before = snapshot(1, fake_daemon.row(100, vm_uuid="a"))
        row, = sideband.rates(before, snapshot(2, fake_daemon.row(150, vm_uuid="a"), fake_daemon.row(7, vm_uuid="b")))
        self.assertEqual((row.scope.vm_uuid, row.counts), ("a", {"cycles": 50}))

    def test_new_rows_and_events_have_none(self):
        more = fake_daemon.row(150)
        more.counters.add(event="bytes", count=9)
        row, = sideband.rates(snapshot(1, fake_daemon.row(100)), snapshot(2, more, fake_daemon.row(1, vm="vm2")))
        self.assertEqual(row.counts, {"cycles": 50})

    def test_events_by_the_names_that_screens_show(self):
        before, after = fake_daemon.row(1), fake_daemon.row(1)
        before.counters.add(event="busy_cycles", count=100)
        for event, count in (("busy_cycles", 150), ("busy", 7)):
            after.counters.add(event=event, count=count)
        row, = sideband.rates(snapshot(1, before), snapshot(2, after))
        self.assertEqual(row.counts, {"cycles": 0, "busy_cycles": 50}, "busy is new, and another event")
        self.assertEqual((row.counts["busy"], row.per_second["busy"]), (50, 50.0))
        with self.assertRaisesRegex(sideband.UnknownEvent, r"^no event 'bus' \(did you mean 'busy_cycles'\?\)$"):
            row.counts["bus"]

    def test_the_same_instant_has_none(self):
        self.assertEqual(list(sideband.rates(snapshot(1), snapshot(1))), [])

    def test_several_devices_and_updates(self):
        before = [snapshot(1, device="gpu0"), snapshot(1, device="gpu1")]
        after = [sideband.Update(snapshot(2, device="gpu1"), 0, False, False), snapshot(2, device="gpu2"),
                 sideband.Gap("gpu0", None, None, sideband.GapReason.REBOOTED)]
        self.assertEqual([row.counts for row in sideband.rates(before, after)], [{"cycles": 1000}])

    def test_what_falls_is_told_and_left_out(self):
        with self.assertWarnsRegex(sideband.InconsistentWarning, "gpu0/vm1: cycles fell from 100 to 99 within a generation"):
            row, = sideband.rates(snapshot(1, fake_daemon.row(100)), snapshot(2, fake_daemon.row(99)))
        self.assertEqual(row.counts, {})
        with self.assertWarnsRegex(sideband.InconsistentWarning, "gpu0: the time since its boot went back by 1000000000 ns"):
            self.assertEqual(list(sideband.rates(snapshot(2), snapshot(1))), [])

    def test_what_is_right_warns_of_nothing(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertEqual(len(list(sideband.rates(snapshot(1), snapshot(2)))), 1)


if __name__ == "__main__":
    unittest.main()
