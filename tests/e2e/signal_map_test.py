# SPDX-License-Identifier: Apache-2.0
"""Counting of a signal map's events in `sideband-mcu replay`: slices, scopes, clocks, prescaled numbers.

waveform.py counts random cases independently. SIDEBAND_E2E_SEED=N repeats a run; the log contains its seed.
"""

import json
import os
import random
import sys

import replay_test
import waveform

CASES = 40
SEED = int(os.environ.get("SIDEBAND_E2E_SEED") or random.SystemRandom().randrange(2**32))
COUNTERS_MAX = 45  # of a unit-level counter
CLOCK = "top.clk"


class MapTestCase(replay_test.ReplayTestCase):
    def lay_out(self, waves, signal_map, schedule):
        self.write("t.vcd", waves.vcd())
        self.write("s.json", json.dumps(signal_map, indent=0))
        rows = ["%d,%d,%s,%s,%d" % (start, end, vm, context or "", number)
                for start, end, vm, context, number in schedule]
        self.write("c.csv", "\n".join(["start_cycle,end_cycle,vm,context,slice"] + rows) + "\n")

    def check(self, waves, signal_map, schedule):
        """The replay's blocks, after comparison with the counts of waveform.py."""
        self.lay_out(waves, signal_map, schedule)
        blocks, cycles = self.blocks(self.replay())
        self.assertEqual(cycles, len(waves.signals[signal_map["clock"]].edges()))
        self.assertEqual(blocks, waveform.count(waves, signal_map, schedule))
        return blocks


    def check_live_counts(self, waves, signal_map, schedule, peek_cycles):
        """Live counts at some cycles are the counts of a schedule that ends there, and the blocks stay the same."""
        events = sorted({event["name"] for event in signal_map["events"] if event.get("scope") != "device"})
        expected = []
        for cycle in sorted(peek_cycles):
            so_far = [(start, min(end, cycle), *rest) for start, end, *rest in schedule if start < cycle]
            for (vm, context), counts in waveform.count(waves, signal_map, so_far).items():
                expected += [(cycle, vm, context, event, counts[event]) for event in events]
        self.write("p.csv", "cycle,vm,context,event\n" + "".join(
            "%d,%s,%s,%s\n" % (cycle, vm, context or "", event) for cycle, vm, context, event, _ in expected))
        peeked = self.replay("--peek", "p.csv")
        self.assertEqual(self.blocks(peeked), self.blocks(self.replay()))
        self.assertEqual([tuple(row.values()) for row in json.loads(peeked.stdout).get("peeks", [])], expected)


# --- Random cases ---------------------------------------------------------------------------------------------------


def random_clock(random_, end):
    """Edges at a rate of its own, sometimes in bursts; the clock may stop early, and pass through x."""
    stop = end * random_.choice((1, 1, 1, random_.random()))
    half = random_.choice((1, 2, 5, 13, 40))
    pause = random_.choice((0, 0, 0.02))
    level, time = random_.choice("01"), 0
    changes = [(0, level)]
    while True:
        time += random_.randint(1, half) + (random_.randint(1, end // 4) if random_.random() < pause else 0)
        if time >= stop:
            return changes
        if random_.random() < 0.01:
            changes.append((time, "x"))
            continue
        level = "0" if level == "1" else "1"
        changes.append((time, level))


def random_signal(random_, end):
    width = random_.choice((1, 1, 2, random_.randint(1, 40), random_.randint(1, 40)))
    step = random_.choice((2, 7, 30, 500))
    digits = random_.choice(("01", "01", "0001", "0111", "01xz"))
    changes, time = [], 0
    while time < end:
        changes.append((time, "".join(random_.choices(digits, k=width))))
        time += random_.randint(1, step)
    return changes


def random_waves(random_):
    end = random_.choice((40, 1500, 6000))
    waves = waveform.Waveform()
    for name in [CLOCK] + ["top.clk%d" % number for number in range(random_.randint(0, 2))]:
        waves.add(name, random_clock(random_, end))
    for number in range(random_.randint(1, 6)):
        changes = random_signal(random_, end)
        width = len(changes[0][1])
        waves.add("top.s%d" % number, changes, left=width - 1 + (random_.choice((0, 0, 5)) if width > 1 else 0))
    return waves


def counters_of(event, signal):
    """The number of counters of a unit-level counter that the event needs."""
    if event["op"] not in ("popcount", "value") or "bit" in event:
        return 1
    if event.get("count") != "prescaled":
        return signal.width
    digits = signal.width if event["op"] == "value" else signal.width.bit_length()
    return 1 + max(0, digits - 5)


def add_place(random_, event, clocks, slices):
    """Adds scope, slice and clock, each optional. Events of one name have one scope."""
    if event["name"].startswith("device"):
        event["scope"] = "device"
    elif random_.random() < 0.2:
        event["scope"] = "context"
    if event.get("scope") != "device" and random_.random() < 0.4:
        event["slice"] = random_.randrange(slices)
    if random_.random() < 0.5:
        event["clock"] = random_.choice(clocks)


def add_counting(random_, event, signal):
    if random_.random() < 0.3:
        event["bit"] = random_.randint(signal.left - signal.width + 1, signal.left)
    ops = ["high", "low", "rise", "equals", "popcount"] + (["value"] * 2 if "bit" in event or signal.width <= 32 else [])
    event["op"] = random_.choice(ops)
    if event["op"] == "equals":
        # A value that occurs in the waveform.
        digits = signal.before(random_.choice(signal.changes)[0])
        event["value"] = int(digits[signal.left - event["bit"]] if "bit" in event else digits, 2)
    if event["op"] in ("popcount", "value") and "bit" not in event:
        event["count"] = random_.choice(("full", "prescaled", "prescaled"))
    # Events of one name count in full or prescaled, never both.
    event["name"] += "/" + event.get("count", "full")


def random_map(random_, waves, slices):
    clocks = [name for name in waves.signals if name.startswith(CLOCK)]
    signals = [name for name in waves.signals if name.startswith("top.s")]
    events, used = [], {}
    for _ in range(random_.randint(1, 14)):
        event = {"name": random_.choice(("device", "context")) + str(random_.randrange(6)),
                 "signal": random_.choice(signals)}
        add_place(random_, event, clocks, slices)
        signal = waves.signals[event["signal"]]
        add_counting(random_, event, signal)
        # A unit-level counter has one clock and one scope.
        ulc = "%s.%s" % (event.get("clock", CLOCK), event.get("scope") == "device")
        used[ulc] = used.get(ulc, 0) + counters_of(event, signal)
        if random_.random() < 0.4 and used[ulc] <= COUNTERS_MAX:
            event["ulc"] = ulc
        events.append(event)
    return {"clock": CLOCK, "events": events}


def random_length(random_, cycles):
    return random_.choice((1, 1, 2, random_.randint(1, 40), random_.randint(1, 600), random_.randint(1, cycles + 2)))


def random_schedule(random_, cycles, slices):
    """Rows back to back and with gaps; the last may extend beyond the trace, or be entirely beyond it."""
    schedule = []
    for number in range(slices):
        start = random_.choice((0, random_.randint(0, cycles)))
        while start <= cycles + 3 and len(schedule) < 60:
            end = start + random_length(random_, cycles)
            schedule.append((start, end, "vm%d" % random_.randint(1, 3), random_.choice((None, "a", "b")), number))
            start = end + random_.choice((0, 0, 1, random_.randint(1, 100)))
    random_.shuffle(schedule)
    return sorted(schedule, key=lambda row: row[0])


class RandomTest(MapTestCase):
    def check_case(self, number):
        random_ = random.Random("%d/%d" % (SEED, number))
        waves, slices = random_waves(random_), random_.randint(1, 3)
        cycles = len(waves.signals[CLOCK].edges())
        signal_map, schedule = random_map(random_, waves, slices), random_schedule(random_, cycles, slices)
        self.check(waves, signal_map, schedule)
        self.check_live_counts(waves, signal_map, schedule, [random_.randint(0, cycles) for _ in range(3)])

    @classmethod
    def setUpClass(cls):
        print("SIDEBAND_E2E_SEED=%d" % SEED, file=sys.stderr)


def _add_case(number):
    setattr(RandomTest, "test_case_%02d" % number, lambda self: self.check_case(number))


for _number in range(CASES):
    _add_case(_number)


# --- By hand --------------------------------------------------------------------------------------------------------


def square(first, half, end):
    """A clock that rises at `first` and every two halves from then on."""
    return [(0, "0")] + [(time, "10"[(time - first) // half % 2]) for time in range(first, end, half)]


def small_waves():
    """Reference edges at 5, 15 … 95 (cycles 0 to 9); `fast` at 1, 5, 9 … 117; `bus` is always 40, `busy` always 1."""
    waves = waveform.Waveform()
    waves.add(CLOCK, square(5, 5, 100))
    waves.add("top.fast", square(1, 2, 120))
    waves.add("top.slow", square(10, 50, 120))
    waves.add("top.bus", [(0, "101000")])
    waves.add("top.busy", [(0, "1")])
    return waves


SCHEDULE = [(0, 4, "vm1", "a", 0), (2, 6, "vm2", "b", 1), (4, 12, "vm1", "b", 0)]


class HandTest(MapTestCase):
    """Counts that can be verified by hand, which also verifies waveform.py."""

    def counts(self, schedule=None, **event):
        """{"VM" or "VM/CONTEXT": count} of one event that is always high."""
        event = {"name": "e", "signal": "top.busy", "op": "high", **event}
        blocks = self.check(small_waves(), {"clock": CLOCK, "events": [event]}, schedule or SCHEDULE)
        return {vm if context is None else vm + "/" + context: block["e"] for (vm, context), block in blocks.items()}

    def test_every_slice(self):
        self.assertEqual(self.counts(), {"vm0": 14, "vm1": 10, "vm1/a": 4, "vm1/b": 6, "vm2": 4, "vm2/b": 4})

    def test_one_slice(self):
        self.assertEqual(self.counts(slice=1), {"vm0": 4, "vm1": 0, "vm1/a": 0, "vm1/b": 0, "vm2": 4, "vm2/b": 4})

    def test_slice_that_nobody_is_on(self):
        self.assertEqual(self.counts(slice=63)["vm0"], 0)

    def test_device(self):
        """All ten cycles, once, attributed to no VM."""
        self.assertEqual(self.counts(scope="device"), {"vm0": 10, "vm1": 0, "vm1/a": 0, "vm1/b": 0, "vm2": 0, "vm2/b": 0})

    def test_faster_clock(self):
        """Edges at 1, 5 | 9, 13 | 17, 21, 25 | 29, 33 | 37, 41, 45 | … | 97 to 117, after the last reference edge."""
        counts = self.counts(clock="top.fast")
        self.assertEqual(counts["vm1/a"], 2 + 2 + 3 + 2)
        self.assertEqual(counts["vm2/b"], 3 + 2 + 3 + 2)
        self.assertEqual(counts["vm1"], 30)

    def test_edges_after_the_last_cycle(self):
        """They are in cycle 10: counted if a residency extends beyond it, not if it ends with it."""
        for end, expected in ((9, 22), (10, 24), (11, 30), (1000, 30)):
            self.assertEqual(self.counts([(0, end, "vm1", "a", 0)], clock="top.fast")["vm1/a"], expected, end)
        self.assertEqual(self.counts([(10, 11, "vm1", "a", 0)], clock="top.fast")["vm1/a"], 6)

    def test_slower_clock(self):
        """One edge, at 10, which is cycle 1's, and one at 110."""
        self.assertEqual(self.counts([(0, 1, "vm1", "a", 0), (1, 2, "vm1", "b", 0)], clock="top.slow"),
                         {"vm0": 1, "vm1": 1, "vm1/a": 0, "vm1/b": 1})

    def test_clock_of_a_device_event(self):
        self.assertEqual(self.counts(clock="top.fast", scope="device")["vm0"], 30)

    def test_prescaled(self):
        """Each residency drops its remainder: 4 x 40 is five times 32, 6 x 40 is seven and a half times 32."""
        counts = self.counts(signal="top.bus", op="value", count="prescaled")
        self.assertEqual(counts, {"vm0": 17, "vm1": 12, "vm1/a": 5, "vm1/b": 7, "vm2": 5, "vm2/b": 5})

    def test_prescaled_residencies_of_one_cycle(self):
        rows = [(cycle, cycle + 1, "vm1", "a", 0) for cycle in range(10)]
        self.assertEqual(self.counts(rows, signal="top.bus", op="value", count="prescaled")["vm1/a"], 10)
        self.assertEqual(self.counts(rows, signal="top.bus", op="popcount", count="prescaled")["vm1/a"], 0)

    def test_prescaled_device(self):
        self.assertEqual(self.counts(signal="top.bus", op="value", count="prescaled", scope="device")["vm0"], 12)

    def test_full_is_the_default(self):
        self.assertEqual(self.counts(signal="top.bus", op="value"),
                         self.counts(signal="top.bus", op="value", count="full"))

    def test_clock_without_an_edge(self):
        self.assertEqual(self.counts(clock="top.busy")["vm0"], 0)

    def test_no_cycle_at_all(self):
        waves = small_waves()
        waves.add(CLOCK, [(0, "0")])
        events = [{"name": name, "signal": "top.busy", "op": "high", "scope": name} for name in ("context", "device")]
        self.check(waves, {"clock": CLOCK, "events": events}, SCHEDULE)

    def test_same_vm_on_two_slices_at_once(self):
        rows = [(0, 8, "vm1", "a", 0), (4, 9, "vm1", "a", 1)]
        self.assertEqual(self.counts(rows), {"vm0": 13, "vm1": 13, "vm1/a": 13})

    def test_full_unit_level_counter(self):
        """45 counters: one of 40 bits, and five more."""
        waves = small_waves()
        waves.add("top.wide", [(0, "1" * 40)])
        events = [{"name": "e", "signal": "top.wide", "op": "popcount", "ulc": "u"}]
        events += [{"name": "f", "signal": "top.busy", "op": "high", "ulc": "u"}] * 5
        blocks = self.check(waves, {"clock": CLOCK, "events": events}, SCHEDULE)
        self.assertEqual(blocks["vm1", "a"], {"e": 160, "f": 20})


class RefusedTest(MapTestCase):
    """Line 3 is the first event, line 4 the second."""

    def refused(self, what, *events):
        self.lay_out(small_waves(), {"clock": CLOCK, "events": []}, SCHEDULE)
        lines = [json.dumps({"name": "e", "signal": "top.bus", "op": "high", **event}) for event in events]
        self.write("s.json", '{"clock": "top.clk",\n "events": [\n' + ",\n".join(lines) + "]}\n")
        self.assert_refused(self.replay(), 2, "sideband-mcu: s.json:%d: %s\n" % (2 + len(events), what))

    def test_slice_of_the_device(self):
        self.refused("an event of the whole device has no slice", {"slice": 1, "scope": "device"})

    def test_slice_out_of_range(self):
        self.refused("expected a whole number from 0 to 63", {"slice": 64})

    def test_unknown_scope_names_the_nearest(self):
        self.refused("unknown scope 'devices' (did you mean 'device'?)", {"scope": "devices"})

    def test_unknown_count_names_the_nearest(self):
        self.refused("unknown count 'prescale' (did you mean 'prescaled'?)", {"op": "value", "count": "prescale"})

    def test_prescaled_high(self):
        self.refused("only ops popcount and value without a bit can be prescaled", {"count": "prescaled"})

    def test_prescaled_bit(self):
        self.refused("only ops popcount and value without a bit can be prescaled",
                     {"op": "value", "bit": 0, "count": "prescaled"})

    def test_unknown_clock_names_the_nearest(self):
        self.refused("the trace has no signal 'top.fest' (did you mean 'top.fast'?)", {"clock": "top.fest"})

    def test_clock_of_several_bits(self):
        self.refused("clock 'top.bus' has 6 bits, not one", {"clock": "top.bus"})

    def test_unit_level_counter_of_two_clocks(self):
        self.refused("unit-level counter 'u' has events of two clocks", {"ulc": "u"}, {"ulc": "u", "clock": "top.fast"})

    def test_unit_level_counter_of_two_scopes(self):
        self.refused("unit-level counter 'u' has events of two scopes", {"ulc": "u"},
                     {"name": "f", "ulc": "u", "scope": "device"})

    def test_unit_level_counter_of_46_counters(self):
        wide = {"op": "value", "ulc": "u"}
        self.refused("unit-level counter 'u' needs more than 45 counters", *[wide] * 7, *[{"ulc": "u"}] * 4)

    def test_event_of_two_scopes(self):
        self.refused("event 'e' is both of contexts and of the device", {}, {"scope": "device"})


# --- The trace of switches ------------------------------------------------------------------------------------------

STEPS = ["halt", "pause", "trigger", "flush_request", "emit", "commit", "rebind", "poll", "restore", "unpause", "run"]


def owner(row):
    return row[2] + ("/" + row[3] if row[3] else "")


def expected_switches(schedule, cycles):
    """(cycle, slice, from, to) of each switch; a row that extends beyond the trace ends with it. The end of a row and
    an immediately following row are one switch."""
    rows = [row for row in schedule if row[0] <= cycles]
    before = {(row[1], row[4]): owner(row) for row in rows}
    after = {(row[0], row[4]): owner(row) for row in rows}
    enter = [(row[0], row[4], before.get((row[0], row[4])), owner(row)) for row in rows]
    # An immediate successor is in `enter`.
    leave = [(min(row[1], cycles), row[4], owner(row), None) for row in rows if (row[1], row[4]) not in after]
    return sorted(enter + leave, key=str)


class SwitchTraceTest(MapTestCase):
    def switches(self):
        """The traced lines of each switch, in order."""
        result = self.replay("--switch-trace", "switches.jsonl")
        self.assertEqual((result.returncode, self.errors(result)), (0, []))
        with open(self.path("switches.jsonl"), encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        switches = [lines[first:first + len(STEPS)] for first in range(0, len(lines), len(STEPS))]
        for number, steps in enumerate(switches, 1):
            self.assertEqual([line["switch"] for line in steps], [number] * len(STEPS))
        return switches

    def check_switch(self, steps):
        self.assertEqual([line["step"] for line in steps], list(range(1, len(STEPS) + 1)))
        self.assertEqual([line["name"] for line in steps], STEPS)
        for key in ("cycle", "slice", "from", "to"):
            self.assertEqual(len({line[key] for line in steps}), 1, key)
        for key in ("pipeline_cycle", "records", "acknowledgements"):
            values = [line[key] for line in steps]
            self.assertEqual(values, sorted(values), key)
        by_name = {line["name"]: line for line in steps}
        # All counts of the context have left before its blocks are released, and no record follows the release.
        self.assertEqual(by_name["run"]["records"], by_name["emit"]["records"])
        self.assertEqual(by_name["run"]["acknowledgements"], by_name["emit"]["acknowledgements"])

    def check_trace(self, waves, signal_map, schedule):
        self.lay_out(waves, signal_map, schedule)
        switches = self.switches()
        for steps in switches:
            self.check_switch(steps)
        # At the end of the trace every slice is vacated, including idle ones.
        made = [(steps[0]["cycle"], steps[0]["slice"], steps[0]["from"], steps[0]["to"]) for steps in switches
                if steps[0]["from"] or steps[0]["to"]]
        self.assertEqual(sorted(made, key=str), expected_switches(schedule, len(waves.signals[CLOCK].edges())))
        self.assertEqual([cycle for cycle, *_ in made], sorted(cycle for cycle, *_ in made))

    def test_small(self):
        self.check_trace(small_waves(), {"clock": CLOCK, "events": [{"name": "e", "signal": "top.bus", "op": "value"}]},
                         SCHEDULE)

    def test_random(self):
        for number in range(12):
            random_ = random.Random("%d/switches/%d" % (SEED, number))
            waves = random_waves(random_)
            waves.add(CLOCK, square(random_.randint(1, 9), random_.randint(1, 9), 1000))
            cycles = len(waves.signals[CLOCK].edges())
            with self.subTest(seed=SEED, number=number):
                self.check_trace(waves, random_map(random_, waves, 3), random_schedule(random_, cycles, 3))

    def test_counts_are_the_same_with_a_trace(self):
        self.lay_out(small_waves(), {"clock": CLOCK, "events": [{"name": "e", "signal": "top.bus", "op": "value"}]},
                     SCHEDULE)
        self.assertEqual(self.replay("--switch-trace", "switches.jsonl").stdout, self.replay().stdout)

    def test_cannot_be_written(self):
        for path in ("absent/switches.jsonl", "/dev/full"):
            self.assert_refused(self.replay("--switch-trace", path), 1, "sideband-mcu: %s: cannot be written" % path)
