# SPDX-License-Identifier: Apache-2.0
"""For what time events of gate groups were counted, from an emulated hypervisor's exits to what users see."""

import json
import unittest

import exposition
import programs
import site_layout
import tenant_client

GUEST, HOST, SHUT, FREE = "sm_active_cycles", "host_sm_active_cycles", "int_active_cycles", "dram_read_cycles"
RESIDENT = "resident_cycles"
RUNNING = {GUEST: "group_guest_running_cycles", HOST: "group_host_running_cycles"}
# The hypervisor has a tenth of the time: 100 us of each ms. A switch that falls into an exit ends it.
SHARE = {GUEST: 0.9, HOST: 0.1}
GATES = """gate_groups:
  - {name: guest, events: [sm_active_cycles]}
  - {name: host, events: [host_sm_active_cycles], guest: false, host: true}
  - {name: shut, events: [int_active_cycles], guest: false}
host: {exit_every: 1ms, exit_time: 100us, seed: 9, phases: [{kind: copy, time: 1ms}]}
"""


def with_gates(chip, gates):
    first = "      - sm_active_cycles\n"
    assert chip.count(first) == 1
    return chip.replace(first, first + "      - {name: host_sm_active_cycles, of: sm_active_cycles}\n") + gates


def snapshot_of(client):
    snapshot, = client.get()
    return snapshot


class CoverageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.site = site_layout.Site("100ms")
        cls.addClassCleanup(cls.site.close)
        cls.chip = cls.site.read("chip.yaml").decode()
        site_layout.write(cls.site.folder, "chip.yaml", with_gates(cls.chip, GATES))
        own = "{uuid: %s" % site_layout.VM_UUIDS["vm1"]
        site_layout.write(cls.site.folder, "policy.yaml",
                          site_layout.POLICY.replace(own, own + ", rights: [read, peek]"))
        site_layout.write(cls.site.folder, "sidebandd.yaml",
                          cls.site.read("sidebandd.yaml").decode() + "peek: {bus_share: 1}\n")
        cls.site.start()
        cls.tenant = tenant_client.connect(cls.site, "tenant-a")
        cls.addClassCleanup(cls.tenant.close)
        programs.wait_until(lambda: snapshot_of(cls.tenant).elapsed_ns, "rates")

    def sideband(self, *arguments, user="tenant-a"):
        result = programs.run("sideband", "--address", "127.0.0.1:%d" % self.site.grpc_port, "--ca-file", "ca.pem",
                              "--cert-file", user + ".pem", "--key-file", user + ".key", *arguments,
                              cwd=self.site.folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def check_row(self, counters, flags):
        """Counters by event, of one instant."""
        self.assertNotIn(SHUT, counters, "it was not counted in any cycle")
        for event, running in RUNNING.items():
            truth = counters[running].count / counters[RESIDENT].count
            self.assertAlmostEqual(counters[event].coverage, truth, delta=1e-12)
            self.assertAlmostEqual(truth, SHARE[event], delta=0.02)
        for event in (FREE, RESIDENT, *RUNNING.values()):
            self.assertIsNone(counters[event].coverage, event)
        self.assertEqual(flags, ("partial",))

    def test_a_counter_has_its_coverage(self):
        snapshot = snapshot_of(self.tenant)
        self.assertEqual([row.scope.context for row in snapshot.rows], ["", "train", "eval"])
        for row in snapshot.rows:
            counters = row.counters
            self.check_row(counters, row.flags)
            for event, running in RUNNING.items():
                truth = counters[running].rate_per_second / counters[RESIDENT].rate_per_second
                self.assertAlmostEqual(counters[event].rate_coverage, truth, delta=1e-12)

    def test_guest_and_host_are_all_of_the_time(self):
        for row in snapshot_of(self.tenant).rows:
            self.assertEqual(sum(row[event] for event in RUNNING.values()), row[RESIDENT])

    def test_a_utilisation_is_of_the_cycles_in_which_it_was_counted(self):
        for row in snapshot_of(self.tenant).rows:
            counters, ratios = row.counters, {ratio.event: ratio for ratio in row.ratios}
            for event, running in RUNNING.items():
                self.assertAlmostEqual(ratios[event].denominator_per_second / counters[running].rate_per_second, 8,
                                       delta=1e-9, msg="eight SMs")
            self.assertNotIn(SHUT, ratios)

    def test_the_devices_row_is_that_of_the_vms_that_it_shows(self):
        with tenant_client.connect(self.site, "operator") as operator:
            snapshot = snapshot_of(operator)
        device, *vms = [row.counters for row in snapshot.rows]
        for event, running in RUNNING.items():
            # The row began with the daemon.
            self.assertAlmostEqual(device[event].coverage, device[running].count / device[RESIDENT].count, delta=1e-12)
            truth = sum(vm[running].rate_per_second for vm in vms) / sum(vm[RESIDENT].rate_per_second for vm in vms)
            self.assertAlmostEqual(device[event].rate_coverage, truth, delta=1e-9)
        self.assertEqual(snapshot.rows[0].flags, ("confidential_excluded", "partial"))

    def test_metrics(self):
        series = self.site.metrics("tenant-a")
        labels = {"device": "gpu0", "slice": "0", "vm": "vm1"}

        def coverage(group, level="vm", **more):
            return exposition.value(series, "sideband_%s_gate_coverage_ratio" % level, gate_group=group, **labels, **more)

        self.assertAlmostEqual(coverage("guest"), 0.9, delta=0.05)
        self.assertAlmostEqual(coverage("host"), 0.1, delta=0.05)
        self.assertEqual(coverage("shut"), 0)
        self.assertAlmostEqual(coverage("guest", level="context", context="train"), 0.9, delta=0.05)
        self.assertEqual(exposition.value(series, "sideband_vm_flags", flag="partial", **labels), 1)
        self.assertFalse([name for name, _ in series if "_int_active_" in name])
        self.assertGreater(exposition.value(series, "sideband_vm_host_sm_active_cycles_total", **labels), 0)

    def test_tables(self):
        table = self.sideband("get", "--vm", "vm1", "--event", GUEST, "--event", HOST, "--event", RESIDENT).stdout
        self.assertRegex(table, r"\nVM +CONTEXT +EVENT +COUNT +RATE +UTIL +COVER +NOTES\n")
        self.assertRegex(table, r"\nvm1 +- +sm_active_cycles .* (89|90)\.\d %  (idle,)?partial\n")
        self.assertRegex(table, r"\nvm1 +- +host_sm_active_cycles .* (9|10)\.\d %  (idle,)?partial\n")
        self.assertRegex(table, r"\nvm1 +- +resident_cycles .*%  +-  (-|idle)\n", "it is counted in every cycle")
        events = self.sideband("events").stdout
        self.assertRegex(events, r"(?m)^gpu0 +host_sm_active_cycles +cycles +context +host ")
        self.assertRegex(events, r"(?m)^gpu0 +dram_read_cycles +cycles +context +- ")

    def test_an_event_that_was_never_counted_says_so(self):
        result = self.sideband("get", "--vm", "vm1", "--event", SHUT)
        self.assertEqual(result.stderr, "sideband: gpu0: event '%s' has not been counted yet: its gate group 'shut' was "
                                        "closed all the time\n" % SHUT)

    def test_history(self):
        programs.wait_until(lambda: len(self.history()["points"]) >= 3, "three points")
        history = self.history()
        whole, *_ = history["series"]
        columns = {history["events"][column["event"]]: column for column in whole["columns"]}
        counts = {event: [int(count) for count in column["counts"]] for event, column in columns.items()}
        for event, running in RUNNING.items():
            coverage = columns[event]["coverage"]
            for i, (ran, resident) in enumerate(zip(counts[running], counts[RESIDENT])):
                self.assertAlmostEqual(coverage["of_counts"][i], ran / resident, delta=1e-12)
            self.assertEqual(coverage["of_intervals"][0], "NaN")
            self.assertAlmostEqual(coverage["of_intervals"][1], SHARE[event], delta=0.05)
        self.assertEqual(set(columns[SHUT]["coverage"]["of_counts"]), {0})
        self.assertNotIn("coverage", columns[FREE])

    def history(self):
        return json.loads(self.sideband("get", "--since", "1h", "--format", "json").stdout)["devices"][0]

    def test_peek(self):
        asked = [word for event in (GUEST, SHUT, RESIDENT, RUNNING[GUEST]) for word in ("--event", event)]
        answer = json.loads(self.sideband("peek", "--vm", "vm1", "--format", "json", *asked).stdout)["counters"]
        counters = {counter["event"]: counter for counter in answer["counters"]}
        self.assertEqual(counters.keys(), {GUEST, RESIDENT, RUNNING[GUEST]})
        truth = int(counters[RUNNING[GUEST]]["count"]) / int(counters[RESIDENT]["count"])
        self.assertAlmostEqual(counters[GUEST]["coverage"], truth, delta=1e-12)
        self.assertEqual(answer["flags"], ["partial"])

    def test_a_sealed_record_has_it_too(self):
        result = self.sideband("unseal", "--vm", "vm3", "--key-file", "vm3.key", "--count", "1", "--format", "json",
                               "--state", "opener", user="tenant-b")
        for row in json.loads(result.stdout)["snapshot"]["scopes"]:
            counters = {counter["event"]: counter for counter in row["counters"]}
            truth = int(counters[RUNNING[GUEST]]["count"]) / int(counters[RESIDENT]["count"])
            self.assertAlmostEqual(counters[GUEST]["coverage"], truth, delta=1e-12)
            self.assertNotIn(SHUT, counters)
            self.assertEqual(row["flags"], ["partial"])


class NewLifeTest(unittest.TestCase):
    def test_a_restart_begins_a_coverage_of_its_own(self):
        """The hypervisor's exits are of the first boot alone."""
        site = site_layout.Site("100ms")
        self.addCleanup(site.close)
        chip = site.read("chip.yaml").decode()
        site_layout.write(site.folder, "chip.yaml", with_gates(chip, GATES))
        site.start()
        with tenant_client.connect(site, "tenant-a") as tenant:
            before = snapshot_of(tenant)
            self.assertLess(before.rows[0].counters[GUEST].coverage, 1)
            site.device.stop()
            only_guest = "".join(line + "\n" for line in GATES.splitlines() if "guest, events" in line or "groups" in line)
            site_layout.write(site.folder, "chip.yaml", with_gates(chip, only_guest))
            site.start_device()
            after = programs.wait_until(
                lambda: (lambda newest: newest.boot_id != before.boot_id and newest)(snapshot_of(tenant)), "the new boot")
        for row in after.rows:
            self.assertEqual(row.counters[GUEST].coverage, 1)
            self.assertEqual(list(row.flags), [])
