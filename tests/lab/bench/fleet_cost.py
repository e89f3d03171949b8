#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What a device costs a fleet: series and bytes of a scrape, and the resources of those who forward and store it.

    bazel build //daemon:sidebandd //secure_mcu:sideband-mcu && tests/lab/bench/fleet_cost.py

Real programs: an emulated device, sidebandd, a Prometheus agent that scrapes as the operator and as the tenant of each
VM, and a Prometheus that receives what the agent forwards. Prints a line of the benchmarks' table for each number;
docs/fleet.md quotes them. Takes five minutes. Prometheus is sought in SIDEBAND_PROMETHEUS and /usr/bin.
"""

import argparse
import collections
import contextlib
import http.client
import json
import os
import pathlib
import re
import signal
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.parse
import zlib

import yaml

import daemon_cost
from daemon_cost import ROOT, TRUST, processor_seconds, row, wait_for

EXAMPLES = ROOT / "deploy/examples"
PROMETHEUS = os.path.join(os.environ.get("SIDEBAND_PROMETHEUS") or "/usr/bin", "prometheus")
# The series whose number depends on the events, but for those of estimates: an event has none before its first turn.
OF_EVENTS = re.compile(r"sideband_((device|vm|context)_(?!event_)\w+_(cycles_total|ratio)|event_\w+)\{")
TEXT, OPEN_METRICS = "text/plain", "application/openmetrics-text;version=1.0.0"
MILLION = 1e6

DAEMON = daemon_cost.DAEMON.replace("interval: 1s", "interval: %ds")
AGENT = """global: {scrape_interval: %(interval)ds, scrape_timeout: %(interval)ds}
remote_write: [{url: "http://127.0.0.1:%(receiver)d/api/v1/write"}]
scrape_configs:
"""
JOB = """  - job_name: sideband-%(user)s
    scheme: https
    static_configs: [{targets: ["127.0.0.1:%(port)d"]}]
    tls_config: {ca_file: ca.pem, cert_file: %(user)s.pem, key_file: %(user)s.key, min_version: TLS13}
    metric_relabel_configs: [{source_labels: [__name__], regex: "(sideband|process)_.*_created", action: drop}]
"""


class Process:
    """A program that ends with the measurement."""

    def __init__(self, stack, folder, name, *command):
        self.log = pathlib.Path(folder, name + ".log")
        with open(self.log, "wb") as log:
            self._process = subprocess.Popen(["/usr/bin/setpriv", "--pdeathsig", "KILL", "--", *map(str, command)],
                                             cwd=folder, stdout=log, stderr=log)
        self.pid = self._process.pid
        stack.callback(self.end)

    def end(self):
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(daemon_cost.PATIENCE_S)

    def check(self):
        if self._process.poll() is not None:
            raise SystemExit("fleet_cost: %s ended:\n%s" % (self.log.stem, self.log.read_text()))
        return True

    def resident_mib(self):
        return daemon_cost.memory_mib(self.pid, "VmRSS")


class Prometheus(Process):
    def __init__(self, stack, folder, name, *options):
        super().__init__(stack, folder, name, PROMETHEUS, "--config.file=%s.yml" % name,
                         "--web.listen-address=127.0.0.1:0", *options)
        wait_for(self._listening, "Prometheus listens")

    def _listening(self):
        self.check()
        found = re.search(r'msg="Listening on" address=127\.0\.0\.1:(\d+)', self.log.read_text())
        self.port = found and int(found[1])
        return found

    def request(self, method, path):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=daemon_cost.PATIENCE_S)
        try:
            connection.request(method, path)
            return connection.getresponse().read().decode()
        finally:
            connection.close()

    def own(self, metric):
        """The sum of one of its own metrics."""
        found = re.findall(r"^%s(?:\{.*\})? (\S+)$" % metric, self.request("GET", "/metrics"), re.MULTILINE)
        return sum(map(float, found))

    def query(self, expression):
        text = self.request("GET", "/api/v1/query?" + urllib.parse.urlencode({"query": expression}))
        return [(one["metric"], float(one["value"][1])) for one in json.loads(text)["data"]["result"]]


class Site:
    """A device, its daemon, an operator, and a tenant for each VM."""

    def __init__(self, stack, programs, chip, interval):
        self.folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="sb-"))
        self.chip = yaml.safe_load(chip)
        self.users = ["operator"] + ["t%d" % number for number in range(len(self.chip["vms"]))]
        self._lay_out(chip, interval)
        Process(stack, self.folder, "device", programs / "secure_mcu/sideband-mcu", "serve", "--chip", "chip.yaml",
                "--bus", "unix:gpu0.sock")
        wait_for(lambda: os.path.exists(self.folder + "/gpu0.sock"), "the device's bus")
        self.daemon = Process(stack, self.folder, "daemon", programs / "daemon/sidebandd", "--config", "sidebandd.yaml")
        wait_for(lambda: self.daemon.check() and os.path.exists(self.folder + "/ports"), "the ports file")
        self.port = int(re.search(r"http: (\d+)", pathlib.Path(self.folder, "ports").read_text())[1])
        # Utilisations need two snapshots.
        wait_for(lambda: "_ratio{" in self.scrape("t0", TEXT)[0], "two snapshots")

    def _lay_out(self, chip, interval):
        authority = daemon_cost.certificates.Authority(self.folder)
        authority.issue("server")
        for user in self.users:
            authority.issue(user, uri=TRUST + user)
        tenants = "".join('  - {name: %s, identities: ["%s%s"], vms: [{uuid: %s}]}\n' % (user, TRUST, user, vm["uuid"])
                          for user, vm in zip(self.users[1:], self.chip["vms"]))
        operators = 'operators: [{name: operator, identities: ["%soperator"]}]\n' % TRUST
        policy = "version: 1\n" + operators + "tenants:\n" + tenants
        for name, text in (("chip.yaml", chip), ("policy.yaml", policy), ("sidebandd.yaml", DAEMON % interval)):
            pathlib.Path(self.folder, name).write_text(text, encoding="utf-8")

    def scrape(self, user, accept):
        """(the text, its bytes in gzip)"""
        context = ssl.create_default_context(cafile=self.folder + "/ca.pem")
        context.load_cert_chain(self.folder + "/%s.pem" % user, self.folder + "/%s.key" % user)
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, context=context,
                                                 timeout=daemon_cost.PATIENCE_S)
        try:
            connection.request("GET", "/metrics", headers={"Accept": accept, "Accept-Encoding": "gzip"})
            zipped = connection.getresponse().read()
            return zlib.decompress(zipped, 31).decode(), len(zipped)
        finally:
            connection.close()

    def counts(self):
        """(events with resident_cycles, events of the device as a whole, slices, VMs, contexts)"""
        units = {event for unit in self.chip["units"] for event in unit["events"]}
        shared = {event for unit in self.chip.get("device_units", ()) for event in unit["events"]}
        contexts = sum(len(vm["contexts"]) for vm in self.chip["vms"])
        return len(units) + 1, len(shared), self.chip["slices"], len(self.chip["vms"]), contexts

    def has_confidential_vm(self):
        return any(vm.get("confidential") for vm in self.chip["vms"])


def by_formula(site, user):
    """docs/fleet.md's formula: the series of events in a scrape, where no VM is confidential and no event takes turns."""
    events, shared, slices, vms, contexts = site.counts()
    if user == "operator":
        return events * (2 * vms + slices + 3) + 4 * shared
    return events * (2 + 2 * (contexts // vms) + 1 + 1)


def report_scrape(name, site, user):
    text, zipped = site.scrape(user, TEXT)
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    events = sum(OF_EVENTS.match(line) is not None for line in lines)
    note = "%d of events and %d others" % (events, len(lines) - events)
    label = "%s, %s's scrape: " % (name, "a tenant" if user != "operator" else "the operator")
    row(label + "series", len(lines), "series", note)
    row(label + "text", len(text) / len(lines), "bytes", "a series; %.1f in gzip" % (zipped / len(lines)))
    text, zipped = site.scrape(user, OPEN_METRICS)
    row(label + "OpenMetrics", len(text) / len(lines), "bytes",
        "a series with its _created; %.1f in gzip" % (zipped / len(lines)))
    if not site.has_confidential_vm() and events != by_formula(site, user):
        raise SystemExit("fleet_cost: %d series of events, not %d" % (events, by_formula(site, user)))


def report_scrapes(name, chip, programs):
    with contextlib.ExitStack() as stack:
        site = Site(stack, programs, chip, interval=1)
        for user in site.users[:2]:
            report_scrape(name, site, user)


# What a second of forwarding costs: samples, seconds of a processor, and bytes; and MiB of memory.
Cost = collections.namedtuple("Cost", "series samples daemon_s agent_s receiver_s agent_mib receiver_mib sent_bytes")


class Forwarding:
    """An agent that scrapes a site as all its users, and a receiver."""

    def __init__(self, stack, site, interval):
        self.site = site
        self._idle = self._share_of_daemon(2 * interval)
        self._write("receiver.yml", "global: {scrape_interval: 15s}\n")
        self.receiver = Prometheus(stack, site.folder, "receiver", "--storage.tsdb.path=tsdb",
                                   "--web.enable-remote-write-receiver", "--web.enable-admin-api")
        jobs = "".join(JOB % {"user": user, "port": site.port} for user in site.users)
        self._write("agent.yml", AGENT % {"interval": interval, "receiver": self.receiver.port} + jobs)
        self.agent = Prometheus(stack, site.folder, "agent", "--enable-feature=agent", "--storage.agent.path=agent")
        wait_for(lambda: self.sent() > 0, "the first samples")
        wait_for(lambda: self.receiver.query("count(up == 1) >= %d" % len(site.users)), "a scrape of each user")

    def _write(self, name, text):
        pathlib.Path(self.site.folder, name).write_text(text, encoding="utf-8")

    def sent(self):
        return self.agent.own("prometheus_remote_storage_samples_total")

    def used(self):
        processes = (self.site.daemon, self.agent, self.receiver)
        return [processor_seconds(one.pid) for one in processes] + [
            self.sent(), self.agent.own("prometheus_remote_storage_bytes_total")]

    def _share_of_daemon(self, seconds):
        """The share of a core that the daemon uses without scrapes."""
        before = processor_seconds(self.site.daemon.pid)
        time.sleep(seconds)
        return (processor_seconds(self.site.daemon.pid) - before) / seconds

    def run(self, seconds):
        before, start = self.used(), time.monotonic()
        time.sleep(seconds)
        elapsed = time.monotonic() - start
        daemon_s, agent_s, receiver_s, samples, sent = (
            (now - then) / elapsed for now, then in zip(self.used(), before))
        if self.agent.own("prometheus_remote_storage_samples_failed_total"):
            raise SystemExit("fleet_cost: the receiver rejected samples")
        return Cost(self.agent.own("prometheus_agent_active_series"), samples, daemon_s - self._idle, agent_s,
                    receiver_s, self.agent.resident_mib(), self.receiver.resident_mib(), sent)

    def stored_bytes(self):
        """(of chunks, of the index) for a sample, and samples of a series, in a block of what was received."""
        name = json.loads(self.receiver.request("POST", "/api/v1/admin/tsdb/snapshot"))["data"]["name"]
        blocks = list(pathlib.Path(self.site.folder, "tsdb/snapshots", name).glob("*/meta.json"))
        stats = [json.loads(block.read_text())["stats"] for block in blocks]
        samples, series = (sum(one[key] for one in stats) for key in ("numSamples", "numSeries"))
        chunks = sum(path.stat().st_size for block in blocks for path in block.parent.glob("chunks/*"))
        index = sum((block.parent / "index").stat().st_size for block in blocks)
        return chunks / samples, index / series, samples / series


def forward(chip, programs, interval, seconds, then=lambda _: None):
    """The cost of forwarding all scrapes of a site."""
    with contextlib.ExitStack() as stack:
        site = Site(stack, programs, chip, interval)
        forwarding = Forwarding(stack, site, interval)
        cost = forwarding.run(seconds)
        report_cost(cost, site)
        then(forwarding)
        return cost


def report_cost(cost, site):
    name = "forwarding {:,.0f} series, {:,.0f} samples/s: ".format(cost.series, cost.samples)
    row(name + "sidebandd", 100 * cost.daemon_s, "% of a core", "%.1f MiB" % site.daemon.resident_mib())
    row(name + "agent", 100 * cost.agent_s, "% of a core", "%.1f MiB" % cost.agent_mib)
    row(name + "receiver", 100 * cost.receiver_s, "% of a core", "%.1f MiB" % cost.receiver_mib)
    row(name + "remote write", cost.sent_bytes / cost.samples, "bytes", "a sample")


def report_growth(small, large):
    """What more series cost, without what the programs cost in any case."""
    tens, millions = (large.series - small.series) / 10000, (large.samples - small.samples) / MILLION
    row("each million samples more: sidebandd", (large.daemon_s - small.daemon_s) / millions, "s", "of a core")
    row("each million samples more: agent", (large.agent_s - small.agent_s) / millions, "s", "of a core")
    row("each million samples more: receiver", (large.receiver_s - small.receiver_s) / millions, "s", "of a core")
    row("each 10,000 series more: agent", (large.agent_mib - small.agent_mib) / tens, "MiB", "resident")
    row("each 10,000 series more: receiver", (large.receiver_mib - small.receiver_mib) / tens, "MiB", "resident")


def report_storage(forwarding):
    chunks, index, length = forwarding.stored_bytes()
    row("stored in a block: chunks", chunks, "bytes", "a sample, %.0f samples of each series" % length)
    row("stored in a block: index", index, "bytes", "a series and block")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--seconds", type=int, default=60, help="of each measurement of two (default %(default)s)")
    arguments.add_argument("--storage-seconds", type=int, default=150, help="of the third (default %(default)s)")
    arguments.add_argument("--programs", type=pathlib.Path, default=ROOT / "bazel-bin", help="where they are built")
    options = arguments.parse_args()
    programs = options.programs.resolve()
    large = (EXAMPLES / "chip-large.yaml").read_text(encoding="utf-8")
    for name, chip in (("chip.yaml", (EXAMPLES / "chip.yaml").read_text(encoding="utf-8")), ("chip-large.yaml", large),
                       ("8 VMs x 19 contexts x 64 events", daemon_cost.chip(19))):
        report_scrapes(name, chip, programs)
    report_growth(forward(daemon_cost.chip(5), programs, 5, options.seconds),
                  forward(daemon_cost.chip(50), programs, 5, options.seconds))
    forward(large, programs, 1, options.storage_seconds, then=report_storage)


if __name__ == "__main__":
    main()
