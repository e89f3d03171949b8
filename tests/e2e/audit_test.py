# SPDX-License-Identifier: Apache-2.0
"""The audit log of a running daemon, and `sideband audit` on it: callers, restarts, kills, rotations, forgeries."""

import glob
import json
import os
import signal
import stat
import unittest

import programs
import site_layout
import tenant_client


class AuditTestCase(unittest.TestCase):
    options = ""

    def setUp(self):
        # One snapshot, so that the topology does not change.
        self.site = site_layout.Site("1h")
        self.addCleanup(self.site.close)
        config = self.site.read("sidebandd.yaml").decode()
        site_layout.write(self.site.folder, "sidebandd.yaml", config + "audit: {file: audit.jsonl%s}\n" % self.options)

    def files(self):
        return sorted(glob.glob(self.site.path("audit.jsonl*")))

    def audit(self, *arguments):
        return programs.run("sideband", "audit", *arguments, cwd=self.site.folder)

    def verify(self, *options):
        """The verifier's output for a log that must be complete."""
        result = self.audit("verify", "--format", "json", *options, *self.files())
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return json.loads(result.stdout)

    def entries(self, kind=None):
        found = [json.loads(line) for name in self.files() for line in open(name, encoding="ascii") if line[-1] == "\n"]
        return [entry for entry in sorted(found, key=lambda entry: entry["sequence"]) if kind in (None, entry["kind"])]

    def wait_for(self, count, kind):
        """Waits for the entries: requests do not wait for the log's writer."""
        programs.wait_until(lambda: len(self.entries(kind)) >= count, "%d entries of kind %s" % (count, kind))
        return self.entries(kind)


class AccessTest(AuditTestCase):
    def test_who_asked(self):
        self.site.start()
        for user in site_layout.USERS:
            self.site.get(user, "/metrics?scope=vm")
            self.site.get(user, "/-/healthy")
        with tenant_client.Client(self.site, "tenant-a") as client:
            client.snapshot()
        with tenant_client.connect(self.site, "tenant-a") as client:
            self.assertRaises(tenant_client.sideband.NotFound, client.get, vm="vm2")
            with self.assertRaises(tenant_client.sideband.NotFound) as refused:
                next(client.watch(vm="vm2"))
        *access, get, listed, begin, end = self.wait_for(9, "access")
        self.assertEqual((get["endpoint"], get["decision"]), ("Telemetry/GetSnapshot", "deny"))
        self.assertEqual((listed["endpoint"], listed["decision"]), ("Telemetry/ListScopes", "allow"), "to name the VM")
        for entry in (begin, end):
            self.assertEqual((entry["endpoint"], entry["detail"]),
                             ("Telemetry/Subscribe", ["request " + refused.exception.request_id]))
        self.assertNotEqual(get["detail"], end["detail"])
        told = [(entry["principal"].removeprefix(site_layout.TRUST), entry["role"], entry["endpoint"], entry["decision"])
                for entry in access]
        self.assertEqual(told, [("operator", "operator", "GET /metrics", "allow"),
                                ("tenant-a", "tenant:tenant-a", "GET /metrics", "allow"),
                                ("tenant-b", "tenant:tenant-b", "GET /metrics", "allow"),
                                ("", "", "GET /metrics", "deny"),
                                ("tenant-a", "tenant:tenant-a", "Telemetry/GetSnapshot", "allow")])
        self.assertEqual(access[0]["resource"], "/metrics?scope=vm")
        self.assertEqual(access[3]["detail"], ["certificate uri " + site_layout.TRUST + "nobody"])
        views = {entry["role"]: entry for entry in self.entries("view")}
        self.assertEqual(set(views), {"operator", "tenant:tenant-a", "tenant:tenant-b"})
        self.assertIn("vms: allow (the tenant's VM): " + site_layout.VM_UUIDS["vm1"], views["tenant:tenant-a"]["detail"])
        self.assertEqual(stat.S_IMODE(os.stat(self.site.path("audit.jsonl")).st_mode), 0o600)
        self.assertEqual(self.site.daemon.stop(), 0)
        self.assertEqual([entry["kind"] for entry in self.entries()][:2], ["start", "policy"])
        self.assertEqual(self.entries()[-1]["kind"], "stop")
        self.assertEqual(self.verify()["last_sequence"], str(len(self.entries())))

        shown = self.audit("show", "--denied", *self.files())
        self.assertEqual(shown.returncode, 0)
        self.assertIn("GET /metrics", shown.stdout)
        self.assertIn("request " + refused.exception.request_id, shown.stdout)
        self.assertNotIn("tenant-b", shown.stdout)

    def test_what_nobody_asks_again_and_again(self):
        self.site.start()
        for number in range(30):
            self.assertEqual(self.site.get("nobody", "/metrics?number=%d" % number)[0], 403)
            self.site.get("tenant-b", "/metrics?event[]=nothing")
        self.assertEqual(self.site.daemon.stop(), 0)
        denied = [entry for entry in self.entries("access") if entry["decision"] == "deny"]
        told = [(entry["resource"], entry.get("repeated")) for entry in denied if not entry["principal"]]
        self.assertEqual(told, [("/metrics?number=0", None), ("/metrics?number=29", 29)])
        self.assertEqual(len(denied), 30 + 2, "what is denied to somebody is told each time")
        self.assertEqual(self.verify()["repeated"], "29")
        self.assertIn("29 more like this until then", self.audit("show", "--denied", *self.files()).stdout)

    def test_nothing_is_no_chain(self):
        site_layout.write(self.site.folder, "empty", "")
        for name, status, error in (("empty", 1, "0 entries"), ("/dev/null", 2, "is not a regular file")):
            result = self.audit("verify", name)
            self.assertEqual((result.returncode, result.stdout), (status, ""))
            self.assertIn(error, result.stderr)

    def test_policies(self):
        self.site.start()
        for number, policy in enumerate((site_layout.POLICY, "tenants: ["), start=2):
            site_layout.write(self.site.folder, "policy.yaml", policy)
            self.site.daemon.signal(signal.SIGHUP)
            self.wait_for(number, "policy")
        told = [(entry["policy_version"], entry["reason"].split(":")[0]) for entry in self.entries("policy")]
        self.assertEqual(told, [(1, "in force"), (2, "in force"), (2, "the old one stays in force")])

    def test_a_log_that_cannot_be(self):
        os.mkdir(self.site.path("audit.jsonl"))
        result = programs.run(*self.site.daemon_command, cwd=self.site.folder)
        self.assertEqual(result.returncode, 2)
        self.assertIn("audit.jsonl: Is a directory", result.stderr)
        os.rmdir(self.site.path("audit.jsonl"))
        site_layout.write(self.site.folder, "audit.jsonl", "something: else\n")
        result = programs.run(*self.site.daemon_command, cwd=self.site.folder)
        self.assertEqual(result.returncode, 2)
        self.assertIn("audit.jsonl: the last entry cannot be continued", result.stderr)
        self.assertEqual(self.site.read("audit.jsonl"), b"something: else\n")


class ChainTest(AuditTestCase):
    options = ", max_bytes: 64KiB, files: 20"

    def test_restarts_kills_and_rotations(self):
        self.site.start_device()
        for run in range(4):
            self.site.start_daemon()
            for _ in range(100):
                self.site.get("operator", "/metrics")
            self.wait_for(100 * (run + 1), "access")
            self.site.daemon.kill()
            with open(self.site.path("audit.jsonl"), "ab") as file:
                file.write(b'{"sequence":1')  # the state after a kill during a write
        unfinished = self.audit("verify", *self.files())
        self.assertEqual(unfinished.returncode, 1)
        self.assertIn("the line is unfinished", unfinished.stderr)
        self.site.start_daemon()
        for _ in range(20):
            self.site.get("operator", "/metrics")
        self.assertEqual(self.site.daemon.stop(), 0)

        self.assertGreater(len(self.files()), 2)
        self.assertEqual([entry["reason"] for entry in self.entries("start")][1:],
                         ["sidebandd 0.2.0; 13 bytes of an unfinished line at the end were cut off"] * 4)
        summary = self.verify()
        self.assertEqual((summary["first_sequence"], summary["lost"]), ("1", "0"))
        self.check_forgeries(summary["head"])

    def check_forgeries(self, head):
        self.assertIn("anchor", self.verify("--head", head))
        newest = self.site.path("audit.jsonl")
        lines = self.site.read("audit.jsonl").splitlines(keepends=True)
        middle = len(lines) // 2
        for forged, error in (
                (lines[:middle] + lines[middle + 1:], "audit.jsonl:%d: sequence " % (middle + 1)),
                (lines[:middle] + [lines[middle].replace(b'"time":"2', b'"time":"1')] + lines[middle + 1:],
                 "audit.jsonl:%d: 'prev' is not the hash" % (middle + 2)),
                (lines[:-1], "no entry has the head"),
        ):
            with open(newest, "wb") as file:
                file.write(b"".join(forged))
            result = self.audit("verify", "--head", head, *self.files())
            self.assertEqual(result.returncode, 1)
            self.assertIn(error, result.stderr)
        os.remove(self.site.path("audit.jsonl.1"))
        self.assertEqual(self.audit("verify", *self.files()).returncode, 1)
