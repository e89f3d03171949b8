# SPDX-License-Identifier: Apache-2.0
"""Whether successive snapshots of a stream can be true: counts, generations and times that fall are reported.

    checks = Checks()
    for inconsistent in checks.compare(snapshot): ...

What is remembered is bounded: the newest rows, as many as one answer may have (ROWS_MAX, COUNTERS_MAX). A contradiction
to what was forgotten is not seen. Not thread-safe.
"""

import collections

from sideband._counters import COUNTERS_MAX, ROWS_MAX
from sideband._updates import Inconsistent, InconsistentKind

DEVICES_MAX = 4096


class Checks:
    """The newest row of each scope, and the newest boot and time of each device."""

    def __init__(self, rows_max=ROWS_MAX, counters_max=COUNTERS_MAX, devices_max=DEVICES_MAX):
        self._rows_max, self._counters_max, self._devices_max = rows_max, counters_max, devices_max
        self._rows = collections.OrderedDict()  # (boot id, scope's key): row
        self._counters = 0  # of these rows
        self._devices = collections.OrderedDict()  # name: (boot id, reference time)

    def __len__(self):
        """The number of rows that are remembered."""
        return len(self._rows)

    def is_newest(self, snapshot):
        """Whether it is of the instant of its device's newest snapshot."""
        return self._devices.get(snapshot.device) == (snapshot.boot_id, snapshot.reference_time_ns)

    def compare(self, snapshot):
        """What of a snapshot contradicts those before, or itself. Remembers it."""
        return [*self._time(snapshot), *_repetitions(snapshot), *self._compare_rows(snapshot)]

    def _time(self, snapshot):
        boot_id, time_ns = self._devices.pop(snapshot.device, (None, 0))
        self._devices[snapshot.device] = (snapshot.boot_id, snapshot.reference_time_ns)
        if len(self._devices) > self._devices_max:
            self._devices.popitem(last=False)
        if boot_id == snapshot.boot_id and snapshot.reference_time_ns < time_ns:
            text = "%s: the time since its boot went back from %d to %d ns" % (snapshot.device, time_ns,
                                                                              snapshot.reference_time_ns)
            yield Inconsistent(snapshot.device, InconsistentKind.TIME_FELL, text)

    def _compare_rows(self, snapshot):
        newest = {}
        for row in snapshot.rows:
            known = newest.get(row.scope.key)
            if known is None or known.scope.generation <= row.scope.generation:
                newest[row.scope.key] = row
        for key, row in newest.items():
            before = self._rows.pop((snapshot.boot_id, key), None)
            self._remember((snapshot.boot_id, key), row, before)
            if before is not None:
                yield from _compare(before, row)

    def _remember(self, key, row, before):
        self._counters += len(row.counters) - (len(before.counters) if before is not None else 0)
        self._rows[key] = row
        while len(self._rows) > self._rows_max or (self._counters > self._counters_max and len(self._rows) > 1):
            _, forgotten = self._rows.popitem(last=False)
            self._counters -= len(forgotten.counters)


def _compare(before, row):
    scope = row.scope
    if scope.generation < before.scope.generation:
        yield Inconsistent(scope.device, InconsistentKind.GENERATION_FELL,
                           "%s: the generation went back from %d to %d" % (scope, before.scope.generation, scope.generation))
    if scope.generation != before.scope.generation:
        return
    fallen = [event for event in row if event in before.counters.keys() and row[event] < before[event]]
    if fallen:
        event = fallen[0]
        more = " (and %d more)" % (len(fallen) - 1) if len(fallen) > 1 else ""
        text = "%s: %s fell from %d to %d within generation %d%s" % (scope, event, before[event], row[event],
                                                                    scope.generation, more)
        yield Inconsistent(scope.device, InconsistentKind.COUNT_FELL, text)


def _repetitions(snapshot):
    rows = collections.Counter((row.scope.key, row.scope.generation) for row in snapshot.rows)
    texts = [str(row.scope) for row in snapshot.rows if rows[row.scope.key, row.scope.generation] > 1]
    texts += ["%s of %s" % (event, row.scope) for row in snapshot.rows for event in row.repeated]
    if texts:
        more = " (and %d more)" % (len(texts) - 1) if len(texts) > 1 else ""
        yield Inconsistent(snapshot.device, InconsistentKind.REPEATED,
                           "%s: %s is there more than once in one snapshot%s" % (snapshot.device, texts[0], more))
