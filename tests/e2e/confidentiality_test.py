# SPDX-License-Identifier: Apache-2.0
"""A device that reports a confidential VM as open: the report is rejected, and nothing of the VM is published."""

import json
import signal
import unittest

import exposition
import liar_site
import programs
import tenant_client

REFUSED = "sideband_collect_confidentiality_refused_total"
# Each of these in an answer would reveal the VM's counts.
TELLING = [str(count) for count in liar_site.SECRET_COUNTS + liar_site.DEVICE_COUNTS]


class ConfidentialityTest(unittest.TestCase):
    def start(self, *arguments, **options):
        self.site = liar_site.LiarSite(*arguments, **options)
        self.addCleanup(self.site.close)
        self.site.start()
        self.site.wait_for_snapshots()

    def sideband(self, user, *arguments):
        result = programs.run("sideband", "--address", "localhost:%d" % self.site.grpc_port, "--ca-file", "ca.pem",
                              "--cert-file", user + ".pem", "--key-file", user + ".key", *arguments,
                              cwd=self.site.folder)
        return result.stdout + result.stderr

    def answers(self):
        """All answers about counters to all users, including the history."""
        return {(user, what): answer for user in ("operator", "tenant-a", "tenant-b")
                for what, answer in (("/metrics", self.site.get(user, "/metrics")[1]),
                                     ("/", self.site.get(user, "/")[1]),
                                     ("get", self.sideband(user, "get", "--format", "json")),
                                     ("history", self.sideband(user, "get", "--since", "1h", "--format", "json")))}

    def tells(self):
        """The (user, request) pairs whose answers reveal the VM's counts."""
        return [asked for asked, answer in self.answers().items() if any(count in answer for count in TELLING)]

    def refused(self):
        return exposition.value(self.site.metrics("operator"), REFUSED, device="gpu0") or 0

    def audited(self):
        entries = [json.loads(line) for line in self.site.read("audit.jsonl").decode().splitlines()]
        return [(entry["resource"], entry["decision"]) for entry in entries if entry["kind"] == "device"]

    def check_alarm(self, reason):
        self.assertGreater(self.refused(), 0)
        self.assertIn("VM %s: the device reports that the VM is not confidential; the VM stays confidential, since %s" %
                      (liar_site.SECRET, reason), self.site.daemon.log())
        programs.wait_until(self.audited, "an entry in the audit log")
        self.assertEqual(self.audited(), [("device gpu0, VM " + liar_site.SECRET, "deny")])

    def test_the_test_sees_what_is_told(self):
        """If the VM is not confidential by any criterion, its counts are in the answers of all authorized users."""
        self.start("open")
        self.assertIn(("operator", "/metrics"), self.tells())
        self.assertIn(("operator", "history"), self.tells())
        self.assertIn(("tenant-b", "get"), self.tells())
        self.assertNotIn(("tenant-a", "get"), self.tells())
        self.assertEqual((self.refused(), self.audited()), (0, []))

    def test_a_device_that_takes_it_back(self):
        self.start("confidential")
        self.assertEqual((self.tells(), self.refused()), ([], 0))
        for _ in ("open", "gone", "confidential", "open"):
            self.site.next_state()
            self.site.wait_for_snapshots(3)
            self.assertEqual(self.tells(), [])
        self.check_alarm("it was confidential since the device started")

    def test_a_vm_with_a_key(self):
        self.start("open", keys=True, right="seal")
        self.assertEqual(self.tells(), [])
        self.check_alarm("it has a sealing key")
        opened = self.sideband("tenant-b", "unseal", "--vm", liar_site.SECRET, "--key-file", "vm3.key", "--count", "1",
                               "--format", "json", "--state", "state.json")
        self.assertEqual([int(counter["count"])
                          for counter in json.loads(opened)["snapshot"]["scopes"][0]["counters"]],
                         list(liar_site.SECRET_COUNTS))

    def test_a_vm_that_the_policy_seals(self):
        self.start("open", right="seal")
        self.assertEqual(self.tells(), [])
        self.check_alarm("the policy grants `seal` on it")

    def test_a_reload_that_seals(self):
        """Takes effect from then on; counts published before were not secret, and stay in the history."""
        self.start("open")
        self.assertIn(("operator", "/metrics"), self.tells())
        self.site.grant("seal")
        self.site.daemon.signal(signal.SIGHUP)
        programs.wait_until(lambda: self.refused() > 0, "the VM is confidential")
        self.site.wait_for_snapshots()
        own = [str(count) for count in liar_site.SECRET_COUNTS]
        answers = {asked: answer for asked, answer in self.answers().items() if asked[1] != "history"}
        self.assertEqual([asked for asked, answer in answers.items() if any(count in answer for count in own)], [])
        self.assertEqual({user for user, _ in self.tells()}, {"operator"}, "whose device's row goes on from where it was")
        self.check_alarm("the policy grants `seal` on it")
        with tenant_client.Client(self.site, "operator") as client:
            rows = {row.scope.vm: list(row.flags) for row in client.snapshot().scopes}
        self.assertEqual(rows, {"": ["confidential_excluded"], "open": []})
