#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles the examples in the headers' leading comments; README.md has the rules.

    tests/examples/check_examples.py            # all
    tests/examples/check_examples.py proto      # only the headers below proto/

Prints "N passed, M failed" at the end, one for each file here; a unit that does not compile and each missing surrounding
fail once.
"""

import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOPS = ("client", "daemon", "proto", "secure_mcu", "sim")
MARKER = re.compile(r"^( *)//@ (\S+)$", re.MULTILINE)
STATEMENT = re.compile(r"([;{}]|\) …)(\s*//.*)?$")
COMPILE = ("clang++", "-std=c++20", "-I.", "-Ibazel-bin", "-Ibazel-bin/proto/api", "-Iclient/cpp/include",
           "-fsyntax-only", "-Wall", "-Werror", "-Wno-unused", "-Wno-unused-value", "-Wno-unused-result")
# So many surroundings are one unit: most of the time is the parsing of what they include.
UNIT = 4


def example_of(header):
    """The code in a header's leading comment, or nothing: comment lines indented by three blanks or more."""
    leading = (ROOT / header).read_text(encoding="utf-8").split("#ifndef", 1)[0]
    lines = [line[5:] for line in leading.splitlines() if line.startswith("//   ")]
    return lines if any(STATEMENT.search(line) for line in lines) else []


def examples(below):
    """{header: lines of its example} of the headers below a folder."""
    headers = [str(path.relative_to(ROOT)) for top in TOPS for path in sorted((ROOT / top).rglob("*.h"))]
    found = {header: example_of(header) for header in headers if header.startswith(below)}
    return {header: lines for header, lines in found.items() if lines}


def fill_in(surroundings, text, wanted):
    """The surroundings with each wanted marker replaced by its header's example, for which #line names the header."""
    def example(match):
        lines = wanted.get(match[2])
        if lines is None:
            is_left_out = (ROOT / match[2]).exists() and example_of(match[2])
            return "" if is_left_out else "#error no example in %s" % match[2]
        next_line = text.count("\n", 0, match.end()) + 2
        return "\n".join(['#line 1 "example of %s"' % match[2], *lines, '#line %d "%s"' % (next_line, surroundings)])
    return MARKER.sub(example, text)


def compile_unit(texts, folder):
    """Compiles {name: surroundings} as one unit, each in a namespace of its own."""
    source = Path(folder) / next(iter(texts)).replace("/", "_")
    parts = ['#line 1 "%s"\n%s' % (name, text.replace("\nnamespace {\n", "\nnamespace %s {\n" % Path(name).stem))
             for name, text in texts.items()]
    source.write_text("\n".join(parts), encoding="utf-8")
    return subprocess.run([*COMPILE, source], cwd=ROOT, capture_output=True, text=True, check=False)


def main():
    below = sys.argv[1] if len(sys.argv) > 1 else ""
    wanted, marked, failed, texts = examples(below), [], 0, {}
    for path in sorted((ROOT / "tests/examples").glob("*.cc")):
        name, text = str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")
        headers = [match[2] for match in MARKER.finditer(text)]
        marked += headers
        if any(header.startswith(below) for header in headers):
            texts[name] = fill_in(name, text, wanted)
    for header in sorted(set(wanted) - set(marked)):
        print("%s: its example is not compiled: no //@ %s in tests/examples" % (header, header))
        failed += 1
    passed = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        items = list(texts.items())
        units = [dict(items[first:first + UNIT]) for first in range(0, len(items), UNIT)]
        for unit, result in zip(units, pool.map(lambda unit: compile_unit(unit, folder), units)):
            print(result.stderr, end="")
            if result.returncode == 0:
                passed += len(unit)
            else:
                failed += 1
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
