# SPDX-License-Identifier: Apache-2.0
"""When a stream is opened again, and after how long."""

import unittest

import sideband
from sideband._reconnection import Reconnection

LOST = sideband.Unavailable("gone")


def longest(_, high):
    return high


class ReconnectionTest(unittest.TestCase):
    def setUp(self):
        self.now = 1000.0
        self.it = Reconnection(sideband.Backoff(first_s=1, last_s=4, patience_s=6), 10.0, longest, lambda: self.now)

    def test_a_stream_that_was_never_open_is_not(self):
        with self.assertRaises(sideband.Unavailable):
            self.it.ended(LOST)
        with self.assertRaisesRegex(sideband.Unavailable, "ended the stream before its first response"):
            self.it.ended(None)

    def test_delays_double_up_to_the_last(self):
        self.it.received()
        self.assertEqual([self.it.ended(LOST) for _ in range(4)], [1, 2, 4, 4])
        self.it.received(is_synced=True)
        self.assertEqual(self.it.ended(None), 1)

    def test_a_daemon_that_falls_over_each_time(self):
        delays = []
        for _ in range(4):
            self.it.received()
            self.now += 9.9
            delays.append(self.it.ended(LOST))
        self.assertEqual(delays, [1, 2, 4, 4])

    def test_a_connection_that_holds(self):
        self.it.received()
        self.assertEqual([self.it.ended(LOST) for _ in range(2)], [1, 2])
        self.it.received()
        self.now += 10
        self.assertEqual([self.it.ended(LOST) for _ in range(2)], [1, 2], "the time is that of one connection")
        self.now += 10
        self.assertEqual(self.it.ended(LOST), 4)

    def test_a_daemon_that_was_away_for_long_has_time_to_know_its_devices(self):
        self.it.received(is_synced=True)
        for _ in range(5):
            self.it.ended(LOST)
        self.it.ended(sideband.NotFound("x"))
        with self.assertRaises(sideband.NotFound):
            for _ in range(5):
                self.it.ended(sideband.NotFound("x"))

    def test_delays_are_spread(self):
        lows = []
        spread = Reconnection(sideband.Backoff(first_s=1), uniform=lambda low, high: lows.append((low, high)) or low)
        spread.received()
        spread.ended(LOST)
        self.assertEqual(lows, [(0.5, 1)])

    def test_what_is_a_loss(self):
        for error in (LOST, sideband.Cancelled("x"), sideband.DeadlineExceeded("x")):
            self.it.received(is_synced=True)
            self.assertEqual(self.it.ended(error), 1)

    def test_what_is_final(self):
        for error in (sideband.NotFound("x"), sideband.InvalidArgument("x"), sideband.Unauthenticated("x"),
                      sideband.PermissionDenied("x"), sideband.Internal("x"),
                      sideband.ResourceExhausted("Received message larger than max (20 vs. 10)")):
            self.it.received()
            with self.subTest(error=error), self.assertRaises(type(error)):
                self.it.ended(error)

    def test_a_daemon_that_starts_may_not_know_names_yet(self):
        self.it.received()
        self.it.ended(LOST)
        self.assertEqual([self.it.ended(sideband.NotFound("x")) for _ in range(2)], [2, 4])
        with self.assertRaises(sideband.NotFound):
            self.it.ended(sideband.NotFound("x"))

    def test_credentials_that_have_been_replaced(self):
        self.it.received()
        self.assertEqual(self.it.ended(sideband.Unauthenticated("x"), has_new_credentials=True), 1)
        with self.assertRaises(sideband.Unauthenticated):
            self.it.ended(sideband.Unauthenticated("x"))

    def test_a_limit_is_waited_for(self):
        refused = sideband.ResourceExhausted("at most 64 streams at a time")
        with self.assertRaises(sideband.ResourceExhausted):
            self.it.ended(refused)
        self.it.received()
        self.assertEqual([self.it.ended(error) for error in (LOST, refused, refused, refused)], [1, 2, 4, 4])

    def test_the_daemon_says_when(self):
        self.it.received()
        self.assertEqual(self.it.ended(sideband.ResourceExhausted("x", retry_after_s=2.5)), 2.5)
        self.assertEqual(self.it.ended(sideband.Unavailable("x", retry_after_s=0.1)), 2)


if __name__ == "__main__":
    unittest.main()
