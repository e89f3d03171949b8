# SPDX-License-Identifier: Apache-2.0
"""The C++ targets of the BUILD files, which are read as text."""

import ast
import os

PROGRAMS = ("client", "daemon", "proto", "secure_mcu", "sim")


class Target:
    """One library, program or test: `sources` and `headers` are paths, `dependencies` labels; with `in_units` the
    sources are compiled together."""

    def __init__(self, package, name, sources, headers, dependencies, is_test, in_units=False):
        self.package, self.name, self.is_test, self.in_units = package, name, is_test, in_units
        self.sources, self.headers = ([os.path.join(package, file) for file in files if ":" not in file]
                                      for files in (sources, headers))
        self.dependencies = {_absolute(label, package) for label in dependencies}

    @property
    def label(self):
        return "//%s:%s" % (self.package, self.name)


def _absolute(label, package):
    if label.startswith(":"):
        return "//%s%s" % (package, label)
    if label.startswith("//") and ":" not in label:
        return "%s:%s" % (label, label.rsplit("/", 1)[1])
    return label


def _value(node, constants):
    """A literal, or a sum of lists with names; [] for what else there is."""
    if isinstance(node, ast.Name):
        return constants.get(node.id, [])
    if isinstance(node, ast.BinOp):
        return _value(node.left, constants) + _value(node.right, constants)
    try:
        return ast.literal_eval(node)
    except ValueError:
        return []


def rules(text):
    """(kind, attributes) of each rule of a BUILD file."""
    constants = {}
    for statement in ast.parse(text).body:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            constants[statement.targets[0].id] = _value(statement.value, constants)
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            call = statement.value
            yield call.func.id, {argument.arg: _value(argument.value, constants) for argument in call.keywords}


def _folder(package, rule):
    """What sideband_folder makes; see //third_party:sideband.bzl."""
    def of(key):
        return rule.get(key, [])

    def library(name, prefix, dependencies):
        sources = [pair + ".cc" for pair in of(prefix + "pairs")] + of(prefix + "srcs")
        headers = [pair + ".h" for pair in of(prefix + "pairs")] + of(prefix + "hdrs")
        if sources or headers:
            targets.append(Target(package, name, sources, headers, dependencies, prefix != "", True))
        return [":" + name] if sources or headers else []

    targets = []
    own = library(rule["name"], "", of("deps"))
    own += library("testing", "testing_", own + of("deps") + of("testing_deps"))
    dependencies = own + of("deps") + of("testing_deps") + of("test_deps")
    if of("tests"):
        targets.append(Target(package, rule["name"] + "_test", of("tests"), [], dependencies, True, True))
    for name, test in rule.get("isolated_tests", {}).items():
        sources = test.get("srcs", [name + ".cc"])
        targets.append(Target(package, name, sources, [], test.get("deps", dependencies), True, True))
    return targets


def targets_of(text, package):
    """The C++ targets of a BUILD file's text."""
    targets = []
    for kind, rule in rules(text):
        if kind == "sideband_folder":
            targets += _folder(package, rule)
        elif kind.startswith(("sideband_cc_", "sideband_proto_", "cc_")) and "name" in rule:
            targets.append(Target(package, rule["name"], rule.get("srcs", []), rule.get("hdrs", []),
                                  rule.get("deps", []), kind.endswith("_test") or rule.get("testonly") is True,
                                  kind != "sideband_cc_binary"))
    return targets


def read_targets(root):
    """All C++ targets of the repository by their labels."""
    targets = {}
    for folder in PROGRAMS + ("tests",):
        for parent, _, names in os.walk(os.path.join(root, folder)):
            if "BUILD" in names:
                package = os.path.relpath(parent, root)
                with open(os.path.join(parent, "BUILD"), encoding="utf-8") as file:
                    for target in targets_of(file.read(), package):
                        targets[target.label] = target
    return targets
