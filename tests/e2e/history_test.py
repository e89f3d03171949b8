# SPDX-License-Identifier: Apache-2.0
"""The history, as read by `sideband get --since` and a tenant's own client: the operator and two tenants."""

import json
import re
import unittest

import programs
import site_layout
import tenant_client


class HistoryTestCase(unittest.TestCase):
    config = ""

    @classmethod
    def setUpClass(cls):
        cls.site = site_layout.Site("50ms")
        cls.addClassCleanup(cls.site.close)
        config = cls.site.read("sidebandd.yaml").decode()
        site_layout.write(cls.site.folder, "sidebandd.yaml", config + cls.config)
        cls.site.start()
        for user in site_layout.USERS:
            site_layout.write(cls.site.folder, user + ".yaml",
                              "address: localhost:%d\nca_file: ca.pem\ncert_file: %s.pem\nkey_file: %s.key\n" %
                              (cls.site.grpc_port, user, user))

    def sideband(self, user, *arguments):
        return programs.run("sideband", "--config", user + ".yaml", *arguments, cwd=self.site.folder)

    def get(self, user, *arguments):
        """The history as JSON, of the one device."""
        result = self.sideband(user, "get", "--since", "1h", "--format", "json", *arguments)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return json.loads(result.stdout)["devices"][0]

    def wait_for_points(self, count):
        programs.wait_until(lambda: len(self.get("operator")["points"]) >= count, "%d points" % count)


class HistoryTest(HistoryTestCase):
    def setUp(self):
        self.wait_for_points(20)

    def scopes(self, user):
        return [(series["scope"]["vm"], series["scope"]["context"]) for series in self.get(user)["series"]]

    def test_everybody_sees_their_own(self):
        self.assertEqual(self.scopes("operator"), [("", ""), ("vm1", ""), ("vm2", "")])
        self.assertEqual(self.scopes("tenant-a"), [("vm1", ""), ("vm1", "train"), ("vm1", "eval")])
        self.assertEqual(self.scopes("tenant-b"), [("vm2", ""), ("vm2", "serve")])

    def test_nothing_of_others_is_in_the_bytes(self):
        answers = {user: self.sideband(user, "get", "--since", "1h", "--format", "json").stdout
                   for user in ("operator", "tenant-a", "tenant-b")}
        for user, others in (("tenant-a", ("vm2", "vm3", "serve")), ("tenant-b", ("vm1", "vm3", "train", "eval")),
                             ("operator", ("vm3", "train", "serve", "pcie", "nvlink"))):
            for other in others:
                self.assertNotIn(other, answers[user], (user, other))

    def test_denied_and_absent_answer_alike(self):
        results = {re.sub(r"VM '%s'( \(did you mean '[^']*'\?\))?" % vm, "VM", self.sideband(
            "tenant-a", "get", "--since", "1h", "--vm", vm).stderr)
                   for vm in ("vm2", "vm3", "vm9", site_layout.VM_UUIDS["vm2"])}
        self.assertEqual(results, {"sideband: localhost:%d: no such device, VM, context or event: VM\n" %
                                   self.site.grpc_port})
        self.assertEqual(self.sideband("nobody", "get", "--since", "1h").returncode, 1)

    def test_counts_only_grow_and_rates_are_their_differences(self):
        device = self.get("tenant-a", "--event", "sm_active_cycles")
        points = device["points"]
        for series in device["series"]:
            counts = [int(count) for count in series["columns"][0]["counts"]]
            rates = series["columns"][0]["rates_per_second"]
            self.assertEqual(len(counts), len(points) - series["first_point"])
            self.assertEqual(counts, sorted(counts))
            self.assertIsNone(rates[0])
            for i in range(1, len(counts)):
                passed = (int(points[i]["reference_time_ns"]) - int(points[i - 1]["reference_time_ns"])) / 1e9
                self.assertAlmostEqual(rates[i], (counts[i] - counts[i - 1]) / passed, delta=1e-6 * (1 + rates[i]))

    def test_at_each_instant_a_vm_is_the_sum_of_its_contexts(self):
        device = self.get("tenant-a")
        vm, *contexts = device["series"]
        for c, column in enumerate(vm["columns"]):
            for i, count in enumerate(column["counts"]):
                self.assertEqual(int(count), sum(int(context["columns"][c]["counts"][i]) for context in contexts))

    def test_the_newest_point_is_a_snapshot(self):
        """The history at an instant equals the snapshot published then."""
        with tenant_client.connect(self.site, "tenant-b") as client:
            snapshot, = client.get()
        device = programs.wait_until(lambda: self.history_with(snapshot.snapshot_id), "the snapshot in the history")
        at = [point["snapshot_id"] for point in device["points"]].index(snapshot.snapshot_id)
        seen = {(device["events"][column["event"]], series["scope"]["vm"], series["scope"]["context"] or None):
                int(column["counts"][at - series["first_point"]])
                for series in device["series"] for column in series["columns"]}
        self.assertEqual(seen, {(event, row.scope.vm or None, row.scope.context or None): row[event]
                                for row in snapshot.rows for event in row})

    def history_with(self, snapshot_id):
        device = self.get("tenant-b")
        return device if snapshot_id in (point["snapshot_id"] for point in device["points"]) else None

    def test_a_step_thins_the_points(self):
        with tenant_client.connect(self.site, "tenant-a") as client:
            history = client.history(step=0.5)
        steps = [time_ns // 500_000_000 for time_ns in history.series[0].host_time_ns]
        self.assertEqual(steps, sorted(set(steps)), "one point in each step")

    def test_a_table(self):
        result = self.sideband("tenant-a", "get", "--since", "1h", "--until", "0s", "--step", "1s", "--context", "train",
                               "--event", "sm_active_cycles", "--wide")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        heading, titles, first, *_ = result.stdout.splitlines()
        self.assertRegex(heading, r"^gpu0  \d+ points?  \S+Z to \S+Z  step 1s  history since \S+Z$")
        self.assertEqual(titles.split(), ["TIME", "SLICE", "VM", "CONTEXT", "EVENT", "COUNT", "RATE", "NOTES"])
        self.assertRegex(first, r"Z +0  vm1  train +sm_active_cycles +[\d,]+ +- +(-|idle)$")

    def test_before_the_history_there_is_nothing(self):
        result = self.sideband("tenant-a", "get", "--since", "2001-01-01T00:00:00Z", "--until", "2001-01-02T00:00:00Z")
        self.assertRegex(result.stdout, r"\Agpu0  0 points  history since \S+Z\n\Z")

    def test_its_size_is_told_to_the_operator_only(self):
        values = dict(line.rsplit(" ", 1) for line in self.site.get("operator", "/metrics")[1].splitlines()
                      if line.startswith("sideband_history_"))
        self.assertEqual(float(values["sideband_history_max_bytes"]), 16 << 20)
        self.assertGreater(float(values["sideband_history_bytes"]), 1000)
        self.assertLess(float(values["sideband_history_bytes"]), 16 << 20)
        self.assertGreater(float(values['sideband_history_span_seconds{device="gpu0"}']), 0.5)
        self.assertNotIn("sideband_history_", self.site.get("tenant-a", "/metrics")[1])


class RestartTest(HistoryTestCase):
    """A device that restarts begins new series; no count decreases."""

    def test_a_restart(self):
        self.wait_for_points(5)
        self.site.device.stop()
        self.site.start_device()
        device = programs.wait_until(self.restarted, "two boot ids in the history")
        by_scope = {}
        for series in device["series"]:
            by_scope.setdefault((series["scope"]["vm"], series["scope"]["context"]), []).append(series)
        for first, second in by_scope.values():
            self.assertNotEqual(first["boot_id"], second["boot_id"])
            self.assertGreaterEqual(second["first_point"], first["first_point"] + len(first["columns"][0]["counts"]))
            self.assertIsNone(second["columns"][0]["rates_per_second"][0])
        table = self.sideband("tenant-a", "get", "--since", "1h").stdout
        self.assertIn("restarted", table)

    def restarted(self):
        device = self.get("tenant-a")
        return device if len({series["boot_id"] for series in device["series"]}) == 2 else None


class WithoutHistoryTest(HistoryTestCase):
    config = "history: {max_bytes: 0}\n"

    def test_that_is_said(self):
        result = self.sideband("operator", "get", "--since", "5m")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertEqual(result.stderr, "sideband: localhost:%d: this daemon keeps no history\n" % self.site.grpc_port)
        with tenant_client.connect(self.site, "tenant-a") as client:
            with self.assertRaises(tenant_client.sideband.FailedPrecondition):
                client.history()
        self.assertIn("sideband_history_max_bytes 0", self.site.get("operator", "/metrics")[1])
