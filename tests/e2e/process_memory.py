# SPDX-License-Identifier: Apache-2.0
"""Numbers in the memory of a process: each mapping is read, and whether core dumps include it ("dd" in its flags).

    with process_memory.stopped(program):
        found = process_memory.Memory(program.pid).find([123456789012])

A number is searched for as a word, at any bit offset (a snapshot's stream is packed in bits), as text and as a varint.
"""

import contextlib
import re
import signal

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


@contextlib.contextmanager
def stopped(program):
    program.signal(signal.SIGSTOP)
    try:
        yield
    finally:
        program.signal(signal.SIGCONT)


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

    def find(self, counts, forms=patterns):
        """{count: {"dumped": [names of mappings], "hidden": [...]}}"""
        wanted = re.compile(b"|".join(re.escape(pattern) for count in counts for pattern in forms(count)))
        owner = {pattern: count for count in counts for pattern in forms(count)}
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
