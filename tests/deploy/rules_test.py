#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Each alert of deploy/prometheus is tested, documented, and of metrics that the daemon has.

promtool does not notice an alert without a test, or on a metric that does not exist: such an alert never fires.
"""

import os
import re
import sys
import unittest

try:
    import yaml
except ImportError:
    yaml = None

_RUNFILES = os.path.join(os.environ.get("TEST_SRCDIR", ""), os.environ.get("TEST_WORKSPACE", ""))
_ROOT = os.path.dirname(os.path.realpath(os.path.join(_RUNFILES, "WORKSPACE")))
_FOLDER = "deploy/prometheus/"
_RULES = (_FOLDER + "recording.rules.yml", _FOLDER + "alerts.rules.yml")
_TESTS = ("tests/deploy/recording.test.yml", "tests/deploy/alerts.test.yml", "tests/deploy/hardware.test.yml")
# {beginning of the names of groups: page of the alerts}; the first that fits.
_RUNBOOK_PAGES = {"sideband_board_": "docs/runbook-boards.md", "": "docs/runbook.md"}
# Stands for the address at which a site serves the pages.
_PAGES = "https://docs.example.org/sideband"
_SEVERITIES = {"critical", "warning"}

# Metrics that docs/metrics.md does not contain.
_OTHER_METRICS = {
    "up": set(),  # Prometheus' own, of each target
    "sideband_vm_owner": {"uuid", "instance_name", "project", "namespace", "pod"},  # the site's: "Owners" on the page
}
# Labels that Prometheus adds to each series.
_TARGET_LABELS = {"job", "instance"}
_KEYWORDS = {"and", "or", "unless", "on", "ignoring", "group_left", "group_right", "by", "without", "offset", "bool"}

_QUERY = re.compile(r"^```promql\n(.*?)\n```$", re.MULTILINE | re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_GROUPING = re.compile(r"\b(?:on|ignoring|group_left|group_right|by|without)\s*\([^)]*\)")
_RANGE = re.compile(r"\[[^\]]*\]")
_SELECTOR = re.compile(r"([a-zA-Z_:][\w:]*)\s*\{([^}]*)\}")
_NAME = re.compile(r"(?<![\w:.])([a-zA-Z_:][\w:]*)(?!\s*\()(?![\w:])")


def read(path):
    with open(os.path.join(_ROOT, path), encoding="utf-8") as file:
        return file.read()


def groups():
    return [group for path in _RULES for group in yaml.safe_load(read(path))["groups"]]


def rules():
    return [rule for group in groups() for rule in group["rules"]]


def alerts():
    return {rule["alert"]: rule for rule in rules() if "alert" in rule}


def unit_tests():
    return [test for path in _TESTS for test in yaml.safe_load(read(path))["tests"]]


def selectors(expression):
    """{metric: label names of its matchers} of a PromQL expression."""
    text = _RANGE.sub("", _GROUPING.sub("", _STRING.sub('""', expression)))
    found = {}
    for name, matchers in _SELECTOR.findall(text):
        found.setdefault(name, set()).update(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", matchers))
    for name in _NAME.findall(_SELECTOR.sub(r"\1", text)):
        if name not in _KEYWORDS:
            found.setdefault(name, set())
    return found


def one_line(expression):
    return " ".join(expression.split())


def anchors(page):
    """The anchors of a page: explicit ones, and of headings as web views of Markdown make them."""
    found = set(re.findall(r'<a (?:id|name)="([^"]+)"', page))
    for heading in re.findall(r"^#+ (.*?) *$", page, re.MULTILINE):
        text = re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower())
        found.add(text.replace(" ", "-"))
    return found


class Documented:
    """The metrics of docs/metrics.md, with their labels."""

    _ROW = re.compile(r"^\| `([a-z0-9_<>]+)` \| (?:counter|gauge|histogram) \|([^|]*)\|", re.MULTILINE)

    def __init__(self, page, chip):
        self._labels = {}
        for name, labels in self._ROW.findall(page):
            names = {label.strip() for label in labels.split(",")} - {""}
            for level in ("device", "vm", "context", "host") if "<level>" in name else ("",):
                self._labels[name.replace("<level>", level)] = names
        # Of boards' metrics, whose rows name the words that `<metric>` stands for.
        self._words = {word for row in re.findall(r"^\| `sideband_board_<metric>_.*$", page, re.MULTILINE)
                       for word in re.findall(r"`([a-z0-9_]+)`", row)}
        self._events = set(re.findall(r"\b[a-z0-9]+(?:_[a-z0-9]+)*_cycles\b", chip)) | {"resident_cycles"}

    def labels(self, metric):
        """The labels of a metric; None if there is no such metric."""
        if metric in self._labels:
            return self._labels[metric]
        board = re.fullmatch(r"(sideband_(?:board|partition)_)(\w+?)(_ratio|_bytes_per_second)", metric)
        if board and board[2] in self._words:
            return self._labels.get(board[1] + "<metric>" + board[3])
        event = re.fullmatch(r"sideband_(device|vm|context|host)_(\w+)_total", metric)
        if event and (event[2] in self._events or re.fullmatch(r"group_\w+_running_cycles", event[2])):
            return self._labels["sideband_%s_<event>_total" % event[1]]
        return None


@unittest.skipUnless(yaml, "python3-yaml is not installed")
class RulesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.alerts = alerts()
        cls.recorded = {rule["record"] for rule in rules() if "record" in rule}
        cls.documented = Documented(read("docs/metrics.md"), read("deploy/examples/chip.yaml"))

    def test_rules_were_found(self):
        self.assertIn("SidebandDeviceAway", self.alerts)
        self.assertIn("vm:sideband_utilisation:ratio_rate5m", self.recorded)
        self.assertEqual(self.documented.labels("sideband_device_up"), {"device"})
        self.assertEqual(self.documented.labels("sideband_vm_flags"), {"device", "slice", "vm", "context", "flag"})
        self.assertIsNotNone(self.documented.labels("sideband_vm_tensor_active_cycles_total"))
        self.assertIsNone(self.documented.labels("sideband_vm_tensor_activ_cycles_total"))
        self.assertIsNone(self.documented.labels("sideband_device_upp"))
        self.assertEqual(self.documented.labels("sideband_partition_nvlink_raw_tx_bytes_per_second"),
                         {"device", "partition", "compute_instance"})
        self.assertIsNone(self.documented.labels("sideband_board_sm_activityy_ratio"))

    def sources(self, expression):
        """The metrics of an expression, also those of the recorded series that it takes."""
        found = set(selectors(expression))
        for rule in reversed(rules()):
            if rule.get("record") in found:
                found |= set(selectors(rule["expr"]))
        return found

    def test_each_alert_is_tested_on_both_sides(self):
        firing, silent = set(), set()
        sources = {name: self.sources(rule["expr"]) for name, rule in self.alerts.items()}
        for test in unit_tests():
            series = {re.split(r"[{\s]", one["series"])[0] for one in test["input_series"]}
            for case in test.get("alert_rule_test", ()):
                name = case["alertname"]
                self.assertIn(name, self.alerts)
                # A case without any series of the alert shows nothing.
                self.assertTrue(series & sources[name], (test["name"], name))
                (firing if case.get("exp_alerts") else silent).add(name)
        self.assertEqual(sorted(set(self.alerts) - firing), [], "alerts that no test shows firing")
        self.assertEqual(sorted(set(self.alerts) - silent), [], "alerts that no test shows not firing")

    def test_each_recorded_name_is_tested(self):
        expressions = [case["expr"] for test in unit_tests() for case in test.get("promql_expr_test", ())]
        tested = {name for expression in expressions for name in selectors(expression)}
        # A rule that a tested one uses is tested with it. Rules use earlier ones only.
        for rule in reversed(rules()):
            if rule.get("record") in tested:
                tested |= set(selectors(rule["expr"]))
        self.assertEqual(sorted(self.recorded - tested), [])

    def check_metrics(self, expression):
        for metric, labels in selectors(expression).items():
            if metric in self.recorded:
                continue
            known = self.documented.labels(metric)
            if known is None:
                known = _OTHER_METRICS.get(metric)
            self.assertIsNotNone(known, "%s is not in docs/metrics.md: %s" % (metric, expression))
            self.assertEqual(labels - known - _TARGET_LABELS, set(), "%s has no such labels" % metric)

    def test_metrics_are_documented(self):
        for rule in rules():
            self.check_metrics(rule["expr"])

    def test_series_of_the_unit_tests_are_documented(self):
        """A test with a label that the daemon does not set would show an alert that never fires."""
        for test in unit_tests():
            for one in test["input_series"]:
                self.check_metrics(one["series"])

    def test_alerts_are_complete(self):
        for name, rule in self.alerts.items():
            self.assertIn(rule["labels"]["severity"], _SEVERITIES, name)
            self.assertEqual(set(rule["annotations"]), {"summary", "description", "runbook_url"}, name)

    def test_runbooks_are_named(self):
        for group in groups():
            page = next(page for start, page in _RUNBOOK_PAGES.items() if group["name"].startswith(start))
            for rule in group["rules"]:
                if "alert" in rule:
                    url = "%s/%s#alert-%s" % (_PAGES, os.path.basename(page), rule["alert"].lower())
                    self.assertEqual(rule["annotations"]["runbook_url"], url)

    def test_runbooks_exist(self):
        known = {
            "%s/%s#%s" % (_PAGES, os.path.basename(page), anchor)
            for page in _RUNBOOK_PAGES.values()
            for anchor in anchors(read(page))
        }
        named = {rule["annotations"]["runbook_url"] for rule in self.alerts.values()}
        self.assertEqual(sorted(named - known), [], "sections that the runbook lacks")

    def test_links_begin_with_the_dashboards_address(self):
        """One command of the page sets both."""
        self.assertIn(_PAGES, read("deploy/grafana/README.md"))
        self.assertIn(_PAGES, read(_FOLDER + "README.md"))

    def test_page_lists_each_alert(self):
        rows = dict(re.findall(r"^\| `(Sideband\w+)` \| (\w+) \|", read(_FOLDER + "README.md"), re.MULTILINE))
        self.assertEqual(rows, {name: rule["labels"]["severity"] for name, rule in self.alerts.items()})

    def test_queries_of_the_page_are_tested(self):
        queries = [one_line(query) for query in _QUERY.findall(read(_FOLDER + "README.md"))]
        self.assertGreater(len(queries), 2)
        tested = [one_line(case["expr"]) for test in unit_tests() for case in test.get("promql_expr_test", ())]
        self.assertEqual([query for query in queries if query not in tested], [])


class SelectorsTest(unittest.TestCase):
    def test_what_is_found(self):
        self.assertEqual(selectors('sum by (a) (rate(x_total{b="c",d!~"e f"}[5m])) / on (g) group_left (h) y > 0.1'),
                         {"x_total": {"b", "d"}, "y": set()})
        self.assertEqual(selectors("r:x:avg offset 10m == 1 and on () absent(up)"), {"r:x:avg": set(), "up": set()})

    def test_anchors(self):
        self.assertEqual(anchors('# Alert `A` is: B!\n<a id="x"></a>\n'), {"alert-a-is-b", "x"})


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
