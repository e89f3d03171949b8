# SPDX-License-Identifier: Apache-2.0
"""`sideband-mcu serve --faults`: a daemon on a faulty bus, and plans that are rejected."""

import re
import unittest

import exposition
import programs
import site_layout
import tenant_client

NOISE = """seed: 7
rules:
  - {fault: bit_flip, probability: 0.02}
  - {fault: address_nack, probability: 0.02}
  - {fault: arbitration_lost, probability: 0.02}
  - {fault: stuck_clock, probability: 0.01}
  - {fault: short_block, probability: 0.01}
  - {fault: busy_forever, probability: 0.01}
  - {fault: supersede, probability: 0.005}
  - {fault: die, probability: 0.002}
"""


class SiteTestCase(unittest.TestCase):
    def start(self, plan):
        site = site_layout.Site()
        self.addCleanup(site.close)
        site_layout.write(site.folder, "faults.yaml", plan)
        site.start_device("--faults", "faults.yaml")
        programs.wait_until(lambda: "serving" in site.device.log(), "the device's bus")
        site.start_daemon()
        site.wait_ready()
        return site

    def outcomes(self, site):
        """The outcomes of the bus's transactions, as the daemon counts them."""
        return {dict(labels)["outcome"]: count for (name, labels), count in site.metrics("operator").items()
                if name == "sideband_bus_transfers_total"}


class NoiseTest(SiteTestCase):
    def test_counts_never_fall(self):
        site = self.start(NOISE)
        counts = {}

        def enough_has_gone_wrong():
            now = exposition.counters(site.metrics("tenant-a"))
            for series, count in now.items():
                self.assertGreaterEqual(count, counts.get(series, 0), series)
            counts.update(now)
            outcomes = self.outcomes(site)
            return all(outcomes.get(outcome, 0) > 0
                       for outcome in ("address_nack", "arbitration_lost", "timeout", "bad_pec", "bad_length"))

        programs.wait_until(enough_has_gone_wrong, "every kind of trouble was met")
        self.assertTrue(counts)
        self.assertIn("sideband-mcu: faults of faults.yaml with seed 7\n", site.device.log())
        self.assertEqual(site.device.stop(), 0)
        self.assertRegex(site.device.log(), r"\nsideband-mcu: \d+ transactions, address_nack \d+, arbitration_lost \d+")

    def test_faults_of_the_board_are_counted(self):
        site = self.start("rules:\n"
                          "  - {fault: reset_required, at: 20}\n"
                          "  - {fault: xid, every: 10, times: 2, xid: 63, text: Row remapping pending}\n")
        programs.wait_until(lambda: self.outcomes(site).get("ok", 0) > 20, "the faults' transactions")
        self.assertEqual(site.device.stop(), 0)
        self.assertRegex(site.device.log(), r"\nsideband-mcu: \d+ transactions, xid 2, reset_required 1\n")

    def test_restarts_are_followed(self):
        site = self.start("rules:\n  - {fault: reset, every: 200}\n")
        boots = {}
        with tenant_client.Client(site, "tenant-a") as client:

            def has_seen_three_boots():
                snapshot = client.snapshot()
                counts = tenant_client.counters(snapshot)
                for series, count in counts.items():
                    self.assertGreaterEqual(count, boots.get(snapshot.boot_id, {}).get(series, 0), series)
                boots[snapshot.boot_id] = counts
                return len(boots) >= 3

            programs.wait_until(has_seen_three_boots, "the restarts")
        said = {int(boot_id, 16) for boot_id in re.findall(r"boot id ([0-9a-f]{16})\n", site.device.log())}
        self.assertLessEqual(set(boots), said)


class PlanTest(programs.ProgramTestCase):
    def refused(self, plan, *words):
        self.write("chip.yaml", open(programs.runfile("deploy/examples/chip.yaml"), encoding="utf-8").read())
        if plan is not None:
            self.write("faults.yaml", plan)
        result = programs.run("sideband-mcu", "serve", "--chip", "chip.yaml", "--bus", "unix:gpu0.sock", "--faults",
                              "faults.yaml", cwd=self.folder)
        self.assert_refused(result, 2, "sideband-mcu: faults.yaml", *words)

    def test_missing(self):
        self.refused(None, "No such file")

    def test_unknown_fault_names_the_nearest(self):
        self.refused("rules:\n  - {fault: bit_flop}\n", "faults.yaml:2: unknown fault 'bit_flop'", "'bit_flip'?")

    def test_what_is_not_possible(self):
        self.refused("rules:\n  - {fault: change_catalog}\n", "change_catalog is not possible on a served device")

