# SPDX-License-Identifier: Apache-2.0
"""Steps of the wall clock, an hour ahead and back, while the daemon publishes: no stop, same pace, no wrong count."""

import datetime
import http.client
import os
import ssl
import struct
import time
import unittest

import exposition
import programs
import site_layout
import tenant_client

HOUR_S = 3600
INTERVAL_S = 0.1
# Each step must be complete within so many seconds; a wait on the wall clock would take an hour.
PACE_S = 20


class ClockStepTest(unittest.TestCase):
    def setUp(self):
        self.site = site_layout.Site("100ms")
        self.addCleanup(self.site.close)
        self.set_clock(0)
        self.site.authority.issue("short", uri=site_layout.TRUST + "tenant-a", valid=datetime.timedelta(minutes=90))
        self.site.daemon_command = ("/usr/bin/env", "LD_PRELOAD=" + programs.runfile("tests/e2e/libclock_shim.so"),
                                    "SIDEBAND_TEST_CLOCK=" + self.site.path("clock"),
                                    programs.program_path("sidebandd"), "--config", "sidebandd.yaml")
        config = self.site.read("sidebandd.yaml").decode()
        site_layout.write(self.site.folder, "sidebandd.yaml", config + "audit: {file: audit.jsonl}\n")
        self.site.start()

    def set_clock(self, shift_s):
        """Sets the daemon's wall clock so far ahead of the machine's."""
        self.shift_s = shift_s
        # In place, because the daemon has mapped the file.
        file = os.open(self.site.path("clock"), os.O_WRONLY | os.O_CREAT, 0o600)
        os.pwrite(file, struct.pack("=q", shift_s * 10**9), 0)
        os.close(file)

    def test_publishing_streams_and_scrapes_go_on(self):
        client = tenant_client.connect(self.site, "tenant-a")
        self.addCleanup(client.close)
        stream = self.snapshots_of(client)
        last = next(stream)
        created = self.created()
        for shift_s in (HOUR_S, 0, -HOUR_S, 0):
            self.set_clock(shift_s)
            last = self.check_stream(stream, last)
            self.check_scrapes()
            self.check_certificates()
            self.assertEqual(self.created(), created, "counters have not begun anew")
        self.check_log(steps=4)
        self.check_audit()
        self.assertEqual(self.site.daemon.stop(seconds=PACE_S), 0, self.site.daemon.log())

    def snapshots_of(self, client):
        """Of one connection, without a gap or a contradiction."""
        for update in client.watch():
            self.assertIsInstance(update, tenant_client.sideband.Update)
            yield update.snapshot

    def is_of_this_clock(self, snapshot):
        return abs(snapshot.host_time_ns / 1e9 - time.time() - self.shift_s) < PACE_S

    def check_stream(self, stream, last):
        """Twenty updates: at the pace of the interval, with timestamps of the new clock, and with correct rates."""
        start = time.monotonic()
        # Updates taken before the step may still be in transit.
        first = next(update for update in stream if self.is_of_this_clock(update))
        updates = [first] + [next(stream) for _ in range(19)]
        self.assertLess(time.monotonic() - start, PACE_S)
        # No busy loop either: the interval's grid follows the monotonic clock.
        self.assertGreater(updates[-1].reference_time_ns - updates[0].reference_time_ns, 19 * INTERVAL_S * 1e9 * 0.9)
        for earlier, later in zip([last] + updates, updates):
            self.assertGreater(later.reference_time_ns, earlier.reference_time_ns)
            self.assertTrue(self.is_of_this_clock(later), later.host_time)
            self.assertEqual(later.boot_id, last.boot_id)
            for before, after in zip(earlier.rows, later.rows):
                self.assertEqual(before.scope, after.scope)
                self.assertTrue(all(after[event] >= before[event] for event in before))
            rates = [counter.rate_per_second for row in later.rows for counter in row.counters.values()]
            self.assertGreaterEqual(min(rates), 0)
            # No wire counts more than once per cycle, and an event has at most eight wires.
            self.assertLessEqual(max(rates), 8 * 1.4e9 * 1.01)
        return updates[-1]

    def check_scrapes(self):
        """Scrapes are fresh: a sample's age does not depend on the wall clock."""
        def publications():
            series = self.site.metrics("operator")
            # A generous bound for a loaded machine: seconds, not an hour.
            self.assertLess(exposition.value(series, "sideband_sample_age_seconds", device="gpu0") or 0, PACE_S)
            is_up = exposition.value(series, "sideband_device_up", device="gpu0") == 1
            return is_up and (exposition.value(series, "sideband_snapshots_total", device="gpu0") or 0)
        first = programs.wait_until(publications, "the device is up", PACE_S)
        programs.wait_until(lambda: publications() >= first + 5, "five more snapshots", PACE_S)

    def created(self):
        """The created times of the tenant's counters; none if the device is late, as on a loaded machine."""
        def look():
            _, _, body = self.site.request("tenant-a", "/metrics", {"Accept": "application/openmetrics-text"})
            return [line for line in body.splitlines() if "_created{" in line]
        return programs.wait_until(look, "created times", PACE_S)

    def check_certificates(self):
        """A certificate that is valid for another half hour has expired while the wall clock is an hour ahead."""
        if self.shift_s > 0:
            with self.assertRaises((ssl.SSLError, ConnectionError, http.client.HTTPException)):
                self.site.get("short", "/metrics")
        else:
            self.assertEqual(self.site.get("short", "/metrics")[0], 200)

    def check_log(self, steps):
        """Exactly one line for each step."""
        lines = lambda: [line for line in self.site.daemon.log().splitlines() if "wall clock" in line]
        programs.wait_until(lambda: len(lines()) >= steps, "a line about each step", PACE_S)
        self.assertEqual(["ahead" in line for line in lines()], [True, False, False, True], lines())
        for line in lines():
            self.assertRegex(line, r"the wall clock was set (ahead|back) by (1h|59m59\.\d+s|1h0\.\d+s)\b")

    def check_audit(self):
        """Events after a step are in the audit log without additional delay."""
        size = os.path.getsize(self.site.path("audit.jsonl"))
        self.site.get("nobody", "/metrics")
        programs.wait_until(lambda: os.path.getsize(self.site.path("audit.jsonl")) > size, "an audit entry", PACE_S)

