#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Each alert of deploy/prometheus with failed scrapes, with outages, and with trouble that is too short.

Each row of ROWS is a daemon whose instance is the row's number, with a device that is healthy but for the row's
trouble. All are on one site, so that each rule is also tested on the troubles of the others. promtool runs what is made
of them. A rule without a row is an error.

    tests/deploy/alert_matrix_test.py --quick     # some of the gaps and outages
"""

import collections
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import unittest

_RUNFILES = os.path.join(os.environ.get("TEST_SRCDIR", ""), os.environ.get("TEST_WORKSPACE", ""))
_DEPLOY = os.path.join(_RUNFILES, "deploy/prometheus")
_PROMTOOL = os.path.join(os.environ.get("SIDEBAND_PROMETHEUS") or "/usr/bin", "promtool")
_PATIENCE_S = 900
_QUICK = "--quick"

STEP_S = 15  # between scrapes
EVALUATION_S = 45  # of the rules: no multiple of the gaps, so that some evaluations fall on failed scrapes
CHECK_S = 75  # no multiple of either: the checks fall on all phases of the gaps
BEGIN = 20  # minutes until the trouble begins
GAPS = (2, 4, 5, 8, 12)  # one scrape of so many fails; the quick run has the first
OUTAGES = (1, 3, 5, 10, 30)  # minutes; the quick run has the third
LONG = 45  # minutes after which every alert fires
AFTER = 8  # minutes that a site is watched after its trouble
FLAPPING = "SidebandTargetFlapping"


# What a series shows of the trouble: each has a value for `minutes` since the trouble began, None without trouble.
class Gauge:
    """None: the series is not there."""

    def __init__(self, good, bad=None):
        self.good, self.bad = good, bad

    def values(self, troubles, _restart):
        return [self.good if trouble is None else self.bad for trouble in troubles]


class Count:
    """Counts per minute. With a restart of the daemon it begins again at zero."""

    def __init__(self, good, bad):
        self.good, self.bad = good, bad

    def values(self, troubles, restart):
        found, total = [], 0.0
        for i, trouble in enumerate(troubles):
            total = 0.0 if i == restart else total + (self.good if trouble is None else self.bad) * STEP_S / 60
            found.append(round(total, 2))
        return found


class Event:
    """One more at the beginning of the trouble; without `before`, the first one."""

    def __init__(self, before=None):
        self.before = before

    def values(self, troubles, restart):
        found, total = [], self.before
        for i, trouble in enumerate(troubles):
            if trouble is not None and (i == 0 or troubles[i - 1] is None):
                total = (total or 0) + 1
            if i == restart and total is not None:
                total = 0
            found.append(total)
        return found


class Row:
    """What an alert looks for, and when it fires. Minutes."""

    def __init__(self, alert, fires, harmless, ends, series=None, away=None, lasts=math.inf, holds=2, also=()):
        self.alert = alert
        self.fires = fires  # it fires at the latest so long after the beginning of the trouble
        self.harmless = harmless  # trouble that lasts so long never fires; 0: any trouble fires
        self.ends = ends  # it is silent so long after the end of the trouble
        self.series = series or {}
        self.away = away or (lambda _: False)  # whether the device is away, by the minutes of the trouble
        self.lasts = lasts  # it fires so long after the beginning, also without an end of the trouble
        self.holds = holds  # it fires on through an outage of its target
        self.also = also  # alerts that fire with it


def always(_):
    return True


# The device's own series are not there while it is away; the daemon's of it are.
OWN = ("board", "context", "device_flags", "drain", "driver", "ecc", "nvlink", "pcie", "performance", "power",
       "reference", "reset", "retired", "row", "temperature", "throttle", "vm")
HEALTHY = {
    'sideband_bus_transfers_total{outcome="ok"}': Count(720, 720),
    'sideband_bus_transfers_total{outcome="bad_pec"}': Count(1, 1),
    "sideband_snapshots_total": Count(60, 60),
    'sideband_board_sample_age_seconds{sensor_group="driver_messages"}': Gauge(1, 1),
    'sideband_driver_messages_total{xid="48"}': Gauge(3, 3),  # of last week
    "sideband_sample_age_seconds": Gauge(0.4, 0.4),
}
ONE = (1, 0, 4)  # of a gauge without `for`
ROWS = [
    Row("SidebandTargetDown", 4, 2, 1),  # its trouble is that of `up`: see Site
    Row("SidebandDeviceAway", 4, 1, 2, away=always, holds=1),
    Row("SidebandBmcAway", 6, 3, 1, {'sideband_bmc_up{bmc="node3"}': Gauge(1, 0)}),
    Row("SidebandDeviceFlapping", 14, 7, 31, away=lambda minutes: minutes % 4 < 1),
    Row("SidebandSampleStale", 1, 0, 16, {"sideband_sample_age_seconds": Gauge(0.4, 400)}),
    Row("SidebandBusErrors", 17, 9, 6, {'sideband_bus_transfers_total{outcome="bad_pec"}': Count(1, 20)}),
    Row("SidebandBusInterference", 17, 9, 6,
        {'sideband_bus_transfers_total{outcome="interference"}': Count(0, 12)}),
    Row("SidebandCollectErrors", 18, 9, 6, {'sideband_collect_errors_total{code="ABORTED"}': Count(0.1, 7)}),
    Row("SidebandCountingNotInSync", 6, 3, 1, {"sideband_counting_in_sync": Gauge(1, 0)}),
    Row("SidebandConservationBroken", 1, 0, 6, {"sideband_conservation_ok": Gauge(1, 0)}),
    Row("SidebandReferenceClockOutOfLimits", 6, 3, 1, {"sideband_reference_clock_within_limits": Gauge(1, 0)}),
    Row("SidebandCounterOverflow", *ONE, {'sideband_device_flags{flag="overflow"}': Gauge(None, 1)}),
    Row("SidebandCounterOverflow", *ONE, {'sideband_vm_flags{flag="overflow",vm="vm1"}': Gauge(None, 1)}),
    Row("SidebandPipelineOverruns", 31, 24, 6, {"sideband_pipeline_trigger_overruns_total": Count(0, 6)}),
    Row("SidebandPipelineMmuFaults", 1, 0, 0, {"sideband_pipeline_mmu_faults_total": Event(4)}, lasts=59),
    Row("SidebandSealingBudgetLow", *ONE, {'sideband_sealing_budget_used_ratio{uuid="u"}': Gauge(0.1, 0.9)}),
    Row("SidebandCertificateExpiresSoon", *ONE,
        {'sideband_tls_certificate_not_after_timestamp_seconds{listener="http"}': Gauge(10 ** 7, 300_000)}),
    Row("SidebandCertificateExpiresToday", *ONE,
        {'sideband_tls_certificate_not_after_timestamp_seconds{listener="http"}': Gauge(10 ** 7, 40_000)},
        also=("SidebandCertificateExpiresSoon",)),
    Row("SidebandTlsReloadFailed", 6, 3, 1, {'sideband_tls_last_reload_successful{listener="http"}': Gauge(1, 0)}),
    Row("SidebandConfigReloadFailed", 6, 3, 1, {"sideband_config_last_reload_successful": Gauge(1, 0)}),
    Row("SidebandAuditEntriesLost", 1, 0, 0, {"sideband_audit_lost_total": Event(0)}, lasts=59),
    Row("SidebandConfidentialityRefused", 1, 0, 16,
        {"sideband_collect_confidentiality_refused_total": Count(0, 60)}),
    Row("SidebandDescriptorsExhausted", 1, 0, 0, {'sideband_descriptors_exhausted_total{listener="http"}': Event()},
        lasts=14),
    Row("SidebandDescriptorsExhausted", 1, 0, 0, {'sideband_descriptors_exhausted_total{listener="http"}': Event(2)},
        lasts=14),
    Row("SidebandTemperatureNearLimit", 12, 4, 6,
        {'sideband_temperature_threshold_celsius{kind="software_slowdown"}': Gauge(82, 82),
         'sideband_temperature_celsius{sensor="gpu"}': Gauge(70, 81)}),
    Row("SidebandTemperatureNearShutdown", 3, 0, 2,
        {'sideband_temperature_threshold_celsius{kind="shutdown"}': Gauge(97, 97),
         'sideband_temperature_celsius{sensor="gpu"}': Gauge(70, 94)}, holds=1),
    Row("SidebandThermalThrottling", 12, 5, 6, {'sideband_throttle_active{reason="software_thermal"}': Gauge(0, 1)}),
    Row("SidebandPowerBrake", 1, 0, 6, {'sideband_throttle_active{reason="hardware_power_brake"}': Gauge(0, 1),
                                        'sideband_throttle_active{reason="hardware_thermal"}': Gauge(0, 0)}),
    Row("SidebandPowerBrake", 1, 0, 6, {'sideband_throttle_active{reason="hardware_slowdown"}': Gauge(0, 1),
                                        'sideband_throttle_active{reason="hardware_thermal"}': Gauge(0, 0)}),
    Row("SidebandPowerNearLimit", 42, 28, 3, {'sideband_power_watts{sensor="total"}': Gauge(200, 398),
                                              'sideband_power_limit_watts{kind="current",sensor="total"}':
                                                  Gauge(400, 400)}),
    Row("SidebandEccUncorrected", 1, 0, 0, {'sideband_ecc_errors_total{kind="uncorrected",memory="dram"}': Event(3)},
        lasts=59),
    Row("SidebandEccThresholdExceeded", *ONE, {"sideband_ecc_threshold_exceeded": Gauge(0, 1)}),
    Row("SidebandRowRemapPending", *ONE, {'sideband_row_remap_state{state="pending"}': Gauge(0, 1)}),
    Row("SidebandRowRemapFailed", *ONE, {'sideband_row_remap_state{state="failed"}': Gauge(0, 1)}),
    Row("SidebandRetiredPages", *ONE, {'sideband_retired_pages{kind="single_bit"}': Gauge(50, 61)}),
    Row("SidebandNvlinkDown", 3, 0, 2, {'sideband_nvlink_up{link="0"}': Gauge(1, 0)}, holds=1),
    Row("SidebandNvlinkErrors", 1, 0, 0, {'sideband_nvlink_errors_total{kind="recovery",link="0"}': Event(2)},
        lasts=59),
    Row("SidebandNvlinkErrors", 1, 0, 0, {'sideband_nvlink_errors_total{kind="down",link="0"}': Event(2)}, lasts=59),
    Row("SidebandNvlinkErrors", 7, 3, 11, {'sideband_nvlink_errors_total{kind="replay",link="0"}': Count(1, 120)}),
    Row("SidebandPcieErrors", 1, 0, 0, {'sideband_pcie_link_errors_total{kind="fatal"}': Event(0)}, lasts=59),
    Row("SidebandPcieReplays", 18, 9, 6, {"sideband_pcie_link_replays_total": Count(0, 30)}),
    Row("SidebandPcieLinkDegraded", 17, 13, 2, {"sideband_pcie_link_width": Gauge(16, 8)}),
    Row("SidebandPcieLinkDegraded", 17, 13, 2, {"sideband_pcie_link_generation": Gauge(5, 1),
                                                "sideband_performance_state": Gauge(0, 0)}),
    Row("SidebandDriverFault", 1, 0, 0, {'sideband_driver_messages_total{xid="79"}': Event()}, lasts=14),
    Row("SidebandDriverFault", 1, 0, 0, {'sideband_driver_messages_total{xid="79"}': Event(2)}, lasts=14),
    Row("SidebandDriverMessages", 8, 4, 61, {'sideband_driver_messages_total{xid="31"}': Count(0, 2)}),
    Row("SidebandResetRequired", *ONE, {"sideband_reset_required": Gauge(0, 1)}),
    Row("SidebandDrainRecommended", *ONE, {"sideband_drain_recommended": Gauge(0, 1)}),
    Row("SidebandBoardUnhealthy", *ONE, {'sideband_board_health{state="critical"}': Gauge(0, 1)}),
    Row("SidebandBoardUnhealthy", *ONE, {'sideband_board_health{state="warning"}': Gauge(0, 1)}),
    Row("SidebandBoardSensorsStale", 6, 3, 1,
        {'sideband_board_sample_age_seconds{sensor_group="ecc"}': Gauge(20, 400)}),
    Row("SidebandBoardSensorsLost", 6, 3, 1,
        {'sideband_board_sample_age_seconds{sensor_group="driver_messages"}': Gauge(1, None)}),
    Row("SidebandMailboxInterference", 17, 9, 6,
        {'sideband_bus_transfers_total{outcome="interference"}': Count(0, 6), "sideband_snapshots_total": None}),
]
# These concern the targets, and are tested by each site.
OF_SITES = (FLAPPING, "SidebandTargetsAbsent")


def compact(values):
    """The values as promtool takes them. None: the series is not there, or its scrape has failed."""
    words, i = [], 0
    while i < len(values):
        end = i + 1
        if values[i] is None:
            while end < len(values) and values[end] is None:
                end += 1
            words += ["stale"] if i > 0 else ["_"]
            words += ["_x%d" % (end - i - 1)] if end - i > 1 else []
        else:
            step = (values[end] or 0) - values[i] if end < len(values) else 0
            while end < len(values) and values[end] is not None and abs(values[end] - values[end - 1] - step) < 1e-6:
                end += 1
            words.append("%.10g%s" % (values[i], "%+.10gx%d" % (step, end - i - 1) if end - i > 1 else ""))
        i = end
    return " ".join(words)


class Site:
    """A daemon for each row. `spell`: how many minutes its trouble lasts; `unreachable`, `away`: (begin, end) in which
    no scrape succeeds, and no device answers."""

    def __init__(self, name, minutes, spell, gap=0, unreachable=(0, 0), away=(0, 0), restarts=False):
        self.name, self.minutes, self.spell, self.gap = name, minutes, spell, gap
        self.unreachable, self.away, self.restarts = unreachable, away, restarts
        self.series = [one for number, row in enumerate(ROWS) for one in self.of_row(str(number), row)]
        self.checks = []

    def of_row(self, number, row):
        times = [step * STEP_S / 60 for step in range(self.minutes * 60 // STEP_S)]
        troubles = [time - BEGIN if 0 <= time - BEGIN < self.spell(row) else None for time in times]
        away = [self.away[0] <= time < self.away[1] or (trouble is not None and row.away(trouble))
                for time, trouble in zip(times, troubles)]
        # Each row's at another one, since a rule may be evaluated just when they fail.
        failed = [(self.gap and (step + int(number)) % self.gap == 0)
                  or self.unreachable[0] <= time < self.unreachable[1]
                  or (row.alert == "SidebandTargetDown" and troubles[step] is not None)
                  for step, time in enumerate(times)]
        restart = int(self.unreachable[1] * 60 / STEP_S) if self.restarts else -1

        def line(series, values):
            name, _, labels = series.rstrip("}").partition("{")
            labels = ",".join(filter(None, ['job="sideband",instance="%s"' % number, labels]))
            return {"series": "%s{%s}" % (name, labels),
                    "values": compact([None if lost else value for lost, value in zip(failed, values)])}

        yield {"series": 'up{job="sideband",instance="%s"}' % number,
               "values": compact([0 if lost else 1 for lost in failed])}
        yield line('sideband_device_up{device="gpu0"}', [0 if gone else 1 for gone in away])
        # A device that is away fails all, once a second.
        lost = Count(0, 60).values([0 if gone else None for gone in away], restart)
        yield line('sideband_bus_transfers_total{device="gpu0",outcome="address_nack"}', lost)
        yield line('sideband_collect_errors_total{device="gpu0",code="UNAVAILABLE"}', lost)
        for series, shape in {**HEALTHY, **row.series}.items():
            if shape is None:
                continue
            values = shape.values(troubles, restart)
            if re.match("sideband_(?:%s)_" % "|".join(OWN), series):
                values = [None if gone else value for gone, value in zip(away, values)]
            elif isinstance(shape, Count):
                values = self.standing(values, away)
            if not series.startswith(("sideband_tls", "sideband_config", "sideband_audit", "sideband_descriptors", "sideband_bmc")):
                series = series.rstrip("}") + ("," if "{" in series else "{") + 'device="gpu0"}'
            yield line(series, values)

    @staticmethod
    def standing(values, away):
        """A counter stands while the device is away."""
        found, lost = [], 0.0
        for i, value in enumerate(values):
            if i > 0 and away[i]:
                lost += value - values[i - 1]
            if i > 0 and value < values[i - 1]:
                lost = 0.0
            found.append(round(value - lost, 2))
        return found

    def check(self, minutes, numbers, expected):
        """At `minutes`, of the rows with these numbers exactly those alerts fire: (alert, number of the row)."""
        rows = "|".join([*map(str, sorted(numbers)), ""])  # and alerts without an instance
        self.checks.append({
            "expr": 'count by (alertname, instance) (ALERTS{alertstate="firing",alertname!="%s",instance=~"%s"})' % (
                FLAPPING, rows),
            "eval_time": "%ds" % (minutes * 60),
            "exp_samples": [{"labels": '{alertname="%s",instance="%s"}' % one, "value": 1}
                            for one in sorted(expected)]})

    def check_flapping(self, minutes, count):
        self.checks.append({
            "expr": 'count(ALERTS{alertstate="firing",alertname="%s"})' % FLAPPING, "eval_time": "%ds" % (minutes * 60),
            "exp_samples": [{"labels": "{}", "value": count}] if count else []})

    def description(self):
        return {"name": self.name, "interval": "%ds" % STEP_S, "input_series": self.series,
                "promql_expr_test": self.checks}


def times(begin, end):
    return [minutes for minutes in (step * CHECK_S / 60 for step in range(10 ** 4)) if begin <= minutes < end]


def firing_site(name, gap=0, outage=0):
    """Each row's trouble lasts until each alert has fired; with an outage of all targets, and again after it."""
    lost = (BEGIN + LONG, BEGIN + LONG + outage)
    spell = LONG + outage + (LONG if outage else 0)
    site = Site(name, BEGIN + spell + AFTER, lambda _: spell, gap, unreachable=lost)

    def is_due(row, since):
        """Whether the row's alert fires for sure."""
        if outage > row.holds and row.alert != "SidebandTargetDown" and since >= LONG:
            return since >= LONG + outage + row.fires and since <= row.lasts
        return row.fires <= since <= row.lasts

    for minutes in times(0, site.minutes):
        since, after = minutes - BEGIN, minutes - BEGIN - spell
        if after < 0:
            due = {number: row for number, row in enumerate(ROWS) if is_due(row, since)}
            quiet = {number for number, row in enumerate(ROWS) if since < row.harmless or since < 0}
            site.check(minutes, due, {(alert, str(number)) for number, row in due.items()
                                      for alert in (row.alert, *row.also)})
        else:
            quiet = {number for number, row in enumerate(ROWS)
                     if row.ends < after and (row.lasts == math.inf or row.lasts + 2 < since)}
        if quiet:
            site.check(minutes, quiet, set())
    return site


def gap_sites(gap):
    firing = firing_site("one scrape of %d fails" % gap, gap)
    firing.check_flapping(BEGIN + LONG - 1, len(ROWS) - 1)  # without the target that is down
    short = Site("one scrape of %d fails, and trouble is short" % gap, BEGIN + 50, lambda row: row.harmless, gap)
    for minutes in times(0, short.minutes):
        short.check(minutes, range(len(ROWS)), set())
    return [firing.description(), short.description()]


def healthy_site(outage):
    """All targets have an outage, by which the daemons restart; then all devices. Nothing else fires, nor after it."""
    lost = (BEGIN, BEGIN + outage)
    away = (lost[1] + 25, lost[1] + 25 + outage)
    site = Site("outages of %d minutes on a healthy site" % outage, away[1] + 30, lambda _: 0, unreachable=lost,
                away=away, restarts=True)
    everything = range(len(ROWS))
    for minutes in times(0, site.minutes):
        expected = set()
        for alert, (begin, end), first in (("SidebandTargetDown", lost, 3), ("SidebandDeviceAway", away, 2)):
            if begin + first + 1 <= minutes < end:
                expected = {(alert, str(number)) for number in everything}
            elif begin + first <= minutes < end + 1:
                expected = None  # either
        if expected is not None:
            site.check(minutes, everything, expected)
        site.check_flapping(minutes, 0)
    return site.description()


def outage_sites(outage):
    firing = firing_site("an outage of %d minutes during trouble" % outage, outage=outage)
    return [firing.description(), healthy_site(outage)]


NO_TARGET = {"name": "no target", "interval": "1m", "input_series": [], "promql_expr_test": [
    {"expr": 'count by (alertname) (ALERTS{alertstate="firing"})', "eval_time": "11m",
     "exp_samples": [{"labels": '{alertname="SidebandTargetsAbsent"}', "value": 1}]}]}


def read(name):
    with open(os.path.join(_DEPLOY, name), encoding="utf-8") as file:
        return file.read()


def differences(output):
    """{alert, row, whether it is missing: the first times} of what promtool says."""
    found = collections.defaultdict(list)
    for time, expected, got in re.findall(r" time: (\S+),\n +exp: (.*)\n +got: (.*)", output):
        expected, got = (set(re.findall(r'alertname="(\w+)"(?:, instance="(\d*)")?', text)) for text in (expected, got))
        for one in expected ^ got:
            found[(*one, "is missing" if one in expected else "fires")].append(time)
    return {one: when[:5] for one, when in found.items()}


@unittest.skipUnless(os.path.exists(_PROMTOOL), _PROMTOOL + " is not installed")
class AlertMatrixTest(unittest.TestCase):
    is_quick = False
    maxDiff = None

    def check(self, tests):
        files = ("recording.rules.yml", "alerts.rules.yml")
        groups = [group for name in files for group in re.findall(r"^  - name: (\w+)$", read(name), re.MULTILINE)]
        with tempfile.NamedTemporaryFile("w", suffix=".test.yml") as file:
            json.dump({"rule_files": [os.path.abspath(os.path.join(_DEPLOY, name)) for name in files],
                       "evaluation_interval": "%ds" % EVALUATION_S, "group_eval_order": groups, "tests": tests}, file)
            file.flush()
            result = subprocess.run([_PROMTOOL, "test", "rules", file.name], stdin=subprocess.DEVNULL,
                                    capture_output=True, text=True, timeout=_PATIENCE_S, check=False)
        output = result.stdout + result.stderr
        self.assertEqual(differences(output), {})
        self.assertEqual(result.returncode, 0, output[-2000:])

    def test_each_alert_has_a_row(self):
        alerts = set(re.findall(r"^ *- alert: (\w+)$", read("alerts.rules.yml"), re.MULTILINE))
        self.assertIn("SidebandDeviceAway", alerts)
        self.assertEqual(alerts, {row.alert for row in ROWS} | set(OF_SITES))

    def test_gaps(self):
        for gap in GAPS[:1] if self.is_quick else GAPS:
            with self.subTest(gap):
                self.check(gap_sites(gap))

    def test_outages(self):
        for outage in OUTAGES[2:3] if self.is_quick else OUTAGES:
            with self.subTest(outage):
                self.check(outage_sites(outage))

    def test_no_target(self):
        self.check([NO_TARGET])


if __name__ == "__main__":
    AlertMatrixTest.is_quick = _QUICK in sys.argv
    sys.exit(unittest.main(argv=[one for one in sys.argv if one != _QUICK], verbosity=2))
