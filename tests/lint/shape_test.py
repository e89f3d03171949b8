#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""The shape of the sources (shape.py) does not get worse; that they grow is no fault. Who improves a number moves its limit;
who has a reason to move one back says it in the commit."""

import unittest

import shape

MOST = {
    "headers with one user in their own folder, percent": 10.1,
    "folders with sources": 68,
    "lines of BUILD for 100 of sources": 3.1,
    "test programs": 78,
    "methods of the largest class": 60,
    "comments of headers without a subject, percent": 0,
    "comments of .cc without a subject, percent": 0,
}
LEAST = {
    "lines of a header, median": 111,
    "lines of a .cc, median": 197,
    "lines of a source file, mean": 172,
}


class ShapeTest(unittest.TestCase):
    def test_nothing_is_worse_than_its_limit(self):
        measured = shape.measure()
        worse = ["%s: %g, at most %g" % (what, measured[what], most) for what, most in MOST.items() if measured[what] > most]
        worse += ["%s: %g, at least %g" % (what, measured[what], least)
                  for what, least in LEAST.items() if measured[what] < least]
        self.assertEqual(worse, [], "tests/lint/shape.py FOLDER names the headers")

    def test_one_user_is_found(self):
        users = shape.Tree().only_users()
        self.assertEqual(users.get("daemon/collector/published_rows.h"), "daemon/collector/device_collector")
        self.assertNotIn("daemon/collector/bus_jobs.h", users)


if __name__ == "__main__":
    unittest.main()
