# SPDX-License-Identifier: Apache-2.0
"""The history as columns, and as a frame."""

import datetime
import sys
import unittest
import unittest.mock

import sideband
from sideband import _values
from sideband._proto.sideband.v1 import telemetry_pb2 as pb

try:
    import pandas
except ImportError:
    pandas = None

LARGEST = 2 ** 64 - 1


def answer():
    """Four points a second apart; vm1 restarts at the third. `gated` was first counted at the second point."""
    device = pb.DeviceHistory(device="gpu0", events=["cycles", "gated"])
    for second in range(4):
        point = device.points.add(reference_time_ns=second * 10 ** 9, snapshot_id=second)
        point.host_time.seconds = 1_700_000_000 + second
    first = device.series.add(scope=pb.Scope(device="gpu0", vm="vm1", generation=1), boot_id=7, first_point=0)
    first.columns.add(event=0, counts=[LARGEST - 5, LARGEST])
    gated = first.columns.add(event=1, counts=[0, 3])
    gated.coverage.of_counts.extend([0, 0.5])
    gated.coverage.of_intervals.extend([0, 0.5])
    second = device.series.add(scope=pb.Scope(device="gpu0", vm="vm1", generation=2), boot_id=7, first_point=2)
    second.columns.add(event=0, counts=[0, 10])
    second.statuses.add(point=3, state=pb.ScopeCounters.STATE_RETIRED, flags=["overflow"])
    return pb.GetHistoryResponse(devices=[device])


class HistoryTest(unittest.TestCase):
    def setUp(self):
        self.history = sideband.History.of(answer())
        self.first, self.second = self.history.series

    def test_counts_are_exact(self):
        self.assertEqual(self.first.counts("cycles"), (LARGEST - 5, LARGEST))
        self.assertEqual((self.second.scope.generation, self.second.counts("cycles")), (2, (0, 10)))

    def test_events_by_the_names_that_screens_show(self):
        message = answer()
        message.devices[0].events[1] = "gated_cycles"
        series = sideband.History.of(message).series[0]
        self.assertEqual(series.counts("gated"), series.counts("gated_cycles"))
        self.assertEqual(series.rates("gated"), (None, None))
        for read in (series.counts, series.rates):
            with self.assertRaisesRegex(sideband.UnknownEvent, r"^no event 'gate' \(did you mean 'gated_cycles'\?\)$"):
                read("gate")

    def test_times_are_those_of_the_series(self):
        self.assertEqual(self.second.reference_time_ns, (2 * 10 ** 9, 3 * 10 ** 9))
        self.assertEqual(self.second.host_time_ns, (1_700_000_002 * 10 ** 9, 1_700_000_003 * 10 ** 9))
        self.assertEqual((len(self.second), self.second.snapshot_id), (2, (2, 3)))

    def test_what_was_not_counted_is_none(self):
        self.assertEqual(self.first.counts("gated"), (None, 3))
        self.assertEqual(self.first.rates("gated"), (None, None))

    def test_rates(self):
        self.assertEqual(self.first.rates("cycles"), (None, 5.0))
        self.assertEqual(self.second.rates("cycles"), (None, 10.0), "not across the restart")

    def test_a_status_is_from_a_point_of_the_series_on(self):
        self.assertEqual(self.second.statuses, (sideband.Status(1, sideband.RowState.RETIRED, ("overflow",)),))

    def test_an_empty_one(self):
        self.assertEqual(sideband.History.of(pb.GetHistoryResponse()).series, ())

    def test_one_that_contradicts_itself(self):
        for change in (lambda device: device.series[0].columns[0].counts.append(1),
                       lambda device: setattr(device.series[1], "first_point", 3),
                       lambda device: setattr(device.series[0].columns[0], "event", 2)):
            message = answer()
            change(message.devices[0])
            with self.assertRaisesRegex(sideband.ProtocolError, "gpu0: a history whose columns do not fit its points"):
                sideband.History.of(message)

    def test_without_pandas_it_says_what_to_install(self):
        with unittest.mock.patch.dict(sys.modules, {"pandas": None}):
            with self.assertRaisesRegex(ImportError, r"^History.to_pandas\(\) needs pandas: install python3-pandas, "):
                self.history.to_pandas()


@unittest.skipIf(pandas is None, "python3-pandas is not installed")
class PandasTest(unittest.TestCase):
    def setUp(self):
        self.frame = sideband.History.of(answer()).to_pandas()

    def test_a_row_per_series_and_point(self):
        self.assertEqual(list(self.frame.columns), ["time", "device", "slice", "vm", "context", "host", "boot_id",
                                                    "generation", "cycles", "gated"])
        self.assertEqual(list(self.frame["generation"]), [1, 1, 2, 2])
        self.assertEqual(str(self.frame["time"][0]), "2023-11-14 22:13:20+00:00")

    def test_counts_stay_exact_integers(self):
        self.assertEqual(str(self.frame.dtypes["cycles"]), "UInt64")
        self.assertEqual(list(self.frame["cycles"]), [LARGEST - 5, LARGEST, 0, 10])
        self.assertEqual([value is pandas.NA for value in self.frame["gated"]], [True, False, True, True])

    def test_an_empty_one(self):
        frame = sideband.History.of(pb.GetHistoryResponse()).to_pandas()
        self.assertEqual((len(frame), list(frame.columns)[0]), (0, "time"))


class TimeTest(unittest.TestCase):
    def test_times(self):
        utc = datetime.timezone.utc
        self.assertEqual(_values.time_to_ns(datetime.datetime(2023, 11, 14, 22, 13, 20, 1, utc), 0), 1_700_000_000_000_001_000)
        self.assertEqual(_values.time_to_ns(datetime.timedelta(seconds=2), 5 * 10 ** 9), 3 * 10 ** 9)
        for time in (0, 10 ** 17, 1_700_000_000 * 10 ** 9):
            self.assertEqual(_values.time_to_ns(time, 5), time)
        for time, error in ((5, ValueError), (10 ** 17 - 1, ValueError), (1.5, TypeError), (1.7e18, TypeError)):
            with self.assertRaisesRegex(error, "^a time is a .*, a datetime.timedelta before now, or nanoseconds .* not "):
                _values.time_to_ns(time, 0)
        with self.assertRaisesRegex(ValueError, "without a time zone"):
            _values.time_to_ns(datetime.datetime(2023, 11, 14), 0)

    def test_durations(self):
        for value, error in (("1s", TypeError), (None, TypeError), (float("inf"), ValueError), (float("nan"), ValueError)):
            self.assertRaises(error, _values.to_ns, value)
        self.assertRaises(TypeError, _values.time_to_ns, "5m", 0)
        self.assertEqual((_values.to_ns(2), _values.to_ns(0.25), _values.to_ns(datetime.timedelta(milliseconds=1))),
                         (2 * 10 ** 9, 250_000_000, 1_000_000))


if __name__ == "__main__":
    unittest.main()
