#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""No test is lost: the tests in the sources are those of test_names.txt, each C++ source of tests is in one program, each
script in a BUILD, and what BUILD files name as threaded are suites.

    tests/lint/test_names_test.py --update     # writes test_names.txt; what it loses, the commit's message explains
"""

import collections
import os
import re
import sys
import unittest

from build_files import read_targets, rules

_RUNFILES = os.path.join(os.environ.get("TEST_SRCDIR", ""), os.environ.get("TEST_WORKSPACE", ""))
_LIST = "tests/lint/test_names.txt"
_TOPS = ("client", "daemon", "deploy", "proto", "secure_mcu", "sim", "tests")
_CASE = re.compile(r"^ *(?:TEST|TEST_F|TEST_P|RC_GTEST_PROP)\(\s*(\w+),\s*(\w+)[,)]", re.MULTILINE)
_METHOD = re.compile(r"^(?:class (\w+)\b|    (?:async )?def (test\w*)\()", re.MULTILINE)


def names_in(path, text):
    """The tests of one file, as FOLDER Suite.Name; of a shell script its own name."""
    folder, name = os.path.split(path)
    if name.endswith(".cc"):
        return ["%s %s.%s" % (folder, *match) for match in _CASE.findall(text)]
    if name.endswith(".sh"):
        return ["%s %s" % (folder, name)]
    suite, found = "", []
    for new_suite, method in _METHOD.findall(text):
        suite = new_suite or suite
        if method:
            found.append("%s %s.%s" % (folder, suite, method))
    return found


def names_below(root):
    """The names of all tests, sorted; one for each definition, also in modules that the tests' scripts import."""
    found = []
    for top in _TOPS:
        for parent, _, files in os.walk(os.path.join(root, top)):
            for name in files:
                if re.search(r"(_test\.(cc|sh)|\.py)$", name):
                    path = os.path.join(parent, name)
                    with open(path, encoding="utf-8") as file:
                        found += names_in(os.path.relpath(path, root), file.read())
    return sorted(found)


def _runs(rule, script):
    """Whether a rule of a BUILD file runs a script of tests, which others may only import."""
    sources = [os.path.basename(source) for source in rule.get("srcs", []) + rule.get("args", [])]
    return rule.get("name") == os.path.splitext(script)[0] or script in sources


class TestNamesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # The link points to the tree that is being built.
        cls.root = os.path.dirname(os.path.realpath(os.path.join(_RUNFILES, "WORKSPACE")))
        cls.found = names_below(cls.root)
        with open(os.path.join(cls.root, _LIST), encoding="utf-8") as file:
            cls.listed = file.read().splitlines()

    def test_the_tree_was_found(self):
        self.assertGreater(len(self.found), 4000)

    def test_none_is_lost(self):
        lost = collections.Counter(self.listed) - collections.Counter(self.found)
        self.assertEqual(sorted(lost), [], "\nno longer in the sources:\n" + "\n".join(sorted(lost)))

    def test_each_new_one_is_listed(self):
        new = collections.Counter(self.found) - collections.Counter(self.listed)
        self.assertEqual(sorted(new), [], "\ntests/lint/test_names_test.py --update adds:\n" + "\n".join(sorted(new)))

    def test_each_source_is_in_one_program(self):
        programs = collections.Counter(source for target in read_targets(self.root).values() for source in target.sources
                                       if source.endswith("_test.cc"))
        below = [os.path.relpath(os.path.join(parent, name), self.root) for top in _TOPS
                 for parent, _, files in os.walk(os.path.join(self.root, top)) for name in files
                 if name.endswith("_test.cc")]
        others = ("proto/attestation/test_verifier_test.cc",)  # compiled with and without NDEBUG
        wrong = ["%s: in %d programs" % (path, programs[path]) for path in sorted(below)
                 if path not in others and programs[path] != 1]
        self.assertEqual(wrong, [], "\n" + "\n".join(wrong))

    def _packages(self):
        """(package, its BUILD file's text) of the whole tree."""
        for top in _TOPS:
            for parent, _, files in os.walk(os.path.join(self.root, top)):
                if "BUILD" in files:
                    with open(os.path.join(parent, "BUILD"), encoding="utf-8") as file:
                        yield os.path.relpath(parent, self.root), file.read()

    def test_each_script_is_in_a_build_file(self):
        texts = dict(self._packages())
        wrong = []
        for top in _TOPS:
            for parent, _, files in os.walk(os.path.join(self.root, top)):
                package = folder = os.path.relpath(parent, self.root)
                while package and package not in texts:
                    package = os.path.dirname(package)
                wrong += [os.path.join(folder, name) for name in files if re.search(r"_test\.(py|sh)$", name)
                          and not any(_runs(rule, name) for _, rule in rules(texts.get(package, "")))]
        self.assertEqual(sorted(wrong), [])

    def test_threaded_suites_exist(self):
        threaded, missing = 0, []
        for package, text in self._packages():
            for _, rule in rules(text):
                sources = [os.path.join(package, name) for name in rule.get("tests", []) if rule.get("threaded")]
                own = {name.partition(" ")[2].partition(".")[0] for path in sources for name in self._names(path)}
                missing += ["%s %s" % (package, suite) for suite in rule.get("threaded", []) if suite not in own]
                threaded += len(rule.get("threaded", []))
        self.assertGreater(threaded, 20)
        self.assertEqual(missing, [])

    def _names(self, path):
        with open(os.path.join(self.root, path), encoding="utf-8") as file:
            return names_in(path, file.read())

    def test_what_is_found(self):
        self.assertEqual(names_in("a/b_test.cc", "TEST(A, B) {\n  TEST_F(\n      C,  D) {\n#TEST(E, F)"),
                         ["a A.B", "a C.D"])
        self.assertEqual(names_in("a/b.py", "class C(unittest.TestCase):\n    def test_d(self):\n    def e(self):\n"
                                            "class F:\n    def test_g(self):\n"), ["a C.test_d", "a F.test_g"])
        self.assertEqual(names_in("a/b_test.sh", "true"), ["a b_test.sh"])


if __name__ == "__main__":
    if sys.argv[1:] == ["--update"]:
        repository = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        with open(os.path.join(repository, _LIST), "w", encoding="utf-8") as output:
            output.writelines(name + "\n" for name in names_below(repository))
    else:
        sys.exit(unittest.main(verbosity=2))
