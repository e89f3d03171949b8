#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Every window's truth is within its bounds, in the reference waveform (second_clock.py)."""

import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.environ.get("SIDEBAND_SHARED_DATA")


@unittest.skipUnless(DATA, "SIDEBAND_SHARED_DATA is not set: no reference waveforms")
class SecondClockTest(unittest.TestCase):
    def test_no_truth_is_outside(self):
        result = subprocess.run(
            [sys.executable, os.path.join(HERE, "second_clock.py"), "--trace", os.path.join(DATA, "tinygpu.vcd.gz"),
             "--signals", os.path.join(DATA, "tinygpu.signals.json"), "--windows", os.path.join(HERE, "windows"),
             "--mcu", os.path.join(HERE, "../../../secure_mcu/sideband-mcu")], capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("| 24000 | 0 |", result.stdout)
        self.assertIn("24 of 24 totals", result.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
