# SPDX-License-Identifier: Apache-2.0
"""`sideband admin` over the daemon's Unix socket, with the real programs."""

import unittest

import programs
import site_layout


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
        self.assertEqual(self.out("reload"), "policy version 2 is in force\n")
        policy = self.site.read("policy.yaml").decode()
        site_layout.write(self.site.folder, "policy.yaml", policy.replace("operators", "operaters"))
        self.assertIn("nothing was changed; policy.yaml:3: unknown key 'operaters'", self.refusal("reload"))
        site_layout.write(self.site.folder, "policy.yaml", policy)
        config = self.site.read("sidebandd.yaml").decode()
        site_layout.write(self.site.folder, "sidebandd.yaml", config + "quotas: {calls_per_second: 7}\n")
        self.assertEqual(self.out("reload").splitlines(),
                         ["policy version 3 is in force", "quotas has changed; it takes effect only after a restart"])

    def test_triggers_are_numbered_and_lose_nothing(self):
        number = int(self.out("trigger").split()[1])
        self.assertGreater(int(self.out("trigger").split()[1]), number)
        self.assertEqual(self.out("trigger", "--every", "100000"), "triggered every 100000 cycles\n")
        self.assertEqual(self.out("trigger", "--stop"), "triggered by the device alone again\n")
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
