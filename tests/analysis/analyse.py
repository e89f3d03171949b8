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
sys.path.insert(0, str(ROOT / "tests/lint"))

import build_files  # noqa: E402

FLAGS = ("-std=c++20", "-I.", "-isystem", "bazel-bin", "-isystem", "bazel-bin/proto/api", "-Iclient/cpp/include", "-Wthread-safety", "-mavx2", "-mavx512f",
         "-mavx512vpopcntdq", "-DBOOST_ASIO_DISABLE_FENCED_BLOCK")
LOCKS_ONLY = ("--config={Checks: '-*,clang-diagnostic-thread-safety*', WarningsAsErrors: '*', "
              "HeaderFilterRegex: '(^|/)(proto|sim|secure_mcu|daemon|client)/'}")
FINDING = re.compile(r"(?:warning|error): ")
PLACE = re.compile(r"^(?:\./|%s/)?(\S+)/[^/\s]+:\d+:\d+: " % re.escape(str(ROOT)))
PROGRESS_S = 15


def folder_of(finding):
    match = PLACE.match(finding)
    return match and match[1]


def units(below):
    """Of the libraries and programs: lists of sources whose paths begin with one of `below`, each what is compiled as one
    unit."""
    for target in build_files.read_targets(ROOT).values():
        if target.is_test or target.package.split("/")[0] not in build_files.PROGRAMS:
            continue
        names = [name for name in target.sources
                 if name.startswith(below) and name.endswith(".cc") and (ROOT / name).exists()]
        if target.in_units:
            yield names
        else:
            yield from ([name] for name in names)


def analyse(names, temporary):
    """The findings in the sources of one unit."""
    unit = Path(temporary) / (names[0].replace("/", "_") + ".unit.cc")
    unit.write_text(build_files.unit_text(names), encoding="utf-8")
    config = LOCKS_ONLY if "--only-locks" in sys.argv else "--config-file=.clang-tidy"
    result = subprocess.run(["clang-tidy", "--quiet", config, unit, "--", *FLAGS], cwd=ROOT, capture_output=True,
                            text=True, check=False)
    return [line for line in result.stdout.splitlines() if FINDING.search(line)] or (
        [] if result.returncode == 0 else [result.stderr.strip()])


class Findings:
    def __init__(self, sources):
        self._sources, self._done, self._reported = sources, 0, time.monotonic()
        self._folders = {}  # by finding

    def add(self, names, found):
        new = [line for line in found if line not in self._folders]
        # A finding without a place, like a crash of clang-tidy, counts for the unit's folder.
        self._folders.update((line, folder_of(line) or os.path.dirname(names[0])) for line in new)
        print("".join(line + "\n" for line in new), end="", flush=True)
        self._done += len(names)
        if time.monotonic() - self._reported > PROGRESS_S:
            print("   %d of %d sources" % (self._done, len(self._sources)), flush=True)
            self._reported = time.monotonic()

    def report(self):
        failed = set(self._folders.values())
        passed = {os.path.dirname(name) for name in self._sources} - failed
        print("%d passed, %d failed" % (len(passed), len(failed)))
        return 1 if failed else 0


def main():
    below = tuple(argument for argument in sys.argv[1:] if not argument.startswith("--"))
    # The largest first, so that all processors have work until the end.
    wanted = sorted(filter(None, units(below or ("",))), key=len, reverse=True)
    findings = Findings([name for names in wanted for name in names])
    with tempfile.TemporaryDirectory() as temporary, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = {pool.submit(analyse, names, temporary): names for names in wanted}
        for result in concurrent.futures.as_completed(results):
            findings.add(results[result], result.result())
    return findings.report()


if __name__ == "__main__":
    sys.exit(main())
