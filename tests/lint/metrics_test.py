#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Every metric of the daemon is documented, and its name is kept from the events of devices.

A device chooses the names of its events: one that makes a family of the daemon's own name would make the operator's
scrape invalid. Families of events begin with a level; daemon/exposition/family_names.cc lists the others that do.
"""

import os
import re
import sys
import unittest

_RUNFILES = os.path.join(os.environ.get("TEST_SRCDIR", ""), os.environ.get("TEST_WORKSPACE", ""))
# Names in the source, as they are registered.
_NAME = re.compile(r'"((?:sideband|process)_[a-z0-9_]+)"')


def stem(name):
    """What family_names.cc has of it; None for one that no event can have."""
    found = re.fullmatch(r"sideband_((?:device|vm|context|host)_\w+?)(?:_total)?", name)
    return found.group(1) if found else None


class MetricsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        root = os.path.dirname(os.path.realpath(os.path.join(_RUNFILES, "WORKSPACE")))

        def read(path):
            with open(os.path.join(root, path), encoding="utf-8") as file:
                return file.read()

        sources = ["daemon/metrics/" + name for name in os.listdir(os.path.join(root, "daemon/metrics"))
                   if name.endswith(".cc") and not name.endswith("_test.cc")]
        sources += ["daemon/exposition/exposition.cc", "daemon/exposition/device_families.cc"]
        cls.names = {name for path in sources for name in _NAME.findall(read(path))}
        table = re.search(r"kOwnStems\[\] = \{(.*?)\};", read("daemon/exposition/family_names.cc"), re.DOTALL)
        cls.stems = re.findall(r'"([^"]+)"', table.group(1))
        cls.page = read("docs/metrics.md")

    def test_names_were_found(self):
        self.assertIn("sideband_snapshots_total", self.names)
        self.assertIn("sideband_device_up", self.names)
        self.assertGreater(len(self.names), 25)

    def test_names_are_kept_from_events(self):
        self.assertEqual(self.stems, sorted(set(self.stems)))
        self.assertEqual({stem(name) for name in self.names} - {None}, set(self.stems))

    def test_names_are_documented(self):
        def is_documented(name):
            return name in self.page or re.sub("_(device|vm|context|host)_", "_<level>_", name) in self.page

        self.assertEqual([name for name in sorted(self.names) if not is_documented(name)], [])


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
