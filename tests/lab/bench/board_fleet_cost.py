#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The cost of sidebandd on the host of 32 boards of today: processor time and memory, with real programs.

    bazel build //daemon:sidebandd //secure_mcu:sideband-mcu && tests/lab/bench/board_fleet_cost.py [--seconds 20]

Four virtual buses of eight boards each, deploy/examples/chip-board.yaml, whose base commands are read at an interval of
a second: once with 0.3 of the time of a bus of 100 kHz for all eight, as a real bus has it, and once for each board.
Prints a line of the benchmarks' table for each number. The emulators need most of a core; on a busy machine they fall
behind and no longer answer, and fewer boards can be measured.
"""

import argparse
import http.client
import os
import pathlib
import re
import ssl
import subprocess
import tempfile
import time

import daemon_cost
from daemon_cost import ROOT, TRUST, PATIENCE_S, row, wait_for

BUSES = 4
SHARE = 0.3  # of a bus of 100 kHz
FIRST_ADDRESS = 0x44
POLICY = 'version: 1\noperators: [{name: operator, identities: ["%soperator"]}]\n' % TRUST
# As a regular expression, of the daemon's count of transactions.
TRANSFERS = re.compile(r'^sideband_bus_transfers_total\{.*outcome="ok".*\} (\S+)$', re.MULTILINE)


def chip(number):
    """A board of its own: device and VMs have their own UUIDs."""
    text = (ROOT / "deploy/examples/chip-board.yaml").read_text(encoding="utf-8")
    return text.replace("2f1a90c3e", "2f1a90%02de" % number).replace("SB-EMU-0005", "SB-EMU-%04d" % number)


def devices(boards, share):
    lines = ["devices:"]
    for bus in range(BUSES):
        for board in range(boards):
            lines.append('  - {name: gpu%d, bus: "unix:bus%d.sock@0x%02x", bus_hz: 100000, interval: 1s, '
                         'board: {mailbox: exclusive, bus_share: %g}}' %
                         (bus * boards + board, bus, FIRST_ADDRESS + board, share))
    return "\n".join(lines) + "\n"


def lay_out(folder, boards, share):
    authority = daemon_cost.certificates.Authority(folder)
    authority.issue("server")
    authority.issue("operator", uri=TRUST + "operator")
    rest = daemon_cost.DAEMON.split("\n", 1)[1]
    for number in range(BUSES * boards):
        pathlib.Path(folder, "chip%d.yaml" % number).write_text(chip(number), encoding="utf-8")
    pathlib.Path(folder, "policy.yaml").write_text(POLICY, encoding="utf-8")
    pathlib.Path(folder, "sidebandd.yaml").write_text(devices(boards, share) + rest, encoding="utf-8")


def serve(programs, folder, boards, bus):
    chips = []
    for board in range(boards):
        chips += ["--chip", "chip%d.yaml@0x%02x" % (bus * boards + board, FIRST_ADDRESS + board)]
    return subprocess.Popen([programs / "secure_mcu/sideband-mcu", "serve", *chips, "--bus", "unix:bus%d.sock" % bus],
                            cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def scrape(folder):
    port = int(re.search(r"http: (\d+)", pathlib.Path(folder, "ports").read_text())[1])
    context = ssl.create_default_context(cafile=folder + "/ca.pem")
    context.load_cert_chain(folder + "/operator.pem", folder + "/operator.key")
    connection = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=PATIENCE_S)
    try:
        connection.request("GET", "/metrics", headers={"Accept": "text/plain"})
        return connection.getresponse().read().decode()
    finally:
        connection.close()


def transfers(folder):
    return sum(float(count) for count in TRANSFERS.findall(scrape(folder)))


def report(folder, pid, boards, seconds, what):
    wait_for(lambda: scrape(folder).count("sideband_power_watts{") >= BUSES * boards, "a reading of each board")
    time.sleep(10)  # what is read once at the start
    before, start = transfers(folder), time.monotonic()
    share = daemon_cost.share_of_core(pid, seconds)
    rate = (transfers(folder) - before) / (time.monotonic() - start)
    name = "sidebandd: %d boards at 1 Hz, %s" % (BUSES * boards, what)
    row(name, 100 * share, "% of a core", "%.0f transactions/s, %.1f us each" % (rate, 1e6 * share / rate))
    row(name + ", resident", daemon_cost.memory_mib(pid, "VmRSS"), "MiB",
        "peak %.1f" % daemon_cost.memory_mib(pid, "VmHWM"))


def measure(programs, boards, share, seconds, what):
    with tempfile.TemporaryDirectory(prefix="sb-") as folder:
        lay_out(folder, boards, share)
        processes = [serve(programs, folder, boards, bus) for bus in range(BUSES)]
        try:
            wait_for(lambda: all(os.path.exists(folder + "/bus%d.sock" % bus) for bus in range(BUSES)), "the buses")
            daemon = subprocess.Popen([programs / "daemon/sidebandd", "--config", "sidebandd.yaml"], cwd=folder,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            processes.append(daemon)
            wait_for(lambda: daemon.poll() is not None or os.path.exists(folder + "/ports"), "the ports file")
            report(folder, daemon.pid, boards, seconds, what)
        finally:
            # An emulator that is behind would end late: it has nothing to keep.
            for process in reversed(processes):
                process.kill()
                process.wait()


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--seconds", type=int, default=20, help="of each measurement (default %(default)s)")
    arguments.add_argument("--boards", type=int, default=8, help="of each of the four buses (default %(default)s)")
    arguments.add_argument("--programs", type=pathlib.Path, default=ROOT / "bazel-bin", help="where they are built")
    options = arguments.parse_args()
    programs, boards = options.programs.resolve(), options.boards
    # The boards of a bus share what one would have.
    measure(programs, boards, SHARE / boards, options.seconds, "0.3 of four buses")
    measure(programs, boards, SHARE, options.seconds, "0.3 of a bus each")


if __name__ == "__main__":
    main()
