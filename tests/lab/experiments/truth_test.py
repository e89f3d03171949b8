#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""signals.py, turns.py, truth.py and sketch.py against counts by hand."""

import gzip
import json
import os
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import signals as waves  # noqa: E402
import sketch  # noqa: E402
import truth  # noqa: E402
import turns  # noqa: E402

CYCLES = 40
# `busy` is high in the odd cycles, `mode` counts cycles modulo 4; `slow` has an edge in every second cycle, from 1 on.
TRACE = ("$timescale 1ns $end\n$scope module top $end\n$var wire 1 ! clk $end\n$var wire 1 % busy $end\n"
         "$var wire 2 & mode [1:0] $end\n$var wire 1 ' slow $end\n$var wire 2 ( lane[1] [3:2] $end\n"
         "$upscope $end\n$enddefinitions $end\n") + "".join(
             "#{0}\n0!\n{1}%\nb{2:b} &\nb{2:b} (\n#{3}\n1!\n{1}'\n".format(10 * cycle, cycle % 2, cycle % 4,
                                                                           10 * cycle + 5)
             for cycle in range(CYCLES))
EVENTS = [
    {"name": "busy", "signal": "top.busy", "op": "high"},
    {"name": "calm", "signal": "top.busy", "op": "low"},
    {"name": "mode_sum", "signal": "top.mode", "op": "value"},
]


def signals(events=EVENTS):
    return waves.Signals({"clock": "top.clk", "events": events}, iter(TRACE.splitlines()))


def schedule(*rows):
    """Of (start, end, vm, context)."""
    keys = ("start_cycle", "end_cycle", "vm", "context")
    return waves.read_schedule([dict(zip(keys, row)) for row in rows], CYCLES)


def evaluate(plan, *rows, events=EVENTS):
    """With sets in the order (position + residency) mod S."""
    def set_of(order, residency, position):
        return (residency + position) % order._sets

    with mock.patch.object(truth.Order, "set_of", set_of):
        return truth.evaluate(signals(events), schedule(*rows), plan)


class SignalsTest(unittest.TestCase):
    def total(self, **event):
        (counter,) = signals([{"name": "e", **event}]).counters["e"]
        return counter.sums[CYCLES]

    def test_operations(self):
        for op, total in {"high": 30, "low": 10, "rise": 10, "popcount": 40, "value": 60}.items():
            self.assertEqual(self.total(signal="top.mode", op=op), total, op)
        self.assertEqual(self.total(signal="top.mode", op="equals", value=3), 10)
        self.assertEqual(self.total(signal="top.mode", op="high", bit=1), 20)

    def test_names_with_indices_and_vectors_that_do_not_end_at_0(self):
        self.assertEqual(self.total(signal="top.lane[1]", op="equals", value=2), 10)
        self.assertEqual(self.total(signal="top.lane[1]", op="high", bit=3), 20)

    def test_a_clock_of_its_own(self):
        # Its edges, at the reference's, sample the odd modes 1 and 3.
        (counter,) = signals([{"name": "e", "signal": "top.mode", "op": "value", "clock": "top.slow"}]).counters["e"]
        self.assertEqual((counter.sums[CYCLES], counter.cycles[CYCLES]), (40, 20))
        self.assertEqual((counter.sums[1], counter.sums[2], counter.sums[4]), (0, 1, 4))


class OrderTest(unittest.TestCase):
    OWNER = waves.Owner("vm1", "ctx0", 1, 0)

    def test_every_set_has_every_position_once(self):
        order = truth.Order(5, 3, self.OWNER)
        for first in (0, 5, 20):
            for position in range(15):
                self.assertEqual({order.set_of(first + j, position) for j in range(5)}, set(range(5)))
            for residency in range(15):
                self.assertEqual({order.set_of(residency, first + p) for p in range(5)}, set(range(5)))

    def test_it_depends_on_seed_owner_generation_life_and_channel(self):
        def first(**changes):
            arguments = {"seed": 3, "owner": self.OWNER, **changes}
            return truth.Order(16, **arguments).permutation(b"c", 0)

        other = waves.Owner("vm1", None, 1, waves.NO_CONTEXT)
        orders = [first(), first(seed=4), first(owner=other), first(generation=2), first(uuid=b"u" * 16),
                  first(channel=1), first(life=1)]
        self.assertEqual(len({tuple(order) for order in orders}), len(orders))
        self.assertTrue(all(sorted(order) == list(range(16)) for order in orders))

    def test_a_vector_for_other_implementations(self):
        # Seed 7, vm 1, context 0, generation 1, UUID of zeros: the first two rounds of residencies 0, 1 and 4.
        order = truth.Order(4, 7, self.OWNER)
        self.assertEqual([[order.set_of(j, p) for p in range(8)] for j in (0, 1, 4)],
                         [[0, 1, 2, 3, 2, 1, 0, 3], [1, 2, 3, 0, 3, 2, 1, 0], [1, 2, 3, 0, 3, 2, 1, 0]])

    def test_shuffle_by_hand(self):
        order = truth.Order(3, 0, self.OWNER)
        # i = 2: 2^32 - 1 is refused, for 2^32 mod 3 is 1; 4 mod 3 = 1: [0, 2, 1]. i = 1: 2 mod 2 = 0: [2, 0, 1].
        self.assertEqual(order._shuffle(iter([2**32 - 1, 4, 2]), [0, 1, 2]), [2, 0, 1])


class FixedOrder:
    """Set (position + residency) mod S; rounds of unequal turns in ascending order."""

    def __init__(self, sets):
        self._sets = sets

    def set_of(self, residency, position):
        return (position + residency) % self._sets

    def round_of(self, residency, round_, shares):
        return [number for number, of_set in enumerate(shares) for _ in range(of_set)]


class TurnsTest(unittest.TestCase):
    def make(self, sets=2, has_instructions=True, **changes):
        settings = {"profile": "fast", "stable": 80, "fluctuating": 20, "interval": 40, "threshold": 50, "step": 1,
                    "sets_per_pass": 0, "adapt": True, **changes}
        return turns.Turns(settings, sets, FixedOrder, has_instructions)

    def play(self, of, cycles, rate=0.5):
        """[(set, cycles)] of a residency."""
        played = []
        of.begin_residency()
        while cycles:
            number, left = of.open()
            own = min(left, cycles)
            of.end(own, int(own * rate), own)
            played.append((number, own))
            cycles -= own
        of.end_residency()
        return played

    def test_a_residency_begins_a_turn(self):
        of = self.make(has_instructions=False)
        self.assertEqual(self.play(of, 50), [(0, 20), (1, 20), (0, 10)])
        self.assertEqual(self.play(of, 40), [(1, 20), (0, 20)])

    def test_turns_are_long_after_a_stable_window(self):
        # Two looks of 40 cycles are a window.
        of = self.make()
        self.assertEqual([cycles for _, cycles in self.play(of, 260)], [20] * 4 + [80, 80, 20])
        self.assertEqual([cycles for _, cycles in self.play(of, 200, rate=0.9)], [80, 20, 20, 20, 20, 40])

    def test_two_set_goes_on_in_the_next_residency(self):
        of = self.make(sets=5, profile="two-set", sets_per_pass=2, **{"pass": 1}, has_instructions=False)
        self.assertEqual(self.play(of, 50), [(3, 20), (4, 20), (3, 10)])
        self.assertEqual(self.play(of, 25), [(3, 10), (4, 15)])

    def test_passes_leave_the_first_set_to_the_last(self):
        def scope(**settings):
            of = turns.Scope({"profile": "two-set", "sets_per_pass": 2, **settings}, 6)
            return list(of.numbers())
        self.assertEqual([scope(), scope(**{"pass": 0}), scope(**{"pass": 2}), scope(**{"pass": 3})],
                         [[0], [1, 2], [5], [0]])

    def test_a_first_run_is_learnt(self):
        of = self.make(sets=3, profile="two-set", sets_per_pass=2)
        self.assertEqual(self.play(of, 100, rate=0.5), [(0, 40), (0, 40), (0, 20)])
        self.play(of, 60, rate=1)
        # Looks of 40, 40, 40 (20 of each residency) and 40 cycles, at 0.5, 0.5, 0.75 and 1.
        self.assertEqual(of.learnt(), [(40, True), (80, False), (120, False), (160, False)])
        later = self.make(sets=3, profile="two-set", sets_per_pass=2, learnt=of.learnt(), **{"pass": 0})
        self.assertEqual(self.play(later, 110), [(1, 80), (2, 20), (1, 10)])

    def test_classes_of_a_run(self):
        rates = [(1, 2)] * 5 + [(1, 1), (1, 2)] * 2
        self.assertEqual(turns.classify(rates, 2, 50), [True] * 4 + [False] * 5)
        self.assertEqual(turns.classify(rates[:2], 2, 50), [True, True])
        self.assertEqual(turns.classify([], 2, 50), [])
        self.assertTrue(turns.is_stable([(0, 5), (0, 0)], 0))
        # (1.05 - 1) / 1.025 is below a twentieth, (1.06 - 1) / 1.03 is not.
        self.assertEqual([turns.is_stable([(100, 100), (high, 100)], 50) for high in (105, 106)], [True, False])

    def test_shares_by_hand(self):
        # 9 turns: 6, 1.5, 1.5; of equal remainders the first counts more.
        self.assertEqual(turns.shares_of([4, 1, 1]), [6, 2, 1])
        self.assertEqual(turns.shares_of([2, 1]), [2, 1])
        self.assertEqual(turns.shares_of([0, 0, 5, 5]), [1, 1, 5, 5])
        self.assertEqual(turns.shares_of([1.4, 1]), [1, 1], "0.97 of the variance is not worth it")
        self.assertEqual(turns.shares_of([0, 0]), [1, 1])

    def test_unequal_turns(self):
        of = self.make(has_instructions=False)
        of.adapt([2, 1])
        self.assertEqual(self.play(of, 100), [(0, 20), (0, 20), (1, 20), (0, 20), (0, 20)])
        of.adapt([1, 1])
        self.assertEqual(self.play(of, 40), [(1, 20), (0, 20)])


class RowTest(unittest.TestCase):
    def test_counts_by_hand(self):
        plan = {"sets": [["busy"], ["mode_sum"]], "fixed": ["calm"], "slot_cycles": 4, "dead_cycles": 1}
        (row,) = evaluate(plan, (0, 10, "vm1", "train"))["contexts"]
        # Slots: [0, 4) of busy, [4, 8) of mode_sum, [8, 10) of busy, each without its first cycle.
        self.assertEqual((row["enabled"], row["running"], row["slots"]), (10, [4, 3], [2, 1]))
        busy, mode = row["events"]["busy"], row["events"]["mode_sum"]
        self.assertEqual((busy["truth"], busy["counted"], busy["estimate"]), (5, 3, 7))
        self.assertEqual((busy["lower"], busy["upper"]), (3, 9))
        self.assertEqual((mode["truth"], mode["counted"], mode["estimate"]), (13, 6, 20))
        self.assertEqual((mode["lower"], mode["upper"], mode["variance"]), (6, 27, 111))
        # y = (2, 1), l = (3, 1): R = 3/4, the residuals are -1/4 and 1/4, s^2 = 1/8.
        self.assertEqual(busy["variance"], 9, "39.4 by the formula, more than the bounds allow")
        self.assertEqual(busy["deviation"], 3)
        self.assertEqual(row["fixed"]["calm"], {"truth": 5, "counted": 5})

    def test_a_set_that_never_ran_has_no_number(self):
        plan = {"sets": [["busy"], ["mode_sum"]], "slot_cycles": 4}
        (row,) = evaluate(plan, (0, 3, "vm1", "train"))["contexts"]
        mode = row["events"]["mode_sum"]
        self.assertEqual((mode["estimate"], mode["lower"], mode["upper"]), (None, 0, 9))

    def test_one_set_is_exact(self):
        plan = {"sets": [["busy", "mode_sum"]], "slot_cycles": 3}
        (row,) = evaluate(plan, (0, 10, "vm1", None), (11, 17, "vm1", None))["contexts"]
        for numbers in row["events"].values():
            self.assertEqual(len({numbers[key] for key in ("truth", "counted", "estimate", "lower", "upper")}), 1)
            self.assertEqual(numbers["deviation"], 0)

    def test_prescaled_remainders_last_for_a_residency(self):
        events = [EVENTS[0], {**EVENTS[2], "count": "prescaled"}]
        plan = {"sets": [["mode_sum"], ["busy"]], "slot_cycles": 16}
        (row,) = evaluate(plan, (0, 40, "vm1", "train"), events=events)["contexts"]
        mode = row["events"]["mode_sum"]
        # 24 in [0, 16) and 12 in [32, 40) make one 32; 16 cycles of 3 / 32 are missed, and may meet a remainder.
        self.assertEqual((mode["truth"], mode["counted"], mode["upper"]), (1, 1, 1 + 2 + 1))

    def test_relations_narrow_the_upper_bound(self):
        plan = {"sets": [["busy"], ["calm"]], "slot_cycles": 4}
        rows = [(0, 8, "vm1", "train")]
        upper = lambda event: evaluate(plan, *rows)["contexts"][0]["events"][event]["upper"]  # noqa: E731
        self.assertEqual((upper("busy"), upper("calm")), (6, 6))
        plan["relations"] = [{"sum": ["busy", "calm"], "times": 1}]
        self.assertEqual((upper("busy"), upper("calm")), (4, 4))
        plan["relations"] = [{"event": "busy", "at_most": "calm"}]
        self.assertEqual((upper("busy"), upper("calm")), (4, 6))

    def test_a_fixed_event_is_known_to_relations(self):
        plan = {"sets": [["busy"], ["mode_sum"]], "fixed": ["calm"], "slot_cycles": 4,
                "relations": [{"sum": ["busy", "calm"], "times": 1}]}
        self.assertEqual(evaluate(plan, (0, 8, "vm1", "train"))["contexts"][0]["events"]["busy"]["upper"], 4)

    def test_a_derived_event_is_counted_with_the_others(self):
        plan = {"sets": [["busy"], ["mode_sum"]], "relations": [{"sum": ["busy", "calm"]}],
                "derived": [{"event": "calm", "relation": 0}], "slot_cycles": 4}
        (row,) = evaluate(plan, (0, 12, "vm1", "train"))["contexts"]
        self.assertEqual((row["events"]["calm"]["counted"], row["events"]["calm"]["running"]), (4, 8))

    def test_a_context_has_a_life_on_each_slice(self):
        rows = [{"start_cycle": start, "end_cycle": start + 4, "vm": vm, "context": "", "slice": slice_}
                for start, vm, slice_ in ((0, "vm1", 0), (0, "vm0", 1), (8, "vm1", 1))]
        schedule_ = waves.read_schedule(rows, CYCLES)
        self.assertEqual([tuple(owner) for owner in schedule_],
                         [("vm1", None, 1, waves.NO_CONTEXT), ("vm0", "slice1", 0, 1)])
        plan = {"sets": [["busy"], ["mode_sum"]], "slot_cycles": 4}
        with mock.patch.object(truth.Order, "set_of", lambda _, residency, position: residency):
            result = truth.evaluate(signals(), schedule_, plan)
        # Each is the first residency of a life.
        self.assertEqual([row["slots"] for row in result["contexts"]], [[2, 0], [1, 0]])
        self.assertEqual((result["device"]["enabled"], [row["vm"] for row in result["vms"]]), (12, ["vm1"]))

    def test_rows_add_up(self):
        plan = {"sets": [["busy"], ["calm", "mode_sum"]], "slot_cycles": 3}
        result = evaluate(plan, (0, 10, "vm1", "a"), (11, 30, "vm1", "b"), (31, 36, "vm2", None))
        self.assertEqual([(row["vm"], row["context"]) for row in result["contexts"]],
                         [("vm1", "a"), ("vm1", "b"), ("vm2", None)])
        self.assertEqual(result["device"]["enabled"], 34)
        for key in ("truth", "counted", "lower", "upper", "estimate", "running", "variance"):
            parts = [row["events"]["busy"][key] or 0 for row in result["contexts"]]
            self.assertEqual(result["device"]["events"]["busy"][key], sum(parts))
            self.assertEqual(result["vms"][0]["events"]["busy"][key], sum(parts[:2]))


class EpochTest(unittest.TestCase):
    def setUp(self):
        patch = mock.patch.object(truth, "EPOCH_SLOTS", 1)
        patch.start()
        self.addCleanup(patch.stop)

    def test_closes_after_a_round_within_a_residency(self):
        plan = {"sets": [["busy"], ["mode_sum"]], "slot_cycles": 4}
        # Closed at 8 and 16. The second residency has one slot, of mode_sum.
        (row,) = evaluate(plan, (0, 16, "vm1", "train"), (16, 20, "vm1", "train"))["contexts"]
        # busy: 2 * 8 / 4 twice, and 4 cycles at the ratio of the life so far, 4 / 8.
        self.assertEqual(row["events"]["busy"]["estimate"], 10)
        self.assertEqual(row["events"]["mode_sum"]["estimate"], 12 + 12 + 6)

    def closed(self, *rows):
        """The running cycles of busy in closed epochs."""
        plan = truth.Plan({"sets": [["busy"], ["mode_sum"]], "slot_cycles": 4}, signals())
        ((owner, residencies),) = schedule(*[row + ("vm1", "train") for row in rows]).items()
        with mock.patch.object(truth.Order, "set_of", lambda _, residency, position: (residency + position) % 2):
            row = truth.Row(plan, signals(), owner, set(signals().counters), 0)
            row.play(residencies)
        return row.numbers["busy"].closed_running

    def test_closes_at_the_end_of_a_multiple_of_residencies(self):
        self.assertEqual(self.closed((0, 4)), 0)
        self.assertEqual(self.closed((0, 4), (6, 10)), 4)
        self.assertEqual(self.closed((0, 4), (6, 10), (12, 16)), 4)

    def test_closes_an_epoch_that_began_before_after_as_many_rounds(self):
        truth.EPOCH_SLOTS = 2
        # Three residencies: the epoch does not close with the last, of which the whole rounds alone are enough.
        self.assertEqual(self.closed((0, 1), (1, 2), (4, 12)), 0)
        self.assertEqual(self.closed((0, 1), (1, 2), (4, 19)), 0)
        self.assertEqual(self.closed((0, 1), (1, 2), (4, 20)), 9)

    def test_does_not_close_after_a_cut_round(self):
        self.assertEqual(self.closed((0, 7)), 0)
        self.assertEqual(self.closed((0, 8)), 4)

    def test_shares_follow_the_spread(self):
        # In its turns of 3 cycles `busy` is 1 in one, and `mode_sum` is 4, 6 and 4.
        plan = {"sets": [["busy"], ["mode_sum"]], "turns": {"stable": 3, "fluctuating": 3, "adapt": True}}
        with mock.patch.object(truth, "EPOCH_SLOTS", 3), \
                mock.patch.object(truth.Order, "round_of", FixedOrder(2).round_of):
            (row,) = evaluate(plan, (0, 36, "vm1", "train"))["contexts"]
        # Three rounds of two turns; then one of one turn of busy and five of mode_sum.
        self.assertEqual(row["slots"], [3 + 1, 3 + 5])

    def test_variances_of_epochs_add_up(self):
        moments = truth.Moments()
        moments.add(1, 2)
        self.assertIsNone(moments.variance(8, 4))
        moments.add(3, 2)
        # R = 1, s^2 = 2: (8/4)^2 * 2 * 2 * (1 - 4/8), one degree of freedom.
        self.assertAlmostEqual(moments.variance(8, 4), 8 * (12.706 / 1.96)**2)
        self.assertEqual((truth.student(30), truth.student(31)), (2.042, 1.96))


class FilesTest(unittest.TestCase):
    def test_a_packed_trace_is_the_same(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "t.vcd.gz")
            with gzip.open(path, "wt") as file:
                file.write(TRACE)
            with open(os.path.join(folder, "s.json"), "w", encoding="utf-8") as file:
                json.dump({"clock": "top.clk", "events": EVENTS}, file)
            read = waves.read_signals(os.path.join(folder, "s.json"), path)
        self.assertEqual(read.counters["busy"][0].sums, signals().counters["busy"][0].sums)

    def test_distances(self):
        row = {"events": {"few": {"truth": 99, "estimate": 99}, "absent": {"truth": 100, "estimate": None},
                          "good": {"truth": 100, "estimate": 105, "lower": 10, "upper": 200, "deviation": 3},
                          "bad": {"truth": 100, "estimate": 120, "lower": 10, "upper": 200, "deviation": 3}}}
        found = sketch.qualities(row)
        self.assertEqual(found, [(1.0, False), (0.05, True), (0.2, False)])

    def test_events_are_dealt_by_width(self):
        self.assertEqual(sketch.deal(signals(EVENTS[2:] + EVENTS[:2]), 2), [["mode_sum"], ["busy", "calm"]])

    def test_a_sketch_of_one_set_is_exact(self):
        with mock.patch.object(sketch, "LEAST", 1):
            lines = list(sketch.sketch(signals(), schedule((0, 40, "vm1", "train")), 1, [7], 2))
        self.assertEqual(lines[1:], ["1 7 train 3 1.0000 0.0000 1.0000"])


if __name__ == "__main__":
    unittest.main()
