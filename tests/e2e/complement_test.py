# SPDX-License-Identifier: Apache-2.0
"""Complement protection: an attacker with everything that is public solves for a confidential VM's counters.

The attacker is an operator, a tenant of another VM, and a client of the board's bus. For each snapshot it has the
operator's and the tenant's streams, scrapes and status page, and what SMBPBI's base commands say of the device and of its
partitions. To learn how the hidden counts follow from these, it is even given the truth of the first part of the run.
It is judged by the rest, in which one of the VM's contexts ends and starts, too.
"""

import json
import os
import re
import threading
import time
import unittest

import bus_client
import exposition
import least_squares
import programs
import site_layout
import tenant_client

INTERVAL = "200ms"
SAMPLES = int(os.environ.get("SIDEBAND_ATTACK_SAMPLES", "140"))
TRAINING = 0.6
# What the attacker wants: counts, and the energy that the hidden VM has used, which is what sensors sum up.
PICOJOULES = {"sm_active_cycles": 2500, "tensor_active_cycles": 9000, "fp32_active_cycles": 3000,
              "dram_read_cycles": 6000, "dram_write_cycles": 6000}  # of the example's chip
ENERGY = "energy"
LIFE = "life of a context"
HIDDEN = ("sm_active_cycles", "tensor_active_cycles", "dram_read_cycles", ENERGY)
# Root mean square errors, relative to those of the mean.
FAILS, SUCCEEDS = 0.9, 0.2

# Workloads that differ much from interval to interval; one of the confidential VM's contexts ends every 1.7 s.
WORKLOADS = (
    ("seed: 1\n        phases: [{kind: gemm, time: 6ms}, {kind: all_reduce, time: 2ms}]",
     "seed: 1\n        phases: [{kind: gemm, time: 5s, bursty: {on: [30ms, 500ms], off: [30ms, 500ms]}}]"),
    ("seed: 3\n        phases: [{kind: attention, time: 2ms}, {kind: gemm, time: 1ms}, {kind: idle, time: 2ms}]",
     "seed: 3\n        phases: [{kind: attention, time: 5s, bursty: {on: [30ms, 400ms], off: [30ms, 400ms]}}]"),
    ("seed: 4\n        phases: [{kind: gemm, time: 4ms}, {kind: copy, time: 1ms}]",
     "seed: 4\n        phases: [{kind: gemm, time: 5s, bursty: {on: [40ms, 700ms], off: [40ms, 700ms]}}]"),
    ("seed: 5\n        phases: [{kind: attention, time: 2ms}]",
     "seed: 5\n        phases: [{kind: attention, time: 5s, bursty: {on: [30ms, 400ms], off: [30ms, 400ms]}}]\n"
     "        lifetime: 1700ms"),
)
CLASSES = ("counters", "utilisation", "power", "energy", "temperature", "clocks")
NO_PROTECTION = {"private": False, "chip": dict.fromkeys(CLASSES, "allow"), "daemon": "allow"}

# Metrics of opcode 28 that the example's chip has, of the device and of its partitions.
METRICS, SCOPES = (0x00, 0x01, 0x03, 0x04, 0x06, 0x08, 0x09, 0x0A, 0x0C, 0x17), (0xFF, 1, 2, 3)
CAPTURE, SNAPSHOT_METRIC = 0x80, 0x40


def prepare(site, settings):
    chip = site.read("chip.yaml").decode()
    for from_, to in WORKLOADS:
        assert from_ in chip, from_
        chip = chip.replace(from_, to)
    if settings.get("chip"):
        chip += "complement: {%s}\n" % ", ".join("%s: %s" % one for one in settings["chip"].items())
    if not settings.get("private", True):
        chip += "private_vms: false\n"
    site_layout.write(site.folder, "chip.yaml", chip)
    if settings.get("daemon"):
        config = site.read("sidebandd.yaml").decode()
        config = config.replace("interval: %s}" % INTERVAL,
                                "interval: %s, complement: {counters: %s}}" % (INTERVAL, settings["daemon"]))
        site_layout.write(site.folder, "sidebandd.yaml", config)


def bus_numbers(bus):
    """{name: number} of everything that base commands say now; what is not available is absent."""
    found = {}

    def add(name, opcode, arg1=0, arg2=0):
        status, data, extended = bus.execute(opcode, arg1, arg2)
        if status in (bus_client.SUCCESS, bus_client.ACCEPTED):
            found["bus." + name] = data | extended << 32

    add("temperature", 0x02)
    add("fine_temperature", 0x03)
    add("power", 0x04)
    add("energy_total", 0x22)
    for which in range(3):
        add("clock%d" % which, 0x1B, which)
    for kind, dword in ((0x08, 0), (0x0A, 2), (0x15, 4)):
        bus.execute(0x10, kind, dword)
    for dword in range(6):
        add("scratch%d" % dword, 0x0D, dword)
    bus.execute(0x28, CAPTURE)
    for scope in SCOPES:
        for metric in METRICS:
            add("metric%02x.%d" % (metric, scope), 0x28, SNAPSHOT_METRIC | metric, scope)
            add("window%02x.%d" % (metric, scope), 0x28, metric, scope)
    return found


def scraped_numbers(user, series):
    return {"%s.%s{%s}" % (user, name, ",".join(sorted("%s=%s" % label for label in labels))): float(value)
            for (name, labels), value in series.items()}


def streamed_numbers(user, update):
    return {"%s.stream.%s.%s.%s.%s" % (user, event, vm, context, host): float(count)
            for row in update.scopes
            for (event, vm, context), host, count in (
                ((counter.event, row.scope.vm, row.scope.context), "host%d" % row.scope.slice if row.scope.host else "",
                 counter.count) for counter in row.counters)}


class Attack:
    """One site with its observations, taken in a thread of its own."""

    def __init__(self, name, settings):
        self.name = name
        self.error = None
        self.site = site_layout.Site(INTERVAL)
        self._observations = []
        self._settings = settings
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self):
        prepare(self.site, self._settings)
        self.site.start()
        self._truth = programs.Program(
            "sideband", "--address", "localhost:%d" % self.site.grpc_port, "--ca-file", "ca.pem", "--cert-file",
            "tenant-b.pem", "--key-file", "tenant-b.key", "unseal", "--vm", "vm3", "--key-file", "vm3.key", "--count",
            str(SAMPLES + 20), "--format", "json", "--state", "state.json", cwd=self.site.folder, log="truth.log")
        programs.wait_until(lambda: self._truth.log() != "" or self._truth.ended(), "the first record")
        self._thread.start()

    def finish(self):
        self._thread.join()
        if self.error is not None:
            raise self.error
        self._truth.wait(60)
        self._truths = {}
        for line in self._truth.log().splitlines():
            snapshot = json.loads(line)["snapshot"]
            counts = {row["scope"]["context"]: {one["event"]: int(one["count"]) for one in row["counters"]}
                      for row in snapshot["scopes"]}
            truth = counts[""]
            truth[LIFE] = counts.get("embed", {}).get("resident_cycles", 0)
            truth[ENERGY] = sum(truth[event] * pj for event, pj in PICOJOULES.items())
            self._truths[int(snapshot["reference_time_ns"])] = truth

    def close(self):
        self._truth.kill()
        self.site.close()

    def _run(self):
        try:
            self._observe()
        except BaseException as error:  # finish() raises it
            self.error = error

    def _observe(self):
        with tenant_client.Client(self.site, "operator") as operator, \
                bus_client.BusClient(self.site.path("gpu0.sock")) as bus:
            updates = (answer.update for answer in operator.stream(timeout=600) if answer.HasField("update"))
            for _ in range(SAMPLES):
                update = next(updates)
                found = streamed_numbers("operator", update)
                found.update(bus_numbers(bus))
                found["bus.time_total"] = time.monotonic()
                for user in ("operator", "tenant-a"):
                    found.update(scraped_numbers(user, self.site.metrics(user)))
                for place, number in enumerate(re.findall(r"-?\d+(?:\.\d+)?", self.site.get("operator", "/")[1])):
                    found["page.%d" % place] = float(number)
                self._observations.append((int(update.reference_time_ns), found))

    def _intervals(self):
        """(names, rows, [{what: the hidden VM's rate}]) of consecutive snapshots whose truth is known.

        Rates, since everybody has a clock: how long an interval was, which a busy machine varies, is no secret.
        """
        known = [one for one in self._observations if one[0] in self._truths]
        names = sorted(set.intersection(*(set(found) for _, found in known)))
        rows, rates = [], []
        for (was, before), (now, after) in zip(known, known[1:]):
            seconds = (now - was) * 1e-9
            # Everything's rate and level, since it may be a total or not.
            rows.append([(after[name] - before[name]) / seconds for name in names] + [after[name] for name in names])
            rates.append({what: (self._truths[now][what] - self._truths[was][what]) / seconds
                          for what in (*HIDDEN, LIFE)})
        return names, rows, rates

    def errors(self):
        """{what: (error relative to the prior's, what it was learnt from)} in the intervals after the training."""
        names, rows, rates = self._intervals()
        if len(rows) < SAMPLES * 0.8:
            raise AssertionError("only %d intervals\n%s" % (len(rows), self._truth.log()[-2000:]))
        split = int(len(rows) * TRAINING)
        # A context's count begins anew with its life.
        if sum(rate[LIFE] < 0 for rate in rates[split:]) < 3:
            raise AssertionError("the hidden context hardly started and ended")
        kernels = {source: least_squares.kernel(rows, columns, split)
                   for source, columns in self._sources(names).items()}
        errors = {}
        for what in HIDDEN:
            targets = [rate[what] for rate in rates]
            learnt = {source: least_squares.learn(products, targets[:split]) for source, products in kernels.items()
                      if source.startswith(what) or source.startswith("all")}
            # The attacker takes what did best in training.
            best = min(learnt, key=lambda source: learnt[source][0])
            prior = least_squares.mean(targets[:split])
            errors[what] = (least_squares.relative_error(learnt[best][1], targets[split:], prior), best)
        return errors

    @staticmethod
    def _sources(names):
        """{source: columns} that the attacker learns from."""
        def changes(pattern):
            return [place for place, name in enumerate(names) if re.search(pattern, name)]

        def both(pattern):
            found = changes(pattern)
            return found + [len(names) + place for place in found]

        sensors = both(r"^bus\.(power|energy_total|fine_temperature|time_total)$")
        sources = {"all sensors": sensors,
                   "all of the bus": both(r"^bus\."),
                   "all of the pipeline": changes(r"sideband_(pipeline|bus|snapshots|sealed)_|resident_cycles"),
                   "all numbers": range(2 * len(names))}
        for what in HIDDEN:
            events = "|".join(PICOJOULES) if what == ENERGY else what
            counters = changes(r"^operator\.stream\.(%s|resident_cycles)\." % events)
            sources[what + ": counters"] = counters
            sources[what + ": counters and sensors"] = counters + sensors
        return sources


def run_attacks(settings):
    """{name: {event: error}}; the sites run side by side."""
    attacks = [Attack(name, one) for name, one in settings.items()]
    try:
        for attack in attacks:
            attack.start()
        for attack in attacks:
            attack.finish()
        return {attack.name: attack.errors() for attack in attacks}
    finally:
        for attack in attacks:
            attack.close()


class ComplementTest(unittest.TestCase):
    def test_the_attack_fails_unless_everything_is_allowed(self):
        errors = run_attacks({"default": {}, "allowed": NO_PROTECTION})
        print(json.dumps(errors, indent=1))
        for what in HIDDEN:
            self.assertGreaterEqual(errors["default"][what][0], FAILS, errors)
            self.assertLessEqual(errors["allowed"][what][0], SUCCEEDS, errors)
