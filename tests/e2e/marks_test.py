# SPDX-License-Identifier: Apache-2.0
"""Marks, spans and clocks with the real programs: totals that add up, times that hold, tenants kept apart."""

import json
import signal
import time
import unittest

import grpc

import programs
import site_layout
import tenant_client

# The memory's clock is not the reference clock's.
PPM = 37
MEMORY_HZ = 1215000000
DOMAINS = "domains:\n  - {name: memory, hz: %d, ppm: %d, wander_ppb_per_s: 20, wire_ns: [0, 20]}\n" % (MEMORY_HZ, PPM)
NO_GRID = ("the device has no grid of triggers, at which marks are served: operators configure one "
           "(clocks.trigger_hz)")


def clocked_chip():
    with open(programs.runfile("deploy/examples/chip.yaml"), encoding="utf-8") as file:
        chip = file.read()
    chip = chip.replace("units:\n", DOMAINS + "units:\n", 1)
    return chip.replace("    ccu: memory ", "    domain: memory\n    ccu: memory ").replace(
        "    ccu: memory\n", "    domain: memory\n    ccu: memory\n")


class MarksTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.site = site_layout.Site(interval="200ms")
        cls.addClassCleanup(cls.site.close)
        folder = cls.site.folder
        chip = clocked_chip()
        # Open VMs alone: clocks beside a confidential one are withheld.
        chip = chip.replace("confidential: true", "confidential: false")
        site_layout.write(folder, "chip.yaml", chip)
        rights = ", rights: [read, mark]"
        own = ["{uuid: " + site_layout.VM_UUIDS[vm] for vm in ("vm1", "vm2")]
        policy = site_layout.POLICY
        for vm in own:
            policy = policy.replace(vm, vm + rights)
        site_layout.write(folder, "policy.yaml", policy.replace("      - {uuid: %s, rights: [seal]}\n" %
                                                                site_layout.VM_UUIDS["vm3"], ""))
        config = cls.site.read("sidebandd.yaml").decode()
        config = config[:config.index("sealing:")]
        cls.config = config.replace("interval: 200ms", "interval: 200ms, clocks: {trigger_hz: 1000}")
        site_layout.write(folder, "sidebandd.yaml", cls.config)
        cls.site.start()
        cls.pb = tenant_client.messages()
        cls.tenant = tenant_client.Client(cls.site, "tenant-a").__enter__()
        cls.addClassCleanup(cls.tenant.__exit__)

    def setUp(self):
        self.await_grid()

    # The grid is asked for once the first snapshot is published, and after each reload.
    def await_grid(self):
        def is_there():
            try:
                self.read_mark(self.mark())
                return True
            except grpc.RpcError as error:
                self.assertIn(error.code(), (grpc.StatusCode.FAILED_PRECONDITION, grpc.StatusCode.RESOURCE_EXHAUSTED))
                return False
        programs.wait_until(is_there, "a grid of triggers\n" + self.site.daemon.log())

    def mark(self, vm="vm1", context="", label="", client=None):
        request = self.pb.MarkRequest(device="gpu0", vm=vm, context=context, label=label)
        return (client or self.tenant).telemetry.Mark(request).mark

    def marks(self, client=None, **wanted):
        return list((client or self.tenant).telemetry.ListMarks(self.pb.ListMarksRequest(**wanted)).marks)

    def read_mark(self, mark, client=None):
        """The mark, once what was counted until then has been read."""
        found = []

        def is_read():
            found[:] = [m for m in self.marks(client, vm=mark.scope.vm) if m.mark_id == mark.mark_id]
            self.assertEqual(len(found), 1)
            return found[0].state != self.pb.MarkInfo.STATE_PENDING
        programs.wait_until(is_read, "mark %d\n" % mark.mark_id)
        self.assertEqual(found[0].state, self.pb.MarkInfo.STATE_READ)
        return found[0]

    def read(self, **scope):
        """As read_mark, of a new one: once the VM may have it."""
        marks = []

        def is_marked():
            try:
                marks.append(self.mark(**scope))
            except grpc.RpcError as error:
                self.assertEqual(error.code(), grpc.StatusCode.RESOURCE_EXHAUSTED)
            return bool(marks)
        programs.wait_until(is_marked, "a mark")
        return self.read_mark(marks[0])

    def span(self, begin, end, vm="vm1"):
        request = self.pb.GetSpanRequest(device="gpu0", vm=vm, from_mark=begin.mark_id, to_mark=end.mark_id)
        return self.tenant.telemetry.GetSpan(request)

    def counts_between(self, begin, end, vm="vm1"):
        return {counter.event: counter.count for counter in self.span(begin, end, vm).counters}

    def counts_now(self, context):
        snapshot = self.tenant.snapshot(device="gpu0", vm="vm1")
        row = next(row for row in snapshot.scopes if row.scope.context == context)
        return {counter.event: counter.count for counter in row.counters}

    def out(self, user, *arguments):
        result = self.site.sideband(user, *arguments)
        self.assertEqual((result.returncode, result.stderr), (0, ""), arguments)
        return result.stdout

    def fails(self, call, code):
        with self.assertRaises(grpc.RpcError) as raised:
            call()
        self.assertEqual(raised.exception.code(), code, raised.exception.details())
        return raised.exception.details()

    def test_spans_add_up_and_hold_what_snapshots_have(self):
        before = self.counts_now("train")
        first = self.read(context="train")
        inner_before = self.counts_now("train")
        second = self.read(context="train")
        time.sleep(0.5)
        inner_after = self.counts_now("train")
        third = self.read(context="train")
        after = self.counts_now("train")
        whole = self.counts_between(first, third)
        one, two = self.counts_between(first, second), self.counts_between(second, third)
        self.assertEqual(set(whole), set(before))
        self.assertGreater(whole["sm_active_cycles"], 0)
        for event, count in whole.items():
            self.assertEqual(one[event] + two[event], count, event)
            self.assertLessEqual(count, after[event] - before[event], event)
            self.assertGreaterEqual(count, inner_after[event] - inner_before[event], event)
        self.assertEqual(self.counts_between(third, first), whole, "in either order")
        span = self.span(first, third)
        self.assertEqual(span.duration_ns, third.reference_time_ns - first.reference_time_ns)
        self.assertGreater(span.duration_ns, 500_000_000)
        self.assertEqual(span.duration_error_ns, 1)

    def test_a_mark_is_placed_in_the_hosts_time(self):
        before = time.time()
        mark = self.read(context="train")
        after = time.time()
        at = mark.host_time.seconds + mark.host_time.nanos / 1e9
        error = mark.host_time_error.seconds + mark.host_time_error.nanos / 1e9
        self.assertLess(error, 0.1)
        self.assertTrue(before - error <= at <= after + error, (before, at, after, error))
        self.assertLessEqual(mark.requested_ns, mark.reference_time_ns)
        self.assertLessEqual(mark.reference_time_ns - mark.requested_ns, 2_000_000, "the grid's period is 1 ms")

    def test_marks_of_others_are_not_there(self):
        own = self.read(label="mine")
        with tenant_client.Client(self.site, "tenant-b") as other:
            self.assertEqual(self.marks(other), [])
            self.assertNotIn("mine", str(self.marks(other)))
            for call in (lambda: self.mark(client=other), lambda: self.mark(vm="vm9", client=other),
                         lambda: self.marks(other, vm="vm1")):
                self.fails(call, grpc.StatusCode.NOT_FOUND)
            request = self.pb.GetSpanRequest(device="gpu0", vm="vm1", from_mark=own.mark_id, to_mark=own.mark_id)
            self.fails(lambda: other.telemetry.GetSpan(request), grpc.StatusCode.NOT_FOUND)
            first = self.read_mark(self.mark(vm="vm2", client=other), other)
            self.assertEqual(first.mark_id, len(self.marks(other)), "numbers do not tell of others' marks")
        with tenant_client.Client(self.site, "operator") as operator:
            self.assertIn("mine", str(self.marks(operator)))
            self.fails(lambda: self.mark(client=operator), grpc.StatusCode.NOT_FOUND)

    def test_a_vm_that_marks_too_often_is_told_when_to_ask_again(self):
        def refused():
            try:
                self.mark(context="eval")
                return None
            except grpc.RpcError as error:
                return error
        errors = [error for error in (refused() for _ in range(40)) if error]
        self.assertTrue(errors)
        for error in errors:
            self.assertEqual(error.code(), grpc.StatusCode.RESOURCE_EXHAUSTED)
            self.assertRegex(error.details(), r"; retry in \d+(\.\d+)?m?s$")

    def test_without_a_grid_there_are_no_marks(self):
        self.reload(self.config.replace("trigger_hz: 1000", "trigger_hz: 0"))
        self.addCleanup(self.reload, self.config)
        self.assertEqual(self.fails(self.mark, grpc.StatusCode.FAILED_PRECONDITION), NO_GRID)

    def reload(self, config):
        site_layout.write(self.site.folder, "sidebandd.yaml", config)
        before = self.site.daemon.log().count("grid of triggers: ")
        self.site.daemon.signal(signal.SIGHUP)
        programs.wait_until(lambda: self.site.daemon.log().count("grid of triggers: ") > before, "another grid")

    def test_the_command_line(self):
        line = self.out("tenant-a", "mark", "--vm", "vm1", "--context", "train", "kernel begins")
        self.assertRegex(line, r"^mark \d+ of vm1/train, asked for at \d+\.\d{9} s: kernel begins\n$")
        begin = line.split()[1]
        self.out("tenant-a", "mark", "--vm", "vm1", "eval ends")
        time.sleep(0.3)
        end = self.out("tenant-a", "mark", "--vm", "vm1", "--context", "train", "kernel ends").split()[1]
        table = self.out("tenant-a", "span", "--vm", "vm1", "--from", begin, "--to", end)
        self.assertRegex(table, r"vm1/train  from mark %s \(kernel begins\) at " % begin)
        self.assertRegex(table, r"duration \d+\.\d{9} s ±1 ns by the device's clock")
        span = json.loads(self.out("tenant-a", "span", "--vm", "vm1", "--from", begin, "--to", end, "--format", "json"))
        self.assertGreater(sum(int(counter["count"]) for counter in span["counters"]), 0)
        for counter in span["counters"]:
            self.assertIn(counter["event"], table)
        self.assertRegex(self.out("tenant-a", "marks", "--context", "train"), r"gpu0 +%s +vm1 +train +read " % begin)
        result = self.site.sideband("tenant-b", "span", "--vm", "vm1", "--from", begin, "--to", end)
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertIn("no such device, VM, context or event: VM 'vm1'", result.stderr)
        self.assertEqual(self.site.sideband("tenant-a", "span", "--vm", "vm1", "--from", "998", "--to", "999").returncode, 1)
        result = self.site.sideband("tenant-a", "span", "--vm", "vm1", "--from", begin, "--to", end, "--event", "dram_*")
        self.assertIn("context or event: event 'dram_*' (--event of span takes a name without * and ?)\n", result.stderr)
        result = self.site.sideband("operator", "mark", "--vm", "vm1")
        self.assertIn("no such device, VM, context or event: the caller sees the VM; a mark needs the right `mark`", result.stderr)
        result = self.site.sideband("tenant-a", "clocks", "--device", "gpu0")
        self.assertIn("no such device, VM, context or event: clocks are for operators", result.stderr)

    def test_operators_see_the_clocks(self):
        def clock():
            rows = [c for d in json.loads(self.out("operator", "clocks", "--format", "json"))["devices"]
                    for c in d["clocks"] if c["name"] == "memory" and c.get("hertz_lower")]
            return rows[0] if rows else None
        programs.wait_until(clock, "a frequency")
        found = clock()
        true_hz = MEMORY_HZ * (1 + PPM * 1e-6)
        self.assertLessEqual(found["hertz_lower"], true_hz * (1 + 1e-5))
        self.assertGreaterEqual(found["hertz_upper"], true_hz * (1 - 1e-5))
        self.assertIn("memory", self.out("operator", "clocks"))
        self.assertNotIn("memory", self.out("tenant-a", "clocks"))
        families = ("sideband_clock_domain_frequency_hertz", "sideband_clock_domain_error_bound_seconds",
                    "sideband_clock_domain_segments_total", "sideband_host_clock_error_bound_seconds")
        scrape = self.site.get("operator", "/metrics")[1]
        for family in families:
            self.assertIn(family + "{device=\"gpu0\"", scrape)
        self.assertNotIn("sideband_clock_domain", self.site.get("tenant-a", "/metrics")[1])
        self.assertIn("sideband_marks_total{code=\"OK\",device=\"gpu0\"}", scrape)


if __name__ == "__main__":
    unittest.main()
