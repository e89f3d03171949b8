#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Counts wrong answers beside another client of a board of today, in each mode of `board: {mailbox: …}`.

    bazel build //tests/e2e:sharing_test && tests/e2e/sharing.py --commands 10000 --boards 10

Real programs: emulated boards (deploy/examples/chip-board.yaml with the persona of public clients), one sidebandd that
reads all of them once a second, and for each board a client of Debian's smbus2 under `sideband i2cdev`. That client
leaves 50 ms between its steps (5D, 5C, the status, the data), as public clients do, and checks no echo. Each of its
commands asks for four bytes of the board's identity, which are other ones from command to command, and known: an answer
with the status of success and other bytes is wrong. The daemon's readings are compared with what the board can have.
Prints a line for each mode; docs/experiments/shared_mailbox.md quotes them. --commands is the sum of all boards, for
each mode. The oldest reading is of the temperatures.
"""

import argparse
import contextlib
import json
import os
import pathlib
import re
import sys
import textwrap
import time

if __name__ == "__main__":
    ROOT = pathlib.Path(__file__).resolve().parents[2]
    os.environ.setdefault("TEST_SRCDIR", str(ROOT / "bazel-bin/tests/e2e/sharing_test.runfiles"))
    os.environ.setdefault("TEST_WORKSPACE", "sideband")

# pylint: disable=wrong-import-position
import exposition
import programs
import site_layout

# {mode: (`board` of a device, whether the client takes the bus's lock)}. Not all clients do what the last one does.
MODES = {
    "off": ("{mailbox: off}", False),
    "exclusive": ("{mailbox: exclusive}", False),
    "shared": ("{mailbox: shared}", False),
    "shared, with its lock": ("{mailbox: shared}", True),
}

# Arguments: number of commands, whether to take the lock. Prints what was right before anybody else was there, a line
# "ready", and when it has read a line, runs the commands and prints their number, of which some have failed or were
# answered wrongly. Errors are those of the bus, on a machine that is too busy; their commands do not count.
CLIENT = textwrap.dedent("""
    import fcntl, json, random, sys, time, smbus2
    commands, locks = int(sys.argv[1]), sys.argv[2] == "lock"
    bus, draw = smbus2.SMBus(3), random.Random(1)
    ITEMS = [(9, 0)] + [(3, dword) for dword in range(4)] + [(2, dword) for dword in range(3)]

    def run(item, dword, pause):
        bus.write_block_data(0x4F, 0x5D, [0, 0, 0, 0])
        time.sleep(pause)
        bus.write_block_data(0x4F, 0x5C, [5, item, dword, 0x80])
        time.sleep(pause)
        status = bus.read_block_data(0x4F, 0x5C)
        time.sleep(pause)
        return status[3] & 0x1F, bytes(bus.read_block_data(0x4F, 0x5D))

    truth = {of: run(*of, pause=0) for of in ITEMS}
    assert all(status == 0x1F for status, _ in truth.values()), truth
    print("ready", flush=True)
    sys.stdin.readline()
    errors = failed = wrong = 0
    last = None
    for _ in range(commands):
        last = draw.choice([of for of in ITEMS if truth[of] != truth.get(last)])
        if locks:
            fcntl.flock(bus.fd, fcntl.LOCK_EX)
        try:
            answer = run(*last, pause=0.05)
        except OSError as error:
            print(error, file=sys.stderr, flush=True)
            errors += 1
            answer = truth[last]
        if locks:
            fcntl.flock(bus.fd, fcntl.LOCK_UN)
        failed += answer[0] != 0x1F
        wrong += answer[0] == 0x1F and answer != truth[last]
        time.sleep(0.05)
    print(json.dumps({"commands": commands - errors, "errors": errors, "failed": failed, "wrong": wrong}), flush=True)
    """)

CELSIUS = {"target": 78, "software_slowdown": 82, "hardware_slowdown": 90, "shutdown": 97, "memory_slowdown": 95}
MHZ = 1_000_000
# {metric: (sensor group, whether a value can be the board's)}.
POSSIBLE = {
    "sideband_temperature_celsius": ("temperature", lambda value, _: 28 <= value <= 97),
    "sideband_temperature_threshold_celsius":
        ("thresholds", lambda value, labels: value == CELSIUS.get(labels["kind"], value)),
    "sideband_power_watts":
        ("power", lambda value, labels: (10 if labels["sensor"] == "memory" else 65) <= value <= 500),
    "sideband_clock_hertz": ("clocks", lambda value, labels: value in {
        "minimum": (700 * MHZ,), "maximum": (1400 * MHZ,),
        "current": (700 * MHZ, 1000 * MHZ, 1200 * MHZ, 1400 * MHZ)}[labels["kind"]]),
    "sideband_performance_state": ("clocks", lambda value, _: value in (0, 1, 2, 3)),
    "sideband_memory_bytes": ("memory", lambda value, labels: value <= 81920 << 20 and (
        labels["state"] != "total" or value == 81920 << 20)),
    "sideband_power_limit_watts": ("power_limits", lambda value, labels: labels["sensor"] != "total" or value == {
        "current": 400, "minimum": 150, "maximum": 450, "default": 400}[labels["kind"]]),
    "sideband_pcie_link_generation": ("pcie", lambda value, _: value == 4),
    "sideband_pcie_link_width": ("pcie", lambda value, _: value == 16),
    "sideband_nvlink_up": ("nvlink", lambda value, _: value == 1),
    "sideband_nvlink_bandwidth_bits_per_second": ("nvlink", lambda value, _: value == 25_000 * MHZ),
    "sideband_ecc_errors_total": ("ecc", lambda value, _: value == 0),
    "sideband_remapped_rows_total": ("row_remaps", lambda value, _: value == 0),
}


# Of one metric, what is read once is in another group.
OTHER_GROUP = {("sideband_clock_hertz", "minimum"): "clock_limits", ("sideband_clock_hertz", "maximum"): "clock_limits"}


class Readings:
    """What the daemon has read of the boards, each group once for each time that it was read."""

    def __init__(self):
        self.values, self.wrong, self.age_max = 0, [], 0
        self._sampled = {}  # (device, group) -> when it was read

    def take(self, series, now):
        fresh = set()
        for (name, labels), age in series.items():
            if name != "sideband_board_sample_age_seconds":
                continue
            of = dict(labels)
            if of["sensor_group"] == "temperature":
                self.age_max = max(self.age_max, age)
            key, sampled = (of["device"], of["sensor_group"]), now - age
            # Ages are of the instant of the scrape.
            if sampled - self._sampled.get(key, 0) > 0.3:
                fresh.add(key)
                self._sampled[key] = sampled
        for (name, labels), value in series.items():
            group, is_possible = POSSIBLE.get(name, (None, None))
            of = dict(labels)
            group = OTHER_GROUP.get((name, of.get("kind")), group)
            if (of.get("device"), group) not in fresh:
                continue
            self.values += 1
            if not is_possible(value, of):
                self.wrong.append((name, of, value))


class Sharing(contextlib.ExitStack):
    """Boards, the daemon, and a client of each board."""

    def __init__(self, boards, mode):
        super().__init__()
        self.board, self.locks = MODES[mode]
        self.site = site_layout.Site("1s")
        self.callback(self.site.close)
        self.names = ["gpu%d" % i for i in range(boards)]
        self.clients, self.readings = {}, Readings()

    def start(self, commands):
        for i, name in enumerate(self.names):
            self._start_board(name, i)
            self._start_client(name, commands)
        for name, client in self.clients.items():
            programs.wait_until(lambda of=client: "ready" in of.log() or of.ended(), "the client of " + name)
        devices = "".join("  - {name: %s, bus: \"unix:%s.sock@0x4f\", bus_hz: 100000, interval: 1s, board: %s}\n"
                          % (name, name, self.board) for name in self.names)
        config = self.site.read("sidebandd.yaml").decode()
        line = [line for line in config.splitlines(True) if "name: gpu0" in line]
        site_layout.write(self.site.folder, "sidebandd.yaml", config.replace(line[0], devices))
        self.site.start_daemon()
        # It asks each board once whether it has the extension.
        programs.wait_until(self._has_asked_all, "the answers of all boards")
        for name in self.names:
            with open(self.site.path(name + ".go"), "w", encoding="utf-8") as fifo:
                fifo.write("\n")

    def _has_asked_all(self):
        asked = re.findall("device (.*?): .*does not know the snapshot extension", self.site.daemon.log())
        return set(asked) == set(self.names)

    def _start_board(self, name, number):
        with open(programs.runfile("deploy/examples/chip-board.yaml"), encoding="utf-8") as file:
            chip = file.read()
        site_layout.write(self.site.folder, name + ".yaml", chip.replace("c3e005", "c%05d" % number))
        board = programs.Program("sideband-mcu", "serve", "--chip", name + ".yaml", "--bus", "unix:%s.sock" % name,
                                 "--persona", "nvidia", cwd=self.site.folder, log=name + ".log")
        self.callback(board.kill)
        programs.wait_until(lambda: "serving" in board.log() or board.ended(), "the bus of " + name)

    def _start_client(self, name, commands):
        os.mkfifo(self.site.path(name + ".go"))
        script = 'exec "$@" <> "$0"'
        client = programs.Program("/bin/sh", "-c", script, name + ".go", programs.program_path("sideband"), "i2cdev",
                                  "--bus", "3=unix:%s.sock" % name, "--", "/usr/bin/python3", "-c", CLIENT,
                                  str(commands), "lock" if self.locks else "no", cwd=self.site.folder,
                                  log=name + ".client")
        self.callback(client.kill)
        self.clients[name] = client

    def scrape(self):
        series = self.site.metrics("operator")
        self.readings.take(series, time.monotonic())
        return series

    def run(self, seconds):
        """Until the clients have ended; returns the sum of what they print, and of interferences that were counted."""
        deadline = time.monotonic() + seconds
        while any(not client.ended() for client in self.clients.values()):
            if time.monotonic() > deadline:
                raise AssertionError("the clients do not end within %d s" % seconds)
            self.scrape()
            time.sleep(0.4)
        result = {"commands": 0, "errors": 0, "failed": 0, "wrong": 0}
        for client in self.clients.values():
            if client.wait() != 0:
                raise AssertionError("a client has failed: " + client.log())
            for key, count in json.loads(client.log().splitlines()[-1]).items():
                result[key] += count
        series = self.scrape()
        result["interference"] = sum(exposition.value(series, "sideband_mailbox_interference_total", device=name) or 0
                                     for name in self.names)
        readings = self.readings
        result.update(values=readings.values, wrong_values=readings.wrong, age_max=readings.age_max)
        return result


def measure(mode, boards, commands):
    """The result of `commands` commands of the clients of all boards in a mode."""
    each = -(-commands // boards)
    with Sharing(boards, mode) as sharing:
        sharing.start(each)
        return sharing.run(seconds=60 + each * 2)


def main():
    parser = argparse.ArgumentParser(description="Counts wrong answers beside another client of a board.")
    parser.add_argument("--commands", type=int, default=10_000)
    parser.add_argument("--boards", type=int, default=10)
    parser.add_argument("--mode", choices=MODES, action="append")
    options = parser.parse_args()
    print("%-24s%10s%10s%10s%10s%14s%14s%14s%16s" % ("mode", "commands", "errors", "failed", "wrong", "values read",
                                                     "wrong values", "interference", "oldest reading"))
    for mode in options.mode or MODES:
        result = measure(mode, options.boards, options.commands)
        print("%-24s%10d%10d%10d%10d%14d%14d%14d%14.1f s" % (
            mode, result["commands"], result["errors"], result["failed"], result["wrong"], result["values"],
            len(result["wrong_values"]), result["interference"], result["age_max"]), flush=True)
        for name, labels, value in result["wrong_values"][:5]:
            print("    %s %s: %s" % (name, labels, value))


if __name__ == "__main__":
    sys.exit(main())
