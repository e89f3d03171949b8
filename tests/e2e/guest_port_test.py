# SPDX-License-Identifier: Apache-2.0
"""Guests that read counters by registers (`serve --guest-ports`, `sideband hpc read`), beside the daemon's readings."""

import json
import os
import signal
import socket
import stat
import struct
import unittest

import programs
import site_layout
import tenant_client

# Slice 0: vm1's train, for ever. Slice 1: vm1's eval and vm2's serve, by turns. Slice 2: the confidential vm3.
# Slice 3: vm4, which works for 20 ms and is idle then. A cycle is a nanosecond.
CHIP = """device: {{uuid: 5b0f6a2e-7c64-4d0c-9d7e-2f1a90c3e001, clock_hz: 1000000000}}
slices: 4
units:
  - {{name: sm, count: 4, events: [sm_active_cycles, tensor_active_cycles]}}
  - {{name: mem, events: [dram_read_cycles]}}
device_units: [{{name: pcie, events: [pcie_tx_cycles]}}]
device_workload: {{seed: 7, phases: [{{kind: copy, time: 40ms}}]}}
vms:
  - name: vm1
    uuid: {vm1}
    counting: {{useren: true}}
    contexts:
      - {{name: train, slice: 0, seed: 1, phases: [{{kind: gemm, time: 6ms}}, {{kind: copy, time: 1ms}}]}}
      - {{name: eval, slice: 1, seed: 2, phases: [{{kind: attention, time: 3ms}}]}}
  - name: vm2
    uuid: {vm2}
    contexts: [{{name: serve, slice: 1, seed: 3, phases: [{{kind: gemm, time: 2ms}}]}}]
  - name: vm3
    uuid: {vm3}
    confidential: true
    counting: {{useren: true}}
    contexts: [{{name: secret, slice: 2, seed: 4, phases: [{{kind: gemm, time: 2ms}}]}}]
  - name: vm4
    uuid: 5b0f6a2e-7c64-4d0c-9d7e-2f1a90c3e104
    counting: {{useren: true}}
    contexts: [{{name: once, slice: 3, seed: 5, phases: [{{kind: gemm, time: 20ms}}, {{kind: idle, time: 24h}}]}}]
quantum: 100ms
gap: 0s
"""
EVENTS = ("sm_active_cycles", "tensor_active_cycles", "dram_read_cycles", "resident_cycles")
KERNEL_NS = 20_000_000
REFUSED = "sideband: refused: no such counter, or no right to read it by registers\n"
READ, WRITE = 1, 2
HPCC, USEREN = 0, 1 << 21


def options(**given):
    return [word for name, value in given.items() for word in ("--" + name, str(value))]


def frame(operation, offset, value=0, size=8):
    return struct.pack("<BBHQ", operation, size, offset, value)


class Peer:
    """A guest at a port, with its own idea of the protocol."""

    def __init__(self, site, port):
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(programs.PATIENCE_S)
        self._socket.connect(site.path("guests/" + port))

    def send(self, data):
        self._socket.sendall(data)

    def answers(self, count):
        """[(status, value)]"""
        data = b""
        while len(data) < 9 * count:
            more = self._socket.recv(9 * count - len(data))
            if not more:
                raise AssertionError("the port closed the connection after %d bytes" % len(data))
            data += more
        return list(struct.iter_unpack("<BQ", data))

    def access(self, *arguments):
        """The value of the access, once the guest runs."""
        def done():
            self.send(frame(*arguments))
            ((status, value),) = self.answers(1)
            return (value,) if status == 0 else None
        return programs.wait_until(done, "the guest runs")[0]

    def is_cut_off(self):
        """Waits until the port closes the connection."""
        try:
            while self._socket.recv(1 << 16):
                pass
        except ConnectionResetError:
            pass
        except socket.timeout:
            return False
        return True

    def flood(self):
        """Sends frames, and never reads, until the port has cut it off."""
        try:
            while True:
                self.send(1000 * frame(READ, HPCC))
        except (BrokenPipeError, ConnectionResetError):
            return

    def close(self):
        self._socket.close()


class PortTestCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.site = site_layout.Site("100ms")
        cls.addClassCleanup(cls.site.close)
        site_layout.write(cls.site.folder, "chip.yaml", CHIP.format(**site_layout.VM_UUIDS))
        os.mkdir(cls.site.path("guests"))
        cls.site.start_device("--guest-ports", "guests")
        programs.wait_until(lambda: "serving" in cls.site.device.log() or cls.site.device.ended(), "the device's bus")
        cls.site.start_daemon()
        cls.site.wait_ready()

    def run_read(self, port, *more, events=EVENTS, **given):
        words = [word for event in events for word in ("--event", event)]
        return programs.run("sideband", "hpc", "read", "--port", "guests/" + port, *words, *options(**given), *more,
                            cwd=self.site.folder)

    def read(self, port, *more, **given):
        """{event: count} and {event: cycle}."""
        result = self.run_read(port, "--shared", "--stamp", "--format", "json", *more, **given)
        self.assertEqual((result.returncode, result.stderr), (0, ""), result)
        rows = json.loads(result.stdout)["events"]
        return ({row["event"]: int(row["count"]) for row in rows}, {row["event"]: int(row["cycle"]) for row in rows})

    def peer(self, port):
        peer = Peer(self.site, port)
        self.addCleanup(peer.close)
        return peer


class CountsTest(PortTestCase):
    def snapshot_after(self, client, cycle):
        """The first snapshot that was latched after the cycle."""
        for answer in client.stream():
            if answer.HasField("update") and answer.update.reference_time_ns >= cycle:
                return answer.update
        raise AssertionError("the stream has ended")

    def check_bracket(self, port, user, vm, context, **given):
        """Readings before and after a snapshot, and the snapshot between them."""
        with tenant_client.Client(self.site, user) as client:
            for _ in range(3):
                before, stamps = self.read(port, **given)
                self.assertEqual(len(set(stamps.values())), 1, "one instant")
                snapshot = self.snapshot_after(client, stamps[EVENTS[0]])
                after, later = self.read(port, **given)
                self.assertLess(snapshot.reference_time_ns, later[EVENTS[0]])
                counts = tenant_client.counters(snapshot)
                for event in EVENTS:
                    self.assertLessEqual(before[event], counts[event, vm, context])
                    self.assertLessEqual(counts[event, vm, context], after[event])
                self.assertLess(before["resident_cycles"], after["resident_cycles"])

    def test_a_context_beside_its_tenants_snapshots(self):
        self.check_bracket("vm1.train.sock", "tenant-a", "vm1", "train")

    def test_a_vm_beside_the_operators_snapshots(self):
        """The VM's counts of both its slices."""
        self.check_bracket("vm1.sock", "operator", "vm1", None, module="vm")

    def test_exact(self):
        """Once the kernel is over and its wires are idle, registers and snapshots are equal, whenever they are read."""
        programs.wait_until(lambda: self.read("vm4.once.sock")[0]["resident_cycles"] > 2 * KERNEL_NS, "the kernel's end")
        counts, stamps = self.read("vm4.once.sock")
        self.assertEqual(counts["resident_cycles"], stamps["resident_cycles"], "resident since cycle 0")
        with tenant_client.Client(self.site, "operator") as client:
            latched = tenant_client.counters(self.snapshot_after(client, 2 * KERNEL_NS))
        self.assertGreater(counts["tensor_active_cycles"], 0)
        for event in EVENTS[:3]:
            self.assertEqual(counts[event], latched[event, "vm4", None], event)
            self.assertEqual(self.read("vm4.sock", module="vm")[0][event], counts[event])

    def test_all_ways_of_reading_agree(self):
        counts = {}
        for reader in ("patient", "eager", "optimistic"):
            for size in (8, 4):
                programs.wait_until(lambda: self.read("vm4.once.sock")[0]["resident_cycles"] > 2 * KERNEL_NS, "idle")
                ways = options(reader=reader) + ["--access-bytes", str(size)]
                counts[reader, size] = self.read("vm4.once.sock", *ways, events=EVENTS[:3])[0]
        self.assertEqual(len({tuple(count.items()) for count in counts.values()}), 1, counts)

    def test_switched(self):
        """Two contexts that share a slice."""
        shown = {}
        for port in ("vm1.eval.sock", "vm1.train.sock"):
            result = self.run_read(port, "--shared", "--format", "json", "--count", "5", "--interval", "30ms")
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            readings = [json.loads(line)["events"] for line in result.stdout.splitlines()]
            rows = [{row["event"]: int(row["count"]) for row in reading} for reading in readings]
            self.assertEqual(len(rows), 5)
            self.assertFalse(any("change" in row for row in readings[0]))
            for earlier, later, reading in zip(rows, rows[1:], readings[1:]):
                self.assertTrue(all(earlier[event] <= later[event] for event in EVENTS))
                self.assertEqual({row["event"]: int(row["change"]) for row in reading},
                                 {event: later[event] - earlier[event] for event in EVENTS})
            shown[port] = rows[-1]["resident_cycles"]
        self.assertLess(shown["vm1.eval.sock"], shown["vm1.train.sock"], "it has half of a slice")

    def test_a_confidential_vm_reads_itself(self):
        counts, _ = self.read("vm3.secret.sock")
        self.assertGreater(counts["resident_cycles"], 0)

    def test_table(self):
        result = self.run_read("vm1.train.sock", "--raw", "--shared", "--count", "2", "--interval", "10ms",
                               events=EVENTS[-1:])
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, r"\AEVENT +COUNT\nresident_cycles +\d+\n\n"
                                        r"EVENT +COUNT +CHANGE\nresident_cycles +\d+ +\d+\n\Z")


class RightsTest(PortTestCase):
    def assert_refused(self, port, **given):
        result = self.run_read(port, "--shared", **given)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (1, "", REFUSED))

    def test_useren(self):
        """vm2's users may not read, until its supervisor lets them; then over switches, too."""
        self.assert_refused("vm2.serve.sock")
        self.read("vm2.sock", module="vm")
        supervisor = self.peer("vm2.sock")
        self.assertEqual(supervisor.access(READ, HPCC) & USEREN, 0)
        supervisor.access(WRITE, HPCC, USEREN)
        self.read("vm2.sock", module="vm")
        self.assertEqual(supervisor.access(READ, HPCC) & USEREN, USEREN, "readers leave it as it is")
        result = self.run_read("vm2.serve.sock", "--shared", "--count", "4", "--interval", "100ms")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        supervisor.access(WRITE, HPCC, 0)
        self.assert_refused("vm2.serve.sock")

    def test_a_user_cannot_enable_itself(self):
        user = self.peer("vm1.train.sock")
        user.access(WRITE, HPCC, 0)
        self.assertEqual(user.access(READ, HPCC) & USEREN, USEREN)

    def test_others_are_refused_as_what_does_not_exist(self):
        for slice_number in (1, 2, 3, 63):
            self.assert_refused("vm1.train.sock", slice=slice_number)
            self.assert_refused("vm1.sock", slice=slice_number, module="vm")
        self.assert_refused("vm1.train.sock", module="vm", slice=0)
        self.assert_refused("vm1.train.sock", events=["100"])
        self.assert_refused("vm1.train.sock", events=["4095"])

    def test_files(self):
        names = os.listdir(self.site.path("guests"))
        self.assertIn("vm3.secret.sock", names)
        for name in names:
            mode = os.stat(self.site.path("guests/" + name)).st_mode
            self.assertEqual(stat.S_ISSOCK(mode), name != "events.csv")
            if stat.S_ISSOCK(mode):
                self.assertEqual(stat.S_IMODE(mode), 0o600)
        listed = self.site.read("guests/events.csv").decode()
        self.assertTrue(listed.startswith("id,event\n0,sm_active_cycles\n"), listed)
        self.assertNotIn("pcie", listed, "of the device")


class HostileTest(PortTestCase):
    """Peers that cost only themselves: the device goes on, for the bus and for other guests."""

    def assert_the_device_goes_on(self):
        self.read("vm1.eval.sock")
        self.read("vm1.train.sock")
        with tenant_client.Client(self.site, "operator") as client:
            counts = [tenant_client.counters(client.snapshot())["resident_cycles", "vm1", None]]
            programs.wait_until(lambda: counts.append(tenant_client.counters(client.snapshot())[
                "resident_cycles", "vm1", None]) or counts[-1] > counts[0], "another snapshot")

    def test_garbage(self):
        for garbage in (b"\xff" * 12, frame(0, 0), frame(READ, 4), frame(READ, 4096), frame(READ, 0, size=2)):
            peer = self.peer("vm1.train.sock")
            peer.send(garbage)
            self.assertTrue(peer.is_cut_off(), garbage)
        self.assert_the_device_goes_on()

    def test_half_a_frame(self):
        peer = self.peer("vm1.train.sock")
        peer.send(frame(READ, HPCC)[:7])
        self.assert_the_device_goes_on()
        self.assertTrue(peer.is_cut_off())

    def test_floods(self):
        for port in ("vm1.train.sock", "vm1.eval.sock"):
            self.peer(port).flood()
        self.assert_the_device_goes_on()

    def test_a_crowd(self):
        crowd = [self.peer("vm1.sock") for _ in range(40)]
        self.assertTrue(crowd[-1].is_cut_off())
        self.assert_the_device_goes_on()
        for peer in crowd:
            peer.close()
        programs.wait_until(lambda: self.run_read("vm1.sock", module="vm").returncode == 0, "room again")

    def test_any_accesses(self):
        peer = self.peer("vm1.train.sock")
        accesses = [frame(operation, offset, 0xA5A5_5A5A_FFFF_0001 * offset % (1 << 64), size)
                    for operation in (READ, WRITE) for size in (4, 8) for offset in range(0, 4096, size)]
        for batch in (accesses[start:start + 500] for start in range(0, len(accesses), 500)):
            peer.send(b"".join(batch))
            self.assertTrue(all(status in (0, 1) for status, _ in peer.answers(len(batch))))
        peer.close()
        self.assert_the_device_goes_on()


class CommandTest(programs.ProgramTestCase):
    """Mistakes, and the ends of programs."""

    def refused(self, status, *words, arguments):
        self.assert_refused(programs.run("sideband", "hpc", *arguments, cwd=self.folder), status, "sideband: ", *words)

    def read(self, *arguments):
        return ("read", *arguments)

    def test_no_command(self):
        self.refused(2, "--help", arguments=())

    def test_no_page(self):
        self.refused(2, "--port or --page", arguments=self.read("--event", "0"))

    def test_no_event(self):
        self.refused(2, "--event", arguments=self.read("--port", "p.sock"))

    def test_a_name_without_a_list(self):
        self.refused(2, "--event", "--events FILE", "there is no nodir/events.csv",
                     arguments=self.read("--port", "nodir/p.sock", "--event", "cycles"))

    def test_bad_lists(self):
        self.refused(2, "absent.csv: No such file",
                     arguments=self.read("--port", "p", "--event", "a", "--events", "absent.csv"))
        self.write("events.csv", "id,event\n7,cycles\nx,y\n")
        self.refused(2, "events.csv:3: ", arguments=self.read("--port", self.path("p"), "--event", "cycles"))
        self.write("events.csv", "id,event\n7,cycles\n")
        self.refused(2, "'cycels'", "'cycles'?", arguments=self.read("--port", self.path("p"), "--event", "cycels"))

    def test_numbers(self):
        self.refused(2, "'4096'", arguments=self.read("--port", "p", "--event", "4096"))
        self.refused(2, "--access-bytes", "x", "4", "8",
                     arguments=self.read("--port", "p", "--event", "1", "--access-bytes", "x"))
        self.refused(2, "--slice", arguments=self.read("--port", "p", "--event", "1", "--slice", "64"))
        self.refused(2, "--interval", arguments=self.read("--port", "p", "--event", "1", "--interval", "0"))

    def test_no_device(self):
        self.refused(1, "guest port p.sock: No such file", arguments=self.read("--port", "p.sock", "--event", "1"))
        self.refused(2, "too long", arguments=self.read("--port", "p" * 200, "--event", "1"))

    def test_a_page_without_registers(self):
        self.write("resource", b"\xff" * 8192)
        self.refused(1, "no such registers", arguments=self.read("--page", "resource@0x1000", "--event", "1"))
        with open(self.path("resource"), "rb") as file:
            self.assertEqual(file.read(), b"\xff" * 8192, "nothing was written")
        for page in ("zeros", "/dev/zero"):
            self.write("zeros", b"\0" * 4096)
            for options in ((), ("--shared",), ("--slice", "0"), ("--access-bytes", "4")):
                self.refused(1, "no such registers",
                             arguments=self.read("--page", self.path(page), "--event", "1", *options))
        with open(self.path("zeros"), "rb") as file:
            self.assertEqual(file.read(), b"\0" * 4096, "nothing was written")
        self.refused(2, "resource: ", arguments=self.read("--page", "resource@8192", "--event", "1"))
        self.refused(2, "--page", "offset", arguments=self.read("--page", "resource@x", "--event", "1"))

    def serve(self, *arguments, folder="guests"):
        self.write("chip.yaml", CHIP.format(**site_layout.VM_UUIDS))
        return self.start("sideband-mcu", "serve", "--chip", "chip.yaml", "--bus", "unix:b.sock", "--guest-ports",
                          folder, *arguments)

    def test_ends(self):
        """Ctrl-C ends a reader with 0; the device's end is an error for a reader, and removes its files."""
        device = self.serve()
        programs.wait_until(lambda: "serving" in device.log() or device.ended(), "the device")
        forever = ("hpc", "read", "--port", "guests/vm1.train.sock", "--event", "0", "--count", "1000000", "--interval",
                   "20ms")
        for end, status in ((lambda reader: reader.signal(signal.SIGINT), 0), (lambda _: device.stop(), 1)):
            if os.path.exists(self.path("sideband.log")):
                os.remove(self.path("sideband.log"))
            reader = self.start("sideband", *forever)
            programs.wait_until(lambda: reader.log().count("EVENT") > 2, "readings")
            end(reader)
            self.assertEqual(reader.wait(), status, reader.log())
        self.assertIn("sideband: guest port guests/vm1.train.sock: the device has closed the port", reader.log())
        self.assertEqual(os.listdir(self.path("guests")), [])

    def test_a_device_that_restarts(self):
        """Its ports are there again; who was connected is cut off, as by a power cycle."""
        os.mkdir(self.path("guests"))
        self.write("plan.yaml", "rules: [{fault: reset, at: 1}]")
        device = self.serve("--faults", "plan.yaml")
        programs.wait_until(lambda: "serving" in device.log() or device.ended(), "the device")
        reader = self.start("sideband", "hpc", "read", "--port", "guests/vm1.train.sock", "--event", "0", "--count",
                            "1000000", "--interval", "10ms")
        programs.wait_until(lambda: "EVENT" in reader.log(), "a reading")
        with socket.socket(socket.AF_UNIX) as controller:
            controller.connect(self.path("b.sock"))
            # A transaction that reads two bytes at 0x4f (proto/smbus/README.md).
            controller.sendall(bytes.fromhex("08000000" "0101" "0100" "4f01" "0200"))
            self.assertNotEqual(controller.recv(1), b"")
        self.assertEqual(reader.wait(), 1, reader.log())
        result = programs.run("sideband", "hpc", "read", "--port", "guests/vm1.train.sock", "--event", "0", cwd=self.folder)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(device.stop(), 0)

    def test_folders(self):
        device = self.serve(folder="absent/guests")
        self.assertEqual(device.wait(), 2)
        self.assertEqual(device.log(), "sideband-mcu: absent/guests: No such file or directory\n")
        self.write("other.yaml", CHIP.format(**site_layout.VM_UUIDS).replace("c3e001", "c3e002"))
        self.assertEqual(self.serve("--chip", "other.yaml@0x4e").wait(), 2)

    def test_a_vm_that_does_not_run(self):
        self.write("chip.yaml", CHIP.format(**site_layout.VM_UUIDS).replace(", slice: 3,", ", slice: 3, lifetime: 1ms,"))
        os.mkdir(self.path("guests"))
        device = self.start("sideband-mcu", "serve", "--chip", "chip.yaml", "--bus", "unix:b.sock", "--guest-ports",
                            "guests")
        programs.wait_until(lambda: "serving" in device.log() or device.ended(), "the device")
        self.refused(1, "guest port guests/vm4.once.sock: its VM or context did not run within 30ms",
                     arguments=self.read("--port", "guests/vm4.once.sock", "--event", "0", "--timeout", "30ms"))
