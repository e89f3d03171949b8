#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Tests that start programs have no port of their own, which another program could have: they bind port 0. Unit tests are
not read: their ports are texts to parse."""

import os
import re
import sys
import unittest

_RUNFILES = os.path.join(os.environ.get("TEST_SRCDIR", ""), os.environ.get("TEST_WORKSPACE", ""))
_FOLDERS = ("client/python", "tests/bmc", "tests/conformance", "tests/debian", "tests/deploy", "tests/e2e",
            "tests/lab", "tests/package", "tests/simulation")
# Beside an address of this machine; as the value of a name; in a call that binds every address.
_PORT = re.compile(r"""(?:(?:127\.0\.0\.1|localhost|0\.0\.0\.0|\[::1?\])(?::|["'], ?)|"""
                   r"""\b(?:\w*_)?port(?:_\w+)?(?:: \w+)? *= *|"""
                   r"""\b(?:bind|create_server|\w*Server)\(\(?["']["'], ?|\bhtons\()([1-9]\d{2,4})\b""", re.IGNORECASE)
_MACHINE = "in a machine with a network of its own (tests/e2e/machine.py)"
_REPLACED = "of an example, which the test replaces by its own"
# {file: why its ports are nobody else's}
EXCEPTIONS = {
    "client/python/config_test.py": "the default, to which nothing connects",
    "client/python/sideband/_config.py": "the default itself",
    "tests/e2e/browser.py": "an example in a comment",
    "tests/e2e/failure_test.py": _MACHINE,
    "tests/e2e/fleet_test.py": _REPLACED,
    "tests/e2e/hardware_test.py": _REPLACED,
    "tests/e2e/machine_site.py": _MACHINE,
    "tests/e2e/operations_site.py": _MACHINE + "; operations_full_test, which is run by hand, needs the host's",
}


def fixed_ports(text):
    """(line, port) of each port that is bound, or may be."""
    return [(number, port) for number, line in enumerate(text.splitlines(), 1) for port in _PORT.findall(line)]


class PortsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # The link points to the tree that is being built.
        root = os.path.dirname(os.path.realpath(os.path.join(_RUNFILES, "WORKSPACE")))
        cls.found, cls.read = {}, 0
        for folder in _FOLDERS:
            for parent, _, names in os.walk(os.path.join(root, folder)):
                for name in filter(re.compile(r"\.(cc|h|py|sh)$").search, names):
                    path = os.path.join(parent, name)
                    with open(path, encoding="utf-8") as file:
                        ports = fixed_ports(file.read())
                    cls.read += 1
                    if ports:
                        cls.found[os.path.relpath(path, root)] = ports

    def test_the_tree_was_found(self):
        self.assertGreater(self.read, 100)

    def test_no_port_is_fixed(self):
        wrong = ["%s:%d: port %s" % (path, line, port) for path, ports in sorted(self.found.items())
                 if path not in EXCEPTIONS for line, port in ports]
        self.assertEqual(wrong, [], "\n" + "\n".join(wrong))

    def test_each_exception_is_used(self):
        self.assertEqual(sorted(set(EXCEPTIONS) - set(self.found)), [])

    def test_what_is_found(self):
        self.assertEqual(fixed_ports('bind(("127.0.0.1", 9090))\n"localhost:80"\nlisten: "[::1]:9877"\n"127.0.0.1:0"'),
                         [(1, "9090"), (3, "9877")])
        self.assertEqual(fixed_ports('_PORT = 9090\ndef serve(port=9091):\nhttp_port: int = 9092\n'
                                     'create_server(("", 9093))\n'
                                     "HTTPServer(('', 9094), Handler)\naddress.sin_port = htons(9095);"),
                         list(enumerate(map(str, range(9090, 9096)), 1)))
        self.assertEqual(fixed_ports('port = 0\nreport = 1700\n("", 400)\nbind(("", 0))\nself.port = server.port'), [])


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
