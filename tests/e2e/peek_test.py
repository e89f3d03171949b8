# SPDX-License-Identifier: Apache-2.0
"""`sideband peek` through the daemon and over the bus of an emulated device: live counters, rights, and the bus share."""

import json
import signal
import unittest

import exposition
import programs
import site_layout
import tenant_client

EVENT, OTHER, OF_DEVICE = "sm_active_cycles", "dram_read_cycles", "pcie_tx_cycles"
ABSENT = "no such device, VM, context or event"


class PeekTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.site = site_layout.Site(interval="200ms")
        cls.addClassCleanup(cls.site.close)
        # Tenant A may peek at what it reads; tenant B reads only.
        own = "{uuid: %s" % site_layout.VM_UUIDS["vm1"]
        site_layout.write(cls.site.folder, "policy.yaml",
                          site_layout.POLICY.replace(own, own + ", rights: [read, peek]"))
        cls.config = cls.site.read("sidebandd.yaml").decode() + "audit: {file: audit.jsonl}\n"
        cls.configure(1)
        cls.site.start()

    @classmethod
    def configure(cls, share):
        site_layout.write(cls.site.folder, "sidebandd.yaml", cls.config + "peek: {bus_share: %s}\n" % share)

    def sideband(self, user, *arguments):
        return programs.run("sideband", "--address", "127.0.0.1:%d" % self.site.grpc_port, "--ca-file", "ca.pem",
                            "--cert-file", user + ".pem", "--key-file", user + ".key", *arguments, cwd=self.site.folder)

    def peek(self, user, *arguments):
        """The answer as JSON, with the counts by event."""
        result = self.sideband(user, "peek", "--format", "json", *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        answer = json.loads(result.stdout)
        return answer, {one["event"]: int(one["count"]) for one in answer["counters"]["counters"]}

    def refused(self, user, *arguments):
        """The message of a refusal, without the address of the daemon."""
        result = self.sideband(user, "peek", *arguments)
        self.assertEqual((result.returncode, result.stdout), (1, ""), result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        return result.stderr.partition("%d: " % self.site.grpc_port)[2].rstrip("\n")

    def audited(self):
        entries = [json.loads(line) for line in self.site.read("audit.jsonl").splitlines(True) if line.endswith(b"\n")]
        return [entry for entry in entries if entry.get("endpoint") == "Telemetry/Peek"]

    def test_a_peek_lies_between_two_snapshots(self):
        with tenant_client.Client(self.site, "tenant-a") as client:
            before = client.snapshot(vm="vm1")
            answer, counts = self.peek("tenant-a", "--vm", "vm1", "--context", "train", "--event", EVENT, "--event", OTHER)
            _, later = self.peek("tenant-a", "--vm", "vm1", "--context", "train", "--event", EVENT, "--event", OTHER)
            time_ns = int(answer["reference_time_ns"])
            after = programs.wait_until(
                lambda: (lambda newest: newest.reference_time_ns > time_ns and newest)(client.snapshot(vm="vm1")),
                "a later snapshot")
        self.assertLess(before.reference_time_ns, time_ns)
        self.assertEqual(int(answer["boot_id"], 16), after.boot_id)
        first, last = tenant_client.counters(before), tenant_client.counters(after)
        self.assertEqual(set(counts), {EVENT, OTHER})
        for event, count in counts.items():
            self.assertLessEqual(first[event, "vm1", "train"], count)
            self.assertLessEqual(count, last[event, "vm1", "train"])
            self.assertLessEqual(count, later[event])
        self.assertGreater(later[EVENT], first[EVENT, "vm1", "train"], "it is live")
        self.assertEqual(answer["counters"]["flags"], [])
        self.assertFalse({"state", "ratios"} & set(answer["counters"]))

    def test_a_table(self):
        result = self.sideband("tenant-a", "peek", "--device", "gpu0", "--vm", site_layout.VM_UUIDS["vm1"], "--event", EVENT)
        self.assertRegex(result.stdout, r"\Agpu0  \S+ ±\S+  boot [0-9a-f]{16}\s+at \d+\.\d{9} s\n"
                                        r"VM   CONTEXT  EVENT +COUNT\n"
                                        r"vm1  - +sm_active_cycles +[\d,]+\n\Z")
        self.assertEqual(result.stderr, "")

    def test_operators_peek_at_whole_vms(self):
        _, counts = self.peek("operator", "--vm", "vm2", "--event", EVENT)
        self.assertIn(EVENT, counts)

    def test_operators_peek_at_the_device_without_its_own_events(self):
        answer, counts = self.peek("operator", "--event", EVENT)
        self.assertGreater(counts[EVENT], 0)
        self.assertEqual(answer["counters"]["flags"], ["confidential_excluded"])
        self.assertEqual(self.refused("operator", "--event", OF_DEVICE),
                         "%s is withheld because of a confidential VM" % OF_DEVICE)

    def test_what_is_denied_is_absent(self):
        for user, arguments, named in (
                ("tenant-b", ("--vm", "vm1", "--event", EVENT), ": VM 'vm1'"),
                ("tenant-b", ("--vm", "vm9", "--event", EVENT), ": VM 'vm9'"),
                ("tenant-b", ("--vm", "vm2", "--event", EVENT), " to peek at; a peek needs the right `peek` as well as `read`"),
                ("tenant-b", ("--vm", "vm3", "--event", EVENT), ": VM 'vm3'"),
                ("operator", ("--vm", "vm3", "--event", EVENT), ": VM 'vm3' (confidential: "),
                ("operator", ("--vm", "vm2", "--context", "serve", "--event", EVENT), ": context 'serve' (operators"),
                ("operator", ("--vm", "vm2", "--event", OF_DEVICE), ": %s of VM 'vm2' on gpu0" % OF_DEVICE),
                ("tenant-a", ("--vm", "vm1", "--context", "trian", "--event", EVENT),
                 ": context 'trian' (did you mean 'train'?)"),
                ("tenant-a", ("--event", EVENT), ": the device's own counters"),
                ("tenant-a", ("--vm", "vm1", "--event", OF_DEVICE), ": event '%s'" % OF_DEVICE),
                ("tenant-a", ("--vm", "vm1", "--event", "nothing"), ": event 'nothing'")):
            self.assertTrue(self.refused(user, *arguments).startswith(ABSENT + named), (user, arguments))

    def test_patterns_are_mistakes(self):
        result = self.sideband("tenant-a", "peek", "--vm", "vm1", "--event", "dram_*")
        self.assertEqual((result.returncode, result.stdout), (2, ""), result.stderr)
        self.assertIn("--event: 'dram_*' is a pattern", result.stderr)

    def test_each_peek_is_audited_and_counted(self):
        def value(name, **labels):
            return exposition.value(self.site.metrics("operator"), name, **labels) or 0

        before = value("sideband_peeks_total", device="gpu0", code="OK")
        self.peek("tenant-a", "--vm", "vm1", "--event", EVENT)
        self.assertEqual(value("sideband_peeks_total", device="gpu0", code="OK"), before + 1)
        self.assertGreaterEqual(value("sideband_peek_duration_seconds_count", device="gpu0"), before + 1)
        self.assertIsNotNone(exposition.value(self.site.metrics("operator"), "sideband_peek_retries_total", device="gpu0"))
        self.refused("tenant-b", "--vm", "vm1", "--event", EVENT)
        # Requests do not wait for the log's writer.
        granted, denied = programs.wait_until(
            lambda: (lambda found: found[-1]["decision"] == "deny" and found)(self.audited()[-2:]), "both entries")
        self.assertEqual((granted["principal"], granted["decision"]), (site_layout.TRUST + "tenant-a", "allow"))
        self.assertEqual((denied["principal"], denied["decision"]), (site_layout.TRUST + "tenant-b", "deny"))
        self.assertIn('vm: "vm1"', denied["resource"])

    def test_the_share_is_kept_and_reloaded(self):
        arguments = ("--vm", "vm1", "--event", EVENT)
        self.addCleanup(self.reload, 1)
        self.reload(0)
        self.assertEqual(self.refused("tenant-a", *arguments), "peeks are switched off")
        self.reload(0.001)
        with tenant_client.Client(self.site, "tenant-a") as client:
            request = tenant_client.messages().PeekRequest(device="gpu0", vm="vm1", events=[EVENT])
            # A peek takes some time on the bus, and the share earns a thousandth of it.
            for _ in range(1000):
                try:
                    client.telemetry.Peek(request, timeout=programs.PATIENCE_S)
                except tenant_client.grpc.RpcError as error:
                    self.assertEqual(error.code(), tenant_client.grpc.StatusCode.RESOURCE_EXHAUSTED)
                    self.assertRegex(error.details(), r"bus time for peeks of the device is used up; retry in \S+\Z")
                    self.assertGreater(int(dict(error.trailing_metadata())["grpc-retry-pushback-ms"]), 0)
                    return
        self.fail("peeks took more than their share")

    def reload(self, share):
        self.configure(share)
        reloads = self.site.daemon.log().count("is in force")
        self.site.daemon.signal(signal.SIGHUP)
        programs.wait_until(lambda: self.site.daemon.log().count("is in force") > reloads, "a reload")
