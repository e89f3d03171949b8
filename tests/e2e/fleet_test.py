# SPDX-License-Identifier: Apache-2.0
"""Fleets: two daemons, two Prometheus agents that share them by deploy/prometheus/agent-shard.yml, and one Prometheus
that receives what both forward; an agent that forwards two streams by agent-streams.yml; and the configurations and
queries of docs/fleet.md."""

import http.client
import http.server
import os
import re
import shutil
import signal
import ssl
import threading
import unittest

import programs
import prometheus
import site_layout

AGENTS = 2
# What Prometheus adds to a scrape: the labels of a target, and its own series of each target.
TARGET_LABELS = {"instance", "job", "rack"}
OF_TARGETS = ("up", "scrape_")
CREDENTIALS = ("ca.pem", "server.pem", "server.key", "operator.pem", "operator.key")


PAGE = "docs/fleet.md"
# What a remote write must have beside its body.
FORWARDED_FIELDS = ("Content-Encoding", "Content-Type", "X-Prometheus-Remote-Write-Version")


def replaced(text, *replacements):
    """The text of an example, with each (part, its replacement)."""
    for part, own in replacements:
        if part not in text:
            raise AssertionError("the example has no more " + part)
        text = text.replace(part, own)
    return text


def example(name):
    with open(programs.runfile("deploy/prometheus/" + name), encoding="utf-8") as file:
        return replaced(file.read(), ("scrape_interval: 15s", "scrape_interval: 1s"))


def agent_config(number, receiver_port):
    """The example, for this fleet."""
    text = replaced(example("agent-shard.yml"), ('regex: "0"', 'regex: "%d"' % number),
                    ("https://metrics.example.org/", "http://127.0.0.1:%d/" % receiver_port))
    scrape, write = text.split("remote_write:")
    return scrape + "remote_write:" + write.split("    tls_config:")[0]


def streams_config(gateway_port):
    """The example, with a store on this machine."""
    return replaced(example("agent-streams.yml"), ("//metrics.example.org/", "//127.0.0.1:%d/" % gateway_port))


def blocks(language):
    """The code blocks of the page in a language."""
    with open(programs.runfile(PAGE), encoding="utf-8") as file:
        return re.findall(r"^```%s\n(.*?)^```$" % language, file.read(), re.MULTILINE | re.DOTALL)


class Store(http.server.ThreadingHTTPServer):
    """A store of several tenant ids behind a gateway, which knows the tenant id of each certificate: a write goes to
    the Prometheus of its tenant id. `receivers` are {identity: (tenant id, port)}."""

    daemon_threads = True

    def __init__(self, site, receivers):
        super().__init__(("127.0.0.1", 0), Write)
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=site.path("ca.pem"))
        context.load_cert_chain(site.path("server.pem"), site.path("server.key"))
        context.verify_mode = ssl.CERT_REQUIRED
        self.socket = context.wrap_socket(self.socket, server_side=True)
        self.receivers = receivers
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def close(self):
        self.shutdown()
        self.server_close()


class Write(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        identity = dict(self.connection.getpeercert()["subjectAltName"])["URI"]
        tenant_id, port = self.server.receivers[identity]
        # Debian 12's Prometheus does not send the header.
        allowed = self.headers.get("X-Scope-OrgID", tenant_id) == tenant_id
        self.send_response(self._pass(port, body) if allowed else http.HTTPStatus.FORBIDDEN)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _pass(self, port, body):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=programs.PATIENCE_S)
        try:
            connection.request("POST", "/api/v1/write", body, {name: self.headers[name] for name in FORWARDED_FIELDS})
            return connection.getresponse().status
        finally:
            connection.close()

    def log_message(self, *_):
        pass


class FleetTestCase(unittest.TestCase):
    """Sites, and Prometheus servers in the folder of the first."""

    def add_site(self):
        site = site_layout.Site(interval="500ms")
        self.addCleanup(site.close)
        return site

    def share_credentials(self):
        """One authority for the fleet."""
        for name in CREDENTIALS:
            shutil.copyfile(self.sites[0].path(name), self.sites[1].path(name))

    def instances(self):
        return ["127.0.0.1:%d" % site.http_port for site in self.sites]

    def write(self, name, text):
        site_layout.write(self.folder, name, text)

    def write_targets(self):
        self.write("targets.yml", '- targets: ["%s"]\n  labels: {rack: r1}\n' % '", "'.join(self.instances()))

    def run_prometheus(self, config, *options, name):
        started = prometheus.Prometheus(self.folder, config, *options, name=name)
        self.addCleanup(started.kill)
        return started

    def run_receiver(self, name):
        self.write(name + ".yml", "global: {scrape_interval: 1s}\n")
        return self.run_prometheus(name + ".yml", "--web.enable-remote-write-receiver", name=name)

    def run_agent(self, name, config):
        self.write(name + ".yml", config)
        return self.run_prometheus(name + ".yml", "--enable-feature=agent", name=name)


@unittest.skipUnless(os.path.exists(prometheus.PROMETHEUS), prometheus.PROMETHEUS + " is not installed")
class FleetTest(FleetTestCase):
    def setUp(self):
        self.sites = [self.add_site(), self.add_site()]
        self.share_credentials()
        for site in self.sites:
            site.start()
        self.folder = self.sites[0].folder
        self.write_targets()
        self.receiver = self.run_receiver("receiver")
        self.agents = [self.run_agent("agent-%d" % number, agent_config(number, self.receiver.port))
                       for number in range(AGENTS)]

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
        self.queries_of_the_page_have_results()
        self.series_of_a_daemon_end_with_it()

    def queries_of_the_page_have_results(self):
        queries = blocks("promql")
        self.assertGreater(len(queries), 1)
        for query in queries:
            programs.wait_until(lambda one=query: self.receiver.query(one), "a result of " + query)

    def series_of_a_daemon_end_with_it(self):
        """Long before the five minutes for which Prometheus shows the last value of a series."""
        kept, ended = self.instances()
        self.assertEqual(self.sites[1].daemon.stop(), 0)
        programs.wait_until(lambda: [labels["instance"] for labels, _ in self.receiver.query("sideband_device_up")] ==
                            [kept], "the series of the daemon that stopped end")
        programs.wait_until(lambda: self.receiver.query('up{instance="%s"}' % ended)[0][1] == 0, "its scrape fails")


@unittest.skipUnless(os.path.exists(prometheus.PROMETHEUS), prometheus.PROMETHEUS + " is not installed")
class StreamsTest(FleetTestCase):
    """One site, scraped as the operator and as tenant A, who is acme in the example."""

    def setUp(self):
        self.sites = [self.add_site()]
        self.folder = self.sites[0].folder
        for suffix in (".pem", ".key"):
            shutil.copyfile(self.sites[0].path("tenant-a" + suffix), self.sites[0].path("acme" + suffix))
        self.sites[0].start()
        self.write_targets()

    def test_each_stream_has_its_tenant_id(self):
        receivers = {name: self.run_receiver(name) for name in ("operator", "acme")}
        identities = {"operator": "operator", "acme": "tenant-a"}
        store = Store(self.sites[0], {site_layout.TRUST + identities[name]: (name, receiver.port)
                                      for name, receiver in receivers.items()})
        self.addCleanup(store.close)
        self.run_agent("agent", streams_config(store.server_port))
        for name, receiver in receivers.items():
            programs.wait_until(lambda one=receiver: one.query("sideband_vm_info"), "the stream of " + name)
            found = receiver.query('{__name__!=""}')
            self.assertEqual({labels["job"] for labels, _ in found}, {"sideband-" + name})
            self.assertEqual({labels["cluster"] for labels, _ in found}, {"fleet-1"})
            self.assertEqual({labels["__replica__"] for labels, _ in found}, {"agent-0"})
        self.assertEqual(receivers["operator"].query("sideband_context_resident_cycles_total"), [])
        self.assertEqual(receivers["acme"].query("process_resident_memory_bytes"), [])
        self.assertEqual({labels["vm"] for labels, _ in receivers["acme"].query('{vm!=""}')}, {"vm1"})

    def names(self, name, scrape_configs):
        """The names that a configuration of the page stores, of Sideband."""
        self.write(name + ".yml", "global: {scrape_interval: 1s}\n" + scrape_configs)
        server = self.run_prometheus(name + ".yml", name=name)
        programs.wait_until(lambda: server.query("up == 1"), "a scrape")
        return {labels["__name__"] for labels, _ in server.query('{__name__=~"sideband_.*"}')}

    def test_configurations_of_the_page(self):
        reduced, narrowed = (self.names("page-%d" % number, block) for number, block in enumerate(blocks("yaml")))
        levels = {re.match(r"sideband_(?:vm|device|context|event|sample|(?:host|reference)_clock)", name)[0]
                  for name in narrowed}
        self.assertLessEqual(levels, {"sideband_vm", "sideband_device", "sideband_event", "sideband_sample",
                                      "sideband_host_clock", "sideband_reference_clock"})
        self.assertIn("sideband_vm_tensor_active_cycles_total", narrowed)
        self.assertNotIn("sideband_vm_sm_active_cycles_total", narrowed)
        self.assertNotIn("sideband_snapshots_total", narrowed)
        self.assertIn("sideband_vm_sm_active_cycles_total", reduced)
        self.assertEqual([name for name in reduced if re.search("_(vm|device|context)_.*_(created|ratio)$", name)], [])



@unittest.skipUnless(os.path.exists(prometheus.PROMETHEUS), prometheus.PROMETHEUS + " is not installed")
class DiscoveryTest(FleetTestCase):
    """Prometheus requests the targets from a daemon, by scrape-http-sd.yml."""

    def setUp(self):
        self.sites = [self.add_site(), self.add_site()]
        self.folder = self.sites[0].folder
        self.share_credentials()
        config = self.sites[0].read("sidebandd.yaml").decode()
        self.write("targets.yml", "[]\n")
        self.write("sidebandd.yaml", config + "targets_file: targets.yml\n")
        for site in self.sites:
            site.start()

    def run_discovery(self, site):
        for rules in ("recording.rules.yml", "alerts.rules.yml"):
            shutil.copyfile(programs.runfile("deploy/prometheus/" + rules), os.path.join(self.folder, rules))
        self.write("discovery.yml", replaced(example("scrape-http-sd.yml"), ("refresh_interval: 1m", "refresh_interval: 1s"),
                                             ("127.0.0.1:9877", "127.0.0.1:%d" % site.http_port)))
        return self.run_prometheus("discovery.yml", name="discovery")

    def wait_for_targets(self, server, instances):
        programs.wait_until(lambda: {one[0]["instance"] for one in server.query("up == 1")} == set(instances),
                            "targets %s" % instances)

    def test_the_configured_targets_are_scraped_and_follow_a_reload(self):
        self.write_targets()
        self.sites[0].daemon.signal(signal.SIGHUP)
        server = self.run_discovery(self.sites[0])
        self.wait_for_targets(server, self.instances())
        labels, _ = server.query("up")[0]
        self.assertEqual(labels["rack"], "r1")
        self.write("targets.yml", '- targets: ["%s"]\n' % self.instances()[1])
        self.sites[0].daemon.signal(signal.SIGHUP)
        self.wait_for_targets(server, self.instances()[1:])

    def test_without_a_file_the_daemon_lists_itself(self):
        server = self.run_discovery(self.sites[1])
        self.wait_for_targets(server, self.instances()[1:])


if __name__ == "__main__":
    unittest.main()
