# SPDX-License-Identifier: Apache-2.0
"""A real Prometheus scrapes the daemon as the operator and as each tenant, over mutual TLS and by tokens."""

import os
import re
import subprocess
import unittest

import programs
import prometheus
import site_layout
import tokens

JOBS = ("operator", "tenant-a", "tenant-b")
# Scrapes by a bearer token, without a certificate: (job, subject of its token).
TOKEN_JOBS = {"operator-by-token": "jwt:prometheus", "tenant-b-by-token": site_layout.TRUST + "tenant-b"}
ALL_JOBS = (*JOBS, *TOKEN_JOBS)
# Events' counters, without the daemon's own counters.
EVENTS = "sideband_(device|vm|context)_(sm|warps|instructions|tensor|fp32|int|memory|l2|dram|copy|pcie|nvlink)_.*_total"

QUERY = re.compile(r"^```promql\n(.*?)\n```$", re.MULTILINE | re.DOTALL)
RANGE_S = 5
PAGES = ("docs/metrics.md", "docs/utilisation.md")


def documented_queries():
    """The expressions on the pages; each line that is not indented begins one."""
    found = []
    for page in PAGES:
        with open(programs.runfile(page), encoding="utf-8") as file:
            for block in QUERY.findall(file.read()):
                found += re.split(r"\n(?=\S)", block)
    return found


def of_this_site(expression):
    """The expression with ranges for a site as young as this one: rate() divides by the whole range."""
    return re.sub(r"\[[0-9]+m\]", "[%ds]" % RANGE_S, expression)


CONFIG = """global: {scrape_interval: 1s, scrape_timeout: 1s}
scrape_configs:
"""
JOB = """  - job_name: %(user)s
    scheme: https
    static_configs: [{targets: ["127.0.0.1:%(port)d"]}]
    tls_config: {ca_file: ca.pem, cert_file: %(user)s.pem, key_file: %(user)s.key, min_version: TLS13}
"""
TOKEN_JOB = """  - job_name: %(job)s
    scheme: https
    static_configs: [{targets: ["127.0.0.1:%(port)d"]}]
    tls_config: {ca_file: ca.pem, min_version: TLS13}
    authorization: {credentials_file: %(job)s.token}
"""


def take_tokens(site):
    """Configures the site's daemon to accept tokens, with or without certificates, and writes those of TOKEN_JOBS."""
    issuer = tokens.Issuer("k1")
    site_layout.write(site.folder, "jwks.json", tokens.jwks(issuer))
    config = site.read("sidebandd.yaml").decode().replace(
        "client_ca_file: ca.pem}", "client_ca_file: ca.pem, client_auth_type: VerifyClientCertIfGiven}")
    site_layout.write(site.folder, "sidebandd.yaml",
                      config + "tokens: {jwks_file: jwks.json, audience: %s}\n" % tokens.AUDIENCE)
    operator = '"%soperator"' % site_layout.TRUST
    site_layout.write(site.folder, "policy.yaml",
                      site_layout.POLICY.replace(operator, operator + ', "jwt:prometheus"'))
    for job, identity in TOKEN_JOBS.items():
        site_layout.write(site.folder, job + ".token", issuer.token(identity.replace("jwt:", "")))


@unittest.skipUnless(os.path.exists(prometheus.PROMETHEUS), prometheus.PROMETHEUS + " is not installed")
class PrometheusTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.site = site_layout.Site(interval="500ms")
        cls.addClassCleanup(cls.site.close)
        take_tokens(cls.site)
        cls.site.start()
        config = CONFIG + "".join(JOB % {"user": user, "port": cls.site.http_port} for user in JOBS)
        config += "".join(TOKEN_JOB % {"job": job, "port": cls.site.http_port} for job in TOKEN_JOBS)
        site_layout.write(cls.site.folder, "prometheus.yml", config)
        cls.prometheus = prometheus.Prometheus(cls.site.folder, "prometheus.yml")
        cls.addClassCleanup(cls.prometheus.kill)
        programs.wait_until(cls.all_have_rates, "three scrapes of each job")

    @classmethod
    def query(cls, expression):
        return cls.prometheus.query(expression)

    @classmethod
    def all_have_rates(cls):
        counts = {labels["job"]: count for labels, count in cls.query("count_over_time(up[30s])")}
        return all(counts.get(job, 0) >= 3 for job in ALL_JOBS)

    def vms(self, job, more=""):
        """The VMs, or None for the device, of the event counters that a job has scraped."""
        return {labels.get("vm") for labels, _ in
                self.query('last_over_time({__name__=~"%s",job="%s"%s}[30s])' % (EVENTS, job, more))}

    def test_all_targets_are_up(self):
        up = {labels["job"]: value for labels, value in self.query("min_over_time(up[30s])")}
        self.assertEqual(up, {job: 1 for job in ALL_JOBS})

    def test_tenants_have_their_own_vms_only(self):
        self.assertEqual(self.vms("tenant-a"), {"vm1"})
        self.assertEqual(self.vms("tenant-b"), {"vm2"})
        named = self.query('last_over_time({job="tenant-a",vm!=""}[30s])')
        self.assertEqual({labels["vm"] for labels, _ in named}, {"vm1"})

    def test_a_token_shows_what_a_certificate_shows(self):
        self.assertEqual(self.vms("tenant-b-by-token"), self.vms("tenant-b"))
        self.assertEqual(self.vms("operator-by-token"), self.vms("operator"))
        self.assertEqual(self.query('last_over_time({job="operator-by-token",context!=""}[30s])'), [])

    def test_tenants_have_their_contexts(self):
        for job, contexts in (("tenant-a", {"train", "eval"}), ("tenant-b", {"serve"})):
            found = self.query('last_over_time({job="%s",context!=""}[30s])' % job)
            self.assertEqual({labels["context"] for labels, _ in found}, contexts)

    def test_operator_has_open_vms_and_no_contexts(self):
        self.assertEqual(self.vms("operator"), {None, "vm1", "vm2"})
        self.assertEqual(self.query('last_over_time({job="operator",context!=""}[30s])'), [])

    def test_confidential_vm_is_known_by_name_only(self):
        found = self.query('count by (job, __name__) ({vm="vm3"})')
        self.assertEqual({(labels["job"], labels["__name__"]) for labels, _ in found},
                         {(job, "sideband_vm_info") for job in ("operator", "tenant-b", *TOKEN_JOBS)})

    def test_rates(self):
        """Rates are positive, and not above the maximum of the event's wires."""
        for job, vm in (("operator", "vm1"), ("operator", "vm2"), ("tenant-a", "vm1"), ("tenant-b", "vm2")):
            rates = self.query('rate(sideband_vm_sm_active_cycles_total{job="%s",vm="%s"}[30s])' % (job, vm))
            self.assertEqual(len(rates), 1, (job, vm))
            self.assertGreater(rates[0][1], 0)
            # Scrapes and snapshots are not synchronised: a rate over a short range may be off by part of the interval.
            self.assertLess(rates[0][1], 2 * 8 * 1.4e9)

    def run_query(self, start, job):
        """The result, for one job's identity, of the documented expression that begins like this."""
        found = [expression for expression in documented_queries() if expression.startswith(start)]
        self.assertEqual(len(found), 1, start)
        self.queried.add(found[0])
        return [(labels, value) for labels, value in self.query(of_this_site(found[0])) if labels["job"] == job]

    def test_documented_queries(self):
        """Each expression of the pages, as the operator and as a tenant, gives what the page says."""
        self.queried = set()
        programs.wait_until(lambda: self.query("count_over_time(sideband_vm_tensor_active_ratio[30s]) > %d" %
                                               (RANGE_S + 1)), "ratios")

        def vms(result):
            return sorted(labels["vm"] for labels, _ in result)

        mean = "avg_over_time(sideband_vm_tensor_active_ratio["
        self.assertEqual(vms(self.run_query(mean, "operator")), ["vm1", "vm2"])
        self.assertEqual(vms(self.run_query(mean, "tenant-a")), ["vm1"])
        for job in JOBS:
            for _, value in self.run_query(mean, job):
                self.assertTrue(0 < value < 1, value)

        exact = {labels["vm"]: value for labels, value in self.run_query("rate(sideband_vm_fp32_active", "operator")}
        self.assertEqual(set(exact), {"vm1", "vm2"})
        self.assertTrue(all(0 < share < 1.5 for share in exact.values()), exact)
        self.assertEqual(vms(self.run_query("rate(sideband_vm_fp32_active", "tenant-a")), ["vm1"])
        slices = self.query('count by (job) (sideband_event_capacity{event="fp32_active_cycles"})')
        self.assertEqual({labels["job"]: count for labels, count in slices if labels["job"] in JOBS},
                         {"operator": 2, "tenant-a": 1, "tenant-b": 1}, "tenants see their VMs' slices only")

        resident = "rate(sideband_context_resident_cycles_total["
        self.assertEqual(self.run_query(resident, "operator"), [])
        shares = {labels["context"]: value for labels, value in self.run_query(resident, "tenant-a")}
        self.assertEqual(set(shares), {"train", "eval"})
        # Scrapes and snapshots are not synchronised, so a rate over few scrapes is inexact.
        self.assertTrue(0.3 < sum(shares.values()) < 1.5, shares)

        slices = {labels["slice"]: value
                  for labels, value in self.run_query("sum by (job, instance, device, slice) (rate(", "operator")}
        self.assertEqual(set(slices), {"0", "1"})
        self.assertTrue(all(0 < share < 1.5 for share in slices.values()), slices)

        of_device = "rate(sideband_vm_tensor_active_cycles_total"
        self.assertEqual([value for _, value in self.run_query(of_device, "tenant-a")], [1], "it has one VM")
        parts = self.run_query(of_device, "operator")
        self.assertEqual(vms(parts), ["vm1", "vm2"])
        self.assertAlmostEqual(sum(value for _, value in parts), 1, places=9)

        issued = self.run_query("rate(sideband_vm_instructions_issued", "tenant-a")
        self.assertEqual(vms(issued), ["vm1"])
        self.assertGreater(issued[0][1], 0)

        self.assertEqual([labels["device"] for labels, _ in self.run_query("sideband_device_complete == 0", "operator")],
                         ["gpu0"], "vm3 is confidential")
        for job in JOBS:
            self.assertEqual(self.run_query("last_over_time(sideband_device_up", job), [], "the device answers")
            for start in ("rate(sideband_host_resident_cycles", "rate(sideband_host_sm_active_cycles"):
                self.assertEqual(self.run_query(start, job), [], "its slices have no host")
            self.assertEqual(self.run_query("rate(sideband_vm_event_lower_total", job), [], "no event takes turns")
        self.assertEqual(self.queried, set(documented_queries()))

    def test_a_device_beside_a_confidential_vm_has_no_utilisation(self):
        self.assertEqual(self.query('{__name__=~"sideband_device_.*_ratio"}'), [])

    def test_counters_never_fall(self):
        histories = self.query('{__name__=~"%s"}[30s]' % EVENTS)
        self.assertGreater(len(histories), 50)
        for labels, values in histories:
            self.assertEqual(values, sorted(values), labels)


@unittest.skipUnless(os.path.exists(prometheus.PROMTOOL), prometheus.PROMTOOL + " is not installed")
class PromtoolTest(unittest.TestCase):
    def test_scrapes_are_clean(self):
        site = site_layout.Site(interval="1h")
        self.addCleanup(site.close)
        site.start()
        for user in JOBS:
            status, body = site.get(user, "/metrics")
            self.assertEqual(status, 200)
            checked = subprocess.run([prometheus.PROMTOOL, "check", "metrics"], input=body, capture_output=True, text=True,
                                     timeout=programs.PATIENCE_S, check=False)
            self.assertEqual((checked.returncode, checked.stdout, checked.stderr), (0, "", ""), user)
