#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How far the estimates of rotated counters are from the truth, for a plan that is dealt, over many seeds.

    sketch.py --signals MAP.json --trace T.vcd.gz --schedule S.csv --sets 2 --slots 64,511 --seeds 20
"""

import argparse
import collections
import csv
import math
import statistics
import sys

import signals as waves
import truth


def deal(signals, size):
    """Sets in the order of the map, each event to the set with the least bits so far."""
    sets, bits = [[] for _ in range(size)], [0] * size
    for event in signals.counters:
        least = bits.index(min(bits))
        sets[least].append(event)
        bits[least] += signals.width(event)
    return sets


LEAST = 100  # counts of an event whose distance means something


def qualities(row):
    """[(distance, whether the interval holds the truth)] of the events with enough counts."""
    found = []
    for numbers in row["events"].values():
        true, estimate = numbers["truth"], numbers["estimate"]
        if true < LEAST:
            continue
        if estimate is None:
            found.append((1.0, False))
            continue
        half = math.inf if numbers["deviation"] is None else truth.NORMAL * numbers["deviation"]
        low, high = max(estimate - half, numbers["lower"]), min(estimate + half, numbers["upper"])
        found.append((abs(estimate - true) / true, low <= true <= high))
    return found


def sketch(signals, schedule, sets, slots, seeds):
    """Lines of share of events with d < 0.1, median d, and coverage, per context: the mean over the seeds."""
    yield "S slot context events share<0.1 median_d coverage"
    for slot in slots:
        found = collections.defaultdict(list)
        for seed in range(seeds):
            plan = {"sets": deal(signals, sets), "slot_cycles": slot, "seed": seed}
            for row in truth.evaluate(signals, schedule, plan)["contexts"]:
                found[row["context"]].append(qualities(row))
        for context, runs in found.items():
            shares = [sum(distance < 0.1 for distance, _ in run) / len(run) for run in runs]
            medians = [statistics.median(distance for distance, _ in run) for run in runs]
            covered = [held for run in runs for _, held in run]
            yield "%d %d %s %d %.4f %.4f %.4f" % (sets, slot, context, len(runs[0]), statistics.mean(shares),
                                                  statistics.mean(medians), statistics.mean(covered))


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("signals", "trace", "schedule"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--sets", type=int, required=True)
    parser.add_argument("--slots", default="511")
    parser.add_argument("--seeds", type=int, default=20)
    options = parser.parse_args(arguments)
    signals = waves.read_signals(options.signals, options.trace)
    with open(options.schedule, encoding="utf-8", newline="") as file:
        schedule = waves.read_schedule(csv.DictReader(file), signals.cycles)
    for line in sketch(signals, schedule, options.sets, map(int, options.slots.split(",")), options.seeds):
        print(line, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
