# SPDX-License-Identifier: Apache-2.0
"""The units under a real systemd, in a machine of their own: socket activation, reload, crashes, a hung process, bad
files. Root only; the units themselves are checked everywhere."""

import re
import shutil
import subprocess
import unittest

import machine_site
import programs

EXPOSURE_MAX = 2.0


class UnitsTest(programs.ProgramTestCase):
    def analyze(self, *arguments):
        if shutil.which("systemd-analyze") is None:
            self.skipTest("systemd-analyze is not installed")
        return subprocess.run(["systemd-analyze", *arguments], capture_output=True, text=True,
                              timeout=programs.PATIENCE_S, check=False)

    def test_the_exposure_is_low(self):
        for name in ("sidebandd.service", "sideband-mcu@.service"):
            result = self.analyze("security", "--offline=true", "--no-pager", machine_site.unit(name))
            found = re.search(r"Overall exposure level for \S+: ([0-9.]+)", result.stdout)
            self.assertIsNotNone(found, result.stdout + result.stderr)
            self.assertLessEqual(float(found[1]), EXPOSURE_MAX, result.stdout)


class SystemdTest(machine_site.SiteTestCase):
    # A hung process is to be found within the test's patience.
    DROP_IN = machine_site.DROP_IN + "WatchdogSec=3s\nRestartSec=500ms\n"

    def test_a_life(self):
        """One machine for all of this: booting it takes most of the time."""
        # A client starts the daemon.
        self.start("sidebandd-http.socket", "sidebandd-grpc.socket")
        self.assertEqual(self.machine.run("systemctl", "is-active", "sidebandd").stdout, "inactive\n")
        self.assertIn("sideband_device_up", self.metrics())
        self.wait_for_status("0 of 1 devices fresh")
        self.start("sideband-mcu@gpu0")
        self.wait_for_status("1 of 1 devices fresh")

        # The local sockets belong to the operators' group, and the confidential VM's key came from root.
        local = self.machine.checked("curl", "--silent", "--fail", "--unix-socket", "/run/sideband/http.sock",
                                     "http://localhost/metrics")
        self.assertIn("\nsideband_sealed_records_total{", local)
        owner = self.machine.checked("stat", "--format", "%U:%G %a", "/run/sideband/http.sock")
        self.assertEqual(owner, "sideband:sideband 660\n")

        # The journal has priorities, and no second time in its lines.
        lines = {line["MESSAGE"]: line for line in self.journal() if line.get("_COMM") == "sidebandd"}
        fresh = lines["device gpu0: snapshots every 200ms"]
        self.assertEqual((fresh["PRIORITY"], fresh["SYSLOG_IDENTIFIER"]), ("6", "sidebandd"))
        self.assertTrue(any(line["PRIORITY"] == "4" for line in lines.values()), "the device was away: a warning")

        # Reload: a good file, then a bad one.
        self.machine.checked("systemctl", "reload", "sidebandd")
        self.machine.checked("sed", "-i", "s/200ms/100ms/", "/etc/sideband/sidebandd.yaml")
        self.machine.checked("systemctl", "reload", "sidebandd")
        programs.wait_until(lambda: any("interval 100ms" in line["MESSAGE"] or "every 100ms" in line["MESSAGE"]
                                        for line in self.journal()), "the new interval")
        self.machine.checked("sh", "-c", "echo nonsense: 1 >> /etc/sideband/sidebandd.yaml")
        self.assertEqual(self.machine.run("systemctl", "reload", "sidebandd").returncode, 1)
        self.assertEqual(self.machine.run("systemctl", "is-active", "sidebandd").stdout, "active\n")
        self.wait_for_line(r"^reload: /etc/sideband/sidebandd.yaml:\d+: unknown key 'nonsense'.*; nothing is changed$")
        self.wait_for_line(r"^sidebandd: /etc/sideband/sidebandd.yaml:\d+: unknown key 'nonsense'")
        self.assertRegex(self.metrics(), r"(?m)^sideband_config_last_reload_successful 0$")
        self.machine.checked("sed", "-i", "/nonsense/d", "/etc/sideband/sidebandd.yaml")

        # Killed at any instant: it comes back, and loses nothing that the device holds.
        count = self.cycles()
        before = self.machine.property("sidebandd.service", "MainPID")
        self.machine.checked("kill", "-KILL", before)
        self.wait_for_restart(before, 1)
        self.assertGreater(self.cycles(), count)

        # Hung: the watchdog ends it.
        before = self.machine.property("sidebandd.service", "MainPID")
        self.machine.checked("kill", "-STOP", before)
        self.wait_for_restart(before, 2)
        self.assertTrue(any("Watchdog timeout" in line["MESSAGE"] for line in self.journal()))

        # A wrong configuration is no reason to try again and again.
        self.machine.checked("sh", "-c", "echo nonsense: 1 >> /etc/sideband/sidebandd.yaml")
        self.assertNotEqual(self.machine.run("systemctl", "restart", "sidebandd").returncode, 0)
        self.assertEqual(self.machine.property("sidebandd.service", "ExecMainStatus"), "2")
        self.assertEqual(self.machine.property("sidebandd.service", "ActiveState"), "failed")
        self.machine.checked("sed", "-i", "/nonsense/d", "/etc/sideband/sidebandd.yaml")

        # Stopped in order.
        self.start("sidebandd")
        self.wait_for_status("1 of 1 devices fresh")
        self.machine.checked("systemctl", "stop", "sidebandd")
        self.assertEqual(self.machine.property("sidebandd.service", "Result"), "success")


if __name__ == "__main__":
    unittest.main()
