# SPDX-License-Identifier: Apache-2.0
"""The pages of operators in a fresh tree of this Debian release, with its packages from a mirror and times: minutes.
Root, debootstrap and a mirror; the ports of the page must be free on this system's loopback."""

import os
import sys
import tempfile
import unittest

import machine
import operations_page
import operations_site
import programs

sys.path.append(programs.runfile("tests/debian"))
import fresh_tree  # noqa: E402

# The alert's two minutes, and two evaluations.
_PATIENCE_S = 240
# Bazel's PATH for tests has no programs of administrators.
os.environ["PATH"] += ":/usr/sbin:/sbin"


class OperationsFullTest(operations_site.PageTestCase):
    def setUp(self):
        super().setUp()
        why_not = machine.why_not() or fresh_tree.why_not()
        if why_not:
            self.skipTest(why_not)
        # Not /tmp, which may be in memory.
        tree = tempfile.TemporaryDirectory(prefix="sideband-tree-", dir=os.environ.get("TMPDIR", "/var/tmp"))
        self.addCleanup(tree.cleanup)
        failure = fresh_tree.make(tree.name)
        if failure:
            self.skipTest(failure)
        folder = programs.temporary_folder(self.addCleanup)
        self.machine = machine.Machine(folder, operations_site.packages(), tree=tree.name, network=True)
        self.addCleanup(self.machine.close)

    def test_every_command(self):
        proxies = {name: value for name, value in os.environ.items() if name in ("http_proxy", "https_proxy")}
        shell = operations_page.Shell(self.machine, proxies)
        self.addCleanup(shell.close)
        times = self.follow(shell, has=("a mirror",), patience_s=_PATIENCE_S)
        commands = list(times)
        alert = next(number for number, command in enumerate(commands) if "ALERTS" in command)
        print("from the tree to the alert: %.0f s, of which packages %.0f s, and the alert %.0f s" %
              (sum(times[command] for command in commands[:alert + 1]),
               sum(seconds for command, seconds in times.items() if command.startswith("apt-get")),
               times[commands[alert]]))


if __name__ == "__main__":
    unittest.main()
