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
PROGRESS_S = 15


def folders(below):
    """{folder: its sources}"""
    found = {}
    for top in TOPS:
        for path in sorted((ROOT / top).rglob("*.cc")):
            name = str(path.relative_to(ROOT))
            if not TEST_ONLY.search(name) and any(name.startswith(prefix) for prefix in below):
                found.setdefault(os.path.dirname(name), []).append(name)
    return found


def write_unit(sources, temporary):
    """One translation unit of several sources: their headers are parsed once."""
    unit = Path(temporary) / (sources[0].replace("/", "_") + ".unit.cc")
    unit.write_text("".join('#include "%s"\n' % source for source in sources), encoding="utf-8")
    return unit


def units(sources, temporary):
    """Divides the sources of a folder into as few units as possible: two may give different things the same name."""
    rest = []
    while sources:
        result = subprocess.run(["clang++", "-fsyntax-only", *FLAGS, write_unit(sources, temporary)], cwd=ROOT,
                                capture_output=True, text=True, check=False)
        error = ERROR_IN.search(result.stderr)
        if result.returncode == 0 or len(sources) == 1 or not error or error[1] not in sources:
            yield sources
            sources, rest = rest, []
        else:
            sources, rest = [source for source in sources if source != error[1]], [*rest, error[1]]


def tidy(sources, temporary):
    unit = write_unit(sources, temporary)
    config = LOCKS_ONLY if "--only-locks" in sys.argv else "--config-file=.clang-tidy"
    result = subprocess.run(["clang-tidy", "--quiet", config, unit, "--", *FLAGS], cwd=ROOT, capture_output=True,
                            text=True, check=False)
    return [line for line in result.stdout.splitlines() if FINDING.search(line)] or (
        [] if result.returncode == 0 else [result.stderr.strip()])


def analyse(sources, temporary):
    return [line for unit in units(sources, temporary) for line in tidy(unit, temporary)]


def main():
    groups = folders([argument for argument in sys.argv[1:] if not argument.startswith("--")] or [""])
    passed = failed = 0
    reported = time.monotonic()
    with tempfile.TemporaryDirectory() as temporary, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = {pool.submit(analyse, sources, temporary): folder for folder, sources in groups.items()}
        for done in concurrent.futures.as_completed(results):
            findings = done.result()
            print("".join(line + "\n" for line in dict.fromkeys(findings)), end="", flush=True)
            passed, failed = passed + (not findings), failed + bool(findings)
            if time.monotonic() - reported > PROGRESS_S:
                print("   %d of %d folders" % (passed + failed, len(groups)), flush=True)
                reported = time.monotonic()
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
