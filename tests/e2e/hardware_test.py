# SPDX-License-Identifier: Apache-2.0
"""A board's sensors in a real Prometheus with the rules of deploy/prometheus: each query of the hardware dashboard has
data, damages alert, and docs/real-boards.md leads from a bus to a firing alert.

The board is deploy/examples/chip-board.yaml, which gets hot.
"""

import os
import re
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
# {alert: for how long its condition has to hold}
QUICK = {ALERT: "10m", "SidebandNvlinkDown": "1m"}
# More damages than board_test's, and the alerts on all.
DAMAGES = board_test.FAULTS + """
  - {fault: sram_threshold, at: 1}
  - {fault: row_remap, at: 1, failed: true}
  - {fault: nvlink_errors, at: 1, link: 3, error: recovery}
  - {fault: pcie_errors, at: 1, error: fatal}
  - {fault: reset_required, at: 1}
  - {fault: drain, at: 1}
"""
ALERTS_ON_DAMAGES = {
    "SidebandEccUncorrected", "SidebandEccThresholdExceeded", "SidebandRowRemapPending", "SidebandRowRemapFailed",
    "SidebandNvlinkDown", "SidebandNvlinkErrors", "SidebandPcieErrors", "SidebandResetRequired",
    "SidebandDrainRecommended"}
# Some sensors are read each half minute.
SENSORS_S = 90
DEVICES = re.compile(r"devices:\n(?:  - .*\n)+")
# Of the page, at places of the test.
HTTPS, PROMETHEUS = "127.0.0.1:9877", "127.0.0.1:9090"
# The end of commands that go on beside the others.
BACKGROUND = " &"


def quick(rules):
    """The rules with alerts that wait for seconds."""
    for alert, time in QUICK.items():
        found = re.sub(r"(alert: %s\n.*?for:) %s" % (alert, time), r"\1 2s", rules, count=1, flags=re.DOTALL)
        assert found != rules, alert
        rules = found
    return rules


def start_prometheus(site):
    """A Prometheus with the examples of deploy/prometheus that scrapes the site each second."""
    for name in ("recording.rules.yml", "alerts.rules.yml", "scrape-mtls.yml"):
        with open(programs.runfile("deploy/prometheus/" + name), encoding="utf-8") as file:
            text = file.read()
        site_layout.write(site.folder, name, quick(text) if name.startswith("alerts") else text)
    scrape = site.read("scrape-mtls.yml").decode()
    assert HTTPS in scrape
    site_layout.write(site.folder, "scrape-mtls.yml",
                      scrape.replace(HTTPS, "127.0.0.1:%d" % site.http_port).replace("15s", "1s"))
    return prometheus.Prometheus(site.folder, "scrape-mtls.yml")


def start_board(site, faults):
    """The site's device, as board_test serves it, and the daemon with its sensors."""
    site.device = board_test.serve(site.folder, faults)
    config = site.read("sidebandd.yaml").decode().replace("500ms}", "500ms, board: {mailbox: exclusive}}")
    site_layout.write(site.folder, "sidebandd.yaml", config)
    site.start_daemon()


@unittest.skipUnless(os.path.exists(prometheus.PROMETHEUS), prometheus.PROMETHEUS + " is not installed")
class DashboardTest(unittest.TestCase):
    """The board is damaged as board_test says."""

    @classmethod
    def setUpClass(cls):
        cls.site = site_layout.Site("500ms")
        cls.addClassCleanup(cls.site.close)
        start_board(cls.site, board_test.FAULTS)
        dashboards_test.copy_rules(cls.site)
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
        for title, expected in (("Boards", 1), ("Boards to reset", 1), ("Errors not corrected", 0),
                                ("NVLinks down", 1)):
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


@unittest.skipUnless(os.path.exists(prometheus.PROMETHEUS), prometheus.PROMETHEUS + " is not installed")
class DamageTest(unittest.TestCase):
    """A board is damaged after Prometheus has seen it whole."""

    def setUp(self):
        self.site = site_layout.Site("500ms")
        self.addCleanup(self.site.close)
        start_board(self.site, faults=None)
        self.prometheus = start_prometheus(self.site)
        self.addCleanup(self.prometheus.kill)

    def alerts(self, state):
        return {labels["alertname"] for labels, _ in self.prometheus.query('ALERTS{alertstate=~"%s"}' % state)}

    def test_each_damage_alerts(self):
        programs.wait_until(lambda: self.prometheus.query("sideband_nvlink_up"),
                            "the links are seen")
        programs.wait_until(lambda: self.prometheus.query("sideband_row_remap_state"), "the memory is seen")
        self.assertEqual(self.alerts("firing|pending") & ALERTS_ON_DAMAGES, set())
        self.site.device.kill()
        self.site.device = board_test.serve(self.site.folder, DAMAGES)
        programs.wait_until(lambda: self.alerts("firing") >= ALERTS_ON_DAMAGES,
                            "the alerts %s" % sorted(ALERTS_ON_DAMAGES), seconds=SENSORS_S)


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

    def start(self):
        config = DEVICES.sub(lambda _: self.page.devices, self.site.read("sidebandd.yaml").decode())
        site_layout.write(self.site.folder, "sidebandd.yaml", config)
        self.site.device = board_test.serve(self.site.folder, faults=None)
        self.site.daemon_command = ("sideband", "i2cdev", "--bus", "3=unix:gpu0.sock", "--",
                                    programs.program_path("sidebandd"), "--config", "sidebandd.yaml")
        self.site.start_daemon()
        self.prometheus = start_prometheus(self.site)
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
        alerts = self.prometheus.query('ALERTS{alertname="%s"}' % ALERT)
        self.assertEqual([labels["alertstate"] for labels, _ in alerts], ["firing"])


if __name__ == "__main__":
    unittest.main()
