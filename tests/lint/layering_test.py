#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Permitted dependencies between folders, no cycle among them, and every include is a dependency of its target.

The BUILD files and the sources are read as text. Tests may depend on more folders than the tested code, but must not
close a cycle.
"""

import collections
import os
import re
import sys
import unittest

from build_files import PROGRAMS, read_targets, targets_of

_RUNFILES = os.path.join(os.environ.get("TEST_SRCDIR", ""), os.environ.get("TEST_WORKSPACE", ""))

# {folder: the folders that its libraries and programs may depend on}
ALLOWED = {
    "client": ("client/bus", "client/cli", "client/demo", "client/lib", "client/top", "proto/base"),
    "client/bus": ("client/cli", "client/lib", "proto/base", "proto/mailbox", "proto/smbus"),
    "client/cli": ("client/lib", "proto/api", "proto/attestation", "proto/audit", "proto/base", "proto/envelope",
                   "proto/exchange", "proto/exposition", "proto/mailbox", "proto/registers",
                   "proto/smbus"),
    "client/cpp": ("client/lib", "proto/api", "proto/base"),
    "client/demo": ("client/cli", "proto/attestation", "proto/base"),
    "client/lib": ("proto/api", "proto/attestation", "proto/base", "proto/envelope", "proto/exchange",
                   "proto/mailbox", "proto/registers"),
    "client/top": ("client/cli", "client/lib", "proto/api", "proto/base"),
    "daemon": ("daemon/audit", "daemon/authz", "daemon/base", "daemon/bmc", "daemon/board", "daemon/collector",
               "daemon/config", "daemon/counting", "daemon/grpc", "daemon/history", "daemon/http", "daemon/identity", "daemon/listen",
               "daemon/metrics", "daemon/redfish", "daemon/sealing", "daemon/snapshot", "daemon/transport",
               "daemon/view", "proto/base", "proto/envelope", "proto/exchange", "proto/smbus"),
    "daemon/audit": ("daemon/base", "daemon/metrics", "proto/audit", "proto/base"),
    "daemon/authz": ("daemon/identity", "daemon/snapshot", "proto/base", "proto/mailbox"),
    "daemon/base": ("proto/base",),
    "daemon/bmc": ("daemon/base", "daemon/board", "daemon/collector", "daemon/config", "daemon/listen",
                   "daemon/metrics", "daemon/snapshot", "proto/base", "proto/envelope", "proto/mailbox"),
    "daemon/board": ("proto/base", "proto/exposition", "proto/mailbox", "proto/smbus"),
    "daemon/collector": ("daemon/audit", "daemon/authz", "daemon/base", "daemon/board", "daemon/counting",
                         "daemon/mailbox", "daemon/metrics", "daemon/sealing", "daemon/snapshot", "daemon/transport",
                         "proto/base", "proto/clocks", "proto/mailbox"),
    "daemon/config": ("daemon/board", "daemon/counting", "daemon/snapshot", "proto/base", "proto/mailbox",
                      "proto/smbus"),
    "daemon/counting": ("daemon/audit", "daemon/base", "daemon/mailbox", "daemon/metrics", "daemon/snapshot",
                        "proto/base", "proto/mailbox"),
    "daemon/exposition": ("daemon/board", "daemon/snapshot", "daemon/view", "proto/exposition", "proto/mailbox"),
    "daemon/grpc": ("daemon/base", "daemon/config", "daemon/identity", "daemon/listen",
                    "daemon/metrics", "daemon/sealing", "daemon/stream", "daemon/view", "proto/api", "proto/base",
                    "proto/envelope"),
    "daemon/history": ("daemon/board", "daemon/snapshot", "proto/base"),
    "daemon/http": ("daemon/authz", "daemon/base", "daemon/board", "daemon/config", "daemon/exposition",
                    "daemon/identity", "daemon/listen", "daemon/metrics", "daemon/redfish", "daemon/view",
                    "proto/api", "proto/base", "proto/exposition", "proto/mailbox"),
    "daemon/identity": ("daemon/base", "proto/base"),
    "daemon/listen": ("daemon/base", "daemon/config", "daemon/identity", "daemon/metrics", "proto/base"),
    "daemon/mailbox": ("daemon/base", "daemon/snapshot", "daemon/transport", "proto/base", "proto/mailbox",
                       "proto/smbus"),
    "daemon/metrics": ("proto/base", "proto/exposition"),
    "daemon/redfish": ("daemon/board", "daemon/view", "proto/api", "proto/base", "proto/exposition"),
    "daemon/sealing": ("daemon/base", "daemon/snapshot", "proto/api", "proto/attestation", "proto/base",
                       "proto/envelope", "proto/exchange", "proto/mailbox"),
    "daemon/snapshot": ("proto/api", "proto/base", "proto/mailbox"),
    "daemon/stream": ("daemon/board", "daemon/snapshot", "daemon/view", "proto/api", "proto/base", "proto/envelope"),
    "daemon/transport": ("daemon/base", "proto/base", "proto/smbus"),
    "daemon/view": ("daemon/audit", "daemon/authz", "daemon/base", "daemon/board", "daemon/counting",
                    "daemon/history", "daemon/identity", "daemon/metrics", "daemon/sealing", "daemon/snapshot",
                    "proto/api", "proto/audit", "proto/base", "proto/exchange", "proto/mailbox"),
    "proto/attestation": ("proto/base",),
    "proto/audit": ("proto/base",),
    "proto/clocks": ("proto/base", "proto/mailbox"),
    "proto/envelope": ("proto/base",),
    "proto/exchange": ("proto/attestation", "proto/base", "proto/envelope", "proto/mailbox"),
    "proto/exposition": ("proto/mailbox",),
    "proto/mailbox": ("proto/base",),
    "proto/registers": ("proto/base",),
    "proto/smbus": ("proto/base",),
    "secure_mcu": ("proto/base", "proto/mailbox", "proto/registers", "secure_mcu/chip",
                   "secure_mcu/chip_file", "secure_mcu/device", "secure_mcu/firmware", "secure_mcu/guest_view",
                   "secure_mcu/pipeline", "secure_mcu/serve"),
    "secure_mcu/chip": ("proto/base", "proto/mailbox", "secure_mcu/pipeline", "sim/waveform", "sim/wires"),
    "secure_mcu/chip_file": ("proto/base", "proto/mailbox", "secure_mcu/chip", "secure_mcu/firmware", "sim/riscv",
                             "sim/wires", "sim/workload"),
    "secure_mcu/device": ("proto/base", "proto/clocks", "proto/mailbox", "proto/registers", "secure_mcu/chip",
                          "secure_mcu/chip_file", "secure_mcu/firmware", "secure_mcu/pipeline", "sim/riscv", "sim/waveform", "sim/wires",
                          "sim/workload"),
    "secure_mcu/firmware": ("proto/base", "proto/mailbox", "proto/smbus", "sim/bus"),
    "secure_mcu/guest_view": ("proto/base", "proto/envelope", "proto/mailbox"),
    "secure_mcu/pipeline": ("proto/base", "proto/mailbox", "proto/registers", "sim/wires"),
    "secure_mcu/sealing": ("proto/base", "proto/envelope", "proto/exchange", "proto/mailbox", "secure_mcu/firmware"),
    "secure_mcu/serve": ("proto/base", "proto/envelope", "proto/exchange", "proto/mailbox", "proto/registers",
                         "proto/smbus", "secure_mcu/chip_file", "secure_mcu/device", "secure_mcu/firmware",
                         "secure_mcu/guest_view", "secure_mcu/sealing", "sim/bus"),
    "sim/bus": ("proto/base", "proto/mailbox", "proto/smbus"),
    "sim/riscv": ("proto/base", "sim/wires"),
    "sim/waveform": ("proto/base", "sim/wires"),
    "sim/wires": ("proto/base",),
    "sim/workload": ("proto/base", "sim/wires"),
}

_INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)


def folder_edges(targets, with_tests):
    """{folder: {folder that it depends on: an example}}"""
    edges = collections.defaultdict(dict)
    for target in targets.values():
        if target.is_test and not with_tests:
            continue
        for label in target.dependencies:
            other = targets.get(label)
            if other and other.package != target.package:
                edges[target.package].setdefault(other.package, "%s -> %s" % (target.label, label))
    return edges


def find_cycle(edges):
    """The folders of one cycle; [] if there is no cycle."""
    done, path = set(), []

    def visit(folder):
        if folder in path:
            return path[path.index(folder):] + [folder]
        if folder in done:
            return []
        path.append(folder)
        for other in edges.get(folder, ()):
            cycle = visit(other)
            if cycle:
                return cycle
        done.add(path.pop())
        return []

    for folder in list(edges):
        cycle = visit(folder)
        if cycle:
            return cycle
    return []


class LayeringTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # The link points to the tree that is being built.
        cls.root = os.path.dirname(os.path.realpath(os.path.join(_RUNFILES, "WORKSPACE")))
        cls.targets = read_targets(cls.root)

    def test_the_tree_was_found(self):
        self.assertIn("//daemon:sidebandd", self.targets)
        self.assertGreater(len(self.targets), 200)

    def test_folders_use_only_what_they_may(self):
        edges = folder_edges(self.targets, with_tests=False)
        found = ["%s uses %s: %s" % (folder, other, example)
                 for folder, others in sorted(edges.items()) if folder.split("/")[0] in PROGRAMS
                 for other, example in sorted(others.items()) if other not in ALLOWED.get(folder, ())]
        self.assertEqual(found, [], "\n" + "\n".join(found))

    def test_every_allowance_is_used(self):
        edges = folder_edges(self.targets, with_tests=False)
        unused = ["%s: %s" % (folder, other) for folder, others in sorted(ALLOWED.items())
                  for other in others if other not in edges.get(folder, ())]
        self.assertEqual(unused, [])

    def test_no_cycle(self):
        self.assertEqual(find_cycle(folder_edges(self.targets, with_tests=True)), [])

    def is_written(self, path):
        # Others are generated.
        return os.path.exists(os.path.join(self.root, path))

    def test_every_include_is_a_dependency(self):
        owner = {path: target.label for target in self.targets.values() for path in target.headers}
        found = []
        for target in self.targets.values():
            for path in filter(self.is_written, target.sources + target.headers):
                with open(os.path.join(self.root, path), encoding="utf-8") as file:
                    included = {owner.get(name, target.label) for name in _INCLUDE.findall(file.read())}
                found += ["%s includes from %s, which is none of its deps" % (path, label)
                          for label in sorted(included - target.dependencies - {target.label})]
        self.assertEqual(found, [], "\n" + "\n".join(found))

    def test_what_is_found(self):
        targets = {target.label: target for target in targets_of(
            'sideband_cc_library(\n    name = "a",\n    deps = [\n        ":b",\n        "//y:c",\n    ],\n)\n'
            'sideband_cc_test(\n    name = "b",\n    deps = ["//y"],\n)\n', "x")
            + targets_of('sideband_cc_library(\n    name = "c",\n    deps = ["//x:a"],\n)\n'
                         'sideband_cc_library(\n    name = "y",\n)\n', "y")}
        self.assertEqual(targets["//x:a"].dependencies, {"//x:b", "//y:c"})
        self.assertEqual(folder_edges(targets, with_tests=False),
                         {"x": {"y": "//x:a -> //y:c"}, "y": {"x": "//y:c -> //x:a"}})
        self.assertEqual(find_cycle(folder_edges(targets, with_tests=True)), ["x", "y", "x"])
        self.assertEqual(find_cycle({"x": {"y": ""}, "z": {"y": "", "x": ""}}), [])

    def test_what_a_folder_consists_of(self):
        library, testing, test = targets_of(
            '_MORE = ["d.h"]\nsideband_folder(name = "x", pairs = ["a"], hdrs = ["c.h"] + _MORE, deps = ["//y"],\n'
            '    testing_srcs = ["f.cc"], testing_deps = ["//z:z"], tests = ["a_test.cc"], test_deps = ["//w:v"])\n', "x")
        self.assertEqual((library.label, library.sources, library.headers, library.dependencies, library.is_test),
                         ("//x:x", ["x/a.cc"], ["x/a.h", "x/c.h", "x/d.h"], {"//y:y"}, False))
        self.assertEqual((testing.label, testing.sources, testing.dependencies, testing.is_test),
                         ("//x:testing", ["x/f.cc"], {"//x:x", "//y:y", "//z:z"}, True))
        self.assertEqual((test.label, test.sources, test.dependencies, test.is_test),
                         ("//x:x_test", ["x/a_test.cc"], {"//x:x", "//x:testing", "//y:y", "//z:z", "//w:v"}, True))


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
