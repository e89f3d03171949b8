# SPDX-License-Identifier: Apache-2.0
"""Isolation: not a byte of one tenant's data in another's answers, over HTTP or gRPC, for any request."""

import http.client
import ssl
import uuid

import grpc

import exposition
import programs
import site_layout
import tenant_client
import tenant_test

# Texts that must not be in the answers to each user. The operator may know that VMs exist, but no contexts.
CONTEXTS = {"vm1": ("train", "eval"), "vm2": ("serve",), "vm3": ("finetune", "embed")}
FOREIGN_VMS = {"tenant-a": ("vm2", "vm3"), "tenant-b": ("vm1",), "nobody": ("vm1", "vm2", "vm3")}


def traces(vm):
    """All texts that would reveal a VM."""
    text = site_layout.VM_UUIDS[vm]
    words = [vm, text, text.upper(), text.replace("-", ""), *('"%s"' % context for context in CONTEXTS[vm])]
    return [word.encode() for word in words] + [uuid.UUID(text).bytes, uuid.UUID(text).bytes_le]


class AnswersTest(tenant_test.TenantTestCase):
    def check(self, user, answer, what):
        for vm in FOREIGN_VMS[user]:
            for trace in traces(vm):
                self.assertNotIn(trace, answer, "%s in %s of %s" % (trace, what, user))

    def test_http(self):
        for user in FOREIGN_VMS:
            for path in ("/metrics", "/", "/-/ready", "/-/healthy", "/metrics?vm=1", "/absent"):
                status, body = self.site.get(user, path)
                self.check(user, body.encode(), path)
                self.assertEqual(status == 403, user == "nobody" and path[:2] in ("/", "/m"), (user, path))

    def test_grpc(self):
        for user in ("tenant-a", "tenant-b"):
            stub = self.users[user].telemetry
            answers = {
                "ListDevices": stub.ListDevices(self.pb.ListDevicesRequest()),
                "ListEvents": stub.ListEvents(self.pb.ListEventsRequest()),
                "ListScopes": stub.ListScopes(self.pb.ListScopesRequest()),
                "GetSnapshot": stub.GetSnapshot(self.pb.GetSnapshotRequest()),
            }
            for number, answer in enumerate(self.users[user].subscribe(mode=self.pb.SubscribeRequest.MODE_ONCE)):
                answer.ClearField("resume_token")  # random bytes may be any word
                answers["Subscribe %d" % number] = answer
            for call, answer in answers.items():
                self.assertGreater(answer.ByteSize(), 0)
                self.check(user, answer.SerializeToString(), call)

    def test_vms_in_scrapes(self):
        self.assertEqual(exposition.vms(self.site.metrics("tenant-a")), {"vm1"})
        self.assertEqual(exposition.vms(self.site.metrics("tenant-b")), {"vm2", "vm3"})
        self.assertEqual(exposition.vms(self.site.metrics("operator")), {"vm1", "vm2", "vm3"})

    def test_confidential_vm_has_no_counters(self):
        for user in ("operator", "tenant-b"):
            series = self.site.metrics(user)
            named = {name for name, labels in series if ("vm", "vm3") in labels}
            self.assertEqual(named, {"sideband_vm_info"}, user)
            self.assertNotIn("vm3", {vm for _, vm, _ in tenant_client.counters(self.users[user].snapshot())})

    def test_operator_sees_no_contexts(self):
        series = self.site.metrics("operator")
        self.assertFalse([labels for _, labels in series if "context" in dict(labels)])
        scopes = self.users["operator"].telemetry.ListScopes(self.pb.ListScopesRequest()).scopes
        self.assertEqual({(scope.vm, scope.context) for scope in scopes},
                         {("", ""), ("vm1", ""), ("vm2", ""), ("vm3", "")})

    def test_tenants_do_not_see_the_daemon(self):
        own = {name for name, _ in self.site.metrics("operator")} - {name for name, _ in self.site.metrics("tenant-a")}
        self.assertIn("sideband_grpc_requests_total", own)
        self.assertIn("process_resident_memory_bytes", own)


class DeniedIsAbsentTest(tenant_test.TenantTestCase):
    """Denied resources are answered as nonexistent ones: same code, same message."""

    NAMES = ("vm2", "vm3", site_layout.VM_UUIDS["vm2"], site_layout.VM_UUIDS["vm3"], "vm0",  # denied
             "vm9", "5b0f6a2e-7c64-4d0c-9d7e-2f1a90c3e109")  # absent

    def refusals(self, calls):
        answers = {tenant_client.refusal(call) for call in calls}
        self.assertEqual(len(answers), 1, answers)
        (code, message), = answers
        self.assertEqual(code, grpc.StatusCode.NOT_FOUND)
        return message

    def test_same_for_every_call_and_name(self):
        client = self.users["tenant-a"]
        calls = []
        for name in self.NAMES:
            calls.append(lambda name=name: client.snapshot(vm=name))
            calls.append(lambda name=name: client.subscribe(mode="MODE_ONCE", filter={"vm": name}))
            calls.append(lambda name=name: client.subscribe(mode="MODE_STREAM", filter={"vm": name}))
            calls.append(lambda name=name: client.sealed(name))
        calls.append(lambda: client.snapshot(context="serve"))
        calls.append(lambda: client.snapshot(vm="vm1", context="serve"))
        calls.append(lambda: client.snapshot(events=["pcie_tx_cycles"]))
        calls.append(lambda: client.snapshot(device="gpu1"))
        self.refusals(calls)

    def test_sealed_records_are_for_whom_the_policy_says(self):
        calls = [lambda: self.users["operator"].sealed("vm3"), lambda: self.users["tenant-a"].sealed("vm3"),
                 lambda: self.users["tenant-b"].sealed("vm2"), lambda: self.users["tenant-b"].sealed("vm9")]
        self.refusals(calls)

    def test_operator_and_contexts(self):
        client = self.users["operator"]
        self.refusals([lambda: client.snapshot(context="train"), lambda: client.snapshot(context="absent"),
                       lambda: client.snapshot(vm="vm3", context="embed"), lambda: client.snapshot(vm="vm9")])


class StrangerTest(tenant_test.TenantTestCase):
    def test_identity_that_is_not_in_the_policy(self):
        client = self.users["nobody"]
        answers = {tenant_client.refusal(call) for call in (
            client.snapshot, client.stream, lambda: client.sealed("vm3"), lambda: client.sealed("vm9"),
            lambda: client.telemetry.ListDevices(self.pb.ListDevicesRequest()),
            lambda: client.telemetry.ListEvents(self.pb.ListEventsRequest()),
            lambda: client.telemetry.ListScopes(self.pb.ListScopesRequest()))}
        self.assertEqual({code for code, _ in answers}, {grpc.StatusCode.UNAUTHENTICATED})
        self.assertEqual(len(answers), 1)
        self.assertEqual(self.site.get("nobody", "/metrics")[0], 403)

    def test_no_certificate_over_http(self):
        with self.assertRaises((ssl.SSLError, ConnectionError, http.client.HTTPException)):
            self.site.get(None, "/-/healthy")

    def test_no_certificate_over_grpc(self):
        with tenant_client.Client(self.site, None) as client:
            code, _ = tenant_client.refusal(lambda: client.telemetry.ListDevices(self.pb.ListDevicesRequest(),
                                                                                 timeout=programs.PATIENCE_S))
        self.assertEqual(code, grpc.StatusCode.UNAVAILABLE)

    def test_plain_http(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.site.http_port, timeout=programs.PATIENCE_S)
        self.addCleanup(connection.close)
        with self.assertRaises((OSError, http.client.HTTPException)) as refused:
            connection.request("GET", "/metrics")
            connection.getresponse()
        self.assertNotIsInstance(refused.exception, TimeoutError, "it is closed")
