# SPDX-License-Identifier: Apache-2.0
"""Two devices on a trigger line: how far apart their clocks are, with the real programs."""

import json
import unittest

import exposition
import programs
import site_layout

WIRE_NS = (10, 50)
CYCLE_NS = 2  # of the device that receives
LINE = '  - {name: gpu0, bus: "unix:gpu0.sock@0x4f", interval: 200ms}\n'


class TriggerLineTest(unittest.TestCase):
    def setUp(self):
        self.site = site_layout.Site(interval="200ms")
        self.addCleanup(self.site.close)
        wire = "trigger_line: rack\ntrigger_wire_ns: [%d, %d]\n" % WIRE_NS
        chip = self.site.read("chip.yaml").decode()
        site_layout.write(self.site.folder, "chip.yaml", chip + "trigger_line: rack\n")
        other = chip.replace("5b0f6a2e-7c64-4d0c-9d7e-2f1a90c3e001", "5b0f6a2e-7c64-4d0c-9d7e-2f1a90c3e00f")
        other = other.replace("clock_hz: 1400000000", "clock_hz: 700000000")
        self.assertIn("clock_hz: 700000000", other)
        site_layout.write(self.site.folder, "other.yaml", other + wire)

    def start(self, driver, receiver):
        config = self.site.read("sidebandd.yaml").decode().replace("grpc:\n", "grpc:\n  unix_socket: grpc.sock\n")
        self.assertIn(LINE, config)
        first = LINE.replace("200ms}", "200ms, clocks: {%s}}" % driver)
        second = LINE.replace("gpu0,", "gpu1,").replace("0x4f", "0x4e").replace("200ms}",
                                                                             "200ms, clocks: {%s}}" % receiver)
        site_layout.write(self.site.folder, "sidebandd.yaml", config.replace(LINE, first + second))
        self.site.start_device("--chip", "other.yaml@0x4e")
        programs.wait_until(lambda: "serving" in self.site.device.log(), "the devices' bus")
        self.site.start_daemon()

    def clocks(self):
        result = self.site.sideband("operator", "clocks", "--format", "json")
        return {device["device"]: device for device in json.loads(result.stdout).get("devices", [])}

    def offset(self):
        return self.clocks().get("gpu1", {}).get("line_offset")

    def test_the_offset_has_a_bound_of_nanoseconds(self):
        self.start("trigger_line: rack, drives_line: true", "trigger_line: rack, wire_ns: [%d, %d]" % WIRE_NS)
        programs.wait_until(lambda: (self.offset() or {}).get("ppm_lower") is not None, "two pulses")
        offset = self.offset()
        self.assertEqual(offset["driver"], "gpu0")
        # Half of what the wire and a cycle leave open, and both times' rounding.
        self.assertLessEqual(int(offset["error_ns"]), (WIRE_NS[1] - WIRE_NS[0] + CYCLE_NS) // 2 + 3)
        # Both clocks are exact: they were started one after the other, and run at one rate.
        self.assertLess(abs(int(offset.get("offset_ns", 0))), 1e9)
        self.assertLessEqual(offset["ppm_lower"], 0)
        self.assertGreaterEqual(offset["ppm_upper"], 0)
        self.assertLess(offset["ppm_upper"] - offset["ppm_lower"], 2)
        self.assertNotIn("line_offset", self.clocks()["gpu0"])
        # Two clocks that do not drift have one offset, whatever the pulse.
        bounds = []
        for _ in range(3):
            last = int(self.offset().get("offset_ns", 0))
            bounds.append((last - int(offset["error_ns"]), last + int(offset["error_ns"])))
            programs.wait_until(lambda last=last: int(self.offset().get("offset_ns", 0)) != last, "another pulse")
        self.assertLessEqual(max(low for low, _ in bounds), min(high for _, high in bounds))
        self.check_surfaces()

    def check_surfaces(self):
        table = self.site.sideband("operator", "clocks").stdout
        self.assertRegex(table, r"gpu1: on the trigger line, its reference clock is \d+\.\d{9} s (behind|ahead of) that "
                                r"of gpu0, ±\d+ ns; it is off by -?\d+\.\d{3} to -?\d+\.\d{3} ppm from it\n")
        bound = exposition.value(self.site.metrics("operator"), "sideband_trigger_line_error_bound_seconds",
                                 device="gpu1", driver="gpu0")
        self.assertGreater(bound, 0)
        self.assertLess(bound, 30e-9)
        self.assertNotIn("trigger_line", self.site.get("tenant-a", "/metrics")[1])
        self.assertNotIn("trigger line", self.site.sideband("tenant-a", "clocks").stdout)

    def test_without_a_driver_an_operator_sends_the_pulse(self):
        self.start("trigger_line: rack, wire_ns: [0, 0]", "trigger_line: rack, wire_ns: [%d, %d]" % WIRE_NS)
        programs.wait_until(lambda: len(self.clocks()) == 2, "both devices")
        self.assertIsNone(self.offset())
        result = programs.run("sideband", "--address", "unix:grpc.sock", "admin", "trigger", "--device", "gpu0",
                              cwd=self.site.folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        programs.wait_until(self.offset, "the offset")


if __name__ == "__main__":
    unittest.main()
