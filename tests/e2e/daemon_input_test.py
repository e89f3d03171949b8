# SPDX-License-Identifier: Apache-2.0
"""Inputs that sidebandd rejects at start: one line with place and error, exit status 2; 1 if the host is at fault."""

import datetime
import os
import re
import shutil
import signal
import socket

import certificates
import programs
import site_layout


class DaemonTestCase(programs.ProgramTestCase):
    """Each test's folder contains a good site, in which the test makes an error."""

    @classmethod
    def setUpClass(cls):
        cls.good = programs.temporary_folder(cls.addClassCleanup)
        site_layout.lay_out(cls.good)

    def setUp(self):
        super().setUp()
        shutil.copytree(self.good, self.folder, dirs_exist_ok=True)

    def spoil(self, name, old, new):
        """Replaces the first `old`, or if it is a pattern, its first match."""
        with open(self.path(name), encoding="utf-8") as file:
            text = file.read()
        spoiled, count = re.subn(old, new, text, count=1)
        self.assertEqual(count, 1, "%s has no %s" % (name, old))
        site_layout.write(self.folder, name, spoiled)

    def refused(self, status, start, *words, config="sidebandd.yaml", lines=1):
        for options in ((), ("--check",)):
            result = programs.run("sidebandd", "--config", config, *options, cwd=self.folder)
            self.assert_refused(result, status, "sidebandd: " + start, *words, lines=lines)
            self.assertFalse(os.path.exists(self.path("ports")), "it has not listened")


class BadConfigTest(DaemonTestCase):
    def test_the_good_site_is_good(self):
        daemon = self.start("sidebandd", "--config", "sidebandd.yaml")
        programs.wait_until(lambda: os.path.exists(self.path("ports")), "the ports file")
        self.assertEqual(daemon.stop(), 0, daemon.log())

    def test_no_option(self):
        self.assert_refused(programs.run("sidebandd", cwd=self.folder), 2, "sidebandd: ", "--config")

    def test_unknown_option(self):
        result = programs.run("sidebandd", "--config", "sidebandd.yaml", "--verbose", cwd=self.folder)
        self.assert_refused(result, 2, "sidebandd: ", "--verbose")

    def test_missing_config(self):
        self.refused(2, "absent.yaml: ", "No such file", config="absent.yaml")

    def test_config_is_a_directory(self):
        self.refused(2, "/: ", "is a directory", config="/")

    def test_empty_config(self):
        self.write("sidebandd.yaml", "")
        self.refused(2, "sidebandd.yaml")

    def test_not_yaml(self):
        self.spoil("sidebandd.yaml", r"devices:", "devices: [")
        self.refused(2, "sidebandd.yaml:")

    def test_binary_config(self):
        self.write("sidebandd.yaml", bytes(range(256)))
        self.refused(2, "sidebandd.yaml:")

    def test_unknown_key_names_the_nearest(self):
        self.spoil("sidebandd.yaml", "policy_file", "polcy_file")
        self.refused(2, "sidebandd.yaml:", "polcy_file", "'policy_file'?", lines=2)

    def test_unknown_key_in_a_device(self):
        self.spoil("sidebandd.yaml", "interval: ", "intervall: ")
        self.refused(2, "sidebandd.yaml:2: ", "intervall", "'interval'?")

    def test_repeated_key(self):
        self.spoil("sidebandd.yaml", "ports_file: ports\n", "ports_file: ports\nports_file: other\n")
        self.refused(2, "sidebandd.yaml:", "ports_file", "twice")

    def test_missing_key(self):
        self.spoil("sidebandd.yaml", "policy_file: policy.yaml\n", "")
        self.refused(2, "sidebandd.yaml", "'policy_file' is missing")

    def test_bad_interval(self):
        self.spoil("sidebandd.yaml", "interval: 100ms", "interval: 1ms")
        self.refused(2, "sidebandd.yaml:2: ", "from 10ms to 1h")

    def test_bad_bus(self):
        self.spoil("sidebandd.yaml", "unix:gpu0.sock@0x4f", "tcp:gpu0:80")
        self.refused(2, "", "tcp:gpu0:80")


class CheckTest(DaemonTestCase):
    """--check reads the same files as a start, reports every error, and has no other effect."""

    def check(self):
        return programs.run("sidebandd", "--check", "--config", "sidebandd.yaml", cwd=self.folder)

    def test_good(self):
        before = sorted(os.listdir(self.folder))
        result = self.check()
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(result.stdout, "sidebandd.yaml: valid, with all files that it names\n")
        self.assertEqual(sorted(os.listdir(self.folder)), before, "nothing is written")

    def test_every_error_at_once(self):
        self.spoil("sidebandd.yaml", "interval: 100ms", "interval: 1ms")
        self.spoil("sidebandd.yaml", "ports_file: ports", "port_file: ports\nlog: {level: loud}\n"
                   "ratios: [{name: r, numerator: [a], denominator: []}]\nquotas: {streams: 0}")
        self.spoil("policy.yaml", "operators:", "operator:")
        self.spoil("policy.yaml", r"\[seal\]", "[seel]")
        self.write("server.pem", "hello\n")
        site_layout.write(self.folder, "vm3.key", "00" * 31 + "\n")
        result = self.check()
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        lines = result.stderr.splitlines()
        for expected in ("sidebandd.yaml:2: ", "unknown key 'port_file'", "'loud'", "denominator names no event",
                         "from 1 to 65536", "policy.yaml:3: unknown key 'operator'", "policy.yaml:13: unknown right 'seel'",
                         "server.pem: ", "vm3.key: "):
            self.assertEqual(len([line for line in lines if expected in line]), 1, (expected, lines))
        self.assertEqual(len(lines), 9, lines)
        for line in lines:
            self.assertRegex(line, r"^sidebandd: (sidebandd\.yaml:\d+|policy\.yaml:\d+|server\.pem|vm3\.key): ")
        start = programs.run("sidebandd", "--config", "sidebandd.yaml", cwd=self.folder)
        self.assertEqual((start.returncode, start.stderr), (2, result.stderr), "a start says the same")


class UntrustedFileTest(DaemonTestCase):
    """World-writable files, and paths that are not regular files, are rejected at once."""

    def test_fifo(self):
        for name in ("policy.yaml", "server.pem", "vm3.key"):
            os.remove(self.path(name))
            os.mkfifo(self.path(name), 0o600)
        self.refused(2, "sidebandd.yaml:", "server.pem: is not a regular file", lines=4)

    def test_fifo_as_configuration(self):
        os.remove(self.path("sidebandd.yaml"))
        os.mkfifo(self.path("sidebandd.yaml"))
        self.refused(2, "sidebandd.yaml: is not a regular file")

    def test_everybody_may_write_it(self):
        for name, mode in (("policy.yaml", 0o602), ("ca.pem", 0o666), ("server.key", 0o602), ("sidebandd.yaml", 0o606)):
            with self.subTest(name):
                os.chmod(self.path(name), mode)
                result = programs.run("sidebandd", "--check", "--config", "sidebandd.yaml", cwd=self.folder)
                self.assertEqual(result.returncode, 2)
                self.assertRegex(result.stderr, name + ": (everybody may write it|a private key that other users may access)")
                os.chmod(self.path(name), 0o600)

    def test_everybody_may_replace_it(self):
        os.mkdir(self.path("open"))
        shutil.move(self.path("policy.yaml"), self.path("open/policy.yaml"))
        os.chmod(self.path("open"), 0o777)
        self.spoil("sidebandd.yaml", "policy_file: policy.yaml", "policy_file: open/policy.yaml")
        self.refused(2, "sidebandd.yaml:", "open/policy.yaml: everybody may replace it")

    def test_link_in_place_of_the_partial_ports_file(self):
        self.write("victim", "precious")
        os.symlink("victim", self.path("ports.partial"))
        daemon = self.start("sidebandd", "--config", "sidebandd.yaml")
        programs.wait_until(lambda: os.path.exists(self.path("ports")), "the ports file")
        self.assertEqual(daemon.stop(), 0, daemon.log())
        with open(self.path("victim"), encoding="utf-8") as victim:
            self.assertEqual(victim.read(), "precious")

    def test_second_document(self):
        self.spoil("policy.yaml", "version: 1", "version: 1\n---\nversion: 1")
        self.refused(2, "policy.yaml:", "a second document: a file has one")


class MemoryTest(DaemonTestCase):
    def test_last_line(self):
        """A policy of millions of values, with insufficient memory for them."""
        with open(self.path("policy.yaml"), "a", encoding="utf-8") as policy:
            policy.write("event_groups: {g: [%s]}\n" % ",".join(["a"] * 3_500_000))
        result = programs.run("/usr/bin/prlimit", "--as=%d" % (512 << 20), "--core=0", "--",
                              programs.program_path("sidebandd"), "--check", "--config", "sidebandd.yaml", cwd=self.folder)
        self.assertEqual(result.returncode, -signal.SIGABRT)
        self.assertEqual(result.stderr, "sidebandd: out of memory\n")


class BadTlsTest(DaemonTestCase):
    def test_missing_certificate(self):
        os.remove(self.path("server.pem"))
        self.refused(2, "sidebandd.yaml:5: ", "server.pem", "No such file", lines=2)

    def test_certificate_is_not_pem(self):
        self.write("server.pem", "hello\n")
        self.refused(2, "", "server.pem")

    def test_authority_is_not_pem(self):
        self.write("ca.pem", b"\x30\x82\x00\xff" * 64)
        self.refused(2, "", "ca.pem")

    def test_key_is_not_pem(self):
        self.write("server.key", "")
        self.refused(2, "", "server.key")

    def test_key_of_another_certificate(self):
        certificates.Authority(self.folder, "other.pem").issue("other")
        os.replace(self.path("other.key"), self.path("server.key"))
        self.refused(2, "", "server.key", "server.pem")

    def test_grpc_without_tls(self):
        self.spoil("sidebandd.yaml", r"(grpc:\n.*\n)  tls_server_config.*\n", r"\1")
        self.refused(2, "sidebandd.yaml:4: ", "without mutual TLS is refused")

    def test_http_without_tls(self):
        self.spoil("sidebandd.yaml", r"(http:\n.*\n)  tls_server_config.*\n", r"\1")
        self.refused(2, "sidebandd.yaml:7: ", "without mutual TLS is refused")

    def test_clients_without_certificates(self):
        self.spoil("sidebandd.yaml", r", client_ca_file: ca.pem\}", "}")
        self.refused(2, "sidebandd.yaml:5: ", "without mutual TLS is refused")

    def test_clients_need_not_show_certificates(self):
        self.spoil("sidebandd.yaml", "client_ca_file: ca.pem}", "client_ca_file: ca.pem, client_auth_type: NoClientCert}")
        self.refused(2, "sidebandd.yaml:5: ", "without mutual TLS is refused")


class UnusableCertificateTest(DaemonTestCase):
    """A server certificate that no client can use: an error of --check, and a line for each listener in a start's log."""

    def told(self, why):
        result = programs.run("sidebandd", "--config", "sidebandd.yaml", "--check", cwd=self.folder)
        self.assert_refused(result, 2, "sidebandd: server.pem: " + why)
        daemon = self.start("sidebandd", "--config", "sidebandd.yaml")
        programs.wait_until(lambda: os.path.exists(self.path("ports")), "the ports file")
        self.assertEqual(daemon.stop(), 0, daemon.log())
        for listener in ("http", "grpc"):
            self.assertEqual(daemon.log().count("%s: server.pem: %s" % (listener, why)), 1, daemon.log())
        self.assertEqual(daemon.log().count("no client can connect until the file is replaced"), 2)

    def test_expired(self):
        certificates.Authority(self.folder, "other.pem").issue("server", valid=datetime.timedelta(minutes=30))
        self.told("has expired, at ")

    def test_of_a_client(self):
        certificates.Authority(self.folder, "other.pem").issue("server", uri=site_layout.TRUST + "operator")
        self.told("is not a server certificate: its extended key usage lacks serverAuth")


class ClientFilesTest(DaemonTestCase):
    """`sideband` says which of its own files is at fault, in a sentence for each cause."""

    def setUp(self):
        super().setUp()
        for ca_file, suffix in (("ca.pem", ""), ("foreign.pem", "-foreign")):
            authority = certificates.Authority(self.folder, ca_file)
            authority.issue("operator" + suffix, uri=site_layout.TRUST + "operator")
            authority.issue("expired" + suffix, uri=site_layout.TRUST + "operator", valid=datetime.timedelta(minutes=30))
            if not suffix:
                authority.issue("server")
        self.start("sidebandd", "--config", "sidebandd.yaml")
        programs.wait_until(lambda: os.path.exists(self.path("ports")), "the ports file")
        with open(self.path("ports"), encoding="utf-8") as ports:
            self.address = "127.0.0.1:" + re.search(r"grpc: (\d+)", ports.read())[1]

    def sideband(self, ca_file="ca.pem", cert="operator.pem", key="operator.key"):
        return programs.run("sideband", "--address", self.address, "--ca-file", ca_file, "--cert-file", cert, "--key-file",
                            key, "devices", cwd=self.folder)

    def test_six_causes(self):
        self.assertEqual(self.sideband().returncode, 0)
        at = "sideband: %s: " % self.address
        unset = programs.run("sideband", "--address", self.address, "devices", cwd=self.folder,
                             environment={"HOME": self.folder, "SIDEBAND_CONFIG": ""})
        self.assert_refused(unset, 2, "sideband: there is no configuration: ", self.address + " needs a ca_file")
        self.assert_refused(self.sideband(cert="absent.pem"), 2, "sideband: absent.pem: No such file")
        self.assert_refused(self.sideband(key="expired.key"), 2,
                            "sideband: expired.key: not the private key of operator.pem")
        self.assert_refused(self.sideband(ca_file="foreign.pem"), 1,
                            at + "foreign.pem: none of its CAs has issued the daemon's certificate")
        self.assert_refused(self.sideband(cert="expired.pem", key="expired.key"), 1,
                            at + "expired.pem: the certificate has expired, at 2")
        self.assert_refused(self.sideband(cert="operator-foreign.pem", key="operator-foreign.key"), 1,
                            at + "operator-foreign.pem: the daemon does not know the certificate's issuer, CN=")


class BadPolicyTest(DaemonTestCase):
    def test_missing_policy(self):
        os.remove(self.path("policy.yaml"))
        self.refused(2, "sidebandd.yaml:", "policy.yaml", "No such file")

    def test_unknown_key_names_the_nearest(self):
        self.spoil("policy.yaml", "operators:", "operator:")
        self.refused(2, "policy.yaml:", "operator", "'operators'?")

    def test_unknown_right_names_the_nearest(self):
        self.spoil("policy.yaml", r"\[seal\]", "[seel]")
        self.refused(2, "policy.yaml:13: ", "unknown right 'seel', must be read, mark, peek, seal, configure or rotate")

    def test_one_vm_of_two_tenants(self):
        self.spoil("policy.yaml", site_layout.VM_UUIDS["vm2"], site_layout.VM_UUIDS["vm1"])
        self.refused(2, "policy.yaml:12: ", site_layout.VM_UUIDS["vm1"], "given twice")

    def test_unknown_version(self):
        self.spoil("policy.yaml", "version: 1", "version: 2")
        self.refused(2, "policy.yaml:1: unknown version 2, must be 1")


class BadKeyTest(DaemonTestCase):
    def test_missing(self):
        os.remove(self.path("vm3.key"))
        self.refused(2, "sidebandd.yaml:", "vm3.key", "No such file")

    def test_wrong_length(self):
        site_layout.write(self.folder, "vm3.key", "00" * 31 + "\n")
        self.refused(2, "vm3.key: ", "64 hexadecimal digits")

    def test_everybody_may_read_it(self):
        os.chmod(self.path("vm3.key"), 0o644)
        self.refused(2, "sidebandd.yaml:", "vm3.key: ", "chmod o=")

    def test_is_never_shown(self):
        site_layout.write(self.folder, "vm3.key", "c0ffee" * 10)
        result = programs.run("sidebandd", "--config", "sidebandd.yaml", cwd=self.folder)
        self.assertEqual(result.returncode, 2)
        self.assertNotIn("c0ffee", result.stdout + result.stderr)


class BusyPortTest(DaemonTestCase):
    """Not a mistake in the configuration, so the exit status is 1."""

    def check(self, section):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            # Without a HOME the daemon would log that it keeps no state.
            self.spoil("sidebandd.yaml", "ports_file: ports", "ports_file: ports\nstate_dir: state")
            self.spoil("sidebandd.yaml", section + r':\n  listen: "127.0.0.1:0"',
                       '%s:\n  listen: "127.0.0.1:%d"' % (section, port))
            result = programs.run("sidebandd", "--config", "sidebandd.yaml", cwd=self.folder)
        self.assert_refused(result, 1, "sidebandd: ", "127.0.0.1:%d" % port)

    def test_http(self):
        self.check("http")

    def test_grpc(self):
        self.check("grpc")
