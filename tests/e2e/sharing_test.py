# SPDX-License-Identifier: Apache-2.0
"""What another client of a board of today reads beside the daemon, in each mode of its mailbox (sharing.py)."""

import unittest

import sharing

BOARDS, COMMANDS = 2, 120


class SharingTest(unittest.TestCase):
    def measure(self, mode):
        result = sharing.measure(mode, BOARDS, COMMANDS)
        print(mode, result)
        self.assertEqual(result["commands"] + result["errors"], COMMANDS)
        return result

    def test_off_is_right(self):
        result = self.measure("off")
        self.assertEqual((result["wrong"], result["values"]), (0, 0), result)
        # After an error of the bus, on a machine that is too busy, a board is asked again whether it has the extension.
        self.assertLessEqual(result["failed"], BOARDS, result)

    def test_exclusive_is_wrong_and_counted(self):
        result = self.measure("exclusive")
        self.assertGreater(result["wrong"] + result["failed"], COMMANDS / 100, result)
        self.assertGreater(result["values"], 0)

    def test_shared_reads_beside_a_client(self):
        """A client whose pauses are short is wrong at most where the machine delays a step of it."""
        result = self.measure("shared")
        self.assertGreater(result["values"], 0, "the daemon has its turn")
        self.assertLess(result["wrong"] + result["failed"], COMMANDS / 10, result)

    def test_those_who_take_the_lock_are_right(self):
        result = self.measure("shared, with its lock")
        self.assertEqual((result["wrong"], result["failed"], result["wrong_values"]), (0, 0, []), result)
        self.assertGreater(result["values"], 0, "the daemon has its turn")

