# SPDX-License-Identifier: Apache-2.0
"""Times, durations and enumerations of messages. Times are whole nanoseconds since 1970, durations whole nanoseconds.

A field that is absent in a message is None here. A value of an enumeration that this version of the package does not
know is its UNKNOWN: newer daemons may have more.
"""

import datetime
import math
import enum

_NS = 1_000_000_000
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
_MICROSECOND = datetime.timedelta(microseconds=1)
# In 1973: an int from 1 up to this is a number of seconds, of milliseconds or of microseconds, and no time here.
_TIME_MIN_NS = 10 ** 17


class Word(str, enum.Enum):
    """An enumeration of a message in lower case: Word.FRESH == "fresh". Derived classes name the message's prefix."""

    def __str__(self):
        return self.value

    @classmethod
    def of(cls, message_enum, number):
        """The member for a number of a message's enumeration, a generated EnumTypeWrapper."""
        descriptor = message_enum.DESCRIPTOR.values_by_number.get(number)
        name = descriptor.name.partition("_")[2] if descriptor is not None else ""
        # The names' common prefix has one word, or two: STATE_FRESH, STREAM_MODE_SAMPLE.
        return cls.__members__.get(name, cls.UNKNOWN)


def field_ns(message, field):
    """The nanoseconds of a Timestamp or Duration in a message; None if it is absent."""
    if not message.HasField(field):
        return None
    value = getattr(message, field)
    return value.seconds * _NS + value.nanos


def optional(message, field):
    return getattr(message, field) if message.HasField(field) else None


def datetime_of(time_ns):
    """In UTC, rounded down to the microsecond; None of None. OverflowError beyond the year 9999."""
    return None if time_ns is None else _EPOCH + time_ns // 1000 * _MICROSECOND


def to_ns(seconds):
    """Whole nanoseconds of a number of seconds, or of a datetime.timedelta."""
    if isinstance(seconds, datetime.timedelta):
        return seconds // _MICROSECOND * 1000
    if not isinstance(seconds, (int, float)):
        raise TypeError("a duration is a number of seconds or a datetime.timedelta, not %r" % (seconds,))
    if not math.isfinite(seconds):
        raise ValueError("a duration is finite, not %r" % seconds)
    return seconds * _NS if isinstance(seconds, int) else round(seconds * _NS)


def time_to_ns(time, now_ns):
    """Nanoseconds since 1970 of a datetime with a time zone, of a timedelta before now, or of an int, which is that
    already."""
    if isinstance(time, datetime.timedelta):
        return now_ns - to_ns(time)
    if isinstance(time, datetime.datetime):
        if time.tzinfo is None:
            raise ValueError("a time without a time zone: datetime.now(timezone.utc) has one")
        return (time - _EPOCH) // _MICROSECOND * 1000
    if not isinstance(time, int) or 0 < time < _TIME_MIN_NS:
        kind = ValueError if isinstance(time, int) else TypeError
        raise kind("a time is a datetime.datetime, a datetime.timedelta before now, or nanoseconds since 1970, not %r"
                   % (time,))
    return time


def set_ns(field, value_ns):
    """Sets a Timestamp or Duration of a message."""
    field.seconds, field.nanos = divmod(value_ns, _NS)
