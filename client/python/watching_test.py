# SPDX-License-Identifier: Apache-2.0
"""A stream whose steps are left, as by a task that is cancelled: nothing is lost, and nothing happens too soon."""

import unittest

import sideband
from fake_daemon import update
from sideband._proto.sideband.v1 import telemetry_pb2 as pb
from sideband._steps import Connect, Disconnect, Read, Sleep
from sideband._subscription import Subscription
from sideband._watching import Watching

LOST = sideband.Unavailable("gone")


class WatchingTest(unittest.TestCase):
    def setUp(self):
        self.now = 1000.0
        stream = Subscription(pb.SubscribeRequest(), 3.0, sideband.Backoff(first_s=8))
        self.watching = Watching(sideband.Config(address="unix:/run/none.sock"), stream, lambda: self.now)
        self.assertEqual(self.drive(None, update(1, sequence=1)).snapshot.snapshot_id, 1)

    def drive(self, *results):
        """The step of next() that is left after those with these results; or the item."""
        operation = self.watching.next()
        try:
            step = next(operation)
            for result in results:
                step = operation.throw(result) if isinstance(result, Exception) else operation.send(result)
        except StopIteration as end:
            return end.value
        operation.close()
        return step

    def test_a_response_is_waited_for_on_the_same_connection(self):
        for _ in range(3):
            self.assertEqual(self.drive(), Read(None))
        self.assertEqual(self.drive(update(2, sequence=2)).snapshot.snapshot_id, 2)

    def test_a_delay_goes_on(self):
        whole = self.drive(LOST, None)
        self.assertTrue(4 <= whole.seconds <= 8, whole)
        for _ in range(3):
            self.now += 1
            self.assertIsInstance(self.drive(), Sleep)
        self.assertAlmostEqual(self.drive().seconds, whole.seconds - 3)
        self.now += 60
        self.assertEqual(self.drive(), Sleep(0.0))
        self.assertIsInstance(self.drive(None), Connect)

    def test_a_loss_is_not_forgotten_while_the_connection_is_closed(self):
        self.assertEqual(self.drive(LOST), Disconnect())
        self.assertIsInstance(self.drive(), Sleep)

    def test_a_final_error_is_raised_again(self):
        self.assertEqual(self.drive(sideband.PermissionDenied("no more")), Disconnect())
        for _ in range(2):
            with self.assertRaisesRegex(sideband.PermissionDenied, "no more"):
                self.drive(None)

    def test_a_refused_answer_is_raised_again(self):
        huge = update(2, sequence=2)
        huge.update.scopes.extend([pb.ScopeCounters()] * 70_000)
        for results in ((huge, None), (None,)):
            with self.assertRaises(sideband.ProtocolError):
                self.drive(*results)

    def test_closed_while_it_waits(self):
        self.assertIsInstance(self.drive(LOST, None), Sleep)
        self.watching.close()
        self.assertEqual(self.drive(), Disconnect())


if __name__ == "__main__":
    unittest.main()
