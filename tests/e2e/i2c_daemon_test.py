# SPDX-License-Identifier: Apache-2.0
"""sidebandd on Linux' i2c-dev: the transport for real boards, on /dev/i2c-N that are virtual buses."""

import shutil
import unittest

import base_board
import exposition
import programs
import site_layout

UNIX_BUS, I2C_BUS = "unix:gpu0.sock@0x4f", "i2c:/dev/i2c-3@0x4f"


class I2cSite(site_layout.Site):
    """The daemon reads /dev/i2c-3."""

    def __init__(self, *options):
        super().__init__("100ms")
        self.daemon_command = ("sideband", "i2cdev", "--bus", "3=unix:gpu0.sock", *options, "--",
                               programs.program_path("sidebandd"), "--config", "sidebandd.yaml")
        self.edit_config(UNIX_BUS, I2C_BUS)

    def edit_config(self, old, new):
        config = self.read("sidebandd.yaml").decode()
        assert old in config
        site_layout.write(self.folder, "sidebandd.yaml", config.replace(old, new))


class I2cTestCase(unittest.TestCase):
    def site(self, *options):
        site = I2cSite(*options)
        self.addCleanup(site.close)
        return site

    def up(self, site, device="gpu0"):
        return exposition.value(site.metrics("operator"), "sideband_device_up", device=device)

    def transfers(self, site, outcome, device="gpu0"):
        return exposition.value(site.metrics("operator"), "sideband_bus_transfers_total", device=device,
                                outcome=outcome)

    def warned(self, site, message):
        programs.wait_until(lambda: message in site.daemon.log(), message)


class ScrapeTest(I2cTestCase):
    def check(self, *options):
        site = self.site(*options)
        site.start()
        self.assertEqual(exposition.vms(site.metrics("tenant-a")), {"vm1"})
        self.assertEqual(exposition.vms(site.metrics("tenant-b")), {"vm2", "vm3"})
        first = exposition.counters(site.metrics("tenant-a"))
        programs.wait_until(lambda: exposition.counters(site.metrics("tenant-a")) != first, "another snapshot")
        for name, count in exposition.counters(site.metrics("tenant-a")).items():
            self.assertGreaterEqual(count, first[name])
        self.assertEqual(self.up(site), 1)
        self.assertGreater(self.transfers(site, "ok"), 0)
        self.assertIsNone(self.transfers(site, "bus_error"))

    def test_messages(self):
        self.check()

    def test_an_adapter_with_smbus_blocks_alone(self):
        self.check("--smbus-only")

    def test_two_devices_on_two_buses(self):
        site = self.site()
        site.start_device()
        shutil.copy(site.path("chip.yaml"), site.path("chip1.yaml"))
        with open(site.path("chip1.yaml"), encoding="utf-8") as file:
            chip = file.read()
        uuid = "5b0f6a2e-7c64-4d0c-9d7e-2f1a90c3e001"
        site_layout.write(site.folder, "chip1.yaml", chip.replace(uuid, uuid[:-3] + "fff"))
        second = programs.Program("sideband-mcu", "serve", "--chip", "chip1.yaml", "--bus", "unix:gpu1.sock@0x4c",
                                  cwd=site.folder, log="second.log")
        self.addCleanup(second.kill)
        programs.wait_until(lambda: "serving" in second.log() and "serving" in site.device.log(), "both buses")
        site.edit_config("devices:\n", "devices:\n  - {name: gpu1, bus: \"i2c:/dev/i2c-4@0x4c\", interval: 100ms}\n")
        site.daemon_command = ("sideband", "i2cdev", "--bus", "3=unix:gpu0.sock", "--bus", "4=unix:gpu1.sock", "--",
                               programs.program_path("sidebandd"), "--config", "sidebandd.yaml")
        site.start_daemon()
        programs.wait_until(lambda: self.up(site) == 1 and self.up(site, "gpu1") == 1, "both devices are up")
        series = site.metrics("operator")
        self.assertEqual(exposition.value(series, "sideband_device_info", device="gpu0", uuid=uuid), 1)
        self.assertEqual(exposition.value(series, "sideband_device_info", device="gpu1", uuid=uuid[:-3] + "fff"), 1)

    def test_a_device_that_restarts(self):
        site = self.site()
        site.start()
        site.device.kill()
        programs.wait_until(lambda: self.up(site) == 0, "the device is down")
        self.warned(site, "bus /dev/i2c-3: No such device")
        site.start_device()
        programs.wait_until(lambda: self.up(site) == 1, "the device is up again")


class NoDataTest(I2cTestCase):
    """The failure is logged, and the daemon keeps running."""

    def test_no_such_bus(self):
        site = self.site()
        site.edit_config("/dev/i2c-3", "/dev/i2c-987")
        site.start_daemon()
        self.warned(site, "device gpu0: bus /dev/i2c-987: No such file or directory")

    def test_not_a_bus(self):
        site = self.site()
        site.edit_config("/dev/i2c-3", "/dev/null")
        site.start_daemon()
        self.warned(site, "device gpu0: bus /dev/null: is not an I2C bus")

    def test_nobody_at_the_address(self):
        site = self.site()
        site.edit_config("@0x4f", "@0x4e")
        site.start_device()
        site.start_daemon()
        self.warned(site, "device gpu0: device at 0x4e: no device answers at the address")

    def test_a_board_without_the_extension(self):
        for options in ((), ("--smbus-only",)):
            site = self.site(*options)
            site.edit_config("interval: 100ms}", "interval: 100ms, board: {mailbox: off}}")
            with base_board.BaseBoard(site.path("gpu0.sock")):
                site.start_daemon()
                self.warned(site, "device gpu0: DISCOVER: ERR_OPCODE: the device does not know the "
                                  "snapshot extension")
                self.assertEqual(self.up(site), 0)
                self.assertEqual(site.daemon.stop(), 0)
