# SPDX-License-Identifier: Apache-2.0
"""`sideband bus trace`: the emulator's bus and the daemon's captures, live and from files."""

import json
import os
import signal
import socket
import stat
import struct

import exposition
import programs
import site_layout


class Controller:
    """Sends transactions over the virtual bus (proto/smbus/README.md)."""

    def __init__(self, path):
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(programs.PATIENCE_S)
        self._socket.connect(path)

    def close(self):
        self._socket.close()

    def _receive(self, size):
        data = b""
        while len(data) < size:
            part = self._socket.recv(size - len(data))
            if not part:
                raise AssertionError("the server closed the connection")
            data += part
        return data

    def transfer(self, *messages):
        """Performs the messages: bytes are written, a number is the number of bytes to read. Returns the outcome."""
        body = struct.pack("<BBH", 1, 1, len(messages))
        for message in messages:
            if isinstance(message, int):
                body += struct.pack("<BBH", 0x4F, 1, message)
            else:
                body += struct.pack("<BBH", 0x4F, 0, len(message)) + message
        self._socket.sendall(struct.pack("<I", len(body)) + body)
        answer = self._receive(struct.unpack("<I", self._receive(4))[0])
        return answer[2]


class BusTraceTestCase(programs.ProgramTestCase):
    def setUp(self):
        super().setUp()
        self.site = site_layout.Site()
        self.addCleanup(self.site.close)

    def serve(self):
        self.site.start_device()
        programs.wait_until(lambda: "serving" in self.site.device.log(), "the device's bus")

    def controller(self):
        controller = Controller(self.site.path("gpu0.sock"))
        self.addCleanup(controller.close)
        return controller

    def trace(self, *arguments):
        """A live trace that has started to watch."""
        trace = self.start("sideband", "bus", "trace", "--bus", "unix:" + self.site.path("gpu0.sock"), *arguments)
        programs.wait_until(lambda: "TRANSACTION" in trace.log() or trace.ended(), "the trace's title")
        return trace

    def read_trace(self, *arguments):
        return programs.run("sideband", "bus", "trace", *arguments, cwd=self.folder)


def get_temp(controller):
    """The four transactions of a temperature reading, with one mistake in them."""
    controller.transfer(bytes.fromhex("5c0402000080"))
    controller.transfer(b"\x5c", 6)
    controller.transfer(b"\x5d", 5)
    controller.transfer(bytes.fromhex("5c0402000080aa"))


class LiveTest(BusTraceTestCase):
    def test_meaning(self):
        self.serve()
        trace = self.trace("--count", "3")
        get_temp(self.controller())
        self.assertEqual(trace.wait(), 0)
        lines = trace.log().splitlines()
        self.assertEqual(len(lines), 7, trace.log())
        self.assertRegex(lines[1], r"^     1  +\d+\.\d{6}      650  S 4F\+W 5C 04 02 00 00 80 P$")
        self.assertEqual(lines[2].strip(), "-> command: GET_TEMP GPU0")
        self.assertRegex(lines[3], r"S 4F\+W 5C Sr 4F\+R 04 02 00 00 1F pec 6F ok P$")
        self.assertEqual(lines[4].strip(), "<- status: GET_TEMP SUCCESS")
        self.assertRegex(lines[6], r"^ +<- data: \d+\.\d degC$")
        self.assertTrue(all(len(line) <= 120 for line in lines), trace.log())

    def test_wrong_pec(self):
        self.serve()
        trace = self.trace("--count", "4", "--speed", "400k")
        get_temp(self.controller())
        self.assertEqual(trace.wait(), 0)
        self.assertRegex(trace.log(), r"\n     4 .*     185  S 4F\+W 5C 04 02 00 00 80 pec AA WRONG ")
        self.assertIn("!! wrong PEC: 56 is right", trace.log())

    def test_other_address(self):
        self.serve()
        trace = self.trace("--address", "0x50")
        get_temp(self.controller())
        trace.signal(signal.SIGINT)
        self.assertEqual(trace.wait(), 0)
        self.assertEqual(len(trace.log().splitlines()), 1, "only the title")

    def ends_well_with(self, number):
        self.serve()
        trace = self.trace()
        trace.signal(number)
        self.assertEqual(trace.wait(), 0, trace.log())
        self.assertEqual(len(trace.log().splitlines()), 1, "nothing but the title")

    def test_sigint_ends_well(self):
        self.ends_well_with(signal.SIGINT)

    def test_sigterm_ends_well(self):
        self.ends_well_with(signal.SIGTERM)

    def test_server_gone_is_one_line(self):
        self.serve()
        trace = self.trace()
        self.assertEqual(self.site.device.stop(), 0)
        self.assertEqual(trace.wait(), 1)
        self.assertEqual(trace.log().splitlines()[1:],
                         ["sideband: bus %s: the server closed the connection" % self.site.path("gpu0.sock")])

    def test_written_capture_is_what_was_shown(self):
        self.serve()
        trace = self.trace("--count", "4", "--write", "bus.sbt")
        get_temp(self.controller())
        self.assertEqual(trace.wait(), 0)
        self.assertEqual(stat.S_IMODE(os.stat(self.path("bus.sbt")).st_mode), 0o600)
        result = self.read_trace("bus.sbt")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, trace.log(), ""))

    def test_a_stopped_monitor_holds_up_nobody(self):
        """The monitor is notified of lost transactions, and the bus continues."""
        self.serve()
        controller, slow = self.controller(), self.start_monitor()
        for _ in range(400):
            self.assertEqual(controller.transfer(b"\x5c", 8192), 0)
        lost = self.count_lost(slow)
        self.assertGreater(lost, 0)
        self.assertLess(lost, 400)

    def start_monitor(self):
        """A monitor that reads only the confirmation of its registration."""
        monitor = socket.socket(socket.AF_UNIX)
        self.addCleanup(monitor.close)
        monitor.settimeout(programs.PATIENCE_S)
        monitor.connect(self.site.path("gpu0.sock"))
        monitor.sendall(bytes.fromhex("020000000102"))
        self.assertEqual(monitor.recv(14, socket.MSG_WAITALL)[:6], bytes.fromhex("0a0000000182"))
        return monitor

    def count_lost(self, monitor):
        """The number of lost transactions out of 400."""
        records, lost = 0, 0
        buffered = b""
        while records + lost < 400:
            part = monitor.recv(1 << 16)
            self.assertNotEqual(part, b"")
            buffered += part
            while len(buffered) >= 4 and len(buffered) >= 4 + struct.unpack_from("<I", buffered)[0]:
                size = struct.unpack_from("<I", buffered)[0]
                kind, body = buffered[5], buffered[6:4 + size]
                buffered = buffered[4 + size:]
                records += kind == 0x83
                lost += struct.unpack("<Q", body)[0] if kind == 0x84 else 0
        self.assertEqual(records + lost, 400)
        return lost


class CaptureTest(BusTraceTestCase):
    def capture(self):
        """A capture of the daemon for a few snapshots."""
        config = self.site.read("sidebandd.yaml").decode().replace(
            "interval: 100ms", "interval: 100ms, capture: gpu0.sbt, capture_plaintext: true")
        site_layout.write(self.site.folder, "sidebandd.yaml", config)
        self.site.start()
        self.assertIn("captured in the clear", self.site.daemon.log())
        programs.wait_until(lambda: (exposition.value(self.site.metrics("operator"), "sideband_snapshots_total",
                                                      device="gpu0") or 0) >= 3, "a few snapshots")
        self.assertEqual(self.site.daemon.stop(), 0)
        return self.site.path("gpu0.sbt")

    def test_what_the_daemon_does(self):
        path = self.capture()
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
        result = self.read_trace(path)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        for words in ("<- signature: extension version 2", "-> own command: DISCOVER version",
                      "-> own command: LATCH in full\n", "-> own command: LATCH since snapshot 1, mark 0x",
                      "of snapshot 1\n", "<- snapshot 1 complete: ", "<- catalogue complete: ", "CRC ok"):
            self.assertTrue(words in result.stdout, words)  # the output is long
        for words in ("WRONG", "!!", "?"):
            self.assertFalse(words in result.stdout, words)
        self.assertTrue(all(len(line) <= 120 for line in result.stdout.splitlines()))

    def test_json(self):
        path = self.capture()
        result = self.read_trace(path, "--json", "--time", "host", "--count", "20")
        self.assertEqual(result.returncode, 0, result.stderr)
        entries = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual([entry["number"] for entry in entries], [str(i) for i in range(1, 21)])
        self.assertEqual({entry["outcome"] for entry in entries}, {"ok"})
        self.assertEqual({message.get("pec", "ok") for entry in entries for message in entry["messages"]}, {"ok"})
        self.assertRegex(entries[0]["host_time"], r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$")

    def test_cut_capture_gives_what_is_whole(self):
        data = self.site_capture()
        self.write("cut.sbt", data[:len(data) // 2])
        result = self.read_trace("cut.sbt")
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"\Asideband: cut.sbt: cut off after \d+ whole records\n\Z")
        self.assertIn("-> own command: LATCH", result.stdout)

    def site_capture(self):
        with open(self.capture(), "rb") as file:
            return file.read()

    def test_capture_must_be_meant(self):
        config = self.site.read("sidebandd.yaml").decode().replace("interval: 100ms",
                                                                   "interval: 100ms, capture: gpu0.sbt")
        site_layout.write(self.site.folder, "sidebandd.yaml", config)
        result = programs.run("sidebandd", "--config", "sidebandd.yaml", cwd=self.site.folder)
        self.assert_refused(result, 2, "sidebandd: sidebandd.yaml:2: ", "capture_plaintext: true")
        self.assertFalse(os.path.exists(self.site.path("gpu0.sbt")))

    def test_capture_replaces_nothing_else(self):
        config = self.site.read("sidebandd.yaml").decode().replace(
            "interval: 100ms", "interval: 100ms, capture: policy.yaml, capture_plaintext: true")
        site_layout.write(self.site.folder, "sidebandd.yaml", config)
        result = programs.run("sidebandd", "--config", "sidebandd.yaml", cwd=self.site.folder)
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stderr, "sidebandd: policy.yaml: exists and is not a bus capture\n")
        self.assertEqual(self.site.read("policy.yaml").decode(), site_layout.POLICY)


class InputTest(programs.ProgramTestCase):
    def refused(self, status, *words, arguments):
        self.assert_refused(programs.run("sideband", "bus", *arguments, cwd=self.folder), status, "sideband: ", *words)

    def test_no_trace(self):
        self.refused(2, "--help", arguments=())

    def test_unknown_subcommand_names_the_nearest(self):
        self.refused(2, "'trase'", "'trace'?", arguments=("trase",))

    def test_neither_bus_nor_file(self):
        self.refused(2, "--bus", "FILE", arguments=("trace",))

    def test_both(self):
        self.refused(2, "either", arguments=("trace", "--bus", "unix:x", "y"))

    def test_write_without_a_bus(self):
        self.refused(2, "--write", arguments=("trace", "y", "--write", "x"))

    def test_bad_values(self):
        for option, value in (("--speed", "fast"), ("--address", "0x80"), ("--count", "0"), ("--time", "local")):
            self.refused(2, option, arguments=("trace", "--bus", "unix:x", option, value))

    def test_i2c_bus(self):
        self.refused(2, "unix:", "capture", arguments=("trace", "--bus", "i2c:/dev/i2c-3"))

    def test_nobody_serves(self):
        self.refused(1, "bus x.sock: No such file", arguments=("trace", "--bus", "unix:x.sock"))

    def test_no_capture(self):
        self.write("text", "hello")
        self.refused(2, "text: is not a bus capture", arguments=("trace", "text"))
        self.refused(2, "absent: No such file", arguments=("trace", "absent"))

    def test_write_replaces_no_other_file(self):
        self.write("precious", "data")
        self.write("chip.yaml", open(programs.runfile("deploy/examples/chip.yaml"), encoding="utf-8").read())
        device = self.start("sideband-mcu", "serve", "--chip", "chip.yaml", "--bus", "unix:gpu0.sock")
        programs.wait_until(lambda: "serving" in device.log(), "the device")
        self.refused(2, "precious: exists and is not a bus capture",
                     arguments=("trace", "--bus", "unix:gpu0.sock", "--write", "precious"))
