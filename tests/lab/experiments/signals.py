# SPDX-License-Identifier: Apache-2.0
"""The events of a signal map in a waveform, as prefix sums, and the residencies of a schedule.

    found = signals.read_signals("map.json", "trace.vcd.gz")
    (counter,) = found.counters["busy_cycles"]
    counter.sums[100] - counter.sums[0]             # in the reference cycles 0 to 99
    signals.read_schedule(rows, found.cycles)       # {Owner: [Residency]}
"""

import collections
import gzip
import itertools
import json
import math

NO_CONTEXT = 0xFFFF
HOST = "vm0"  # the hypervisor, whose contexts are slices


class Trace:
    """The values of the wanted signals of a VCD at the edges of clocks: changes[name] = [(time, number)]."""

    def __init__(self, lines, wanted):
        self.changes = {name: [] for name in wanted}
        self.lefts, self.widths = {}, {}
        names = self._header(lines, wanted)
        self._values(lines, names)

    def _header(self, lines, wanted):
        names, scopes = collections.defaultdict(list), []
        words = itertools.chain.from_iterable(line.split() for line in lines)
        for word in words:
            if not word.startswith("$"):
                continue
            body = list(itertools.takewhile(lambda part: part != "$end", words))
            if word == "$scope":
                scopes.append(body[1])
            elif word == "$upscope":
                scopes.pop()
            elif word == "$var":
                self._declare(scopes, body, names, wanted)
            elif word == "$enddefinitions":
                break
        missing = set(wanted) - set(self.widths)
        if missing:
            raise ValueError("no signal " + min(missing))
        return names

    def _declare(self, scopes, body, names, wanted):
        name, width = ".".join(scopes + [body[3]]), int(body[1])
        bounds = "".join(body[4:])
        # An index may be part of the name, as in "state[0] [2:0]".
        if name not in wanted and bounds and ":" not in bounds and name + bounds in wanted:
            name, bounds = name + bounds, ""
        if name in wanted:
            names[body[2]].append(name)
            self.widths[name] = width
            self.lefts[name] = int(bounds.strip("[]").split(":")[0]) if bounds else width - 1

    def _values(self, lines, names):
        time = 0
        for line in lines:
            line = line.strip()
            if not line or line[0] == "$":
                continue
            if line[0] == "#":
                time = int(line[1:])
                continue
            digits, code = line[1:].split() if line[0] in "bB" else (line[0], line[1:])
            for name in names.get(code, ()):
                number = int(digits.replace("x", "0").replace("z", "0").replace("X", "0").replace("Z", "0"), 2)
                self.changes[name].append((time, number, digits[-1]))

    def edges(self, clock):
        """The times at which the clock became 1 from another value."""
        last, times = None, []
        for time, _, digit in self.changes[clock]:
            if digit == "1" and last not in (None, "1"):
                times.append(time)
            last = digit
        return times


def sampled(changes, times):
    """The signal's number just before each of the ascending times."""
    values, place, value = [], 0, 0
    for time in times:
        while place < len(changes) and changes[place][0] < time:
            value = changes[place][1]
            place += 1
        values.append(value)
    return values


def contributions(entry, values, left, width):
    """What an entry of the signal map adds in each cycle of its clock."""
    if "bit" in entry:
        shift = width - 1 - (left - entry["bit"] if left >= width - 1 else entry["bit"] - left)
        values = [value >> shift & 1 for value in values]
    op = entry["op"]
    if op == "rise":
        return [int(value != 0 and before == 0) for before, value in zip([0] + values, values)]
    rule = {"high": lambda value: int(value != 0), "low": lambda value: int(value == 0),
            "equals": lambda value: int(value == entry["value"]), "popcount": lambda value: bin(value).count("1"),
            "value": lambda value: value}[op]
    return [rule(value) for value in values]


def prefix_by_cycle(times, numbers, reference):
    """[sum of the numbers whose time is before reference edge c, or at it], for c from 0 to the number of edges + 1."""
    sums, place, total = [0], 0, 0
    for edge in reference + [math.inf]:
        while place < len(times) and times[place] <= edge:
            total += numbers[place]
            place += 1
        sums.append(total)
    return sums


class Counter:
    """One entry of the signal map: the sum of its contributions, and its clock's cycles, before a reference cycle."""

    def __init__(self, entry, trace, reference, edges):
        width = 1 if "bit" in entry else trace.widths[entry["signal"]]
        values = sampled(trace.changes[entry["signal"]], edges)
        numbers = contributions(entry, values, trace.lefts[entry["signal"]], trace.widths[entry["signal"]])
        self.sums = prefix_by_cycle(edges, numbers, reference)
        self.cycles = prefix_by_cycle(edges, [1] * len(edges), reference)
        self.is_prescaled = entry.get("count") == "prescaled"
        self.gain = self._gain(entry["op"], width)
        self.slice = entry.get("slice")
        self.width = {"popcount": width.bit_length(), "value": width}.get(entry["op"], 1)


    def _gain(self, op, width):
        """The most of a cycle. An accumulator takes a number for one of as many digits."""
        if op == "popcount":
            return (1 << width.bit_length()) - 1 if self.is_prescaled else width
        return (1 << width) - 1 if op == "value" else 1


class Signals:
    """The events of a signal map in a trace."""

    def __init__(self, signal_map, lines):
        entries = signal_map["events"]
        clock = signal_map["clock"]
        wanted = {clock} | {name for entry in entries for name in (entry["signal"], entry.get("clock", clock))}
        trace = Trace(lines, wanted)
        edges = {name: trace.edges(name) for name in {entry.get("clock", clock) for entry in entries} | {clock}}
        self.cycles = len(edges[clock])
        self.counters, self.device_events = collections.defaultdict(list), set()
        for entry in entries:
            own = edges[entry.get("clock", clock)]
            self.counters[entry["name"]].append(Counter(entry, trace, edges[clock], own))
            if entry.get("scope") == "device":
                self.device_events.add(entry["name"])

    def width(self, event):
        return sum(counter.width for counter in self.counters[event])


def read_signals(signals_path, trace_path):
    opener = gzip.open if trace_path.endswith(".gz") else open
    with open(signals_path, encoding="utf-8") as file, opener(trace_path, "rt", encoding="utf-8") as lines:
        return Signals(json.load(file), iter(lines))


# `past`: it extends past the last reference cycle, and has the cycles of other clocks after that (decision 0006).
Residency = collections.namedtuple("Residency", "start end slice past", defaults=(False,))
Owner = collections.namedtuple("Owner", "vm context vm_id context_id")


def read_schedule(rows, cycles):
    """{Owner: [Residency]} in the order of time; ids are those of a replay: by first appearance."""
    owners, vms, contexts = {}, {}, collections.defaultdict(dict)
    for row in rows:
        vm, context, slice_ = row["vm"], row.get("context") or None, int(row.get("slice") or 0)
        if vm == HOST:
            owner = Owner(vm, "slice%d" % slice_, 0, slice_)
        else:
            vms.setdefault(vm, len(vms) + 1)
            if context is not None:
                contexts[vm].setdefault(context, len(contexts[vm]))
            owner = Owner(vm, context, vms[vm], NO_CONTEXT if context is None else contexts[vm][context])
        start, end = int(row["start_cycle"]), min(int(row["end_cycle"]), cycles)
        if start < end:
            owners.setdefault(owner, []).append(
                Residency(start, end, slice_, int(row["end_cycle"]) > cycles))
        else:
            owners.setdefault(owner, [])
    return {owner: sorted(residencies) for owner, residencies in owners.items()}
