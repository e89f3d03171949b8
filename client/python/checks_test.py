# SPDX-License-Identifier: Apache-2.0
"""Snapshots that cannot all be true."""

import unittest

import fake_daemon
import sideband
from sideband._checks import Checks

Kind = sideband.InconsistentKind


def snapshot(number, *rows, **more):
    return sideband.Snapshot.of(fake_daemon.snapshot(number, *rows, **more))


class ChecksTest(unittest.TestCase):
    def setUp(self):
        self.checks = Checks()

    def seen(self, *rows, number=1, **more):
        """The kinds of what a snapshot with these rows contradicts."""
        return [found.kind for found in self.checks.compare(snapshot(number, *rows, **more))]

    def test_what_may_happen(self):
        row = fake_daemon.row
        self.assertEqual(self.seen(row(5), row(1, vm="vm2")), [])
        self.assertEqual(self.seen(row(5), number=2), [], "unchanged; vm2 has ended")
        self.assertEqual(self.seen(row(0, generation=2), number=3), [], "a new generation counts from zero")
        self.assertEqual(self.seen(row(0, generation=1), number=1, boot_id=8), [], "a new boot begins anew")
        self.assertEqual(self.seen(row(9, generation=1), row(0, generation=2), number=2, boot_id=8), [],
                         "the final counts of the former generation beside the new one")
        self.assertEqual(self.seen(row(9, generation=1), row(1, generation=2), number=3, boot_id=8), [])

    def test_another_vm_of_the_same_name(self):
        """Its first generation counts from zero, beside the final counts of the former one."""
        row = fake_daemon.row
        self.assertEqual(self.seen(row(5, vm_uuid="a")), [])
        self.assertEqual(self.seen(row(6, vm_uuid="a"), row(1, vm_uuid="b"), number=2), [])
        self.assertEqual(self.seen(row(2, vm_uuid="b"), number=3), [])
        self.assertEqual(self.seen(row(1, vm_uuid="b"), number=4), [Kind.COUNT_FELL])

    def test_a_count_that_falls(self):
        self.checks.compare(snapshot(1, fake_daemon.row(5)))
        found, = self.checks.compare(snapshot(2, fake_daemon.row(4)))
        self.assertEqual(found, sideband.Inconsistent("gpu0", Kind.COUNT_FELL,
                                                      "gpu0/vm1: cycles fell from 5 to 4 within generation 1"))
        self.assertEqual(self.seen(fake_daemon.row(4), number=3), [], "it is told once")

    def test_a_generation_that_goes_back(self):
        self.seen(fake_daemon.row(5, generation=3))
        self.assertEqual(self.seen(fake_daemon.row(5, generation=2), number=2), [Kind.GENERATION_FELL])

    def test_a_clock_that_goes_back(self):
        self.seen(number=5)
        self.assertEqual(self.seen(fake_daemon.row(10 ** 6), number=4), [Kind.TIME_FELL])

    def test_a_row_that_is_there_twice(self):
        self.assertEqual(self.seen(fake_daemon.row(1), fake_daemon.row(2)), [Kind.REPEATED])

    def test_many_falling_events_are_one_report(self):
        def many(count):
            row = fake_daemon.row(count)
            for index in range(9):
                row.counters.add(event="e%d" % index, count=count)
            return row
        self.checks.compare(snapshot(1, many(5)))
        found, = self.checks.compare(snapshot(2, many(4)))
        self.assertRegex(found.text, r"\(and 9 more\)$")

    def test_memory_is_bounded(self):
        checks = Checks(rows_max=10, counters_max=8, devices_max=4)
        for device in range(20):
            rows = [fake_daemon.row(1, vm="vm%d" % vm, device="gpu%d" % device) for vm in range(20)]
            checks.compare(snapshot(1, *rows, device="gpu%d" % device))
        self.assertEqual(len(checks), 8)
        checks = Checks(rows_max=10)
        checks.compare(snapshot(1, *(fake_daemon.row(1, vm="vm%d" % vm) for vm in range(20))))
        self.assertEqual(len(checks), 10)


if __name__ == "__main__":
    unittest.main()
