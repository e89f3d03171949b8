#!/usr/bin/env python3
"""Prints "PASSED FAILED" of the test cases of the last bazel test run: those of every test.xml below the given folder
that is as new as the run. A test that wrote no cases counts as one."""

import pathlib
import sys
import xml.etree.ElementTree as ElementTree


def count(path):
    root = ElementTree.parse(path).getroot()
    cases = list(root.iter("testcase"))
    failed = sum(1 for case in cases if case.find("failure") is not None or case.find("error") is not None)
    skipped = sum(1 for case in cases if case.find("skipped") is not None)
    return len(cases) - failed - skipped, failed


def main(folder):
    passed = failed = 0
    for path in sorted(pathlib.Path(folder).resolve().rglob("test.xml")):
        more_passed, more_failed = count(path)
        passed += more_passed
        failed += more_failed
    print(passed, failed)


if __name__ == "__main__":
    main(sys.argv[1])
