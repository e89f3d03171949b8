#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The cost of sidebandd that reads 32 BMCs of 8 GPUs each, every 5 s, and what one BMC is asked for, beside a walk.

    bazel build //daemon:sidebandd && tests/lab/bench/bmc_fleet_cost.py [--seconds 60]

The BMCs are tests/bmc/mock_bmc.py with generated HGX boards, in this process. A walk reads each resource of the GPUs
once, as exporters do that know no reports; an exporter makes one for each scrape, here every 15 s. Prints a line of the
benchmarks' table for each number.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import board_fleet_cost
import daemon_cost
from daemon_cost import ROOT, TRUST, row, wait_for

sys.path.insert(0, str(ROOT / "tests/bmc"))
import mock_bmc  # noqa: E402
import mock_machine  # noqa: E402

GPUS = 8
SCRAPE_S = 15
SETTLE_S = 90  # identities, which are read once an hour
BMC = ('  - {name: bmc%d, url: "%s", ca_file: %s, user: sideband, password_file: bmc.password, '
       'devices: {name: "n%d-gpu{index}"}}\n')
POLICY = 'version: 1\noperators: [{name: operator, identities: ["%soperator"]}]\n' % TRUST
LINK = re.compile(rb'"@odata\.id": *"(/redfish/v1/(?:Chassis|Systems)/[^"#]*)')


class CountingBmc(mock_bmc.MockBmc):
    """Counts the bytes of its bodies, too."""

    sent = 0

    def serve(self, *request):
        answer = super().serve(*request)
        self.sent += len(answer.body)
        return answer


def lay_out(folder, bmcs):
    authority = daemon_cost.certificates.Authority(folder)
    authority.issue("server")
    authority.issue("operator", uri=TRUST + "operator")
    section = "bmcs:\n" + "".join(BMC % (n, bmc.url, bmc.ca_file, n) for n, bmc in enumerate(bmcs))
    rest = daemon_cost.DAEMON.split("\n", 1)[1]
    for name, text in (("policy.yaml", POLICY), ("sidebandd.yaml", section + rest), ("bmc.password", "mock\n")):
        pathlib.Path(folder, name).write_text(text, encoding="utf-8")
    os.chmod(folder + "/bmc.password", 0o600)


def walk(machine):
    """(requests, bytes) of all resources of chassis and systems, but logs."""
    clock = mock_machine.Clock()
    waiting, known, size = ["/redfish/v1/Chassis", "/redfish/v1/Systems"], set(), 0
    while waiting:
        path = waiting.pop()
        if path in known or "LogServices" in path:
            continue
        known.add(path)
        body = machine.get(path, clock)
        if body is not None:
            size += len(body)
            waiting += [link.decode().rstrip("/") for link in LINK.findall(body)]
    return len(known), size


def report(folder, pid, bmcs, seconds):
    up = re.compile(r"^sideband_device_up\{.*\} 1$", re.MULTILINE)
    wait_for(lambda: len(up.findall(board_fleet_cost.scrape(folder))) == len(bmcs) * GPUS, "each GPU")
    time.sleep(SETTLE_S)
    first = bmcs[0]
    requests, sent = len(first.requests), first.sent
    share = daemon_cost.share_of_core(pid, seconds)
    requests, sent = len(first.requests) - requests, first.sent - sent
    name = "sidebandd: %d BMCs of %d GPUs, every 5 s" % (len(bmcs), GPUS)
    series = sum(line[:1] not in ("", "#") for line in board_fleet_cost.scrape(folder).splitlines())
    row(name, 100 * share, "% of a core", "%d series" % series)
    row(name + ", resident", daemon_cost.memory_mib(pid, "VmRSS"), "MiB",
        "peak %.1f" % daemon_cost.memory_mib(pid, "VmHWM"))
    steps, size = walk(first.machine)
    per_minute = 60 / SCRAPE_S
    row("requests a minute to a BMC of %d GPUs" % GPUS, requests * 60 / seconds, "",
        "%d for a walk every %d s" % (steps * per_minute, SCRAPE_S))
    row("answers of a BMC of %d GPUs" % GPUS, sent * 60 / seconds / 1024, "KiB/min",
        "%.0f for a walk every %d s" % (size * per_minute / 1024, SCRAPE_S))


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--seconds", type=int, default=60, help="of the measurement (default %(default)s)")
    arguments.add_argument("--bmcs", type=int, default=32, help="(default %(default)s)")
    arguments.add_argument("--programs", type=pathlib.Path, default=ROOT / "bazel-bin", help="where they are built")
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory(prefix="sb-") as folder:
        bmcs = [CountingBmc(mock_machine.HgxMachine(GPUS), folder, name="bmc%d" % n).start()
                for n in range(options.bmcs)]
        lay_out(folder, bmcs)
        daemon = subprocess.Popen([options.programs.resolve() / "daemon/sidebandd", "--config", "sidebandd.yaml"],
                                  cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            wait_for(lambda: daemon.poll() is not None or os.path.exists(folder + "/ports"), "the ports file")
            report(folder, daemon.pid, bmcs, options.seconds)
        finally:
            daemon.terminate()
            daemon.wait(daemon_cost.PATIENCE_S)
            for bmc in bmcs:
                bmc.stop()


if __name__ == "__main__":
    main()
