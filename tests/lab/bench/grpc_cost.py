#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the daemon's gRPC costs beside a bare grpc::Server that sends the same bytes over the same TLS.

    tests/lab/bench/grpc_cost.py [--rounds N] [--seconds S] [--subscribers N] [--only NAME]

Both are processes of their own, measured in turns in one run. Processor time is that of the server's process, in all
its threads; of the daemon's without the thread that makes up the snapshots. README.md explains each line.
"""

import argparse
import contextlib
import pathlib
import resource
import statistics
import subprocess
import tempfile
import time

import daemon_cost

ROOT = daemon_cost.ROOT
row = daemon_cost.row

# Of 10 tenants with one VM each: contexts and events by which a tenant's GetSnapshot has about so many bytes.
SIZES = {"16 kB": (10, 16), "1 MB": (162, 64)}
UPDATE = (2, 16)
TENANTS = 10


class Program:
    """A child that answers each line of its stdin with a line."""

    def __init__(self, stack, *arguments):
        self._process = stack.enter_context(subprocess.Popen(
            [str(argument) for argument in arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
        # Before the wait for its end, which Popen does on leaving the stack.
        stack.callback(self._process.stdin.close)
        self.pid = self._process.pid
        self.greeting = self.read()

    def tell(self, line):
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def read(self):
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit("grpc_cost: %s has ended" % self._process.args[0])
        return line.split()

    def ask(self, line):
        self.tell(line)
        return self.read()


class Server(Program):
    def __init__(self, stack, programs, kind, contexts, events):
        self.folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="sb-"))
        super().__init__(stack, programs / "grpc_cost_server", kind, self.folder, "--tenants", TENANTS, "--contexts",
                         contexts, "--events", events)
        self.port, self.answer_bytes = self.greeting

    def used(self):
        return float(self.ask("used")[0])

    def resident_kib(self):
        return daemon_cost.memory_mib(self.pid, "VmRSS") * 1024

    def load(self, stack, programs, what, clients, *options):
        return Program(stack, programs / "grpc_cost_load", what, self.port, self.folder, "--tenants", TENANTS,
                       "--clients", clients, *options)


@contextlib.contextmanager
def servers_of(programs, size, *kinds):
    """(stack, a server of each kind)"""
    with contextlib.ExitStack() as stack:
        yield stack, *(Server(stack, programs, kind, *size) for kind in kinds)


def measure_calls(programs, options, name):
    """Calls per second of the server's processor time, at a load that both can bear."""
    with servers_of(programs, SIZES[name], "sideband", "bare", "constant") as (stack, *servers):
        loads = [one.load(stack, programs, "calls", 8, "--seconds", options.seconds) for one in servers]
        costs = [[], [], []]
        for _ in range(options.rounds):
            for cost, server, load in zip(costs, servers, loads):
                before = server.used()
                calls = int(load.ask("go")[0])
                cost.append((server.used() - before) / calls)
        ours, bare, constant = (statistics.median(cost) for cost in costs)
        row("grpc: GetSnapshot of %s, calls a processor second, of a bare server's" % name, bare / ours, "x",
            "%.1f us, %.1f us; %s bytes, 8 clients" % (ours * 1e6, bare * 1e6, servers[0].answer_bytes))
        row("grpc: the same, of a bare server's that serialises at each call", constant / ours, "x",
            "%.1f us" % (constant * 1e6))


def measure_latency(programs, options):
    with servers_of(programs, SIZES["16 kB"], "sideband", "bare") as (stack, *servers):
        for name, server in zip(("", "a bare server: "), servers):
            load = server.load(stack, programs, "calls", 64, "--seconds", options.seconds)
            answers = [[float(word) for word in load.ask("go")] for _ in range(options.rounds)]
            ratio = statistics.median(p99 / median for _, median, p99 in answers)
            _, median, p99 = answers[len(answers) // 2]
            row("grpc: %s64 clients without a pause, p99 of a median" % name, ratio, "x",
                "%.2f ms of %.2f ms in one of %d rounds" % (p99 / 1e3, median / 1e3, options.rounds))


class Stream:
    """A server with its subscribers."""

    def __init__(self, stack, programs, server, subscribers):
        self.server = server
        before = server.resident_kib()
        self._load = server.load(stack, programs, "streams", subscribers)
        time.sleep(1)
        self.memory_kib = (server.resident_kib() - before) / subscribers
        self.costs, self.rates = [], []

    def run(self, seconds):
        """Updates at 10 Hz for so long."""
        self.server.tell("rate 10")
        time.sleep(0.3)
        used, updates, start = self.server.used(), int(self._load.ask("count")[0]), time.monotonic()
        time.sleep(seconds)
        updates = int(self._load.ask("count")[0]) - updates
        self.costs.append((self.server.used() - used) / updates)
        self.rates.append(updates / (time.monotonic() - start))
        self.server.tell("rate 0")
        time.sleep(0.3)

    def note(self):
        return "%.1f us, %.0f a second" % (statistics.median(self.costs) * 1e6, statistics.median(self.rates))


def measure_streams(programs, options):
    """Memory of idle subscribers, and processor time of their updates."""
    with servers_of(programs, UPDATE, "sideband", "bare") as (stack, *servers):
        ours, bare = (Stream(stack, programs, server, options.subscribers) for server in servers)
        for _ in range(options.rounds):
            ours.run(2 * options.seconds)
            bare.run(2 * options.seconds)
        row("grpc: an update to one of %d subscribers at 10 Hz, time of a bare server's" % options.subscribers,
            statistics.median(ours.costs) / statistics.median(bare.costs), "x",
            "%s of %s, %s bytes, %d views" % (ours.note(), bare.note(), servers[0].answer_bytes, TENANTS))
        row("grpc: an idle subscriber's memory beyond a bare server's", ours.memory_kib - bare.memory_kib, "KiB",
            "%.1f and %.1f, each with a TLS connection" % (ours.memory_kib, bare.memory_kib))


BENCHMARKS = {
    "small": lambda programs, options: measure_calls(programs, options, "16 kB"),
    "large": lambda programs, options: measure_calls(programs, options, "1 MB"),
    "latency": measure_latency,
    "streams": measure_streams,
}


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--seconds", type=float, default=1, help="of each measurement (default %(default)s)")
    arguments.add_argument("--rounds", type=int, default=5, help="of which the median is taken (default %(default)s)")
    arguments.add_argument("--subscribers", type=int, default=1000, help="(default %(default)s)")
    arguments.add_argument("--only", choices=BENCHMARKS, help="measure this only")
    arguments.add_argument("--programs", type=pathlib.Path, default=ROOT / "bazel-bin/tests/lab/bench",
                           help="where they are built")
    options = arguments.parse_args()
    # Each subscriber has a descriptor, and three in the daemon.
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    for name, measure in BENCHMARKS.items():
        if options.only in (None, name):
            measure(options.programs.resolve(), options)


if __name__ == "__main__":
    main()
