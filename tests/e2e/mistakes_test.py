# SPDX-License-Identifier: Apache-2.0
"""Typical mistakes, each told in one line: what is wrong, where, and how to mend it."""

import datetime
import os
import re
import shutil

import certificates
import programs
import site_layout
from cryptography.hazmat.primitives import serialization

CHECK = ("sidebandd", "--config", "sidebandd.yaml", "--check")
START = ("sidebandd", "--config", "sidebandd.yaml")


def sideband(*arguments, ca="ca.pem", cert="tenant-a.pem", key="tenant-a.key", address="ADDRESS"):
    """As tenant A; ADDRESS is that of a daemon with data."""
    return ("sideband", *arguments, "--address", address, "--ca-file", ca, "--cert-file", cert, "--key-file", key)


def in_config(old, new):
    """A change of sidebandd.yaml: each first occurrence of `old`."""
    return lambda test: test.change("sidebandd.yaml", old, new)


def in_policy(old, new):
    return lambda test: test.change("policy.yaml", old, new)


def file(name, content):
    return lambda test: test.write(name, content)


# What was done: command, preparation, exit status, lines on standard error, the first of which is this.
MISTAKES = {
    "an option before its subcommand":
        (("sideband", "--wide", "devices"), None, 2, 1, "option '--wide' comes after 'devices'"),
    "an option without its value":
        (("sideband", "get", "--event", "--config", "a.yaml"), None, 2, 1, "--event has no value: '--config' follows it"),
    "a name without its option":
        (("sideband", "get", "vm1"), None, 2, 1,
         "unknown argument 'vm1': 'get' takes names with --device, --vm, --context, --event"),
    "an option that does not exist":
        (("sideband", "get", "--fromat", "json"), None, 2, 1,
         "unknown option '--fromat' (did you mean '--format'?); see sideband get --help"),
    "several names in one":
        (sideband("get", "--vm", "vm1,vm2"), None, 1, 1,
         "ADDRESS: no such device, VM, context or event: VM 'vm1,vm2' (for several, repeat --vm)"),
    "a pattern for a context":
        (sideband("get", "--context", "tr*"), None, 1, 1,
         "ADDRESS: no such device, VM, context or event: context 'tr*' (--context takes a name without * and ?)"),
    "a duration without its unit":
        (CHECK, in_config("interval: 100ms", "interval: 1"), 2, 1,
         "sidebandd.yaml:2: interval is 1, must be a duration from 10ms to 1h, such as 250ms or 1s"),
    "an address of a bus without 0x":
        (CHECK, in_config("@0x4f", "@4f"), 2, 1,
         "sidebandd.yaml:2: bus 'unix:gpu0.sock@4f': the address must be from 0x08 to 0x77: write 0x4f"),
    "no UUID":
        (CHECK, in_policy("uuid: " + site_layout.VM_UUIDS["vm2"], "rights: [read]"), 2, 1,
         "policy.yaml:12: key 'uuid' is missing: 'sideband scopes --wide' shows the VMs' UUIDs"),
    "Prometheus' other name of the section":
        (CHECK, in_config("tls_server_config", "tls_config"), 2, 2,
         "sidebandd.yaml:5: unknown key 'tls_config' (did you mean 'tls_server_config'?)"),
    "a token in UTF-16":
        (("sideband", "devices", "--address", "ADDRESS", "--ca-file", "ca.pem", "--token-file", "token"),
         file("token", "a.b.c".encode("utf-16")), 2, 1, "token: a text in UTF-16: save it as plain text (UTF-8)"),
    "a list that begins in its key's line":
        (CHECK, in_policy("operators:\n  -", "operators: -"), 2, 1,
         "policy.yaml:2: an entry '- ' where a list cannot begin: it needs a line of its own, below its key"),
    "a bracket that is not closed":
        (CHECK, in_config("100ms}", "100ms"), 2, 1,
         "sidebandd.yaml:2: this '{' is not closed, a ',' is missing in it, or a text with brackets needs quotes"),
    "a tab":
        (CHECK, in_config("  - {name: gpu0", "\t- {name: gpu0"), 2, 1,
         "sidebandd.yaml:2: a tab: YAML indents with blanks"),
    "two keys in a line":
        (CHECK, in_config("grpc:\n  listen: \"127.0.0.1:0\"", "grpc: listen: \"127.0.0.1:0\""), 2, 1,
         "sidebandd.yaml:3: a ': ' inside a value: give each key its own line, indented like its neighbours, or put the text "
         "in quotes"),
    "a version that counts changes":
        (CHECK, in_policy("version: 1", "version: 2"), 2, 1,
         "policy.yaml:1: unknown version 2, must be 1: it is that of the format, not of the policy's content"),
    "certificate and key of the daemon swapped":
        (CHECK, in_config("server.pem, key_file: server.key", "server.key, key_file: server.pem"), 2, 1,
         "sidebandd.yaml:5: server.key: a private key, not a certificate: are cert_file and key_file swapped?"),
    "a key in place of the clients' CA":
        (CHECK, in_config("client_ca_file: ca.pem", "client_ca_file: server.key"), 2, 1,
         "sidebandd.yaml:5: server.key: a private key, not a certificate"),
    "certificate and key of the client swapped":
        (sideband("devices", cert="tenant-a.key", key="tenant-a.pem"), None, 2, 1,
         "tenant-a.key: a private key, not a certificate: are cert_file and key_file swapped?"),
    "an old certificate":
        (sideband("devices", cert="old.pem", key="old.key"), None, 1, 1,
         "ADDRESS: old.pem: the certificate has expired, at TIME: renew it"),
    "a certificate of tomorrow":
        (sideband("devices", cert="early.pem", key="early.key"), None, 1, 1,
         "ADDRESS: early.pem: the certificate is not valid before TIME: is this machine's clock right?"),
    "another site's authority":
        (sideband("devices", ca="foreign.pem"), None, 1, 1,
         "ADDRESS: foreign.pem: none of its CAs has issued the daemon's certificate; ca_file must name one that has"),
    "another host's name":
        (sideband("devices", "--server-name", "elsewhere"), None, 1, 1,
         "ADDRESS: the daemon's certificate is not for 'elsewhere'; set server_name to a name that it is for"),
    "no daemon":
        (sideband("devices", address="127.0.0.1:1"), None, 1, 1,
         "127.0.0.1:1: no program listens there: is the daemon running, and is this its gRPC port or socket?"),
    "a key that everybody may read":
        (CHECK, lambda test: os.chmod(test.path("server.key"), 0o644), 2, 2,
         "sidebandd.yaml:5: server.key: a private key that other users may access: run chmod o= on it"),
    "a key with a passphrase":
        (sideband("devices", key="locked.key"), None, 2, 1,
         "locked.key: the private key has a passphrase: openssl pkey -in locked.key -out NEW.key writes it without"),
    "a port that is in use":
        (START, lambda test: test.change("sidebandd.yaml", 'http:\n  listen: "127.0.0.1:0"',
                                         'state_dir: state\nhttp:\n  listen: "%s"' % test.address), 1, 1,
         "http: cannot listen on ADDRESS: Address already in use: another program has the port (ss -ltnp names it)"),
    "a folder for state that cannot be made":
        (START, in_config("ports_file: ports", "ports_file: ports\nstate_dir: policy.yaml/state"), 2, 1,
         "policy.yaml/state: Not a directory: state_dir must be a folder that the daemon's user may write to"),
}


class MistakesTest(programs.ProgramTestCase):
    """A site with data; each mistake is made in a copy of its files."""

    @classmethod
    def setUpClass(cls):
        cls.site = site_layout.Site()
        cls.addClassCleanup(cls.site.close)
        cls.site.start()
        cls.address = "127.0.0.1:%d" % cls.site.grpc_port
        user = site_layout.TRUST + "tenant-a"
        cls.site.authority.issue("old", uri=user, valid=datetime.timedelta(minutes=30))
        cls.site.authority.issue("early", uri=user, start=datetime.timedelta(hours=1))
        certificates.Authority(cls.site.folder, "foreign.pem")
        key = serialization.load_pem_private_key(cls.site.read("tenant-a.key"), None)
        locked = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
                                   serialization.BestAvailableEncryption(b"secret"))
        site_layout.write(cls.site.folder, "locked.key", locked.decode())

    def copy_site(self):
        """The files alone: what a daemon has written, and sockets, stay where they are."""
        for entry in os.scandir(self.site.folder):
            if entry.name.endswith((".pem", ".key", ".yaml")):
                shutil.copy(entry.path, self.path(entry.name))

    def change(self, name, old, new):
        with open(self.path(name), encoding="utf-8") as text:
            before = text.read()
        self.assertIn(old, before)
        site_layout.write(self.folder, name, before.replace(old, new, 1))

    def test_each_is_told_in_one_line(self):
        for what, (command, prepare, status, lines, told) in MISTAKES.items():
            with self.subTest(what):
                self.copy_site()
                if prepare:
                    prepare(self)
                words = [word.replace("ADDRESS", self.address) for word in command]
                result = programs.run(*words, cwd=self.folder)
                self.assertEqual((result.returncode, result.stdout), (status, ""), result.stderr)
                said = result.stderr.replace(self.address, "ADDRESS").splitlines()
                self.assertEqual(len(said), lines, said)
                first = re.sub(r"\d{4}-\d\d-\d\dT[\d:]+Z", "TIME", said[0])
                self.assertEqual(first, "%s: %s" % (command[0], told))

    def test_a_schedule_without_residencies(self):
        """A warning: the waveform is replayed."""
        self.write("a.vcd", "$timescale 1ns $end $scope module t $end $var wire 1 c clk $end $upscope $end "
                   "$enddefinitions $end\n#0 0c\n#10 1c\n#20 0c\n#30 1c\n")
        self.write("a.yaml", "clock: t.clk\nevents:\n  - {name: ticks_cycles, signal: t.clk, op: high}\n")
        self.write("a.csv", "start_cycle,end_cycle,vm,context\n")
        result = programs.run("sideband-mcu", "replay", "--trace", "a.vcd", "--signals", "a.yaml", "--schedule", "a.csv",
                              cwd=self.folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("sideband-mcu: warning: a.csv: no residency: nothing is counted; a design without VMs needs one such "
                      "as ", result.stderr)
