#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Every metric of the daemon is documented, and its name is kept from the events of devices.

A device chooses the names of its events: one that makes a family of the daemon's own name would make the operator's
scrape invalid. Families of events begin with a level; proto/exposition/prometheus_text.cc lists the others that do.
"""

import os
import re
import sys
import unittest

_RUNFILES = os.path.join(os.environ.get("TEST_SRCDIR", ""), os.environ.get("TEST_WORKSPACE", ""))
# Names in the source, as they are registered.
_NAME = re.compile(r'"((?:sideband|process)_[a-z0-9_]+[a-z0-9])"')
# Boards' metrics, whose families are named by a word.
_BOARD_METRICS = "daemon/board/sensor_families.cc"
_METRIC_TABLE = re.compile(r"MetricHelp k(Ratios|Bandwidths)\[\] = \{(.*?)\n\};", re.DOTALL)
_METRIC = re.compile(r"\{MetricId::(\w+),")
_WORDS = "proto/mailbox/board_items.h"
_WORD = re.compile(r'\{MetricId::(\w+), "[^"]+", "(\w+)"\}')
_UNITS = {"Ratios": "ratio", "Bandwidths": "bytes_per_second"}


def stem(name):
    """What prometheus_text.cc has of it; None for one that no event can have."""
    found = re.fullmatch(r"sideband_((?:device|vm|context|host)_\w+?)(?:_total)?", name)
    return found.group(1) if found else None


class MetricsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        root = os.path.dirname(os.path.realpath(os.path.join(_RUNFILES, "WORKSPACE")))

        def read(path):
            with open(os.path.join(root, path), encoding="utf-8") as file:
                return file.read()

        sources = [os.path.join(folder, name) for folder in ("daemon/exposition", "daemon/metrics", "daemon/board")
                   for name in os.listdir(os.path.join(root, folder))
                   if name.endswith(".cc") and not name.endswith("_test.cc")]
        sources.append("proto/exposition/prometheus_text.h")
        cls.names = {name for path in sources for name in _NAME.findall(read(path))}
        words = dict(_WORD.findall(read(_WORDS)))
        cls.words = {(words[metric], _UNITS[table]) for table, rows in _METRIC_TABLE.findall(read(_BOARD_METRICS))
                     for metric in _METRIC.findall(rows)}
        cls.names |= {"sideband_%s_%s_%s" % (scope, word, unit) for scope in ("board", "partition")
                      for word, unit in cls.words}
        table = re.search(r"kOwnStems\[\] = \{(.*?)\};", read("proto/exposition/prometheus_text.cc"), re.DOTALL)
        cls.stems = re.findall(r'"([^"]+)"', table.group(1))
        cls.page = read("docs/metrics.md")

    def test_names_were_found(self):
        self.assertIn("sideband_snapshots_total", self.names)
        self.assertIn("sideband_device_up", self.names)
        self.assertIn("sideband_clock_hertz", self.names)
        self.assertIn("sideband_partition_pcie_tx_bytes_per_second", self.names)
        self.assertEqual({unit for _, unit in self.words}, set(_UNITS.values()))
        self.assertGreater(len(self.names), 100)

    def test_names_are_kept_from_events(self):
        self.assertEqual(self.stems, sorted(set(self.stems)))
        self.assertEqual({stem(name) for name in self.names} - {None}, set(self.stems))

    def test_names_are_documented(self):
        by_word = {"sideband_%s_%s_%s" % (scope, word, unit): ("sideband_%s_<metric>_%s" % (scope, unit), word)
                   for scope in ("board", "partition") for word, unit in self.words}

        def is_documented(name):
            names = {name, re.sub("_(device|vm|context|host)_", "_<level>_", name)}
            if any("`%s`" % name in self.page for name in names):
                return True
            return name in by_word and all("`%s`" % part in self.page for part in by_word[name])

        self.assertEqual([name for name in sorted(self.names) if not is_documented(name)], [])


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
