# SPDX-License-Identifier: Apache-2.0
"""The Python package against the real daemon: each caller's own, exact counts, streams over restarts, tokens."""

import asyncio
import datetime
import json
import os
import shutil
import signal
import time
import unittest

import programs
import python_site
import site_layout
import stopped_reader
import tcp_proxy
import tenant_client
import tokens

sideband = tenant_client.sideband
QUICK = sideband.Backoff(first_s=0.1, last_s=0.5)
# An older daemon does not say what was missed; a newer one does.
GAP_OF_A_NEW_DAEMON = (sideband.GapReason.NO_RESUMPTION, sideband.GapReason.UNKNOWN_TOKEN)


def updates_of(stream):
    return (item for item in stream if isinstance(item, sideband.Update))


class ReadingTest(unittest.TestCase):
    """One site for tests that do not change it."""

    @classmethod
    def setUpClass(cls):
        cls.site = python_site.PythonSite(board=True)
        cls.addClassCleanup(cls.site.close)
        cls.site.start()
        cls.clients = {user: cls.site.client(user) for user in site_layout.USERS}
        for client in cls.clients.values():
            cls.addClassCleanup(client.close)
        cls.tenant, cls.operator = cls.clients["tenant-a"], cls.clients["operator"]

    def test_everybody_sees_their_own(self):
        scopes = {user: {str(scope) for scope in self.clients[user].scopes()} for user in ("tenant-a", "tenant-b", "operator")}
        self.assertEqual(scopes["tenant-a"], {"gpu0/vm1", "gpu0/vm1/train", "gpu0/vm1/eval"})
        self.assertEqual(scopes["tenant-b"], {"gpu0/vm2", "gpu0/vm2/serve"})
        self.assertLessEqual({"gpu0", "gpu0/vm1", "gpu0/vm2", "gpu0/vm3"}, scopes["operator"])

    def test_devices_are_those_of_the_command_line(self):
        listed = json.loads(self.site.sideband("operator", "devices", "--format", "json").stdout)["devices"]
        self.assertEqual([(device["name"], device["uuid"], device["boot_id"]) for device in listed],
                         [(device.name, device.uuid, "%016x" % device.boot_id if device.boot_id else "0" * 16)
                          for device in self.operator.devices()])

    def test_counts_are_those_of_bare_messages(self):
        def pair():
            with tenant_client.Client(self.site, "tenant-a") as bare:
                message, (snapshot,) = bare.snapshot(), self.tenant.get()
            return message.snapshot_id == snapshot.snapshot_id and (message, snapshot)
        message, snapshot = programs.wait_until(pair, "both read the same snapshot")
        counts = {(event, row.scope.vm or None, row.scope.context or None): row[event] for row in snapshot.rows for event in row}
        self.assertEqual(counts, tenant_client.counters(message))
        self.assertEqual(snapshot.host_time_ns, message.host_time.ToNanoseconds())

    def test_a_snapshot_adds_up(self):
        snapshot, = self.tenant.get()
        self.assertEqual([row.flags for row in snapshot.rows], [(), (), ()])
        for event in snapshot.row("vm1"):
            contexts = (snapshot.row("vm1", context)[event] for context in ("train", "eval"))
            self.assertEqual(snapshot.row("vm1")[event], sum(contexts), event)
        self.assertEqual(snapshot.row(site_layout.VM_UUIDS["vm1"]), snapshot.row("vm1"))

    def test_rates_are_the_daemons(self):
        with self.tenant.watch(vm="vm1", context="train") as stream:
            updates = updates_of(stream)
            before, after = next(updates), next(updates)
            while after.snapshot.elapsed_ns != after.snapshot.reference_time_ns - before.snapshot.reference_time_ns:
                before, after = after, next(updates)
        row, = sideband.rates(before, after)
        for event, rate in row.per_second.items():
            daemons = after.snapshot.row("vm1", "train").counters[event].rate_per_second
            self.assertAlmostEqual(rate, daemons, delta=1 + 1e-9 * daemons)

    def test_a_stream_at_an_interval(self):
        with self.tenant.watch(interval=datetime.timedelta(milliseconds=500)) as stream:
            items = [item for _, item in zip(range(4), stream)]
        self.assertTrue(all(isinstance(item, sideband.Update) for item in items), items)
        times = [item.snapshot.reference_time_ns for item in items]
        self.assertEqual(times, sorted(set(times)))

    def test_peek(self):
        before, = self.tenant.get(vm="vm1")
        row = self.tenant.peek(["sm_active_cycles"], device="gpu0", vm="vm1")
        self.assertGreaterEqual(row["sm_active_cycles"], before.row("vm1")["sm_active_cycles"])
        self.assertEqual(list(row), ["sm_active_cycles"])

    def test_marks_and_spans_add_up(self):
        first, second, third = (self.tenant.mark("vm1", context="eval", label=label) for label in ("a", "b", "c"))
        whole, one, two = (self.tenant.span(*pair) for pair in ((first, third), (first, second), (second, third)))
        self.assertGreater(whole.duration_ns, 0)
        self.assertEqual({event: whole[event] for event in whole}, {event: one[event] + two[event] for event in whole})
        self.assertEqual([mark.label for mark in self.tenant.marks(vm="vm1", context="eval")][-3:], ["a", "b", "c"])
        with self.assertRaises(sideband.NotFound):
            self.clients["tenant-b"].span(first, third)

    def test_history_has_the_snapshots(self):
        snapshot, = self.tenant.get(vm="vm1")

        def series():
            found = self.tenant.history(vm="vm1", since=datetime.timedelta(minutes=5)).series[0]
            return snapshot.snapshot_id in found.snapshot_id and found
        found = programs.wait_until(series, "the snapshot in the history")
        at = found.snapshot_id.index(snapshot.snapshot_id)
        self.assertEqual({event: found.counts(event)[at] for event in found.columns},
                         {event: snapshot.row("vm1")[event] for event in snapshot.row("vm1")})
        self.assertEqual(found.host_time_ns[at], snapshot.host_time_ns)
        self.assertEqual(list(found.counts("sm_active_cycles")), sorted(found.counts("sm_active_cycles")))

    def test_sensors(self):
        sensors = programs.wait_until(lambda: self.operator.sensors("gpu1"), "sensors")
        names = {sensor.name for sensor in sensors}
        self.assertIn("sideband_temperature_celsius", names)
        self.assertTrue(all(sensor.age_ns is not None for sensor in sensors))
        described = {(one.name, one.labels) for one in self.operator.sensor_descriptions("gpu1")}
        self.assertLessEqual({(one.name, one.labels) for one in sensors}, described)
        with self.assertRaises(sideband.NotFound):
            self.tenant.sensors("gpu1")

    def test_board_events(self):
        event, = programs.wait_until(lambda: list(self.operator.board_events("gpu1")), "the Xid")
        self.assertEqual((event.device, event.xid, event.text), ("gpu1", 63, "Row remapping pending"))

    def test_what_is_denied(self):
        for vm in ("vm2", "vm9"):
            with self.assertRaises(sideband.NotFound) as raised:
                self.tenant.get(vm=vm)
            self.assertEqual(raised.exception.message,
                             "no such device, VM, context or event: VM '%s' (did you mean 'vm1'?)" % vm)
            self.assertRegex(raised.exception.request_id, "^[0-9a-f]{16}$")
        with self.assertRaises(sideband.Unauthenticated) as raised:
            self.clients["nobody"].devices()
        self.assertIsNone(raised.exception.request_id)
        with self.assertRaises(sideband.Unauthenticated):
            next(self.clients["nobody"].watch())

    def test_limits_of_the_api(self):
        with self.assertRaises(sideband.InvalidArgument):
            next(self.tenant.watch(interval=0.001))

    def test_a_server_of_another_authority(self):
        with self.assertRaises(sideband.Unavailable):
            self.site.client("tenant-a", ca_file=self.site.path("tenant-a.pem")).devices()

    def test_asyncio(self):
        async def read():
            async with sideband.aio.Client(self.site.path("tenant-a.yaml")) as client:
                snapshots, scopes = await asyncio.gather(client.get(vm="vm1"), client.scopes())
                async with client.watch(vm="vm1") as stream:
                    async for item in stream:
                        return snapshots[0], scopes, item
        snapshot, scopes, update = asyncio.run(read())
        self.assertEqual(len(scopes), 3)
        self.assertGreaterEqual(update.snapshot.row("vm1")["sm_active_cycles"], snapshot.row("vm1")["sm_active_cycles"])


class RestartTest(unittest.TestCase):
    def setUp(self):
        self.site = python_site.PythonSite("100ms")
        self.addCleanup(self.site.close)
        self.site.start()
        self.client = self.site.client("tenant-a", backoff=QUICK)
        self.addCleanup(self.client.close)

    def test_a_stream_over_a_restart_of_the_daemon(self):
        self.site.keep_port()
        with self.client.watch(vm="vm1") as stream:
            before = next(updates_of(stream))
            self.assertEqual(self.site.daemon.stop(), 0)
            self.site.start_daemon()
            items = []
            while not items or not isinstance(items[-1], sideband.Update) or not any(
                    isinstance(item, sideband.Gap) for item in items):
                items.append(next(stream))
        gap = next(item for item in items if isinstance(item, sideband.Gap))
        self.assertIn(gap.reason, GAP_OF_A_NEW_DAEMON)
        self.assertFalse([item for item in items if isinstance(item, sideband.Inconsistent)], items)
        after = items[-1]
        self.assertEqual(after.snapshot.boot_id, before.snapshot.boot_id)
        row = next(sideband.rates(before, after))
        self.assertTrue(all(count >= 0 for count in row.counts.values()))

    def test_a_stream_over_a_restart_of_the_device(self):
        with self.client.watch(vm="vm1") as stream:
            updates = updates_of(stream)
            before = next(updates)
            self.assertEqual(self.site.device.stop(), 0)
            self.site.start_device()
            after = next(update for update in updates if update.snapshot.boot_id != before.snapshot.boot_id)
        self.assertEqual(list(sideband.rates(before, after)), [])
        later = programs.wait_until(lambda: self.rates_since(after), "rates of the new boot")
        self.assertTrue(all(count >= 0 for row in later for count in row.counts.values()))

    def rates_since(self, update):
        return list(sideband.rates(update, self.client.get(vm="vm1")))

    def test_a_daemon_that_hangs(self):
        """It is stopped: its connections stay open, and nothing comes."""
        with self.client.watch(vm="vm1", heartbeat=1) as stream:
            before = next(updates_of(stream))
            self.site.daemon.signal(signal.SIGSTOP)
            self.addCleanup(self.site.daemon.signal, signal.SIGCONT)
            with self.assertRaises(sideband.DeadlineExceeded):
                self.site.client("tenant-a", timeout=0.5).devices()
            self.site.daemon.signal(signal.SIGCONT)
            after = next(update for update in updates_of(stream)
                         if update.snapshot.reference_time_ns > before.snapshot.reference_time_ns)
        self.assertGreaterEqual(after.snapshot.row("vm1")["resident_cycles"], before.snapshot.row("vm1")["resident_cycles"])


class StreamTest(unittest.TestCase):
    """What the daemon tells of a stream's continuation, and of state. An older daemon knows of neither."""

    @classmethod
    def setUpClass(cls):
        cls.site = python_site.PythonSite("100ms", board=True)
        cls.addClassCleanup(cls.site.close)
        cls.site.start()
        cls.tenant, cls.operator = (cls.site.client(user) for user in ("tenant-a", "operator"))
        for client in (cls.tenant, cls.operator):
            cls.addClassCleanup(client.close)

    def cut(self, client, **wanted):
        """The newest update of a stream that has ended, and its token."""
        with client.watch(**wanted) as stream:
            update = [item for _, item in zip(range(3), updates_of(stream))][-1]
            self.assertTrue(stream.resume_token)
            return update.snapshot, stream.resume_token

    def await_snapshots(self, last, count):
        programs.wait_until(lambda: self.tenant.get()[0].snapshot_id >= last.snapshot_id + count, "more snapshots")

    def test_a_stream_goes_on_where_it_was(self):
        last, token = self.cut(self.tenant, vm="vm1")
        self.await_snapshots(last, 5)
        items = []
        with self.tenant.watch(vm="vm1", resume_token=token) as stream:
            while not items or items[-1].replayed:
                items.append(next(stream))
                self.assertIsInstance(items[-1], sideband.Update)
        ids = [item.snapshot.snapshot_id for item in items]
        self.assertEqual(ids, list(range(last.snapshot_id + 1, last.snapshot_id + 1 + len(ids))))
        self.assertGreaterEqual(len(ids), 5)
        for before, after in zip([last] + items, items):
            row, *_ = sideband.rates(before, after)
            self.assertEqual(set(row.counts), set(after.snapshot.row("vm1")))

    def read_through(self, disturb):
        """The items of a stream through a proxy that is disturbed twice, until each loss was made good."""
        self.cut(self.tenant)
        with tcp_proxy.Proxy(self.site.grpc_port) as proxy:
            with self.site.client("tenant-a", address="localhost:%d" % proxy.port, backoff=QUICK) as client:
                with client.watch(vm="vm1", heartbeat=1) as stream:
                    items = [next(stream) for _ in range(3)]
                    for _ in range(2):
                        disturb(proxy)
                        self.await_snapshots(items[-1].snapshot, 5)
                        while not items[-1].replayed:
                            items.append(next(stream))
                        while items[-1].replayed:
                            items.append(next(stream))
        return items

    def check_complete(self, items):
        """Each snapshot once, in order; heartbeats repeat the newest."""
        self.assertEqual({type(item) for item in items}, {sideband.Update})
        ids = [item.snapshot.snapshot_id for item in items if not item.heartbeat]
        self.assertEqual(ids, list(range(ids[0], ids[0] + len(ids))))

    def test_connections_that_are_cut(self):
        self.check_complete(self.read_through(lambda proxy: proxy.cut()))

    def test_connections_that_fall_silent(self):
        """The client gives them up after two heartbeats, and opens others."""
        self.check_complete(self.read_through(lambda proxy: proxy.hold()))

    def test_a_reader_that_is_stopped(self):
        """It has nothing to lose but rates, and costs the others nothing."""
        with stopped_reader.Reader(self.site.path("tenant-a.yaml"), vm="vm1", event="resident_cycles",
                                   output=self.site.path("read.jsonl")) as reader:
            programs.wait_until(lambda: len(reader.lines()) > 3, "the first updates")
            with self.tenant.watch(vm="vm1") as stream:
                others = updates_of(stream)
                calm = [next(others) for _ in range(20)]
                reader.process.send_signal(signal.SIGSTOP)
                seen = [next(others) for _ in range(60)]
                # On a busy machine one or the other comes too late, also beside a reader that reads.
                calmly, now = (sum(one.skipped for one in updates) / len(updates) for updates in (calm, seen))
                self.assertLess(now, 1 / 4 + 2 * calmly)
            reader.process.send_signal(signal.SIGCONT)
            last = seen[-1].snapshot
            programs.wait_until(lambda: reader.lines()[-1][0] > last.snapshot_id, "the reader to catch up")
            lines = reader.lines()
        first = lines[0][0]
        self.assertEqual([line[0] for line in lines], list(range(first, first + len(lines))), "each once, in order")
        read = dict(lines)
        for update in seen:
            self.assertEqual(read[update.snapshot.snapshot_id], update.snapshot.row("vm1")["resident_cycles"])

    def test_the_token_of_another(self):
        with self.site.client("tenant-b") as other:
            _, token = self.cut(other)
        with self.tenant.watch(resume_token=token) as stream:
            gap, update = next(stream), next(stream)
        self.assertEqual((gap.device, gap.reason, gap.from_ns), ("", "unknown_token", None))
        self.assertIsInstance(update, sideband.Update)

    def test_heartbeats(self):
        self.cut(self.tenant)
        with self.tenant.watch(interval=3600, heartbeat=1) as stream:
            self.assertEqual([item.heartbeat for _, item in zip(range(3), updates_of(stream))], [False, True, True])

    def test_sensors(self):
        self.cut(self.tenant)
        with self.operator.watch(device="gpu1", sensors=True) as stream:
            update = next(item for item in stream if isinstance(item, sideband.SensorsUpdate))
        self.assertEqual(update.device, "gpu1")
        self.assertIn("sideband_temperature_celsius", {sensor.name for sensor in update.sensors})

    def test_changes(self):
        self.cut(self.tenant)
        with self.tenant.watch_state(vm="vm1") as stream:
            found = []
            while not found or not isinstance(found[-1], sideband.Synced):
                found.append(next(stream))
            scopes = {str(change.item.scope) for change in found[:-1] if isinstance(change.item, sideband.ScopeState)}
            self.assertEqual(scopes, {"gpu0/vm1", "gpu0/vm1/train", "gpu0/vm1/eval"})
            mark = self.tenant.mark("vm1", context="train", label="watched")
            change = next(item for item in stream if isinstance(item, sideband.Change) and
                          isinstance(item.item, sideband.Mark) and item.item.mark_id == mark.mark_id)
            self.assertEqual((change.item.label, change.gone), ("watched", False))
            token = stream.resume_token
        with self.tenant.watch_state(vm="vm1", resume_token=token, heartbeat=1) as stream:
            items = [next(stream) for _ in range(2)]
        self.assertTrue({type(item) for item in items} <= {sideband.Change, sideband.Gap, sideband.Synced}, items)


class LocalTest(unittest.TestCase):
    """The daemon's Unix socket needs no certificate."""

    def test_a_local_operator(self):
        site = python_site.PythonSite()
        self.addCleanup(site.close)
        site.replace("sidebandd.yaml", "grpc:\n", "grpc:\n  unix_socket: grpc.sock\n")
        site.start()
        with sideband.Client(sideband.Config(), address="unix:" + site.path("grpc.sock")) as client:
            self.assertEqual([device.name for device in client.devices()], ["gpu0"])
            with client.watch() as stream:
                self.assertIn("gpu0", {str(row.scope) for row in next(updates_of(stream)).snapshot.rows})


class TokenTest(unittest.TestCase):
    """A token is replaced before it expires, as Kubernetes does."""

    def setUp(self):
        self.site = python_site.PythonSite()
        self.addCleanup(self.site.close)
        self.issuer = tokens.Issuer("k1")
        self.site.replace("sidebandd.yaml", "client_ca_file: ca.pem}",
                          "client_ca_file: ca.pem, client_auth_type: VerifyClientCertIfGiven}")
        config = self.site.read("sidebandd.yaml").decode()
        self.site.write("sidebandd.yaml", config + "tokens: {jwks_file: jwks.json, audience: %s}\n" % tokens.AUDIENCE)
        self.site.write("jwks.json", tokens.jwks(self.issuer))
        subject = "system:serviceaccount:render:worker"
        self.site.replace("policy.yaml", '["%stenant-a"]' % site_layout.TRUST,
                          '["%stenant-a", "jwt:%s"]' % (site_layout.TRUST, subject))
        self.subject = subject
        self.site.start()

    def write_token(self, lifetime_s):
        self.site.write("new-token", self.issuer.token(self.subject, lifetime_s))
        os.rename(self.site.path("new-token"), self.site.path("token"))

    def test_a_stream_outlives_its_first_token(self):
        config = sideband.Config(address="localhost:%d" % self.site.grpc_port, ca_file=self.site.path("ca.pem"),
                                 token_file=self.site.path("token"))
        expires_s = time.time() + 10
        self.write_token(lifetime_s=10)
        with sideband.Client(config, backoff=sideband.Backoff(first_s=0.1)) as client:
            self.assertEqual(len(client.scopes()), 3)
            with client.watch(vm="vm1") as stream:
                first = next(updates_of(stream))
                self.write_token(lifetime_s=600)
                # The stream ends within a second after its token, and goes on with the next one.
                last = next(update for update in updates_of(stream) if time.time() > expires_s + 3)
        self.assertEqual(last.snapshot.boot_id, first.snapshot.boot_id)

    def test_without_a_valid_token(self):
        self.write_token(lifetime_s=-60)
        with self.assertRaises(sideband.Unauthenticated):
            self.site.client("nobody", token_file=self.site.path("token")).devices()


class CertificateTest(unittest.TestCase):
    """A certificate is replaced before it expires, as cert-manager does."""

    def setUp(self):
        self.site = python_site.PythonSite()
        self.addCleanup(self.site.close)
        self.site.start()

    def issue(self, lifetime_s):
        # Authorities of tests issue certificates of an hour ago.
        valid = datetime.timedelta(hours=1, seconds=lifetime_s)
        self.site.authority.issue("tenant-a", uri=site_layout.TRUST + "tenant-a", valid=valid)

    def test_a_stream_outlives_its_first_certificate(self):
        expires_s = time.time() + 10
        self.issue(lifetime_s=10)
        for kind in (".pem", ".key"):
            shutil.copy(self.site.path("tenant-a" + kind), self.site.path("kept" + kind))
        kept = {"cert_file": self.site.path("kept.pem"), "key_file": self.site.path("kept.key")}
        with self.site.client("tenant-a", backoff=QUICK) as client, self.site.client("tenant-a", **kept) as former:
            with client.watch(vm="vm1") as stream, former.watch(vm="vm1") as ending:
                first, _ = next(updates_of(stream)), next(updates_of(ending))
                self.issue(lifetime_s=600)
                with self.assertRaisesRegex(sideband.Unauthenticated, "certificate"):
                    for _ in ending:
                        pass
                last = next(update for update in updates_of(stream) if time.time() > expires_s + 3)
        self.assertEqual(last.snapshot.boot_id, first.snapshot.boot_id)


if __name__ == "__main__":
    unittest.main()
