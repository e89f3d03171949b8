# SPDX-License-Identifier: Apache-2.0
"""Experiment E8: a second clock in a real waveform, and the counts of its windows.

    python3 second_clock.py --trace tinygpu.vcd.gz --signals tinygpu.signals.json --windows bazel-bin/.../windows \\
        [--mcu sideband-mcu] [--out FOLDER]

Writes the waveform with a further clock (7:5 of the first, 37 ppm fast, one gate) and signals that are counted in it,
and makes the packets of a monitor there, each trigger by itself and from the written edges alone. For windows of
reference time, `windows` (proto/clocks) says between what the counts are; the truth is counted here, edge by edge. With
--mcu, a replay of the written waveform must have the same totals.
"""

import argparse
import bisect
import gzip
import json
import os
import random
import subprocess
import sys
import tempfile

PERIOD_PS = 10_000          # of the first clock
TICKS = 1 << 16             # of a reference cycle
RATIO, PPM = 7 / 5, 37e-6
GATE = (20_000, 23_000)     # cycles
TRIGGER_EVERY = 500         # cycles
WIRE_MAX, SYNC_EDGES, LAG_MAX = 8, 2, 254
EVENTS = 24
WINDOWS = 1000
CLOCK_ID = "~second"


def read_trace(path, signals):
    """(lines, header length, events): what is written again, and the changes of each event's signal in ps."""
    with gzip.open(path, "rt", encoding="latin-1") as file:
        lines = file.read().split("\n")
    wanted = [e for e in signals["events"] if e["op"] == "equals"][:EVENTS]
    ids, scope, header = {}, [], 0
    for number, line in enumerate(lines):
        words = line.split()
        if not words:
            continue
        if words[0] == "$scope":
            scope.append(words[2])
        elif words[0] == "$upscope":
            scope.pop()
        elif words[0] == "$var":
            ids.setdefault(".".join(scope + [words[4]]), words[3])
        elif words[0] == "$enddefinitions":
            header = number
            break
    changes = {ids[event["signal"]]: [(0, "x")] for event in wanted}
    end = 0
    for line in lines[header:]:
        if line.startswith("#"):
            end = int(line[1:]) * 1000
        elif line.startswith("b"):
            value, _, identifier = line[1:].partition(" ")
            if identifier in changes:
                changes[identifier].append((end, value))
        elif line[1:] in changes:
            changes[line[1:]].append((end, line[0]))
    return lines, header, [(event, changes[ids[event["signal"]]]) for event in wanted], end


def edges_until(end):
    """When the second clock's edges are, in ps."""
    step, edges, at = PERIOD_PS / RATIO / (1 + PPM), [], 3_333.0
    gate = [cycle * PERIOD_PS for cycle in GATE]
    while at < end:
        edges.append(round(at))
        at += step
        if gate[0] < at <= gate[1]:
            at += gate[1] - gate[0]
    return edges


def write_trace(path, lines, header, edges):
    """In ps; each edge is high for a nanosecond."""
    toggles = [(at, "1") for at in edges] + [(at + 1000, "0") for at in edges]
    toggles.sort()
    with open(path, "w", encoding="latin-1") as file:
        for line in lines[:header]:
            file.write(line.replace("$timescale 1ns", "$timescale 1ps") + "\n")
            if "scope module TOP" in line:
                file.write("  $var wire  1 %s clk2 $end\n" % CLOCK_ID)
        file.write(lines[header] + "\n")
        next_toggle, time = 0, 0
        for line in lines[header + 1:]:
            if not line.startswith("#"):
                file.write(line + "\n")
                continue
            time = int(line[1:]) * 1000
            while next_toggle < len(toggles) and toggles[next_toggle][0] < time:
                file.write("#%d\n%s%s\n" % (*toggles[next_toggle], CLOCK_ID))
                next_toggle += 1
            file.write("#%d\n" % time)
            if time == 0:
                file.write("0%s\n" % CLOCK_ID)
            while next_toggle < len(toggles) and toggles[next_toggle][0] == time:
                file.write("%s%s\n" % (toggles[next_toggle][1], CLOCK_ID))
                next_toggle += 1


def counts_before(event, changes, edges):
    """counts[i]: of the edges below i, how many see the event's value just before them."""
    times = [at for at, _ in changes]
    counts = [0]
    for at in edges:
        value = changes[bisect.bisect_left(times, at) - 1][1] if bisect.bisect_left(times, at) else "x"
        is_value = set(value) <= {"0", "1"} and int(value, 2) == event["value"]
        counts.append(counts[-1] + is_value)
    return counts


def packets_of(edges, counts, cycles, rng):
    """Lines for `windows`: a monitor's packets, of which one coalesces what the same edge samples."""
    triggers = []
    for number in range(1, cycles // TRIGGER_EVERY):
        sent = number * TRIGGER_EVERY
        arrived = (sent + rng.uniform(0, WIRE_MAX)) * PERIOD_PS
        sampled = bisect.bisect_right(edges, arrived) + SYNC_EDGES
        if sampled >= len(edges):
            break
        if triggers and triggers[-1][2] == sampled:
            triggers.pop()
        triggers.append((number, sent, sampled))
    lines, horizon, last_at = [], 0, 0
    for number, sent, edge in triggers:
        at = edges[edge]
        arrival = -(-at // PERIOD_PS) + rng.randrange(3)
        changed = any(last_at < cycle * PERIOD_PS <= at for cycle in GATE)
        # What is in a serialiser is the next packet's.
        after = max(horizon, edge - rng.randrange(LAG_MAX + 1))
        held = [str(c[after] - c[horizon]) for c in counts]
        lines.append("packet %d %d %d %d %d %s" % (number, sent, edge, arrival, changed, " ".join(held)))
        horizon, last_at = after, at
    return lines, triggers


def check(windows, bounds, edges, counts):
    """(checks, exceptions, mean width over mean truth)."""
    checks = exceptions = width = total = 0
    for (start, end), line in zip(windows, bounds):
        low, high = bisect.bisect_left(edges, start * PERIOD_PS), bisect.bisect_left(edges, end * PERIOD_PS)
        numbers = [int(word) for word in line.split()]
        for event, of_event in enumerate(counts):
            truth = of_event[high] - of_event[low]
            lower, upper = numbers[2 * event], numbers[2 * event + 1]
            checks += 1
            exceptions += not lower <= truth <= upper
            width += upper - lower
            total += truth
    return checks, exceptions, width / total


def replayed(arguments, folder, trace, signals, events):
    """The totals of the events in a replay of the written waveform."""
    own = [dict(event, name="second_" + event["name"], clock="TOP.clk2") for event, _ in events]
    path = os.path.join(folder, "signals.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"clock": signals["clock"], "events": own}, file)
    schedule = os.path.join(folder, "schedule.csv")
    with open(schedule, "w", encoding="utf-8") as file:
        file.write("start_cycle,end_cycle,vm,context\n0,%d,vm1,all\n" % arguments.cycles)
    result = subprocess.run([arguments.mcu, "replay", "--signals", path, "--trace", trace, "--schedule", schedule],
                            check=True, capture_output=True, text=True)
    block = next(b for b in json.loads(result.stdout)["blocks"] if b["context"] == "all")
    return [block["counters"]["second_" + event["name"]] for event, _ in events]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--trace", required=True)
    parser.add_argument("--signals", required=True)
    parser.add_argument("--windows", required=True, help="the program of this folder")
    parser.add_argument("--mcu", help="sideband-mcu, for a replay of the written waveform")
    parser.add_argument("--out", help="keep the written files here")
    arguments = parser.parse_args()
    with open(arguments.signals, encoding="utf-8") as file:
        signals = json.load(file)
    rng = random.Random(8)
    lines, header, events, end = read_trace(arguments.trace, signals)
    arguments.cycles = end // PERIOD_PS + 1
    edges = edges_until(end)
    counts = [counts_before(event, changes, edges) for event, changes in events]
    packets, triggers = packets_of(edges, counts, arguments.cycles, rng)
    # What the last packet leaves in serialisers is in none.
    last = triggers[-2][1]
    windows = sorted(sorted(rng.randrange(1, last) for _ in range(2)) for _ in range(WINDOWS))
    shortest = int(TICKS * 5 / 7 / (1 + 50e-6))
    text = ["limits %d %d %d" % (shortest, 16, LAG_MAX), *packets,
            *("window %d %d" % tuple(window) for window in windows)]
    result = subprocess.run([arguments.windows], input="\n".join(text) + "\n", check=True, capture_output=True, text=True)
    checks, exceptions, share = check(windows, result.stdout.splitlines(), edges, counts)
    print("## E8: windows of a second clock in a waveform\n")
    print("| cycles | edges of the second clock | packets | windows x events | truths outside | width over truth |")
    print("|---|---|---|---|---|---|")
    print("| %d | %d | %d | %d | %d | %.1f %% |" % (arguments.cycles, len(edges), len(packets), checks, exceptions,
                                                 100 * share))
    if arguments.mcu:
        with tempfile.TemporaryDirectory() as own:
            folder = arguments.out or own
            trace = os.path.join(folder, "second.vcd")
            write_trace(trace, lines, header, edges)
            totals = replayed(arguments, folder, trace, signals, events)
            last_edge = bisect.bisect_left(edges, arguments.cycles * PERIOD_PS)
            truth = [c[last_edge] for c in counts]
            wrong = sum(a != b for a, b in zip(totals, truth))
            print("\nA replay of the written waveform: %d of %d totals are those counted here." %
                  (len(truth) - wrong, len(truth)))
            exceptions += wrong
    return 1 if exceptions else 0


if __name__ == "__main__":
    sys.exit(main())
