# SPDX-License-Identifier: Apache-2.0
"""Whose turn it is, and how long: from docs/design/counter-rotation.md alone, without any code of the chip.

    turns = turns.Turns(settings, sets=5, order_of)    # of one context on one slice
    turns.begin_residency()
    number, cycles = turns.open()                      # the set in turn, and what is left of the turn
    turns.end(own=cycles, instructions=40, running=cycles)
    if turns.is_round_over and ...: turns.adapt(needs)
    turns.end_residency()

Settings are the keys of rotation.yaml, in cycles: "profile", "stable", "fluctuating", "interval", "threshold" (in
thousandths), "step", "sets_per_pass" (0: all), "adapt"; further "pass" (None: the first generation's) and "learnt"
([[end in own cycles, is_stable]], or none).
"""

import math

TURNS_PER_SET = 3  # in a round, on average, at most
WORTH_IT = 0.9  # of the variance with equal turns: unequal ones must promise less
FRACTION_BITS = 20


def is_stable(window, threshold):
    """Of looks (instructions, cycles): whether (max - min) / mean is within the threshold, in thousandths."""
    rates = [(instructions << FRACTION_BITS) // cycles if cycles else 0 for instructions, cycles in window]
    return (max(rates) - min(rates)) * len(rates) * 1000 <= sum(rates) * threshold


def classify(looks, step, threshold):
    """[is_stable] of each look of a whole run: windows of a look and the `step` after it, moved by `step`."""
    classes = []
    while len(classes) + step < len(looks):
        classes += [is_stable(looks[len(classes):len(classes) + step + 1], threshold)] * step
    rest = len(looks) - len(classes)
    return classes + [classes[-1] if classes else is_stable(looks, threshold)] * rest if looks else []


def shares_of(needs):
    """Turns of each set in a round, by Neyman: in proportion to the needs, at least one each."""
    equal = [1] * len(needs)
    if sum(needs) <= 0:
        return equal
    turns = _largest_remainders(_at_least_one(needs, TURNS_PER_SET * len(needs)), TURNS_PER_SET * len(needs))

    def variance(of_sets):
        return sum(need * need * sum(of_sets) / turns for need, turns in zip(needs, of_sets))

    if variance(turns) > WORTH_IT * variance(equal):
        return equal
    divisor = math.gcd(*turns)
    return [number // divisor for number in turns]


def _at_least_one(needs, turns):
    least = set()
    while True:
        needed = sum(need for place, need in enumerate(needs) if place not in least)
        shares = [1 if place in least else (turns - len(least)) * need / needed for place, need in enumerate(needs)]
        below = {place for place, share in enumerate(shares) if share < 1}
        if not below:
            return shares
        least |= below


def _largest_remainders(shares, turns):
    whole = [math.floor(share) for share in shares]
    order = sorted(range(len(shares)), key=lambda place: whole[place] - shares[place])
    for place in order[:turns - sum(whole)]:
        whole[place] += 1
    return whole


class Scope:
    """The sets that a generation counts, and whether it is the first run of `two-set`."""

    def __init__(self, settings, sets):
        of_pass = min(settings["sets_per_pass"] or sets, sets)
        number = settings.get("pass")
        self.is_first_run = settings["profile"] == "two-set" and number is None
        if self.is_first_run:
            self.first, self.sets = 0, 1
        elif of_pass == sets:
            self.first, self.sets = 0, sets
        else:
            # What the first run counted is left to the last pass.
            self.first = 1 + (number or 0) * of_pass
            self.sets = min(of_pass, sets - self.first)
            if self.sets <= 0:
                self.first, self.sets = 0, 1

    def numbers(self):
        return range(self.first, self.first + self.sets)


class Turns:
    """`order_of`: (sets) to an order of them, with set_of(residency, position) and round_of(residency, round, shares)."""

    def __init__(self, settings, sets, order_of, has_instructions):
        self._settings = settings
        self._is_fast = settings["profile"] == "fast"
        self.scope = Scope(settings, sets)
        self._order = order_of(self.scope.sets)
        self._has_instructions = has_instructions
        self._residency = self._round = self._place = 0
        self._left = 0  # of the open turn
        self._shares = None  # equal
        self._own = 0
        self.looks, self._ends, self._look, self._look_own = [], [], [0, 0], 0

    def begin_residency(self):
        if self._is_fast:
            self._round = self._place = self._left = 0

    def end_residency(self):
        self._residency += 1

    def open(self):
        if self._left == 0:
            self._left = self._length()
        return self.scope.first + self._set(), self._left

    def _set(self):
        if not self._is_fast or self.scope.sets == 1:
            return self._place
        if self._shares is None:
            return self._order.set_of(self._residency, self._round * self.scope.sets + self._place)
        return self._order.round_of(self._residency, self._round, self._shares)[self._place]

    def _length(self):
        if self.scope.is_first_run:
            return self._settings["interval"]
        return self._settings["stable" if self._is_stable() else "fluctuating"]

    def _is_stable(self):
        if not self._has_instructions:
            return False
        learnt = self._settings.get("learnt")
        if learnt:
            return next((stable for end, stable in learnt if self._own < end), learnt[-1][1])
        window = self._settings["step"] + 1
        return self._is_fast and len(self.looks) >= window and is_stable(self.looks[-window:],
                                                                         self._settings["threshold"])

    def end(self, own, instructions, running):
        """The turn, or the part of it that a residency's end leaves."""
        self._observe(own, instructions, running)
        self._left = 0 if self._is_fast else self._left - own
        if self._left == 0:
            self._place += 1
        size = sum(self._shares) if self._shares else self.scope.sets
        if self._place == size:
            self._place, self._round = 0, self._round + 1

    @property
    def is_round_over(self):
        return self._place == 0 and self._left == 0

    def _observe(self, own, instructions, running):
        self._own += own
        self._look = [self._look[0] + instructions, self._look[1] + running]
        self._look_own += own
        if self._look_own < self._settings["interval"]:
            return
        self.looks.append(tuple(self._look))
        self._ends.append(self._own)
        self._look, self._look_own = [0, 0], 0

    def learnt(self):
        """What a later run takes as "learnt"."""
        return list(zip(self._ends, classify(self.looks, self._settings["step"], self._settings["threshold"])))

    @property
    def adapts(self):
        return self._is_fast and self._settings["adapt"] and self.scope.sets > 1

    def adapt(self, needs):
        shares = shares_of(needs)
        self._shares = None if max(shares) == 1 else shares
