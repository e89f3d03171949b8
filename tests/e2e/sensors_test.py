# SPDX-License-Identifier: Apache-2.0
"""Boards' sensors and events over gRPC: `sideband sensors`, `sideband board events`, and the rights to them.

The device is deploy/examples/chip-board.yaml: two partitions, and nothing but SMBPBI's base commands. A fault plan has
raised an Xid. Tenant A has partition 2, tenant B one metric of partition 1; nobody has a VM there.
"""

import json
import shutil
import unittest

from prometheus_client import parser as text_format

import programs
import site_layout

FAULTS = "seed: 1\nrules:\n  - {fault: xid, at: 1, xid: 63, text: Row remapping pending}\n"
POLICY = """version: 1
operators:
  - {{name: operator, identities: ["{trust}operator"]}}
tenants:
  - name: tenant-a
    identities: ["{trust}tenant-a"]
    partitions: [{{device: gpu0, gpu_instance: 2}}]
  - name: tenant-b
    identities: ["{trust}tenant-b"]
    partitions: [{{device: gpu0, gpu_instance: 1, events: [dram_usage]}}]
""".format(trust=site_layout.TRUST)
# Of families that only the other front end has, or whose ages are in SensorGroup.
TEXT_ONLY = {"sideband_board_sample_age_seconds"}


class SensorsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.site = site_layout.Site("500ms")
        cls.addClassCleanup(cls.site.close)
        folder = cls.site.folder
        shutil.copy(programs.runfile("deploy/examples/chip-board.yaml"), folder + "/chip.yaml")
        site_layout.write(folder, "faults.yaml", FAULTS)
        site_layout.write(folder, "policy.yaml", POLICY)
        config = cls.site.read("sidebandd.yaml").decode()
        site_layout.write(folder, "sidebandd.yaml",
                          config.replace("interval: 500ms}", "interval: 500ms, board: {mailbox: exclusive}}") +
                          "audit: {file: audit.jsonl}\n")
        device = cls.site.start_device("--persona", "nvidia", "--faults", "faults.yaml")
        programs.wait_until(lambda: "serving" in device.log() or device.ended(), "the device's bus")
        cls.site.start_daemon()
        programs.wait_until(lambda: cls.sensors("tenant-b"), "the partitions' second capture")
        programs.wait_until(lambda: "xid 63" in cls.site.sideband("operator", "board", "events").stdout, "the Xid")

    @classmethod
    def sensors(cls, user, *arguments):
        """{(name, labels): the sensor's message}, of one device."""
        result = cls.site.sideband(user, "sensors", "--format", "json", *arguments)
        if result.returncode != 0:
            raise AssertionError(result)
        devices = json.loads(result.stdout)["devices"]
        return {(sensor["name"], tuple(sorted((label["name"], label["value"]) for label in sensor["labels"]))): sensor
                for device in devices for sensor in device["sensors"]}

    def board_series(self, user, families):
        """Those of /metrics whose family is among `families`."""
        series = set()
        for family in text_format.text_string_to_metric_families(self.site.get(user, "/metrics")[1]):
            for sample in family.samples:
                if sample.name in families:
                    labels = dict(sample.labels)
                    self.assertEqual(labels.pop("device"), "gpu0")
                    series.add((sample.name, tuple(sorted(labels.items()))))
        return series

    def test_an_operator_sees_what_prometheus_sees(self):
        shown = self.sensors("operator")
        names = {name for name, _ in shown}
        self.assertLessEqual({"sideband_temperature_celsius", "sideband_power_watts", "sideband_energy_joules_total",
                              "sideband_clock_hertz", "sideband_board_sm_activity_ratio",
                              "sideband_partition_sm_activity_ratio", "sideband_board_info"}, names)
        programs.wait_until(lambda: self.board_series("operator", names | TEXT_ONLY) == set(self.sensors("operator")) |
                            self.board_series("operator", TEXT_ONLY), "the same series in both")

    def test_an_operator_reads_a_table(self):
        result = self.site.sideband("operator", "sensors", "--name", "sideband_temperature_celsius")
        self.assertEqual((result.returncode, result.stderr), (0, ""), result)
        self.assertRegex(result.stdout, r"\ADEVICE +SENSOR +OF +VALUE\n")
        self.assertRegex(result.stdout, r"(?m)^gpu0 +temperature +sensor=gpu +\d+\.\d °C$")
        names = self.site.sideband("operator", "sensors", "--list").stdout
        self.assertRegex(names, r"(?m)^sideband_power_watts +power +Power that the board uses\.$")

    def test_a_count_is_exact(self):
        energy = self.sensors("operator", "--name", "sideband_energy_joules_total")
        for sensor in energy.values():
            self.assertEqual(sensor["count_per_unit"], "1000")
            self.assertAlmostEqual(int(sensor["count"]) / 1000, sensor["value"])

    def test_a_tenant_sees_its_partition(self):
        def partitions(user):
            return {(name, dict(labels)["partition"]) for name, labels in self.sensors(user)}
        self.assertEqual({partition for _, partition in partitions("tenant-a")}, {"2"})
        self.assertGreater(len(partitions("tenant-a")), 3)
        self.assertEqual(partitions("tenant-b"), {("sideband_partition_dram_usage_ratio", "1")})
        for user in ("tenant-a", "tenant-b"):
            text = self.site.get(user, "/metrics")[1]
            self.assertEqual(self.board_series(user, {name for name, _ in self.sensors("operator")}),
                             set(self.sensors(user)), user)
            for other in ("sideband_power", "sideband_temperature", "sideband_board_", "sideband_driver_messages"):
                self.assertNotIn(other, text, user)

    def test_what_is_denied_is_as_what_is_absent(self):
        def refusal(*arguments):
            result = self.site.sideband("tenant-b", "sensors", *arguments)
            self.assertEqual((result.returncode, result.stdout), (1, ""), result)
            return result.stderr
        self.assertEqual(refusal("--name", "sideband_power_watts"),
                         refusal("--name", "sideband_no_such").replace("sideband_no_such", "sideband_power_watts"))
        self.assertIn("no sensors that you may read: device 'gpu9'", refusal("--device", "gpu9"))

    def test_board_events_are_the_operators(self):
        result = self.site.sideband("operator", "board", "events", "--device", "gpu0")
        self.assertEqual((result.returncode, result.stderr), (0, ""), result)
        self.assertRegex(result.stdout, r"\Agpu0: xid 63, number \d+, [0-9T:.-]+Z: Row remapping pending\n\Z")
        line = json.loads(self.site.sideband("operator", "board", "events", "--json").stdout)
        self.assertEqual((line["device"], line["driver_message"]["xid"]), ("gpu0", 63))
        self.assertEqual(self.site.sideband("tenant-a", "board", "events").stdout, "")
        refused = self.site.sideband("tenant-a", "board", "events", "--device", "gpu0")
        absent = self.site.sideband("operator", "board", "events", "--device", "gpu9")
        self.assertEqual((refused.returncode, refused.stderr), (1, absent.stderr.replace("gpu9", "gpu0")))

    def test_a_device_tells_its_kind(self):
        result = self.site.sideband("operator", "devices")
        self.assertRegex(result.stdout, r"(?m)^DEVICE +STATE +KIND +INTERVAL +CLOCK +BOOT$")
        self.assertRegex(result.stdout, r"(?m)^gpu0 +fresh +board +500ms +- +-$")
        self.assertRegex(self.site.sideband("tenant-a", "devices").stdout, r"(?m)^gpu0 +fresh +500ms +- +-$")

    def test_nobody_sees_anything(self):
        for arguments in (("sensors",), ("sensors", "--list"), ("board", "events")):
            result = self.site.sideband("nobody", *arguments)
            self.assertEqual((result.returncode, result.stdout), (1, ""), result)
            self.assertIn("the caller's identity is not in the policy", result.stderr)

    def test_requests_are_audited(self):
        self.site.sideband("tenant-a", "sensors", "--device", "gpu9")
        # A thread of its own writes the log.
        programs.wait_until(lambda: ("Sensors/GetSensors", "tenant-a", "deny") in self.audited(), "the entry")

    def audited(self):
        entries = [json.loads(line) for line in self.site.read("audit.jsonl").splitlines()]
        return {(entry["endpoint"], entry["role"].split(":")[-1].strip(), entry["decision"]) for entry in entries
                if entry["kind"] == "access"}


class PolicyTest(unittest.TestCase):
    def test_a_device_that_is_not_configured_is_an_error(self):
        folder = programs.temporary_folder(self.addCleanup)
        site_layout.lay_out(folder)
        site_layout.write(folder, "policy.yaml", POLICY.replace("device: gpu0, gpu_instance: 1", "device: gpu1, gpu_instance: 1"))
        result = programs.run("sidebandd", "--config", "sidebandd.yaml", "--check", cwd=folder)
        self.assertEqual(result.returncode, 2, result)
        self.assertIn("policy.yaml:10: device 'gpu1' is not configured (did you mean 'gpu0'?)", result.stderr)


if __name__ == "__main__":
    unittest.main()
