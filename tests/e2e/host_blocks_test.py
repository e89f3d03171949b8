# SPDX-License-Identifier: Apache-2.0
"""What the hypervisor does on slices without a resident, from an emulated device to operators: never to tenants."""

import json
import unittest

import exposition
import programs
import site_layout

HOST = """
host: {exit_every: 2ms, exit_time: 100us, seed: 11, phases: [{kind: copy, time: 1ms}]}
"""
EVENT, RESIDENT = "sm_active_cycles", "resident_cycles"


class HostBlocksTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.site = site_layout.Site(interval="100ms")
        cls.addClassCleanup(cls.site.close)
        chip = cls.site.read("chip.yaml").decode()
        site_layout.write(cls.site.folder, "chip.yaml", chip + HOST)
        cls.site.start()

    def sideband(self, user, *arguments):
        return programs.run("sideband", "--address", "127.0.0.1:%d" % self.site.grpc_port, "--ca-file", "ca.pem",
                            "--cert-file", user + ".pem", "--key-file", user + ".key", *arguments, cwd=self.site.folder)

    def hosts(self, series, event):
        """{slice: count}."""
        name = "sideband_host_%s_total" % event
        return {dict(labels)["slice"]: count for (of, labels), count in series.items() if of == name}

    def sums(self, series, event):
        """(the device's count, the sum of its published parts)."""
        whole = exposition.value(series, "sideband_device_%s_total" % event, device="gpu0")
        vms = sum(count for (of, _), count in series.items() if of == "sideband_vm_%s_total" % event)
        return whole, vms + sum(self.hosts(series, event).values())

    def later(self, series):
        """A scrape of a later snapshot."""
        name = "sideband_device_reference_seconds_total"
        before = exposition.value(series, name, device="gpu0")
        return programs.wait_until(
            lambda: (lambda now: (exposition.value(now, name, device="gpu0") or 0) > before + 0.5 and now)(
                self.site.metrics("operator")), "a later snapshot")

    def test_the_device_is_its_vms_and_hosts(self):
        first = self.site.metrics("operator")
        last = self.later(first)
        for event in (EVENT, RESIDENT):
            before, after = self.sums(first, event), self.sums(last, event)
            self.assertGreater(after[0], before[0])
            # A confidential VM is on the device: its row goes on by what the published rows count.
            self.assertEqual(after[0] - before[0], after[1] - before[1], event)
        self.assertEqual(exposition.value(last, "sideband_conservation_ok", device="gpu0"), 1)

    def test_each_slice_has_a_row(self):
        hosts = self.hosts(self.later(self.site.metrics("operator")), RESIDENT)
        self.assertEqual(sorted(hosts), ["0", "1"])
        for count in hosts.values():
            self.assertGreater(count, 0)

    def test_tenants_have_none(self):
        for user in ("tenant-a", "tenant-b"):
            status, body = self.site.get(user, "/metrics")
            self.assertEqual(status, 200)
            self.assertNotIn("sideband_host", body)
            for command in ("get", "scopes"):
                result = self.sideband(user, command, "--format", "json")
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertNotIn('"host": true', result.stdout)

    def test_the_command_line_names_them_by_their_slices(self):
        table = self.sideband("operator", "get", "--event", EVENT).stdout
        self.assertRegex(table, r"(?m)^\(host:1\)  - +sm_active_cycles ")
        scopes = json.loads(self.sideband("operator", "scopes", "--format", "json").stdout)["scopes"]
        self.assertEqual([scope["slice"] for scope in scopes if scope.get("host")], [0, 1])

    def test_a_peek_of_the_hypervisor(self):
        arguments = ("peek", "--host", "1", "--event", EVENT, "--format", "json")
        first, second = (json.loads(self.sideband("operator", *arguments).stdout) for _ in range(2))
        self.assertEqual(first["counters"]["scope"]["host"], True)
        counts = [int(answer["counters"]["counters"][0]["count"]) for answer in (first, second)]
        self.assertLessEqual(counts[0], counts[1])
        refused = self.sideband("tenant-a", *arguments)
        self.assertEqual((refused.returncode, refused.stdout), (1, ""))
        self.assertIn("no such device, VM, context or event", refused.stderr)
