# SPDX-License-Identifier: Apache-2.0
"""Sealed records: carried by a client that cannot read them, opened by `sideband unseal` with the VM's key only."""

import json
import secrets

import programs
import site_layout
import tenant_test

HEADER_BYTES = 80


class SealedTest(tenant_test.TenantTestCase):
    interval = "100ms"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        stream = cls.users["tenant-b"].sealed("vm3")
        cls.records = [next(stream).record for _ in range(3)]
        stream.cancel()

    def unseal(self, record, key="vm3.key"):
        with open(self.site.path("record.bin"), "wb") as file:
            file.write(record)
        return programs.run("sideband", "unseal", "--key-file", key, "--record", "record.bin", "--format", "json",
                            cwd=self.site.folder)

    def refused(self, record, key="vm3.key"):
        result = self.unseal(record, key)
        self.assertEqual((result.returncode, result.stdout), (1, ""), result)
        self.assertRegex(result.stderr, r"\Asideband: [^\n]+\n\Z")
        return result.stderr

    def test_right_key(self):
        sequences = []
        for record in self.records:
            result = self.unseal(record)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            opened = json.loads(result.stdout)
            self.assertEqual(opened["record"]["vm_uuid"], site_layout.VM_UUIDS["vm3"])
            self.check_content(opened["snapshot"])
            sequences.append(int(opened["record"]["sequence"]))
        self.assertEqual(sequences, sorted(set(sequences)), "no sequence number is used twice")

    def check_content(self, snapshot):
        """The record contains the VM with all its contexts, and nothing else; the contexts add up to the VM."""
        rows = {row["scope"]["context"]: {counter["event"]: int(counter["count"]) for counter in row["counters"]}
                for row in snapshot["scopes"]}
        self.assertEqual({row["scope"]["vm"] for row in snapshot["scopes"]}, {"vm3"})
        self.assertEqual(rows.keys(), {"", "finetune", "embed"})
        self.assertEqual(rows[""], {event: rows["finetune"][event] + rows["embed"][event] for event in rows[""]})
        self.assertGreater(rows[""]["tensor_active_cycles"], 0)

    def test_same_vm_by_uuid(self):
        stream = self.users["tenant-b"].sealed(site_layout.VM_UUIDS["vm3"])
        self.assertEqual(self.unseal(next(stream).record).returncode, 0)
        stream.cancel()

    def test_over_the_daemon(self):
        result = programs.run("sideband", "--address", "localhost:%d" % self.site.grpc_port, "--ca-file", "ca.pem",
                              "--cert-file", "tenant-b.pem", "--key-file", "tenant-b.key", "unseal", "--vm", "vm3",
                              "--key-file", "vm3.key", "--count", "2", "--format", "json", cwd=self.site.folder,
                              environment={"XDG_STATE_HOME": self.site.folder})
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        for line in result.stdout.splitlines():
            self.check_content(json.loads(line)["snapshot"])
        self.assertEqual(result.stdout.count("\n"), 2)

    def test_a_state_that_cannot_be_kept_is_noted(self):
        result = programs.run("sideband", "--address", "localhost:%d" % self.site.grpc_port, "--ca-file", "ca.pem",
                              "--cert-file", "tenant-b.pem", "--key-file", "tenant-b.key", "unseal", "--vm", "vm3",
                              "--key-file", "vm3.key", "--count", "1", cwd=self.site.folder,
                              environment={"HOME": "/nope", "XDG_STATE_HOME": ""})
        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.stderr, "sideband: the newest record cannot be remembered: HOME is not a folder "
                                        "(set XDG_STATE_HOME, or give --state FILE)\n")

    def test_nothing_shows(self):
        """All records have one size, and bytes outside the header look random: no two equal, no names."""
        self.assertEqual({len(record) for record in self.records}, {HEADER_BYTES + 4096 + 16})
        self.assertEqual(len({record[HEADER_BYTES:] for record in self.records}), len(self.records))
        for record in self.records:
            for word in (b"vm3", b"finetune", b"embed", b"cycles", b"gpu0"):
                self.assertNotIn(word, record)

    def test_wrong_key(self):
        site_layout.write(self.site.folder, "wrong.key", secrets.token_hex(32))
        self.refused(self.records[0], key="wrong.key")

    def test_flipped_bits(self):
        """Bits in each field of the header, in the ciphertext and in the tag; the error does not reveal the place."""
        record = self.records[1]
        places = [8, 24, 32, 48, 56, 64, 72, HEADER_BYTES, HEADER_BYTES + 1000, len(record) - 17, len(record) - 16,
                  len(record) - 1]
        messages = set()
        for place in places:
            flipped = bytearray(record)
            flipped[place] ^= 1 << (place % 8)
            messages.add(self.refused(bytes(flipped)))
        self.assertEqual(len(messages), 1, messages)

    def test_flipped_bits_in_the_form(self):
        """Bits in magic, version, suite, scope and length, which determine the format."""
        for place in (0, 3, 4, 5, 6, 52, 54):
            flipped = bytearray(self.records[1])
            flipped[place] ^= 0x40
            self.refused(bytes(flipped))

    def test_cut_off_or_too_long(self):
        record = self.records[2]
        for other in (b"", record[:1], record[:HEADER_BYTES], record[:-1], record[1:], record + b"\0", record * 2):
            self.refused(other)
