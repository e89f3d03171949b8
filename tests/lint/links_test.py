#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Every page's links lead somewhere, and every path or file that a page or a comment names exists."""

import os
import re
import sys
import unittest

_RUNFILES = os.path.join(os.environ.get("TEST_SRCDIR", ""), os.environ.get("TEST_WORKSPACE", ""))
_FOLDERS = ("client", "daemon", "deploy", "docs", "proto", "secure_mcu", "sim", "tests", "third_party")
_LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
_ANCHOR = re.compile(r"\]\(([^)#\s]*)#([^)\s]+)\)")
_PATH = re.compile(r"`((?:%s)/[\w./-]+)`" % "|".join(_FOLDERS))
_COMMENT = re.compile(r"(?://|#) .*")
_PATH_IN_COMMENT = re.compile(r"(?<![\w/:.])((?:%s)/[\w/-]+\.(?:h|cc|md|py|proto|yaml))\b" % "|".join(_FOLDERS))
_FILE = re.compile(r"`(\w+\.(?:h|cc|py|md|proto|bzl|sv|pml))`")
_FILE_IN_COMMENT = re.compile(r"(?<![\w/:.<-])(\w+\.(?:h|cc))\b")
# Files of others, and files that are generated.
_ELSEWHERE = {"errno.h", "fstapi.h", "hpc_registers.h", "sideband_hpc.h", "smbpbi.h", "smbpbi_priv.h", "term.h"}
_SUFFIXES = ("", ".cc", ".h", "_test.cc", ".py", "_test.py")


def paths(root):
    """The paths below root of the pages and of what is in the folders."""
    names = [name for name in os.listdir(root) if name.endswith(".md")]
    for folder in _FOLDERS:
        for parent, _, found in os.walk(os.path.join(root, folder)):
            names += [os.path.relpath(os.path.join(parent, name), root) for name in found]
    return names


def texts(root, names):
    """(path below root, text) of the pages and sources."""
    for name in names:
        if name.endswith((".md", ".h", ".cc", ".py", "BUILD")):
            with open(os.path.join(root, name), encoding="utf-8") as file:
                yield name, file.read()


def named_paths(name, text):
    """The paths below the root that a file names."""
    if not name.endswith(".md"):
        return [path for comment in _COMMENT.findall(text) for path in _PATH_IN_COMMENT.findall(comment)]
    links = [link for link in _LINK.findall(text) if "://" not in link]
    # NAME stands for any.
    paths = [path for path in _PATH.findall(text) if "NAME" not in path]
    return [os.path.normpath(os.path.join(os.path.dirname(name), link)) for link in links] + paths


def named_files(name, text):
    """The files that a file names without their folder."""
    if name.endswith(".md"):
        found = _FILE.findall(text)
    else:
        found = [file for comment in _COMMENT.findall(text) for file in _FILE_IN_COMMENT.findall(comment)]
    return {file for file in found if "NAME" not in file} - _ELSEWHERE


def anchors(text):
    """The anchors of a page's headings, as GitHub makes them."""
    found, counts = set(), {}
    prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    for heading in re.findall(r"^#+ (.+?)\s*$", prose, re.MULTILINE):
        heading = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
        name = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        counts[name] = counts.get(name, -1) + 1
        found.add(name if counts[name] == 0 else "%s-%d" % (name, counts[name]))
    return found


class LinksTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = os.path.dirname(os.path.realpath(os.path.join(_RUNFILES, "WORKSPACE")))
        cls.names = paths(cls.root)
        cls.files = dict(texts(cls.root, cls.names))

    def exists(self, path):
        return any(os.path.exists(os.path.join(self.root, path.rstrip("/") + suffix)) for suffix in _SUFFIXES)

    def test_what_is_named_exists(self):
        found = ["%s names %s" % (name, path) for name, text in sorted(self.files.items())
                 for path in named_paths(name, text) if not self.exists(path)]
        self.assertEqual(found, [], "\n" + "\n".join(found))

    def test_what_is_named_without_a_folder_exists(self):
        known = {os.path.basename(name) for name in self.names}
        found = ["%s names %s" % (name, file) for name, text in sorted(self.files.items())
                 for file in sorted(named_files(name, text) - known)]
        self.assertEqual(found, [], "\n" + "\n".join(found))

    def test_anchors_exist(self):
        known = {name: anchors(text) for name, text in self.files.items() if name.endswith(".md")}
        found = []
        for name, text in sorted(self.files.items()):
            for link, anchor in _ANCHOR.findall(text) if name.endswith(".md") else []:
                page = os.path.normpath(os.path.join(os.path.dirname(name), link)) if link else name
                if "://" not in link and page in known and anchor not in known[page]:
                    found.append("%s names %s#%s" % (name, page, anchor))
        self.assertEqual(found, [], "\n" + "\n".join(found))

    def test_the_files_were_found(self):
        for name in ("README.md", "daemon/README.md", "daemon/main.cc"):
            self.assertIn(name, self.files)

    def test_what_is_found(self):
        self.assertEqual(named_paths("docs/a.md", "[x](b.md#c) [y](../daemon/) [z](https://x.y) `sim/wires`"),
                         ["docs/b.md", "daemon", "sim/wires"])
        self.assertEqual(named_files("docs/a.md", "`%s` `NAME.cc`" % ("b" ".cc")), {"b" ".cc"})
        self.assertEqual(named_files("sim/a.h", "// As in %s.\nint x = 1;  // c.d" % ("b" ".h")), {"b" ".h"})
        self.assertEqual(anchors("# A `b` (c)\n```\n# no\n```\n## A b c\n## [A](x) b c\n"), {"a-b-c", "a-b-c-1", "a-b-c-2"})
        source = "// As %s has it.\nint x;  // %s" % ("sim" "/b.h", "proto" "/c.h")
        self.assertEqual(named_paths("sim/a.h", source), ["sim" "/b.h", "proto" "/c.h"])


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
