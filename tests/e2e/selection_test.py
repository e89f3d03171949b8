# SPDX-License-Identifier: Apache-2.0
"""Two tenants choose their own events for the same counters of one slice, with the real programs."""

import json
import unittest

import programs
import site_layout
import tenant_client

TLB = ("tlb_hits", "tlb_misses", "tlb_latency")
TENSOR = ("tensor_ops", "tensor_active_cycles")
# Of each tenant, what its VM counts and what it does not.
CHOICES = {"tenant-a": (("tlb", TLB), ("tensor", TENSOR)), "tenant-b": (("tensor", TENSOR), ("tlb", TLB))}
CHIP = """device: {{uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10, clock_hz: 1000000}}
extension: 2
pipeline: {{trigger_period: 100, commit_period: 1000}}
units:
  - name: sm
    count: 5
    counters: 5
    events: [tlb_hits, tlb_misses, {{name: tlb_latency, bits: 7, count: prescaled}}, {{name: tensor_ops, bits: 3}}, tensor_active_cycles]
  - {{name: l2, events: [l2_reads]}}
gate_groups:
  - {{name: tlb, events: [tlb_hits, tlb_misses, tlb_latency]}}
  - {{name: tensor, events: [tensor_ops, tensor_active_cycles]}}
selections: [{{name: tensor, events: [tensor_ops, tensor_active_cycles]}}, {{name: tlb, events: [tlb_hits, tlb_misses, tlb_latency]}}]
vms:
  - {{name: vm1, uuid: {vm1}, contexts: [{{name: a, slice: 0, seed: 1, phases: [{{kind: attention, time: 1ms}}]}}]}}
  - {{name: vm2, uuid: {vm2}, contexts: [{{name: a, slice: 0, seed: 3, phases: [{{kind: attention, time: 1ms}}]}}]}}
quantum: 3ms
gap: 100us
"""
# tenant-a may trade tensor events for TLB events; tenant-b only open and close gates.
RIGHTS = {
    "vm1": ", rights: [read, configure], configure: {gate_groups: [tlb, tensor], events: [tlb_hits, tlb_misses, "
           "tlb_latency, tensor_ops, tensor_active_cycles]}",
    "vm2": ", rights: [read, configure], configure: {gate_groups: [tensor]}",
}


class SelectionTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.site = site_layout.Site(interval="100ms")
        cls.addClassCleanup(cls.site.close)
        site_layout.write(cls.site.folder, "chip.yaml", CHIP.format(**site_layout.VM_UUIDS))
        policy = site_layout.POLICY
        for vm, rights in RIGHTS.items():
            own = "{uuid: " + site_layout.VM_UUIDS[vm]
            policy = policy.replace(own, own + rights)
        site_layout.write(cls.site.folder, "policy.yaml", policy)
        site_layout.write(cls.site.folder, "sidebandd.yaml",
                          cls.site.read("sidebandd.yaml").decode() + "state_dir: state\n")
        cls.site.start()

    def out(self, user, *arguments):
        result = self.site.sideband(user, *arguments)
        self.assertEqual((result.returncode, result.stderr), (0, ""), arguments)
        return result.stdout

    def counts(self, user):
        """The counts of the user's VM, by event."""
        with tenant_client.Client(self.site, user) as client:
            row = next(row for row in client.snapshot().scopes if not row.scope.context)
        return {counter.event: counter.count for counter in row.counters}

    def test_each_tenant_counts_its_own_events_on_the_same_counters(self):
        self.assertRegex(self.out("tenant-a", "counting", "set", "--vm", "vm1", "--selection", "1"),
                         r"\Arevision \d+ is in force\n\Z")
        start = {user: self.counts(user) for user in CHOICES}

        def grown():
            return {user: {event: count - start[user].get(event, 0) for event, count in self.counts(user).items()}
                    for user in CHOICES}
        programs.wait_until(lambda: all(counts["resident_cycles"] > 20000 for counts in grown().values()),
                            "twenty milliseconds of each VM")
        for user, counts in grown().items():
            (chosen, events), (other, others) = CHOICES[user]
            self.assertEqual(counts["group_%s_running_cycles" % chosen], counts["resident_cycles"], "coverage is 100 %")
            self.assertGreater(sum(counts[event] for event in events), 0, user)
            for event in ("group_%s_running_cycles" % other, *others):
                self.assertEqual(counts.get(event, 0), 0, (user, event))

    def test_what_is_not_granted_is_refused_as_what_is_not_there(self):
        for user, selection, reason in (("tenant-b", "1", "vms.vm2.selection: no selection 1"),
                                        ("tenant-b", "9", "vms.vm2.selection: no selection 9")):
            refused = self.site.sideband(user, "counting", "set", "--vm", "vm2", "--selection", selection)
            self.assertEqual((refused.returncode, refused.stdout), (1, ""))
            self.assertIn(reason, refused.stderr)

    def test_explain_says_that_another_selection_has_it(self):
        explained = self.out("operator", "counting", "explain", "--vm", "vm2", "--event", "tlb_misses")
        self.assertRegex(explained, r"(?m)^selected +0  the VM's selection 0 \('tensor'\) does not have it$")
        self.assertTrue(explained.endswith("tlb_misses (gate group tlb) is not counted while vm2 runs\n"), explained)

    def test_a_tenant_sees_the_selections_that_it_may_have(self):
        def selections(user):
            shown = json.loads(self.out(user, "counting", "show", "--format", "json"))
            return [selection["name"] for selection in shown["selections"]]
        self.assertEqual(selections("tenant-a"), ["tensor", "tlb"])
        self.assertEqual(selections("tenant-b"), ["tensor"])
        self.assertIn("1  tlb        tlb_hits,tlb_misses,tlb_latency", self.out("operator", "counting", "show"))


if __name__ == "__main__":
    unittest.main()
