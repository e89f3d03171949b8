# SPDX-License-Identifier: Apache-2.0
"""Created times of counters in OpenMetrics: unchanged by a restart of the daemon, new after a restart of the device."""

import os
import unittest

import programs
import site_layout

RESTARTS = 10


class CreatedTest(unittest.TestCase):
    def setUp(self):
        self.site = site_layout.Site("100ms")
        self.addCleanup(self.site.close)
        config = self.site.read("sidebandd.yaml").decode()
        site_layout.write(self.site.folder, "sidebandd.yaml", config + "state_dir: kept/state\n")
        self.site.start()

    def created(self):
        """{series: created time} of the operator's scrape. A late device, as on a loaded machine, has no series."""
        return programs.wait_until(self.created_now, "created times")

    def created_now(self):
        _, _, body = self.site.request("operator", "/metrics", {"Accept": "application/openmetrics-text"})
        lines = [line.rsplit(" ", 1) for line in body.splitlines() if "_created{" in line and "device=" in line]
        return {series: float(time) for series, time in lines if "slice" in series or "vm" in series}

    def restart_daemon(self):
        self.assertEqual(self.site.daemon.stop(), 0)
        self.site.start_daemon()
        self.site.wait_ready()

    def test_a_restart_of_the_daemon(self):
        first = self.created()
        for _ in range(RESTARTS):
            self.restart_daemon()
            self.assertEqual(self.created(), first)

    def test_a_restart_of_the_device(self):
        first = self.created()
        self.site.device.stop()
        self.site.start_device()
        boots = lambda: self.site.daemon.log().count("has restarted")
        programs.wait_until(lambda: boots() == 1, "the restart is seen")
        second = programs.wait_until(self.later_than(first), "all counters have begun anew")
        self.restart_daemon()
        self.assertEqual(self.created(), second)

    def later_than(self, first):
        def look():
            created = self.created()
            return created if all(created.get(series, 0) >= time for series, time in first.items()) else None
        return look

    def test_a_file_that_is_no_good_costs_precision_alone(self):
        names = os.listdir(self.site.path("kept/state"))
        self.assertEqual(len(names), 1, names)
        first = self.created()
        self.site.daemon.stop()
        site_layout.write(self.site.folder, "kept/state/" + names[0], "garbage\n")
        self.site.start_daemon()
        self.site.wait_ready()
        self.assertIn("created times: ", self.site.daemon.log())
        self.assertIn(names[0] + ":1: ", self.site.daemon.log())
        for series, time in self.created().items():
            self.assertAlmostEqual(time, first[series], delta=programs.PATIENCE_S)
