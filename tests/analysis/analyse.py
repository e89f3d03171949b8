#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy and clang's lock analysis (-Wthread-safety) over the libraries; README.md says why and how.

    tests/analysis/analyse.py                  # all folders
    tests/analysis/analyse.py daemon/grpc      # some
    tests/analysis/analyse.py --only-locks     # without the checks of .clang-tidy

Prints each finding, and "N passed, M failed" at the end: one for each folder. The generated protobuf headers must be
in bazel-bin.
"""

import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOPS = ("client", "daemon", "proto", "secure_mcu", "sim")
TEST_ONLY = re.compile(r"(_test|_bench)\.cc$|/fake_|/laws/")
FLAGS = ("-std=c++20", "-I.", "-isystem", "bazel-bin", "-isystem", "bazel-bin/proto/api", "-Iclient/cpp/include", "-Wthread-safety", "-mavx2", "-mavx512f",
         "-mavx512vpopcntdq", "-DBOOST_ASIO_DISABLE_FENCED_BLOCK")
LOCKS_ONLY = ("--config={Checks: '-*,clang-diagnostic-thread-safety*', WarningsAsErrors: '*', "
              "HeaderFilterRegex: '(^|/)(proto|sim|secure_mcu|daemon|client)/'}")
ERROR_IN = re.compile(r"^(?:\./)?(\S+\.cc):\d+:\d+: (?:fatal )?error: ", re.MULTILINE)
FINDING = re.compile(r"(?:warning|error): ")
PLACE = re.compile(r"^(?:\./|%s/)?(\S+)/[^/\s]+:\d+:\d+: " % re.escape(str(ROOT)))
PROGRESS_S = 15
# More would save little: by then the headers are a third of the work.
UNIT_SOURCES = 30


def folder_of(finding):
    match = PLACE.match(finding)
    return match and match[1]


def sources(below):
    """The sources of the libraries whose paths begin with one of `below`."""
    return [name for top in TOPS for name in sorted(str(path.relative_to(ROOT)) for path in (ROOT / top).rglob("*.cc"))
            if not TEST_ONLY.search(name) and any(name.startswith(prefix) for prefix in below)]


def groups(names):
    """Neighbours in one unit parse their headers once; several units occupy all processors."""
    return [names[first:first + UNIT_SOURCES] for first in range(0, len(names), UNIT_SOURCES)]


def write_unit(names, temporary):
    """One translation unit of several sources."""
    unit = Path(temporary) / (names[0].replace("/", "_") + ".unit.cc")
    unit.write_text("".join('#include "%s"\n' % name for name in names), encoding="utf-8")
    return unit


def split(names, temporary):
    """(sources that fit into one unit, the others): two may give different things the same name."""
    unit, others = names, []
    while len(unit) > 1:
        result = subprocess.run(["clang++", "-fsyntax-only", "-ferror-limit=0", *FLAGS, write_unit(unit, temporary)],
                                cwd=ROOT, capture_output=True, text=True, check=False)
        if result.returncode == 0:
            break
        rejected = set(ERROR_IN.findall(result.stderr))
        accepted = [name for name in unit if name not in rejected]
        # Errors in headers alone, or in each source, tell nothing about who disturbs whom.
        kept = accepted if 0 < len(accepted) < len(unit) else unit[:len(unit) // 2]
        others += [name for name in unit if name not in kept]
        unit = kept
    return unit, others


def tidy(sources, temporary):
    unit = write_unit(sources, temporary)
    config = LOCKS_ONLY if "--only-locks" in sys.argv else "--config-file=.clang-tidy"
    result = subprocess.run(["clang-tidy", "--quiet", config, unit, "--", *FLAGS], cwd=ROOT, capture_output=True,
                            text=True, check=False)
    return [line for line in result.stdout.splitlines() if FINDING.search(line)] or (
        [] if result.returncode == 0 else [result.stderr.strip()])


def analyse(names, temporary):
    """(the findings, the sources that are still to be analysed)"""
    unit, others = split(names, temporary)
    return tidy(unit, temporary), others


class Findings:
    def __init__(self, names):
        self._names, self._done, self._reported = names, 0, time.monotonic()
        self._folders = {}  # by finding

    def add(self, group, found, others):
        new = [line for line in found if line not in self._folders]
        # A finding without a place, like a crash of clang-tidy, counts for the group.
        self._folders.update((line, folder_of(line) or os.path.dirname(group[0])) for line in new)
        print("".join(line + "\n" for line in new), end="", flush=True)
        self._done += len(group) - len(others)
        if time.monotonic() - self._reported > PROGRESS_S:
            print("   %d of %d sources" % (self._done, len(self._names)), flush=True)
            self._reported = time.monotonic()

    def report(self):
        failed = set(self._folders.values())
        passed = {os.path.dirname(name) for name in self._names} - failed
        print("%d passed, %d failed" % (len(passed), len(failed)))
        return 1 if failed else 0


def main():
    names = sources([argument for argument in sys.argv[1:] if not argument.startswith("--")] or [""])
    findings, left = Findings(names), names
    with tempfile.TemporaryDirectory() as temporary, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        while left:
            results = {pool.submit(analyse, group, temporary): group for group in groups(left)}
            left = []
            for result in concurrent.futures.as_completed(results):
                found, others = result.result()
                findings.add(results[result], found, others)
                left = sorted(left + others)
    return findings.report()


if __name__ == "__main__":
    sys.exit(main())
