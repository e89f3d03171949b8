#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The cost of sidebandd on its host: processor time and memory, with real programs on a virtual bus.

    bazel build //daemon:sidebandd //secure_mcu:sideband-mcu && tests/lab/bench/daemon_cost.py [--seconds 20]

A device of 8 VMs is read once a second, first without scrapes, then with one scrape a second by each VM's tenant, as
OpenMetrics in gzip. Prints a line of the benchmarks' table for each number.
"""

import argparse
import http.client
import os
import pathlib
import signal
import ssl
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/e2e"))
import certificates  # noqa: E402

VMS = 8
EVENTS = 64
PATIENCE_S = 60
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
TRUST = "spiffe://bench.sideband/"

DEVICE = """device: {uuid: 5b0f6a2e-7c64-4d0c-9d7e-2f1a90c3e004, serial: SB-EMU-0004, part_number: SIDEBAND-BENCH, clock_hz: 1400000000}
slices: 8
pipeline: {trigger_period: 140000000, commit_period: 140000000, hypervisor_commit_period: 140000000}
quantum: 50ms
"""
DAEMON = """devices: [{name: gpu0, bus: "unix:gpu0.sock@0x4f", interval: 1s}]
grpc: {listen: "127.0.0.1:0", tls_server_config: {cert_file: server.pem, key_file: server.key, client_ca_file: ca.pem}}
http: {listen: "127.0.0.1:0", tls_server_config: {cert_file: server.pem, key_file: server.key, client_ca_file: ca.pem}}
policy_file: policy.yaml
ports_file: ports
audit: {file: audit.jsonl}
"""


def uuid(vm):
    return "5b0f6a2e-7c64-4d0c-9d7e-2f1a90c3e4%02d" % vm


def chip(contexts):
    """A chip file of 64 events, in units of up to 45."""
    names = ["unit%d_event%d_cycles" % (i // 32, i) for i in range(EVENTS)]
    units = "".join("  - {name: unit%d, events: [%s]}\n" % (u, ", ".join(names[32 * u:32 * u + 32])) for u in range(2))
    vms = ""
    for vm in range(VMS):
        vms += "  - name: guest%d\n    uuid: %s\n    contexts:\n" % (vm, uuid(vm))
        vms += "".join("      - {name: context%d, slice: %d, seed: %d, phases: [{kind: gemm, time: 3ms}]}\n" %
                       (c, vm, vm * 1000 + c + 1) for c in range(contexts))
    return DEVICE + "units:\n" + units + "vms:\n" + vms


def policy():
    return "version: 1\ntenants:\n" + "".join(
        '  - {name: t%d, identities: ["%st%d"], vms: [{uuid: %s}]}\n' % (vm, TRUST, vm, uuid(vm)) for vm in range(VMS))


def lay_out(folder, contexts):
    authority = certificates.Authority(folder)
    authority.issue("server")
    for vm in range(VMS):
        authority.issue("t%d" % vm, uri=TRUST + "t%d" % vm)
    for name, text in (("chip.yaml", chip(contexts)), ("policy.yaml", policy()), ("sidebandd.yaml", DAEMON)):
        pathlib.Path(folder, name).write_text(text, encoding="utf-8")


def wait_for(condition, what):
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > deadline:
            raise SystemExit("daemon_cost: not within %d s: %s" % (PATIENCE_S, what))
        time.sleep(0.05)


class Tenant:
    """A scraper with a persistent connection."""

    def __init__(self, folder, vm, port):
        context = ssl.create_default_context(cafile=folder + "/ca.pem")
        context.load_cert_chain(folder + "/t%d.pem" % vm, folder + "/t%d.key" % vm)
        self._connection = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=PATIENCE_S)

    def scrape(self):
        self._connection.request("GET", "/metrics", headers={
            "Accept": "application/openmetrics-text;version=1.0.0", "Accept-Encoding": "gzip"})
        response = self._connection.getresponse()
        if response.status != 200:
            raise SystemExit("daemon_cost: a scrape was answered with %d" % response.status)
        return len(response.read())


def processor_seconds(pid):
    fields = pathlib.Path("/proc/%d/stat" % pid).read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_S


def memory_mib(pid, field):
    for line in pathlib.Path("/proc/%d/status" % pid).read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) / 1024
    raise KeyError(field)


def share_of_core(pid, seconds, work=None):
    """The used share of one core, while `work` is called once a second."""
    start, before = time.monotonic(), processor_seconds(pid)
    while time.monotonic() < start + seconds:
        if work is not None:
            work()
        time.sleep(max(0, 1 - (time.monotonic() - start) % 1))
    return (processor_seconds(pid) - before) / (time.monotonic() - start)


def row(name, value, unit, note=""):
    print(("%-68s %10.3f %-11s %s" % (name, value, unit, note)).rstrip(), flush=True)


def measure(folder, contexts, seconds, programs):
    lay_out(folder, contexts)
    series = (VMS * (contexts + 1) + 1) * EVENTS
    device = subprocess.Popen([programs / "secure_mcu/sideband-mcu", "serve", "--chip", "chip.yaml", "--bus",
                               "unix:gpu0.sock"], cwd=folder, stdout=subprocess.DEVNULL)
    try:
        wait_for(lambda: os.path.exists(folder + "/gpu0.sock"), "the device's bus")
        daemon = subprocess.Popen([programs / "daemon/sidebandd", "--config", "sidebandd.yaml"], cwd=folder,
                                  stdout=subprocess.DEVNULL)
        try:
            wait_for(lambda: os.path.exists(folder + "/ports"), "the ports file")
            ports = dict(line.split(": ") for line in pathlib.Path(folder, "ports").read_text().splitlines())
            tenants = [Tenant(folder, vm, int(ports["http"])) for vm in range(VMS)]
            wait_for(lambda: all(tenant.scrape() > 5000 for tenant in tenants), "the first snapshot")
            report(daemon.pid, series, seconds, tenants)
        finally:
            daemon.send_signal(signal.SIGTERM)
            daemon.wait(PATIENCE_S)
    finally:
        device.kill()
        device.wait()


def report(pid, series, seconds, tenants):
    name = "sidebandd: {:,} series at 1 Hz, ".format(series)
    row(name + "without scrapes", 100 * share_of_core(pid, seconds), "% of a core")
    half = seconds / 2
    share = share_of_core(pid, half, lambda: [tenant.scrape() for tenant in tenants])
    resident = memory_mib(pid, "VmRSS")
    share += share_of_core(pid, half, lambda: [tenant.scrape() for tenant in tenants])
    row(name + "each scraped once a second", 100 * share / 2, "% of a core")
    row(name + "peak memory", memory_mib(pid, "VmHWM"), "MiB",
        "resident %.1f, %.1f MiB %d s before" % (memory_mib(pid, "VmRSS"), resident, half))


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--seconds", type=int, default=20, help="of each measurement (default %(default)s)")
    arguments.add_argument("--programs", type=pathlib.Path, default=ROOT / "bazel-bin", help="where they are built")
    options = arguments.parse_args()
    for contexts in (19, 195):
        with tempfile.TemporaryDirectory(prefix="sb-") as folder:
            measure(folder, contexts, options.seconds, options.programs.resolve())


if __name__ == "__main__":
    main()
