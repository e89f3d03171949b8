# SPDX-License-Identifier: Apache-2.0
"""`sideband export` in a guest: its numbers, a Prometheus that scrapes it, and the ends of its stream."""

import http.client
import json
import os
import re
import subprocess
import unittest

import exchange_test
import exposition
import programs
import prometheus
import site_layout

DEVICE_TIME = "sideband_device_reference_seconds_total"
HAS_PROMETHEUS = os.path.exists(prometheus.PROMETHEUS) and os.path.exists(prometheus.PROMTOOL)


def headers(text):
    """{family: [its HELP and TYPE]}"""
    found = {}
    for line in text.splitlines():
        if line.startswith("# "):
            found.setdefault(line.split()[2], []).append(line)
    return found


def label_names(text):
    """{sample name: {the names of its labels}}"""
    return {line.split("{")[0]: set(re.findall(r'(\w+)="', line)) for line in text.splitlines() if "{" in line}


class Guest:
    """A running `sideband export` and its HTTP server."""

    def __init__(self, site, *options, log="export.log"):
        self.program = programs.Program(
            "sideband", "--address", "localhost:%d" % site.grpc_port, "--ca-file", "ca.pem", "--cert-file",
            "tenant-b.pem", "--key-file", "tenant-b.key", "export", "--vm", "vm3", "--listen", "127.0.0.1:0", *options,
            cwd=site.folder, environment={"XDG_STATE_HOME": site.folder}, log=log)
        self.port = None

    def start(self):
        found = programs.wait_until(lambda: re.search(r"serving http://127\.0\.0\.1:(\d+)/metrics", self.program.log()),
                                    "export listens")
        self.port = int(found[1])
        return self

    def get(self, path):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=programs.PATIENCE_S)
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            return response.status, response.read().decode()
        finally:
            connection.close()

    def metrics(self):
        return self.get("/metrics")[1]

    def value(self, name):
        found = re.search(r"^%s (\S+)$" % name, self.metrics(), re.MULTILINE)
        return found and float(found[1])

    def wait_up(self):
        programs.wait_until(lambda: self.value("sideband_export_up") == 1, "export is up: " + self.program.log())

    def wait_down(self):
        programs.wait_until(lambda: self.value("sideband_export_up") == 0, "export is down")


class ExportTest(unittest.TestCase):
    EXCHANGE = ("--exchange", "--sealer-ca", "identity-ca.pem", "--throwaway-psp", ".", "--measurement",
                exchange_test.MEASUREMENT, "--accept-daemon")

    def setUp(self):
        self.site = exchange_test.ExchangeSite()
        self.addCleanup(self.site.close)
        config = self.site.read("sidebandd.yaml").decode().replace("grpc:\n", "grpc:\n  unix_socket: grpc.sock\n")
        site_layout.write(self.site.folder, "sidebandd.yaml", config)
        self.site.start()

    def guest(self, *options, **others):
        guest = Guest(self.site, *(options or self.EXCHANGE), **others)
        self.addCleanup(guest.program.kill)
        return guest.start()

    def stop_daemon(self):
        """The next daemon has this one's port."""
        config = self.site.read("sidebandd.yaml").decode()
        config = config.replace('listen: "127.0.0.1:0"', 'listen: "127.0.0.1:%d"' % self.site.grpc_port, 1)
        site_layout.write(self.site.folder, "sidebandd.yaml", config)
        self.assertEqual(self.site.daemon.stop(), 0)

    def counts(self, text):
        """{(context, event): count} of an exposition."""
        return {(context or "", event): count
                for (event, _, context), count in exposition.counters(exposition.parse(text)).items()}

    def test_numbers_are_those_of_the_snapshot(self):
        guest = self.guest()
        guest.wait_up()
        watch = programs.Program(
            "sideband", "--address", "localhost:%d" % self.site.grpc_port, "--ca-file", "ca.pem", "--cert-file",
            "tenant-b.pem", "--key-file", "tenant-b.key", "unseal", "--vm", "vm3", "--format", "json", "--key-file",
            "vm3.key", cwd=self.site.folder, environment={"XDG_STATE_HOME": self.site.folder}, log="unseal.log")
        self.addCleanup(watch.kill)
        scrapes = {}

        def snapshots():
            lines = [line for line in watch.log().splitlines(keepends=True) if line.endswith("}\n")]
            return {int(one["reference_time_ns"]): one for one in (json.loads(line)["snapshot"] for line in lines)}

        def common():
            text = guest.metrics()
            time = re.search(r"^%s\{.*\} (\d+)\.(\d{9})$" % DEVICE_TIME, text, re.MULTILINE)
            if time:
                scrapes[int(time[1] + time[2])] = text
            return len(scrapes.keys() & snapshots().keys()) >= 3

        programs.wait_until(common, "three scrapes of snapshots that were unsealed, too")
        self.assertEqual(watch.stop(), 0)
        for time in scrapes.keys() & snapshots().keys():
            expected = {(row["scope"].get("context", ""), counter["event"]): int(counter["count"])
                        for row in snapshots()[time]["scopes"] for counter in row["counters"]}
            self.assertGreater(len(expected), 10)
            self.assertEqual(self.counts(scrapes[time]), expected)
        self.assertEqual(guest.value("sideband_export_gaps_total"), 0)
        self.assertEqual(guest.get("/healthz"), (200, "up\n"))
        self.assertEqual(guest.program.stop(), 0)

    def test_names_and_help_are_the_daemons(self):
        guest = self.guest()
        guest.wait_up()
        mine, daemons = guest.metrics(), self.site.get("tenant-b", "/metrics")[1]
        families = headers(daemons)
        of_rows = {name: lines for name, lines in headers(mine).items() if not name.startswith("sideband_export_")}
        self.assertGreater(len(of_rows), 20)
        for name, lines in of_rows.items():
            self.assertEqual(lines, families[name])
        labels = label_names(daemons)
        for name, names in label_names(mine).items():
            self.assertEqual(names, labels[name], name)
        self.assertIn('{device="gpu0",slice="1",vm="vm3",context="finetune"}', mine)

    def test_events_are_chosen_by_the_guest(self):
        guest = self.guest(*self.EXCHANGE, "--event", "dram_*", "--event", "nothing")
        guest.wait_up()
        names = {event for _, event in self.counts(guest.metrics())}
        self.assertTrue(names)
        self.assertEqual([name for name in names if not name.startswith("dram_")], [])
        self.assertIn("no event of the VM matches 'nothing'", guest.program.log())

    def test_with_a_static_key(self):
        guest = self.guest("--key-file", "vm3.key")
        guest.wait_up()
        self.assertTrue(self.counts(guest.metrics()))

    def test_after_a_restart_of_the_daemon_keys_are_exchanged_again(self):
        guest = self.guest()
        guest.wait_up()
        self.stop_daemon()
        guest.wait_down()
        self.assertEqual(self.counts(guest.metrics()), {})
        self.assertNotIn(DEVICE_TIME, guest.metrics())
        self.assertEqual(guest.get("/healthz")[0], 503)
        records = guest.value("sideband_export_records_total")
        self.site.start_daemon()
        guest.wait_up()
        self.assertGreater(guest.value("sideband_export_records_total"), records)
        self.assertEqual(guest.value("sideband_export_streams_total"), 2)
        self.assertEqual(guest.value("sideband_export_rejected_total"), 0)
        self.assertEqual(guest.program.log().count("keys exchanged with the daemon of "), 2)
        self.assertEqual(guest.program.stop(), 0)

    def test_unseal_goes_on_as_well(self):
        unseal = programs.Program(
            "sideband", "--address", "localhost:%d" % self.site.grpc_port, "--ca-file", "ca.pem", "--cert-file",
            "tenant-b.pem", "--key-file", "tenant-b.key", "unseal", "--vm", "vm3", "--format", "json", *self.EXCHANGE,
            cwd=self.site.folder, environment={"XDG_STATE_HOME": self.site.folder}, log="unseal.log")
        self.addCleanup(unseal.kill)
        programs.wait_until(lambda: '"snapshot"' in unseal.log(), "a record")
        self.stop_daemon()
        programs.wait_until(lambda: "connecting again" in unseal.log(), "the end of the stream")
        before = unseal.log().count('"snapshot"')
        self.site.start_daemon()
        programs.wait_until(lambda: unseal.log().count('"snapshot"') > before, "records of the new daemon")
        self.assertEqual(unseal.stop(), 0)

    def test_a_device_that_is_silent(self):
        guest = self.guest()
        guest.wait_up()
        self.site.device.kill()
        guest.wait_down()
        self.assertEqual(self.counts(guest.metrics()), {})
        self.assertGreater(guest.value("sideband_export_record_age_seconds"), 0)

    def test_an_older_instant_than_the_state_is_rejected(self):
        guest = self.guest(*self.EXCHANGE, "--state", "instant.json")
        guest.wait_up()
        self.assertEqual(guest.program.stop(), 0)
        state = json.loads(self.site.read("instant.json"))
        self.assertEqual((state["version"], state["vm"]), (2, exchange_test.VM))
        self.assertEqual(self.site.exchange("--accept-daemon", "--state", "instant.json").returncode, 0)
        state["reference_time_ns"] = str(2**63)
        site_layout.write(self.site.folder, "instant.json", json.dumps(state))
        result = self.site.exchange("--accept-daemon", "--state", "instant.json")
        self.assertEqual((result.returncode, result.stdout), (1, ""), result)
        self.assertIn("sideband: record rejected\n", result.stderr)
        guest = self.guest(*self.EXCHANGE, "--state", "instant.json", log="again.log")
        programs.wait_until(lambda: guest.value("sideband_export_rejected_total"), "a rejection")
        self.assertEqual(guest.value("sideband_export_up"), 0)

    def test_refusals_are_one_line(self):
        def refused(*options):
            result = programs.run("sideband", "--address", "localhost:%d" % self.site.grpc_port, "export", "--vm", "vm3",
                                  *options, cwd=self.site.folder, environment={"XDG_STATE_HOME": self.site.folder})
            self.assertEqual((result.returncode, result.stdout, result.stderr.count("\n")), (2, "", 1), result)
            return result.stderr
        self.assertIn("--listen: 0.0.0.0 is not a loopback address",
                      refused("--key-file", "vm3.key", "--listen", "0.0.0.0:0"))
        self.assertIn("--key-file or --exchange is required", refused("--listen", "127.0.0.1:0"))

    def test_an_operator_rotates_keys(self):
        def rotate(*options):
            return programs.run("sideband", "--address", "unix:grpc.sock", "admin", "rotate-keys", *options,
                                cwd=self.site.folder)
        none = rotate("--vm", "vm3")
        self.assertEqual((none.returncode, none.stdout), (1, ""), none)
        guest = self.guest()
        guest.wait_up()
        epochs = []
        for _ in range(2):
            result = rotate("--vm", "vm3", "--device", "gpu0")
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            epochs.append(int(re.fullmatch(r"epoch (\d+) begins\n", result.stdout)[1]))
        self.assertGreater(epochs[1], epochs[0])
        records = guest.value("sideband_export_records_total")
        programs.wait_until(lambda: guest.value("sideband_export_records_total") > records + 3, "records go on")
        self.assertEqual(guest.value("sideband_export_streams_total"), 1)
        self.assertEqual(rotate("--vm", "vm9").returncode, 1)

    @unittest.skipUnless(HAS_PROMETHEUS, "there is no Prometheus")
    def test_a_prometheus_scrapes_the_guest(self):
        guest = self.guest()
        guest.wait_up()
        checked = subprocess.run([prometheus.PROMTOOL, "check", "metrics"], input=guest.metrics(), text=True,
                                 capture_output=True, check=False)
        self.assertEqual((checked.returncode, checked.stdout, checked.stderr), (0, "", ""))
        site_layout.write(self.site.folder, "prometheus.yml",
                          "global: {scrape_interval: 1s, scrape_timeout: 1s}\nscrape_configs:\n  - job_name: guest\n"
                          '    static_configs: [{targets: ["127.0.0.1:%d"]}]\n' % guest.port)
        server = prometheus.Prometheus(self.site.folder, "prometheus.yml")
        self.addCleanup(server.kill)
        rate = 'rate(sideband_context_tensor_active_cycles_total{vm="vm3",context="finetune"}[5s])'
        (labels, value), = programs.wait_until(lambda: server.query(rate + " > 0"), "a rate of the guest's events")
        self.assertEqual((labels["device"], labels["slice"]), ("gpu0", "1"))
        self.assertGreater(value, 0)
        self.assertEqual([value for _, value in server.query("sideband_export_up")], [1])
        self.stop_daemon()
        programs.wait_until(lambda: server.query("sideband_export_up == 0"), "export is down")
        programs.wait_until(lambda: not server.query('{__name__=~"sideband_(vm|context)_.*"}'), "the samples vanish")
