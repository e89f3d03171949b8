# SPDX-License-Identifier: Apache-2.0
"""A guest that reads its sealed records in band, from the file that its device keeps for it."""

import json
import os
import unittest

import device_sealing_test
import exchange_test
import export_test
import process_memory
import programs
import site_layout

VIEW = "views/vm3.sbs"
EXCHANGE = ("--exchange", "--sealer-ca", "identity-ca.pem", "--throwaway-psp", ".", "--measurement",
            exchange_test.MEASUREMENT)


class Unseal:
    """A running `sideband unseal` with keys and a state of its own."""

    def __init__(self, site, name, *options):
        self.program = programs.Program(
            "sideband", "--address", "localhost:%d" % site.grpc_port, "--ca-file", "ca.pem", "--cert-file",
            "tenant-b.pem", "--key-file", "tenant-b.key", "unseal", "--vm", "vm3", "--format", "json", *EXCHANGE,
            "--state", name + ".json", *options, cwd=site.folder, log=name + ".log")

    def log(self):
        return self.program.log()

    def records(self):
        return [json.loads(line) for line in self.log().splitlines(keepends=True)
                if line.startswith("{") and line.endswith("}\n")]

    def wait_records(self, count):
        """Waits for so many further records, and returns them."""
        before = len(self.records())
        programs.wait_until(lambda: len(self.records()) >= before + count or self.program.ended(), "records")
        found = self.records()[before:]
        if len(found) < count:
            raise AssertionError(self.log())
        return found


class InBandTestCase(unittest.TestCase):
    def setUp(self):
        self.site = device_sealing_test.SealingSite()
        self.addCleanup(self.site.close)

    def start(self, name, *options):
        started = Unseal(self.site, name, *options)
        self.addCleanup(started.program.kill)
        return started

    def start_in_band(self):
        return self.start("in-band", "--view", VIEW)


class RecordsTest(InBandTestCase):
    def setUp(self):
        super().setUp()
        # Less often than a busy machine lets a reader wait, and more often than once a second.
        config = self.site.read("sidebandd.yaml").decode().replace("interval: 100ms", "interval: 300ms")
        site_layout.write(self.site.folder, "sidebandd.yaml", config)
        self.site.start()

    def test_they_are_those_of_the_stream(self):
        in_band = self.start_in_band()
        in_band.wait_records(1)
        # A second exchange: in the grace time of the first, both have records.
        out_of_band = self.start("out-of-band")

        def by_instant(client):
            return {line["record"]["reference_time_ns"]: line for line in client.records()}

        def common():
            return by_instant(in_band).keys() & by_instant(out_of_band).keys()

        programs.wait_until(lambda: len(common()) >= 12, "instants that both have")
        mine, streams = by_instant(in_band), by_instant(out_of_band)
        for instant in common() & mine.keys() & streams.keys():
            self.assertEqual(mine[instant]["snapshot"], streams[instant]["snapshot"])
            self.assertEqual(mine[instant]["record"]["generation"], streams[instant]["record"]["generation"])
        rows = {row["scope"].get("context", "") for row in mine[instant]["snapshot"]["scopes"]}
        self.assertEqual(rows, {"", "finetune", "embed"})
        # A view is refreshed by the daemon's readings alone, as they are more frequent than once a second.
        for client in (in_band, out_of_band):
            exchange_test.check_gaps(self, client.records())

    def test_they_go_on_without_the_daemon(self):
        in_band = self.start_in_band()
        in_band.wait_records(2)
        with process_memory.stopped(self.site.daemon):
            in_band.wait_records(3)
        in_band.wait_records(2)
        self.site.daemon.kill()
        after = in_band.wait_records(3)
        first, last = (int(line["record"]["reference_time_ns"]) for line in (after[-2], after[-1]))
        self.assertLess(last - first, 20e9, "a record a second; the rest is for a loaded machine")
        exchange_test.check_gaps(self, in_band.records())
        self.assertEqual(in_band.log().count("sideband: "), 1, "the exchange of keys: " + in_band.log())
        self.assertEqual(in_band.program.stop(), 0)

    def test_export_goes_on_without_the_daemon(self):
        guest = export_test.Guest(self.site, *EXCHANGE, "--view", VIEW)
        self.addCleanup(guest.program.kill)
        guest.start().wait_up()
        self.site.daemon.kill()
        records = guest.value("sideband_export_records_total")

        def goes_on():
            self.assertEqual(guest.value("sideband_export_up"), 1)
            return guest.value("sideband_export_records_total") >= records + 4

        programs.wait_until(goes_on, "records")
        self.assertIn('{device="gpu0",slice="1",vm="vm3",context="finetune"}', guest.metrics())
        self.assertEqual(guest.value("sideband_export_streams_total"), 1)
        self.assertEqual(guest.value("sideband_export_gaps_total"), 0)

    def test_after_a_restart_of_the_device_keys_are_exchanged_again(self):
        in_band = self.start_in_band()
        boot = in_band.wait_records(1)[0]["record"]["boot_id"]
        self.assertEqual(self.site.device.stop(), 0)
        programs.wait_until(lambda: "No such file or directory; connecting again" in in_band.log(), "the view's end")
        self.site.start_device()
        programs.wait_until(lambda: in_band.records()[-1]["record"]["boot_id"] != boot, "records of the new boot")
        self.assertEqual(in_band.log().count("keys exchanged with the device "), 2, in_band.log())

    def test_a_device_that_was_killed_leaves_an_old_file(self):
        in_band = self.start_in_band()
        boot = in_band.wait_records(1)[0]["record"]["boot_id"]
        self.site.device.kill()
        programs.wait_until(lambda: "no new record for 10s; connecting again" in in_band.log(), "the view's end")
        os.unlink(self.site.path("gpu0.sock"))
        self.site.start_device()
        programs.wait_until(lambda: in_band.records()[-1]["record"]["boot_id"] != boot, "records of the new boot")

    def test_a_damaged_view_is_one_line(self):
        copy = self.site.path("copy.sbs")
        with open(copy, "wb") as file:
            file.write(b"SBGSEAL1 and no more")
        in_band = self.start("in-band", "--view", "copy.sbs")
        programs.wait_until(lambda: "waiting for it" in in_band.log(), "the note")
        self.assertIn("sideband: copy.sbs: the file is not a guest view of sealed records; waiting for it\n", in_band.log())
        os.symlink(VIEW, copy + ".new")
        os.rename(copy + ".new", copy)
        in_band.wait_records(2)
        self.assertEqual(in_band.log().count("waiting for it"), 1)

    def test_refusals_are_one_line(self):
        for options, reason in ((("--key-file", "vm3.key"), "--view"), (("--key-file", "vm3.key", "--exchange"), "excludes"),
                                ((), "--view requires --exchange"),
                                (("--exchange", "--record", "x"), "--view excludes --record")):
            result = programs.run("sideband", "unseal", "--vm", "vm3", "--view", VIEW, *options, cwd=self.site.folder)
            self.assertEqual((result.returncode, result.stdout, result.stderr.count("\n")), (2, "", 1), result)
            self.assertIn(reason, result.stderr)


class EndOfAnExchangeTest(InBandTestCase):
    def test_keys_are_exchanged_again(self):
        sealing = self.site.read("sealing.yaml").decode()
        self.assertIn("rotate_every: 1s", sealing)
        site_layout.write(self.site.folder, "sealing.yaml",
                          sealing.replace("rotate_every: 1s", "rotate_every: 1s, grace: 1s"))
        self.site.start()
        in_band = self.start_in_band()
        in_band.wait_records(1)
        self.assertEqual(self.site.exchange("--state", "other.json").returncode, 0)
        programs.wait_until(lambda: VIEW + ": no record of this exchange; connecting again" in in_band.log(), "the end")
        in_band.wait_records(3)
        self.assertEqual(in_band.log().count("keys exchanged with the device "), 2, in_band.log())
