#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Rotation on the reference waveform `tinygpu`: the experiments R5 to R7, as tables of Markdown.

    SIDEBAND_SHARED_DATA=../shared/data tests/lab/experiments/experiments.py [--mcu FILE] [--seeds 20] [--curves FOLDER]

`--curves` writes data for gnuplot: the shares of R5 over the sets, those of R6 over the slot, the widths of R7.
"""

import argparse
import collections
import json
import os
import statistics
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import chip_run  # noqa: E402

SLOTS = (64, 128, 256, 511, 1024, 2048)
LEAST = 100  # counts of an event whose distance means something
NEAR = 0.1
NORMAL = 1.96
STATES = ("idle", "fetch", "decode", "request", "wait", "execute", "update", "done")
CORES = range(4)
STATE_EVENTS = [["core%d_%s_cycles" % (core, state) for state in STATES] for core in CORES]
RELATIONS = [{"sum": states, "of": "resident_cycles", "times": 1} for states in STATE_EVENTS] + [
    {"event": "data_mem_%s_lanes" % port, "is_sum_of": ["data_mem_%s_%d_cycles" % (port, lane) for lane in range(4)]}
    for port in ("read_valid", "read_ready", "write_valid", "write_ready")]


def contexts(result):
    return {block["context"]: block for block in result["blocks"] if block["context"]}


class Bench:
    def __init__(self, mcu, seeds):
        self.mcu, self.seeds = mcu, seeds
        self.waveform = chip_run.reference("tinygpu")
        with open(os.path.join(os.environ["SIDEBAND_SHARED_DATA"], "tinygpu.expected.json"), encoding="utf-8") as file:
            self.truth = {name: block["counters"] for name, block in contexts(json.load(file)).items()}

    def replays(self, settings):
        return (self.waveform.replay(self.mcu, settings, seed) for seed in range(self.seeds))

    def fewest_counters(self, sets, relations):
        """That need no more than so many sets."""
        counters = 135 // sets - 12
        while True:
            settings = {"counters": counters, "slots": 511, "relations": relations}
            if len(self.waveform.replay(self.mcu, settings, 0)["rotation"]["sets"]) <= sets:
                return counters
            counters += 1


def distance(estimate, true):
    return 1.0 if estimate is None else abs(estimate - true) / true


def is_within(numbers, true):
    if numbers["estimate"] is None:
        return False
    half = NORMAL * numbers["standard_error"]
    return (max(numbers["lower"], numbers["estimate"] - half) <= true
            <= min(numbers["upper"], numbers["estimate"] + half))


class Quality:
    """Of a context's events over all runs."""

    def __init__(self):
        self.shares, self.medians, self.within = [], [], []

    def add(self, truth, events):
        large = {event: numbers for event, numbers in events.items() if truth[event] >= LEAST}
        distances = [distance(numbers["estimate"], truth[event]) for event, numbers in large.items()]
        self.shares.append(sum(value < NEAR for value in distances) / len(distances))
        self.medians.append(statistics.median(distances))
        if "lower" in next(iter(large.values())):
            self.within += [is_within(numbers, truth[event]) for event, numbers in large.items()]

    def share(self):
        return statistics.mean(self.shares)


def own_time(bench, settings):
    """{context: Quality}, and the sets."""
    found, sets = collections.defaultdict(Quality), None
    for result in bench.replays(settings):
        sets = result["rotation"]["sets"]
        for name, block in contexts(result).items():
            found[name].add(bench.truth[name], block["rotation"]["events"])
    return found, sets


def wall_time(bench, sets, slot):
    """The same of sets that take turns in the device's time, one after the other, scaled as perf does; in as many runs,
    which begin at other points of a round."""
    signals, schedule = bench.waveform.read()
    found = collections.defaultdict(Quality)
    for run in range(bench.seeds):
        phase = run * slot * len(sets) // bench.seeds
        for owner, residencies in schedule.items():
            found[owner.context].add(bench.truth[owner.context], round_robin(signals, residencies, sets, slot, phase))
    return found


def round_robin(signals, residencies, sets, slot, phase):
    enabled = sum(residency.end - residency.start for residency in residencies)
    running, counts = collections.Counter(), collections.Counter()
    for residency in residencies:
        start = residency.start
        while start < residency.end:
            turn, rest = divmod(start + phase, slot)
            stop = min(residency.end, start + slot - rest)
            for event in sets[turn % len(sets)]:
                running[event] += stop - start
                counts[event] += sum(counter.sums[stop] - counter.sums[start] for counter in signals.counters[event])
            start = stop
    return {event: {"estimate": counts[event] * enabled / running[event] if running[event] else None}
            for event in set().union(*sets)}


def row(*cells):
    print("| " + " | ".join(cells) + " |", flush=True)


def header(*cells):
    row(*cells)
    print("|" + "---|" * len(cells))


def percent(value):
    return "%.1f %%" % (100 * value)


def print_share(label, found):
    names = sorted(found)
    row(label, *(percent(found[name].share()) for name in names),
        *(percent(statistics.mean(found[name].medians)) for name in names),
        *(percent(statistics.mean(found[name].within)) for name in names if found[name].within))


def run_r5(bench):
    print("\n### R5\n")
    names = sorted(bench.truth)
    header("counters, sets, slot", *("near: " + name for name in names), *("median: " + name for name in names),
           *("in interval: " + name for name in names))
    curves, of_sets = {}, []
    for sets in (2, 4, 8):
        counters = bench.fewest_counters(sets, [])
        for slot in SLOTS if sets == 2 else (511,):
            found, members = own_time(bench, {"counters": counters, "slots": slot})
            print_share("%d, %d, %d" % (counters, len(members), slot), found)
            if sets == 2:
                curves[slot] = found, members
            if slot == 511:
                of_sets.append([len(members)] + [found[name].share() for name in names])
    return curves, of_sets


def mean_and_worst(found):
    return "%s (%s)" % (percent(found.share()), percent(min(found.shares)))


def run_r6(bench, curves):
    """Of a context's runs the mean, and the worst."""
    print("\n### R6\n")
    names = sorted(bench.truth)
    header("slot", *("own time: " + name for name in names), *("wall time: " + name for name in names))
    lines = []
    for slot, (own, sets) in curves.items():
        wall = wall_time(bench, sets, slot)
        row(str(slot), *(mean_and_worst(found[name]) for found in (own, wall) for name in names))
        lines.append([slot] + [found[name].share() for found in (own, wall) for name in names])
    worst = [min(line[column] for line in lines) for column in range(1, len(lines[0]))]
    row("worst of the means", *map(percent, worst))
    return lines


def widths(bench, settings):
    """Mean of upper - lower of the events of states, over the context's cycles."""
    found, derived = collections.defaultdict(list), 0
    for result in bench.replays(settings):
        derived = len(result["rotation"]["derived"])
        for name, block in contexts(result).items():
            rotation = block["rotation"]
            for event in sum(STATE_EVENTS, []):
                # One that found room in every set is exact.
                numbers = rotation["events"].get(event, {"upper": 0, "lower": 0})
                found[name].append((numbers["upper"] - numbers["lower"]) / rotation["enabled"])
    return {name: statistics.mean(values) for name, values in found.items()}, derived


def run_r7(bench):
    print("\n### R7\n")
    names = sorted(bench.truth)
    header("relations", "counters for 2 sets", "derived", *("width: " + name for name in names))
    plain, related = bench.fewest_counters(2, []), bench.fewest_counters(2, RELATIONS)
    lines = []
    for label, counters, relations in (("no", plain, []), ("yes", related, RELATIONS), ("yes", plain, RELATIONS)):
        found, derived = widths(bench, {"counters": counters, "slots": 511, "relations": relations})
        row(label, str(counters), str(derived), *("%.3f" % found[name] for name in names))
        lines.append(["%s relations, %d counters" % ("with" if relations else "no", counters)]
                     + [found[name] for name in names])
    return lines


def write_data(folder, name, blocks):
    """Blocks of lines, each with a title, as gnuplot's index has them."""
    with open(os.path.join(folder, name + ".data"), "w", encoding="utf-8") as file:
        for title, lines in blocks:
            file.write('"%s"\n' % title)
            for line in lines:
                file.write(" ".join('"%s"' % cell if isinstance(cell, str) else "%.4f" % cell for cell in line) + "\n")
            file.write("\n\n")


def columns(lines, titles):
    """[(title, [[x, y], …]), …] of lines of x and a y for each title; the ys are shares."""
    return [(title, [[line[0], 100 * line[1 + column]] for line in lines]) for column, title in enumerate(titles)]


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mcu", default="bazel-bin/secure_mcu/sideband-mcu")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--curves")
    options = parser.parse_args(arguments)
    bench = Bench(options.mcu, options.seeds)
    names = sorted(bench.truth)
    curves, of_sets = run_r5(bench)
    of_slots, of_relations = run_r6(bench, curves), run_r7(bench)
    if options.curves:
        write_data(options.curves, "rotation_sets", columns(of_sets, names))
        write_data(options.curves, "rotation_slots",
                   columns(of_slots, [time + ": " + name for time in ("own time", "wall time") for name in names]))
        write_data(options.curves, "rotation_relations", [(" ".join(names), of_relations)])


if __name__ == "__main__":
    main(sys.argv[1:])
