# SPDX-License-Identifier: Apache-2.0
"""Output of `sideband`: reasons of empty answers, wildcards, tables that fit, a watch that reconnects."""

import csv
import io
import json
import re
import unittest

import exposition
import programs
import site_layout

MASKED = "l2_miss_cycles"
COLUMNS = 80


class CommandLineTestCase(unittest.TestCase):
    """A local operator, over the daemon's Unix socket."""

    def setUp(self):
        self.site = site_layout.Site("100ms", guest_views=True)
        self.addCleanup(self.site.close)
        self.change("sidebandd.yaml", "grpc:\n", "grpc:\n  unix_socket: grpc.sock\n")

    def change(self, name, old, new):
        text = self.site.read(name).decode()
        self.assertIn(old, text)
        site_layout.write(self.site.folder, name, text.replace(old, new))

    def arguments(self, *arguments):
        return ["sideband", *arguments, "--address", "unix:" + self.site.path("grpc.sock")]

    def sideband(self, *arguments):
        """(standard output, standard error) of a successful call."""
        result = programs.run(*self.arguments(*arguments), cwd=self.site.folder)
        self.assertEqual(result.returncode, 0, result)
        return result.stdout, result.stderr


class MaskedTest(CommandLineTestCase):
    def setUp(self):
        super().setUp()
        self.change("chip.yaml", "    events: [l2_hit_cycles, l2_miss_cycles]\n",
                    "    events: [l2_hit_cycles, l2_miss_cycles]\n    masked: [l2_miss_cycles]\n")
        self.site.start()

    def test_a_masked_event_is_absent_and_marked(self):
        events = json.loads(self.sideband("events", "--format", "json")[0])["devices"][0]["events"]
        self.assertEqual([event["name"] for event in events if event["masked"]], [MASKED])
        self.assertRegex(self.sideband("events")[0], MASKED + r" .*  masked  ")
        self.assertEqual(self.sideband("get", "--event", MASKED, "--format", "json")[1],
                         "sideband: gpu0: event '%s' is masked: the device does not count it\n" % MASKED)
        for arguments in (("get",), ("get", "--since", "1h")):
            output, notes = self.sideband(*arguments, "--format", "json")
            self.assertEqual(notes, "")
            self.assertNotIn(MASKED, output)
            self.assertIn("l2_hit_cycles", output)
        for user in ("operator", "tenant-a"):
            names = {event for event, *_ in exposition.counters(self.site.metrics(user))}
            self.assertIn("l2_hit_cycles", names)
            self.assertNotIn(MASKED, names)
        self.assertNotIn(MASKED, self.site.get("operator", "/metrics")[1])
        self.assertNotIn(MASKED.encode(), self.site.read("views/vm1.sbv"))


class SelectionTest(CommandLineTestCase):
    def setUp(self):
        super().setUp()
        self.site.start()

    def rows(self, *arguments):
        """{(vm, event)} of the newest counters."""
        output, notes = self.sideband("get", "--format", "csv", *arguments)
        return {(row["vm"], row["event"]) for row in csv.DictReader(io.StringIO(output, newline=""))}, notes

    def test_wildcards(self):
        dram = {"dram_read_cycles", "dram_write_cycles"}
        self.assertEqual(self.rows("--vm", "vm?", "--event", "dram_*"),
                         ({(vm, event) for vm in ("vm1", "vm2") for event in dram}, ""))
        self.assertEqual(self.rows("--device", "gpu*", "--vm", "vm1", "--vm", "vm2", "--event", "sm_active_cycles"),
                         ({("vm1", "sm_active_cycles"), ("vm2", "sm_active_cycles")}, ""))
        self.assertEqual(self.rows("--event", "x*"), (set(), "sideband: no event matches 'x*'\n"))

    def test_a_withheld_event_says_so(self):
        rows, notes = self.rows("--event", "pcie_tx_cycles")
        self.assertEqual(rows, set())
        self.assertRegex(notes, r"\Asideband: gpu0: event 'pcie_tx_cycles' is withheld: [^\n]*confidential VM[^\n]*\n\Z")

    def test_a_misspelt_event_is_named(self):
        result = programs.run(*self.arguments("get", "--event", "dram_raed_cycles", "--vm", "vm1"), cwd=self.site.folder)
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertRegex(result.stderr, r"\Asideband: unix:\S+: no such device, VM, context or event: event "
                                        r"'dram_raed_cycles' \(did you mean 'dram_read_cycles'\?\)\n\Z")

    def test_tables_fit_a_terminal(self):
        for arguments in (("devices",), ("events",), ("scopes",), ("get",), ("get", "--since", "1h", "--vm", "vm1"),
                          ("watch", "--count", "1")):
            output, _ = self.sideband(*arguments)
            self.assertLessEqual(max(map(len, output.splitlines())), COLUMNS, output)
        self.assertRegex(self.sideband("get", "--vm", "vm1")[0], r" \d{1,3}(,\d{3})+ +\d+\.\d\d [kMG]?/s")

    def test_the_boot_id_has_one_form(self):
        boot_id = re.search(r"boot id ([0-9a-f]{16})\n", self.site.device.log()).group(1)
        peek = programs.run("sideband-mcu", "peek-shm", "views/vm1.sbv", "--format", "json", cwd=self.site.folder).stdout
        for output in (*(self.sideband(*command, *form)[0] for command in (("devices",), ("get",))
                         for form in ((), ("--format", "json"), ("--format", "csv"))), peek):
            self.assertIn(boot_id, output)


class NoDeviceTest(CommandLineTestCase):
    def test_no_snapshot_yet(self):
        self.site.start_daemon()
        for command in ("devices", "events", "scopes", "get"):
            self.assertEqual(self.sideband(command)[1], "sideband: gpu0: no snapshot yet\n", command)


class WatchTest(CommandLineTestCase):
    def test_goes_on_after_the_daemon_has_restarted(self):
        self.site.start()
        watch = programs.Program(*self.arguments("watch", "--vm", "vm1", "--format", "json"), cwd=self.site.folder)
        self.addCleanup(watch.kill)

        def updates():
            return sum(line.startswith("{") for line in watch.log().splitlines())

        programs.wait_until(lambda: updates() > 2, "updates")
        self.assertEqual(self.site.daemon.stop(), 0)
        programs.wait_until(lambda: "; connecting again\n" in watch.log(), "the loss is noted")
        before = updates()
        self.site.start_daemon()
        programs.wait_until(lambda: updates() > before + 2, "updates again\n" + watch.log())
        notes = [line for line in watch.log().splitlines() if not line.startswith("{")]
        self.assertEqual(len(notes), 3, notes)
        self.assertEqual(notes[1], "sideband: connected again")
        self.assertRegex(notes[2], r"\Asideband: gpu0: no updates from \S+Z to \S+Z, snapshots \d+ to \d+; no counts are lost\Z")
        self.assertEqual(watch.stop(), 0)
