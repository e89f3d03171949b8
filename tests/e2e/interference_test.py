# SPDX-License-Identifier: Apache-2.0
"""Another SMBPBI client polls the mailbox that sidebandd uses, like a board's own controller, without coordination."""

import textwrap
import unittest

import exposition
import programs
import site_layout

# It checks no echo. One of its commands has an answer that resembles DISCOVER's version; another is unknown to devices.
# Each hundredth round it prints the number of rounds, and of those in which a vendor id or a status was another's.
FOREIGN_CLIENT = textwrap.dedent("""
    import smbus2
    bus = smbus2.SMBus(3)
    print("polling", flush=True)
    rounds = wrong = 0
    while True:
        for command, status in (([5, 9, 0, 0x80], 0x1F), ([2, 0, 0, 0x80], 0x1F), ([0x1F, 0, 0, 0x80], 2)):
            bus.write_block_data(0x4F, 0x5C, command)
            answer = bus.read_block_data(0x4F, 0x5C)
            data = bus.read_block_data(0x4F, 0x5D)
            wrong += answer != command[:3] + [status] or (command[0] == 5 and data != [0x53, 0x42, 0, 0])
        rounds += 1
        if rounds % 100 == 0:
            print(rounds, wrong, flush=True)
    """)


class InterferenceTest(unittest.TestCase):
    def start(self, extension):
        self.site = site_layout.Site("100ms")
        self.addCleanup(self.site.close)
        with open(self.site.path("chip.yaml"), "a", encoding="utf-8") as chip:
            chip.write("extension: %d\n" % extension)
        self.site.start_device()
        programs.wait_until(lambda: "serving" in self.site.device.log() or self.site.device.ended(), "the device's bus")
        foreign = programs.Program("sideband", "i2cdev", "--bus", "3=unix:gpu0.sock", "--", "/usr/bin/python3", "-c",
                                   FOREIGN_CLIENT, cwd=self.site.folder, log="foreign.log")
        self.addCleanup(foreign.kill)
        programs.wait_until(lambda: "polling" in foreign.log() or foreign.ended(), "the foreign client")
        self.foreign = foreign

    def value(self, name, **labels):
        return exposition.value(self.site.metrics("operator"), name, device="gpu0", **labels) or 0

    def test_it_is_named_counted_and_overcome(self):
        self.start(extension=1)
        self.site.start_daemon()
        programs.wait_until(lambda: self.value("sideband_bus_transfers_total", outcome="interference") >= 10,
                            "interference")
        # The number of successful snapshots is random; that some succeed is not.
        programs.wait_until(lambda: self.value("sideband_snapshots_total") >= 5, "snapshots\n" + self.site.daemon.log())
        self.assertEqual(self.value("sideband_collect_errors_total", code="UNIMPLEMENTED"), 0, self.site.daemon.log())
        for wrong in ("extension version", "does not know the snapshot extension"):
            self.assertNotIn(wrong, self.site.daemon.log())
        self.assertFalse(self.foreign.ended(), self.foreign.log())

    def test_version_two_disturbs_nobody(self):
        self.start(extension=2)
        self.site.start_daemon()
        programs.wait_until(lambda: self.value("sideband_snapshots_total") >= 10, "snapshots\n" + self.site.daemon.log())
        self.assertEqual(self.site.daemon.log().count("device gpu0: version 2 of the snapshot extension"), 1)
        self.assertEqual(self.value("sideband_bus_transfers_total", outcome="interference"), 0)
        errors = [labels for name, labels in self.site.metrics("operator") if name == "sideband_collect_errors_total"]
        self.assertEqual(errors, [], self.site.daemon.log())
        since = len(self.foreign.log().split("\n"))
        programs.wait_until(lambda: len(self.foreign.log().split("\n")) > since + 3, "the foreign client's rounds")
        rounds, wrong = map(int, self.foreign.log().split("\n")[-2].split())
        self.assertGreater(rounds, 300)
        self.assertEqual(wrong, 0)
        self.assertFalse(self.foreign.ended(), self.foreign.log())
