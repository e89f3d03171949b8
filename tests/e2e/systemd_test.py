# SPDX-License-Identifier: Apache-2.0
"""The units under a real systemd, in a machine of their own: socket activation, reload, crashes, a hung process, bad
files. Root only; the units themselves are checked everywhere."""

import json
import os
import re
import shutil
import subprocess
import unittest

import machine
import programs
import site_layout

UNITS = ("sidebandd.service", "sidebandd-http.socket", "sidebandd-grpc.socket", "sideband-mcu@.service")
EXPOSURE_MAX = 2.0

CONFIG = """devices:
  - {name: gpu0, bus: "unix:/run/sideband-mcu/gpu0.sock@0x4f", interval: 200ms}
grpc:
  unix_socket: /run/sideband/grpc.sock
  tls_server_config: {cert_file: server.pem, key_file: server.key, client_ca_file: ca.pem}
http:
  unix_socket: /run/sideband/http.sock
  tls_server_config: {cert_file: server.pem, key_file: server.key, client_ca_file: ca.pem}
local_operators: {groups: [sideband]}
policy_file: policy.yaml
sealing: {vm_keys: [{vm: %s, key_file: /run/credentials/sidebandd.service/vm3.key}]}
state_dir: /var/lib/sideband
audit: {file: /var/log/sideband/audit.jsonl}
""" % site_layout.VM_UUIDS["vm3"]
# A hung process is to be found within the test's patience.
DROP_IN = """[Service]
WatchdogSec=3s
RestartSec=500ms
LoadCredential=vm3.key:/etc/sideband/keys/vm3.key
"""


def unit(name):
    return programs.runfile("deploy/systemd/" + name)


class UnitsTest(programs.ProgramTestCase):
    def analyze(self, *arguments):
        if shutil.which("systemd-analyze") is None:
            self.skipTest("systemd-analyze is not installed")
        return subprocess.run(["systemd-analyze", *arguments], capture_output=True, text=True,
                              timeout=programs.PATIENCE_S, check=False)

    def test_the_exposure_is_low(self):
        for name in ("sidebandd.service", "sideband-mcu@.service"):
            result = self.analyze("security", "--offline=true", "--no-pager", unit(name))
            found = re.search(r"Overall exposure level for \S+: ([0-9.]+)", result.stdout)
            self.assertIsNotNone(found, result.stdout + result.stderr)
            self.assertLessEqual(float(found[1]), EXPOSURE_MAX, result.stdout)


def files_of(folder):
    """The machine's files: programs, units, and the configuration of a site."""
    site = os.path.join(folder, "site")
    os.mkdir(site)
    site_layout.lay_out(site)
    files = {"/usr/bin/" + program: programs.program_path(program).encode()
             for program in ("sidebandd", "sideband-mcu", "sideband")}
    for name in UNITS:
        with open(unit(name), encoding="utf-8") as file:
            files["/usr/lib/systemd/system/" + name] = file.read()
    for name, place in (("sideband.sysusers", "/usr/lib/sysusers.d/sideband.conf"),
                        ("sideband.tmpfiles", "/usr/lib/tmpfiles.d/sideband.conf")):
        with open(unit(name), encoding="utf-8") as file:
            files[place] = file.read()
    for name in ("ca.pem", "server.pem", "server.key", "operator.pem", "operator.key", "policy.yaml"):
        with open(os.path.join(site, name), encoding="utf-8") as file:
            files["/etc/sideband/" + name] = file.read()
    with open(os.path.join(site, "vm3.key"), encoding="utf-8") as file:
        files["/etc/sideband/keys/vm3.key"] = file.read()
    with open(os.path.join(site, "chip.yaml"), encoding="utf-8") as file:
        files["/etc/sideband/chips/gpu0.yaml"] = file.read()
    files["/etc/sideband/sidebandd.yaml"] = CONFIG
    files["/etc/systemd/system/sidebandd.service.d/test.conf"] = DROP_IN
    return files


class SystemdTest(programs.ProgramTestCase):
    def setUp(self):
        super().setUp()
        why_not = machine.why_not()
        if why_not:
            self.skipTest(why_not)
        folder = programs.temporary_folder(self.addCleanup)
        self.machine = machine.Machine(folder, files_of(folder))
        self.addCleanup(self.machine.close)
        self.machine.checked("systemd-sysusers")
        self.machine.checked("systemd-tmpfiles", "--create", "/usr/lib/tmpfiles.d/sideband.conf")
        self.machine.checked("chown", "-R", "root:sideband", "/etc/sideband")
        self.machine.checked("chmod", "-R", "u=rwX,g=rX,o=", "/etc/sideband")
        self.machine.checked("chmod", "-R", "u=rwX,go=", "/etc/sideband/keys")  # root's: systemd passes it on

    def start(self, *units):
        result = self.machine.run("systemctl", "start", *units)
        self.assertEqual(result.returncode, 0, self.machine.run("journalctl", "--no-pager", "--lines=30").stdout)

    def journal(self):
        lines = self.machine.checked("journalctl", "--unit=sidebandd.service", "--output=json").splitlines()
        return [json.loads(line) for line in lines]

    def status(self):
        return self.machine.property("sidebandd.service", "StatusText")

    def metrics(self):
        return self.machine.checked("curl", "--silent", "--show-error", "--fail", "--cacert", "/etc/sideband/ca.pem",
                                    "--cert", "/etc/sideband/operator.pem", "--key", "/etc/sideband/operator.key",
                                    "https://localhost:9877/metrics")

    def cycles(self):
        found = re.search(r'^sideband_vm_sm_active_cycles_total\{.*vm="vm1".*\} (\d+)$', self.metrics(), re.MULTILINE)
        return int(found[1]) if found else 0

    def wait_for_status(self, text):
        programs.wait_until(lambda: self.status() == text, "the status '%s'" % text)

    def wait_for_restart(self, before, restarts):
        programs.wait_until(lambda: self.machine.property("sidebandd.service", "NRestarts") == str(restarts) and
                            self.machine.property("sidebandd.service", "MainPID") not in ("0", before) and
                            self.status() == "1 of 1 devices fresh", "the service has restarted")

    def test_a_life(self):
        """One machine for all of this: booting it takes most of the time."""
        # A client starts the daemon.
        self.start("sidebandd-http.socket", "sidebandd-grpc.socket")
        self.assertEqual(self.machine.run("systemctl", "is-active", "sidebandd").stdout, "inactive\n")
        self.assertIn("sideband_device_up", self.metrics())
        self.assertEqual(self.status(), "0 of 1 devices fresh")
        self.start("sideband-mcu@gpu0")
        self.wait_for_status("1 of 1 devices fresh")

        # The local sockets belong to the operators' group, and the confidential VM's key came from root.
        local = self.machine.checked("curl", "--silent", "--fail", "--unix-socket", "/run/sideband/http.sock",
                                     "http://localhost/metrics")
        self.assertIn("\nsideband_sealed_records_total{", local)
        owner = self.machine.checked("stat", "--format", "%U:%G %a", "/run/sideband/http.sock")
        self.assertEqual(owner, "sideband:sideband 660\n")

        # The journal has priorities, and no second time in its lines.
        lines = {line["MESSAGE"]: line for line in self.journal() if line.get("_COMM") == "sidebandd"}
        fresh = lines["device gpu0: snapshots every 200ms"]
        self.assertEqual((fresh["PRIORITY"], fresh["SYSLOG_IDENTIFIER"]), ("6", "sidebandd"))
        self.assertTrue(any(line["PRIORITY"] == "4" for line in lines.values()), "the device was away: a warning")

        # Reload: a good file, then a bad one.
        self.machine.checked("systemctl", "reload", "sidebandd")
        self.machine.checked("sed", "-i", "s/200ms/100ms/", "/etc/sideband/sidebandd.yaml")
        self.machine.checked("systemctl", "reload", "sidebandd")
        programs.wait_until(lambda: any("interval 100ms" in line["MESSAGE"] or "every 100ms" in line["MESSAGE"]
                                        for line in self.journal()), "the new interval")

        # Killed at any instant: it comes back, and loses nothing that the device holds.
        count = self.cycles()
        before = self.machine.property("sidebandd.service", "MainPID")
        self.machine.checked("kill", "-KILL", before)
        self.wait_for_restart(before, 1)
        self.assertGreater(self.cycles(), count)

        # Hung: the watchdog ends it.
        before = self.machine.property("sidebandd.service", "MainPID")
        self.machine.checked("kill", "-STOP", before)
        self.wait_for_restart(before, 2)
        self.assertTrue(any("Watchdog timeout" in line["MESSAGE"] for line in self.journal()))

        # A wrong configuration is no reason to try again and again.
        self.machine.checked("sh", "-c", "echo nonsense: 1 >> /etc/sideband/sidebandd.yaml")
        self.assertNotEqual(self.machine.run("systemctl", "restart", "sidebandd").returncode, 0)
        self.assertEqual(self.machine.property("sidebandd.service", "ExecMainStatus"), "2")
        self.assertEqual(self.machine.property("sidebandd.service", "ActiveState"), "failed")
        self.assertTrue(any("unknown key 'nonsense'" in line["MESSAGE"] or "nonsense" in line["MESSAGE"]
                            for line in self.journal()))
        self.machine.checked("sed", "-i", "/nonsense/d", "/etc/sideband/sidebandd.yaml")

        # Stopped in order.
        self.start("sidebandd")
        self.wait_for_status("1 of 1 devices fresh")
        self.machine.checked("systemctl", "stop", "sidebandd")
        self.assertEqual(self.machine.property("sidebandd.service", "Result"), "success")


if __name__ == "__main__":
    unittest.main()
