# SPDX-License-Identifier: Apache-2.0
"""Events that take turns on six counters, beside a twin of the device with a counter for each, with the real programs."""

import json
import re
import signal
import unittest

import exposition
import programs
import site_layout
import tenant_client

# The contexts of vm2 end soon, so that its counts are the same in every answer from then on; those of vm1 go on.
ENDS = "quantum: 2ms\n"
TWIN_UUID = "5b0f6a2e-7c64-4d0c-9d7e-2f1a90c3e0ff"
NOT_THERE = "no such device, VM, context or event: it does not exist, no event is multiplexed, or you lack the right `rotate`"
# As docs/design has it, of events for three sets.
TWO_SET = """profile: two-set
slots: {stable: 8s, fluctuating: 4s}
interval: 0.5s
threshold: 0.05
step: 4
sets_per_pass: 2
weights: {sm_active_cycles: 2}
events: [sm_active_cycles, warps_eligible_cycles, tensor_active_cycles, fp16_active_cycles, fp32_active_cycles,
         fp64_active_cycles, int_active_cycles, sfu_active_cycles, branch_issued_cycles, branch_divergent_cycles,
         barrier_wait_cycles]
"""
SET = "slots: {stable: 100us, fluctuating: 50us}\nadapt: false\nevents: [sm_active_cycles, tensor_active_cycles, l1_hit_cycles]\n"


def rotating_chip():
    chip = open(programs.runfile("deploy/examples/chip-rotating.yaml"), encoding="utf-8").read()
    chip = re.sub(r"uuid: \S+e401", "uuid: " + site_layout.VM_UUIDS["vm1"], chip)
    chip = re.sub(r"uuid: \S+e402", "uuid: " + site_layout.VM_UUIDS["vm2"], chip)
    # How near the estimates are must not differ from run to run.
    chip = chip.replace("rotation:\n", "rotation:\n  seed: 1\n")
    return chip.replace("seed: 3,", "seed: 3, lifetime: 100ms, restart: false,")


def twin_chip():
    """The same workload on a device on which all events are counted all the time."""
    chip = rotating_chip().replace("counters: 6", "counters: 45")
    # The serialiser has more to do.
    chip = chip.replace("period: 127 ", "period: 500 ").replace("counter_bits: 7", "counter_bits: 9")
    chip = re.sub(r"uuid: \S+e004", "uuid: " + TWIN_UUID, chip)
    chip = re.sub(r"(?m)^ +fixed: .*\n", "", chip)
    return re.sub(r"(?ms)^(# [^\n]*\n)?relations:.*?^vms:", "vms:", chip)


class RotationTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.site = site_layout.Site(interval="200ms")
        cls.addClassCleanup(cls.site.close)
        folder = cls.site.folder
        site_layout.write(folder, "chip.yaml", rotating_chip())
        site_layout.write(folder, "twin.yaml", twin_chip())
        own = "{uuid: " + site_layout.VM_UUIDS["vm1"]
        site_layout.write(folder, "policy.yaml", site_layout.POLICY.replace(own, own + ", rights: [read, rotate]"))
        config = cls.site.read("sidebandd.yaml").decode()
        twin = '  - {name: twin, bus: "unix:twin.sock@0x4f", interval: 200ms}\n'
        cls.config = config.replace("devices:\n", "devices:\n" + twin) + "audit: {file: audit.jsonl}\n"
        site_layout.write(folder, "sidebandd.yaml", cls.config)
        site_layout.write(folder, "set.yaml", SET)
        cls.twin = programs.Program("sideband-mcu", "serve", "--chip", "twin.yaml", "--bus", "unix:twin.sock", cwd=folder)
        cls.addClassCleanup(cls.twin.kill)
        programs.wait_until(lambda: "serving" in cls.twin.log() or cls.twin.ended(), "the twin's bus")
        if cls.twin.ended():
            raise AssertionError("the twin ended: " + cls.twin.log())
        cls.site.start()
        cls.client = tenant_client.Client(cls.site, "operator").__enter__()
        cls.addClassCleanup(cls.client.__exit__)
        programs.wait_until(cls.has_ended, "the end of vm2's contexts\n" + cls.site.daemon.log())

    @classmethod
    def rows(cls, device, client=None):
        """The rows of a device's newest snapshot by VM and context."""
        snapshot = (client or cls.client).snapshot(device=device)
        return {(row.scope.vm, row.scope.context): row for row in snapshot.scopes}

    def own_rows(self):
        """Those of tenant A, which has contexts."""
        with tenant_client.Client(self.site, "tenant-a") as client:
            return self.rows("gpu0", client)

    @classmethod
    def has_ended(cls):
        """Whether nothing of vm2 counts any more, on both devices."""
        try:
            rows = [cls.rows(device) for device in ("gpu0", "twin")]
        except AssertionError:
            return False
        ends = [("vm2", "serve") not in of_device and ("vm2", "") in of_device for of_device in rows]
        return all(ends)

    @staticmethod
    def counters(row):
        return {counter.event: counter for counter in row.counters}

    def out(self, user, *arguments):
        result = self.site.sideband(user, *arguments)
        self.assertEqual((result.returncode, result.stderr), (0, ""), arguments)
        return result.stdout

    def refusal(self, user, *arguments):
        result = self.site.sideband(user, *arguments)
        self.assertEqual((result.returncode, result.stdout), (1, ""), arguments)
        return result.stderr

    def rotation(self, user, *arguments):
        return self.out(user, "rotation", *arguments)

    def shown(self, user, *arguments):
        return json.loads(self.rotation(user, "show", "--device", "gpu0", "--format", "json", *arguments))

    def test_the_bounds_contain_what_the_twin_counts(self):
        ours, theirs = (self.rows(device)["vm2", ""] for device in ("gpu0", "twin"))
        truth = {event: counter.count for event, counter in self.counters(theirs).items()}
        self.assertTrue(all(not counter.HasField("estimate") for counter in theirs.counters))
        self.assertEqual(self.counters(ours)["resident_cycles"].count, truth["resident_cycles"], "the same workload")
        estimated = 0
        for event, counter in self.counters(ours).items():
            if not counter.HasField("estimate"):
                self.assertEqual(counter.count, truth[event], event)
                continue
            estimated += 1
            self.assertLessEqual(counter.estimate.lower, truth[event], event)
            self.assertGreaterEqual(counter.estimate.upper, truth[event], event)
            self.assertLessEqual(counter.estimate.lower, counter.count, event)
            self.assertGreaterEqual(counter.estimate.upper, counter.count, event)
            self.assertGreater(counter.coverage, 0, event)
            self.assertLess(counter.coverage, 1, event)
        self.assertGreater(estimated, 30)
        # Of events that are counted often, most estimates are near the truth.
        often = [(abs(counter.count - truth[event]) / truth[event]) for event, counter in self.counters(ours).items()
                 if counter.HasField("estimate") and truth[event] > 10000]
        self.assertGreater(sum(error < 0.1 for error in often), 0.5 * len(often), sorted(often))

    def test_every_surface_has_the_same_estimates(self):
        row = self.rows("gpu0")["vm2", ""]
        series = self.site.metrics("operator")
        labels = {"device": "gpu0", "vm": "vm2", "vm_uuid": site_layout.VM_UUIDS["vm2"]}
        of_vm = [dict(found) for name, found in series if name == "sideband_vm_sm_active_cycles_total"]
        labels = next(found for found in of_vm if found["device"] == "gpu0" and found["vm"] == "vm2")
        shown = json.loads(self.out("operator", "get", "--device", "gpu0", "--vm", "vm2", "--format", "json"))
        cli = {one["event"]: one for one in shown["snapshots"][0]["scopes"][0]["counters"]}
        for event, counter in self.counters(row).items():
            self.assertEqual(exposition.value(series, "sideband_vm_%s_total" % event, **labels), counter.count, event)
            self.assertEqual(int(cli[event]["count"]), counter.count, event)
            lower = exposition.value(series, "sideband_vm_event_lower_total", event=event, **labels)
            upper = exposition.value(series, "sideband_vm_event_upper_total", event=event, **labels)
            if not counter.HasField("estimate"):
                self.assertIsNone(lower, event)
                self.assertNotIn("estimate", cli[event])
                continue
            self.assertEqual((lower, upper), (counter.estimate.lower, counter.estimate.upper), event)
            self.assertEqual(int(cli[event]["estimate"]["upper"]), counter.estimate.upper, event)
        table = self.out("operator", "get", "--device", "gpu0", "--vm", "vm2", "--bounds", "--event", "sm_active_cycles")
        self.assertRegex(table, r"(?m)^.*sm_active_cycles +~")
        self.assertIn("UPPER", table)

    def test_what_is_estimated_is_flagged_and_nothing_else(self):
        for (vm, context), row in self.rows("gpu0").items():
            self.assertTrue({"estimated", "partial"} <= set(row.flags), (vm, context))
            self.assertNotIn("rotation_inconsistent", row.flags, (vm, context))
        for name, row in self.rows("twin").items():
            self.assertEqual(list(row.flags), [], name)

    def test_totals_add_up(self):
        rows, own_rows = self.rows("gpu0"), self.own_rows()

        def numbers(row):
            for counter in row.counters:
                bounds = (counter.estimate.lower, counter.estimate.upper) if counter.HasField("estimate") else (
                    counter.count, counter.count)
                yield counter.event, (counter.count, *bounds)

        def added(parts):
            total = {}
            for part in parts:
                for event, found in numbers(part):
                    total[event] = tuple(map(sum, zip(total.get(event, (0, 0, 0)), found)))
            return total
        contexts = added(row for (vm, context), row in own_rows.items() if context)
        own = dict(numbers(own_rows["vm1", ""]))
        self.assertGreater(len(contexts), 30)
        vms = added(row for (vm, context), row in rows.items() if vm and not context)
        device = dict(numbers(rows["", ""]))
        for event in contexts:
            # What the VM does outside of its contexts it has alone; of these workloads that is nothing.
            self.assertEqual(own[event], contexts[event], event)
        self.assertEqual(device, vms)

    def test_a_tenant_sees_its_own_turns(self):
        self.assertEqual({row["scope"]["vm"] for row in self.shown("tenant-a")["rows"]}, {"vm1"})
        self.assertEqual({row["scope"].get("vm", "") for row in self.shown("operator")["rows"]}, {"", "vm1", "vm2"})
        self.assertIn("no event is multiplexed", self.refusal("tenant-a", "rotation", "show", "--device", "twin"))
        absent = [self.refusal("tenant-a", "rotation", "show", "--device", "gpu0", "--vm", vm) for vm in ("vm2", "vm9")]
        self.assertEqual(absent[0], absent[1])
        self.assertRegex(self.rotation("tenant-a", "plan", "--device", "gpu0"), r"(?m)^ +0 +1 +\w+_cycles,")

    def test_a_tenant_with_the_right_chooses_what_takes_turns(self):
        where = ("--device", "gpu0", "--vm", "vm1", "--context", "train")
        before = self.counters(self.own_rows()["vm1", "train"])
        self.assertIn("the daemon would pass it to the device", self.rotation("tenant-a", "set", "set.yaml", *where, "--check"))
        self.assertEqual(self.rotation("tenant-a", "set", "set.yaml", *where), "in force on the device\n")

        def plan():
            shown = self.shown("tenant-a", "--vm", "vm1", "--context", "train")
            of_row = {part.get("plan", 0) for part in shown["rows"][0]["parts"]}
            return next((one for one in shown["plans"] if one.get("number", 0) in of_row - {0}), None)
        programs.wait_until(plan, "the tenant's plan")
        settings = plan()["settings"]
        self.assertEqual((settings["stable_slot"], settings["fluctuating_slot"], settings["adapt"]),
                         ("0.000100s", "0.000050s", False))
        chosen = {event for one in plan()["sets"] for event in one["events"]}
        self.assertTrue({"sm_active_cycles", "tensor_active_cycles", "l1_hit_cycles"} <= chosen, chosen)
        after = self.counters(self.own_rows()["vm1", "train"])
        self.assertGreaterEqual(after["sm_active_cycles"].count, before["sm_active_cycles"].estimate.lower,
                                "what was counted goes on")
        # The same again is the same plan.
        number = plan()["number"]
        self.rotation("tenant-a", "set", "set.yaml", *where)
        self.assertEqual(plan()["number"], number)
        entries = [json.loads(line) for line in self.site.read("audit.jsonl").splitlines()]
        self.assertTrue(any(entry.get("endpoint") == "Counting/SetRotation" and entry["decision"] == "allow"
                            for entry in entries))

    def test_without_the_right_it_is_as_if_there_were_nothing(self):
        refusals = {self.refusal(user, "rotation", *verb, "--device", "gpu0", "--vm", vm)
                    for user, vm in (("tenant-b", "vm2"), ("tenant-b", "vm9"), ("tenant-b", "vm1"), ("tenant-a", "vm2"))
                    for verb in (("set", "set.yaml"), ("learn",))}
        self.assertEqual(len(refusals), 1, refusals)
        self.assertIn(NOT_THERE, refusals.pop())

    def test_a_tenant_with_the_right_lets_the_device_learn(self):
        where = ("--device", "gpu0", "--vm", "vm1", "--context", "train")
        self.assertIn("the device stores the run's periods when the present run ends", self.rotation("tenant-a", "learn", *where))
        entries = [json.loads(line) for line in self.site.read("audit.jsonl").splitlines()]
        self.assertTrue(any(entry.get("endpoint") == "Counting/LearnRotation" and entry["decision"] == "allow"
                            for entry in entries))

    def test_what_the_device_refuses_is_said(self):
        # Half of the chip's own is the shortest.
        site_layout.write(self.site.folder, "short.yaml", "slots: {stable: 49us, fluctuating: 49us}\n")
        where = ("--device", "gpu0", "--vm", "vm1")
        refusal = self.refusal("operator", "rotation", "set", "short.yaml", *where)
        self.assertIn("slots.stable: 49us may be shorter than the device allows", refusal)
        self.assertNotIn("pinned", refusal, "there are no gate groups")
        self.rotation("operator", "set", "short.yaml", *where, "--check")
        site_layout.write(self.site.folder, "wrong.yaml", "events: [cycels]\n")
        self.assertIn("event 'cycels'",
                      self.refusal("operator", "rotation", "set", "wrong.yaml", "--device", "gpu0", "--vm", "vm1"))

    def test_the_past_has_estimates(self):
        past = self.out("operator", "get", "--device", "gpu0", "--vm", "vm2", "--event", "sm_active_cycles", "--since",
                        "1m", "--format", "json")
        counts = [int(count) for series in json.loads(past)["devices"][0]["series"] for column in series["columns"]
                  for count in column["counts"]]
        self.assertEqual(counts[-1], self.counters(self.rows("gpu0")["vm2", ""])["sm_active_cycles"].count)
        self.assertEqual(counts, sorted(counts), "an estimate never falls")

    def test_the_file_is_followed(self):
        self.addCleanup(self.reconfigure, "")
        site_layout.write(self.site.folder, "file.yaml", "slots: {stable: 300us, fluctuating: 150us}\n")
        self.reconfigure(", rotation: {file: file.yaml}")
        programs.wait_until(lambda: "0.000300s" in json.dumps(self.shown("tenant-a", "--vm", "vm1", "--context", "eval")),
                            "the file's turns\n" + self.site.daemon.log())
        entries = [json.loads(line) for line in self.site.read("audit.jsonl").splitlines()]
        self.assertTrue(any(entry.get("resource", "").endswith(", rotation") for entry in entries))
        site_layout.write(self.site.folder, "file.yaml", "events: [cycels]\n")
        self.reconfigure(", rotation: {file: file.yaml}")
        programs.wait_until(lambda: "file.yaml:1: no event 'cycels'" in self.site.daemon.log(), "the warning")
        site_layout.write(self.site.folder, "bad.yaml", "slots: {stabel: 1ms}\n")
        site_layout.write(self.site.folder, "bad-config.yaml", self.configured(", rotation: {file: bad.yaml}"))
        result = programs.run("sidebandd", "--check", "--config", "bad-config.yaml", cwd=self.site.folder)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("bad.yaml:1: unknown key 'stabel'", result.stderr)

    def test_two_set_turns_are_those_of_the_text(self):
        site_layout.write(self.site.folder, "two-set.yaml", TWO_SET)
        where = ("--device", "gpu0", "--vm", "vm1", "--context", "train")
        self.rotation("tenant-a", "set", "two-set.yaml", *where)

        def plan():
            shown = self.shown("tenant-a", "--vm", "vm1", "--context", "train")
            of_row = {part.get("plan", 0) for part in shown["rows"][0]["parts"]}
            return next((one for one in shown["plans"] if one.get("number", 0) in of_row
                         and one["settings"]["profile"] == "PROFILE_TWO_SET"), None)
        programs.wait_until(plan, "the tenant's plan")
        settings = plan()["settings"]
        self.assertEqual((settings["stable_slot"], settings["fluctuating_slot"], settings["interval"]),
                         ("8s", "4s", "0.500s"))
        self.assertEqual((settings["sets_per_pass"], settings["adapt"], settings["weights"]),
                         (2, False, {"sm_active_cycles": 2.0}))
        self.assertEqual((len(plan()["sets"]), plan()["passes"]), (3, 2))
        for verb in ("show", "plan"):
            self.assertRegex(self.rotation("tenant-a", verb, *where), r"(?m)^ *%d  two-set +3 +2 +2 " % plan()["number"])
        # A profile alone has the rest.
        site_layout.write(self.site.folder, "profile.yaml", TWO_SET.replace("sets_per_pass: 2\n", "").replace(
            "slots: {stable: 8s, fluctuating: 4s}\ninterval: 0.5s\nthreshold: 0.05\nstep: 4\n", ""))
        number = plan()["number"]
        self.rotation("tenant-a", "set", "profile.yaml", *where)
        self.assertEqual(plan()["number"], number, "the same again is the same plan")

    def configured(self, more):
        return self.config.replace('gpu0.sock@0x4f", interval: 200ms', 'gpu0.sock@0x4f", interval: 200ms' + more)

    def reconfigure(self, more):
        site_layout.write(self.site.folder, "sidebandd.yaml", self.configured(more))
        self.site.daemon.signal(signal.SIGHUP)


if __name__ == "__main__":
    unittest.main()
