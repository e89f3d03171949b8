# SPDX-License-Identifier: Apache-2.0
"""`sideband top` as a user sees it: a real terminal, a real daemon, a device that goes away and returns."""

import os
import re
import signal
import unittest

import programs
import site_layout
import terminal

KEYS = r"q quit  \? help"


class TopTestCase(unittest.TestCase):
    def setUp(self):
        self.site = site_layout.Site("200ms")
        self.addCleanup(self.site.close)
        self.site.start()
        for user in ("operator", "tenant-a"):
            site_layout.write(self.site.folder, user + ".yaml", "address: localhost:%d\nca_file: ca.pem\ncert_file: %s.pem\n"
                              "key_file: %s.key\n" % (self.site.grpc_port, user, user))

    def open(self, columns=80, rows=24, **environment):
        opened = terminal.Terminal(self.site.folder, columns, rows, environment)
        self.addCleanup(opened.close)
        return opened

    def start(self, opened, user="operator"):
        """Starts the program; its process is in the file "pid"."""
        self.assertEqual(opened.run("stty -a > before"), 0)
        opened.type("clear; sh -c 'echo $$ > pid; exec %s --config %s.yaml top'; echo status=$?" %
                    (programs.program_path("sideband"), user), "Enter")
        opened.wait_for(KEYS, r"gpu0 +fresh \d")

    def pid(self):
        return int(self.site.read("pid"))

    def check_restored(self, opened, status):
        """The program has ended with the status and has left the terminal as it was."""
        opened.wait_for(r"(?m)^status=%d$" % status)
        self.assertIs(opened.is_full_screen(), False)
        self.assertEqual(opened.run("stty -a > after"), 0)
        self.assertEqual(self.site.read("before"), self.site.read("after"))


class ScreenTest(TopTestCase):
    def test_an_operator_sees_devices_and_open_vms(self):
        opened = self.open()
        self.start(opened)
        self.assertIs(opened.is_full_screen(), True)
        screen = opened.wait_for(r"vm1 +active|vm1 +idle", r"(?m)^  . vm2 ", r"(?m)^    vm3 +sealed", r" \d+\.\d% ")
        self.assertRegex(screen, r"(?m)^  ▾ vm1 +\w+ +[█▏▎▍▌▋▊▉·]{10} +\d+\.\d% +\d+(\.\d+)?[kMGT]/s +[▁▂▃▄▅▆▇█]+$")
        self.assertRegex(screen, r"(?m)^gpu0: fresh, \d\.\ds old, every 200ms, .*boot [0-9a-f]{16}")
        opened.wait_for(r"gpu0 +fresh \d\.\ds +\d+%")
        self.assertEqual(len(opened.text().splitlines()), 24)

    def test_a_tenant_sees_its_own(self):
        opened = self.open()
        self.start(opened, "tenant-a")
        screen = opened.wait_for(r"vm1 ", r"▸ train ", r"▸ eval ")
        for name in ("vm2", "vm3", "serve"):
            self.assertNotIn(name, screen)

    def test_keys(self):
        opened = self.open(columns=100, rows=40)
        self.start(opened, "tenant-a")
        opened.wait_for(r"▸ train ")
        opened.type("Down", "Down", "Enter")
        opened.wait_for(r"▾ gpu0", r"▸ vm1|vm1 +\w+")
        opened.type("End", "Right")
        screen = opened.wait_for(r"▾ (train|eval)", r"(?m)^ +tensor_active_cycles ")
        self.assertRegex(screen, r"(?m)^ +dram_read_cycles .*%")
        opened.type("Left")
        opened.wait_for(r"▸ (train|eval)")
        opened.type("s", "s")
        opened.wait_for(r"\A.*by rate ")
        opened.type("r")
        opened.wait_for(r"\A.*by rate \(reversed\)")
        opened.type("e")
        opened.wait_for(r"UTIL warps_eligible_cycles")
        opened.type("/", "tr*n", "Enter")
        screen = opened.wait_for(r"\A.*filter tr\*n", r"train")
        self.assertNotIn("eval", screen)
        opened.type("/", "x", "Enter")
        opened.wait_for("Nothing matches the filter")
        opened.type("Escape")
        opened.wait_for(r"eval")
        opened.type("?")
        opened.wait_for("open or close the row", "any key: back")
        opened.type("x")
        opened.wait_for(KEYS)

    def test_a_paused_screen_says_so_and_stays(self):
        opened = self.open()
        self.start(opened)
        opened.type("p")
        paused = opened.wait_for(r"\A.*PAUSED at \d\d:\d\d:\d\d UTC")
        before = self.site.metrics("operator")
        programs.wait_until(lambda: self.site.metrics("operator") != before, "new counts")
        self.assertEqual(self.site.device.stop(), 0)
        programs.wait_until(lambda: self.site.get("operator", "/-/ready")[0] == 503, "the device is stale")
        self.assertEqual(opened.text(), paused)
        opened.type("p")
        screen = opened.wait_for(r"gpu0 +stale \d")
        self.assertNotIn("PAUSED", screen)

    def test_resize(self):
        opened = self.open()
        self.start(opened)
        opened.resize(132, 40)
        screen = opened.wait_for(r"(?m)^.* filter  p pause *$", r"LAST MINUTE")
        programs.wait_until(lambda: len(opened.text().rstrip("\n").split("\n")) == 40, "40 rows\n" + screen)
        opened.resize(60, 20)
        screen = opened.wait_for(r"\A60 x 20 is too small: sideband top needs 80 x 24 \(q quits\)\n")
        self.assertEqual(len(screen.split()), len(screen.splitlines()[0].split()), "one line")
        opened.resize(80, 24)
        opened.wait_for(KEYS, "vm1")
        opened.resize(60, 20)
        opened.wait_for("too small")
        opened.type("q")
        opened.wait_for(r"(?m)^status=0$")

    def test_ascii_and_no_colour(self):
        opened = self.open(LC_ALL="C", NO_COLOR="1")
        self.start(opened)
        screen = opened.wait_for(r"(?m)^  - vm1 +\w+ +[#.]{10} ")
        self.assertTrue(screen.isascii(), screen)
        self.assertNotRegex(opened.styled_text(), "\x1b\\[[0-9;]*3[0-7]m")

    def test_colours(self):
        opened = self.open()
        self.start(opened)
        self.assertRegex(opened.styled_text(), "\x1b\\[32m(\x1b\\[49m)?fresh")


class LossTest(TopTestCase):
    def test_a_device_that_goes_away_and_returns(self):
        opened = self.open()
        self.start(opened)
        self.assertEqual(self.site.device.stop(), 0)
        screen = opened.wait_for(r"gpu0 +stale \d+\.\ds")
        self.assertNotRegex(screen, r"(?m)^  . vm1 .*(%|active|idle)", "its values and its state are not known now")
        self.site.start_device()
        opened.wait_for(r"gpu0 +fresh \d", r"(?m)^  . vm1 .*%")
        opened.type("q")
        self.check_restored(opened, 0)

    def test_a_daemon_that_restarts(self):
        opened = self.open()
        self.start(opened)
        port = self.site.grpc_port
        self.assertEqual(self.site.daemon.stop(), 0)
        opened.wait_for(r"; connecting again")
        text = self.site.read("sidebandd.yaml").decode()
        site_layout.write(self.site.folder, "sidebandd.yaml", text.replace('"127.0.0.1:0"', '"127.0.0.1:%d"' % port, 1))
        self.site.start_daemon()
        screen = opened.wait_for(r"gpu0 +fresh \d", r"(?m)^  . vm1 .*%", r"(?m)^gpu0: fresh")
        self.assertNotIn("connecting", screen)


class EndTest(TopTestCase):
    def test_each_end_restores_the_terminal(self):
        opened = self.open()
        for key, status in (("q", 0), ("C-c", 0)):
            self.start(opened)
            opened.type(key)
            self.check_restored(opened, status)
        for number, status in ((signal.SIGINT, 0), (signal.SIGTERM, 0), (signal.SIGQUIT, 131), (signal.SIGHUP, 129)):
            self.start(opened)
            os.kill(self.pid(), number)
            self.check_restored(opened, status)

    def test_suspended_and_continued(self):
        opened = self.open()
        self.start(opened)
        # Signals come while the screen is drawn, too.
        for stop in (lambda: opened.type("C-z"), *[lambda: os.kill(self.pid(), signal.SIGTSTP)] * 5):
            stop()
            opened.wait_for("Stopped|Suspended")
            self.assertIs(opened.is_full_screen(), False)
            self.assertEqual(opened.run("stty -a > after"), 0)
            self.assertEqual(self.site.read("before"), self.site.read("after"))
            opened.type("fg", "Enter")
            opened.wait_for(KEYS, r"gpu0 +fresh \d")
            self.assertIs(opened.is_full_screen(), True)
        opened.type("q")
        programs.wait_until(lambda: opened.is_full_screen() is False, "the end")
        self.assertEqual(opened.run("stty -a > after"), 0)
        self.assertEqual(self.site.read("before"), self.site.read("after"))

    def test_an_error_ends_with_one_line(self):
        opened = self.open()
        self.start(opened)
        policy = self.site.read("policy.yaml").decode()
        site_layout.write(self.site.folder, "policy.yaml", policy.replace('"spiffe://e2e.sideband/operator"',
                                                                          '"spiffe://e2e.sideband/other"'))
        self.site.daemon.signal(signal.SIGHUP)
        self.check_restored_with(opened, r"(?m)^sideband: \S+: ")

    def check_restored_with(self, opened, line):
        opened.wait_for(line)
        self.check_restored(opened, 1)


class BatchTest(TopTestCase):
    def top(self, *arguments):
        return programs.run("sideband", "--config", "operator.yaml", "top", *arguments, cwd=self.site.folder)

    def test_rounds_without_a_terminal(self):
        programs.wait_until(lambda: "%" in self.top("--batch", "--count", "1", "--device", "gpu0").stdout, "a utilisation")
        done = self.top("--batch", "--count", "2", "--interval", "200ms", "--event", "tensor_active_cycles")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done)
        rounds = done.stdout.split("\n\n")
        self.assertEqual(len(rounds), 2, done.stdout)
        for text in rounds:
            self.assertRegex(text, r"\Asideband top  localhost:\d+  \d\d:\d\d:\d\d UTC  tensor_active_cycles\nNAME ")
            self.assertRegex(text, r"(?m)^gpu0 +fresh \d")
            self.assertRegex(text, r"(?m)^  vm1 +\w+ +- +\d+\.\d% +\d+(\.\d+)?[kMGT]/s$")

    def test_what_is_not_there_is_named(self):
        for arguments in (("--device", "gpu9"), ("--event", "tensor_active_cyles")):
            done = self.top("--batch", "--count", "1", *arguments)
            self.assertEqual((done.returncode, done.stdout), (1, ""), done)
            self.assertRegex(done.stderr, r"\Asideband: [^\n]+'%s'[^\n]*\n\Z" % arguments[1])

    def test_a_screen_of_one_device_and_event(self):
        opened = self.open()
        opened.type("clear; %s --config operator.yaml top --device gpu0 --event dram_read_cycles" %
                    programs.program_path("sideband"), "Enter")
        opened.wait_for(KEYS, r"gpu0 +fresh \d", r"UTIL dram_read_cycles")
        opened.type("q")


class RefusalTest(programs.ProgramTestCase):
    def test_no_terminal(self):
        result = programs.run("sideband", "top", cwd=self.folder)
        self.assert_refused(result, 2, "sideband: top: standard input and output must be a terminal; ",
                            "`top --batch --count 1`")

    def test_an_unknown_terminal(self):
        opened = terminal.Terminal(self.folder, 100, 24)
        self.addCleanup(opened.close)
        for kind in ("no-such-terminal", "dumb", ""):
            self.assertEqual(opened.run("TERM=%s %s top" % (kind, programs.program_path("sideband"))), 2)
            self.assertRegex(re.sub(r"\n", "", opened.text()),
                             r"sideband: top: TERM is '%s', which is not a known terminal with a full screen" % kind)

    def test_nobody_there(self):
        opened = terminal.Terminal(self.folder, 100, 24)
        self.addCleanup(opened.close)
        self.assertEqual(opened.run("%s --address unix:nobody.sock top" % programs.program_path("sideband")), 1)
        self.assertIn("sideband: unix:nobody.sock: ", opened.text())
