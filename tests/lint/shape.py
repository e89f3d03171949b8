#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Measures the shape of the sources: how many files and folders there are, how large, and who uses which header.

    tests/lint/shape.py            # prints a table
    tests/lint/shape.py FOLDER     # prints the headers below FOLDER whose only user is in their own folder

Sources are C++ files without tests; examples of headers are no users. shape_test.py says what may not grow.
"""

import collections
import re
import statistics
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/lint"))

import build_files  # noqa: E402

TOPS = ("client", "daemon", "deploy", "proto", "secure_mcu", "sim", "tests", "third_party")
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
COMMENT = re.compile(r"^ *// ?(.*)$")
# How a paragraph of comments begins that has no subject.
WITHOUT_SUBJECT = re.compile(r"(?:Of|As|Likewise|Those|What|Whose)\b")
# A declaration of a member function, joined into one line; fields end with an underscore.
METHOD = re.compile(r"^[^(/#]*[\w=\])]\(.*\)[^;{]*[;{]")
FIELD = re.compile(r"\w_(?: ABSL_\w+\(.*\))?(?: = .*|\{.*)?;")


def is_test(path):
    return path.endswith("_test.cc")


class Tree:
    def __init__(self):
        paths = [path for top in TOPS for pattern in ("*.h", "*.cc", "BUILD") for path in (ROOT / top).rglob(pattern)]
        self.texts = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in paths}
        self.sources = [name for name in self.texts if name.endswith((".h", ".cc")) and not is_test(name)]
        self.headers = [name for name in self.sources if name.endswith(".h")]

    def lines(self, names):
        return [self.texts[name].count("\n") for name in names]

    def only_users(self):
        """{header: its only user} of headers whose only user, beside their own source, is in their folder."""
        users = collections.defaultdict(set)
        for name in self.sources:
            if not name.startswith("tests/examples/"):
                for included in INCLUDE.findall(self.texts[name]):
                    users[included].add(str(Path(name).with_suffix("")))
        found = {}
        for header in self.headers:
            others = users[header] - {header[:-2]}
            if len(others) == 1 and Path(min(others)).parent == Path(header).parent:
                found[header] = min(others)
        return found

    def largest_class(self):
        """(number of methods, name) of the class with the most that its header declares."""
        largest = (0, "")
        for header in self.headers:
            for name, body in re.findall(r"^class (\w+)[^;]*?\{\n(.*?)^\};", self.texts[header], re.MULTILINE | re.DOTALL):
                members = re.sub(r"\n {6,}", " ", re.sub(r" *//.*", "", body))
                declarations = [line.strip() for line in re.findall(r"^  \w.*$", members, re.MULTILINE)]
                methods = [line for line in declarations if METHOD.match(line) and not FIELD.search(line)]
                largest = max(largest, (len(methods), name))
        return largest

    def without_subject(self, names):
        """The percentage of paragraphs of comments in these files, without the licence, that have no subject."""
        firsts = []
        for name in names:
            before = ""
            for line in self.texts[name].splitlines()[1:]:
                match = COMMENT.match(line)
                text = match[1] if match else ""
                if text and not before:
                    firsts.append(text)
                before = text
        return round(100 * sum(1 for text in firsts if WITHOUT_SUBJECT.match(text)) / len(firsts), 1)


def measure():
    """{what: number}"""
    tree = Tree()
    headers, units = tree.headers, [name for name in tree.sources if name.endswith(".cc")]
    targets = build_files.read_targets(ROOT).values()
    lines = sum(tree.lines(tree.sources))
    build_lines = sum(tree.lines([name for name in tree.texts if Path(name).name == "BUILD"]))
    return {
        "source files": len(tree.sources),
        "lines of a source file, mean": round(lines / len(tree.sources), 1),
        "lines of a header, median": statistics.median(tree.lines(headers)),
        "lines of a .cc, median": statistics.median(tree.lines(units)),
        "lines of sources, in thousands": round(lines / 1000),
        "lines with tests, in thousands": round(sum(tree.lines([n for n in tree.texts if n.endswith((".h", ".cc"))])) / 1000),
        "headers with one user in their own folder, percent": round(100 * len(tree.only_users()) / len(headers), 1),
        "folders with sources": len({str(Path(name).parent) for name in tree.sources}),
        "lines of BUILD": build_lines,
        "lines of BUILD for 100 of sources": round(100 * build_lines / lines, 2),
        "test programs": sum(1 for target in targets if target.is_test and any(map(is_test, target.sources))),
        "methods of the largest class": tree.largest_class()[0],
        "comments of headers without a subject, percent": tree.without_subject(headers),
        "comments of .cc without a subject, percent": tree.without_subject(
            [name for name in tree.texts if name.endswith(".cc")]),
    }


def main():
    if len(sys.argv) > 1:
        for header, user in sorted(Tree().only_users().items()):
            if header.startswith(sys.argv[1]):
                print("%s: %s" % (header, user))
        return
    for what, number in measure().items():
        print("%-52s %g" % (what, number))


if __name__ == "__main__":
    main()
