# SPDX-License-Identifier: Apache-2.0
"""Callers' settings of what is counted outlast the daemon: they are in its folder for state, and nowhere else."""

import json
import os
import shutil
import stat
import unittest

import exposition
import programs
import site_layout

DEVICE = "5b0f6a2e-7c64-4d0c-9d7e-2f1a90c3e001"
FILE = "state/counting-" + DEVICE
GROUPS = """
gate_groups:
  - {name: sm, events: [sm_active_cycles]}
  - {name: memory, events: [dram_read_cycles, dram_write_cycles]}
"""
OTHER_VM = "5b0f6a2e-7c64-4d0c-9d7e-2f1a90c3e1aa"


class CountingRestartTest(unittest.TestCase):
    def setUp(self):
        self.site = site_layout.Site(interval="100ms")
        self.addCleanup(self.site.close)
        self.write("chip.yaml", self.site.read("chip.yaml").decode() + GROUPS)
        own = "{uuid: %s" % site_layout.VM_UUIDS["vm1"]
        self.write("policy.yaml", site_layout.POLICY.replace(
            own, own + ", rights: [read, configure], configure: {gate_groups: [sm]}"))
        self.configure("state_dir: state\n")
        self.site.start()

    def write(self, name, text):
        site_layout.write(self.site.folder, name, text)

    def configure(self, text):
        self.write("sidebandd.yaml", site_layout.CONFIG.format(interval="100ms", **site_layout.VM_UUIDS) + text)

    def counting(self, user, *arguments):
        result = programs.run("sideband", "--address", "127.0.0.1:%d" % self.site.grpc_port, "--ca-file", "ca.pem",
                              "--cert-file", user + ".pem", "--key-file", user + ".key", "counting", *arguments,
                              cwd=self.site.folder)
        self.assertEqual((result.returncode, result.stderr), (0, ""), arguments)
        return result.stdout

    def vms(self):
        """{name: settings} of the operator, once they are in force."""
        def shown():
            answer = json.loads(self.counting("operator", "show", "--format", "json"))
            return answer if answer.get("inSync", answer.get("in_sync")) else None
        return {vm["vm"]: vm for vm in programs.wait_until(shown, "in sync")["vms"]}

    def stored(self):
        return exposition.value(self.site.metrics("operator"), "sideband_counting_settings_stored", device="gpu0")

    def restart(self, between=lambda: None):
        """Ends the daemon without warning, and the device, which forgets what it was told."""
        self.site.daemon.kill()
        self.site.device.stop()
        between()
        self.site.start()
        self.site.wait_for_snapshots()

    def test_settings_are_in_force_after_both_have_restarted(self):
        self.assertRegex(self.counting("tenant-a", "set", "--vm", "vm1", "--value", "none"),
                         r"\Arevision \d+ is in force\n\Z")
        self.counting("operator", "set", "--vm", "vm2", "--allow", "memory")
        self.counting("operator", "set", "--vm", "vm3", "--allow", "sm")
        before = self.vms()
        self.assertEqual(stat.S_IMODE(os.stat(self.site.path(FILE)).st_mode), 0o600)
        self.restart()
        after = self.vms()
        self.assertEqual(after, before)
        self.assertEqual(after["vm2"]["allowed"], {"groups": ["memory"]})
        self.assertEqual(self.stored(), 1)

    def test_the_operators_file_stays_below_them(self):
        self.counting("operator", "set", "--vm", "vm2", "--allow", "memory")
        self.write("counting.yaml", "version: 1\ndevices: {gpu0: {vms: {vm2: {allowed: [sm], pinned: [sm]}}}}\n")
        self.restart(lambda: self.configure("state_dir: state\ncounting_file: counting.yaml\n"))
        vm2 = self.vms()["vm2"]
        self.assertEqual((vm2["allowed"], vm2["pinned"]), ({"groups": ["memory"]}, {"groups": ["sm"]}))

    def test_another_vm_of_the_same_number_and_name_has_none_of_them(self):
        self.counting("operator", "set", "--vm", "vm2", "--allow", "none", "--useren", "on")
        chip = self.site.read("chip.yaml").decode()
        mine = site_layout.VM_UUIDS["vm2"]
        self.restart(lambda: self.write("chip.yaml", chip.replace(mine, OTHER_VM)))
        vm2 = self.vms()["vm2"]
        self.assertEqual(vm2["allowed"], {"groups": ["sm", "memory"]})
        self.assertFalse(vm2.get("useren", False))
        self.restart(lambda: self.write("chip.yaml", chip))
        self.assertTrue(self.vms()["vm2"]["useren"], "the VM is back")

    def test_a_change_for_an_absent_device_passes_to_no_other_vm(self):
        self.site.wait_for_snapshots()
        self.site.device.stop()
        # It waits for the change to be in force.
        waiting = programs.Program("sideband", "--address", "127.0.0.1:%d" % self.site.grpc_port, "--ca-file", "ca.pem",
                                   "--cert-file", "operator.pem", "--key-file", "operator.key", "counting", "set",
                                   "--vm", "vm2", "--allow", "none", "--useren", "on", cwd=self.site.folder)
        self.addCleanup(waiting.kill)
        programs.wait_until(lambda: os.path.exists(self.site.path(FILE)), "they are stored")
        chip = self.site.read("chip.yaml").decode()
        self.write("chip.yaml", chip.replace(site_layout.VM_UUIDS["vm2"], OTHER_VM))
        self.site.start_device()
        self.site.wait_for_snapshots()
        vm2 = self.vms()["vm2"]
        self.assertEqual(vm2["allowed"], {"groups": ["sm", "memory"]})
        self.assertFalse(vm2.get("useren", False))
        warnings = [line for line in self.site.daemon.log().splitlines() if "is not in force" in line]
        self.assertLessEqual(len(warnings), 1, "one line for each change of the reason")

    def test_a_file_that_cannot_be_used_costs_the_settings_alone(self):
        self.counting("operator", "set", "--vm", "vm2", "--allow", "memory")
        whole = self.site.read(FILE).decode()
        for content in ("", whole[:-20], whole.replace("memory", "memorx"), "garbage\n"):
            self.restart(lambda content=content: self.write(FILE, content))
            lines = [line for line in self.site.daemon.log().splitlines() if "cannot be read, and none is in force" in line]
            self.assertRegex(lines[-1], r"device gpu0: callers' counting settings cannot be read.*counting-" +
                             DEVICE + ":1: ")
            self.assertEqual(self.vms()["vm2"]["allowed"], {"groups": ["sm", "memory"]})
        self.assertEqual(len(lines), 4, "one line for each start")
        self.counting("operator", "set", "--vm", "vm2", "--allow", "memory")
        self.assertEqual(self.site.read(FILE).decode(), whole)

    def test_settings_that_cannot_be_stored_hold_and_are_stored_later(self):
        shutil.rmtree(self.site.path("state"))
        self.assertRegex(self.counting("operator", "set", "--vm", "vm2", "--allow", "memory"),
                         r"\Arevision \d+ is in force\nnot stored: [^\n]+\n\Z")
        self.assertEqual(self.vms()["vm2"]["allowed"], {"groups": ["memory"]})
        self.assertIn("  not stored\n", self.counting("operator", "show"))
        programs.wait_until(lambda: self.stored() == 0, "the metric says so")
        self.site.wait_for_snapshots()
        warnings = [line for line in self.site.daemon.log().splitlines() if "are not stored" in line]
        self.assertEqual(len(warnings), 1, warnings)
        self.assertIn("No such file or directory", warnings[0])
        os.mkdir(self.site.path("state"), 0o700)
        programs.wait_until(lambda: self.stored() == 1, "they are stored")
        self.restart()
        self.assertEqual(self.vms()["vm2"]["allowed"], {"groups": ["memory"]})

    def test_without_a_folder_they_last_until_the_daemon_ends(self):
        self.restart(lambda: self.configure(""))
        self.assertIn("created times and callers' settings are not kept across restarts: ", self.site.daemon.log())
        self.assertIn("not stored: ", self.counting("operator", "set", "--vm", "vm2", "--allow", "memory"))
        self.restart()
        self.assertEqual(self.vms()["vm2"]["allowed"], {"groups": ["sm", "memory"]})


if __name__ == "__main__":
    unittest.main()
