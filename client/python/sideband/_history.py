# SPDX-License-Identifier: Apache-2.0
"""Past counters as columns: a tuple of numbers per event, parallel to the series' points.

    history = client.history(vm="vm1", since=datetime.timedelta(minutes=5))
    for series in history.series:
        print(series.scope, series.host_time_ns[-1], series.counts("sm_active_cycles")[-1])
    frame = history.to_pandas()
"""

import dataclasses
import math
import typing

from sideband import _values
from sideband._counters import COUNTERS_MAX, ROWS_MAX, RowState, Scope, check_count
from sideband._errors import ProtocolError
from sideband._names import ByEvent
from sideband._proto.sideband.v1 import telemetry_pb2 as pb

_NS_PER_S = 1_000_000_000


@dataclasses.dataclass(frozen=True)
class Column:
    """One event of a series. An element is None where nothing had been counted, because of a gate or of turns.

    lowers: of an event that takes turns, what was counted, while `counts` are estimates; else None.
    coverage, interval_coverage: as Counter.coverage and rate_coverage; NaN is unknown, None: all was counted.
    """

    counts: typing.Tuple[typing.Optional[int], ...]
    lowers: typing.Optional[typing.Tuple[int, ...]] = None
    coverage: typing.Optional[typing.Tuple[float, ...]] = None
    interval_coverage: typing.Optional[typing.Tuple[float, ...]] = None

    @classmethod
    def of(cls, message):
        counts = tuple(message.counts)
        lowers = tuple(message.lowers) or None
        if not message.HasField("coverage"):
            return cls(counts, lowers)
        coverage = tuple(message.coverage.of_counts)
        known = tuple(None if share == 0 else count for count, share in zip(counts, coverage))
        return cls(known, lowers, coverage, tuple(message.coverage.of_intervals))


@dataclasses.dataclass(frozen=True)
class Status:
    """The state and flags from the series' point `point` on."""

    point: int
    state: RowState
    flags: typing.Tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Series:
    """A scope between two restarts of its counters: counts of two series are not to be subtracted.

    The times are those of each point, as in Snapshot.
    """

    scope: Scope
    boot_id: int
    host_time_ns: typing.Tuple[typing.Optional[int], ...]
    host_time_error_ns: typing.Tuple[typing.Optional[int], ...]
    reference_time_ns: typing.Tuple[int, ...]
    snapshot_id: typing.Tuple[int, ...]
    columns: typing.Mapping[str, Column]
    statuses: typing.Tuple[Status, ...]

    def __len__(self):
        """The number of points."""
        return len(self.reference_time_ns)

    def counts(self, event):
        """Of an event by its full or its short name. UnknownEvent, a KeyError, if the series has none."""
        return self.columns[event].counts

    def rates(self, event):
        """Events per second of the device's clock since the previous point; None where it is unknown."""
        column = self.columns[event]
        shares = column.interval_coverage or (math.nan,) * len(self)
        points = list(zip(column.counts, self.reference_time_ns))
        return (None,) + tuple(None if share == 0 else _rate(earlier, later)
                               for earlier, later, share in zip(points, points[1:], shares[1:])) if points else ()


def _rate(earlier, later):
    (before, began), (after, ended) = earlier, later
    if before is None or after is None or ended <= began or after < before:
        return None
    return (after - before) * _NS_PER_S / (ended - began)


@dataclasses.dataclass(frozen=True)
class DeviceHistory:
    """The series of one device. oldest_ns: the oldest point that the caller may have; None without a history."""

    device: str
    oldest_ns: typing.Optional[int]
    series: typing.Tuple[Series, ...]

    @classmethod
    def of(cls, message):
        """ProtocolError for a message that contradicts itself, or of more numbers than a daemon sends."""
        check_count(message.device, len(message.series), ROWS_MAX, "series")
        check_count(message.device, sum(len(column.counts) for series in message.series for column in series.columns),
                    COUNTERS_MAX, "counts")
        points = message.points
        times = {"host_time_ns": tuple(_values.field_ns(point, "host_time") for point in points),
                 "host_time_error_ns": tuple(_values.field_ns(point, "host_time_error") for point in points),
                 "reference_time_ns": tuple(point.reference_time_ns for point in points),
                 "snapshot_id": tuple(point.snapshot_id for point in points)}
        series = tuple(_series(message, one, times) for one in message.series)
        return cls(message.device, _values.field_ns(message, "oldest"), series)


def _series(device, message, times):
    length = max((len(column.counts) for column in message.columns), default=0)
    first, end = message.first_point, message.first_point + length
    columns = ByEvent()
    for column in message.columns:
        if column.event >= len(device.events) or len(column.counts) != length or end > len(device.points):
            raise ProtocolError("%s: a history whose columns do not fit its points" % device.device)
        columns[device.events[column.event]] = Column.of(column)
    statuses = tuple(Status(status.point - first, RowState.of(pb.ScopeCounters.State, status.state),
                            tuple(status.flags)) for status in message.statuses)
    return Series(Scope.of(message.scope), message.boot_id, columns=columns, statuses=statuses,
                  **{name: values[first:end] for name, values in times.items()})


@dataclasses.dataclass(frozen=True)
class History:
    """The answer of Client.history. step_ns: the least time between two points; None: every stored point."""

    devices: typing.Tuple[DeviceHistory, ...]
    step_ns: typing.Optional[int]

    @property
    def series(self):
        """Those of all devices."""
        return tuple(series for device in self.devices for series in device.series)

    def to_pandas(self):
        """A pandas.DataFrame with a row per series and point: `time` (UTC), what identifies the series, and a column of
        exact counts (UInt64) per event, <NA> where there is none. ImportError without pandas."""
        pandas = _import_pandas()
        events = sorted({event for series in self.series for event in series.columns})
        if not self.series:
            return pandas.DataFrame(columns=["time", *_KEYS, *events])
        return pandas.concat([_frame(pandas, series, events) for series in self.series], ignore_index=True)

    @classmethod
    def of(cls, message):
        return cls(tuple(map(DeviceHistory.of, message.devices)), _values.field_ns(message, "step"))


_KEYS = ("device", "slice", "vm", "context", "host", "boot_id", "generation")


def _import_pandas():
    try:
        import pandas
    except ImportError:
        raise ImportError("History.to_pandas() needs pandas: install python3-pandas, or `pip install pandas`; "
                          "History.series has the same numbers without it") from None
    return pandas


def _frame(pandas, series, events):
    scope = series.scope
    identity = (scope.device, scope.slice, scope.vm, scope.context, scope.host, series.boot_id, scope.generation)
    dtypes = {"slice": "UInt32", "boot_id": "uint64"}
    columns = {"time": pandas.to_datetime(list(series.host_time_ns), unit="ns", utc=True)}
    for key, value in zip(_KEYS, identity):
        columns[key] = pandas.Series([value] * len(series), dtype=dtypes.get(key))
    for event in events:
        counts = series.counts(event) if event in series.columns.keys() else (None,) * len(series)
        columns[event] = pandas.Series(pandas.array(counts, dtype="UInt64"))
    return pandas.DataFrame(columns)
