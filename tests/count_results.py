#!/usr/bin/env python3
"""Prints "PASSED FAILED SKIPPED": the numbers of test cases of one bazel test run, given its --build_event_json_file. A
test whose program failed without a failed case (a crash) counts as one failure, as does every target that could not be
built."""

import json
import sys
import urllib.parse
import xml.etree.ElementTree as ElementTree


def count_cases(uri):
    path = urllib.parse.unquote(urllib.parse.urlparse(uri).path)
    cases = list(ElementTree.parse(path).getroot().iter("testcase"))
    failed = sum(1 for case in cases if case.find("failure") is not None or case.find("error") is not None)
    skipped = sum(1 for case in cases if case.find("skipped") is not None or case.get("result") == "skipped")
    return len(cases) - failed - skipped, failed, skipped


def count_test(result):
    passed = failed = skipped = 0
    for output in result.get("testActionOutput", []):
        if output["name"] == "test.xml":
            passed, failed, skipped = count_cases(output["uri"])
    if result.get("status") not in ("PASSED", "FLAKY"):
        failed = max(failed, 1)
    return passed, failed, skipped


def main(events_file):
    passed = failed = skipped = 0
    with open(events_file, encoding="utf-8") as events:
        for line in events:
            event = json.loads(line)
            if "testResult" in event:
                more_passed, more_failed, more_skipped = count_test(event["testResult"])
                passed += more_passed
                failed += more_failed
                skipped += more_skipped
            elif "targetCompleted" in event.get("id", {}) and not event.get("completed", {}).get("success", False):
                failed += 1  # the target could not be built
    print(passed, failed, skipped)


if __name__ == "__main__":
    main(sys.argv[1])
