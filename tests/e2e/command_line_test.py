# SPDX-License-Identifier: Apache-2.0
"""Output of `sideband`: reasons of empty answers, wildcards, tables that fit, a watch that reports losses."""

import csv
import fcntl
import io
import json
import os
import pty
import re
import struct
import subprocess
import termios
import unittest

import exposition
import programs
import site_layout

MASKED = "l2_miss_cycles"
COLUMNS = 80


def print_to_terminal(*command, cwd):
    """The output of a program whose standard output is a terminal of 80 columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
    environment = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "LC_ALL": "C.UTF-8"}
    with subprocess.Popen([programs.program_path(command[0]), *command[1:]], cwd=cwd, env=environment, stdout=theirs,
                          stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as program:
        os.close(theirs)
        output = b""
        try:
            while chunk := os.read(ours, 65536):
                output += chunk
        except OSError:  # EIO: the program has closed the terminal
            pass
        os.close(ours)
        if program.wait(programs.PATIENCE_S) != 0:
            raise AssertionError("%s: %s" % (command, output))
    return output.decode().replace("\r\n", "\n")


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

    def test_events_by_the_names_that_screens_show(self):
        active = {("vm1", "sm_active_cycles")}
        for names in (("sm_active",), ("sm_active", "sm_active_cycles"), ("sm_activ?",)):
            arguments = [argument for name in names for argument in ("--event", name)]
            self.assertEqual(self.rows("--vm", "vm1", *arguments), (active, ""), names)
        result = programs.run(*self.arguments("get", "--event", "sm_act", "--vm", "vm1"), cwd=self.site.folder)
        self.assertRegex(result.stderr, r": event 'sm_act' \(did you mean 'sm_active_cycles'\?\)\n\Z")

    def test_an_operator_is_told_that_it_sees_no_contexts(self):
        result = programs.run(*self.arguments("get", "--vm", "vm1", "--context", "train"), cwd=self.site.folder)
        self.assertRegex(result.stderr, r": context 'train' \(operators see VMs, not their contexts\)\n\Z")

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
                          ("watch", "--count", "1"), ("watch", "--count", "1", "--contexts")):
            output = print_to_terminal(*self.arguments(*arguments), cwd=self.site.folder)
            self.assertLessEqual(max(map(len, output.splitlines())), COLUMNS, output)
        self.assertRegex(self.sideband("get", "--vm", "vm1")[0], r" \d{1,3}(,\d{3})+ +\d+\.\d\d [kMG]?/s")

    def test_elsewhere_nothing_is_cut(self):
        for arguments in (("events",), ("get",)):
            self.assertNotIn("…", self.sideband(*arguments)[0])
        self.assertIn("instructions_issued_cycles", self.sideband("get", "--device", "gpu0")[0])

    def test_the_boot_id_has_one_form(self):
        boot_id = re.search(r"boot id ([0-9a-f]{16})\n", self.site.device.log()).group(1)
        peek = programs.run("sideband-mcu", "peek-shm", "views/vm1.sbv", "--format", "json", cwd=self.site.folder).stdout
        for output in (*(self.sideband(*command, *form)[0] for command in (("devices",), ("get",))
                         for form in ((), ("--format", "json"), ("--format", "csv"))), peek):
            self.assertIn(boot_id, output)


class NoDeviceTest(CommandLineTestCase):
    def test_no_snapshot_yet(self):
        self.site.start_daemon()
        silent = "sideband: gpu0 has not answered yet: there is no snapshot\n"
        for command in ("devices", "events", "scopes"):
            self.assertEqual(self.sideband(command)[1], silent, command)
        result = programs.run(*self.arguments("get"), cwd=self.site.folder)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (1, "", silent))


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

    def test_lines_and_a_device_that_goes_away(self):
        self.site.start()
        watch = programs.Program(*self.arguments("watch"), cwd=self.site.folder)
        self.addCleanup(watch.kill)
        line = r"(?m)^\d\d:\d\d:\d\d\.\d gpu0   vm1 +\d+\.\d% "
        programs.wait_until(lambda: re.search(line, watch.log()), "a line of vm1 with utilisations\n" + watch.log())
        self.assertEqual(self.site.device.stop(), 0)
        programs.wait_until(lambda: "sideband: gpu0 is stale: its newest snapshot is " in watch.log(), "the loss is noted")
        self.site.start_device()
        programs.wait_until(lambda: "sideband: gpu0 answers again\n" in watch.log(), "the return is noted")
        self.assertRegex(watch.log(), "(?m)^sideband: gpu0 has restarted: ")
        self.assertEqual(watch.log().count("TIME (UTC) DEVICE"), 1)
        self.assertEqual(watch.stop(), 0)


class SeveralHostsTest(CommandLineTestCase):
    def test_one_that_is_not_there_hides_no_other(self):
        self.site.start()
        there, nobody = "unix:" + self.site.path("grpc.sock"), "unix:" + self.site.path("nobody.sock")
        line = r"(?m)^(\d\d:\d\d:\d\d\.\d )?%s +gpu0 +" % re.escape(there)
        for arguments in (("devices",), ("get", "--vm", "vm1"), ("watch", "--count", "2", "--event", "sm_active_cycles"),
                          ("top", "--batch", "--count", "1")):
            for addresses in (there + "," + nobody, nobody + "," + there):
                done = programs.run("sideband", *arguments, "--address", addresses, cwd=self.site.folder)
                self.assertEqual(done.returncode, 1, done)
                self.assertRegex(done.stdout, line)
                # Other lines explain what the table shows.
                told = re.findall(r"^sideband: %s: .+$" % re.escape(nobody), done.stderr, re.MULTILINE)
                self.assertEqual(len(told), 1, done.stderr)

    def test_none_is_there(self):
        addresses = ",".join("unix:" + self.site.path(name) for name in ("a.sock", "b.sock"))
        for arguments in (("devices",), ("get",), ("watch",), ("top", "--batch")):
            done = programs.run("sideband", *arguments, "--address", addresses, cwd=self.site.folder)
            self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (1, "", 2), done)
        done = programs.run("sideband", "scopes", "--address", addresses, cwd=self.site.folder)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done)


class FirstSiteTest(programs.ProgramTestCase):
    """`config init`, and the commands that it prints."""

    def test_its_programs_start_and_answer(self):
        done = programs.run("sideband", "config", "init", "--dir", ".", cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done)
        for command in ("sideband-mcu serve --chip chip.yaml --bus unix:gpu0.sock &", "sidebandd --config sidebandd.yaml &"):
            self.assertIn("\n  %s\n" % command, done.stdout)
        self.choose_ports()
        check = programs.run("sidebandd", "--config", "sidebandd.yaml", "--check", cwd=self.folder)
        self.assertEqual(check.returncode, 0, check)
        device = self.start("sideband-mcu", "serve", "--chip", "chip.yaml", "--bus", "unix:gpu0.sock")
        programs.wait_until(lambda: "serving" in device.log(), "the device's bus")
        daemon = self.start("sidebandd", "--config", "sidebandd.yaml")
        programs.wait_until(lambda: os.path.exists(self.path("ports")) or daemon.ended(), "the ports file")
        self.assertFalse(daemon.ended(), daemon.log())
        port = re.search(r"grpc: (\d+)", self.read("ports")).group(1)
        for user in ("operator.yaml", "acme.yaml"):
            self.write(user, self.read(user).replace(":9878", ":" + port))
        programs.wait_until(lambda: self.sideband("operator", "health").returncode == 0, daemon.log)
        self.assertRegex(self.sideband("operator", "devices").stdout, r"(?m)^gpu0 +fresh ")
        self.assertNotIn("vm2", self.sideband("acme", "scopes").stdout)
        self.assertRegex(self.sideband("acme", "get").stdout, r"(?m)^vm1 +train +tensor_active_cycles +\d")
        self.assertEqual(self.sideband("acme", "get", "--vm", "vm2").returncode, 1)
        programs.wait_until(lambda: "grid of triggers: 1000 a second" in daemon.log(), daemon.log)
        self.assertRegex(self.sideband("acme", "mark", "--vm", "vm1", "begin").stdout, "^mark 1 of vm1, ")
        self.assertRegex(self.sideband("acme", "peek", "--vm", "vm1", "--event", "sm_active").stdout, r"sm_active_cycles +\d")
        reload = programs.run("sideband", "--address", "unix:grpc.sock", "admin", "reload", cwd=self.folder)
        self.assertEqual((reload.returncode, reload.stderr), (0, ""), reload)
        wrong = programs.run("sideband", "--address", "unix:http.sock", "devices", cwd=self.folder)
        self.assert_refused(wrong, 1, "sideband: unix:http.sock: the server there speaks HTTP, but not gRPC")
        programs.wait_until(lambda: '"deny"' in self.read("audit.jsonl"), "the denial of vm2 in the audit log")

    def choose_ports(self):
        """The system's choice: the printed ones may be in use."""
        text = re.sub(r"(127\.0\.0\.1):987\d", r"\1:0", self.read("sidebandd.yaml"))
        self.write("sidebandd.yaml", text + "ports_file: ports\n")

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def sideband(self, user, *arguments):
        return programs.run("sideband", "--config", user + ".yaml", *arguments, cwd=self.folder)


class UnsealTest(CommandLineTestCase):
    def unseal(self, *arguments):
        return programs.run("sideband", "--address", "localhost:%d" % self.site.grpc_port, "--ca-file", "ca.pem",
                            "--cert-file", "tenant-b.pem", "--key-file", "tenant-b.key", "unseal", "--vm", "vm3",
                            "--key-file", "vm3.key", "--state", "vm3.state", *arguments, cwd=self.site.folder)

    def test_a_daemon_without_the_key_says_so(self):
        text = self.site.read("sidebandd.yaml").decode()
        site_layout.write(self.site.folder, "sidebandd.yaml", text[:text.index("sealing:")])
        self.site.start()
        result = self.unseal()
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertRegex(result.stderr, r"\Asideband: \S+: the daemon has no key for this VM: neither from sealing.vm_keys [^\n]+\n\Z")

    def test_a_device_that_has_not_answered_is_a_reason(self):
        self.site.start_daemon()
        result = self.unseal()
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertRegex(result.stderr, r"\Asideband: [^\n]+no such device, VM, [^\n]+or it has not answered yet\)\n\Z")

    def test_a_device_that_is_silent_is_noted(self):
        self.site.start()
        unseal = programs.Program("sideband", "--address", "localhost:%d" % self.site.grpc_port, "--ca-file", "ca.pem",
                                  "--cert-file", "tenant-b.pem", "--key-file", "tenant-b.key", "unseal", "--vm", "vm3",
                                  "--key-file", "vm3.key", "--state", "vm3.state", cwd=self.site.folder)
        self.addCleanup(unseal.kill)
        programs.wait_until(lambda: "  record " in unseal.log(), "a record")
        self.assertEqual(self.site.device.stop(), 0)
        programs.wait_until(lambda: "sideband: gpu0 is stale: its newest snapshot is " in unseal.log(), "it says so")
        self.assertEqual(unseal.stop(), 0)
