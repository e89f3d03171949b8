# SPDX-License-Identifier: Apache-2.0
"""A machine with the units of deploy/systemd, the programs, and a site of one emulated device. Root only.

    class LifeTest(machine_site.SiteTestCase):
        DROP_IN = machine_site.DROP_IN + "WatchdogSec=3s\n"     # what the test needs otherwise in sidebandd.service

        def test_a_life(self):
            self.start("sideband-mcu@gpu0", "sidebandd")
            self.wait_for_status("1 of 1 devices fresh")
"""

import json
import os
import re

import machine
import programs
import site_layout

UNITS = ("sidebandd.service", "sidebandd-http.socket", "sidebandd-grpc.socket", "sideband-mcu@.service")
DROP_IN = """[Service]
LoadCredential=vm3.key:/etc/sideband/keys/vm3.key
"""
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
def unit(name):
    return programs.runfile("deploy/systemd/" + name)


def files_of(folder, drop_in):
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
    files["/etc/systemd/system/sidebandd.service.d/test.conf"] = drop_in
    return files


class SiteTestCase(programs.ProgramTestCase):
    DROP_IN = DROP_IN
    # More files of the machine, as Machine has them.
    FILES = {}

    def setUp(self):
        super().setUp()
        why_not = machine.why_not()
        if why_not:
            self.skipTest(why_not)
        folder = programs.temporary_folder(self.addCleanup)
        self.machine = machine.Machine(folder, {**files_of(folder, self.DROP_IN), **self.FILES})
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
        lines = self.machine.checked("journalctl", "--unit=sidebandd.service", "--output=json", "--all").splitlines()
        return [json.loads(line) for line in lines]

    def lines(self, pattern):
        """The messages of the service and of systemd about it that match."""
        return [line["MESSAGE"] for line in self.journal() if re.search(pattern, str(line["MESSAGE"]))]

    def wait_for_line(self, pattern):
        return programs.wait_until(lambda: self.lines(pattern), "a line in the journal: " + pattern)

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
