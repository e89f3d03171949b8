# SPDX-License-Identifier: Apache-2.0
"""The pages of operators under a systemd on this system's files: every command, except those that need a mirror.
Prometheus is the package's, as `./dev test` unpacks it. Root only; operations_full_test takes a fresh Debian tree."""

import os
import unittest

import machine
import operations_page
import operations_site
import programs
import prometheus

# The alert waits for seconds instead of minutes, and Prometheus looks each second.
_QUICK = {"cp scrape-mtls.yml":
          "sed -i '/SidebandDeviceAway/,/for:/s/for: 2m/for: 3s/' /etc/prometheus/alerts.rules.yml; "
          "sed -i 's/15s/1s/' /etc/prometheus/prometheus.yml"}
# What the package's maintainer scripts would do.
_PROMETHEUS_USER = 'u prometheus - "" /var/lib/prometheus\n'
_PROMETHEUS_FOLDERS = "d /var/lib/prometheus 0755 prometheus prometheus\nd /etc/prometheus\n"


def prometheus_files():
    """The package's, as files of the machine."""
    root = os.path.dirname(os.path.dirname(prometheus.FOLDER))
    places = {"/usr/bin/prometheus": "usr/bin/prometheus", "/usr/bin/promtool": "usr/bin/promtool",
              "/etc/default/prometheus": "etc/default/prometheus"}
    # Debian 13 has the unit below /usr.
    usr = "usr/" if os.path.exists(os.path.join(root, "usr/lib/systemd/system/prometheus.service")) else ""
    places["/usr/lib/systemd/system/prometheus.service"] = usr + "lib/systemd/system/prometheus.service"
    return {"/usr/lib/sysusers.d/prometheus.conf": _PROMETHEUS_USER,
            "/usr/lib/tmpfiles.d/prometheus.conf": _PROMETHEUS_FOLDERS,
            **{path: os.path.join(root, place).encode() for path, place in places.items()}}


class PageTest(unittest.TestCase):
    def test_blocks_have_a_language(self):
        found = {language for _, language, _ in operations_page.blocks(operations_site.read_pages())}
        self.assertLessEqual(found, {"sh", "console", "text", "yaml", "ini"})

    def test_commands_that_are_not_run(self):
        marked = [step.text for step in operations_page.steps(operations_site.read_pages()) if step.needs]
        self.assertEqual(marked, ["apt-get update",
                                  "apt-get install --yes --no-install-recommends curl openssl prometheus"])

    def test_no_arrangement_without_its_command(self):
        self.assertEqual(operations_site.without_command(), [])


class OperationsTest(operations_site.PageTestCase):
    def setUp(self):
        super().setUp()
        why_not = machine.why_not()
        if why_not:
            self.skipTest(why_not)
        if not os.path.exists(prometheus.PROMETHEUS):
            self.skipTest("Prometheus is not installed")
        folder = programs.temporary_folder(self.addCleanup)
        self.machine = machine.Machine(folder, {**operations_site.packages(), **prometheus_files()})
        self.addCleanup(self.machine.close)
        # In containers it forbids that packages start or stop services.
        self.machine.checked("rm", "-f", "/usr/sbin/policy-rc.d")
        self.machine.checked("systemd-sysusers", "prometheus.conf")
        self.machine.checked("systemd-tmpfiles", "--create", "prometheus.conf")
        self.machine.checked("systemctl", "daemon-reload")

    def test_every_command(self):
        shell = operations_page.Shell(self.machine)
        self.addCleanup(shell.close)
        self.follow(shell, after=_QUICK)


if __name__ == "__main__":
    unittest.main()
