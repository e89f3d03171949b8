# SPDX-License-Identifier: Apache-2.0
"""A board's sensors in a real Prometheus with the rules of deploy/prometheus: each query of the hardware dashboard has
data, what is damaged alerts, and docs/real-boards.md leads from a bus to a firing alert.

The board is deploy/examples/chip-board.yaml, which gets hot.
"""

import os
import re
import subprocess
import unittest

import board_test
import dashboards_test
import operations_page
import programs
import prometheus
import site_layout

PAGE = "docs/real-boards.md"
SECTION = "From a bus to a temperature alert"
ALERT = "SidebandTemperatureNearLimit"
DEVICES = re.compile(r"devices:\n(?:  - .*\n)+")
# Of the page, at places of the test.
HTTPS, PROMETHEUS = "127.0.0.1:9877", "127.0.0.1:9090"
# The end of commands that go on beside the others.
BACKGROUND = " &"


def quick(rules):
    """The rules with an alert that waits for seconds."""
    found = re.sub(r"(alert: %s\n.*?for:) 10m" % ALERT, r"\1 2s", rules, flags=re.DOTALL)
    assert found != rules
    return found


@unittest.skipUnless(os.path.exists(prometheus.PROMETHEUS), prometheus.PROMETHEUS + " is not installed")
class DashboardTest(unittest.TestCase):
    """The board is damaged as board_test says."""

    @classmethod
    def setUpClass(cls):
        cls.site = site_layout.Site("500ms")
        cls.addClassCleanup(cls.site.close)
        cls.site.device = board_test.serve(cls.site.folder)
        config = cls.site.read("sidebandd.yaml").decode().replace("500ms}", "500ms, board: {mailbox: exclusive}}")
        site_layout.write(cls.site.folder, "sidebandd.yaml", config)
        cls.site.start_daemon()
        cls.dashboard = dashboards_test.BoardOfSite(cls.site, "hardware", "operator")
        cls.addClassCleanup(cls.dashboard.prometheus.kill)

    def alerts(self):
        return {labels["alertname"]: labels for labels, _ in
                self.dashboard.prometheus.query('ALERTS{alertstate="firing",device="gpu0"}')}

    def test_each_query_has_data(self):
        try:
            programs.wait_until(lambda: not self.dashboard.empty(), "data for each query")
        except AssertionError:
            self.assertEqual(self.dashboard.empty(), [])

    def test_what_is_seen_at_once(self):
        programs.wait_until(lambda: not self.dashboard.empty(), "data for each query")
        for title, expected in (("Boards", 1), ("Boards to reset", 1), ("Errors not corrected", 0), ("NVLinks down", 1)):
            self.assertEqual([value for _, value in self.dashboard.values(title)], [expected], title)
        links = {labels["link"]: value for labels, value in self.dashboard.values("NVLinks")}
        self.assertEqual(links, {"0": 1, "1": 1, "2": 0, "3": 1})
        (_, headroom), = self.dashboard.values("Least headroom")
        self.assertLess(headroom, 82 - 28)

    def test_each_rule_is_evaluated(self):
        """Labels that do not match one to one are errors that only series show."""
        programs.wait_until(lambda: not self.dashboard.empty(), "data for each query")
        rules = [rule for group in self.dashboard.prometheus.get("/api/v1/rules")["groups"] for rule in group["rules"]]
        self.assertGreater(len(rules), 50)
        self.assertEqual([(rule["name"], rule.get("lastError")) for rule in rules if rule["health"] != "ok"], [])

    def test_what_is_damaged_alerts(self):
        alerts = programs.wait_until(lambda: "SidebandRowRemapPending" in self.alerts() and self.alerts(), "an alert")
        self.assertEqual(alerts["SidebandRowRemapPending"]["severity"], "warning")
        # The link was down before the first scrape, as one that is not wired; the errors are old.
        self.assertEqual(set(alerts) & {"SidebandNvlinkDown", "SidebandEccUncorrected", "SidebandResetRequired"}, set())


class Page:
    """The section of the page: its YAML, and its commands with what they print."""

    def __init__(self):
        with open(programs.runfile(PAGE), encoding="utf-8") as page:
            blocks = [(language, lines) for section, language, lines in operations_page.blocks(page.read())
                      if section == SECTION]
        self.devices = next("\n".join(lines) + "\n" for language, lines in blocks if language == "yaml")
        self.steps = []
        for line in (line for language, lines in blocks if language == "console" for line in lines):
            if line.startswith("$ "):
                self.steps.append((line[2:], []))
            else:
                self.steps[-1][1].append(line)


@unittest.skipUnless(os.path.exists(prometheus.PROMETHEUS), prometheus.PROMETHEUS + " is not installed")
class PageTest(unittest.TestCase):
    def setUp(self):
        self.page = Page()
        self.site = site_layout.Site()
        self.addCleanup(self.site.close)
        self.write_site()

    def write_site(self):
        config = DEVICES.sub(lambda _: self.page.devices, self.site.read("sidebandd.yaml").decode())
        site_layout.write(self.site.folder, "sidebandd.yaml", config)
        for name in ("recording.rules.yml", "alerts.rules.yml", "scrape-mtls.yml"):
            with open(programs.runfile("deploy/prometheus/" + name), encoding="utf-8") as file:
                text = file.read()
            site_layout.write(self.site.folder, name, quick(text) if name.startswith("alerts") else text)

    def start(self):
        self.site.device = board_test.serve(self.site.folder, faults=None)
        self.site.daemon_command = ("sideband", "i2cdev", "--bus", "3=unix:gpu0.sock", "--",
                                    programs.program_path("sidebandd"), "--config", "sidebandd.yaml")
        self.site.start_daemon()
        scrape = self.site.read("scrape-mtls.yml").decode().replace("15s", "1s")
        self.assertIn(HTTPS, scrape)
        site_layout.write(self.site.folder, "scrape-mtls.yml",
                          scrape.replace(HTTPS, "127.0.0.1:%d" % self.site.http_port))
        self.prometheus = prometheus.Prometheus(self.site.folder, "scrape-mtls.yml")
        self.addCleanup(self.prometheus.kill)

    def run_command(self, command):
        """The lines that a command of the page prints."""
        command = command.replace(HTTPS, "127.0.0.1:%d" % self.site.http_port)
        command = command.replace(PROMETHEUS, "127.0.0.1:%d" % self.prometheus.port)
        places = {"PATH": "%s:/usr/sbin:/usr/bin:/bin" % prometheus.FOLDER}
        result = programs.run("sideband", "i2cdev", "--bus", "3=unix:gpu0.sock", "--", "/bin/bash", "-c", command,
                              cwd=self.site.folder, environment=places)
        return result.stdout.splitlines()

    def test_the_page(self):
        self.start()
        followed = []
        for command, shown in self.page.steps:
            if command.endswith(BACKGROUND):
                continue
            programs.wait_until(lambda c=command, s=shown: operations_page.matches(s, self.run_command(c)),
                                "%s prints %s" % (command, shown))
            followed.append(command)
        self.assertGreater(len(followed), 4)
        self.assertTrue(any(ALERT in command for command in followed))
        self.assertEqual([labels["alertstate"] for labels, _ in self.prometheus.query('ALERTS{alertname="%s"}' % ALERT)],
                         ["firing"])


if __name__ == "__main__":
    unittest.main()
