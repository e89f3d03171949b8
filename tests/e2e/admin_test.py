# SPDX-License-Identifier: Apache-2.0
"""`sideband admin` over the daemon's Unix socket, with the real programs."""

import unittest

import programs
import site_layout
import tenant_client


def counts(snapshot):
    """{context: {event: count}} of the tenant's VM; "" is the VM itself."""
    return {row.scope.context: {counter.event: counter.count for counter in row.counters} for row in snapshot.scopes}


class AdminTest(unittest.TestCase):
    def setUp(self):
        self.site = site_layout.Site(interval="100ms")
        self.addCleanup(self.site.close)
        config = self.site.read("sidebandd.yaml").decode().replace("grpc:\n", "grpc:\n  unix_socket: grpc.sock\n")
        site_layout.write(self.site.folder, "sidebandd.yaml", config)
        self.site.start()

    def admin(self, *arguments):
        return programs.run("sideband", "--address", "unix:grpc.sock", "admin", *arguments, cwd=self.site.folder)

    def out(self, *arguments):
        result = self.admin(*arguments)
        self.assertEqual((result.returncode, result.stderr), (0, ""), arguments)
        return result.stdout

    def refusal(self, *arguments):
        result = self.admin(*arguments)
        self.assertEqual((result.returncode, result.stdout), (1, ""), arguments)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        return result.stderr

    def test_a_reload_is_answered_with_its_outcome(self):
        self.assertEqual(self.out("reload"), "policy generation 2 is in force\n")
        policy = self.site.read("policy.yaml").decode()
        site_layout.write(self.site.folder, "policy.yaml", policy.replace("operators", "operaters"))
        self.assertIn("nothing was changed; policy.yaml:3: unknown key 'operaters'", self.refusal("reload"))
        site_layout.write(self.site.folder, "policy.yaml", policy)
        config = self.site.read("sidebandd.yaml").decode()
        site_layout.write(self.site.folder, "sidebandd.yaml", config + "quotas: {calls_per_second: 7}\n")
        self.assertEqual(self.out("reload").splitlines(),
                         ["policy generation 3 is in force", "quotas has changed; it takes effect only after a restart"])

    def snapshot(self):
        with tenant_client.Client(self.site, "tenant-a", patient=True) as client:
            return client.snapshot()

    def later(self, before):
        """A snapshot at least half a second of the device after `before`."""
        programs.wait_until(lambda: self.snapshot().reference_time_ns - before.reference_time_ns >= 500_000_000,
                            "half a second of snapshots")
        return self.snapshot()

    def triggers_per_second(self):
        """By the device's clock, between two snapshots that were taken from now on."""
        before = self.later(self.snapshot())
        after = self.later(before)
        self.assert_no_count_is_lost(before, after)
        return (after.trigger_id - before.trigger_id) / (after.reference_time_ns - before.reference_time_ns) * 1e9

    def assert_no_count_is_lost(self, before, after):
        earlier, now = counts(before), counts(after)
        for scope, of in now.items():
            for event, count in of.items():
                self.assertGreaterEqual(count, earlier.get(scope, {}).get(event, 0), (scope, event))
        contexts = [of for context, of in now.items() if context]
        self.assertEqual(now[""], {event: sum(of.get(event, 0) for of in contexts) for event in now[""]})
        self.assertGreater(now[""]["sm_active_cycles"], earlier[""]["sm_active_cycles"])

    def test_triggers_are_numbered_and_lose_nothing(self):
        number = int(self.out("trigger").split()[1])
        self.assertGreater(int(self.out("trigger").split()[1]), number)
        alone = self.triggers_per_second()
        self.assertEqual(self.out("trigger", "--every", "100000"), "triggered every 100000 cycles\n")
        # 14,000 a second of 1.4 GHz, beside the device's own.
        self.assertAlmostEqual(self.triggers_per_second(), alone + 14_000, delta=1_000)
        self.assertEqual(self.out("trigger", "--stop"), "only the device's own triggers remain\n")
        self.assertAlmostEqual(self.triggers_per_second(), alone, delta=100)
        self.assertIn("period_cycles: too short for the device", self.refusal("trigger", "--every", "10"))
        self.assertIn("no such device", self.refusal("trigger", "--device", "gpu9"))
        for cycles in ("0", "-5", "1ms", "99999999999999999999"):
            result = self.admin("trigger", "--every", cycles)
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertIn("'%s' is not a number of cycles" % cycles, result.stderr)

    def test_other_connections_are_refused(self):
        for user in ("operator", "tenant-a"):
            for verb in (("reload",), ("trigger", "--device", "gpu0")):
                result = programs.run("sideband", "--address", "127.0.0.1:%d" % self.site.grpc_port, "--ca-file", "ca.pem",
                                      "--cert-file", user + ".pem", "--key-file", user + ".key", "admin", *verb,
                                      cwd=self.site.folder)
                self.assertEqual((result.returncode, result.stdout), (1, ""))
                self.assertIn("Admin is for local operators on the daemon's Unix socket", result.stderr)


if __name__ == "__main__":
    unittest.main()
