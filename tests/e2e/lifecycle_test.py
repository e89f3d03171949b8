# SPDX-License-Identifier: Apache-2.0
"""Devices that appear, disappear and restart under a running daemon; policies that change; shutdown."""

import os
import signal
import unittest

import grpc

import exposition
import programs
import site_layout
import tenant_client

INTERVAL_S = 0.1
HEALTH_SERVICES = ("", "sideband.v1.Telemetry", "sideband.v1.Confidential")
SERVING, NOT_SERVING = 1, 2


class LifecycleTestCase(unittest.TestCase):
    interval = "100ms"

    def setUp(self):
        self.site = site_layout.Site(self.interval)
        self.addCleanup(self.site.close)

    def client(self, user):
        client = tenant_client.Client(self.site, user)
        self.addCleanup(client.__exit__)
        return client

    def health(self, service):
        """The status of the service in grpc.health.v1, whose small messages are encoded by hand here."""
        check = self.client("tenant-a").channel.unary_unary("/grpc.health.v1.Health/Check")
        name = service.encode()
        answer = check(b"\x0a" + bytes([len(name)]) + name if name else b"", timeout=programs.PATIENCE_S)
        self.assertEqual(answer[:1], b"\x08")
        return answer[1]

    def device_is_up(self):
        """Whether the device is up. A device that is up has fresh counters in every scrape; otherwise it has none."""
        series = self.site.metrics("operator")
        up = exposition.value(series, "sideband_device_up", device="gpu0")
        age = exposition.value(series, "sideband_sample_age_seconds", device="gpu0")
        self.assertIn(up, (0, 1))
        self.assertEqual(up == 1, age is not None and age <= 3 * INTERVAL_S, age)
        self.assertEqual(up == 1, exposition.counters(series) != {})
        self.assertEqual(up == 1, exposition.value(series, "sideband_device_info", device="gpu0",
                                                   uuid="5b0f6a2e-7c64-4d0c-9d7e-2f1a90c3e001") == 1)
        return up == 1


class DeviceTest(LifecycleTestCase):
    def test_away_at_start(self):
        self.site.start_daemon()
        self.assertEqual(self.site.get("operator", "/-/healthy")[0], 200)
        self.assertEqual(self.site.get("operator", "/-/ready")[0], 503)
        self.assertEqual(self.site.get("tenant-a", "/-/ready")[0], 503)
        self.assertFalse(self.device_is_up())
        for user in ("tenant-a", "tenant-b"):
            self.assertEqual(self.site.get(user, "/metrics")[1].splitlines()[2:], ['sideband_device_up{device="gpu0"} 0'])
        self.assertEqual({self.health(service) for service in HEALTH_SERVICES}, {NOT_SERVING})

        self.site.start_device()
        self.site.wait_ready()
        programs.wait_until(self.device_is_up, "the device is up")
        programs.wait_until(lambda: exposition.counters(self.site.metrics("tenant-a")), "tenant A has counters")
        self.assertEqual({self.health(service) for service in HEALTH_SERVICES}, {SERVING})
        self.site.device.kill()
        programs.wait_until(lambda: {self.health(service) for service in HEALTH_SERVICES} == {NOT_SERVING},
                            "gRPC's health follows")

    def test_bus_too_slow_for_the_interval(self):
        config = self.site.read("sidebandd.yaml").decode().replace("interval: 100ms", "interval: 20ms, bus_hz: 10000")
        site_layout.write(self.site.folder, "sidebandd.yaml", config)
        self.site.start_device()
        self.site.start_daemon()
        refusal = ("device gpu0: an interval of 20ms is too short: a snapshot of this device over a bus of 10000 Hz "
                   "takes at least ")
        programs.wait_until(lambda: refusal in self.site.daemon.log(), "the refusal")
        self.assertFalse(self.device_is_up())

    def test_two_on_one_bus(self):
        chip = self.site.read("chip.yaml").decode()
        site_layout.write(self.site.folder, "other.yaml", chip.replace("5b0f6a2e-7c64-4d0c-9d7e-2f1a90c3e001",
                                                                       "5b0f6a2e-7c64-4d0c-9d7e-2f1a90c3e00f"))
        config = self.site.read("sidebandd.yaml").decode()
        line = '  - {name: gpu0, bus: "unix:gpu0.sock@0x4f", interval: 100ms}\n'
        self.assertIn(line, config)
        site_layout.write(self.site.folder, "sidebandd.yaml",
                          config.replace(line, line + line.replace("gpu0,", "gpu1,").replace("0x4f", "0x4e")))
        self.site.start_device("--chip", "other.yaml@0x4e")
        self.site.start_daemon()
        programs.wait_until(lambda: all(
            exposition.value(self.site.metrics("operator"), "sideband_device_info", device=device, uuid=uuid) == 1
            for device, uuid in (("gpu0", "5b0f6a2e-7c64-4d0c-9d7e-2f1a90c3e001"),
                                 ("gpu1", "5b0f6a2e-7c64-4d0c-9d7e-2f1a90c3e00f"))), "both devices are up")

    def test_gone(self):
        self.site.start()
        self.site.device.kill()
        # The last snapshot may count as fresh for three intervals.
        programs.wait_until(lambda: not self.device_is_up(), "the device is down")
        self.assertEqual(self.site.get("operator", "/-/ready")[0], 503)
        self.assertEqual(self.site.get("operator", "/-/healthy")[0], 200)
        self.assertEqual(exposition.counters(self.site.metrics("tenant-a")), {})
        self.assertFalse(self.site.daemon.ended())

    def test_hangs_and_recovers(self):
        """A device that does not answer is treated as absent until it answers again; no counts are lost."""
        self.site.start()
        client = self.client("tenant-a")
        before = client.snapshot()
        self.site.device.signal(signal.SIGSTOP)
        programs.wait_until(lambda: not self.device_is_up(), "the device is down")
        self.check_stale(client.snapshot())
        self.site.device.signal(signal.SIGCONT)
        programs.wait_until(self.device_is_up, "the device is up")
        after = client.snapshot()
        self.assertEqual(after.boot_id, before.boot_id)
        earlier, later = tenant_client.counters(before), tenant_client.counters(after)
        self.assertEqual(earlier.keys(), later.keys())
        self.assertTrue(all(later[key] >= earlier[key] for key in earlier))

    def check_stale(self, snapshot):
        """The counts are still available on request, but nothing is reported as current."""
        self.assertEqual(snapshot.device_state, tenant_client.messages().Device.STATE_STALE)
        self.assertGreater(snapshot.age.seconds + snapshot.age.nanos / 1e9, 3 * INTERVAL_S)
        counters = [counter for row in snapshot.scopes for counter in row.counters]
        self.assertTrue(counters)
        self.assertFalse([counter for counter in counters if counter.HasField("rate_per_second")])
        self.assertFalse([ratio for row in snapshot.scopes for ratio in row.ratios])

    def test_restart(self):
        """One stream shows the old boot, then the new one from its start; never a stale count or a negative rate."""
        self.site.start()
        updates = (answer.update for answer in self.client("tenant-a").stream() if answer.HasField("update"))
        old = [next(updates) for _ in range(4)]
        self.site.device.kill()
        programs.wait_until(lambda: not self.device_is_up(), "the device is down")
        self.site.start_device()
        new = []
        while sum(update.boot_id != old[0].boot_id for update in new) < 4:
            new.append(next(updates))
        while new[0].boot_id == old[0].boot_id:  # snapshots still in transit
            old.append(new.pop(0))
        for boot in (old, new):
            self.assertEqual({update.boot_id for update in boot}, {boot[0].boot_id})
            self.check_one_boot(boot)
        # Restarted from zero: the first count of the new boot is plausible for its own short time.
        first = new[0].scopes[0].counters[0]
        self.assertLessEqual(first.count, 8 * 1.4e9 * new[0].reference_time_ns / 1e9)
        self.assertFalse(first.HasField("rate_per_second"), "there is no rate between two boots")

    def check_one_boot(self, updates):
        for earlier, later in zip(updates, updates[1:]):
            self.assertGreater(later.reference_time_ns, earlier.reference_time_ns)
            before, after = tenant_client.counters(earlier), tenant_client.counters(later)
            self.assertTrue(all(after[key] >= before[key] for key in before))
        rates = [counter.rate_per_second for update in updates for row in update.scopes for counter in row.counters]
        self.assertGreaterEqual(min(rates), 0)
        # No wire counts more than once per cycle, and an event has at most eight wires.
        self.assertLessEqual(max(rates), 8 * 1.4e9 * 1.01)


class ReloadTest(LifecycleTestCase):
    interval = "1h"  # a policy takes effect at once, not with the next snapshot

    def reload(self, policy, successful):
        site_layout.write(self.site.folder, "policy.yaml", policy)
        lines = self.site.daemon.log().count("reload: ")
        self.site.daemon.signal(signal.SIGHUP)
        programs.wait_until(lambda: self.site.daemon.log().count("reload: ") > lines, "the daemon has reloaded")
        self.assertEqual(exposition.value(self.site.metrics("operator"), "sideband_config_last_reload_successful"),
                         1 if successful else 0)

    def vms(self, user):
        return exposition.vms(self.site.metrics(user))

    def test_policy(self):
        self.site.start()
        self.assertEqual(self.vms("tenant-a"), {"vm1"})
        self.assertEqual(self.vms("tenant-b"), {"vm2", "vm3"})
        vm2 = "      - {uuid: %s}\n" % site_layout.VM_UUIDS["vm2"]
        without = site_layout.POLICY.replace(vm2, "")
        moved = without.replace("  - name: tenant-b", vm2 + "  - name: tenant-b")
        # A revoked grant takes effect in an open stream.
        stream = self.client("tenant-b").subscribe(filter={"vm": "vm2"}, mode="MODE_STREAM")
        next(stream)

        self.reload(moved, successful=True)
        self.assertEqual(self.vms("tenant-a"), {"vm1", "vm2"})
        self.assertEqual(self.vms("tenant-b"), {"vm3"})
        with self.assertRaises(grpc.RpcError) as ended:
            for _ in stream:
                pass
        self.assertEqual(ended.exception.code(), grpc.StatusCode.NOT_FOUND)

        for broken in ("tenants: [", moved.replace("rights", "right"), ""):
            self.reload(broken, successful=False)
            self.assertEqual(self.vms("tenant-a"), {"vm1", "vm2"}, "the old policy stays in force")
        os.remove(self.site.path("policy.yaml"))
        self.reload(site_layout.POLICY, successful=True)
        self.assertEqual(self.vms("tenant-a"), {"vm1"})
        self.assertEqual(self.vms("tenant-b"), {"vm2", "vm3"})


class QuotaTest(LifecycleTestCase):
    def test_streams_of_the_configuration(self):
        config = self.site.read("sidebandd.yaml").decode()
        site_layout.write(self.site.folder, "sidebandd.yaml", config + "quotas: {streams: 1}\n")
        self.site.start()
        client = self.client("tenant-a")
        first = client.stream()
        next(first)
        self.assertEqual(tenant_client.refusal(client.stream)[0], grpc.StatusCode.RESOURCE_EXHAUSTED)
        first.cancel()
        next(self.client("tenant-b").stream())


class StopTest(LifecycleTestCase):
    def check(self, number):
        self.site.start()
        streams = [self.client("tenant-a").stream(), self.client("tenant-b").sealed("vm3")]
        for stream in streams:
            next(stream)
        self.site.daemon.signal(number)
        for stream in streams:
            with self.assertRaises(grpc.RpcError) as ended:
                for _ in stream:
                    pass
            # Not "Cancelled", as where the grace of calls is over.
            self.assertEqual((ended.exception.code(), ended.exception.details()),
                             (grpc.StatusCode.UNAVAILABLE, "shutting down"))
        self.assertEqual(self.site.daemon.wait(), 0, self.site.daemon.log())

    def test_sigterm_ends_streams(self):
        self.check(signal.SIGTERM)

    def test_sigint_ends_streams(self):
        self.check(signal.SIGINT)

    def test_while_the_device_hangs(self):
        self.site.start()
        self.site.device.signal(signal.SIGSTOP)
        programs.wait_until(lambda: not self.device_is_up(), "the device is down")
        self.assertEqual(self.site.daemon.stop(seconds=5), 0, self.site.daemon.log())

    def test_before_any_device(self):
        self.site.start_daemon()
        self.assertEqual(self.site.daemon.stop(seconds=5), 0, self.site.daemon.log())
