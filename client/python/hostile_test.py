# SPDX-License-Identifier: Apache-2.0
"""Messages with anything in them: nothing but an Error may come of them. A failure prints the seed of its message."""

import random
import unittest

import grpc

import sideband
from sideband import _boards, _errors
from sideband._board_stream import BoardEvents
from sideband._proto.sideband.v1 import sensors_pb2, telemetry_pb2 as pb
from sideband._subscription import Subscription

# Parts of what a daemon may say of a retry.
_WORDS = ("; retry in ", "9" * 9, "9" * 400, "0", "1.5", ".", "-", "e9", "h", "m", "s", "ms", "inf", "nan", "\n", "ä", "٣")
_EDGES = (0, 1, -1, 2 ** 31 - 1, -2 ** 31, 2 ** 32 - 1, 2 ** 63 - 1, -2 ** 63, 2 ** 64 - 1)
_RANGES = {"int32": (-2 ** 31, 2 ** 31 - 1), "uint32": (0, 2 ** 32 - 1), "int64": (-2 ** 63, 2 ** 63 - 1),
           "uint64": (0, 2 ** 64 - 1)}


def value_of(field, chance):
    kinds = {field.TYPE_INT32: "int32", field.TYPE_UINT32: "uint32", field.TYPE_INT64: "int64", field.TYPE_UINT64: "uint64"}
    if field.type in kinds:
        low, high = _RANGES[kinds[field.type]]
        return chance.choice([edge for edge in _EDGES if low <= edge <= high])
    if field.type == field.TYPE_ENUM:
        return chance.randint(0, 9)
    return {field.TYPE_STRING: chance.choice(["", "gpu0", "\x00\n", "ä" * 9]), field.TYPE_BYTES: bytes(chance.randint(0, 9)),
            field.TYPE_BOOL: chance.random() < 0.5,
            field.TYPE_DOUBLE: chance.choice([0.0, -1.5, float("nan"), float("inf")])}[field.type]


def fill(message, chance, depth=0):
    """Sets some fields of a message, and of those in it."""
    for field in message.DESCRIPTOR.fields:
        if chance.random() < 0.4 or depth > 5:
            continue
        if field.label == field.LABEL_REPEATED:
            for _ in range(chance.randint(0, 3)):
                if field.message_type is not None:
                    fill(getattr(message, field.name).add(), chance, depth + 1)
                else:
                    getattr(message, field.name).append(value_of(field, chance))
        elif field.message_type is not None:
            getattr(message, field.name).SetInParent()
            fill(getattr(message, field.name), chance, depth + 1)
        else:
            setattr(message, field.name, value_of(field, chance))
    return message


class Refusal(grpc.RpcError):
    """An error with any text and any time of a retry."""

    def __init__(self, chance):
        super().__init__()
        self._details, self._pushback = ("".join(chance.choices(_WORDS, k=chance.randint(0, 8))) for _ in range(2))

    def code(self):
        return grpc.StatusCode.RESOURCE_EXHAUSTED

    def details(self):
        return "later; retry in " + self._details

    def trailing_metadata(self):
        return (("grpc-retry-pushback-ms", self._pushback),)


class HostileTest(unittest.TestCase):
    def check(self, kind, take, count=400):
        for seed in range(count):
            message = fill(kind(), random.Random(seed))
            with self.subTest(kind=kind.__name__, seed=seed):
                try:
                    take(message)
                except sideband.Error:
                    pass

    def test_answers(self):
        self.check(pb.Device, sideband.Device.of)
        self.check(pb.Snapshot, lambda message: list(sideband.rates(*[sideband.Snapshot.of(message)] * 2)))
        self.check(pb.GetHistoryResponse, lambda message: [series.rates(event) for series in sideband.History.of(message).series
                                                           for event in series.columns])
        self.check(pb.GetSpanResponse, sideband.Span.of)
        self.check(sensors_pb2.DeviceSensors, _boards.sensors_of)

    def test_streams(self):
        for mode in (pb.SubscribeRequest.STREAM_MODE_SAMPLE, pb.SubscribeRequest.STREAM_MODE_ON_CHANGE):
            stream = Subscription(pb.SubscribeRequest(stream_mode=mode, sensors=True), timeout_s=1)

            def take(response, stream=stream):
                stream.received(response)
                stream.settle()
                if response.skipped % 2:
                    stream.ended(None)
                    stream.request()
            self.check(pb.SubscribeResponse, take, 2000)

    def test_board_events(self):
        stream = BoardEvents("", True, timeout_s=1)
        self.check(sensors_pb2.WatchBoardEventsResponse, stream.received)

    def test_times_of_a_retry(self):
        told = set()
        for seed in range(4000):
            with self.subTest(seed=seed):
                error = _errors.from_rpc(Refusal(random.Random(seed)), "host:1")
                told.add(error.retry_after_s)
                if error.retry_after_s is not None:
                    self.assertTrue(0 <= error.retry_after_s <= 3600, error.retry_after_s)
        self.assertLessEqual({None, 0, 3600}, told)

    def test_errors_of_a_bus_are_not_of_the_connection(self):
        for details, words in (("the device was not marked: Connection timed out", "not marked: Connection timed out"),
                               ("failed to connect to all addresses; last error: UNKNOWN: unix:/run/x.sock: No such file or "
                                "directory", "the socket is not there: ")):
            failure = grpc.RpcError()
            failure.code, failure.details = lambda: grpc.StatusCode.UNAVAILABLE, lambda details=details: details
            self.assertIn(words, str(_errors.from_rpc(failure, "host:1")))


if __name__ == "__main__":
    unittest.main()
