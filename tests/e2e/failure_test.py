# SPDX-License-Identifier: Apache-2.0
"""Failures of the service under a real systemd, with the unit as it is installed: what comes back, when, and what is
lost. docs/service.md has the tables. Root only."""

import os
import re
import unittest

import exposition
import machine_site
import programs

SERVICE, SOCKETS = "sidebandd.service", ("sidebandd-http.socket", "sidebandd-grpc.socket")
RESTART_S = 5
HOUR_S = 3600
GIB = 1 << 30


class FailureTest(machine_site.SiteTestCase):
    def shell(self, script):
        return self.machine.checked("bash", "-euc", script)

    def show(self, *names):
        return tuple(self.machine.property(SERVICE, name) for name in names)

    def serve(self, *units):
        self.start(*units, "sideband-mcu@gpu0", SERVICE)
        self.wait_for_status("1 of 1 devices fresh")

    def refuse(self):
        """Starts the service, which must fail; returns the exit status."""
        self.assertEqual(self.machine.run("systemctl", "start", SERVICE).returncode, 1)
        return int(self.machine.property(SERVICE, "ExecMainStatus"))

    def wait_for_recovery(self):
        programs.wait_until(lambda: self.show("ActiveState", "StatusText") == ("active", "1 of 1 devices fresh"),
                            "the service has recovered by itself")

    def local(self, path):
        return self.machine.checked("curl", "-sS", "--unix-socket", "/run/sideband/http.sock", "-H",
                                    "Accept: application/openmetrics-text", "http://localhost" + path)

    def value(self, name, **labels):
        return exposition.value(exposition.parse(self.local("/metrics")), name, **labels)

    def created(self):
        return re.findall(r"^sideband_vm_.*_created\{.*", self.local("/metrics"), re.MULTILINE)

    def override(self, text):
        self.machine.checked("tee", "/etc/systemd/system/sidebandd.service.d/zz.conf", text=text)
        self.machine.checked("systemctl", "daemon-reload")

    def reset(self):
        self.machine.checked("systemctl", "stop", SERVICE)
        self.machine.checked("systemctl", "reset-failed", SERVICE)

    def wait_for_text(self, text):
        """Of systemd's own processes, whose lines are not always those of the unit."""
        programs.wait_until(lambda: text in self.machine.checked("journalctl", "--no-pager"), text)

    def starts_s(self):
        """When systemd started the service, in seconds."""
        return [int(line["__MONOTONIC_TIMESTAMP"]) / 1e6 for line in self.journal()
                if str(line["MESSAGE"]).startswith("Starting sidebandd.service")]


class MemoryTest(FailureTest):
    def limit_memory(self, limit):
        """Puts the daemon into a group with the limit; returns whether this kernel enforces one here.

        The machine's systemd has the second version of control groups, without a memory controller if the first
        version has it: the group is then one of the first version."""
        if self.machine.run("mountpoint", "-q", "/mnt/memory").returncode != 0:
            self.shell("mkdir -p /mnt/memory")
            if self.machine.run("mount", "-t", "cgroup", "-o", "memory", "memory", "/mnt/memory").returncode != 0:
                return False
            self.group = "/mnt/memory/sideband-test-%d" % os.getpid()
            self.shell("mkdir " + self.group)
            self.addCleanup(self.remove_group)
        self.shell("echo %s > %s/cgroup.procs; echo %d > %s/memory.limit_in_bytes" %
                   (self.machine.property(SERVICE, "MainPID"), self.group, limit, self.group))
        return True

    def remove_group(self):
        self.machine.run("systemctl", "stop", SERVICE)
        self.shell("rmdir " + self.group)

    def test_the_kernel_kills_a_daemon_that_needs_too_much(self):
        self.serve(*SOCKETS)
        before, created, daemon = self.cycles(), self.created(), self.machine.property(SERVICE, "MainPID")
        if self.limit_memory(1 << 16):
            self.machine.run("curl", "-s", "--max-time", "1", "--unix-socket", "/run/sideband/http.sock",
                             "http://localhost/metrics")
        else:
            print("no memory controller here: SIGKILL stands for the kernel's")
            self.machine.checked("kill", "-KILL", daemon)
        programs.wait_until(lambda: self.machine.property(SERVICE, "MainPID") != daemon, "the daemon is killed")
        # This request waits for the daemon's restart.
        self.assertIn("sideband_device_up", self.metrics())
        self.wait_for_recovery()
        self.assertEqual(self.show("NRestarts"), ("1",))
        self.assertTrue(self.lines(r"status=9/KILL|oom-kill"))
        self.assertGreater(self.cycles(), before)
        self.assertEqual(self.created(), created)

    def test_memory_under_load_is_below_the_limit(self):
        """A crowd of scrapes and streams; http2_attack_test has the attacks, with a bound of its own below the limit."""
        self.assertEqual(self.show("MemoryMax"), (str(GIB),))
        self.serve()
        if not self.limit_memory(GIB):
            self.skipTest("no memory controller here")
        resident = int(self.shell("grep VmRSS /proc/%s/status" % self.machine.property(SERVICE, "MainPID")).split()[1])
        self.shell("for _ in $(seq 16); do "
                   "(for _ in $(seq 20); do curl -s --unix-socket /run/sideband/http.sock http://localhost/metrics; done) & "
                   "timeout 3 sideband --address unix:/run/sideband/grpc.sock watch --format json & "
                   "done >/dev/null; wait")
        peak = int(self.shell("cat %s/memory.max_usage_in_bytes" % self.group)) + resident * 1024
        print("memory under load: %d MiB of %d" % (peak >> 20, GIB >> 20))
        self.assertLess(peak, GIB // 4)
        self.assertEqual(self.shell("cat %s/memory.failcnt" % self.group), "0\n")
        self.assertEqual(self.show("NRestarts"), ("0",))


class DiskTest(FailureTest):
    def fill(self):
        for folder in ("lib", "log"):
            self.machine.run("dd", "if=/dev/zero", "of=/var/%s/sideband/filling" % folder)

    def free(self):
        self.shell("rm /var/lib/sideband/filling /var/log/sideband/filling")

    def test_a_full_disk(self):
        owner = "uid=$(id -u sideband),gid=$(id -g sideband)"
        self.shell("for of in lib log; do mount -t tmpfs -o size=64k,mode=750,%s x /var/$of/sideband; done" % owner)
        self.serve()
        self.assertEqual(self.lines("No space left"), [])
        before = self.cycles_locally()

        # While it runs: it serves, and counts the entries that it loses.
        self.fill()
        self.cause_entries(lambda: self.value("sideband_audit_lost_total"))
        self.wait_for_line("^audit: entries are being lost: /var/log/sideband/audit.jsonl: No space left on device$")
        self.assertGreater(self.cycles_locally(), before)
        self.free()
        self.cause_entries(lambda: self.lines("^audit: entries are being written again"))
        self.assertEqual(self.show("ActiveState", "NRestarts"), ("active", "0"))
        self.machine.checked("sideband", "audit", "verify", "/var/log/sideband/audit.jsonl")

        # At its start: it does not run without an audit log, and tries again until there is space.
        self.fill()
        lost = self.value("sideband_audit_lost_total")
        self.cause_entries(lambda: self.value("sideband_audit_lost_total") > lost)
        self.machine.run("systemctl", "restart", SERVICE)
        self.assertEqual(self.show("ExecMainStatus", "SubState"), ("1", "auto-restart"))
        self.assertEqual(self.lines("^sidebandd: "), ["sidebandd: /var/log/sideband/audit.jsonl: No space left on device"])
        self.free()
        self.wait_for_recovery()
        self.machine.checked("sideband", "audit", "verify", "/var/log/sideband/audit.jsonl")

    def test_a_full_state_dir(self):
        """It serves; the created times of new counters are not stored."""
        self.shell("mount -t tmpfs -o size=64k,mode=750,uid=$(id -u sideband) x /var/lib/sideband; "
                   "dd if=/dev/zero of=/var/lib/sideband/filling 2>/dev/null || true")
        self.serve()
        self.wait_for_line("^created times: /var/lib/sideband/.*: No space left on device$")
        created = programs.wait_until(self.created, "created times")
        self.shell("rm /var/lib/sideband/filling")
        programs.wait_until(lambda: self.shell("ls /var/lib/sideband"), "the created times are stored")
        self.machine.checked("systemctl", "restart", SERVICE)
        self.wait_for_recovery()
        self.assertEqual(programs.wait_until(self.created, "created times"), created)

    def cycles_locally(self):
        return self.value("sideband_vm_sm_active_cycles_total", vm="vm1", device="gpu0", slice="0")

    def cause_entries(self, condition):
        """Causes entries in the audit log until the condition holds."""
        def step():
            self.local("/no-such-page-%d" % os.urandom(1)[0])
            self.machine.checked("sideband", "--address", "unix:/run/sideband/grpc.sock", "devices")
            return condition()
        programs.wait_until(step, "the audit log notices")


class ClockTest(FailureTest):
    DROP_IN = machine_site.DROP_IN + ("WatchdogSec=3s\nEnvironment=LD_PRELOAD=/usr/lib/libclock_shim.so "
                                      "SIDEBAND_TEST_CLOCK=/etc/sideband/clock\n")
    FILES = {"/usr/lib/libclock_shim.so": programs.runfile("tests/e2e/libclock_shim.so").encode()}

    def set_clock(self, shift_s):
        self.machine.checked("python3", "-c", "import os, struct; "
                             "os.pwrite(os.open('/etc/sideband/clock', os.O_WRONLY | os.O_CREAT), struct.pack('=q', %d), 0)"
                             % (shift_s * 10**9))

    def test_a_clock_that_jumps(self):
        """No restart, by the watchdog either, and no late sample; clock_step_test has the rest."""
        self.set_clock(0)
        self.machine.checked("chmod", "644", "/etc/sideband/clock")
        self.serve()
        created = self.created()
        for count, shift_s in enumerate((HOUR_S, -HOUR_S), 1):
            self.set_clock(shift_s)
            programs.wait_until(lambda: len(self.lines("the wall clock was set")) == count, "the step is logged")
            published = self.value("sideband_snapshots_total", device="gpu0")
            # Longer than WatchdogSec.
            programs.wait_until(lambda: (self.value("sideband_snapshots_total", device="gpu0") or 0) > published + 16,
                                "more snapshots")
            self.assertEqual(self.value("sideband_device_up", device="gpu0"), 1)
        self.assertEqual(self.show("NRestarts"), ("0",))
        self.assertEqual(self.created(), created)


class StartTest(FailureTest):
    def take_port(self):
        self.machine.checked("systemd-run", "--unit=other", "--service-type=exec", "python3", "-c",
                             "import socket, time; s = socket.create_server(('127.0.0.1', 9877)); time.sleep(1000)")
        programs.wait_until(lambda: ":9877" in self.machine.checked("ss", "-ltn"), "the port is taken")

    def test_a_port_that_is_taken(self):
        """One line for each attempt, and five seconds between two, without an end."""
        self.machine.checked("sed", "-i", "s/^http:/http:\\n  listen: 127.0.0.1:9877/; s/^grpc:/grpc:\\n  listen: 127.0.0.1:0/",
                             "/etc/sideband/sidebandd.yaml")
        self.take_port()
        self.start("sideband-mcu@gpu0")
        self.assertEqual(self.refuse(), 1)
        self.assertEqual(self.show("SubState"), ("auto-restart",))
        programs.wait_until(lambda: len(self.starts_s()) == 3, "two more attempts")
        starts = self.starts_s()
        self.assertTrue(all(RESTART_S <= later - earlier for earlier, later in zip(starts, starts[1:])), starts)
        self.assertEqual(set(self.lines("^sidebandd: ")),
                         {"sidebandd: http: cannot listen on 127.0.0.1:9877: Address already in use: another program "
                          "has the port (ss -ltnp names it)"})
        self.machine.checked("systemctl", "stop", "other")
        self.wait_for_recovery()

        # The socket unit in its place fails at once, and says so.
        self.machine.checked("systemctl", "stop", SERVICE)
        self.take_port()
        self.assertNotEqual(self.machine.run("systemctl", "start", SOCKETS[0]).returncode, 0)
        self.wait_for_text("sidebandd-http.socket: Failed to create listening socket (127.0.0.1:9877): Address already in use")

    def test_overrides(self):
        self.start("sideband-mcu@gpu0")
        # systemd ignores what it does not know, and says so; the unit's own value stays.
        self.override("[Service]\nMemoryMax=lots\nMemroyMax=2G\n")
        self.start(SERVICE)
        self.assertEqual(self.show("MemoryMax"), (str(GIB),))
        self.wait_for_text("zz.conf:2: Invalid memory limit 'lots', ignoring")
        self.wait_for_text("zz.conf:3: Unknown key 'MemroyMax' in section [Service], ignoring")
        self.reset()

        # A second ExecStart= without an empty one before it: the unit is refused.
        self.override("[Service]\nExecStart=/usr/bin/sidebandd\n")
        self.assertEqual(self.machine.run("systemctl", "start", SERVICE).returncode, 1)
        self.assertEqual(self.show("LoadState"), ("bad-setting",))

        for text, status, line in (("User=nobody-here", 217, "Failed to determine user credentials: No such process"),
                                   ("ExecStart=\nExecStart=/usr/bin/nothing", 203, "/usr/bin/nothing: No such file"),
                                   ("LoadCredential=a.key:/etc/sideband/keys/none", 243, "Failed to set up credentials")):
            with self.subTest(text):
                self.override("[Service]\n%s\n" % text)
                self.assertEqual(self.refuse(), status)
                self.wait_for_text(line)
                self.assertEqual(self.show("SubState"), ("auto-restart",))
                if status != 243:
                    self.reset()

        # The credential appears: the service comes back by itself.
        self.machine.checked("cp", "/etc/sideband/keys/vm3.key", "/etc/sideband/keys/none")
        self.wait_for_recovery()

    def test_the_state_dir(self):
        self.serve()
        created = programs.wait_until(self.created, "created times")
        # Mode and owner of the folder are systemd's.
        self.shell("chown -R root:root /var/lib/sideband; chmod 0 /var/lib/sideband; systemctl restart sidebandd")
        self.wait_for_recovery()
        self.assertEqual(self.shell("stat -c '%U %a' /var/lib/sideband"), "sideband 750\n")
        self.assertEqual(programs.wait_until(self.created, "created times"), created)
        # A file in it is not: the daemon replaces it.
        self.shell("chown root:root /var/lib/sideband/created-*; systemctl restart sidebandd")
        self.wait_for_recovery()
        self.wait_for_line("^created times: /var/lib/sideband/created-.*: Permission denied$")
        self.assertEqual(self.shell("stat -c %U /var/lib/sideband/created-*"), "sideband\n")
        # No folder at all.
        self.shell("systemctl stop sidebandd; rm -r /var/lib/sideband; touch /var/lib/sideband")
        self.assertEqual(self.refuse(), 238)
        self.wait_for_text("Failed to set up special execution directory in /var/lib: Not a directory")
        self.shell("rm /var/lib/sideband")
        self.wait_for_recovery()

    def test_a_bad_configuration_behind_sockets(self):
        """A client's connection starts the daemon again and again, until systemd has had enough."""
        self.start("sideband-mcu@gpu0", *SOCKETS)
        self.shell("echo nonsense: 1 >> /etc/sideband/sidebandd.yaml")
        self.machine.run("curl", "-sk", "--max-time", "5", "https://127.0.0.1:9877/metrics")
        programs.wait_until(lambda: self.machine.property(SOCKETS[0], "Result") == "service-start-limit-hit",
                            "the socket unit has failed")
        self.assertEqual(len(self.starts_s()), 5)
        self.shell("sed -i /nonsense/d /etc/sideband/sidebandd.yaml")
        self.assertEqual(self.machine.run("systemctl", "start", SERVICE).returncode, 1)
        self.machine.checked("systemctl", "reset-failed", SERVICE, *SOCKETS)
        self.machine.checked("systemctl", "start", *SOCKETS, SERVICE)
        self.wait_for_recovery()
        self.assertIn("sideband_device_up", self.metrics())


if __name__ == "__main__":
    unittest.main()
