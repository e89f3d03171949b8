# SPDX-License-Identifier: Apache-2.0
"""A tenant's client over gRPC: the answers of the calls, and the laws of the counters."""

import unittest

import exposition
import site_layout
import tenant_client

VM1 = site_layout.VM_UUIDS["vm1"]
SCOPE_CONTEXT, SCOPE_DEVICE = 1, 2


class TenantTestCase(unittest.TestCase):
    """One site for all tests of a class, which do not change it.

    With one snapshot an hour, all clients see the same one, and it does not get stale on a loaded machine.
    """

    interval = "1h"

    @classmethod
    def setUpClass(cls):
        cls.site = site_layout.Site(cls.interval)
        cls.addClassCleanup(cls.site.close)
        cls.prepare()
        cls.site.start()
        cls.pb = tenant_client.messages()
        cls.users = {user: tenant_client.Client(cls.site, user) for user in site_layout.USERS}
        for client in cls.users.values():
            cls.addClassCleanup(client.__exit__)

    @classmethod
    def prepare(cls):
        """Changes the files of the site before it starts."""

    def events(self, user, scope):
        answer = self.users[user].telemetry.ListEvents(self.pb.ListEventsRequest())
        self.assertEqual([device.device for device in answer.devices], ["gpu0"])
        return {event.name for event in answer.devices[0].events if event.scope == scope}


class CallsTest(TenantTestCase):
    interval = "100ms"

    def setUp(self):
        self.tenant = self.users["tenant-a"]

    def test_list_devices(self):
        device, = self.tenant.telemetry.ListDevices(self.pb.ListDevicesRequest()).devices
        self.assertEqual((device.name, device.uuid), ("gpu0", "5b0f6a2e-7c64-4d0c-9d7e-2f1a90c3e001"))
        self.assertEqual(device.interval.ToMilliseconds(), 100)
        self.assertEqual(device.boot_id, self.tenant.snapshot().boot_id)

    def test_list_events(self):
        self.assertIn("tensor_active_cycles", self.events("tenant-a", SCOPE_CONTEXT))
        self.assertEqual(len(self.events("tenant-a", SCOPE_CONTEXT)), 13)
        self.assertIn("resident_cycles", self.events("tenant-a", SCOPE_CONTEXT))
        self.assertEqual(self.events("tenant-a", SCOPE_DEVICE), set())

    def test_list_scopes(self):
        scopes = self.tenant.telemetry.ListScopes(self.pb.ListScopesRequest()).scopes
        self.assertEqual({(scope.device, scope.vm, scope.vm_uuid, scope.context, scope.slice, scope.confidential)
                          for scope in scopes},
                         {("gpu0", "vm1", VM1, "", 0, False), ("gpu0", "vm1", VM1, "train", 0, False),
                          ("gpu0", "vm1", VM1, "eval", 0, False)})

    def test_get_snapshot(self):
        snapshot = self.tenant.snapshot()
        self.assertEqual(snapshot.device, "gpu0")
        self.assertEqual([(row.scope.vm, row.scope.context) for row in snapshot.scopes],
                         [("vm1", ""), ("vm1", "train"), ("vm1", "eval")])
        self.assertEqual({event for event, _, _ in tenant_client.counters(snapshot)},
                         self.events("tenant-a", SCOPE_CONTEXT))
        self.assertTrue(all(list(row.flags) == [] for row in snapshot.scopes), "all counts are exact")

    def test_get_snapshot_of_some(self):
        for wanted in ({"vm": "vm1", "context": "eval"}, {"vm": VM1, "context": "eval"}):
            snapshot = self.tenant.snapshot(events=["dram_read_cycles"], device="gpu0", **wanted)
            self.assertEqual(list(tenant_client.counters(snapshot)), [("dram_read_cycles", "vm1", "eval")])

    def test_subscribe_once(self):
        answers = list(self.tenant.subscribe(mode=self.pb.SubscribeRequest.MODE_ONCE))
        self.assertEqual([answer.WhichOneof("response") for answer in answers], ["update", "sync_response"])
        self.assertEqual(len(answers[0].update.scopes), 3)
        self.assertTrue(answers[1].sync_response)

    def test_subscribe_stream(self):
        stream = self.tenant.stream()
        answers = [next(stream) for _ in range(4)]
        stream.cancel()
        self.assertEqual([answer.WhichOneof("response") for answer in answers],
                         ["update", "sync_response", "update", "update"])
        updates = [answer.update for answer in answers if answer.HasField("update")]
        for earlier, later in zip(updates, updates[1:]):
            self.assertGreater(later.reference_time_ns, earlier.reference_time_ns)
            self.check_not_falling(earlier, later)

    def test_subscribe_at_an_interval(self):
        stream = self.tenant.subscribe(mode="MODE_STREAM", sample_interval={"nanos": 300_000_000})
        updates = [answer for answer in (next(stream) for _ in range(10)) if answer.HasField("update")]
        stream.cancel()
        skipped = [update.skipped for update in updates[1:]]
        ids = [update.update.snapshot_id for update in updates]
        self.assertEqual(skipped, [after - before - 1 for before, after in zip(ids, ids[1:])])
        # On a busy machine the device itself may be read as seldom.
        self.assertGreater(sum(skipped), 0)

    def test_counts_never_fall(self):
        for user in ("operator", "tenant-a", "tenant-b"):
            first, second = self.users[user].snapshot(), self.users[user].snapshot()
            self.check_not_falling(first, second)

    def check_not_falling(self, earlier, later):
        before, after = tenant_client.counters(earlier), tenant_client.counters(later)
        self.assertEqual(before.keys(), after.keys())
        self.assertEqual([key for key in before if after[key] < before[key]], [])


class SumsTest(TenantTestCase):
    """At one instant, rows add up."""

    def test_a_vm_is_the_sum_of_its_contexts(self):
        for user, vm, contexts in (("tenant-a", "vm1", {"train", "eval"}), ("tenant-b", "vm2", {"serve"})):
            counts = tenant_client.counters(self.users[user].snapshot())
            events = self.events(user, SCOPE_CONTEXT)
            self.assertEqual(counts.keys(),
                             {(event, vm, context) for event in events for context in contexts | {None}})
            for event in events:
                self.assertEqual(counts[event, vm, None], sum(counts[event, vm, context] for context in contexts))
            self.assertGreater(counts["tensor_active_cycles", vm, None], 0)

    def test_events_of_the_device_are_withheld(self):
        shown = {event for event, _, _ in tenant_client.counters(self.users["operator"].snapshot())}
        scraped = {event for event, _, _ in exposition.counters(self.site.metrics("operator"))}
        for event in ("pcie_tx_cycles", "pcie_rx_cycles", "nvlink_tx_cycles", "nvlink_rx_cycles"):
            self.assertNotIn(event, shown | scraped)


class DeviceRowTest(TenantTestCase):
    """The operator's view of a device with a confidential VM."""

    interval = "100ms"

    def test_it_counts_what_the_shown_vms_count(self):
        """Otherwise a confidential VM's counts would be the difference."""
        updates = (answer.update for answer in self.users["operator"].stream() if answer.HasField("update"))
        first, last = next(updates), [next(updates) for _ in range(3)][-1]
        before, after = tenant_client.counters(first), tenant_client.counters(last)
        events = self.events("operator", SCOPE_CONTEXT)
        self.assertEqual(after.keys(), {(event, vm, None) for event in events for vm in (None, "vm1", "vm2")})
        counted = {key: after[key] - before[key] for key in after}
        for event in events:
            self.assertEqual(counted[event, None, None], counted[event, "vm1", None] + counted[event, "vm2", None])
            self.assertEqual(after[event, None, None], after[event, "vm1", None] + after[event, "vm2", None])
        self.assertGreater(sum(counted.values()), 0)

    def test_it_says_so(self):
        flags = {row.scope.vm: list(row.flags) for row in self.users["operator"].snapshot().scopes}
        self.assertEqual(flags, {"": ["confidential_excluded"], "vm1": [], "vm2": []})
        self.assertEqual(exposition.value(self.site.metrics("operator"), "sideband_device_flags", device="gpu0",
                                          flag="confidential_excluded"), 1)


class OpenDeviceTest(TenantTestCase):
    """The same device, but no VM is confidential: none has a key, and `seal` is granted on none."""

    @classmethod
    def prepare(cls):
        chip = cls.site.read("chip.yaml").decode()
        site_layout.write(cls.site.folder, "chip.yaml", chip.replace("confidential: true", "confidential: false"))
        policy = cls.site.read("policy.yaml").decode()
        site_layout.write(cls.site.folder, "policy.yaml", policy.replace(", rights: [seal]", ""))
        config = cls.site.read("sidebandd.yaml").decode()
        site_layout.write(cls.site.folder, "sidebandd.yaml", config[:config.index("sealing:")])

    def test_the_device_is_the_sum_of_all(self):
        counts = tenant_client.counters(self.users["operator"].snapshot())
        for event in self.events("operator", SCOPE_CONTEXT):
            vms = [counts[event, vm, None] for vm in site_layout.VM_UUIDS]
            self.assertEqual(counts[event, None, None], sum(vms))

    def test_events_of_the_device_are_shown_to_the_operator_only(self):
        events = self.events("operator", SCOPE_DEVICE)
        self.assertEqual(events, {"pcie_tx_cycles", "pcie_rx_cycles", "nvlink_tx_cycles", "nvlink_rx_cycles"})
        counts = tenant_client.counters(self.users["operator"].snapshot())
        for event in events:
            self.assertIn((event, None, None), counts)
            self.assertNotIn((event, "vm1", None), counts)
        self.assertFalse(events & self.events("tenant-a", SCOPE_DEVICE))


class AgreementTest(TenantTestCase):
    """All callers get the same values for the same snapshot."""

    def test_http_and_grpc_say_the_same(self):
        for user in ("operator", "tenant-a", "tenant-b"):
            scraped = exposition.counters(self.site.metrics(user))
            self.assertEqual(scraped, tenant_client.counters(self.users[user].snapshot()))
            self.assertTrue(scraped)

    def test_operator_and_tenant_see_the_same_vm(self):
        operator = tenant_client.counters(self.users["operator"].snapshot())
        tenant = tenant_client.counters(self.users["tenant-a"].snapshot())
        shared = operator.keys() & tenant.keys()
        self.assertEqual({(vm, context) for _, vm, context in shared}, {("vm1", None)})
        self.assertEqual([key for key in shared if operator[key] != tenant[key]], [])

    def test_the_same_scrape_twice(self):
        first, second = (exposition.counters(self.site.metrics("tenant-b")) for _ in range(2))
        self.assertEqual(first, second)
