# SPDX-License-Identifier: Apache-2.0
"""A fleet: two daemons, two Prometheus agents that share them by deploy/prometheus/agent-shard.yml, and one Prometheus
that receives what both forward."""

import os
import shutil
import unittest

import programs
import prometheus
import site_layout

AGENTS = 2
# What Prometheus adds to a scrape: the labels of a target, and its own series of each target.
TARGET_LABELS = {"instance", "job", "rack"}
OF_TARGETS = ("up", "scrape_")
CREDENTIALS = ("ca.pem", "server.pem", "server.key", "operator.pem", "operator.key")


def agent_config(number, receiver_port):
    """The example, for this fleet."""
    with open(programs.runfile("deploy/prometheus/agent-shard.yml"), encoding="utf-8") as file:
        text = file.read()
    for example, own in (("scrape_interval: 15s", "scrape_interval: 1s"),
                         ('regex: "0"', 'regex: "%d"' % number),
                         ("https://metrics.example.org/", "http://127.0.0.1:%d/" % receiver_port)):
        if example not in text:
            raise AssertionError("agent-shard.yml has no more " + example)
        text = text.replace(example, own)
    scrape, write = text.split("remote_write:")
    return scrape + "remote_write:" + write.split("    tls_config:")[0]


@unittest.skipUnless(os.path.exists(prometheus.PROMETHEUS), prometheus.PROMETHEUS + " is not installed")
class FleetTest(unittest.TestCase):
    def setUp(self):
        self.sites = [self.add_site(), self.add_site()]
        for name in CREDENTIALS:  # one authority for the fleet
            shutil.copyfile(self.sites[0].path(name), self.sites[1].path(name))
        for site in self.sites:
            site.start()
        self.folder = self.sites[0].folder
        self.write("targets.yml", '- targets: ["%s"]\n  labels: {rack: r1}\n' % '", "'.join(self.instances()))
        self.write("receiver.yml", "global: {scrape_interval: 1s}\n")
        self.receiver = self.run_prometheus("receiver.yml", "--web.enable-remote-write-receiver", name="receiver")
        self.agents = []
        for number in range(AGENTS):
            self.write("agent-%d.yml" % number, agent_config(number, self.receiver.port))
            self.agents.append(self.run_prometheus("agent-%d.yml" % number, "--enable-feature=agent",
                                                   name="agent-%d" % number))

    def add_site(self):
        site = site_layout.Site(interval="500ms")
        self.addCleanup(site.close)
        return site

    def instances(self):
        return ["127.0.0.1:%d" % site.http_port for site in self.sites]

    def write(self, name, text):
        site_layout.write(self.folder, name, text)

    def run_prometheus(self, config, *options, name):
        started = prometheus.Prometheus(self.folder, config, *options, name=name)
        self.addCleanup(started.kill)
        return started

    def scraped_by(self, agent):
        data = agent.get("/api/v1/targets", state="active")
        return [target["labels"]["instance"] for target in data["activeTargets"]] if data else None

    def received(self, instance):
        """The series of one daemon, [(name, other labels)], without Prometheus' own."""
        found = []
        for labels, _ in self.receiver.query('{instance="%s"}' % instance):
            name = labels.pop("__name__")
            if not name.startswith(OF_TARGETS):
                found.append((name, frozenset(item for item in labels.items() if item[0] not in TARGET_LABELS)))
        return found

    def test_every_series_is_received_once(self):
        for site, instance in zip(self.sites, self.instances()):
            expected = set(site.metrics("operator"))
            # Those of the daemon's own requests appear with the requests.
            programs.wait_until(lambda: expected <= set(self.received(instance)), "all series of " + instance)
            found = self.received(instance)
            self.assertEqual(len(found), len(set(found)), "a series twice")
        scraped = [self.scraped_by(agent) for agent in self.agents]
        self.assertEqual(sorted(sum(scraped, [])), sorted(self.instances()), "each target has one agent")
        up = self.receiver.query("sum by (instance) (sideband_device_up)")
        self.assertEqual({labels["instance"]: value for labels, value in up}, {one: 1 for one in self.instances()})


if __name__ == "__main__":
    unittest.main()
