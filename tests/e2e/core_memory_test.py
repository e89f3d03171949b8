# SPDX-License-Identifier: Apache-2.0
"""A confidential VM's counts in those parts of the daemon's memory that a core dump would include.

The daemon is stopped between two snapshots, and all of its memory is read: each mapping, and whether the kernel
excludes it from core dumps ("dd" in its flags). The counts are 62-bit numbers that do not occur by chance. The test
searches for them as words, at any bit offset (a snapshot's stream is packed in bits), as text and as varints.
"""

import os
import re
import signal
import time
import unittest

import liar_site
import programs

INTERVAL_S = 4
_MAPPING = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) (\S+) \S+ \S+ \S+\s*(.*)$")
_CHUNK = 16 << 20
_OVERLAP = 32


def patterns(count):
    """The byte strings that reveal a count."""
    word = count.to_bytes(8, "little")
    # At an offset that is not a byte boundary: the seven bytes that contain only the count's bits.
    shifted = [(count << shift).to_bytes(9, "little")[1:8] for shift in range(1, 8)]
    varint = bytearray()
    while count >> 7 * len(varint):
        varint.append(count >> 7 * len(varint) & 0x7F | 0x80)
    varint[-1] &= 0x7F
    return [word, bytes(varint), str(count).encode(), *shifted]


class Memory:
    """The memory of a stopped process."""

    def __init__(self, pid):
        self._pid = pid

    def mappings(self):
        """(begin, end, name, whether core dumps include it) of each readable mapping."""
        found = []
        with open("/proc/%d/smaps" % self._pid, encoding="utf-8") as smaps:
            for line in smaps:
                mapping = _MAPPING.match(line)
                if mapping:
                    begin, end, access, name = mapping.groups()
                    found.append([int(begin, 16), int(end, 16), name, access.startswith("r")])
                elif line.startswith("VmFlags:"):
                    found[-1].append("dd" not in line.split())
        return [(begin, end, name, dumped) for begin, end, name, readable, dumped in found
                if readable and name not in ("[vvar]", "[vvar_vclock]", "[vsyscall]")]

    def find(self, counts):
        """{count: {"dumped": [names of mappings], "hidden": [...]}}"""
        wanted = re.compile(b"|".join(re.escape(pattern) for count in counts for pattern in patterns(count)))
        owner = {pattern: count for count in counts for pattern in patterns(count)}
        found = {count: {"dumped": [], "hidden": []} for count in counts}
        with open("/proc/%d/mem" % self._pid, "rb", buffering=0) as memory:
            for begin, end, name, dumped in self.mappings():
                for at in range(begin, end, _CHUNK):
                    memory.seek(at)
                    try:
                        data = memory.read(min(_CHUNK + _OVERLAP, end - at))
                    except OSError:
                        continue  # unreadable pages
                    for match in wanted.finditer(data):
                        found[owner[match.group()]]["dumped" if dumped else "hidden"].append(
                            "%s at %x" % (name or "anonymous", at + match.start()))
        return found


@unittest.skipUnless(os.geteuid() == 0, "only root reads the memory of a process that is not dumpable")
class CoreMemoryTest(unittest.TestCase):
    def start(self, state, **options):
        self.site = liar_site.LiarSite(state, interval="%ds" % INTERVAL_S, **options)
        self.addCleanup(self.site.close)
        self.site.start()

    def scan(self, counts):
        """Searches the memory between two snapshots."""
        pid = self.site.daemon.pid
        while True:
            self.site.wait_for_snapshots(1)
            begin = time.monotonic()
            self.site.daemon.signal(signal.SIGSTOP)
            try:
                # On a loaded machine the next snapshot may be in progress: repeat.
                if time.monotonic() - begin < INTERVAL_S / 2:
                    return Memory(pid).find(counts)
            finally:
                self.site.daemon.signal(signal.SIGCONT)

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
            self.assertTrue(any(pattern in bits for pattern in patterns(count)), shift)
