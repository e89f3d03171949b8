#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""The words of the programs are what their assembly gives."""

import glob
import json
import os
import sys
import unittest

_HERE = os.path.dirname(os.path.abspath(__file__))
_PROGRAMS = os.path.join(_HERE, "programs")
_TABLE = os.path.join(_HERE, "..", "..", "..", "proto", "registers", "hpc_registers.json")
sys.path.append(_PROGRAMS)

import assemble  # pylint: disable=wrong-import-position


class ProgramsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.table = json.loads(assemble.read(_TABLE))
        cls.rtl = assemble.read(os.path.join(_HERE, "hpc.sv"))

    def test_the_words_are_of_the_sources(self):
        sources = sorted(glob.glob(os.path.join(_PROGRAMS, "*.S")))
        self.assertGreater(len(sources), 0)
        for source in sources:
            with self.subTest(os.path.basename(source)):
                words = assemble.read(source[:-len("S")] + "hex").split()
                self.assertEqual(words, assemble.assemble(self.table, self.rtl, assemble.read(source)))

    def test_a_program_may_name_registers(self):
        """csrr a0, hpcrh and li a1, hpcc_stamp, by hand."""
        words = assemble.assemble(self.table, self.rtl, "csrr a0, hpcrh\nlui a1, hpcc_stamp >> 12\n")
        self.assertEqual(words, ["ce002573", "008005b7"])


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
