# SPDX-License-Identifier: Apache-2.0
"""Records of an old run of the daemon are rejected by an opener with a state file and by one that sent a nonce."""

import json
import os
import stat

import programs
import site_layout
import tenant_client
import tenant_test

NONCE = bytes(range(32))
VERSION_AT, NONCE_AT = 4, 80


class UnsealStateTest(tenant_test.TenantTestCase):
    interval = "100ms"

    def unseal(self, *arguments, environment=None):
        return programs.run("sideband", "unseal", "--key-file", "vm3.key", "--format", "json", *arguments,
                            cwd=self.site.folder, environment=environment)

    def open_file(self, record, *arguments):
        with open(self.site.path("record.bin"), "wb") as file:
            file.write(record)
        return self.unseal("--record", "record.bin", *arguments)

    def stream(self, *arguments, count=2, environment=None):
        """`sideband unseal` of a stream from the daemon."""
        return programs.run("sideband", "--address", "localhost:%d" % self.site.grpc_port, "--ca-file", "ca.pem",
                            "--cert-file", "tenant-b.pem", "--key-file", "tenant-b.key", "unseal", "--vm", "vm3",
                            "--key-file", "vm3.key", "--count", str(count), "--format", "json", *arguments,
                            cwd=self.site.folder, environment=environment)

    def records(self, count, nonce=b""):
        with tenant_client.Client(self.site, "tenant-b") as client:
            request = self.pb.SubscribeSealedRequest(vm="vm3", nonce=nonce)
            stream = client.confidential.SubscribeSealed(request, timeout=programs.PATIENCE_S)
            found = [next(stream).record for _ in range(count)]
            stream.cancel()
            return found

    def restart_daemon(self):
        self.assertEqual(self.site.daemon.stop(), 0)
        self.site.start_daemon()
        self.site.wait_ready()

    def assert_rejected(self, result):
        self.assertEqual((result.returncode, result.stdout, result.stderr), (1, "", "sideband: record rejected\n"))

    def test_records_of_an_old_run(self):
        old = self.records(2)
        self.assertEqual(self.open_file(old[0], "--state", "run.json").returncode, 0)
        self.restart_daemon()
        new = self.records(1)
        self.assertEqual(self.open_file(new[0], "--state", "run.json").returncode, 0)
        for record in old + new:
            self.assert_rejected(self.open_file(record, "--state", "run.json"))
        self.assertEqual(stat.S_IMODE(os.stat(self.site.path("run.json")).st_mode), 0o600)
        self.assertEqual(self.open_file(old[1]).returncode, 0, "without a state a file may be opened at any time")

    def test_a_stream_leaves_its_state(self):
        home = self.site.path("home")
        os.mkdir(home)
        before = self.records(1)[0]
        result = self.stream(environment={"HOME": home})
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        folder = os.path.join(home, ".local/state/sideband")
        names = sorted(os.listdir(folder))
        self.assertEqual(names, sorted(["unseal-%s-5b0f6a2e-7c64-4d0c-9d7e-2f1a90c3e001.json%s" %
                                        (site_layout.VM_UUIDS["vm3"], end) for end in ("", ".lock")]))
        state = os.path.join(folder, names[0])
        last = json.loads(result.stdout.splitlines()[-1])["record"]
        self.assertEqual(self.mark(state), (last["epoch"], last["sequence"]))
        self.assert_rejected(self.open_file(before, "--state", state))
        self.assertEqual(self.stream(environment={"HOME": home}).returncode, 0, "a new stream goes on")

    def mark(self, path):
        with open(path, encoding="ascii") as file:
            state = json.load(file)
        return state["epoch"], state["sequence"]

    def test_a_state_that_cannot_be_kept(self):
        result = self.stream(environment={"XDG_STATE_HOME": "/proc/nowhere"})
        self.assertNotEqual(result.returncode, 0)
        self.assertEqual(result.stdout, "")
        self.assertRegex(result.stderr, r"\Asideband: /proc/nowhere[^\n]*XDG_STATE_HOME[^\n]*\n\Z")

    def test_a_nonce_has_records_of_its_own(self):
        with tenant_client.Client(self.site, "tenant-b") as client:
            shared = client.sealed("vm3")
            own = self.records(3, NONCE)
            first = [next(shared).record for _ in range(3)]
            shared.cancel()
        self.assertEqual({record[VERSION_AT] for record in own}, {2})
        self.assertEqual({record[NONCE_AT:NONCE_AT + 32] for record in own}, {NONCE})
        self.assertEqual({len(record) for record in own}, {80 + 32 + 4096 + 16})
        opened = [json.loads(self.open_file(record).stdout)["record"] for record in own]
        self.assertEqual([record["sequence"] for record in opened], ["0", "1", "2"], "from its beginning, without gaps")
        theirs = [json.loads(self.open_file(record).stdout)["record"] for record in first]
        self.assertNotIn(opened[0]["epoch"], {record["epoch"] for record in theirs}, "an epoch of its own")
        sequences = [int(record["sequence"]) for record in theirs]
        self.assertEqual(sequences, list(range(sequences[0], sequences[0] + 3)), "and the others see no gap")
        self.assertEqual({record[VERSION_AT] for record in first}, {1})

    def test_flipped_bits_of_the_nonce(self):
        record = self.records(1, NONCE)[0]
        self.assertEqual(self.open_file(record).returncode, 0)
        for place in (VERSION_AT, NONCE_AT, NONCE_AT + 31, NONCE_AT + 32):
            flipped = bytearray(record)
            flipped[place] ^= 3
            self.assert_rejected(self.open_file(bytes(flipped)))
        self.assert_rejected(self.open_file(record[:NONCE_AT] + record[NONCE_AT + 32:]))

    def test_bad_nonces(self):
        with tenant_client.Client(self.site, "tenant-b") as client:
            for nonce in (b"n", NONCE[1:], NONCE + b"n", bytes(32)):
                code, _ = tenant_client.refusal(
                    lambda nonce=nonce: client.confidential.SubscribeSealed(
                        self.pb.SubscribeSealedRequest(vm="vm3", nonce=nonce), timeout=programs.PATIENCE_S))
                self.assertEqual(code.name, "INVALID_ARGUMENT")

    def test_two_openers_at_once(self):
        """Both continue: the state only increases."""
        both = [programs.Program("sideband", "--address", "localhost:%d" % self.site.grpc_port, "--ca-file", "ca.pem",
                                 "--cert-file", "tenant-b.pem", "--key-file", "tenant-b.key", "unseal", "--vm", "vm3",
                                 "--key-file", "vm3.key", "--count", "5", "--format", "json", "--state", "both.json",
                                 cwd=self.site.folder, log="opener%d.log" % number) for number in range(2)]
        for opener in both:
            self.addCleanup(opener.kill)
        self.assertEqual([opener.wait() for opener in both], [0, 0], [opener.log() for opener in both])
        marks = [(int(record["epoch"]), int(record["sequence"])) for opener in both
                 for record in (json.loads(line)["record"] for line in opener.log().splitlines())]
        self.assertEqual(tuple(map(int, self.mark(self.site.path("both.json")))), max(marks))
