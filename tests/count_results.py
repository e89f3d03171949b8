#!/usr/bin/env python3
"""Prints "PASSED FAILED SKIPPED": the numbers of test cases of one bazel test run, given its --build_event_json_file; to
the standard error a line for each reason for which some were skipped. A test whose program failed without a failed case (a
crash) counts as one failure, as does every target that could not be built. A program that writes no XML of its own is one
case, but where its log ends with the summary of Python's unittest, which counts them."""

import collections
import json
import re
import sys
import urllib.parse
import xml.etree.ElementTree as ElementTree

_SUMMARY = re.compile(r"^Ran (\d+) tests? in .*\n+(?:OK|FAILED)(?: \((.*)\))?$", re.MULTILINE)
_REASON = re.compile(r"""\bskipped (['"])(.*)\1$""", re.MULTILINE)


def count_log(log, summary):
    """As count_cases(), of the log of a unittest program."""
    counts = {name: int(number) for name, number in re.findall(r"([a-z][a-z ]*)=(\d+)", summary[2] or "")}
    failed = sum(counts.get(name, 0) for name in ("failures", "errors", "unexpected successes"))
    skipped = counts.get("skipped", 0)
    reasons = [match[2] for match in _REASON.finditer(log)][:skipped]
    reasons += ["the test says no reason"] * (skipped - len(reasons))
    # What a whole class is skipped for, or fails of, is no test that ran.
    return max(int(summary[1]) - failed - skipped, 0), failed, reasons


def count_cases(uri):
    """(passed, failed, [why each of the others was skipped])"""
    path = urllib.parse.unquote(urllib.parse.urlparse(uri).path)
    root = ElementTree.parse(path).getroot()
    cases = list(root.iter("testcase"))
    log = root.findtext(".//system-out") or ""
    summaries = list(_SUMMARY.finditer(log))
    if len(cases) == 1 and summaries:
        return count_log(log, summaries[-1])
    failed, reasons = 0, []
    for case in cases:
        skip = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif skip is not None or case.get("result") == "skipped":
            text = "" if skip is None else skip.get("message") or skip.text or ""
            reasons.append((text.strip().splitlines() or ["the test says no reason"])[-1])
    return len(cases) - failed - len(reasons), failed, reasons


def count_test(result):
    passed, failed, reasons = 0, 0, []
    for output in result.get("testActionOutput", []):
        if output["name"] == "test.xml":
            passed, failed, reasons = count_cases(output["uri"])
    if result.get("status") not in ("PASSED", "FLAKY"):
        failed = max(failed, 1)
    return passed, failed, reasons


def main(events_file):
    passed = failed = 0
    skipped = collections.Counter()
    with open(events_file, encoding="utf-8") as events:
        for line in events:
            event = json.loads(line)
            if "testResult" in event:
                more_passed, more_failed, reasons = count_test(event["testResult"])
                passed += more_passed
                failed += more_failed
                skipped.update(reasons)
            elif "targetCompleted" in event.get("id", {}) and not event.get("completed", {}).get("success", False):
                failed += 1  # the target could not be built
    for reason, number in sorted(skipped.items()):
        print("   skipped %d: %s" % (number, reason), file=sys.stderr)
    print(passed, failed, sum(skipped.values()))


if __name__ == "__main__":
    main(sys.argv[1])
