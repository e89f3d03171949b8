# SPDX-License-Identifier: Apache-2.0
"""A board of today, without the snapshot extension: Debian's smbus2 reads its base commands, and the daemon its sensors.

The board is deploy/examples/chip-board.yaml with the persona of public clients. Before its first transaction, a fault
plan has damaged its memory, a link and its driver.
"""

import json
import re
import textwrap
import unittest

from prometheus_client import parser as text_format

import exposition
import programs
import site_layout

FAULTS = """seed: 1
rules:
  - {fault: ecc, at: 1, errors: corrected, count: 3}
  - {fault: ecc, at: 1, errors: uncorrected, memory: sram}
  - {fault: row_remap, at: 1, errors: uncorrected}
  - {fault: nvlink_down, at: 1, link: 2}
  - {fault: nvlink_errors, at: 1, link: 1, error: replay, count: 7}
  - {fault: pcie_errors, at: 1, error: correctable, count: 9}
  - {fault: xid, at: 1, xid: 63, text: Row remapping pending}
  - {fault: power_connector, at: 1}
"""

# Runs commands as public clients do: SMBus blocks at 5D and 5C. Each argument is "opcode,arg1,arg2,data"; prints
# [command word, 5D, 5E] for each.
CLIENT = textwrap.dedent("""
    import json, sys, smbus2
    bus = smbus2.SMBus(3)
    word = lambda code: int.from_bytes(bytes(bus.read_block_data(0x4F, code)), "little")
    for opcode, arg1, arg2, data in (map(int, argument.split(",")) for argument in sys.argv[1:]):
        bus.write_block_data(0x4F, 0x5D, list(data.to_bytes(4, "little")))
        bus.write_block_data(0x4F, 0x5C, [opcode, arg1, arg2, 0x80])
        print(json.dumps([word(0x5C), word(0x5D), word(0x5E)]))
    """)
SUCCESS, ACCEPTED = 0x1F, 0x1C


# In place of the example's events of all links together.
LINK_EVENTS = "[%s]" % ", ".join("nvlink%d_%s_cycles" % (link, way) for link in range(4) for way in ("tx", "rx"))


def serve(folder, faults=FAULTS):
    with open(programs.runfile("deploy/examples/chip-board.yaml"), encoding="utf-8") as example:
        chip = example.read().replace("[nvlink_tx_cycles, nvlink_rx_cycles]", LINK_EVENTS)
    site_layout.write(folder, "chip.yaml", chip)
    options = ()
    if faults is not None:
        site_layout.write(folder, "faults.yaml", faults)
        options = ("--faults", "faults.yaml")
    device = programs.Program("sideband-mcu", "serve", "--chip", "chip.yaml", "--bus", "unix:gpu0.sock", "--persona",
                              "nvidia", *options, cwd=folder)
    programs.wait_until(lambda: "serving" in device.log() or device.ended(), "the device's bus")
    return device


class CommandsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = programs.temporary_folder(cls.addClassCleanup)
        cls.addClassCleanup(serve(cls.folder).kill)

    def run_all(self, *commands):
        """[(status, the word's bits 23:0, 5D, 5E)] of (opcode, arg1, arg2, data)."""
        full = [list(command) + [0] * (4 - len(command)) for command in commands]
        result = programs.run("sideband", "i2cdev", "--bus", "3=unix:gpu0.sock", "--", "/usr/bin/python3", "-c", CLIENT,
                              *(",".join(map(str, command)) for command in full), cwd=self.folder)
        self.assertEqual((result.returncode, result.stderr), (0, ""), result)
        replies = [json.loads(line) for line in result.stdout.splitlines()]
        return [(word >> 24 & 0x1F, word & 0xFFFFFF, data, extended) for word, data, extended in replies]

    def data_of(self, *commands):
        replies = self.run_all(*commands)
        for command, reply in zip(commands, replies):
            self.assertEqual(reply[0], SUCCESS, (command, reply))
        return [data for _, _, data, _ in replies]

    def test_identity(self):
        vendor, name = self.data_of((0x05, 0x09), (0x05, 0x03))
        self.assertEqual(vendor, 0x10DE)
        self.assertEqual(name.to_bytes(4, "little"), b"Side")

    def test_there_is_no_extension(self):
        self.assertEqual(self.run_all((0x60,))[0][0], 0x02)

    def test_capabilities(self):
        dwords = self.data_of(*((0x01, dword) for dword in range(6)))
        self.assertEqual(dwords[0], 0xDFF9F8A1)
        self.assertEqual(dwords[1] >> 16, 0xFDC0)
        self.assertEqual(dwords[2], 0x0EFEE824)
        self.assertEqual(dwords[3], 0)
        self.assertEqual(dwords[4], 0x05C0007F)
        self.assertEqual(dwords[5], 0x00000240)

    def test_thresholds_and_margin(self):
        slowdown, margin, temperature, of_limit = self.data_of((0x15, 1), (0x03, 7), (0x03, 0), (0x15, 6))
        self.assertEqual(slowdown, 90 * 256)
        self.assertEqual(of_limit, 0)
        self.assertAlmostEqual(margin + temperature, 90 * 256, delta=256)

    def test_powers_and_energies(self):
        total, memory, module, energy, of_module = self.data_of((0x04, 0), (0x04, 2), (0x04, 3), (0x22, 0), (0x22, 3))
        self.assertGreater(total, 65_000)
        self.assertLess(memory, total)
        self.assertAlmostEqual(module - total, 30_000, delta=total / 10)
        self.assertGreater(of_module, energy)

    def test_clocks(self):
        now, least, most, p_state, supported, _ = self.data_of(*((0x1B, item) for item in range(6)))
        self.assertIn(now, (700, 1000, 1200, 1400))
        self.assertEqual((least, most), (700, 1400))
        self.assertEqual(p_state, (1400, 1200, 1000, 700).index(now))
        self.assertEqual(supported, 0b100111)

    def test_memory_errors(self):
        self.assertEqual(self.data_of((0x1E, 0, 1), (0x1E, 1, 1), (0x1E, 1, 0)), [3, 0, 1])
        both, flags = self.data_of((0x20, 0, 0), (0x20, 1, 0))
        self.assertEqual((both, flags), (1, 0b10), "one uncorrected, pending")
        status, none, low, high = self.run_all((0x20, 2))[0]
        self.assertEqual((status, none, low), (SUCCESS, 0, 0))
        self.assertEqual((high & 0xFFFF, high >> 16), (1, 639))

    def test_links(self):
        count, up, replays, rate = self.data_of((0x1A, 0), (0x1A, 1), (0x1A, 3, 1), (0x1A, 2, 0))
        self.assertEqual((count, up, replays, rate), (4, 0b1011, 7, 25_000))
        status, _, pcie, correctable = self.run_all((0x21, 0))[0]
        self.assertEqual((status, pcie, correctable), (SUCCESS, 0x54, 9), "16 GT/s, 16 lanes")

    def test_flags(self):
        connector, protected = self.data_of((0x12,), (0x17, 0))
        self.assertEqual((connector, protected), (1, 0x5A))
        self.data_of((0x17, 1, 0xA5))
        self.assertEqual(self.data_of((0x17, 0), (0x17, 1, 0x5A)), [0xA5, 0])

    def test_a_driver_message(self):
        events = self.data_of((0x11, 1, 1))[0]
        self.assertEqual(events & 0x101, 0x101, "cold start, new message")
        size = self.data_of((0x1D, 1, 16, 0))[0]
        dwords = self.data_of(*((0x0D, 16 + i) for i in range(size // 4)))
        record = b"".join(dword.to_bytes(4, "little") for dword in dwords)
        self.assertEqual(record[1], 63)
        self.assertEqual(record[12:].rstrip(b"\0"), b"Row remapping pending")

    def test_a_power_limit(self):
        """The flow of facebook/openbmc: parameters to scratch memory, a request, a poll."""
        request = self.run_all((0x0E, 0, 0, 1), (0x0E, 1, 0, 350_000), (0x10, 0x01, 0))[-1]
        self.assertEqual(request[0], ACCEPTED)
        self.assertEqual(self.data_of((0x10, 0xFF, request[2] & 0xFF)), [0])
        request = self.run_all((0x10, 0x00, 4))[0]
        self.assertEqual(self.data_of((0x10, 0xFF, request[2] & 0xFF), (0x0D, 5), (0x0D, 6)), [0, 350_000, 350_000])

    def test_a_bundle(self):
        """Vendor and temperature in one command, each in a register of the reply."""
        requests = [(0x0E, 0, 0, 0x80000905), (0x0E, 4, 0, 0x02), (0x0E, 8, 0, 0 | 1 << 3 | 0 << 5 | 16 << 10 | 1 << 15),
                    (0x0E, 9, 0, 1 | 1 << 3 | 0 << 5 | 0 << 10 | 2 << 15)]
        self.data_of(*requests)
        status, _, vendor, temperature = self.run_all((0x1C, 0x22, 0))[0]
        self.assertEqual((status, vendor), (SUCCESS, 0x10DE))
        self.assertTrue(28 * 256 <= temperature <= 97 * 256, temperature)


SECTION = re.compile(r"^## Board sensors$(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\| `(sideband_[a-z_<>]+)` \| (counter|gauge) \| ([a-z_, ]*?) ?\|", re.MULTILINE)
# Of a board with other parts than the example's.
RARE = {"sideband_retired_pages", "sideband_partition_<metric>_bytes_per_second", "sideband_nvlink_data_bytes_total",
        "sideband_nvlink_raw_bytes_total",
        # GPUs behind a BMC alone have it.
        "sideband_violation_seconds_total", "sideband_nvlink_bytes_total", "sideband_board_health",
        # The example board has no decoders.
        "sideband_board_nvdec_per_instance_ratio", "sideband_board_nvjpg_per_instance_ratio"}


def documented():
    """{name or pattern: (type, labels)} of the page's section."""
    with open(programs.runfile("docs/metrics.md"), encoding="utf-8") as page:
        section = SECTION.search(page.read())[1]
    return {name: (kind, set(labels.split(", "))) for name, kind, labels in ROW.findall(section)}


def pattern_of(name):
    return re.sub(r"^(sideband_(?:board|partition))_[a-z0-9_]+?_(ratio|bytes_per_second)$", r"\1_<metric>_\2", name)


class DaemonTest(unittest.TestCase):
    """The sensors in /metrics, with a device that has nothing else."""

    def setUp(self):
        self.site = site_layout.Site("500ms")
        self.addCleanup(self.site.close)
        self.site.device = serve(self.site.folder)

    def start_daemon(self, board):
        config = self.site.read("sidebandd.yaml").decode().replace("interval: 500ms}", "interval: 500ms%s}" % board)
        site_layout.write(self.site.folder, "sidebandd.yaml", config)
        self.site.start_daemon()

    def value(self, name, user="operator", **labels):
        return exposition.value(self.site.metrics(user), name, device="gpu0", **labels)

    def await_value(self, expected, name, **labels):
        programs.wait_until(lambda: self.value(name, **labels) == expected, "%s %s of %s" % (name, labels, expected))

    def test_operators_see_the_sensors(self):
        self.start_daemon(", board: {mailbox: exclusive}")
        # Each group is read in its turn.
        self.await_value(90, "sideband_temperature_threshold_celsius", kind="hardware_slowdown")
        self.await_value(1, "sideband_row_remap_state", state="pending")
        self.await_value(3, "sideband_ecc_errors_total", kind="corrected", memory="dram")
        self.await_value(0, "sideband_nvlink_up", link="2")
        self.await_value(4, "sideband_pcie_link_generation")
        self.assertTrue(28 <= self.value("sideband_temperature_celsius", sensor="gpu") <= 97)
        self.assertGreaterEqual(self.value("sideband_power_watts", sensor="total"), 65)
        programs.wait_until(lambda: self.value("sideband_driver_messages_total", xid="63") == 1, "the driver's message")
        programs.wait_until(lambda: self.value("sideband_board_sm_activity_ratio") is not None, "the second capture")
        self.assertIn("base commands only", self.site.daemon.log())
        self.assertEqual(self.value("sideband_device_up"), 1)
        self.assertIsNone(self.value("sideband_collect_errors_total"))
        self.assertEqual(self.site.get("operator", "/-/ready")[0], 200)
        self.assertEqual(self.site.get("operator", "/")[0], 200)
        page = json.loads(self.site.get("operator", "/page/status")[1])
        self.assertEqual([message["xid"] for message in page["boards"]["gpu0"]["messages"]], [63])
        result = self.site.sideband("operator", "devices")
        self.assertEqual((result.returncode, result.stderr), (0, ""), result)
        self.assertIn("fresh", result.stdout)

    def test_a_board_without_pec(self):
        self.start_daemon(", pec: false, board: {mailbox: exclusive}")
        programs.wait_until(lambda: self.value("sideband_power_watts", sensor="total") is not None, "a sensor")
        self.assertIsNone(self.value("sideband_bus_transfers_total", outcome="bad_pec"))

    def test_a_board_that_is_away_has_no_sensors(self):
        self.start_daemon(", board: {mailbox: exclusive}")
        programs.wait_until(lambda: self.value("sideband_device_up") == 1, "the board")
        self.site.device.kill()
        programs.wait_until(lambda: self.value("sideband_device_up") == 0, "its absence")
        programs.wait_until(lambda: self.value("sideband_power_watts", sensor="total") is None, "the end of its sensors",
                            seconds=60)

    def test_what_is_shown_is_on_the_page(self):
        self.start_daemon(", board: {mailbox: exclusive}")
        self.await_value(1, "sideband_driver_messages_total", xid="63")
        self.await_value(90, "sideband_temperature_threshold_celsius", kind="hardware_slowdown")
        self.await_value(1, "sideband_row_remap_state", state="pending")
        programs.wait_until(lambda: self.value("sideband_partition_sm_activity_ratio", partition="2", compute_instance="0")
                            is not None, "the partitions' second capture")
        programs.wait_until(lambda: self.value("sideband_nvlink_raw_bytes_per_second", link="0", direction="tx")
                            is not None, "the links' traffic after captures")
        page, seen = documented(), set()
        for family in text_format.text_string_to_metric_families(self.site.get("operator", "/metrics")[1]):
            for sample in family.samples:
                name = pattern_of(sample.name)
                if name not in page:
                    continue
                seen.add(name)
                self.assertEqual(family.type, page[name][0], name)
                self.assertLessEqual(set(sample.labels), page[name][1], name)
        self.assertEqual(set(page) - seen - RARE, set(), "on the page, but never seen")

    def test_tenants_see_nothing_of_them(self):
        self.start_daemon(", board: {mailbox: exclusive}")
        programs.wait_until(lambda: self.value("sideband_power_watts", sensor="total") is not None, "a sensor")
        self.assertNotIn("sideband_power_watts", self.site.get("tenant-a", "/metrics")[1])
        self.assertNotIn("boards", json.loads(self.site.get("tenant-a", "/page/status")[1]))

    def test_they_are_read_by_default(self):
        self.start_daemon("")
        programs.wait_until(lambda: self.value("sideband_power_watts", sensor="total") is not None, "a sensor")

    def test_they_may_be_left_alone(self):
        self.start_daemon(", board: {mailbox: off}")
        programs.wait_until(lambda: "does not know the snapshot extension" in self.site.daemon.log(), "the probe")
        self.assertNotIn("sideband_power_watts", self.site.get("operator", "/metrics")[1])
