# SPDX-License-Identifier: Apache-2.0
"""Runs the unittest cases of one module of this folder and writes them to $XML_OUTPUT_FILE, one <testcase> per method.

    runner.py replay_test
"""

import importlib
import os
import re
import signal
import sys
import time
import unittest
import xml.etree.ElementTree as ElementTree

# Characters that XML 1.0 cannot contain, not even escaped.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _visible(text):
    return _NOT_XML.sub(lambda match: "\\u%04x" % ord(match[0]), text)


class CaseResult(unittest.TextTestResult):
    """Records each test, its duration, and its result."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.cases = {}  # test id -> (seconds, [(kind, text)]), in the order of the run
        self._started = time.monotonic()

    def _remember(self, test, *outcomes):
        seconds, known = self.cases.get(test.id(), (0.0, []))
        self.cases[test.id()] = (seconds, known + list(outcomes))

    def startTest(self, test):
        super().startTest(test)
        self._started = time.monotonic()
        self._remember(test)

    def stopTest(self, test):
        super().stopTest(test)
        self.cases[test.id()] = (time.monotonic() - self._started, self.cases[test.id()][1])

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._remember(test, ("failure", self.failures[-1][1]))

    def addError(self, test, err):
        super().addError(test, err)
        self._remember(test, ("failure", self.errors[-1][1]))

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            text = self._exc_info_to_string(err, test)
            self._remember(test, ("failure", "%s\n%s" % (subtest.id(), text)))

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._remember(test, ("skipped", reason))


def write_xml(path, suite_name, cases):
    suite = ElementTree.Element("testsuite", name=suite_name, tests=str(len(cases)))
    for name, (seconds, outcomes) in cases.items():
        group, _, method = name.rpartition(".")
        case = ElementTree.SubElement(suite, "testcase", name=method, classname=group, time="%.3f" % seconds)
        for kind, text in outcomes:
            ElementTree.SubElement(case, kind, message=_visible(text.strip().splitlines()[-1])).text = _visible(text)
    root = ElementTree.Element("testsuites")
    root.append(suite)
    ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def run(suite):
    """The result. SIGTERM is an error of the test that runs, whose programs are stopped and folders removed, and no other
    begins."""
    results = []

    def begin(*arguments):
        results.append(CaseResult(*arguments))
        return results[-1]

    def stop(number, _frame):
        signal.signal(number, signal.SIG_IGN)
        for result in results:
            result.stop()
        raise SystemExit(128 + number)

    signal.signal(signal.SIGTERM, stop)
    return unittest.TextTestRunner(verbosity=2, resultclass=begin).run(suite)


def main(module_name):
    # Bazel links this folder to the source tree; tests must see only the files that they declare.
    sys.path[0] = os.path.dirname(os.path.abspath(__file__))
    suite = unittest.defaultTestLoader.loadTestsFromModule(importlib.import_module(module_name))
    result = run(suite)
    if "XML_OUTPUT_FILE" in os.environ:
        write_xml(os.environ["XML_OUTPUT_FILE"], module_name, result.cases)
    if not result.cases:
        sys.exit("%s has no tests" % module_name)
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
