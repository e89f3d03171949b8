# SPDX-License-Identifier: Apache-2.0
"""Rates between two snapshots, right across restarts: of a row only if both have its boot and generation.

    for row in sideband.rates(previous, current):
        print(row.scope, row.per_second["sm_active_cycles"])
"""

import dataclasses
import typing
import warnings

from sideband._counters import Scope, Snapshot
from sideband._names import ByEvent

_NS_PER_S = 1_000_000_000


class InconsistentWarning(UserWarning):
    """The daemon or the device contradicts itself; the text says in what."""


@dataclasses.dataclass(frozen=True)
class RowRates:
    """What a scope counted between two snapshots: exact differences, and events per second of the device's clock."""

    scope: Scope
    elapsed_ns: int
    counts: typing.Mapping[str, int]

    @property
    def per_second(self):
        return ByEvent((event, count * _NS_PER_S / self.elapsed_ns) for event, count in self.counts.items())


def rates(previous, current):
    """Yields a RowRates per row of which both have the same boot id and generation; never anything negative.

    Each argument is a Snapshot, an Update, or an iterable of them, such as the result of Client.get(). A row is absent
    that has restarted or is new, also one of a new VM with the name of a former one, and an event that one of them does
    not have. So is a count that has fallen, with an InconsistentWarning. Events that take turns have differences of
    estimates.
    """
    before = {snapshot.device: snapshot for snapshot in _snapshots(previous)}
    for snapshot in _snapshots(current):
        earlier = before.get(snapshot.device)
        if earlier is not None and earlier.boot_id == snapshot.boot_id:
            yield from _of_device(earlier, snapshot)


def _snapshots(given):
    for one in given if not hasattr(given, "device") and not hasattr(given, "snapshot") else (given,):
        one = getattr(one, "snapshot", one)
        if isinstance(one, Snapshot):
            yield one


def _of_device(earlier, later):
    elapsed_ns = later.reference_time_ns - earlier.reference_time_ns
    if elapsed_ns < 0:
        _warn("%s: the time since its boot went back by %d ns" % (later.device, -elapsed_ns))
    if elapsed_ns <= 0:
        return
    before = {row.scope.key: row for row in earlier.rows}
    for row in later.rows:
        old = before.get(row.scope.key)
        if old is not None and old.scope.generation == row.scope.generation:
            yield RowRates(row.scope, elapsed_ns, _differences(old, row))


def _differences(old, new):
    found = ByEvent()
    both = old.counters.keys() & new.counters.keys()
    for event in filter(both.__contains__, new):
        if new[event] >= old[event]:
            found[event] = new[event] - old[event]
        else:
            _warn("%s: %s fell from %d to %d within a generation" % (new.scope, event, old[event], new[event]))
    return found


def _warn(text):
    warnings.warn(text, InconsistentWarning, stacklevel=2)
