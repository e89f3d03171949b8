# SPDX-License-Identifier: Apache-2.0
"""A confidential VM's counts in those parts of the daemon's memory that a core dump would include.

The daemon is stopped between two snapshots, and all of its memory is read. The counts are 62-bit numbers that do not
occur by chance.
"""

import os
import time
import unittest

import liar_site
import process_memory
import programs

INTERVAL_S = 4


@unittest.skipUnless(os.geteuid() == 0, "only root reads the memory of a process that is not dumpable")
class CoreMemoryTest(unittest.TestCase):
    def start(self, state, **options):
        self.site = liar_site.LiarSite(state, interval="%ds" % INTERVAL_S, **options)
        self.addCleanup(self.site.close)
        self.site.start()

    def scan(self, counts):
        """Searches the memory between two snapshots."""
        def found():
            self.site.wait_for_snapshots(1)
            begin = time.monotonic()
            with process_memory.stopped(self.site.daemon):
                # On a loaded machine the next snapshot may be in progress: repeat.
                in_time = time.monotonic() - begin < INTERVAL_S / 2
                return (process_memory.Memory(self.site.daemon.pid).find(counts),) if in_time else ()
        return programs.wait_until(found, "the daemon stands still between two snapshots")[0]

    def check_hidden(self, counts):
        found = self.scan(counts)
        self.assertEqual({count: places["dumped"] for count, places in found.items() if places["dumped"]}, {})
        return found

    def test_nothing_is_in_a_core_dump(self):
        secret = liar_site.SECRET_COUNTS + liar_site.DEVICE_COUNTS
        self.start("confidential", keys=True, right="seal")
        unsealing = programs.Program(
            "sideband", "--address", "127.0.0.1:%d" % self.site.grpc_port, "--server-name", "localhost", "--ca-file",
            "ca.pem", "--cert-file", "tenant-b.pem", "--key-file", "tenant-b.key", "unseal", "--vm", liar_site.SECRET,
            "--key-file", "vm3.key", "--state", "state.json", "--format", "json", cwd=self.site.folder)
        self.addCleanup(unsealing.kill)
        self.check_hidden(secret)
        # Counts that the device reports as open are kept as the base of the next snapshot: hidden, but present.
        self.site.next_state()
        self.site.wait_for_snapshots(2)
        held = self.check_hidden(secret)
        self.assertTrue(all(held[count]["hidden"] for count in liar_site.SECRET_COUNTS), held)
        self.site.next_state()
        self.site.wait_for_snapshots(2)
        held = self.check_hidden(secret)
        self.assertTrue(all(held[count]["hidden"] for count in liar_site.DEVICE_COUNTS), "the device's row: %s" % held)
        self.assertIn('"sequence":"1"', unsealing.log(), "records were sealed all the while")

    def test_the_scan_finds_what_is_shown(self):
        """The same counts of the same device without a confidential VM."""
        self.start("open")
        found = self.scan(liar_site.SECRET_COUNTS + liar_site.DEVICE_COUNTS)
        self.assertTrue(all(places["dumped"] for places in found.values()), found)

    def test_patterns(self):
        count = liar_site.SECRET_COUNTS[0]
        for shift in range(8):
            bits = (0x5555 << 64 + shift | count << shift | (1 << shift) - 1).to_bytes(12, "little")
            self.assertTrue(any(pattern in bits for pattern in process_memory.patterns(count)), shift)
