# SPDX-License-Identifier: Apache-2.0
"""SIGHUP with a changed sidebandd.yaml: changes that are applied, that require a restart, or that are rejected."""

import os
import signal
import unittest

import grpc

import exposition
import programs
import site_layout
import tenant_client

GPU0 = '  - {name: gpu0, bus: "unix:gpu0.sock@0x4f", interval: 100ms}\n'
GPU1 = '  - {name: gpu1, bus: "unix:gpu0.sock@0x4e", interval: 100ms}\n'
OTHER_UUID = "5b0f6a2e-7c64-4d0c-9d7e-2f1a90c3e00f"


class ReloadTestCase(unittest.TestCase):
    def setUp(self):
        self.site = site_layout.Site("100ms")
        self.addCleanup(self.site.close)
        chip = self.site.read("chip.yaml").decode()
        site_layout.write(self.site.folder, "other.yaml", chip.replace("5b0f6a2e-7c64-4d0c-9d7e-2f1a90c3e001", OTHER_UUID))
        self.config = self.site.read("sidebandd.yaml").decode()
        self.assertIn(GPU0, self.config)
        self.site.start_device("--chip", "other.yaml@0x4e")
        self.site.start_daemon()
        self.site.wait_ready()

    def reload(self, config, successful=True):
        """Reloads `config`; returns the lines that the daemon has logged about the reload."""
        site_layout.write(self.site.folder, "sidebandd.yaml", config)
        before = len(self.site.daemon.log())
        self.site.daemon.signal(signal.SIGHUP)
        last = "is in force" if successful else "nothing is changed"
        programs.wait_until(lambda: last in self.site.daemon.log()[before:], "the reload has ended\n" + self.site.daemon.log())
        self.assertEqual(self.value("sideband_config_last_reload_successful"), int(successful))
        return [line.split(" reload: ")[1] for line in self.site.daemon.log()[before:].splitlines() if " reload: " in line]

    def series(self, user="operator"):
        return exposition.parse(self.site.request(user, "/metrics", {"Accept": "text/plain"})[2])

    def value(self, name, **labels):
        return exposition.value(self.series(), name, **labels)

    def publications(self, device):
        return self.value("sideband_snapshots_total", device=device) or 0

    def created(self):
        """The created times of gpu0's rows: {series: time}."""
        status, _, body = self.site.request("operator", "/metrics", {"Accept": "application/openmetrics-text;version=1.0.0"})
        self.assertEqual(status, 200)
        return {line.rsplit(" ", 1)[0]: line.rsplit(" ", 1)[1] for line in body.splitlines()
                if "_created{" in line and 'device="gpu0"' in line}


class TakenTest(ReloadTestCase):
    def test_devices(self):
        """One device is added, one removed; the remaining device continues undisturbed."""
        created, before = self.created(), exposition.counters(self.series())
        self.assertTrue(created)
        lines = self.reload(self.config.replace(GPU0, GPU0 + GPU1))
        self.assertIn('device gpu1: added, unix:gpu0.sock@0x4e', lines)
        programs.wait_until(lambda: self.value("sideband_device_info", device="gpu1", uuid=OTHER_UUID) == 1, "gpu1 is up")
        stayed = self.created()
        self.assertEqual({key: stayed[key] for key in created}, created)

        lines = self.reload(self.config)
        self.assertIn("device gpu1: removed", lines)
        series = self.series()
        self.assertEqual([labels for _, labels in series if ("device", "gpu1") in labels], [])
        self.assertEqual(self.site.get("operator", "/-/ready")[0], 200)
        self.assertTrue(all(count >= before[key] for key, count in exposition.counters(series).items() if key in before))
        self.assertEqual({key: self.created()[key] for key in created}, created)
        with tenant_client.Client(self.site, "operator") as client:
            self.assertEqual(client.snapshot().device, "gpu0")

    def test_a_stream_of_a_device_that_goes_ends(self):
        self.reload(self.config.replace(GPU0, GPU0 + GPU1))
        programs.wait_until(lambda: self.value("sideband_device_up", device="gpu1") == 1, "gpu1 is up")
        with tenant_client.Client(self.site, "operator") as client:
            stream = client.subscribe(filter={"device": "gpu1"}, mode="MODE_STREAM")
            next(stream)
            self.reload(self.config)
            with self.assertRaises(grpc.RpcError) as ended:
                for _ in stream:
                    pass
            self.assertEqual(ended.exception.code(), grpc.StatusCode.NOT_FOUND)

    def test_a_device_on_another_bus_begins_anew(self):
        lines = self.reload(self.config.replace("0x4f", "0x4e"))
        self.assertIn("device gpu0: reopened, unix:gpu0.sock@0x4e", lines)
        programs.wait_until(lambda: self.value("sideband_device_info", device="gpu0", uuid=OTHER_UUID) == 1, "it is the other")

    def test_interval(self):
        self.assertIn("device gpu0: every 1h instead of every 100ms",
                      [line.replace("1h0m0s", "1h") for line in self.reload(self.config.replace("100ms", "1h"))])
        # An update that was already in transit may still arrive.
        before = programs.wait_until(lambda: self.publications("gpu0"), "a snapshot")
        self.reload(self.config)
        programs.wait_until(lambda: self.publications("gpu0") >= before + 5, "it does not wait for the hour to end")

    def test_ratios(self):
        ratio = "ratios: [{name: hit, numerator: [l2_hit_cycles], denominator: [l2_hit_cycles, l2_miss_cycles]}]\n"
        self.reload(ratio + self.config)
        programs.wait_until(lambda: any(name == "sideband_vm_hit_ratio" for name, _ in self.series()), "the ratio")
        self.reload(self.config)
        programs.wait_until(lambda: not any(name == "sideband_vm_hit_ratio" for name, _ in self.series()), "no ratio")
        lines = self.reload(ratio.replace("l2_miss_cycles", "l2_mis_cycles") + self.config, successful=False)
        self.assertEqual(len(lines), 1, lines)
        self.assertIn("sidebandd.yaml:1: event 'l2_mis_cycles' is counted by no device (did you mean 'l2_miss_cycles'?)",
                      lines[0])

    def test_history(self):
        past = tenant_client.messages().GetHistoryRequest()
        with tenant_client.Client(self.site, "operator") as client:
            programs.wait_until(lambda: client.telemetry.GetHistory(past).devices, "a past")
            self.reload(self.config + "history: {max_bytes: 0}\n")
            self.assertEqual(self.value("sideband_history_max_bytes"), 0)
            self.assertEqual(tenant_client.refusal(lambda: client.telemetry.GetHistory(past))[0],
                             grpc.StatusCode.FAILED_PRECONDITION)
            self.reload(self.config + "history: {max_bytes: 1MiB}\n")
            self.assertEqual(self.value("sideband_history_max_bytes"), 1 << 20)
            programs.wait_until(lambda: client.telemetry.GetHistory(past).devices, "a past from then on")

    def test_log_level(self):
        self.reload(self.config)
        version = self.site.daemon.log().count("is in force")
        site_layout.write(self.site.folder, "sidebandd.yaml",
                          self.config + "log: {level: error}\nhistory: {max_bytes: 1MiB}\n")
        self.site.daemon.signal(signal.SIGHUP)
        programs.wait_until(lambda: self.value("sideband_history_max_bytes") == 1 << 20, "the reload is taken")
        site_layout.write(self.site.folder, "policy.yaml", "version: 2\n")
        self.site.daemon.signal(signal.SIGHUP)
        programs.wait_until(lambda: "unknown version 2" in self.site.daemon.log(), "the error")
        self.assertEqual(self.site.daemon.log().count("is in force"), version, "info lines are not written")

    def test_log_lines_are_in_utc(self):
        for line in self.site.daemon.log().splitlines():
            self.assertRegex(line, r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (debug|info|warning|error) ")


class NotTakenTest(ReloadTestCase):
    def test_what_takes_a_restart_is_named(self):
        config = (self.config.replace("ports_file: ports", "ports_file: elsewhere")
                  .replace('http:\n  listen: "127.0.0.1:0"', 'http:\n  listen: "127.0.0.1:1"')
                  .replace("grpc:\n", "grpc:\n  reflection: true\n") + "audit: {file: a.jsonl}\nquotas: {streams: 1}\n")
        expected = ["%s has changed; it takes effect only after a restart" % name
                    for name in ("grpc.reflection", "http.listen", "quotas", "audit", "ports_file")]
        for _ in range(2):
            lines = self.reload(config)
            self.assertEqual([line for line in lines if "restart" in line], expected, "each time")
        self.assertFalse(os.path.exists(self.site.path("elsewhere")) or os.path.exists(self.site.path("a.jsonl")))
        self.assertEqual([line for line in self.reload(self.config) if "restart" in line], [])

    def test_all_or_nothing(self):
        vm2 = "      - {uuid: %s}\n" % site_layout.VM_UUIDS["vm2"]
        site_layout.write(self.site.folder, "policy.yaml", site_layout.POLICY.replace(vm2, ""))
        config = self.config.replace(GPU0, GPU1).replace("policy_file: policy.yaml", "policy_file: policy.yaml\nhistory: {x: 1}")
        config += "log: {level: loud}\n"
        lines = self.reload(config, successful=False)
        self.assertEqual(len(lines), 2, "every error has its line")
        self.assertEqual(exposition.vms(self.series("tenant-b")), {"vm2", "vm3"}, "the policy is the old one")
        self.assertEqual(self.value("sideband_device_up", device="gpu0"), 1)
        self.assertIsNone(self.value("sideband_device_up", device="gpu1"))
        self.reload(self.config)
        self.assertEqual(exposition.vms(self.series("tenant-b")), {"vm3"})

    def test_a_fifo_as_policy(self):
        os.remove(self.site.path("policy.yaml"))
        os.mkfifo(self.site.path("policy.yaml"))
        lines = self.reload(self.config, successful=False)
        self.assertIn("policy.yaml: is not a regular file", lines[0])
        self.assertEqual(self.site.daemon.stop(seconds=5), 0, "and the daemon still obeys")

    def test_deep_nesting_in_the_configuration_leaves_no_memory(self):
        before = self.value("process_resident_memory_bytes")
        lines = self.reload(self.config + "ratios: " + "[" * (1 << 20), successful=False)
        self.assertIn("nested more than", lines[0])
        # Without the bound: 228 MB. The remainder is used by scrapes.
        self.assertLess(self.value("process_resident_memory_bytes"), before + (32 << 20))
