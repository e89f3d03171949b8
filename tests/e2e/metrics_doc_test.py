# SPDX-License-Identifier: Apache-2.0
"""docs/metrics.md matches the exposed metrics: names, types and labels, in both formats."""

import re
import time
import unittest

from prometheus_client.openmetrics import parser as openmetrics
from prometheus_client import parser as text_format

import programs
import site_layout
import tenant_client

ROW = re.compile(r"^\| `((?:sideband|process)_[a-z_<>]+)` \| (counter|gauge|histogram) \| ([a-z_, ]*?) ?\|", re.MULTILINE)
OPEN_METRICS = "application/openmetrics-text;version=1.0.0"
# These have no series on a healthy site with undisturbed listeners, where no event takes turns (rotation_test.py), and
# without a BMC (bmc_test.py).
RARE = {"sideband_bmc_logins_total", "sideband_bmc_period_seconds", "sideband_bmc_requests_total",
        "sideband_bmc_state", "sideband_bmc_up", "sideband_bmc_values_left_out_total",
        "sideband_<level>_event_coverage_ratio", "sideband_<level>_event_lower_total",
        "sideband_<level>_event_standard_error", "sideband_<level>_event_upper_total",
        "sideband_<level>_flags", "sideband_audit_entries_total", "sideband_audit_lost_total",
        "sideband_connections_refused_total", "sideband_counting_changes_total",
        "sideband_clock_domain_error_bound_seconds", "sideband_clock_domain_frequency_hertz",
        "sideband_clock_domain_refuted_segments_total", "sideband_clock_domain_segments_total",
        "sideband_clock_domain_unused_readings_total", "sideband_descriptors_exhausted_total", "sideband_marks_total",
        "sideband_peek_retries_total", "sideband_sensor_history_span_seconds", "sideband_tls_reloads_total",
        "sideband_trigger_line_error_bound_seconds"}
RATIOS = """ratios:
  - {name: l2_hit, numerator: [l2_hit_cycles], denominator: [l2_hit_cycles, l2_miss_cycles]}
  - {name: backwards, numerator: [sm_active_cycles], denominator: [copy_engine_active_cycles]}
"""
# Counted in every cycle.
GATES = "gate_groups: [{name: all, events: [warps_eligible_cycles], host: true}]\n"


# Of boards, which this site does not have (board_test.py).
BOARD_SECTION = re.compile(r"^## Board sensors$.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)


def documented():
    """{name: (type, labels)}, with patterns as written in the page."""
    with open(programs.runfile("docs/metrics.md"), encoding="utf-8") as page:
        text = BOARD_SECTION.sub("", page.read())
    return {name: (kind, set(filter(None, labels.split(", ")))) for name, kind, labels in ROW.findall(text)}


def peeked(client, request):
    """Whether the device has answered; not before its first snapshot."""
    try:
        return client.telemetry.Peek(request, timeout=programs.PATIENCE_S)
    except tenant_client.grpc.RpcError:
        return None


class MetricsDocTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.site = site_layout.Site(interval="200ms")
        cls.addClassCleanup(cls.site.close)
        config = cls.site.read("sidebandd.yaml").decode().replace("200ms}", "200ms, board: {mailbox: off}}")
        # A second device, which is unreachable, produces errors.
        config = config.replace("devices:\n", 'devices:\n  - {name: gpu1, bus: "unix:away.sock@0x4f", interval: 200ms}\n')
        site_layout.write(cls.site.folder, "sidebandd.yaml", RATIOS + config)
        site_layout.write(cls.site.folder, "chip.yaml", cls.site.read("chip.yaml").decode() + GATES)
        cls.site.start_device()
        cls.site.start_daemon()
        with tenant_client.Client(cls.site, "tenant-a") as client:
            client.telemetry.ListDevices(tenant_client.messages().ListDevicesRequest())
        peek = tenant_client.messages().PeekRequest(device="gpu0", vm="vm1", events=["sm_active_cycles"])
        with tenant_client.Client(cls.site, "operator") as client:
            programs.wait_until(lambda: peeked(client, peek), "an answer to a peek")
        programs.wait_until(lambda: "sideband_vm_l2_hit_ratio" in cls.site.get("tenant-a", "/metrics")[1], "a ratio")
        programs.wait_until(lambda: "sideband_ratios_over_one_total" in cls.site.get("operator", "/metrics")[1],
                            "a ratio over one")
        cls.documented = documented()

    def families(self, user, accept=""):
        status, headers, body = self.site.request(user, "/metrics", {"Accept": accept})
        self.assertEqual(status, 200)
        parser = openmetrics if "openmetrics" in headers["Content-Type"] else text_format
        return list(parser.text_string_to_metric_families(body))

    def document_of(self, sample, kind):
        """The page's name for a sample of the text format."""
        if sample in self.documented:
            return sample
        level = re.match("sideband_(device|vm|context)_", sample)
        if level and kind == "counter":
            return "sideband_<level>_<event>_total"
        at_a_level = sample.replace(level[1], "<level>", 1) if level else sample
        if at_a_level in self.documented:
            return at_a_level
        return "sideband_<level>_<ratio>_ratio" if level and sample.endswith("_ratio") else sample

    def test_everything_exposed_is_on_the_page(self):
        seen = set()
        for user in ("operator", "tenant-a", "tenant-b"):
            for family in self.families(user):
                # The parser removes _total from a counter's name.
                name = self.document_of(family.name + ("_total" if family.type == "counter" else ""), family.type)
                self.assertIn(name, self.documented)
                kind, labels = self.documented[name]
                self.assertEqual(family.type, kind, name)
                for sample in family.samples:
                    self.assertLessEqual(set(sample.labels) - {"le"}, labels, name)
                seen.add(name)
        self.assertEqual(set(self.documented) - seen - RARE, set(), "on the page, but never seen")

    def test_open_metrics_has_the_same_families(self):
        for user in ("operator", "tenant-a", "tenant-b"):
            text = {family.name: family.type for family in self.families(user)}
            strict = {family.name: family.type for family in self.families(user, OPEN_METRICS)}
            self.assertEqual(strict, text)

    def test_open_metrics_says_since_when(self):
        for user in ("operator", "tenant-a"):
            samples = [sample for family in self.families(user, OPEN_METRICS) for sample in family.samples]
            created = {(sample.name.removesuffix("_created"), *sorted(sample.labels.items())): sample.value
                       for sample in samples if sample.name.endswith("_created")}
            totals = {(sample.name.removesuffix("_total"), *sorted(sample.labels.items()))
                      for sample in samples if sample.name.endswith("_total")}
            self.assertEqual(set(created), totals)
            self.assertGreater(len(totals), 30)
            for series, value in created.items():
                self.assertTrue(time.time() - 3600 < value < time.time(), (series, value))
        of_tenant = set(created.values())
        self.assertEqual(len(of_tenant), 1, "all since the device's boot")

    def test_bounds_are_canonical_numbers(self):
        bounds = {sample.labels["le"] for form in (OPEN_METRICS, "") for family in self.families("operator", form)
                  for sample in family.samples if "le" in sample.labels}
        self.assertLessEqual({"0.0005", "1.0", "+Inf"}, bounds)
        self.assertEqual([bound for bound in bounds if bound != "+Inf" and "." not in bound], [])

    def test_ratios_are_shares(self):
        shares = [sample.value for family in self.families("tenant-a") for sample in family.samples
                  if family.name in ("sideband_vm_l2_hit_ratio", "sideband_context_l2_hit_ratio")]
        self.assertEqual(len(shares), 3, "the VM and its two contexts")
        for share in shares:
            self.assertTrue(0 <= share <= 1, share)
        names = {family.name for family in self.families("operator")}
        self.assertNotIn("sideband_vm_backwards_ratio", names)

    def test_pipeline_statistics(self):
        values = {sample.name: sample.value for family in self.families("operator") for sample in family.samples
                  if family.name.startswith("sideband_pipeline_")}
        self.assertEqual(len(values), 7)
        self.assertEqual(values["sideband_pipeline_rotation_inconsistencies_total"], 0)
        self.assertGreater(values["sideband_pipeline_switches_total"], 0)
        self.assertGreaterEqual(values["sideband_pipeline_switch_cycles_total"],
                                11 * values["sideband_pipeline_switches_total"], "eleven steps each")
        self.assertEqual(values["sideband_pipeline_mmu_faults_total"], 0)
        tenants = [family.name for family in self.families("tenant-a") if "pipeline" in family.name]
        self.assertEqual(tenants, [])

    def test_snapshots_add_up(self):
        kept = [sample for family in self.families("operator") for sample in family.samples
                if family.name == "sideband_conservation_ok"]
        self.assertEqual([(sample.labels, sample.value) for sample in kept], [({"device": "gpu0"}, 1.0)])

