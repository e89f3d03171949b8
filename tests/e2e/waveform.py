# SPDX-License-Identifier: Apache-2.0
"""Waveforms, and the counts of a signal map and a schedule in them, by definition, cycle by cycle.

    waves = waveform.Waveform()
    waves.add("top.clk", [(0, "0"), (5, "1"), (10, "0")])
    waves.add("top.bus", [(0, "0000"), (3, "1x10")], left=7)      # [7:4]
    waves.vcd()                                                   # the file
    waveform.count(waves, signal_map, schedule)                   # {(vm, context): {event: count}}

The times of a clock's edges are its samples; a change at the time of an edge is visible at the next edge.
"""

import bisect
import itertools


class Signal:
    def __init__(self, changes, left):
        self.width = len(changes[0][1])
        self.left = self.width - 1 if left is None else left
        self.changes = changes
        self._times = [time for time, _ in changes]

    def before(self, time):
        """The signal's digits before that time, leftmost first; x and z are 0."""
        place = bisect.bisect_left(self._times, time)
        digits = self.changes[place - 1][1] if place else "0" * self.width
        return digits.replace("x", "0").replace("z", "0")

    def edges(self):
        """The times at which the signal became 1, from any value. Its initial value is not an edge."""
        return [time for (_, old), (time, new) in itertools.pairwise(self.changes) if new == "1" and old != "1"]


class Waveform:
    def __init__(self):
        self.signals = {}

    def add(self, name, changes, left=None):
        self.signals[name] = Signal(changes, left)

    def vcd(self):
        codes = {name: chr(33 + number) for number, name in enumerate(self.signals)}
        lines = ["$timescale 1ns $end", "$scope module top $end"]
        for name, signal in self.signals.items():
            bits = "" if signal.width == 1 else " [%d:%d]" % (signal.left, signal.left - signal.width + 1)
            lines.append("$var wire %d %s %s%s $end" % (signal.width, codes[name], name.removeprefix("top."), bits))
        lines += ["$upscope $end", "$enddefinitions $end"]
        changes = [(time, order, codes[name], digits) for name, signal in self.signals.items()
                   for order, (time, digits) in enumerate(signal.changes)]
        last = None
        for time, _, code, digits in sorted(changes):
            if time != last:
                lines.append("#%d" % time)
                last = time
            lines.append(digits + code if len(digits) == 1 else "b%s %s" % (digits, code))
        return "\n".join(lines) + "\n"


def _contribution(event, signal, digits, before):
    """The event's increment if the signal is `digits` and was `before` in the previous cycle."""
    if "bit" in event:
        digits, before = (value[signal.left - event["bit"]] for value in (digits, before))
    number = int(digits, 2)
    return {"high": number != 0, "low": number == 0, "rise": number != 0 and int(before, 2) == 0,
            "equals": number == event.get("value"), "popcount": digits.count("1"), "value": number}[event["op"]]


def _cycles(waves, signal_map, event):
    """[(reference cycle, contribution)] for each cycle of the event's clock."""
    reference = waves.signals[signal_map["clock"]].edges()
    signal = waves.signals[event["signal"]]
    before = "0" * signal.width
    cycles = []
    for time in waves.signals[event.get("clock", signal_map["clock"])].edges():
        digits = signal.before(time)
        cycles.append((bisect.bisect_left(reference, time), int(_contribution(event, signal, digits, before))))
        before = digits
    return cycles


class _Counts:
    """Sums of an event's contributions between two reference cycles."""

    def __init__(self, waves, signal_map, event):
        cycles = _cycles(waves, signal_map, event)
        self._places = [place for place, _ in cycles]
        self._sums = list(itertools.accumulate((number for _, number in cycles), initial=0))
        self._divisor = 32 if event.get("count") == "prescaled" else 1

    def between(self, start, end):
        first, last = bisect.bisect_left(self._places, start), bisect.bisect_left(self._places, end)
        return (self._sums[last] - self._sums[first]) // self._divisor

    def everything(self):
        return self._sums[-1] // self._divisor


def count(waves, signal_map, schedule):
    """`schedule` is [(start, end, vm, context or None, slice)]; the result includes vm0, as that of a replay."""
    names = {event["name"] for event in signal_map["events"]}
    owners = {("vm0", None)} | {(row[2], context) for row in schedule for context in (None, row[3])}
    blocks = {owner: dict.fromkeys(names, 0) for owner in owners}
    for event in signal_map["events"]:
        name, counts = event["name"], _Counts(waves, signal_map, event)
        if event.get("scope") == "device":
            blocks["vm0", None][name] += counts.everything()
            continue
        for start, end, vm, context, number in schedule:
            if event.get("slice", number) == number:
                for owner in {("vm0", None), (vm, None), (vm, context)}:
                    blocks[owner][name] += counts.between(start, end)
    return blocks
