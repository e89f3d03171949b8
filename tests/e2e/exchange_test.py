# SPDX-License-Identifier: Apache-2.0
"""A guest exchanges keys with the daemon and opens its VM's records, while nobody else has them."""

import json
import subprocess
import unittest

import programs
import site_layout
import tenant_client

VM = site_layout.VM_UUIDS["vm3"]
MEASUREMENT = "c" * 96


def check_gaps(test, lines):
    """Each line of `sideband unseal` tells how many records are missing before it: a stream leaves out what a slow
    machine cannot send in time."""
    places = [(int(line["record"]["epoch"]), int(line["record"]["sequence"])) for line in lines]
    missing = [then[1] - before[1] - 1 if then[0] == before[0] else then[1] for before, then in zip(places, places[1:])]
    test.assertEqual([int(line["gap"]) for line in lines], [0, *missing])
    test.assertIn(0, missing)


class ExchangeSite(site_layout.Site):
    """The daemon has a static key of the VM, too, so that both kinds of records can be compared."""

    def __init__(self):
        super().__init__()
        subprocess.run([programs.runfile("tests/e2e/exchange_files"), self.folder, VM], check=True)
        config = self.read("sidebandd.yaml").decode() + "  exchange: sealing.yaml\naudit: {file: audit.jsonl}\n"
        site_layout.write(self.folder, "sidebandd.yaml", config)

    def unseal(self, user, *options):
        return programs.run("sideband", "--address", "localhost:%d" % self.grpc_port, "--ca-file", "ca.pem",
                            "--cert-file", user + ".pem", "--key-file", user + ".key", "unseal", "--vm", "vm3",
                            "--format", "json", *options, cwd=self.folder, environment={"XDG_STATE_HOME": self.folder})

    def exchange(self, *options, user="tenant-b", measurement=MEASUREMENT, count=1):
        return self.unseal(user, "--exchange", "--sealer-ca", "identity-ca.pem", "--throwaway-psp", ".",
                           "--measurement", measurement, "--count", str(count), *options)


class ExchangeTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.site = ExchangeSite()
        cls.addClassCleanup(cls.site.close)
        cls.site.start()

    def audit(self):
        return [json.loads(line) for line in self.site.read("audit.jsonl").splitlines()]

    def refused(self, result, *parts):
        self.assertEqual((result.returncode, result.stdout), (1, ""), result)
        for part in parts:
            self.assertIn(part, result.stderr)

    def test_the_guest_has_what_the_static_key_gives(self):
        exchanged = self.site.exchange("--accept-daemon", count=12)
        self.assertEqual(exchanged.returncode, 0, exchanged)
        self.assertIn("keys exchanged with the daemon of ", exchanged.stderr)
        lines = [json.loads(line) for line in exchanged.stdout.splitlines()]
        self.assertGreaterEqual(int(lines[-1]["record"]["epoch"]), 1, "keys are rotated every second")
        self.assertEqual({line["record"]["vm_uuid"] for line in lines}, {VM})
        check_gaps(self, lines)
        for line in lines:
            rows = {row["scope"].get("context", ""): {c["event"]: int(c["count"]) for c in row["counters"]}
                    for row in line["snapshot"]["scopes"]}
            self.assertEqual(rows.keys(), {"", "finetune", "embed"})
            self.assertEqual(rows[""], {e: rows["finetune"][e] + rows["embed"][e] for e in rows[""]})
            self.assertGreater(rows[""]["tensor_active_cycles"], 0)

    def test_both_kinds_of_records_agree_at_one_trigger(self):
        watch = programs.Program(
            "sideband", "--address", "localhost:%d" % self.site.grpc_port, "--ca-file", "ca.pem", "--cert-file",
            "tenant-b.pem", "--key-file", "tenant-b.key", "unseal", "--vm", "vm3", "--format", "json", "--key-file",
            "vm3.key", cwd=self.site.folder, environment={"XDG_STATE_HOME": self.site.folder})
        self.addCleanup(watch.kill)
        programs.wait_until(lambda: "snapshot" in watch.log(), "a record of the static key")
        exchanged = self.site.exchange("--accept-daemon", count=5)
        watch.stop()

        def by_trigger(text):
            found = {}
            for line in text.splitlines():
                if not line.startswith("{"):
                    continue
                snapshot = json.loads(line)["snapshot"]
                found[snapshot["trigger_id"]] = [
                    (row["scope"].get("context", ""), row["scope"]["generation"], row.get("flags", []),
                     [(c["event"], c["count"]) for c in row["counters"]]) for row in snapshot["scopes"]]
            return found
        static, own = by_trigger(watch.log()), by_trigger(exchanged.stdout)
        common = static.keys() & own.keys()
        self.assertGreaterEqual(len(common), 3)
        for trigger in common:
            self.assertEqual(static[trigger], own[trigger])

    def test_a_guest_does_not_trust_the_daemon_unless_told(self):
        self.refused(self.site.exchange(), "the sealer is not trusted: records would be sealed by the daemon")

    def test_a_guest_does_not_trust_another_authority(self):
        result = self.site.unseal("tenant-b", "--exchange", "--sealer-ca", "ca.pem", "--throwaway-psp", ".",
                                  "--measurement", MEASUREMENT, "--accept-daemon")
        self.refused(result, "the sealer's certificate is not trusted")

    def test_another_guest_is_refused_with_one_answer_and_audited(self):
        self.refused(self.site.exchange("--accept-daemon", measurement="d" * 96), "the exchange is refused")
        reasons = [entry["reason"] for entry in self.audit() if entry.get("endpoint") == "Confidential/Exchange"]
        self.assertIn("exchange refused: the guest's measurement is not on the list", reasons)

    def test_other_tenants_and_the_operator_see_no_such_vm(self):
        for user in ("tenant-a", "operator"):
            self.refused(self.site.exchange("--accept-daemon", user=user), "no such device, VM, context or event")

    def test_what_is_missing_is_said(self):
        result = self.site.unseal("tenant-b")
        self.assertEqual(result.returncode, 2, result)
        self.assertIn("--key-file or --exchange is required", result.stderr)
        result = self.site.unseal("tenant-b", "--exchange")
        self.assertEqual(result.returncode, 2, result)
        self.assertIn("--sealer-ca", result.stderr)

    def test_garbage_has_the_same_answer(self):
        with tenant_client.Client(self.site, "tenant-b") as client:
            pb = tenant_client.messages()
            for request in (b"", b"SBXQ", bytes(140), bytes(20_000)):
                code, message = tenant_client.refusal(
                    lambda: client.confidential.Exchange(pb.ExchangeRequest(vm="vm3", request=request), timeout=programs.PATIENCE_S))
                self.assertEqual((code.name, message), ("PERMISSION_DENIED", "the exchange is refused"))
