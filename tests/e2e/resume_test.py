# SPDX-License-Identifier: Apache-2.0
"""Streams that are cut and resumed, by a tenant's own client of a real daemon and device."""

import json
import signal
import threading
import unittest

import grpc

import programs
import site_layout
import tenant_client


def rows(update):
    """{(VM, context, event): count} of an update."""
    return {(row.scope.vm, row.scope.context, counter.event): counter.count
            for row in update.scopes for counter in row.counters}


class Reader:
    """A stream whose messages a thread reads until close()."""

    def __init__(self, client, **wanted):
        self.messages = []
        self.stream = client.subscribe(timeout=None, **wanted)
        self.thread = threading.Thread(target=self._read)
        self.thread.start()

    def _read(self):
        try:
            for message in self.stream:
                self.messages.append(message)
        except grpc.RpcError:
            pass

    def updates(self):
        """{snapshot id: rows} so far."""
        return {message.update.snapshot_id: rows(message.update) for message in list(self.messages)
                if message.HasField("update")}

    def close(self):
        self.stream.cancel()
        self.thread.join()


class ResumeTest(unittest.TestCase):
    def setUp(self):
        self.site = site_layout.Site()
        self.addCleanup(self.site.close)
        self.site.start()
        self.pb = tenant_client.messages()
        self.wanted = {"mode": self.pb.SubscribeRequest.MODE_STREAM}
        self.changes = dict(self.wanted, stream_mode=self.pb.SubscribeRequest.STREAM_MODE_ON_CHANGE)

    def client(self, user="tenant-a"):
        client = tenant_client.Client(self.site, user)
        self.addCleanup(client.__exit__)
        return client

    def cut(self, updates=3, user="tenant-a", wanted=None):
        """The messages of a stream up to so many updates; its connection is then closed."""
        client = tenant_client.Client(self.site, user)
        messages, seen = [], 0
        for message in client.subscribe(**(wanted or self.wanted)):
            messages.append(message)
            seen += message.HasField("update") or message.HasField("change")
            if seen == updates:
                break
        client.channel.close()
        return messages

    def resume(self, token, user="tenant-a", wanted=None):
        """The messages of the resumed stream up to its sync_response."""
        stream = self.client(user).subscribe(resume_token=token, **(wanted or self.wanted))
        messages = []
        for message in stream:
            messages.append(message)
            if message.sync_response:
                stream.cancel()
                return messages
        raise AssertionError("no sync_response")

    def await_snapshots(self, count):
        newest = self.client().snapshot().snapshot_id
        programs.wait_until(lambda: self.client().snapshot().snapshot_id >= newest + count, "more snapshots")

    def test_a_cut_stream_has_what_an_uncut_one_has(self):
        uncut = Reader(self.client(), **self.wanted)
        self.addCleanup(uncut.close)
        cut = self.cut()
        for _ in range(3):
            self.await_snapshots(5)
            resumed = self.resume(cut[-1].resume_token)
            self.assertEqual([one.resumed.device for one in resumed if one.HasField("resumed")], ["gpu0"])
            self.assertFalse(any(one.HasField("gap") for one in resumed))
            self.assertTrue(any(one.replayed for one in resumed))
            self.assertEqual([one.sequence for one in resumed], list(range(1, len(resumed) + 1)))
            cut += resumed
        had = [one.update for one in cut if one.HasField("update")]
        ids = [update.snapshot_id for update in had]
        self.assertEqual(ids, list(range(ids[0], ids[-1] + 1)), "each snapshot once, in order")
        programs.wait_until(lambda: ids[-1] in uncut.updates(), "the uncut stream")
        whole = uncut.updates()
        # A loaded machine may have made the uncut reader skip some.
        common = [update for update in had if update.snapshot_id in whole]
        self.assertGreater(len(common), 15)
        for update in common:
            self.assertEqual(rows(update), whole[update.snapshot_id], update.snapshot_id)
        for before, after in zip(had, had[1:]):
            for key, count in rows(before).items():
                self.assertLessEqual(count, rows(after).get(key, count), key)

    def gap(self, messages):
        gaps = [one.gap for one in messages if one.HasField("gap")]
        self.assertEqual(len(gaps), 1, messages)
        self.assertEqual(messages[0].gap, gaps[0], "it comes first")
        self.assertTrue(any(one.HasField("update") and not one.replayed for one in messages), "then the whole state")
        return gaps[0]

    def test_anothers_token_is_like_garbage(self):
        foreign = self.cut(user="tenant-b")[-1].resume_token
        for token in (foreign, b"garbage", foreign[:-1]):
            gap = self.gap(self.resume(token))
            self.assertEqual((gap.reason, gap.device), (self.pb.Gap.REASON_UNKNOWN_TOKEN, ""))
            self.assertFalse(gap.HasField("from"))

    def test_a_restart_of_the_daemon_is_a_gap(self):
        token = self.cut()[-1].resume_token
        self.assertEqual(self.site.daemon.stop(), 0)
        self.site.start_daemon()
        self.site.wait_ready()
        gap = self.gap(self.resume(token))
        self.assertEqual(gap.reason, self.pb.Gap.REASON_UNKNOWN_TOKEN)

    def test_a_restart_of_the_device_is_a_gap(self):
        cut = self.cut()
        boot = self.client().snapshot().boot_id
        self.assertEqual(self.site.device.stop(), 0)
        self.site.start_device()

        def restarted():
            return self.client().snapshot().boot_id != boot
        programs.wait_until(restarted, "the device's new boot")
        gap = self.gap(self.resume(cut[-1].resume_token))
        self.assertEqual((gap.reason, gap.device), (self.pb.Gap.REASON_REBOOTED, "gpu0"))
        self.assertTrue(gap.HasField("from"))

    def test_heartbeats_come_without_changes(self):
        stream = self.client().subscribe(heartbeat_interval={"seconds": 1}, **self.changes)
        kinds = []
        for message in stream:
            # Scopes change their states meanwhile.
            if message.heartbeat or not kinds or kinds == ["change"]:
                kinds.append("sync" if message.sync_response else "change")
            if len(kinds) == 6:
                break
        stream.cancel()
        self.assertEqual(kinds, ["change", "sync"] * 3)

    def test_changes_are_sent_and_resumed(self):
        state = self.cut(updates=1, wanted=self.changes)
        scopes = {(item.scope.scope.vm, item.scope.scope.context) for item in state[0].change.items
                  if item.HasField("scope")}
        self.assertIn(("vm1", ""), scopes)
        self.assertTrue(all(vm == "vm1" for vm, _ in scopes), scopes)
        resumed = self.resume(state[-1].resume_token, wanted=self.changes)
        self.assertIn(resumed[0].WhichOneof("response"), ("resumed", "gap"))
        stream = self.client().subscribe(timeout=2 * programs.PATIENCE_S, **self.changes)
        self.site.device.signal(signal.SIGSTOP)
        stale = self.pb.Device.STATE_STALE
        self.assertTrue(any(item.HasField("device") and item.device.state == stale
                            for message in stream for item in message.change.items))
        stream.cancel()
        after = self.resume(resumed[-1].resume_token, wanted=self.changes)
        self.assertEqual(after[0].gap.reason, self.pb.Gap.REASON_STATE_CHANGED)
        self.assertEqual([item.device.state for item in after[1].change.items if item.HasField("device")], [stale])

    def test_watch_prints_changes(self):
        watch = programs.Program("sideband", "--address", "127.0.0.1:%d" % self.site.grpc_port, "--ca-file", "ca.pem",
                                 "--cert-file", "tenant-a.pem", "--key-file", "tenant-a.key", "watch", "--on-change",
                                 cwd=self.site.folder)
        self.addCleanup(watch.kill)
        programs.wait_until(lambda: " gpu0 is fresh, boot " in watch.log(), "the state\n" + watch.log())
        self.assertNotIn("vm2", watch.log())
        self.site.device.signal(signal.SIGSTOP)
        programs.wait_until(lambda: " gpu0 is stale" in watch.log(), "the change\n" + watch.log())
        self.site.device.signal(signal.SIGCONT)
        programs.wait_until(lambda: watch.log().count(" gpu0 is fresh, boot ") == 2, "its return\n" + watch.log())
        self.assertEqual(watch.stop(), 0)

    def test_watch_misses_nothing_while_there_are_heartbeats(self):
        watch = programs.Program("sideband", "--address", "127.0.0.1:%d" % self.site.grpc_port, "--ca-file", "ca.pem",
                                 "--cert-file", "tenant-a.pem", "--key-file", "tenant-a.key", "watch", "--format", "json",
                                 cwd=self.site.folder)
        self.addCleanup(watch.kill)

        def printed():
            return [json.loads(line) for line in watch.log().splitlines()[:-1] if line.startswith("{")]

        def has_had_heartbeats():
            times = [int(message["update"]["reference_time_ns"]) for message in printed()]
            return times and times[-1] - times[0] > 11_000_000_000  # there is one every 10 s
        programs.wait_until(has_had_heartbeats, "the time of a heartbeat", 4 * programs.PATIENCE_S)
        self.assertEqual(watch.stop(), 0)
        messages = printed()
        for before, after in zip(messages, messages[1:]):
            step = after["update"]["snapshot_id"] - before["update"]["snapshot_id"]
            self.assertEqual(step, 1 + int(after["skipped"]), after)
