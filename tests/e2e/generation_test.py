# SPDX-License-Identifier: Apache-2.0
"""Contexts that end: their final counts are kept until they have been read, and generations never mix."""

import json
import unittest

import exposition
import programs
import site_layout
import tenant_client

# vm1 has `train`, which restarts repeatedly, and `eval`, which does not.
LIFETIMES = {"train": "lifetime: 300ms", "eval": "lifetime: 900ms, restart: false"}
RETIRED = tenant_client.sideband.RowState.RETIRED
GENERATIONS = 6
# No wire counts more than once per cycle, and an event has at most eight wires.
RATE_MAX = 8 * 1.4


def with_lifetimes(chip):
    for context, keys in LIFETIMES.items():
        start = "      - name: %s\n" % context
        assert chip.count(start) == 1
        chip = chip.replace(start, start + "".join("        %s\n" % key for key in keys.split(", ")))
    return chip


def rows(snapshot):
    """{context or "" for the VM: row} of vm1."""
    return {row.scope.context: row for row in snapshot.rows}


def counts(row):
    return {event: row[event] for event in row}


def not_below(later, earlier):
    return all(later[event] >= earlier[event] for event in earlier)


class GenerationTestCase(unittest.TestCase):
    def setUp(self):
        self.site = site_layout.Site("100ms", guest_views=True)
        self.addCleanup(self.site.close)
        site_layout.write(self.site.folder, "chip.yaml", with_lifetimes(self.site.read("chip.yaml").decode()))

    def view(self):
        """{context or None: block} of vm1's guest view; None if the view has just been replaced."""
        result = programs.run("sideband-mcu", "peek-shm", "views/vm1.sbv", "--format", "json", cwd=self.site.folder)
        if result.returncode != 0:
            return None
        return {block["context"]: block for block in json.loads(result.stdout)["blocks"]}

    def scopes(self):
        """The contexts that `sideband scopes` lists for tenant A, with their generations."""
        site_layout.write(self.site.folder, "client.yaml",
                          "address: 127.0.0.1:%d\nca_file: ca.pem\ncert_file: tenant-a.pem\nkey_file: tenant-a.key\n"
                          "server_name: localhost\n" % self.site.grpc_port)
        result = programs.run("sideband", "--config", "client.yaml", "scopes", "--format", "json", cwd=self.site.folder)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return {scope["context"]: scope["generation"] for scope in json.loads(result.stdout)["scopes"]
                if scope.get("context")}


class DaemonTest(GenerationTestCase):
    def collect(self):
        """Tenant A's snapshots until `train` has had several generations and `eval` has ended; the device stays up."""
        self.site.start()
        snapshots = []
        with tenant_client.connect(self.site, "tenant-a") as client, client.watch() as stream:
            for update in stream:
                # Neither a gap nor a contradiction.
                self.assertIsInstance(update, tenant_client.sideband.Update)
                snapshots.append((update.snapshot, update.skipped))
                self.check_up()
                now = rows(update.snapshot)
                if now["train"].scope.generation >= GENERATIONS and "eval" not in now:
                    return snapshots
        raise AssertionError("the stream ended")

    def check_up(self):
        series = self.site.metrics("operator")
        self.assertEqual(exposition.value(series, "sideband_device_up", device="gpu0"), 1)
        self.assertGreater(len(exposition.counters(series)), 0)

    def test_generations(self):
        snapshots = self.collect()
        self.check_within(snapshots)
        self.check_between(snapshots)
        self.check_vm(snapshots)
        self.check_gone()
        log = self.site.daemon.log().lower().replace("warning no audit log is configured", "")
        self.assertNotRegex(log, "error|warn|fail|lost|refus")
        self.assertEqual(self.site.device.log().count("\n"), 1, self.site.device.log())

    def check_within(self, snapshots):
        """Within a generation counters never decrease; after its end they are constant."""
        for context in LIFETIMES:
            seen = [rows(snapshot)[context] for snapshot, _ in snapshots if context in rows(snapshot)]
            for earlier, later in zip(seen, seen[1:]):
                self.assertGreaterEqual(later.scope.generation, earlier.scope.generation)
                self.assertEqual(later.flags, ())
                if later.scope.generation != earlier.scope.generation:
                    continue
                self.assertTrue(not_below(counts(later), counts(earlier)))
                if earlier.state == RETIRED:
                    self.assertEqual((later.state, counts(later)), (RETIRED, counts(earlier)))

    def check_between(self, snapshots):
        """A context is observed to its end; the next generation begins at 0 and counts no more than its time allows."""
        changes = 0
        for (before, _), (after, skipped) in zip(snapshots, snapshots[1:]):
            if "eval" in rows(before) and "eval" not in rows(after) and not skipped:
                self.assertEqual(rows(before)["eval"].state, RETIRED)
            earlier, later = rows(before)["train"], rows(after)["train"]
            if later.scope.generation == earlier.scope.generation or skipped:
                continue
            changes += 1
            self.assertEqual(later.scope.generation, earlier.scope.generation + 1)
            self.assertEqual(earlier.state, RETIRED)
            time = after.reference_time_ns - before.reference_time_ns
            self.assertLessEqual(max(counts(later).values()), RATE_MAX * time)
            self.assertEqual({counter.rate_per_second for counter in later.counters.values()}, {None},
                             "there is no rate between two generations")
        self.assertGreater(changes, 0)

    def check_vm(self, snapshots):
        """The VM's own counts never decrease: they are the sum of all generations, including ended ones."""
        known, base, before = {}, None, None
        for snapshot, skipped in snapshots:
            whole = counts(rows(snapshot)[""])
            self.assertTrue(before is None or not_below(whole, before))
            before = whole
            if skipped:
                known, base = {}, None  # final counts may have been in skipped snapshots
            known.update({(context, row.scope.generation): counts(row) for context, row in rows(snapshot).items()
                          if context})
            others = {event: count - sum(of[event] for of in known.values()) for event, count in whole.items()}
            base = base or others  # counts of generations from before the first snapshot
            self.assertEqual(others, base)

    def check_gone(self):
        """The context that has ended permanently is absent everywhere, and the other is present."""
        self.assertEqual(self.scopes().keys(), {"train"})
        self.assertGreaterEqual(self.scopes()["train"], GENERATIONS)
        contexts = {context for _, vm, context in exposition.counters(self.site.metrics("tenant-a")) if vm == "vm1"}
        self.assertEqual(contexts, {None, "train"})
        self.assertEqual(programs.wait_until(self.view, "a view").keys(), {None, "train"})


class NoDaemonTest(GenerationTestCase):
    def test_waits_to_be_read(self):
        """Final counts are kept until they are read."""
        self.site.start_device()

        def are_retired():
            view = self.view()
            return view and all(view[context]["state"] == "retired" for context in LIFETIMES) and view

        view = programs.wait_until(are_retired, "both contexts have ended")
        self.assertEqual({view[context]["generation"] for context in LIFETIMES}, {1})
        whole = {event: sum(view[context]["counters"][event] for context in LIFETIMES) for event in
                 view[None]["counters"]}
        self.assertEqual(view[None]["counters"], whole)

        self.site.start_daemon()
        self.site.wait_ready()
        programs.wait_until(lambda: self.scopes().get("train", 0) > 1 and "eval" not in self.scopes(),
                            "the next generation of train, and none of eval")
