#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Versions and dates of packages, the layout of their files, and what counts as third-party code."""

import gzip
import os
import re
import sys
import tempfile
import unittest

RUNFILES = os.path.join(os.environ["TEST_SRCDIR"], os.environ["TEST_WORKSPACE"])
sys.path.insert(0, os.path.join(RUNFILES, "deploy/debian"))
import linked  # noqa: E402
import release  # noqa: E402
import tree  # noqa: E402

HEADER = 'inline constexpr char kVersion[] = "1.2.0";\n'
CHANGELOG = "# Changelog\n## [Unreleased]\n## [1.2.0] - 2026-11-22\n## [1.1.0] - 2025-01-01\n"


def status(*lines):
    return "".join("STABLE_%s\n" % line for line in ("REVISION 7034ce0", "COMMIT_TIME 1795403712") + lines)


class ReleaseTest(unittest.TestCase):
    def test_a_build_without_a_revision_has_the_date_of_the_newest_release(self):
        made = release.Release(HEADER, CHANGELOG, "BUILD_HOST x\nempty\n")
        self.assertEqual((made.debian, made.iso_date()), ("1.2.0-1", "2026-11-22T00:00:00Z"))

    def test_a_commit_is_newer_than_the_release_and_than_older_commits(self):
        made = release.Release(HEADER, CHANGELOG, status())
        self.assertEqual(made.debian, "1.2.0+git20261123.031512.7034ce0-1")
        self.assertEqual(made.iso_date(), "2026-11-23T03:15:12Z")

    def test_a_tagged_commit_is_the_release(self):
        self.assertEqual(release.Release(HEADER, CHANGELOG, status("RELEASE v1.2.0")).debian, "1.2.0-1")
        self.assertIn("+git", release.Release(HEADER, CHANGELOG, status("RELEASE v1.1.0")).debian, "the tag of another")

    def test_a_changed_tree_says_so(self):
        made = release.Release(HEADER, CHANGELOG, status().replace("7034ce0", "7034ce0-dirty"))
        self.assertTrue(made.debian.endswith(".7034ce0.dirty-1"), made.debian)

    def test_the_changelog_entry_has_the_form_of_debian(self):
        entry = release.Release(HEADER, CHANGELOG, "").changelog_entry("sideband", "A B <a@b>")
        self.assertEqual(entry, "sideband (1.2.0-1) unstable; urgency=medium\n\n  * See changelog.gz.\n\n"
                                " -- A B <a@b>  Sun, 22 Nov 2026 00:00:00 +0000\n")


class TreeTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tree = tree.Tree(folder.name)
        self.tree.write("/usr/bin/tool", b"#!/bin/sh\n", executable=True)
        self.tree.write("/etc/tool/b.yaml", b"b\n")
        self.tree.write("/etc/tool/a.yaml", b"a\n")
        self.tree.write("/usr/share/doc/tool.gz", b"text" * 999)
        self.tree.write("/DEBIAN/control", b"Package: tool\n")

    def test_files_are_in_order_without_those_of_control(self):
        self.assertEqual(self.tree.files(),
                         ["/etc/tool/a.yaml", "/etc/tool/b.yaml", "/usr/bin/tool", "/usr/share/doc/tool.gz"])
        self.assertEqual(self.tree.conffiles(), ["/etc/tool/a.yaml", "/etc/tool/b.yaml"])
        self.assertEqual([line.split()[1] for line in self.tree.md5sums().splitlines()],
                         ["usr/bin/tool", "usr/share/doc/tool.gz"])

    def test_links_are_files_without_sums(self):
        self.tree.link("/usr/lib/libtool.so", "libtool.so.0")
        self.assertIn("/usr/lib/libtool.so", self.tree.files())
        self.assertNotIn("libtool", self.tree.md5sums())
        self.assertGreater(self.tree.installed_kib(), 0)
        self.tree.set_times(1000000000)
        self.assertEqual(os.lstat(self.tree.place("/usr/lib/libtool.so")).st_mtime, 1000000000)

    def test_shared_libraries_are_no_programs(self):
        for path, mode in (("/usr/lib/a.so", 0o100644), ("/usr/lib/a.so.0.1", 0o100644), ("/usr/bin/a.sort", 0o100755)):
            self.tree.install(__file__, path)
            self.assertEqual(os.stat(self.tree.place(path)).st_mode, mode, path)

    def test_compressed_files_have_no_date(self):
        with open(self.tree.place("/usr/share/doc/tool.gz"), "rb") as file:
            content = file.read()
        self.assertEqual(content[4:8], b"\0\0\0\0")
        self.assertEqual(gzip.decompress(content), b"text" * 999)

    def test_everything_has_one_date_and_a_fixed_mode(self):
        os.chmod(os.path.join(self.tree.root, "usr"), 0o700)
        self.tree.set_times(1000000000)
        for path, mode in (("/usr/bin/tool", 0o100755), ("/etc/tool/a.yaml", 0o100644), ("/usr", 0o40755)):
            found = os.stat(self.tree.place(path))
            self.assertEqual((found.st_mode, found.st_mtime), (mode, 1000000000), path)


class LinkedTest(unittest.TestCase):
    def test_the_main_licence_is_that_of_most_files(self):
        text = "Format: x\n\nFiles: *\nCopyright: a\n b\nLicense: Expat\n text\n\nFiles: debian/*\nLicense: GPL-2+\n"
        self.assertEqual(linked.main_licence(text), "Expat")
        self.assertEqual(linked.main_licence("Free for all.\n"), "")

    def test_every_header_only_library_is_in_the_table(self):
        with open(os.path.join(RUNFILES, "third_party/BUILD"), encoding="utf-8") as file:
            rules = re.findall(r"^cc_library\(.*?\)$", file.read(), re.MULTILINE | re.DOTALL)
        bare = [rule for rule in rules if "linkopts" not in rule and "testonly" not in rule]
        self.assertEqual(len(bare), len(linked.HEADER_ONLY), "\n".join(bare))


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
