# SPDX-License-Identifier: Apache-2.0
"""A guest's view of itself (`serve --guest-views`, `peek-shm`) beside the daemon's reading over the bus."""

import json
import os
import signal
import stat
import unittest
import uuid

import programs
import site_layout
import tenant_client

SAME_TRIGGERS = 10
STATES = {1: "active", 2: "idle", 3: "retired"}


def samples(log):
    """The output of `peek-shm --watch` so far, without the incomplete last line; each trigger once."""
    lines = log[:log.rfind("\n") + 1].splitlines()
    return {sample["trigger_id"]: sample for sample in map(json.loads, lines)}


def view_rows(sample):
    """{context or None: (generation, state, flags, counters that are not 0)} of a sample."""
    return {block["context"]: (block["generation"], block["state"], block["flags"],
                               {event: count for event, count in block["counters"].items() if count})
            for block in sample["blocks"]}


def snapshot_rows(snapshot, vm):
    """Likewise for the daemon's snapshot."""
    return {row.scope.context or None: (row.scope.generation, STATES[row.state], list(row.flags),
                                        {counter.event: counter.count for counter in row.counters if counter.count})
            for row in snapshot.scopes if row.scope.vm == vm}


class ViewTestCase(unittest.TestCase):
    def setUp(self):
        self.site = site_layout.Site("100ms", guest_views=True)
        self.addCleanup(self.site.close)

    def peek(self, *arguments):
        return programs.run("sideband-mcu", "peek-shm", *arguments, cwd=self.site.folder)

    def watch(self, vm):
        """A program that prints the view every millisecond."""
        program = programs.Program("sideband-mcu", "peek-shm", "views/%s.sbv" % vm, "--format", "json", "--watch", "1ms",
                                   cwd=self.site.folder, log="peek.%s.log" % vm)
        self.addCleanup(program.kill)
        return program

    def start_device(self):
        self.site.start_device()
        programs.wait_until(lambda: os.path.exists(self.site.path("views/vm1.sbv")) or self.site.device.ended(),
                            "the view of vm1")
        programs.wait_until(lambda: "serving" in self.site.device.log(), "the device's bus")


class AgreementTest(ViewTestCase):
    def collect(self, user, vm):
        """[(sample, snapshot)] of the triggers that are in both the view and the user's stream."""
        self.site.start()
        peek = self.watch(vm)
        with tenant_client.Client(self.site, user) as client:
            snapshots = (answer.update for answer in client.stream() if answer.HasField("update"))
            seen = {}
            for snapshot in snapshots:
                seen[snapshot.trigger_id] = snapshot
                shown = samples(peek.log())
                if len(seen.keys() & shown.keys()) >= SAME_TRIGGERS:
                    break
        self.check_watched(list(shown.values()))
        self.assertGreater(4 * len(seen.keys() & shown.keys()), len(seen), "what was latched stands for a while")
        return [(shown[trigger], seen[trigger]) for trigger in sorted(seen.keys() & shown.keys())]

    def check_watched(self, shown):
        """Checks all samples, not only those at the daemon's triggers."""
        self.assertGreater(len(shown), SAME_TRIGGERS)
        for earlier, later in zip(shown, shown[1:]):
            self.assertGreater(later["trigger_id"], earlier["trigger_id"])
            self.assertGreater(later["reference_time_ns"], earlier["reference_time_ns"])
            for before, after in zip(earlier["blocks"], later["blocks"]):
                self.assertTrue(all(after["counters"][event] >= before["counters"][event] for event in before["counters"]))
        for sample in shown:
            whole, *contexts = [block["counters"] for block in sample["blocks"]]
            self.assertEqual(whole, {event: sum(counters[event] for counters in contexts) for event in whole})

    def check_pairs(self, pairs, vm):
        for sample, snapshot in pairs:
            self.assertEqual(sample["boot_id"], "%016x" % snapshot.boot_id)
            self.assertEqual(sample["reference_time_ns"], snapshot.reference_time_ns)
            self.assertEqual((sample["vm"], sample["vm_uuid"]), (vm, site_layout.VM_UUIDS[vm]))
            self.assertEqual(view_rows(sample).keys() & snapshot_rows(snapshot, vm).keys(),
                             snapshot_rows(snapshot, vm).keys())
        counts = [view_rows(sample)[None][3] for sample, _ in pairs]
        self.assertLess(max(counts[0].values()), max(counts[-1].values()), "it counts")

    def test_tenant(self):
        """The VM and its contexts."""
        pairs = self.collect("tenant-a", "vm1")
        self.check_pairs(pairs, "vm1")
        for sample, snapshot in pairs:
            self.assertEqual(view_rows(sample).keys(), {None, "train", "eval"})
            self.assertEqual(view_rows(sample), snapshot_rows(snapshot, "vm1"))

    def test_operator(self):
        """The operator sees the VM as a whole."""
        pairs = self.collect("operator", "vm2")
        self.check_pairs(pairs, "vm2")
        for sample, snapshot in pairs:
            self.assertEqual(view_rows(sample)[None], snapshot_rows(snapshot, "vm2")[None])


class FilesTest(ViewTestCase):
    def test_who_has_one(self):
        """No view of the confidential vm3; files are readable by all users, writable by none."""
        self.start_device()
        programs.wait_until(lambda: set(os.listdir(self.site.path("views"))) == {"vm1.sbv", "vm2.sbv"},
                            lambda: "two views: %s" % os.listdir(self.site.path("views")))
        for name in ("vm1.sbv", "vm2.sbv"):
            self.assertEqual(stat.S_IMODE(os.stat(self.site.path("views/" + name)).st_mode), 0o444)

    def test_nothing_of_others(self):
        self.start_device()
        view = self.site.read("views/vm1.sbv")
        for own in (b"vm1", b"train", b"eval", uuid.UUID(site_layout.VM_UUIDS["vm1"]).bytes):
            self.assertIn(own, view)
        for other in ("vm2", "vm3"):
            self.assertNotIn(uuid.UUID(site_layout.VM_UUIDS[other]).bytes, view)
            self.assertNotIn(site_layout.VM_UUIDS[other].encode(), view)
        for name in (b"vm0", b"vm2", b"vm3", b"serve", b"finetune", b"embed"):
            self.assertNotIn(name, view)

    def test_nothing_of_the_device(self):
        """The device's own traffic would reveal other VMs."""
        self.start_device()
        for name in (b"pcie", b"nvlink"):
            self.assertNotIn(name, self.site.read("views/vm1.sbv"))

    def test_gone_with_the_device(self):
        """A running --watch reports the end in one line."""
        for number in (signal.SIGTERM, signal.SIGINT):
            self.start_device()
            peek = self.watch("vm1")
            programs.wait_until(lambda: samples(peek.log()), "a sample")
            self.site.device.signal(number)
            self.assertEqual(self.site.device.wait(), 0)
            self.assertEqual(os.listdir(self.site.path("views")), [])
            self.assertEqual(peek.wait(), 2)
            self.assertEqual([line for line in peek.log().splitlines() if not line.startswith("{")],
                             ["sideband-mcu: views/vm1.sbv: No such file or directory"])
            os.remove(self.site.path("peek.vm1.log"))

    def test_left_by_a_device_that_was_killed(self):
        """The last counts stay unchanged; the next start replaces them."""
        self.start_device()
        self.site.device.kill()
        first, second = (json.loads(self.peek("views/vm1.sbv", "--format", "json").stdout) for _ in range(2))
        self.assertEqual(first, second)
        self.site.start_device()

        def is_new():
            # The old file is removed before the new one is there.
            peek = self.peek("views/vm1.sbv", "--format", "json")
            return peek.returncode == 0 and json.loads(peek.stdout)["boot_id"] != first["boot_id"]

        programs.wait_until(is_new, "a view of the new boot")

    def test_watch_ends_well(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            self.start_device()
            peek = self.watch("vm1")
            programs.wait_until(lambda: len(samples(peek.log())) > 2, "samples")
            peek.signal(number)
            self.assertEqual(peek.wait(), 0)
            self.site.device.stop()
            os.remove(self.site.path("peek.vm1.log"))

    def test_table(self):
        self.start_device()
        result = self.peek("views/vm1.sbv")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, r"\Atrigger \d+ at \d+ ns\n\nevent +vm1 +vm1/train +vm1/eval\n")

    def test_folder_that_is_not_there(self):
        os.rmdir(self.site.path("views"))
        device = self.site.start_device()
        self.assertEqual(device.wait(), 2)
        self.assertEqual(device.log(), "sideband-mcu: views: No such file or directory\n")


class BadFileTest(programs.ProgramTestCase):
    """A view's owner is not trusted: no file makes peek-shm crash, hang or print more than a line."""

    @classmethod
    def setUpClass(cls):
        """One good view for all."""
        site = site_layout.Site("100ms", guest_views=True)
        cls.addClassCleanup(site.close)
        site.start_device()
        programs.wait_until(lambda: os.path.exists(site.path("views/vm1.sbv")), "the view of vm1")
        # A copy made during a write may be torn: repeat until it is consistent.
        programs.wait_until(lambda: cls.copy(site), "a whole copy")

    @classmethod
    def copy(cls, site):
        cls.view = site.read("views/vm1.sbv")
        with open(site.path("whole"), "wb") as file:
            file.write(cls.view)
        return programs.run("sideband-mcu", "peek-shm", "whole", cwd=site.folder).returncode == 0

    def peek(self, *arguments):
        return programs.run("sideband-mcu", "peek-shm", *arguments, cwd=self.folder)

    def refused(self, status, start, content):
        self.write("bad.sbv", content)
        self.assert_refused(self.peek("bad.sbv"), status, "sideband-mcu: bad.sbv: " + start)

    def test_the_copy_is_good(self):
        self.write("good.sbv", self.view)
        self.assertEqual(self.peek("good.sbv").returncode, 0)

    def test_missing(self):
        self.assert_refused(self.peek("absent.sbv"), 2, "sideband-mcu: absent.sbv: No such file")

    def test_directory(self):
        self.assert_refused(self.peek("/"), 2, "sideband-mcu: /: not a regular file")

    def test_pipe(self):
        """A pipe without a writer."""
        os.mkfifo(self.path("pipe"))
        self.assert_refused(self.peek("pipe"), 2, "sideband-mcu: pipe: not a regular file")

    def test_empty(self):
        self.refused(1, "guest view: ", b"")

    def test_cut(self):
        for size in (1, 7, 8, 15, 16, 17, 64, 127, len(self.view) // 2, len(self.view) - 8, len(self.view) - 1):
            self.refused(1, "guest view: ", self.view[:size])

    def test_longer(self):
        self.refused(1, "guest view: wrong length", self.view + b"\0")

    def test_garbage(self):
        for content in (os.urandom(len(self.view)), bytes(len(self.view)), b"hello, this is no view\n" * 9):
            self.refused(2, "guest view: wrong magic", content)

    def test_flipped(self):
        """The checksum detects a flip of any bit of the directory."""
        size = int.from_bytes(self.view[8:12], "little")
        for place in [*range(0, 24), *range(24, size, 37)]:
            damaged = bytearray(self.view)
            damaged[place] ^= 1 << place % 8
            self.write("bad.sbv", bytes(damaged))
            result = self.peek("bad.sbv")
            self.assert_refused(result, result.returncode, "sideband-mcu: bad.sbv: guest view: ")
            self.assertIn(result.returncode, (1, 2))

    def test_writer_that_never_finishes(self):
        size = int.from_bytes(self.view[8:12], "little")
        damaged = bytearray(self.view)
        damaged[size] ^= 1  # an odd head: a write in progress
        self.refused(1, "guest view: its writer does not finish", bytes(damaged))

    def test_superseded_for_ever(self):
        size = int.from_bytes(self.view[8:12], "little")
        damaged = bytearray(self.view)
        damaged[size + 8] = 1
        self.refused(1, "replaced again and again", bytes(damaged))

    def test_huge(self):
        """A sparse file."""
        self.write("bad.sbv", self.view)
        os.truncate(self.path("bad.sbv"), 1 << 40)
        self.assert_refused(self.peek("bad.sbv"), 2, "sideband-mcu: bad.sbv: too large")

    def test_options(self):
        self.write("good.sbv", self.view)
        for watch in ("0s", "-1s", "1us", "2h", "often", ""):
            self.assert_refused(self.peek("good.sbv", "--watch=" + watch), 2, "sideband-mcu: ", "--watch")
        self.assert_refused(self.peek("good.sbv", "--format", "xml"), 2, "sideband-mcu: ", "--format")
        self.assert_refused(self.peek(), 2, "sideband-mcu: ", "file")
