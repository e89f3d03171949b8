#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What rotated counters must show of a waveform, from the definitions alone: no code is shared with the chip.

    truth.py --signals MAP.json --trace T.vcd[.gz] --schedule S.csv --plan PLAN.json

PLAN.json: {"sets": [[event names]], "fixed": [], "relations": [], "derived": [{"event": name, "relation": index}],
"slot_cycles": 511, "dead_cycles": 0, "seed": 7}; a relation is {"sum": [names], "times": k} (of cycles),
{"event": name, "is_sum_of": [names]} or {"event": a, "at_most": b}. Optional: "generation" (1), "uuids" {VM: hex},
"turns" (settings of turns.py, in place of slots of one length), "instructions" (the fixed event that tells of periods),
"weights" {event: in thousandths}.
"""

import argparse
import collections
import csv
import hashlib
import hmac
import itertools
import json
import math
import struct
import sys
from fractions import Fraction

from signals import HOST, read_schedule, read_signals
from turns import Turns

EPOCH_SLOTS = 64  # of every set, before an epoch may close
PRESCALE = 32
# 97.5 % quantiles of Student's t with 1 to 30 degrees of freedom: NIST/SEMATECH e-Handbook, 1.3.6.7.2.
STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
           2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042)
NORMAL = 1.96


class Order:
    """The set of each slot: a Latin square of seeded permutations."""

    def __init__(self, sets, seed, owner, generation=1, uuid=bytes(16), channel=0, life=0):
        """`channel` is a slice, `life` the number of plans that the generation has had before."""
        message = uuid + struct.pack("<HHIIB", owner.vm_id, owner.context_id, generation, life, channel)
        self._sets = sets
        self._key = hmac.digest(struct.pack("<Q", seed), message, hashlib.sha256)
        self._known = {}

    def _words(self, kind, block):
        for counter in itertools.count():
            message = kind + struct.pack("<QI", block, counter)
            yield from struct.unpack("<8I", hmac.digest(self._key, message, hashlib.sha256))

    def permutation(self, kind, block):
        known = self._known.get((kind, block))
        if known is None:
            known = self._known[kind, block] = self._shuffle(self._words(kind, block),
                                                                   list(range(self._sets)))
        return known

    @staticmethod
    def _shuffle(words, places):
        for i in range(len(places) - 1, 0, -1):
            limit = (1 << 32) - (1 << 32) % (i + 1)
            j = next(word for word in words if word < limit) % (i + 1)
            places[i], places[j] = places[j], places[i]
        return places

    def round_of(self, residency, round_, shares):
        """The sets of a round in which they have unequal turns."""
        sets = [number for number, turns in enumerate(shares) for _ in range(turns)]
        return self._shuffle(self._words(b"a", residency << 32 | round_ & 0xFFFFFFFF), sets)

    def set_of(self, residency, position):
        size = self._sets
        if size == 1:
            return 0
        column = self.permutation(b"c", position // size)[position % size]
        return (column + self.permutation(b"r", residency // size)[residency % size]) % size


def student(freedom):
    return STUDENT[freedom - 1] if freedom <= len(STUDENT) else NORMAL


class Moments:
    """Sums over the slots of an event in an epoch: y counts in l running cycles."""

    def __init__(self):
        self.slots = self.y = self.l = self.yy = self.yl = self.ll = 0

    def add(self, y, length):
        self.slots += 1
        self.y += y
        self.l += length
        self.yy += y * y
        self.yl += y * length
        self.ll += length * length

    def _of_slot(self):
        """The variance of a slot's residual: the sum of (y - R l)^2 with R = y / l, exactly, over one less than slots."""
        residual = Fraction(self.yy * self.l * self.l - 2 * self.y * self.l * self.yl + self.y * self.y * self.ll,
                            self.l * self.l)
        return residual / (self.slots - 1)

    def spread(self):
        """That variance over the square of the mean count of a slot; 0 if it is less than a millionth."""
        if self.slots < 2 or self.y == 0:
            return 0
        spread = self._of_slot() * self.slots * self.slots / (self.y * self.y)
        return 0 if spread < Fraction(1, 10**6) else spread

    def variance(self, enabled, running):
        """None if there are fewer than two slots."""
        if self.slots < 2:
            return None
        spread = self.slots * self._of_slot()
        value = Fraction(enabled * enabled, running * running) * spread * (1 - Fraction(running, enabled))
        return float(value) * (student(self.slots - 1) / NORMAL) ** 2


class Numbers:
    """An event of one row."""

    def __init__(self):
        self.truth = self.counted = 0
        self.slack = Fraction(0)  # of slots without it: the most it can have gained
        self.open_counted = 0
        self.closed_counted = self.closed_running = self.closed_estimate = 0  # the last with 16 fraction bits
        self.shown = 0  # the running maximum, before it is cut
        self.moments = Moments()
        self.variance = None

    def estimate(self, enabled, running):
        """With 16 fraction bits, of the closed epochs and the open one."""
        if running:
            return self.closed_estimate + (self.open_counted * enabled << 16) // running
        if not self.closed_running:
            return self.closed_estimate
        return self.closed_estimate + (self.closed_counted * enabled << 16) // self.closed_running

    def evaluate(self, enabled, running):
        self.shown = max(self.shown, self.estimate(enabled, running) >> 16)

    def add_variance(self, enabled, running):
        found = self.moments.variance(enabled, running) if running else None
        if found is not None:
            self.variance = (self.variance or 0) + found

    def close(self, enabled, running):
        self.closed_estimate = self.estimate(enabled, running)
        self.add_variance(enabled, running)
        self.closed_counted += self.open_counted
        self.closed_running += running
        self.open_counted = 0
        self.moments = Moments()


class Plan:
    def __init__(self, description, signals):
        slot = description.get("slot_cycles")
        self.turns = {"profile": "fast", "stable": slot, "fluctuating": slot, "interval": 500_000_000, "threshold": 50,
                      "step": 4, "sets_per_pass": 0, "adapt": False, **description.get("turns", {})}
        self.instructions = description.get("instructions")
        self.weights = description.get("weights", {})
        self.dead = description.get("dead_cycles", 0)
        self.seed = description.get("seed", 0)
        self.generation = description.get("generation", 1)
        self.uuids = {vm: bytes.fromhex(text.replace("-", "")) for vm, text in description.get("uuids", {}).items()}
        self.fixed = list(description.get("fixed", []))
        self.sets = [set(names) - set(self.fixed) for names in description["sets"]]
        self.relations = description.get("relations", [])
        for derived in description.get("derived", []):
            self._join(derived)
        for name in itertools.chain(self.fixed, *self.sets):
            if name not in signals.counters:
                raise ValueError("no event " + name)

    def _join(self, derived):
        """A derived event is in turn with the others of its relation, as if it were a member of their sets."""
        relation = self.relations[derived["relation"]]
        others = set(relation.get("sum") or [relation["event"]] + relation["is_sum_of"]) - {derived["event"]}
        for members in self.sets:
            if others <= members | set(self.fixed):
                members.add(derived["event"])

    def rotated(self):
        return sorted(set().union(*self.sets))


class Row:
    """A context, or a VM without one, on a slice: the life of its rotation."""

    def __init__(self, plan, signals, owner, events, channel=0):
        self._plan, self._signals = plan, signals
        self._events = [event for event in plan.rotated() if event in events]
        self._turns = Turns(plan.turns, len(plan.sets), lambda sets: Order(
            sets, plan.seed, owner, plan.generation, plan.uuids.get(owner.vm, bytes(16)), channel),
            plan.instructions is not None)
        # One set has the counters for itself: nothing ever turns.
        self._dead = plan.dead if self._turns.scope.sets > 1 else 0
        self._needs = None
        self.numbers = {event: Numbers() for event in self._events}
        self.fixed = {event: 0 for event in plan.fixed if event in events}
        self._members = [[event for event in self._events if event in members] for members in plan.sets]
        self._sets_of = {event: [number for number, members in enumerate(plan.sets) if event in members]
                         for event in self._events}
        size = len(plan.sets)
        self.enabled, self.running, self.slots = 0, [0] * size, [0] * size
        self._open_epoch()
        self._ended = 0  # residencies since the last close

    def _open_epoch(self):
        size = len(self._plan.sets)
        self._epoch_enabled, self._epoch_running, self._epoch_slots = 0, [0] * size, [0] * size
        self._ended = 0

    def _counters(self, event, residency):
        return [counter for counter in self._signals.counters[event]
                if counter.slice in (None, residency.slice)]

    def play(self, residencies):
        for residency in residencies:
            self._reside(residency)

    def _reside(self, residency):
        # Once per residency: the counters of the slice, and the remainders of their prescaled accumulators.
        self._now = {event: self._counters(event, residency) for event in self._events + list(self.fixed)}
        self._rest = collections.Counter()
        self._unseen = collections.Counter()
        self._last = residency.end if residency.past else None
        self._turns.begin_residency()
        start, rounds = residency.start, 0
        while start < residency.end:
            turn, left = self._turns.open()
            stop = min(start + left, residency.end)
            self._slot(turn, start, stop)
            if stop - start == left and self._turns.is_round_over:
                rounds += 1
                if self._ended == 0 or rounds >= EPOCH_SLOTS:
                    self._close_if_full()
            start = stop
        self._turns.end_residency()
        self._leave(residency)

    def _leave(self, residency):
        for event in self._events:
            self.numbers[event].truth += self._total(self._now[event], residency)
            self._end_prescaled(event)
        for event in self.fixed:
            self.fixed[event] += self._total(self._counters(event, residency), residency)
        self._evaluate(self._events)
        self._ended += 1
        if self._ended % self._turns.scope.sets == 0:
            self._close_if_full()

    def _at(self, sums, cycle):
        return sums[cycle + 1 if cycle == self._last else cycle]

    def _total(self, counters, residency):
        total = 0
        for counter in counters:
            gained = self._at(counter.sums, residency.end) - self._at(counter.sums, residency.start)
            total += gained // PRESCALE if counter.is_prescaled else gained
        return total

    def _end_prescaled(self, event):
        """Cycles that it did not see can have moved a remainder over the next multiple."""
        numbers = self.numbers[event]
        for place, counter in enumerate(self._now[event]):
            if counter.is_prescaled and self._unseen[event, place]:
                numbers.slack += 1

    def _slot(self, turn, start, stop):
        run = min(start + self._dead, stop)
        self.enabled += stop - start
        self._epoch_enabled += stop - start
        self.running[turn] += stop - run
        self._epoch_running[turn] += stop - run
        self.slots[turn] += 1
        self._epoch_slots[turn] += 1
        in_turn = self._members[turn]
        for event in in_turn:
            self._count(event, run, stop)
            self._miss(event, start, run, None)
        missed = set(self._events).difference(in_turn)
        limits = self._limits(turn, run, stop) if self._plan.relations else {}
        for event in missed:
            self._miss(event, start, run, None)
            self._miss(event, run, stop, limits.get(event))
        self._evaluate(in_turn)
        told = self._plan.instructions
        self._turns.end(stop - start, self._gained(told, run, stop) if told else 0, stop - run)

    def _count(self, event, run, stop):
        if stop == run:
            return
        gained = 0
        for place, counter in enumerate(self._now[event]):
            new = self._at(counter.sums, stop) - self._at(counter.sums, run)
            if counter.is_prescaled:
                ones, self._rest[event, place] = divmod(self._rest[event, place] + new, PRESCALE)
                new = ones
            gained += new
        numbers = self.numbers[event]
        numbers.counted += gained
        numbers.open_counted += gained
        numbers.moments.add(gained, stop - run)

    def _miss(self, event, start, stop, limit):
        if start == stop:
            return
        most = 0
        for place, counter in enumerate(self._now[event]):
            cycles = self._at(counter.cycles, stop) - self._at(counter.cycles, start)
            most += Fraction(counter.gain * cycles, PRESCALE) if counter.is_prescaled else counter.gain * cycles
            self._unseen[event, place] += cycles
        self.numbers[event].slack += most if limit is None else min(most, limit)

    def _gained(self, event, start, stop):
        return sum(self._at(counter.sums, stop) - self._at(counter.sums, start) for counter in self._now[event])

    def _limits(self, turn, start, stop):
        """{event: what the relations leave for it} of events that are not counted."""
        counted, limits = set(self._members[turn]) | set(self.fixed), {}

        def limit(event, value):
            if event not in counted:
                limits[event] = min(value, limits.get(event, value))

        for relation in self._plan.relations:
            if "sum" in relation:
                known = sum(self._gained(event, start, stop) for event in relation["sum"] if event in counted)
                for event in relation["sum"]:
                    limit(event, relation.get("times", 1) * (stop - start) - known)
            elif "is_sum_of" in relation:
                self._limit_sum(relation, counted, start, stop, limit)
            elif "at_most" in relation and relation["at_most"] in counted:
                limit(relation["event"], self._gained(relation["at_most"], start, stop))
        return limits

    def _limit_sum(self, relation, counted, start, stop, limit):
        whole, members = relation["event"], relation["is_sum_of"]
        known = sum(self._gained(event, start, stop) for event in members if event in counted)
        if whole in counted:
            for event in members:
                limit(event, self._gained(whole, start, stop) - known)
        limit(whole, known + sum(counter.gain * (self._at(counter.cycles, stop) - self._at(counter.cycles, start))
                                 for event in members if event not in counted for counter in self._now[event]))

    def _epoch_running_of(self, event):
        return sum(self._epoch_running[number] for number in self._sets_of[event])

    def running_of(self, event):
        return sum(self.running[number] for number in self._sets_of[event])

    def _evaluate(self, events):
        for event in events:
            self.numbers[event].evaluate(self._epoch_enabled, self._epoch_running_of(event))

    def _close_if_full(self):
        if min(self._epoch_slots[number] for number in self._turns.scope.numbers()) < EPOCH_SLOTS:
            return
        if self._turns.adapts:
            self._adapt()
        for event, numbers in self.numbers.items():
            numbers.close(self._epoch_enabled, self._epoch_running_of(event))
        self._open_epoch()

    def _adapt(self):
        """Each epoch's needs weigh as much as those of all before it."""
        needs = [float(sum(Fraction(self._plan.weights.get(event, 1000), 1000) * self.numbers[event].moments.spread()
                           for event in self._members[number])) for number in self._turns.scope.numbers()]
        if self._needs is not None:
            needs = [(before + now) / 2 for before, now in zip(self._needs, needs)]
        self._needs = needs
        self._turns.adapt([math.sqrt(need) for need in needs])

    def result(self):
        events = {}
        for event, numbers in self.numbers.items():
            numbers.add_variance(self._epoch_enabled, self._epoch_running_of(event))
            upper = numbers.counted + math.ceil(numbers.slack)
            variance = shown_variance(numbers.variance, upper - numbers.counted)
            has_number = self.running_of(event) > 0
            events[event] = {
                "truth": numbers.truth, "counted": numbers.counted, "running": self.running_of(event),
                "lower": numbers.counted, "upper": upper,
                "estimate": min(max(numbers.shown, numbers.counted), upper) if has_number else None,
                "variance": variance, "deviation": root_up(variance)}
        fixed = {event: {"truth": total, "counted": total} for event, total in self.fixed.items()}
        return {"enabled": self.enabled, "running": self.running, "slots": self.slots, "events": events,
                "fixed": fixed}


def shown_variance(variance, distance):
    """Nothing within bounds of that distance has a variance above the square of its half."""
    most = Fraction(distance, 2) ** 2
    return math.ceil(most if variance is None else min(variance, most))


def root_up(number):
    root = math.isqrt(number)
    return root if root * root == number else root + 1


def _added(left, right):
    """None is no number, and adds nothing."""
    return right if left is None else left if right is None else left + right


def add_rows(rows):
    """The row of a VM, or of the device: every number of its contexts' rows added."""
    total = {"enabled": 0, "running": None, "slots": None, "events": {}, "fixed": {}}
    for row in rows:
        total["enabled"] += row["enabled"]
        for key in ("running", "slots"):
            total[key] = row[key] if total[key] is None else [a + b for a, b in zip(total[key], row[key])]
        for kind in ("events", "fixed"):
            for event, numbers in row[kind].items():
                sums = total[kind].setdefault(event, dict.fromkeys(numbers))
                for key, value in numbers.items():
                    sums[key] = _added(sums[key], value)
    for numbers in total["events"].values():
        numbers["deviation"] = root_up(numbers["variance"])
    return total


def play_owner(plan, signals, owner, residencies, events):
    """A context has a life on each slice on which it is resident."""
    rows = []
    for slice_ in sorted({residency.slice for residency in residencies}) or [0]:
        rows.append(Row(plan, signals, owner, events, slice_))
        rows[-1].play([residency for residency in residencies if residency.slice == slice_])
    return add_rows([row.result() for row in rows])


def evaluate(signals, schedule, description):
    """{"contexts": [row], "vms": [row], "device": row, "device_events": {name: count}}; a row names its "vm" and
    "context" (None: the VM without). Contexts of "vm0" are the hypervisor's on slices. Events of the device's own take
    no turns in a replay.
    """
    plan = Plan(description, signals)
    context_events = set(signals.counters) - signals.device_events
    contexts = [{"vm": owner.vm, "context": owner.context, **play_owner(plan, signals, owner, residencies, context_events)}
                for owner, residencies in schedule.items()]
    vms = [{"vm": vm, "context": None, **add_rows([row for row in contexts if row["vm"] == vm])}
           for vm in dict.fromkeys(owner.vm for owner in schedule if owner.vm != HOST)]
    device_events = {event: sum(counter.sums[-1] // (PRESCALE if counter.is_prescaled else 1)
                                for counter in signals.counters[event]) for event in signals.device_events}
    return {"contexts": contexts, "vms": vms, "device": {"vm": HOST, "context": None, **add_rows(contexts)},
            "device_events": device_events}


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("signals", "trace", "schedule", "plan"):
        parser.add_argument("--" + name, required=True)
    options = parser.parse_args(arguments)
    signals = read_signals(options.signals, options.trace)
    with open(options.schedule, encoding="utf-8", newline="") as file:
        schedule = read_schedule(csv.DictReader(file), signals.cycles)
    with open(options.plan, encoding="utf-8") as file:
        json.dump(evaluate(signals, schedule, json.load(file)), sys.stdout, indent=1)


if __name__ == "__main__":
    main(sys.argv[1:])
