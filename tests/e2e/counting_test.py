# SPDX-License-Identifier: Apache-2.0
"""Who is counted, changed while an emulated device runs: `sideband counting` and counting_file, with the real programs."""

import json
import signal
import unittest

import exposition
import programs
import site_layout

GROUPS = """
gate_groups:
  - {name: sm, events: [sm_active_cycles]}
  - {name: memory, events: [dram_read_cycles, dram_write_cycles]}
"""
ABSENT = "no such device, VM, context or event"


class CountingTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.site = site_layout.Site(interval="200ms")
        cls.addClassCleanup(cls.site.close)
        site_layout.write(cls.site.folder, "chip.yaml", cls.site.read("chip.yaml").decode() + GROUPS)
        own = "{uuid: %s" % site_layout.VM_UUIDS["vm1"]
        site_layout.write(cls.site.folder, "policy.yaml", site_layout.POLICY.replace(
            own, own + ", rights: [read, configure], configure: {gate_groups: [sm]}"))
        cls.config = cls.site.read("sidebandd.yaml").decode() + "audit: {file: audit.jsonl}\nstate_dir: state\n"
        site_layout.write(cls.site.folder, "sidebandd.yaml", cls.config)
        cls.site.start()

    def sideband(self, user, *arguments):
        return programs.run("sideband", "--address", "127.0.0.1:%d" % self.site.grpc_port, "--ca-file", "ca.pem",
                            "--cert-file", user + ".pem", "--key-file", user + ".key", *arguments, cwd=self.site.folder)

    def counting(self, user, *arguments):
        result = self.sideband(user, "counting", *arguments)
        self.assertEqual((result.returncode, result.stderr), (0, ""), arguments)
        return result.stdout

    def shown(self, user):
        return json.loads(self.counting(user, "show", "--format", "json"))

    def vm(self, user, name):
        return next(vm for vm in self.shown(user)["vms"] if vm["vm"] == name)

    def counts(self, vm):
        """The operator's counts of a VM, by event."""
        counters = exposition.counters(self.site.metrics("operator"))
        return {event: count for (event, of, context), count in counters.items() if of == vm and not context}

    def growing(self, vm, event):
        """Whether the count still grows once what was on its way has arrived."""
        self.site.wait_for_snapshots()
        before = self.counts(vm)
        self.site.wait_for_snapshots()
        after = self.counts(vm)
        self.assertGreater(after["resident_cycles"], before["resident_cycles"])
        return after.get(event, 0) > before.get(event, 0)

    def test_a_tenant_closes_and_opens_its_own_gates(self):
        self.assertTrue(self.growing("vm1", "sm_active_cycles"))
        self.assertRegex(self.counting("tenant-a", "set", "--vm", "vm1", "--value", "none"),
                         r"\Arevision \d+ is in force\n\Z")
        self.assertFalse(self.growing("vm1", "sm_active_cycles"))
        self.assertTrue(self.growing("vm1", "dram_read_cycles"), "a group that is not granted stays as it is")
        self.assertTrue(self.growing("vm2", "sm_active_cycles"), "another VM is not concerned")
        explained = self.counting("tenant-a", "explain", "--vm", "vm1", "--event", "sm_active_cycles")
        self.assertRegex(explained, r"(?m)^value +0  the VM's own value does not enable the group$")
        self.assertTrue(explained.endswith("sm_active_cycles (gate group sm) is not counted while vm1 runs\n"), explained)
        self.counting("tenant-a", "set", "--vm", "vm1", "--value", "all")
        self.assertTrue(self.growing("vm1", "sm_active_cycles"))

    def test_an_operator_allows(self):
        self.counting("operator", "set", "--vm", "vm2", "--allow", "memory")
        self.assertFalse(self.growing("vm2", "sm_active_cycles"))
        self.assertIn("is not counted while vm2 runs",
                      self.counting("operator", "explain", "--vm", "vm2", "--event", "sm_active_cycles"))
        self.counting("operator", "set", "--vm", "vm2", "--allow", "all")
        self.assertTrue(self.growing("vm2", "sm_active_cycles"))

    def test_a_tenant_sees_its_own(self):
        shown = self.shown("tenant-a")
        self.assertEqual([vm["vm"] for vm in shown["vms"]], ["vm1"])
        self.assertEqual([group["name"] for group in shown["groups"]], ["sm"])
        self.assertEqual({vm["vm"] for vm in self.shown("operator")["vms"]}, {"vm1", "vm2", "vm3"})
        refused = self.sideband("tenant-b", "counting", "show")
        self.assertEqual((refused.returncode, refused.stdout), (1, ""))
        self.assertIn(ABSENT, refused.stderr)

    def test_what_is_not_the_callers_is_refused_and_named(self):
        for user, arguments, reason in (
                ("tenant-a", ("--vm", "vm1", "--allow", "sm"), "vms.vm1.allowed: only operators may set it"),
                ("tenant-a", ("--vm", "vm1", "--value", "memory"), "vms.vm1.value: no gate group 'memory'"),
                ("tenant-a", ("--vm", "vm2", "--value", "all"), "vms.vm2: no such VM"),
                ("tenant-a", ("--vm", "vm9", "--value", "all"), "vms.vm9: no such VM"),
                ("tenant-a", ("--group", "sm", "--valid", "off"), "groups.sm: only operators may set it"),
                ("operator", ("--vm", "vm3", "--pin", "sm"),
                 "it is confidential: only the groups that it may open can be set"),
                ("operator", ("--vm", "vm1", "--allow", "smm"), "no gate group 'smm' (did you mean 'sm'?)"),
                ("operator", ("--vm", "vm1", "--selection", "3"), "no selection 3")):
            result = self.sideband(user, "counting", "set", *arguments)
            self.assertEqual((result.returncode, result.stdout), (1, ""), arguments)
            self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
            self.assertIn("nothing was changed; ", result.stderr)
            self.assertIn(reason, result.stderr)

    def test_mistakes_are_named_before_anything_is_asked(self):
        for arguments, message in ((("set",), "--vm or --group is needed"), (("set", "--vm", "vm1"), "nothing to set"),
                                   (("set", "--revision", "1000000", "--vm", "vm1", "--useren", "on"), "not 1000000")):
            result = self.sideband("operator", "counting", *arguments)
            self.assertNotEqual(result.returncode, 0)
            self.assertIn(message, result.stderr)

    def test_the_file_is_followed_and_again_after_a_restart_of_the_device(self):
        self.addCleanup(self.reconfigure, None)
        self.reconfigure("version: 1\ndevices:\n  gpu0: {groups: {memory: {valid: false}}}\n")
        self.assertFalse(self.growing("vm1", "dram_read_cycles"))
        self.site.device.stop()
        self.site.start_device()
        programs.wait_until(lambda: exposition.value(self.site.metrics("operator"), "sideband_counting_in_sync",
                                                     device="gpu0") == 1 and self.memory_is_off(), "the file's settings")
        self.assertFalse(self.growing("vm1", "dram_read_cycles"))
        changes = exposition.value(self.site.metrics("operator"), "sideband_counting_changes_total", device="gpu0",
                                   outcome="OK")
        self.assertGreaterEqual(changes, 2)
        entries = [json.loads(line) for line in self.site.read("audit.jsonl").splitlines()]
        reasons = [entry["reason"] for entry in entries if entry.get("resource") == "device gpu0, counting"]
        self.assertRegex(reasons[-1], r"\Arevision \d+: slice 0, gate group 1: 0x30000 to 0x20000; slice 1, ")

    def memory_is_off(self):
        return not next(group for group in self.shown("operator")["groups"] if group["name"] == "memory")["valid"]

    def reconfigure(self, text):
        """Sets or removes the operator's file; at the end everything is on."""
        text = text or "version: 1\ndevices:\n  gpu0: {groups: {memory: {valid: true}}}\n"
        site_layout.write(self.site.folder, "counting.yaml", text)
        site_layout.write(self.site.folder, "sidebandd.yaml", self.config + "counting_file: counting.yaml\n")
        self.site.daemon.signal(signal.SIGHUP)
        programs.wait_until(lambda: self.memory_is_off() == ("false" in text), "the reload")
        self.site.wait_for_snapshots()

    def test_a_wrong_file_is_refused_with_its_line(self):
        for text, message in (("version: 1\ndevices:\n  gpu0: {vms: {vm1: {alowed: []}}}\n", "counting.yaml:3: unknown key 'alowed'"),
                              ("version: 1\ndevices: {gpu7: {}}\n", "counting.yaml: no device 'gpu7' is configured")):
            site_layout.write(self.site.folder, "wrong-counting.yaml", text)
            site_layout.write(self.site.folder, "wrong.yaml", self.config + "counting_file: wrong-counting.yaml\n")
            result = programs.run("sidebandd", "--check", "--config", "wrong.yaml", cwd=self.site.folder)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn(message, result.stderr)


if __name__ == "__main__":
    unittest.main()
