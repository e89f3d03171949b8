# SPDX-License-Identifier: Apache-2.0
"""What sidebandd refuses to start with: one line that says where and what, exit status 2; 1 where the host is at fault."""

import os
import re
import shutil
import socket

import certificates
import programs
import site_layout


class DaemonTestCase(programs.ProgramTestCase):
    """In each test's folder lies a good site, which the test spoils."""

    @classmethod
    def setUpClass(cls):
        cls.good = programs.temporary_folder(cls.addClassCleanup)
        site_layout.lay_out(cls.good)

    def setUp(self):
        super().setUp()
        shutil.copytree(self.good, self.folder, dirs_exist_ok=True)

    def spoil(self, name, old, new):
        """Replaces the first `old`, or where it is a pattern, the first match."""
        with open(self.path(name), encoding="utf-8") as file:
            text = file.read()
        spoiled, count = re.subn(old, new, text, count=1)
        self.assertEqual(count, 1, "%s has no %s" % (name, old))
        site_layout.write(self.folder, name, spoiled)

    def refused(self, status, start, *words, config="sidebandd.yaml"):
        result = programs.run("sidebandd", "--config", config, cwd=self.folder)
        self.assert_refused(result, status, "sidebandd: " + start, *words)
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
        self.refused(2, "sidebandd.yaml:", "polcy_file", "'policy_file'?")

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


class BadTlsTest(DaemonTestCase):
    def test_missing_certificate(self):
        os.remove(self.path("server.pem"))
        self.refused(2, "sidebandd.yaml:5: ", "server.pem", "No such file")

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


class BadPolicyTest(DaemonTestCase):
    def test_missing_policy(self):
        os.remove(self.path("policy.yaml"))
        self.refused(2, "sidebandd.yaml:", "policy.yaml", "No such file")

    def test_unknown_key_names_the_nearest(self):
        self.spoil("policy.yaml", "operators:", "operator:")
        self.refused(2, "policy.yaml:", "operator", "'operators'?")

    def test_unknown_right_names_the_nearest(self):
        self.spoil("policy.yaml", r"\[seal\]", "[seel]")
        self.refused(2, "policy.yaml:13: ", "unknown right 'seel', must be read, mark, peek or seal")

    def test_one_vm_of_two_tenants(self):
        self.spoil("policy.yaml", site_layout.VM_UUIDS["vm2"], site_layout.VM_UUIDS["vm1"])
        self.refused(2, "policy.yaml:12: ", site_layout.VM_UUIDS["vm1"], "given twice")

    def test_unknown_version(self):
        self.spoil("policy.yaml", "version: 1", "version: 2")
        self.refused(2, "policy.yaml:1: version 2 is not known; 1 is")


class BadKeyTest(DaemonTestCase):
    def test_missing(self):
        os.remove(self.path("vm3.key"))
        self.refused(2, "sidebandd.yaml:", "vm3.key", "No such file")

    def test_wrong_length(self):
        site_layout.write(self.folder, "vm3.key", "00" * 31 + "\n")
        self.refused(2, "vm3.key: ", "64 hexadecimal digits")

    def test_everybody_may_read_it(self):
        os.chmod(self.path("vm3.key"), 0o644)
        self.refused(2, "vm3.key: ", "chmod 600")

    def test_is_never_shown(self):
        site_layout.write(self.folder, "vm3.key", "c0ffee" * 10)
        result = programs.run("sidebandd", "--config", "sidebandd.yaml", cwd=self.folder)
        self.assertEqual(result.returncode, 2)
        self.assertNotIn("c0ffee", result.stdout + result.stderr)


class BusyPortTest(DaemonTestCase):
    """Not the configuration's mistake, so 1."""

    def check(self, section):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            self.spoil("sidebandd.yaml", section + r':\n  listen: "127.0.0.1:0"',
                       '%s:\n  listen: "127.0.0.1:%d"' % (section, port))
            result = programs.run("sidebandd", "--config", "sidebandd.yaml", cwd=self.folder)
        self.assert_refused(result, 1, "sidebandd: ", "127.0.0.1:%d" % port)

    def test_http(self):
        self.check("http")

    def test_grpc(self):
        self.check("grpc")
