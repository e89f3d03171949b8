# SPDX-License-Identifier: Apache-2.0
"""Each query of deploy/grafana has data, as the operator and as a tenant, in a Prometheus that evaluates the rules of
deploy/prometheus."""

import os
import re
import shutil
import socket
import sys
import time
import unittest

import programs
import prometheus
import site_layout
import tenant_client

sys.path.append(programs.runfile("tests/deploy"))
import boards  # noqa: E402

# {board: the user whose scrape it shows}
USERS = {"operator": "operator", "tenant": "tenant-a"}
RULES = ("recording.rules.yml", "alerts.rules.yml")
CONFIG = """global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}
rule_files: [recording.rules.yml, alerts.rules.yml]
scrape_configs:
  - job_name: sideband-%(user)s
    scheme: https
    static_configs: [{targets: ["127.0.0.1:%(port)d"], labels: {rack: r1}}]
    tls_config: {ca_file: ca.pem, cert_file: %(user)s.pem, key_file: %(user)s.key, min_version: TLS13}
"""
# As Grafana calculates them for a scrape interval of a second and a board of half a minute.
RANGE_S = 30
OF_GRAFANA = {"__rate_interval": "4s", "__range": "%ds" % RANGE_S}
LIST_OF_ALERTS = "Alerts"
# Open also while the hypervisor runs, so that its exits close nothing.
GATES = """
gate_groups: [{name: tensor, events: [tensor_active_cycles], host: true}]
host: {exit_every: 2ms, exit_time: 100us, seed: 11, phases: [{kind: copy, time: 1ms}]}
"""
LEGEND_LABEL = re.compile(r"\{\{(\w+)\}\}")


def copy_rules(site):
    """Before the first Prometheus of a site starts: it listens before it has read them."""
    for rules in RULES:
        shutil.copyfile(programs.runfile("deploy/prometheus/" + rules), site.path(rules))


class BoardOfSite:
    """A board beside a Prometheus that scrapes a site as the board's user. After copy_rules."""

    def __init__(self, site, name, user):
        self.board = boards.Board(programs.runfile("deploy/grafana/%s.json" % name))
        site_layout.write(site.folder, name + ".yml", CONFIG % {"user": user, "port": site.http_port})
        self.prometheus = prometheus.Prometheus(site.folder, name + ".yml", name=name)

    def options(self, variable, values):
        """The values that Grafana offers for a variable."""
        selector, label = boards.label_values(variable)
        match = {"match[]": boards.interpolate(selector, values)}
        return self.prometheus.get("/api/v1/label/%s/values" % label, **match)

    def selections(self):
        """Values of all variables: those with which the board opens, and with the first option of each chosen. None
        until each variable has an option."""
        everything, first = dict(OF_GRAFANA), dict(OF_GRAFANA)
        for name, variable in self.board.variables().items():
            options = self.options(variable, everything)
            if not options:
                return None
            several = variable["multi"]
            everything[name] = variable.get("allValue", options) if several else variable["current"]["value"]
            first[name] = options[:1] if several else options[0]
        return everything, first

    def result(self, target, values):
        """[labels] of the series that Grafana gets for a query."""
        query = {"query": boards.interpolate(target["expr"], values)}
        if target["instant"]:
            return [one["metric"] for one in self.prometheus.get("/api/v1/query", **query)["result"]]
        now = time.time()
        data = self.prometheus.get("/api/v1/query_range", start=now - RANGE_S, end=now, step=1, **query)
        return [one["metric"] for one in data["result"]]

    def empty(self, without=()):
        """[(panel, expression)] of the queries that have no data, or none with the labels of their legend."""
        selections = self.selections()
        if selections is None:
            return [("variables", "")]
        return [(title, boards.interpolate(target["expr"], values)) for values in selections
                for title, target in self.board.queries()
                if title not in without and not self.is_drawn(target, values)]

    def is_drawn(self, target, values):
        labels = set(LEGEND_LABEL.findall(target["legendFormat"]))
        return any(labels <= set(series) for series in self.result(target, values))

    def values(self, title):
        """[(labels, value)] of the first query of a panel, now."""
        target = next(target for panel, target in self.board.queries() if panel == title)
        return self.prometheus.query(boards.interpolate(target["expr"], self.selections()[0]))


def provoke(site):
    """Makes the daemon count what a quiet site has none of: gRPC calls, and a connection that is refused."""
    with tenant_client.Client(site, "tenant-a") as client:
        client.telemetry.ListDevices(tenant_client.messages().ListDevicesRequest())
    with socket.create_connection(("127.0.0.1", site.http_port), timeout=programs.PATIENCE_S) as plain:
        plain.sendall(b"GET / HTTP/1.1\r\n\r\n")
        plain.recv(1)


def start(add_cleanup, of_chip=""):
    """(a site, {name: its board}); `of_chip` is added to the chip file."""
    site = site_layout.Site(interval="500ms")
    add_cleanup(site.close)
    site_layout.write(site.folder, "chip.yaml", site.read("chip.yaml").decode() + of_chip)
    config = site.read("sidebandd.yaml").decode() + "audit: {file: audit.jsonl}\n"
    site_layout.write(site.folder, "sidebandd.yaml", config)
    site.start()
    provoke(site)
    copy_rules(site)
    found = {}
    for name, user in USERS.items():
        found[name] = BoardOfSite(site, name, user)
        add_cleanup(found[name].prometheus.kill)
    return site, found


@unittest.skipUnless(os.path.exists(prometheus.PROMETHEUS), prometheus.PROMETHEUS + " is not installed")
class DashboardsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.site, cls.boards = start(cls.addClassCleanup)

    def wait_for_data(self, board, without=()):
        try:
            programs.wait_until(lambda: not board.empty(without), "data for each query")
        except AssertionError:
            self.assertEqual(board.empty(without), [])

    def test_each_query_of_the_operator_has_data(self):
        # The certificates of the site expire within a day, so that there are alerts.
        self.wait_for_data(self.boards["operator"])

    def test_each_query_of_a_tenant_has_data(self):
        # A tenant has no alert on a healthy site: AwayTest has one.
        self.wait_for_data(self.boards["tenant"], without=(LIST_OF_ALERTS,))

    def test_a_healthy_site(self):
        operator, tenant = self.boards["operator"], self.boards["tenant"]
        self.wait_for_data(operator)
        self.wait_for_data(tenant, without=(LIST_OF_ALERTS,))
        for title, expected in (("Daemons not scraped", 0), ("Devices away", 0), ("Devices fresh", 1),
                                ("Counts add up", 1), ("Saturated counters", 0), ("Audit entries lost", 0)):
            self.assertEqual([value for _, value in operator.values(title)], [expected], title)
        for title, expected in (("Alerts firing", 0), ("Devices away", 0), ("VMs", 1), ("Contexts", 2),
                                ("Inexact rows", 0)):
            self.assertEqual([value for _, value in tenant.values(title)], [expected], title)
        shares = {labels["slice"]: value for labels, value in operator.values("Slices")}
        self.assertEqual(set(shares), {"0", "1"})
        self.assertTrue(all(0 < share <= 1 for share in shares.values()), shares)

    def test_each_event_of_a_tenant_is_drawn(self):
        """Also events that have no recording rule."""
        tenant = self.boards["tenant"]
        self.wait_for_data(tenant, without=(LIST_OF_ALERTS,))
        everything, _ = tenant.selections()
        events = tenant.options(tenant.board.variables()["event"], everything)
        self.assertIn("copy_engine_active_cycles", events)
        for event in events:
            for title, target in tenant.board.queries():
                if "$" in title or "${event}" in target["expr"]:
                    self.assertTrue(tenant.is_drawn(target, {**everything, "event": event}), (title, event))


@unittest.skipUnless(os.path.exists(prometheus.PROMETHEUS), prometheus.PROMETHEUS + " is not installed")
class GatedTest(unittest.TestCase):
    """A device with a gate group, which is closed for vm2 on slice 1, and with the hypervisor's work."""

    def setUp(self):
        self.site, found = start(self.addCleanup, GATES)
        self.operator, self.tenant = found["operator"], found["tenant"]
        result = programs.run("sideband", "--address", "127.0.0.1:%d" % self.site.grpc_port, "--ca-file", "ca.pem",
                              "--cert-file", "operator.pem", "--key-file", "operator.key", "counting", "set", "--vm",
                              "vm2", "--allow", "none", cwd=self.site.folder)
        self.assertEqual(result.returncode, 0, result.stderr)

    def by(self, label, title):
        return {labels.get(label): value for labels, value in self.operator.values(title)}

    def test_what_is_counted_in_a_part_of_the_time_is_no_share_of_the_whole(self):
        programs.wait_until(lambda: self.operator.selections() and
                            self.by("vm", "Coverage of gate groups").get("vm2", 1) < 1, "the gate is closed")
        programs.wait_until(lambda: set(self.by("slice", "Slices")) == {"0"}, "slice 1 has no utilisation")
        self.assertEqual(self.by("vm", "Coverage of gate groups")["vm1"], 1)
        self.assertEqual(set(self.by("vm", "VMs")), {"vm1"})
        counted = self.by("vm", "Utilisation by $event while counted")
        self.assertTrue(0 < counted["vm1"] <= 1, counted)
        without = self.by("slice", "Time of the slices without a VM")
        self.assertEqual(set(without), {"0", "1"})
        self.assertTrue(all(0 < share < 1 for share in without.values()), without)
        self.assertEqual(self.by("device", "Settings in force"), {"gpu0": 1})
        self.assertEqual(self.by("device", "Revision of what is counted"), {"gpu0": 2})

    def test_each_query_has_data(self):
        for board, without in ((self.operator, ()), (self.tenant, (LIST_OF_ALERTS,))):
            try:
                programs.wait_until(lambda one=board, less=without: not one.empty(less), "data for each query")
            except AssertionError:
                self.assertEqual(board.empty(without), [])


@unittest.skipUnless(os.path.exists(prometheus.PROMETHEUS), prometheus.PROMETHEUS + " is not installed")
class AwayTest(unittest.TestCase):
    def test_a_device_that_is_away_is_seen(self):
        site, found = start(self.addCleanup)
        for board in found.values():
            programs.wait_until(lambda one=board: one.selections() and one.values("Devices away") == [({}, 0)],
                                "the device answers")
        site.device.kill()
        for board in found.values():
            programs.wait_until(lambda one=board: one.values("Devices away") == [({}, 1)], "the device is away")
            alerts = programs.wait_until(lambda one=board: [
                labels for labels, _ in one.values(LIST_OF_ALERTS) if labels["alertname"] == "SidebandDeviceAway"],
                "the alert")
            self.assertEqual([(one["alertstate"], one["device"]) for one in alerts], [("pending", "gpu0")])


if __name__ == "__main__":
    unittest.main()
