# SPDX-License-Identifier: Apache-2.0
"""Boards' sensors and events over gRPC: `sideband sensors`, now and in the past, `sideband board events`, and the rights.

The device is deploy/examples/chip-board.yaml: two partitions, and nothing but SMBPBI's base commands. A fault plan has
raised an Xid. Tenant A has partition 2, tenant B one metric of partition 1; nobody has a VM there.
"""

import calendar
import datetime
import json
import shutil
import signal
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

    def test_counters_of_a_board_that_has_none(self):
        for user in ("operator", "tenant-a"):
            shown = self.site.sideband(user, "get", "--device", "gpu0")
            self.assertIn("gpu0 is a board without counters: see sideband sensors --device gpu0", shown.stderr, user)

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

    @classmethod
    def past(cls, user, *arguments):
        """{(name, labels): its columns' messages}, of one device."""
        result = cls.site.sideband(user, "sensors", "--since", "1h", "--format", "json", *arguments)
        if result.returncode != 0:
            raise AssertionError(result)
        columns = {}
        for device in json.loads(result.stdout)["devices"]:
            for column in device["columns"]:
                labels = tuple(sorted((label["name"], label["value"]) for label in column["labels"]))
                columns.setdefault((column["name"], labels), []).append(column)
        return columns

    def test_the_past_has_what_the_present_has(self):
        """For each user the same series; at the time of the newest value that value."""
        for user in ("operator", "tenant-a", "tenant-b"):
            programs.wait_until(lambda: set(self.past(user)) == set(self.sensors(user)), "the same sensors: " + user)
        now = self.site.sideband("operator", "sensors", "--format", "json", "--name", "sideband_energy_joules_total")
        device, = json.loads(now.stdout)["devices"]
        group, = device["groups"]
        for sensor in device["sensors"]:
            labels = tuple(sorted((label["name"], label["value"]) for label in sensor["labels"]))
            column = self.past("operator", "--name", sensor["name"])[sensor["name"], labels][-1]
            self.assertEqual(column["created"], sensor["created"])
            held = dict(zip(column["host_times_ns"], column["counts"]))
            self.assertIn((nanoseconds(group["host_time"]), sensor["count"]), held.items())

    def test_past_counts_only_grow_and_rates_are_their_differences(self):
        def columns():
            found = [column for columns in self.past("operator", "--name", "sideband_energy_joules_total").values()
                     for column in columns]
            return found if all(len(column["counts"]) >= 4 for column in found) else None
        for column in programs.wait_until(columns, "some readings"):
            counts, times = ([int(number) for number in column[key]] for key in ("counts", "host_times_ns"))
            rates = column["rates_per_second"]
            self.assertEqual(counts, sorted(counts))
            self.assertEqual(times, sorted(set(times)))
            self.assertIsNone(rates[0])
            for i in range(1, len(counts)):
                self.assertAlmostEqual(rates[i], (counts[i] - counts[i - 1]) / 1000 / ((times[i] - times[i - 1]) / 1e9),
                                       places=3)

    def test_a_table_and_csv_of_the_past(self):
        result = self.site.sideband("operator", "sensors", "--since", "1h", "--until", "0s", "--step", "1s", "--name",
                                    "power")
        self.assertEqual((result.returncode, result.stderr), (0, ""), result)
        self.assertRegex(result.stdout, r"\Agpu0  \d+ values?  \S+Z to \S+Z  step 1s\n  history since \S+Z\n"
                                        r"TIME +SENSOR +OF +VALUE\n")
        self.assertRegex(result.stdout, r"(?m)^\S+Z +power +sensor=total +\d+\.\d W$")
        lines = self.site.sideband("tenant-b", "sensors", "--since", "1h", "--format", "csv").stdout.splitlines()
        self.assertEqual(lines[0], "device,host_time,name,labels,group,value,count,count_per_unit,created,"
                                   "rate_per_second,restarted")
        self.assertRegex(lines[1], r"^gpu0,\S+Z,sideband_partition_dram_usage_ratio,partition=1,metrics,[0-9.e-]+,,,,,no$")

    def test_options_of_the_past(self):
        for arguments, error in ((("--format", "csv"), "--format csv needs --since"),
                                 (("--since", "1m", "--until", "2m"), "--until is before --since"),
                                 (("--step", "1s"), "--since"), (("--since", "1m", "--list"), "--list"),
                                 (("--since", "soon"), "'soon' is neither a duration")):
            result = self.site.sideband("operator", "sensors", *arguments)
            self.assertEqual((result.returncode, result.stdout), (2, ""), result)
            self.assertIn(error, result.stderr)

    def test_before_the_past_there_is_nothing(self):
        result = self.site.sideband("operator", "sensors", "--since", "2001-01-01T00:00:00Z", "--until",
                                    "2001-01-02T00:00:00Z")
        self.assertEqual((result.returncode, result.stderr), (0, "sideband: the history has no points in that time\n"))
        self.assertRegex(result.stdout, r"\Agpu0  0 values  history since \S+Z\n\Z")

    def test_its_size_is_told_to_the_operator_only(self):
        values = dict(line.rsplit(" ", 1) for line in self.site.get("operator", "/metrics")[1].splitlines()
                      if "_history_" in line and line.startswith("sideband_"))
        size = float(values["sideband_sensor_history_bytes"])
        self.assertGreater(size, 1000)
        self.assertLess(size, (16 << 20) / 8)
        self.assertGreater(float(values["sideband_history_bytes"]), size)
        self.assertEqual(float(values["sideband_history_max_bytes"]), 16 << 20)
        self.assertGreater(float(values['sideband_sensor_history_span_seconds{device="gpu0"}']), 0)
        self.assertNotIn("_history_", self.site.get("tenant-a", "/metrics")[1])

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
        for past in ((), ("--since", "1h")):
            absent = refusal(*past, "--name", "sideband_no_such")
            for other in ("sideband_power_watts", "sideband_partition_sm_activity_ratio"):
                self.assertEqual(refusal(*past, "--name", other), absent.replace("sideband_no_such", other))
            self.assertIn("no sensors that you may read: device 'gpu9'", refusal(*past, "--device", "gpu9"))

    def test_a_misspelt_name_has_a_suggestion(self):
        result = self.site.sideband("operator", "sensors", "--name", "temprature")
        self.assertEqual(result.returncode, 1)
        self.assertIn("sensor 'temprature' (did you mean 'temperature'?)", result.stderr)

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
        for arguments in (("sensors",), ("sensors", "--list"), ("sensors", "--since", "1h"), ("board", "events")):
            result = self.site.sideband("nobody", *arguments)
            self.assertEqual((result.returncode, result.stdout), (1, ""), result)
            self.assertIn("the caller has no valid credentials, or is not in the policy", result.stderr)

    def test_requests_are_audited(self):
        self.site.sideband("tenant-a", "sensors", "--device", "gpu9")
        self.site.sideband("tenant-a", "sensors", "--since", "1h", "--device", "gpu9")
        self.site.sideband("tenant-b", "sensors", "--since", "1h")
        # A thread of its own writes the log.
        programs.wait_until(lambda: {("Sensors/GetSensors", "tenant-a", "deny"),
                                     ("Sensors/GetSensorHistory", "tenant-a", "deny"),
                                     ("Sensors/GetSensorHistory", "tenant-b", "allow")} <= self.audited(),
                            "the entries")

    def audited(self):
        entries = [json.loads(line) for line in self.site.read("audit.jsonl").splitlines()]
        return {(entry["endpoint"], entry["role"].split(":")[-1].strip(), entry["decision"]) for entry in entries
                if entry["kind"] == "access"}


def nanoseconds(time):
    """A time of JSON as nanoseconds since 1970, in decimal digits."""
    seconds, _, fraction = time.rstrip("Z").partition(".")
    whole = calendar.timegm(datetime.datetime.fromisoformat(seconds).timetuple())
    return "%d%09d" % (whole, int(fraction.ljust(9, "0")))


class ReloadTest(unittest.TestCase):
    """What reloads do to the history of sensors."""

    def setUp(self):
        self.site = site_layout.Site("500ms")
        self.addCleanup(self.site.close)
        shutil.copy(programs.runfile("deploy/examples/chip-board.yaml"), self.site.folder + "/chip.yaml")
        self.config = self.site.read("sidebandd.yaml").decode().replace(
            "interval: 500ms}", "interval: 500ms, board: {mailbox: exclusive}}")
        site_layout.write(self.site.folder, "policy.yaml", POLICY)
        site_layout.write(self.site.folder, "sidebandd.yaml", self.config)
        device = self.site.start_device("--persona", "nvidia")
        programs.wait_until(lambda: "serving" in device.log() or device.ended(), "the device's bus")
        self.site.start_daemon()

    def reload(self):
        self.site.daemon.signal(signal.SIGHUP)
        programs.wait_until(lambda: "policy generation 2 is in force" in self.site.daemon.log(), "the reload")

    def times(self, user):
        """When the readings were whose DRAM usages of partitions the user sees, in nanoseconds since 1970."""
        result = self.site.sideband(user, "sensors", "--since", "1h", "--format", "json")
        return sorted(int(time) for device in json.loads(result.stdout)["devices"] for column in device["columns"]
                      if column["name"] == "sideband_partition_dram_usage_ratio" for time in column["host_times_ns"])

    def test_the_past_of_a_partition_is_that_of_its_tenant(self):
        before = programs.wait_until(lambda: self.times("tenant-b"), "a past")
        # The tenants exchange their partitions.
        policy = POLICY.replace("gpu_instance: 1", "gpu_instance: 0").replace("gpu_instance: 2", "gpu_instance: 1")
        site_layout.write(self.site.folder, "policy.yaml", policy.replace("gpu_instance: 0", "gpu_instance: 2"))
        self.reload()
        after = programs.wait_until(lambda: self.times("tenant-a"), "a past of its own")
        self.assertGreater(after[0], before[-1])
        self.assertLessEqual(self.times("operator")[0], before[0])

    def test_without_memory_there_is_none(self):
        programs.wait_until(lambda: self.times("operator"), "a past")
        site_layout.write(self.site.folder, "sidebandd.yaml", self.config + "history: {max_bytes: 0}\n")
        self.reload()
        result = self.site.sideband("operator", "sensors", "--since", "5m")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertEqual(result.stderr, "sideband: 127.0.0.1:%d: this daemon keeps no history\n" % self.site.grpc_port)


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
