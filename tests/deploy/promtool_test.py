#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""promtool accepts the files of deploy/prometheus, and the unit tests of their rules pass."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

_RUNFILES = os.path.join(os.environ.get("TEST_SRCDIR", ""), os.environ.get("TEST_WORKSPACE", ""))
_DEPLOY = os.path.join(_RUNFILES, "deploy/prometheus")
# `./dev test` unpacks Prometheus if it is not installed.
_PROMTOOL = os.path.join(os.environ.get("SIDEBAND_PROMETHEUS") or "/usr/bin", "promtool")
_PATIENCE_S = 60
_SCRAPES = ("scrape-mtls.yml", "scrape-token.yml", "scrape-file-sd.yml", "scrape-http-sd.yml")
_AGENT = "agent-shard.yml"
_STREAMS = "agent-streams.yml"
# The rows of docs/metrics.md, and what stands for the patterns in their names.
_ROW = re.compile(r"^\| `([a-z0-9_<>]+)` \| (counter|gauge|histogram) \|", re.MULTILINE)
_PATTERNS = {"<level>": "vm", "<event>": "tensor_active_cycles", "<ratio>": "tensor_active", "<metric>": "sm_activity"}
_SAMPLES = {"histogram": '%s_bucket{le="+Inf"} 1\n%s_sum 1\n%s_count 1\n'}
# The credentials that the examples name, in their folder.
_CREDENTIAL = re.compile(r"\b(?:ca_file|cert_file|key_file|credentials_file): ([^\s,}]+)")


def promtool(*arguments, folder, text=""):
    return subprocess.run([_PROMTOOL, *arguments], cwd=folder, input=text, capture_output=True, text=True,
                          timeout=_PATIENCE_S, check=False)


@unittest.skipUnless(os.path.exists(_PROMTOOL), _PROMTOOL + " is not installed")
class PromtoolTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="sb-")
        self.addCleanup(shutil.rmtree, self.folder)

    def take_examples(self):
        """Copies the examples into the temporary folder, and makes the credentials that they name."""
        # Bazel's runfiles are links.
        shutil.copytree(_DEPLOY, self.folder, dirs_exist_ok=True)
        names = set()
        for name in os.listdir(self.folder):
            if name.endswith(".yml"):
                names.update(_CREDENTIAL.findall(self.read(name)))
        self.assertIn("operator.key", names)
        subprocess.run(["/usr/bin/openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                        "-nodes", "-subj", "/CN=any", "-keyout", "any.key", "-out", "any.pem"],
                       cwd=self.folder, capture_output=True, timeout=_PATIENCE_S, check=True)
        for name in names:
            self.assertEqual(os.path.basename(name), name, "a path that is relative to the example")
            shutil.copy(self.path("any.key" if name.endswith(".key") else "any.pem"), self.path(name))

    def path(self, name):
        return os.path.join(self.folder, name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def check(self, *arguments, folder=None):
        result = promtool(*arguments, folder=folder or self.folder)
        self.assertEqual(result.returncode, 0, "%s\n%s\n%s" % (arguments, result.stdout, result.stderr))
        return result

    def test_rules_are_good(self):
        for name in ("recording.rules.yml", "alerts.rules.yml"):
            self.check("check", "rules", "--lint=all", "--lint-fatal", name, folder=_DEPLOY)

    def test_unit_tests_pass(self):
        for name in ("recording.test.yml", "alerts.test.yml", "hardware.test.yml"):
            self.check("test", "rules", name, folder=os.path.join(_RUNFILES, "tests/deploy"))

    def test_metrics_are_named_as_promtool_demands(self):
        """All of the page, also those that few sites have; docs/metrics.md has the reason of the exception."""
        with open(os.path.join(_RUNFILES, "docs/metrics.md"), encoding="utf-8") as file:
            rows = _ROW.findall(file.read())
        self.assertGreater(len(rows), 100)
        text = ""
        for name, kind in rows:
            name = re.sub("<[a-z]+>", lambda pattern: _PATTERNS[pattern[0]], name)
            text += "# HELP %s Text.\n# TYPE %s %s\n" % (name, name, kind)
            text += _SAMPLES.get(kind, "%s 1\n").replace("%s", name)
        self.assertEqual(promtool("check", "metrics", folder=self.folder, text=text).stderr,
                         'sideband_nvlink_bandwidth_bits_per_second use base unit "bytes" instead of "bits"\n')

    def test_configurations_are_good(self):
        self.take_examples()
        for name in _SCRAPES:
            result = self.check("check", "config", "--lint=all", "--lint-fatal", name)
            self.assertIn("2 rule files found", result.stdout, name)
        for name in (_AGENT, _STREAMS):
            self.check("check", "config", "--agent", name)

    def test_no_configuration_is_left_out(self):
        known = {*_SCRAPES, _AGENT, _STREAMS, "recording.rules.yml", "alerts.rules.yml", "targets.yml"}
        self.assertEqual({name for name in os.listdir(_DEPLOY) if name.endswith(".yml")}, known)

    def test_a_bad_configuration_is_noticed(self):
        self.take_examples()
        os.remove(self.path("operator.key"))
        self.assertNotEqual(promtool("check", "config", "scrape-mtls.yml", folder=self.folder).returncode, 0)

    def instances(self, config):
        """(all instances that service discovery finds, those that relabelling keeps)"""
        found = None
        for seconds in (1, 5, 25):  # promtool always waits that long; more only where the machine is slow
            found = json.loads(self.check("check", "service-discovery", "--timeout=%ds" % seconds, config,
                                          "sideband").stdout)
            if found:
                break
        everything = {target["discoveredLabels"]["__address__"] for target in found}
        return everything, {target["labels"]["instance"] for target in found if target["labels"]}

    def test_two_agents_share_the_targets(self):
        self.take_examples()
        first = self.read(_AGENT)
        # As README.md says.
        second = first.replace('regex: "0"', 'regex: "1"')
        self.assertNotEqual(first, second)
        with open(self.path("agent-shard-1.yml"), "w", encoding="utf-8") as file:
            file.write(second)
        everything, kept_by_first = self.instances(_AGENT)
        _, kept_by_second = self.instances("agent-shard-1.yml")
        self.assertEqual(len(everything), 4)
        self.assertEqual(kept_by_first & kept_by_second, set())
        self.assertEqual(kept_by_first | kept_by_second, everything)
        self.assertTrue(kept_by_first and kept_by_second, "the example is of no use if one agent has nothing to do")


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
