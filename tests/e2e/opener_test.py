# SPDX-License-Identifier: Apache-2.0
"""Records of real programs, opened by a second implementation that was made from the pages of the formats alone
(`sealed_record`, `key_exchange`, `snp_evidence`), have the counts that `sideband unseal` prints."""

import hashlib
import json
import unittest

from cryptography import x509
from cryptography.hazmat.primitives.ciphers import aead
from google.protobuf import json_format

import bare_messages  # before the modules that import the package of the same name
import exchange_test
import key_exchange
import programs
import sealed_record
import site_layout
import snp_evidence
import tenant_client

MEASUREMENT = bytes.fromhex(exchange_test.MEASUREMENT)
NONCE = bytes(range(0xA0, 0xC0))


class ExamplesTest(unittest.TestCase):
    """The examples of proto/envelope/README.md."""

    def seal(self, nonce):
        """(key, base nonce, nonce, ciphertext and tag) of the example."""
        head = bytes.fromhex("53425352" "0%d01ffff" "11111111222243338444555555555555" "0b00000000000000"
                             "6f1c0a523d0e4a539a510d4c2a7e9b10" "0300000000100000" "01000068e5cf8b01"
                             "0100000000000000" "00ca9a3b00000000" % (2 if nonce else 1)) + nonce
        header = sealed_record.parse_header(head + bytes(4096 + 16))
        key, base_nonce = sealed_record.session_key(bytes(range(32)), header)
        nonce = sealed_record.nonce_of(base_nonce, header.sequence)
        sealed = aead.AESGCM(key).encrypt(nonce, b"\x05\0\0\0hello" + bytes(4096 - 9), head)
        return [part.hex() for part in (key, base_nonce, nonce, sealed[:16], sealed[-16:])]

    def test_version_1(self):
        self.assertEqual(self.seal(b""), [
            "18f73d7fe7567462c5dfcc004287cb5a1cae3d007713598b2ab6114fe1469652", "cf63feda534bda6e00c760b1",
            "cf63feda534bda6e00c760b0", "fd0e28b119fc72e0633f209be5610d20", "5de57adc61a9435f48d03864e1aed185"])

    def test_version_2(self):
        self.assertEqual(self.seal(NONCE), [
            "64fbad4d1b8f00929e9539b3d7c10c03d1e1b581012c41ca65c51e7098380b68", "5aa41a73d00348652086456e",
            "5aa41a73d00348652086456f", "2d32706e053caa55738e1312514c5df6", "a6b88da959fb1e173af51b5e65ac9dc9"])


def changed(data, at):
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]


class SiteTestCase(unittest.TestCase):
    """A site, and its confidential VM's guest."""

    @classmethod
    def setUpClass(cls):
        cls.site = exchange_test.ExchangeSite()
        cls.addClassCleanup(cls.site.close)
        cls.site.start()
        cls.pb = bare_messages.telemetry_pb2
        cls.client = tenant_client.Client(cls.site, "tenant-b", generated=bare_messages.telemetry_pb2_grpc)
        cls.addClassCleanup(cls.client.__exit__)
        cls.processor = snp_evidence.Processor(cls.site.folder)

    def stream(self, nonce=b""):
        request = self.pb.SubscribeSealedRequest(vm="vm3", nonce=nonce)
        stream = self.client.confidential.SubscribeSealed(request, timeout=programs.PATIENCE_S)
        self.addCleanup(stream.cancel)
        return (message.record for message in stream)

    def check_rejection(self, make_opener, record):
        """A record with any changed byte or of any other length is rejected, and does the opener no harm."""
        opener = make_opener()
        for at in range(len(record)):
            with self.assertRaises(sealed_record.Rejected, msg="byte %d" % at):
                opener.open(changed(record, at))
        for length in (*range(0, 200), len(record) - 64, len(record) - 1):
            with self.assertRaises(sealed_record.Rejected, msg="%d bytes" % length):
                opener.open(record[:length])
        with self.assertRaises(sealed_record.Rejected):
            opener.open(record + b"\0")
        opener.open(record)

    def check_order(self, make_opener, records):
        """Neither a record twice nor one before another."""
        opener = make_opener()
        opener.open(records[-2])
        for record in records[:-1]:
            with self.assertRaises(sealed_record.Rejected):
                opener.open(record)
        opener.open(records[-1])


class StaticKeyTest(SiteTestCase):
    def opener(self, nonce=b""):
        return sealed_record.Opener.of_static_key(bytes.fromhex(self.site.read("vm3.key").decode()), nonce)

    def unsealed(self, record):
        """The snapshot that the product's opener prints."""
        with open(self.site.path("record.bin"), "wb") as file:
            file.write(record)
        result = programs.run("sideband", "unseal", "--key-file", "vm3.key", "--record", "record.bin", "--format",
                              "json", cwd=self.site.folder)
        self.assertEqual(result.returncode, 0, result)
        snapshot = json.loads(result.stdout)["snapshot"]
        snapshot["boot_id"] = int(snapshot["boot_id"], 16)
        return json_format.ParseDict(snapshot, self.pb.Snapshot())

    def check(self, nonce):
        stream, opener = self.stream(nonce), self.opener(nonce)
        records = [next(stream) for _ in range(4)]
        for record in records:
            content = self.pb.SealedContent.FromString(opener.open(record).content)
            self.assertEqual(len(content.snapshot.scopes), 3)
            if not nonce:  # a record of another stream is not opened from a file
                self.assertEqual(content.snapshot, self.unsealed(record))
        self.check_rejection(lambda: self.opener(nonce), records[0])
        self.check_order(lambda: self.opener(nonce), records)

    def test_records_of_all_streams(self):
        self.check(b"")

    def test_records_of_one_stream(self):
        self.check(NONCE)

    def test_another_nonce_or_suite(self):
        record, own = next(self.stream()), next(self.stream(NONCE))
        for nonce, other in ((NONCE, record), (b"", own), (bytes(32), own)):
            with self.assertRaises(sealed_record.Rejected):
                self.opener(nonce).open(other)


class ExchangedKeyTest(SiteTestCase):
    def exchange(self, change=lambda request: request):
        """(guest, answer) of an exchange; `change` is applied to the request."""
        challenge = self.client.confidential.Challenge(self.pb.ChallengeRequest(vm="vm3"))
        guest = key_exchange.Guest(challenge.device_uuid, challenge.vm_uuid, challenge.challenge)
        evidence = self.processor.report(guest.report_data(key_exchange.SEV_SNP), MEASUREMENT)
        return guest, self.send(change(guest.request(key_exchange.SEV_SNP, evidence)))

    def send(self, request):
        return self.client.confidential.Exchange(self.pb.ExchangeRequest(vm="vm3", request=request)).answer

    def roots(self, name="identity-ca.pem"):
        return [x509.load_pem_x509_certificate(self.site.read(name))]

    def keys(self):
        guest, answer = self.exchange()
        keys = guest.finish(answer, self.roots())
        return keys, guest.nonce, lambda: sealed_record.Opener.of_exchange(keys.secret, guest.nonce)

    def opened_by(self, trigger, records, opener, events):
        """{trigger: Counts}, up to that trigger."""
        found = {}
        for record in records:
            counts = sealed_record.decode_counts(opener.open(record).content, events)
            found[counts.trigger_id] = counts
            if counts.trigger_id >= trigger:
                return found
        raise AssertionError("the stream ended before trigger %d" % trigger)

    def check_counts(self, counts, snapshot):
        """The two agree on every count of every row."""
        rows = {row["scope"].get("context", ""): row for row in snapshot["scopes"]}
        self.assertEqual(counts.snapshot_id, snapshot["snapshot_id"])
        self.assertEqual(rows.keys(), {row.name for row in counts.rows})
        for row in counts.rows:
            printed = rows[row.name]
            self.assertEqual(str(row.generation), str(printed["scope"]["generation"]))
            self.assertEqual(row.counts, {one["event"]: int(one["count"]) for one in printed["counters"]})
            self.assertEqual(row.coverage, {one["event"]: one["coverage"] for one in printed["counters"]
                                            if "coverage" in one})
            self.assertEqual(row.estimates, {})

    def test_counts_of_the_products_opener(self):
        keys, nonce, make_opener = self.keys()
        stream = self.stream(nonce)
        first = next(stream)
        unsealed = self.site.exchange("--accept-daemon", count=6)  # its exchange succeeds ours, which has its grace
        self.assertEqual(unsealed.returncode, 0, unsealed)
        snapshots = {one["trigger_id"]: one for one in (
            json.loads(line)["snapshot"] for line in unsealed.stdout.splitlines())}
        opener = make_opener()
        opener.open(first)
        found = self.opened_by(max(snapshots), stream, opener, keys.statement.events)
        common = found.keys() & snapshots.keys()
        self.assertGreaterEqual(len(common), 4)
        for trigger in common:
            self.check_counts(found[trigger], snapshots[trigger])
            self.assertGreater(found[trigger].rows[0].counts["tensor_active_cycles"], 0)

    def test_rejection_and_order_over_epochs(self):
        _, nonce, make_opener = self.keys()
        records = []
        for record in self.stream(nonce):
            records.append(record)
            if sealed_record.parse_header(record).epoch >= 2:
                break
        records.append(next(self.stream(nonce)))
        headers = [sealed_record.parse_header(record) for record in records[:-1]]
        self.assertEqual({header.epoch for header in headers}, {0, 1, 2})
        self.assertEqual(len({header.position for header in headers}), len(headers))
        self.assertEqual(len({len(record) for record in records}), 1, "the size tells nothing")
        self.check_rejection(make_opener, records[-2])
        self.check_order(make_opener, records[:-1])

    def test_the_statement(self):
        guest, answer = self.exchange()
        statement = guest.finish(answer, self.roots()).statement
        with open(programs.program_path("sidebandd"), "rb") as program:
            self.assertEqual(statement.measurement, hashlib.sha384(program.read()).digest())
        self.assertEqual(sealed_record.uuid_text(statement.vm), site_layout.VM_UUIDS["vm3"])
        self.assertEqual(statement.sealer, key_exchange.DAEMON)
        self.assertEqual(len(set(statement.events)), 13)
        with self.assertRaisesRegex(key_exchange.Untrusted, "kind of sealer"):
            guest.finish(answer, self.roots(), (key_exchange.DEVICE,))
        with self.assertRaisesRegex(key_exchange.Untrusted, "root"):
            guest.finish(answer, self.roots("ca.pem"))

    def test_an_answer_with_a_changed_byte_is_refused(self):
        guest, answer = self.exchange()
        for at in range(len(answer)):
            with self.assertRaises(key_exchange.Untrusted, msg="byte %d" % at):
                guest.finish(changed(answer, at), self.roots())
        for length in range(len(answer)):
            with self.assertRaises(key_exchange.Untrusted, msg="%d bytes" % length):
                guest.finish(answer[:length], self.roots())

    def test_an_answer_to_another_request_is_refused(self):
        guest, _ = self.exchange()
        _, answer = self.exchange()
        with self.assertRaisesRegex(key_exchange.Untrusted, "another request"):
            guest.finish(answer, self.roots())

    def test_a_request_with_a_changed_field_is_refused(self):
        # Magic, version, suite, kind, device, VM, key, nonce, challenge, length; measurement, S; a certificate.
        for at in (0, 4, 5, 6, 8, 24, 40, 72, 104, 136, 140 + 0x90, 140 + 0x2E8, 140 + 1184 + 400):
            code, message = tenant_client.refusal(lambda at=at: self.exchange(lambda whole: changed(whole, at)))
            self.assertEqual((code.name, message), ("PERMISSION_DENIED", "the exchange is refused"), at)

    def test_a_request_is_answered_once(self):
        sent = []
        self.exchange(lambda whole: sent.append(whole) or whole)
        code, message = tenant_client.refusal(lambda: self.send(sent[0]))
        self.assertEqual((code.name, message), ("PERMISSION_DENIED", "the exchange is refused"))
