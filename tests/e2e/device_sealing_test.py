# SPDX-License-Identifier: Apache-2.0
"""A device that seals: the guest of its confidential VM has the counts, and neither bus, daemon nor operator has them."""

import json
import os
import struct
import subprocess
import unittest
import uuid

import bus_client
import exchange_test
import exposition
import process_memory
import programs
import site_layout
import tenant_client

VM = exchange_test.VM
VM_ID, OPEN_VM_ID = 3, 1
DEVICE = "5b0f6a2e-7c64-4d0c-9d7e-2f1a90c3e001"
# Below it, a count's bytes may be in a memory or a file by chance.
LARGE = 1 << 32


class SealingSite(site_layout.Site):
    def __init__(self, chip="sealing: sealing.yaml\n"):
        super().__init__(guest_views=True)
        subprocess.run([programs.runfile("tests/e2e/exchange_files"), self.folder, VM, "--device", DEVICE], check=True)
        site_layout.write(self.folder, "chip.yaml", self.read("chip.yaml").decode() + "\n" + chip)
        config = self.read("sidebandd.yaml").decode()
        config = config[:config.index("sealing:")] + "audit: {file: audit.jsonl}\n"
        config = config.replace("interval: 100ms}", "interval: 100ms, sealing: device, capture: bus.sbt, "
                                "capture_plaintext: true}")
        site_layout.write(self.folder, "sidebandd.yaml", config)

    # As inside a guest whose daemon seals.
    unseal = exchange_test.ExchangeSite.unseal
    exchange = exchange_test.ExchangeSite.exchange

    def records(self, count):
        results = []

        # Where exchanges have had their share of the bus, another one waits.
        def has_its_time():
            results.append(self.exchange(count=count))
            return "the bus time for exchanges of keys is used up" not in results[-1].stderr
        programs.wait_until(has_its_time, "time on the bus for an exchange")
        if results[-1].returncode != 0:
            raise AssertionError(results[-1])
        return [json.loads(line) for line in results[-1].stdout.splitlines()]

    def large_counts(self):
        """Some counts of the confidential VM at its newest latches, which no other number in a program is."""
        counts = set()
        for _ in range(60):
            rows = [row for line in self.records(2) for row in line["snapshot"]["scopes"]]
            counts = {int(c["count"]) for row in rows for c in row["counters"] if int(c["count"]) > LARGE}
            if len(counts) >= 4:
                return sorted(counts)[-6:]
        raise AssertionError("the VM has counted too little: %s" % counts)

    def open_counts(self):
        """Those of an open VM in the daemon's newest snapshot."""
        with tenant_client.Client(self, "tenant-a") as client:
            counts = [count for count in tenant_client.counters(client.snapshot()).values() if count > LARGE]
        return sorted(set(counts))[-2:]


def _blocks(stream):
    """The number of blocks in a snapshot's stream (proto/mailbox/stream_format.md)."""
    header, before = 28, 16
    return struct.unpack_from("<H", stream, header + before)[0]


def _peek(bus, vm):
    """The status of a peek of one event of the VM: of its scope, unless that is accepted."""
    scope = bus.execute(bus_client.PEEK, 0, 0, 0, 0xFFFF << 16 | vm)[0]
    return bus.execute(bus_client.PEEK, 1, 0, 1, 0)[0] if scope == bus_client.SUCCESS else scope


class DeviceSealingTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.site = SealingSite()
        cls.addClassCleanup(cls.site.close)
        cls.site.start()

    def test_the_guest_has_its_counts(self):
        lines = self.site.records(15)
        self.assertGreaterEqual(int(lines[-1]["record"]["epoch"]), 1, "keys are rotated every second")
        exchange_test.check_gaps(self, lines)
        active = 0
        for line in lines:
            self.assertEqual(line["record"]["vm_uuid"], VM)
            rows = {row["scope"].get("context", ""): {c["event"]: int(c["count"]) for c in row["counters"]}
                    for row in line["snapshot"]["scopes"]}
            self.assertEqual(rows.keys(), {"", "finetune", "embed"})
            self.assertEqual(rows[""], {e: rows["finetune"][e] + rows["embed"][e] for e in rows[""]})
            self.assertGreater(rows[""]["tensor_active_cycles"], active)
            active = rows[""]["tensor_active_cycles"]

    def test_the_sealer_is_the_device(self):
        self.assertIn("keys exchanged with the device ", self.site.exchange().stderr)

    def test_the_other_vms_are_shown_as_ever(self):
        for user, vms in (("operator", {"vm1", "vm2"}), ("tenant-a", {"vm1"}), ("tenant-b", {"vm2"})):
            shown = {vm for _, vm, _ in exposition.counters(self.site.metrics(user))} - {None}
            self.assertEqual(shown, vms, user)

    def test_another_guest_is_refused_and_the_reason_stays_in_the_device(self):
        result = self.site.exchange(measurement="d" * 96)
        self.assertEqual((result.returncode, result.stdout), (1, ""), result)
        self.assertIn("the exchange is refused", result.stderr)
        self.assertIn("exchange refused: the guest's measurement is not on the list", self.site.device.log())
        # A thread of its own writes the log.
        programs.wait_until(lambda: "exchange refused: the device refuses the request" in self.audited(), "its entry")

    def test_the_device_is_asked_only_for_this_vm(self):
        """The device reads an empty request as a wish for its newest answer, and does not know who asks."""
        self.site.records(1)  # the newest answer is there
        pb = tenant_client.messages()
        head = b"SBXQ\1\2\2\0"
        device, vm, rest = uuid.UUID(DEVICE).bytes, uuid.UUID(VM).bytes, b"\1" * 96 + bytes(4)
        refused = [b"", head, bytes(140), head + vm + device + rest, head + device + uuid.uuid4().bytes + rest,
                   head + uuid.uuid4().bytes + vm + rest]
        with tenant_client.Client(self.site, "tenant-b") as client:
            for request in refused:
                code, message = tenant_client.refusal(
                    lambda: client.confidential.Exchange(pb.ExchangeRequest(vm="vm3", request=request), timeout=programs.PATIENCE_S))
                self.assertEqual((code.name, message), ("PERMISSION_DENIED", "the exchange is refused"))
        programs.wait_until(lambda: len([r for r in self.audited() if r.startswith("exchange refused: exchange request: ")
                                         or r == "exchange refused: the request belongs to another VM or device"]) >= 6,
                            "an entry of each")

    def audited(self):
        return [json.loads(line)["reason"] for line in self.site.read("audit.jsonl").splitlines()]

    def test_a_stream_without_an_exchange_says_what_to_do(self):
        with tenant_client.Client(self.site, "tenant-b") as client:
            code, message = tenant_client.refusal(lambda: client.sealed("vm3"))
        self.assertEqual(code.name, "FAILED_PRECONDITION")
        self.assertIn("the guest has to exchange keys", message)

    def test_a_reader_of_the_bus_finds_no_such_block(self):
        self.site.records(1)
        # Both use the same registers.
        with process_memory.stopped(self.site.daemon), \
                bus_client.BusClient(self.site.path("gpu0.sock"), bus_client.OWN) as bus:
            self.assertGreater(_blocks(bus.stream(bus_client.READ, 2, 0, OPEN_VM_ID)), 0)
            for selector in (2, 3):
                sealed = bus.stream(bus_client.READ, selector, 0, VM_ID)
                self.assertEqual(_blocks(sealed), 0)
                self.assertIn(b"SBSR", sealed, "its records")
            self.assertEqual(_peek(bus, OPEN_VM_ID), bus_client.SUCCESS)
            self.assertNotEqual(_peek(bus, VM_ID), bus_client.SUCCESS)
            self.assertEqual(_peek(bus, VM_ID), _peek(bus, 200), "as of a VM that is not there")

    def test_the_bus_has_carried_none_of_its_counts(self):
        counts = self.site.large_counts()
        capture = self.site.read("bus.sbt")
        found = [c for c in counts if any(pattern in capture for pattern in process_memory.patterns(c))]
        self.assertEqual(found, [])

    @unittest.skipUnless(os.geteuid() == 0, "only root reads the memory of a process that is not dumpable")
    def test_the_daemon_has_none_of_its_counts(self):
        counts, shown = self.site.large_counts(), self.site.open_counts()
        with process_memory.stopped(self.site.daemon):
            found = process_memory.Memory(self.site.daemon.pid).find(counts + shown)
        self.assertEqual({c: places for c, places in found.items() if c in counts and any(places.values())}, {})
        self.assertTrue(any(found[c]["dumped"] for c in shown), "the scan finds what the daemon shows")

    @unittest.skipUnless(os.geteuid() == 0, "only root reads the memory of a process that is not dumpable")
    def test_a_core_of_the_device_has_none_of_them(self):
        """The chip's own blocks are in memory that no core has."""
        counts, shown = self.site.large_counts(), self.site.open_counts()
        with process_memory.stopped(self.site.device):
            found = process_memory.Memory(self.site.device.pid).find(counts + shown)
        self.assertEqual({c: places for c, places in found.items() if c in counts and places["dumped"]}, {})


class PlainDeviceTest(unittest.TestCase):
    """A device that does not seal, where the daemon is told that it has to."""

    def test_nothing_of_it_is_published(self):
        site = SealingSite(chip="")
        self.addCleanup(site.close)
        site.start_device()
        programs.wait_until(lambda: "serving" in site.device.log() or site.device.ended(), "the device's bus")
        site.start_daemon()
        programs.wait_until(lambda: "`sealing: device` requires it to seal them" in site.daemon.log(), "the reason in the log")
        self.assertEqual(site.get("operator", "/-/ready")[0], 503)


class UnsealedBusTest(unittest.TestCase):
    """The control: the same search finds the counts of a device that does not seal."""

    def test_the_bus_has_them(self):
        site = SealingSite(chip="")
        self.addCleanup(site.close)
        config = site.read("sidebandd.yaml").decode().replace(", sealing: device", "")
        site_layout.write(site.folder, "sidebandd.yaml", config + "sealing: {exchange: sealing.yaml}\n")
        site.start()
        large = set()
        for _ in range(60):
            result = site.exchange("--accept-daemon", count=3)
            self.assertEqual(result.returncode, 0, result)
            scopes = [row for line in result.stdout.splitlines() for row in json.loads(line)["snapshot"]["scopes"]]
            large |= {int(c["count"]) for row in scopes for c in row["counters"] if int(c["count"]) > LARGE}
            if len(large) >= 10:
                break
        capture = site.read("bus.sbt")
        found = [c for c in large if any(pattern in capture for pattern in process_memory.patterns(c))]
        # A number that lies across two windows of the stream is in two pieces, as about one in eight is.
        self.assertGreaterEqual(len(large), 10)
        self.assertGreater(len(found), len(large) / 2)
