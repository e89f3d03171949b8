# SPDX-License-Identifier: Apache-2.0
"""What boards measure, and what happens to them."""

import dataclasses
import typing

from sideband import _values
from sideband._proto.sideband.v1 import sensors_pb2 as pb


class SensorKind(_values.Word):
    """COUNTER: falls only when it begins anew, with a later `created_ns`."""

    UNKNOWN = "unknown"
    GAUGE = "gauge"
    COUNTER = "counter"


def _labels(message):
    return tuple((label.name, label.value) for label in message.labels)


@dataclasses.dataclass(frozen=True)
class SensorDescription:
    """A sensor that has a value; the end of its name is the unit, as in Prometheus."""

    device: str
    name: str
    labels: typing.Tuple[typing.Tuple[str, str], ...]
    description: str
    kind: SensorKind
    group: str

    @classmethod
    def of(cls, device, message):
        return cls(device, message.name, _labels(message), message.description,
                   SensorKind.of(pb.SensorDescription.Kind, message.kind), message.group)


@dataclasses.dataclass(frozen=True)
class Sensor:
    """The newest value of a sensor, in the unit of its name.

    count: of a counter, its exact value times `count_per_unit`. created_ns: of a counter, when it began.
    host_time_ns, age_ns: when its group's last reading began, and how long ago that was.
    """

    device: str
    name: str
    labels: typing.Tuple[typing.Tuple[str, str], ...]
    value: float
    count: typing.Optional[int]
    count_per_unit: int
    created_ns: typing.Optional[int]
    group: str
    host_time_ns: typing.Optional[int]
    age_ns: typing.Optional[int]

    def label(self, name):
        """The value of a label; None without it."""
        return dict(self.labels).get(name)

    @classmethod
    def of(cls, device, message, group=None):
        times = [_values.field_ns(group, name) if group is not None else None for name in ("host_time", "age")]
        return cls(device, message.name, _labels(message), message.value, _values.optional(message, "count"),
                   message.count_per_unit, _values.field_ns(message, "created"), message.group, *times)


def sensors_of(message):
    """The Sensors of a DeviceSensors message."""
    groups = {group.name: group for group in message.groups}
    return tuple(Sensor.of(message.device, sensor, groups.get(sensor.group)) for sensor in message.sensors)


@dataclasses.dataclass(frozen=True)
class DriverMessage:
    """A message of the driver, such as an Xid. `sequence` begins anew with the driver, whose clock `time_ns` is."""

    device: str
    xid: int
    sequence: int
    time_ns: typing.Optional[int]
    text: str
    text_truncated: bool
    later_lost: bool


@dataclasses.dataclass(frozen=True)
class RaisedEvent:
    """An event that the board has raised, as often as the daemon has seen it since the last one of this name."""

    device: str
    name: str
    count: int


@dataclasses.dataclass(frozen=True)
class MessagesLost:
    """So many messages of the driver could not be kept for this stream."""

    device: str
    count: int


def board_event_of(message):
    """A DriverMessage, RaisedEvent or MessagesLost; None of anything else."""
    kind = message.WhichOneof("event")
    if kind == "driver_message":
        driver = message.driver_message
        return DriverMessage(message.device, driver.xid, driver.sequence, _values.field_ns(driver, "time"), driver.text,
                             driver.text_truncated, driver.later_lost)
    if kind == "raised":
        return RaisedEvent(message.device, message.raised.name, message.raised.count)
    if kind == "messages_lost":
        return MessagesLost(message.device, message.messages_lost)
    return None
