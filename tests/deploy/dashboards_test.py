#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""The boards of deploy/grafana are current, well-formed, and of metrics that exist.

That each query has data is the subject of tests/e2e/dashboards_test.py.
"""

import itertools
import os
import re
import subprocess
import sys
import unittest

import boards
import rules_test
from rules_test import read, yaml

_ROOT = rules_test._ROOT
_FOLDER = "deploy/grafana/"
_BOARDS = ("operator", "hardware", "tenant")
_GRAFANA_9 = 36  # the schema version of Grafana 9.0
_COLUMNS = 24
_DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}
# Colours that Grafana adapts to its light and its dark theme.
_COLOURS = {"green", "orange", "red", "text", "transparent"}
# Prometheus' own series.
_OF_PROMETHEUS = {"ALERTS": {"alertname", "alertstate", "device"}, "up": set(), "scrape_samples_scraped": set()}
_OF_OPERATORS = re.compile(r"^## Of the daemon itself \(operators\)$(.*?)^## ", re.MULTILINE | re.DOTALL)
_DESCRIPTION = re.compile(r"(?s)\S.*\.\n\n\[docs/([a-z-]+\.md)\]\(\$\{docs\}/(\1(?:#([\w-]+))?)\)")
_EXAMPLE_VALUES = {"event": "tensor_active_cycles", "__range": "1h", "__rate_interval": "1m"}


def expanded(text):
    """The query with an example for each variable."""
    return boards.interpolate(text, {name: _EXAMPLE_VALUES.get(name, "x") for name in boards.names_of_variables(text)})


def nested(value, key):
    """All values of a key, at any depth."""
    if isinstance(value, dict):
        for name, one in value.items():
            if name == key:
                yield one
            yield from nested(one, key)
    elif isinstance(value, list):
        for one in value:
            yield from nested(one, key)


def overlap(first, second):
    return (first["x"] < second["x"] + second["w"] and second["x"] < first["x"] + first["w"]
            and first["y"] < second["y"] + second["h"] and second["y"] < first["y"] + first["h"])


@unittest.skipUnless(yaml, "python3-yaml is not installed")
class DashboardsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.boards = {name: boards.Board(os.path.join(_ROOT, _FOLDER, name + ".json")) for name in _BOARDS}
        cls.documented = rules_test.Documented(read("docs/metrics.md"), read("deploy/examples/chip.yaml"))
        cls.recorded = {rule["record"] for rule in rules_test.rules() if "record" in rule}

    def test_json_is_current(self):
        result = subprocess.run([sys.executable, "-B", os.path.join(_ROOT, _FOLDER, "generate.py"), "--check"],
                                capture_output=True, text=True, check=False)
        self.assertEqual((result.returncode, result.stderr), (0, ""), "run deploy/grafana/generate.py")

    def test_no_board_is_left_out(self):
        found = {name for name in os.listdir(os.path.join(_ROOT, _FOLDER)) if name.endswith(".json")}
        self.assertEqual(found, {name + ".json" for name in _BOARDS})

    def test_identifiers_are_unique(self):
        uids = [board.json["uid"] for board in self.boards.values()]
        self.assertEqual(len(set(uids)), len(_BOARDS))
        for board in self.boards.values():
            numbers = [panel["id"] for panel in board.json["panels"]]
            self.assertEqual(len(set(numbers)), len(numbers))
            for panel in board.panels():
                references = [target["refId"] for target in panel["targets"]]
                self.assertEqual(len(set(references)), len(references), panel["title"])

    def test_schema_is_that_of_grafana_9(self):
        for board in self.boards.values():
            self.assertEqual(board.json["schemaVersion"], _GRAFANA_9)

    def test_panels_do_not_overlap(self):
        for board in self.boards.values():
            positions = [panel["gridPos"] for panel in board.json["panels"]]
            for one in positions:
                self.assertLessEqual(one["x"] + one["w"], _COLUMNS)
            for first, second in itertools.combinations(positions, 2):
                self.assertFalse(overlap(first, second), (first, second))

    def test_no_datasource_is_fixed(self):
        for board in self.boards.values():
            found = list(nested(board.json, "datasource"))
            self.assertGreater(len(found), len(board.panels()))
            self.assertEqual([one for one in found if one != _DATASOURCE], [])

    def test_colours_suit_both_themes(self):
        for board in self.boards.values():
            for panel in board.panels():
                colours = {one for one in nested(panel["fieldConfig"], "color") if isinstance(one, str)}
                self.assertLessEqual(colours, _COLOURS, panel["title"])

    def test_variables_are_defined_and_used(self):
        for board in self.boards.values():
            defined = [one["name"] for one in board.json["templating"]["list"]]
            self.assertEqual(defined[0], "datasource")
            used = boards.names_of_variables(str(board.json["panels"]))
            queried = {name for one in board.variables().values() for name in boards.names_of_variables(
                one["query"]["query"])}
            self.assertEqual({name for name in used | queried if not name.startswith("__")}, set(defined))
            for name, one in board.variables().items():
                earlier = set(defined[:defined.index(name)])
                self.assertLessEqual(boards.names_of_variables(one["query"]["query"]), earlier, name)

    def test_descriptions_link_to_sections(self):
        for board in self.boards.values():
            for panel in board.panels():
                found = _DESCRIPTION.fullmatch(panel["description"])
                self.assertTrue(found, panel["title"])
                page, _, anchor = found.groups()
                if anchor:
                    self.assertIn(anchor, rules_test.anchors(read("docs/" + page)), panel["title"])

    def expressions(self, board):
        selectors = [boards.label_values(one)[0] for one in board.variables().values()]
        return [expanded(text) for text in selectors + [target["expr"] for _, target in board.queries()]]

    def known_labels(self, metric):
        """The labels of a metric; None if it does not exist. Histograms have series of other names."""
        known = self.documented.labels(re.sub("_bucket$", "", metric))
        return _OF_PROMETHEUS.get(metric) if known is None else known

    def test_metrics_exist(self):
        for board in self.boards.values():
            for expression in self.expressions(board):
                found = rules_test.selectors(expression)
                self.assertTrue(found or "vector" in expression, expression)
                for metric, labels in found.items():
                    if metric in self.recorded:
                        continue
                    known = self.known_labels(metric)
                    self.assertIsNotNone(known, "%s does not exist: %s" % (metric, expression))
                    self.assertLessEqual(labels, known | {"job", "instance"}, expression)

    def test_each_recorded_series_is_shown(self):
        shown = {metric for board in self.boards.values() for text in self.expressions(board)
                 for metric in rules_test.selectors(text)}
        self.assertEqual(self.recorded - shown, set())

    def test_a_tenant_has_the_metrics_of_its_board(self):
        section = _OF_OPERATORS.search(read("docs/metrics.md"))[1]
        operators_only = set(re.findall(r"^\| `([a-z_]+)` \|", section, re.MULTILINE)) | {"sideband_device_complete"}
        self.assertIn("sideband_snapshots_total", operators_only)
        used = {re.sub("_bucket$", "", metric) for text in self.expressions(self.boards["tenant"])
                for metric in rules_test.selectors(text)}
        self.assertEqual(used & operators_only, set())

    def test_provisioning(self):
        source, = yaml.safe_load(read(_FOLDER + "datasource.yml"))["datasources"]
        self.assertEqual(source["type"], _DATASOURCE["type"])
        interval = yaml.safe_load(read("deploy/prometheus/scrape-mtls.yml"))["global"]["scrape_interval"]
        self.assertEqual(source["jsonData"]["timeInterval"], interval)
        provider, = yaml.safe_load(read(_FOLDER + "dashboards.yml"))["providers"]
        self.assertIn(provider["options"]["path"], read(_FOLDER + "README.md"), "the page says where the boards go")


class InterpolationTest(unittest.TestCase):
    """As Grafana's data source for Prometheus formats the values of variables."""

    def test_values(self):
        self.assertEqual(boards.interpolate('a_${x}_b{c=~"$y",d=~"$z"}', {"x": "e", "y": ["1.2:3"], "z": ["f", "g"]}),
                         'a_e_b{c=~"1\\\\.2:3",d=~"(f|g)"}')
        self.assertEqual(boards.interpolate('c=~"$all"[$__rate_interval]', {"all": ".*", "__rate_interval": "4s"}),
                         'c=~".*"[4s]')

    def test_overlap(self):
        one = {"x": 0, "y": 0, "w": 2, "h": 2}
        self.assertTrue(overlap(one, {"x": 1, "y": 1, "w": 2, "h": 2}))
        self.assertFalse(overlap(one, {"x": 2, "y": 0, "w": 2, "h": 2}))
        self.assertFalse(overlap(one, {"x": 0, "y": 2, "w": 2, "h": 2}))


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
