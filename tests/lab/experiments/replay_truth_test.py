#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""What `sideband-mcu replay --rotation` shows, bit for bit against truth.py.

Two numbers may differ, by what the chip's arithmetic allows it: it rounds variances from floating point, and bounds
the remainders that prescaled numbers drop by one for each residency, whether it missed a cycle of it or not.
"""

import json
import os
import random
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import chip_run  # noqa: E402

MCU = os.path.join(os.getcwd(), "secure_mcu", "sideband-mcu")
NUMBERS = ("counted", "estimate", "lower", "upper")
HAS_DATA = bool(os.environ.get("SIDEBAND_SHARED_DATA"))

STATES = ("idle", "fetch", "decode", "request", "wait", "execute", "update", "done")
TINYGPU_RELATIONS = [
    {"sum": ["core%d_%s_cycles" % (core, state) for state in STATES], "of": "resident_cycles", "times": 1}
    for core in range(4)] + [
    {"event": "data_mem_%s_lanes" % port, "is_sum_of": ["data_mem_%s_%d_cycles" % (port, lane) for lane in range(4)]}
    for port in ("read_valid", "read_ready", "write_valid", "write_ready")]


class TruthTestCase(unittest.TestCase):
    def compare(self, waveform, settings, seed):
        """The replay's answer, after its comparison with the truth."""
        shown = waveform.replay(MCU, settings, seed)
        expected = waveform.truth(shown, settings, seed)
        for block in shown["blocks"]:
            name = block["vm"], block["context"]
            if name in expected:
                self.compare_block(block, expected[name], shown, (name, settings, seed), waveform.remainders())
        # The device's own events have a counter each.
        of_device = next(block for block in shown["blocks"] if (block["vm"], block["context"]) == ("vm0", None))
        for event, count in expected["device_events"].items():
            self.assertEqual(of_device["counters"][event], count, event)
        return shown

    def compare_block(self, block, row, shown, what, remainders):
        numbers = block["rotation"]
        self.assertEqual(numbers["enabled"], row["enabled"], what)
        self.assertEqual(numbers["running"], row["running"], what)
        self.assertEqual(set(numbers["events"]), set(row["events"]), what)
        for event, found in numbers["events"].items():
            self.compare_event(found, row["events"][event], row["enabled"], (event, what), remainders[event])
        for event in shown["rotation"]["fixed"]:
            self.assertEqual(block["counters"][event], row["fixed"][event]["truth"], (event, what))

    def compare_event(self, found, row, enabled, what, remainders):
        shown = {key: found[key] for key in NUMBERS}
        if remainders:
            self.assertTrue(row["upper"] <= shown["upper"] <= row["upper"] + remainders, what)
            shown["upper"] = row["upper"]
        self.assertEqual(shown, {key: row[key] for key in NUMBERS}, what)
        if row["running"]:
            self.assertAlmostEqual(found["standard_error"], row["deviation"], delta=1, msg=what)
        else:
            self.assertIsNone(found["standard_error"], what)
        self.assertAlmostEqual(found["coverage"], row["running"] / enabled if enabled else 0, 9, what)
        # Law 2.
        self.assertLessEqual(found["lower"], row["truth"], what)
        self.assertLessEqual(row["truth"], found["upper"], what)


@unittest.skipUnless(HAS_DATA, "SIDEBAND_SHARED_DATA is not set: no reference waveforms")
class ReferenceTest(TruthTestCase):
    def test_small_waveform(self):
        waveform = chip_run.reference("tinygpu-small")
        for counters, slots, dead in ((68, 64, 0), (68, 100, 7), (34, 511, 0), (17, 128, 0), (9, 64, 3), (90, 2048, 0)):
            for seed in (0, 1, 2**63 + 5):
                self.compare(waveform, {"counters": counters, "slots": slots, "dead_cycles": dead}, seed)

    def test_waveform(self):
        waveform = chip_run.reference("tinygpu")
        for counters, slots in ((68, 64), (68, 511), (34, 256), (17, 2048), (5, 127)):
            self.compare(waveform, {"counters": counters, "slots": slots}, counters)

    def test_relations(self):
        waveform = chip_run.reference("tinygpu")
        for counters, slots in ((60, 64), (60, 511), (30, 300), (15, 64)):
            settings = {"counters": counters, "slots": slots, "relations": TINYGPU_RELATIONS}
            shown = self.compare(waveform, settings, 11)
            self.assertEqual(len(shown["rotation"]["derived"]), 8)

    def test_turns_of_two_lengths(self):
        waveform = chip_run.reference("tinygpu")
        for threshold, step in ((0.05, 4), (0.5, 2), (1, 1)):
            settings = {"counters": 68, "slots": {"stable": 256, "fluctuating": 64}, "interval": 300, "step": step,
                        "threshold": threshold, "instructions": "core0_execute_cycles",
                        "fixed": ["core0_execute_cycles"]}
            self.compare(waveform, settings, 7)

    def test_adaptive_turns(self):
        waveform = chip_run.reference("tinygpu")
        for counters, weights in ((17, {}), (17, {"core1_idle_cycles": 9.5})):
            settings = {"counters": counters, "slots": 64, "adapt": True, "weights": weights}
            adapted, equal = (self.compare(waveform, {**settings, "adapt": adapt}, 3) for adapt in (True, False))
            self.assertNotEqual(adapted["blocks"], equal["blocks"], "shares have changed")

    def test_first_run_of_two_set(self):
        settings = {"counters": 34, "profile": "two-set", "slots": {"stable": 512, "fluctuating": 256}, "interval": 256,
                    "instructions": "core0_execute_cycles", "fixed": ["core0_execute_cycles"]}
        shown = self.compare(chip_run.reference("tinygpu"), settings, 1)
        self.assertEqual({len([cycles for cycles in block["rotation"]["running"] if cycles])
                          for block in shown["blocks"]}, {1}, "one set is in turn")

    def test_fixed_events(self):
        settings = {"counters": 40, "slots": 200, "dead_cycles": 20, "relations": TINYGPU_RELATIONS[:2],
                    "fixed": ["core0_execute_cycles", "core1_idle_cycles", "kernel_launches"]}
        self.compare(chip_run.reference("tinygpu"), settings, 4)


# --- Drawn waveforms --------------------------------------------------------------------------------------------------


def trace_text(random_, cycles):
    """Signals of a reference clock and of a faster and a slower one, which are low, high or drawn for a while."""
    text = ["$timescale 1ns $end\n$scope module top $end\n"]
    text += ["$var wire 1 %s %s $end\n" % (code, name) for code, name in (("!", "clk"), ("@", "fast"), ("~", "slow"))]
    text += ["$var wire 1 %s a $end\n$var wire 1 %s b $end\n$var wire 6 %s n [5:0] $end\n$var wire 3 %s m [2:0] $end\n"
             % ("a", "b", "c", "d")]
    text.append("$upscope $end\n$enddefinitions $end\n#0\n0!\n0@\n0~\n0a\n0b\nb0 c\nb0 d\n")
    levels = [0.5, 0.5]
    for time in range(1, cycles * 10):
        if random_.random() < 0.01:
            levels = [random_.choice((0, 0.1, 0.9, 1)), random_.choice((0, 0.5, 1))]
        lines = []
        for code, half, phase in (("!", 5, 0), ("@", 3, 1), ("~", 17, 5)):
            if time % half == phase:
                lines.append("%d%s" % ((time // half) % 2, code))
        if time % 5 == 2:
            lines += ["%da" % (random_.random() < levels[0]), "%db" % (random_.random() < levels[1]),
                      "b%s c" % format(int(64 * levels[0] * random_.random()), "b"),
                      "b%s d" % format(random_.randrange(8) if levels[1] else 0, "b")]
        if lines:
            text.append("#%d\n%s\n" % (time, "\n".join(lines)))
    return "".join(text)


EVENTS = [
    {"name": "a", "signal": "top.a", "op": "high"},
    {"name": "not_a", "signal": "top.a", "op": "low"},
    {"name": "b", "signal": "top.b", "op": "high"},
    {"name": "b_starts", "signal": "top.b", "op": "rise"},
    {"name": "n", "signal": "top.n", "op": "value", "count": "prescaled"},
    {"name": "n_lanes", "signal": "top.n", "op": "popcount", "count": "prescaled"},
    {"name": "m", "signal": "top.m", "op": "popcount"},
    {"name": "m0", "signal": "top.m", "op": "high", "bit": 0},
    {"name": "m1", "signal": "top.m", "op": "high", "bit": 1},
    {"name": "m2", "signal": "top.m", "op": "high", "bit": 2},
    {"name": "fast_a", "signal": "top.a", "op": "high", "clock": "top.fast"},
    {"name": "fast_not_a", "signal": "top.a", "op": "low", "clock": "top.fast"},
    {"name": "fast_m0", "signal": "top.m", "op": "high", "bit": 0, "clock": "top.fast"},
    {"name": "fast_m1", "signal": "top.m", "op": "high", "bit": 1, "clock": "top.fast"},
    {"name": "slow_b", "signal": "top.b", "op": "high", "clock": "top.slow"},
    {"name": "slow_lanes", "signal": "top.n", "op": "popcount", "count": "prescaled", "clock": "top.slow"},
    {"name": "slow_m2", "signal": "top.m", "op": "high", "bit": 2, "clock": "top.slow"},
]
RELATIONS = [
    {"sum": ["a", "not_a"], "of": "resident_cycles", "times": 1},
    {"event": "m", "is_sum_of": ["m0", "m1", "m2"]},
    {"event": "b_starts", "at_most": "b"},
]


def schedule_text(random_, cycles, slices, vms):
    """Residencies, some of them short, some without a context; the last of a slice may be longer than the trace."""
    rows = ["start_cycle,end_cycle,vm,context,slice"]
    for slice_ in range(slices):
        start = random_.randrange(5)
        while start < cycles - 10:
            end = start + random_.choice((3, 50, 200, 700, 3000))
            rows.append("%d,%d,%s,%d" % (start, end, random_.choice(vms), slice_))
            start = end + random_.choice((0, 0, 10))
    return "\n".join(rows) + "\n"


def exits_text(random_, schedule):
    """An exit in some of the residencies."""
    rows = ["slice,start_cycle,end_cycle"]
    for row in schedule.splitlines()[1:]:
        start, end, vm, _, slice_ = row.split(",")
        first = int(start) + random_.randrange(3)
        if vm != "vm0" and first < int(end) and random_.random() < 0.7:
            rows.append("%s,%d,%d" % (slice_, first, random_.randrange(first, int(end)) + 1))
    return "\n".join(rows) + "\n"


TENANTS = ("vm1,a", "vm1,b", "vm2,", "vm3,c")


class DrawnTest(TruthTestCase):
    def draw(self, seed, events, cycles=6000, slices=1, vms=TENANTS, with_exits=False):
        random_ = random.Random(seed)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        texts = {"s.json": json.dumps({"clock": "top.clk", "events": events}),
                 "t.vcd": trace_text(random_, cycles), "c.csv": schedule_text(random_, cycles, slices, vms)}
        if with_exits:
            texts["e.csv"] = exits_text(random_, texts["c.csv"])
        for name, text in texts.items():
            with open(os.path.join(folder.name, name), "w", encoding="utf-8") as file:
                file.write(text)
        return chip_run.Waveform(*(os.path.join(folder.name, name) for name in texts))

    def test_slices_host_blocks_and_device_events(self):
        device = [{"name": "d", "signal": "top.m", "op": "popcount", "scope": "device"},
                  {"name": "d_n", "signal": "top.n", "op": "value", "count": "prescaled", "scope": "device"}]
        for seed in range(4):
            waveform = self.draw(300 + seed, EVENTS[:10] + device, slices=1 + seed % 3, vms=TENANTS + ("vm0,",))
            for counters, slots, dead in ((12, 64, 0), (9, 100, 9)):
                settings = {"counters": counters, "slots": slots, "dead_cycles": dead, "relations": RELATIONS[:seed]}
                shown = self.compare(waveform, settings, seed)
                self.assertTrue([block for block in shown["blocks"] if block["vm"] == "vm0" and block["context"]])

    def test_exits_change_nothing(self):
        """Without gates a chip has no host mode: own time is all of a residency (docs/design/counter-rotation.md)."""
        for seed in range(3):
            waveform = self.draw(400 + seed, EVENTS[:10], slices=2, with_exits=True)
            self.compare(waveform, {"counters": 12, "slots": 64, "dead_cycles": seed}, seed)

    def test_settings_of_turns(self):
        for seed in range(8):
            random_ = random.Random(seed)
            waveform = self.draw(500 + seed, EVENTS[:10], cycles=20000, slices=1 + seed % 2)
            short = random_.choice((17, 24, 40))
            settings = {"counters": random_.choice((9, 12)), "slots": {"stable": 3 * short, "fluctuating": short},
                        "fixed": ["b"], "instructions": "b", "dead_cycles": random_.choice((0, 0, 5)),
                        "interval": random_.choice((50, 300)), "step": random_.choice((1, 4)),
                        "threshold": random_.choice((0.05, 0.5)), "adapt": random_.random() < 0.7,
                        "sets_per_pass": random_.choice(("all", "all", 2)), "weights": {"a": 3, "m": 0.5}}
            self.compare(waveform, settings, seed)

    def test_first_runs_of_two_set(self):
        for seed in range(4):
            waveform = self.draw(600 + seed, EVENTS[:10])
            settings = {"counters": 12, "profile": "two-set", "slots": {"stable": 400, "fluctuating": 100},
                        "interval": 100 + 50 * seed, "instructions": "b", "fixed": ["b"], "dead_cycles": seed}
            self.compare(waveform, settings, seed)

    def test_one_clock(self):
        for seed in range(6):
            waveform = self.draw(seed, EVENTS[:10])
            for counters, slots, dead in ((12, 64, 0), (9, 100, 9), (12, 17, 2)):
                self.compare(waveform, {"counters": counters, "slots": slots, "dead_cycles": dead}, seed)

    def test_relations(self):
        for seed in range(6):
            waveform = self.draw(100 + seed, EVENTS[:10])
            for counters, slots in ((12, 64), (9, 100)):
                settings = {"counters": counters, "slots": slots, "dead_cycles": seed, "relations": RELATIONS}
                self.compare(waveform, settings, seed)

    def test_several_clocks(self):
        for seed in range(4):
            waveform = self.draw(200 + seed, EVENTS)
            for slots, dead in ((64, 0), (129, 11)):
                settings = {"counters": 12, "slots": slots, "dead_cycles": dead, "relations": RELATIONS}
                self.compare(waveform, settings, seed)


if __name__ == "__main__":
    unittest.main(verbosity=2)
