# SPDX-License-Identifier: Apache-2.0
"""All identities × endpoints × resources, each cell against an independent second implementation of the rules.

Denied and nonexistent resources get the same answer but for the name that was asked for, and no answer contains
another tenant's data.
"""

import itertools
import json
import re
import unittest

import grpc

import programs
import site_layout
import tenant_client
import tokens

DEVICE = "gpu0"
REDFISH = "/redfish/v1/"
CONTEXT_EVENT, DEVICE_EVENT = "sm_active_cycles", "pcie_tx_cycles"
# With what the caller asked for, and what it may see instead.
NO_EVENT = re.compile(r"^no such event: '[^']*'( \(did you mean '[^']*'\?\))?")
ABSENT_UUID = "00000000-0000-4000-8000-000000000009"
# The blocks of the example device, whose vm3 is confidential: (VM, context).
DEVICE_ROW = (None, None)
CONTEXTS = {"vm1": ("train", "eval"), "vm2": ("serve",), "vm3": ()}

# Credentials of each caller: (certificate, subject of a token or a token itself).
IDENTITIES = {
    "operator": ("operator", None),
    "tenant-a": ("tenant-a", None),
    "tenant-b": ("tenant-b", None),
    "auditor": ("auditor", None),
    "nobody": ("nobody", None),
    "operator by token": ("nobody", "prometheus"),
    "tenant-a by token": ("nobody", site_layout.TRUST + "tenant-a"),
    "stranger by token": ("nobody", "stranger"),
    "bad token": ("tenant-a", "x.y.z"),
    "ambiguous": ("tenant-b", site_layout.TRUST + "tenant-a"),
}
# The callers' roles in the policy.
ROLES = {"operator": "operator", "operator by token": "operator", "auditor": "auditor", "tenant-a": "tenant-a",
         "tenant-a by token": "tenant-a", "tenant-b": "tenant-b"}
OWN_VMS = {"tenant-a": ("vm1",), "tenant-b": ("vm2",)}
# Texts that must not be in any answer.
FOREIGN = {
    "operator": ("train", "eval", "serve"),
    "tenant-a": ("vm2", "vm3", "serve", site_layout.VM_UUIDS["vm2"], site_layout.VM_UUIDS["vm3"], DEVICE_EVENT),
    "tenant-b": ("vm1", "train", "eval", site_layout.VM_UUIDS["vm1"], DEVICE_EVENT),
    "auditor": ("vm1", "vm2", "vm3", "train", "serve", DEVICE, CONTEXT_EVENT),
    None: ("vm1", "vm2", "vm3", "train", "serve", DEVICE, CONTEXT_EVENT),
}

RESOURCES = [
    {"device": device, "vm": vm, "context": context, "events": events}
    for device, vm, context, events in itertools.product(
        ("", DEVICE, "gpu9"),
        ("", "vm1", "vm2", "vm3", site_layout.VM_UUIDS["vm1"], site_layout.VM_UUIDS["vm3"], "vm9", ABSENT_UUID),
        ("", "train", "serve", "nothing"),
        ((), (CONTEXT_EVENT,), (DEVICE_EVENT,), ("nothing",), (CONTEXT_EVENT, "nothing")))
]
# Peeks name one row. Tenant A may peek at its VM, tenant B may only read its own.
PEEKS = [
    {"device": device, "vm": vm, "context": context, "events": events}
    for device, vm, context, events in itertools.product(
        (DEVICE, "gpu9"),
        ("vm1", "vm2", "vm3", site_layout.VM_UUIDS["vm1"], site_layout.VM_UUIDS["vm3"], "vm9", ABSENT_UUID),
        ("", "train", "serve", "nothing"),
        ((CONTEXT_EVENT,), (DEVICE_EVENT,), (CONTEXT_EVENT, "nothing")))
]
CONFIDENTIAL = [(device, vm) for device in ("", DEVICE, "gpu9")
                for vm in ("vm1", "vm2", "vm3", site_layout.VM_UUIDS["vm3"], "vm9", ABSENT_UUID, "")]


def rows(role):
    """The rows that a role may read, as (VM, context)."""
    if role == "operator":
        return {DEVICE_ROW, ("vm1", None), ("vm2", None)}
    return {(vm, context) for vm in OWN_VMS.get(role, ()) for context in (None, *CONTEXTS[vm])}


def events(row):
    return {CONTEXT_EVENT, DEVICE_EVENT} if row == DEVICE_ROW else {CONTEXT_EVENT}


def expected_rows(role, asked):
    """The rows of an answer; None for NOT_FOUND."""
    if asked["device"] and (asked["device"] != DEVICE or not rows(role)):
        return None
    vm = {uuid: name for name, uuid in site_layout.VM_UUIDS.items()}.get(asked["vm"], asked["vm"])
    found = {row for row in rows(role)
             if (not vm or row[0] == vm) and (not asked["context"] or row[1] == asked["context"])}
    names_rows = asked["vm"] or asked["context"] or asked["events"]
    if names_rows and not found:
        return None
    if not set(asked["events"]) <= set().union(*map(events, found)):
        return None
    return {row for row in found if not asked["events"] or events(row) & set(asked["events"])}


def may_peek(role, asked):
    vm = {uuid: name for name, uuid in site_layout.VM_UUIDS.items()}.get(asked["vm"], asked["vm"])
    row = (vm, asked["context"] or None)
    return (asked["device"] == DEVICE and role in ("operator", "tenant-a") and row in rows(role) and
            set(asked["events"]) <= events(row))


class MatrixTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.site = site_layout.Site(interval="200ms")
        cls.addClassCleanup(cls.site.close)
        cls.site.authority.issue("auditor", uri=site_layout.TRUST + "auditor")
        issuer = tokens.Issuer("k1")
        site_layout.write(cls.site.folder, "jwks.json", tokens.jwks(issuer))
        site_layout.write(cls.site.folder, "policy.yaml", cls.policy())
        config = cls.site.read("sidebandd.yaml").decode()
        config = config.replace("http:\n", "http:\n  redfish: true\n")
        site_layout.write(cls.site.folder, "sidebandd.yaml", config + 'tokens: {jwks_file: jwks.json, audience: "%s"}\n' %
                          tokens.AUDIENCE + "audit: {file: audit.jsonl}\npeek: {bus_share: 1}\n")
        cls.tokens = {who: token and (token if token.count(".") == 2 and "/" not in token else issuer.token(token))
                      for who, (_, token) in IDENTITIES.items()}
        cls.site.start()
        cls.pb = tenant_client.messages()
        cls.clients = {}
        for who, (certificate, _) in IDENTITIES.items():
            cls.clients[who] = tenant_client.Client(cls.site, certificate, patient=True)
            cls.addClassCleanup(cls.clients[who].__exit__)
        # Wait for a history.
        past = cls.pb.GetHistoryRequest()
        programs.wait_until(lambda: cls.clients["operator"].telemetry.GetHistory(past).ByteSize() > 0, "a history")

    @staticmethod
    def policy():
        operator = '"%soperator"' % site_layout.TRUST
        policy = site_layout.POLICY.replace(operator, operator + ', "jwt:prometheus"')
        own = "{uuid: %s" % site_layout.VM_UUIDS["vm1"]
        policy = policy.replace(own, own + ", rights: [read, peek]")
        return policy + 'auditors:\n  - {name: auditor, identities: ["%sauditor"]}\n' % site_layout.TRUST

    def call(self, who, service, method, request):
        """(status code or None, details, [messages]) of a call; for an endless stream, its first message."""
        token = self.tokens[who]
        metadata = (("authorization", "Bearer " + token),) if token else ()
        stub = getattr(getattr(self.clients[who], service), method)
        try:
            answer = stub(request, metadata=metadata, timeout=programs.PATIENCE_S)
            if not hasattr(answer, "cancel"):
                return None, "", [answer]
            messages = [next(answer)] if service == "confidential" else list(answer)
            answer.cancel()
            return None, "", messages
        except grpc.RpcError as error:
            return error.code(), error.details(), []

    def check_words(self, who, messages):
        for message in messages:
            if hasattr(message, "resume_token"):
                message.ClearField("resume_token")  # random bytes may be any word
            raw = message.SerializeToString()
            for word in FOREIGN[ROLES.get(who)]:
                self.assertNotIn(word.encode(), raw, who)

    def cells(self, service, method, requests):
        """Sends each request as each caller: yields (who, role, request number, code, messages); checks invariants."""
        not_found = set()
        # The callers take turns, so that all identities' quotas recover at the same time.
        for number, request in enumerate(requests):
            for who in IDENTITIES:
                role = ROLES.get(who)
                code, details, messages = self.call(who, service, method, request)
                self.check_words(who, messages)
                if role is None:
                    self.assertEqual((code, details, messages), (grpc.StatusCode.UNAUTHENTICATED, self.nobody(), []), who)
                    continue
                if code is not None:
                    self.assertEqual(code, grpc.StatusCode.NOT_FOUND, (who, request, details))
                    not_found.add(details)
                yield who, role, number, code, messages
        self.assertLessEqual(len(not_found), 1, "denied and absent must be told in the same words")

    def nobody(self):
        """The answer to unauthenticated callers, which is always the same."""
        if not hasattr(type(self), "nobody_words"):
            _, type(self).nobody_words, _ = self.call("nobody", "telemetry", "ListDevices", self.pb.ListDevicesRequest())
            self.assertTrue(self.nobody_words)
        return self.nobody_words

    def filtered(self, request_type, **more):
        return [request_type(filter=self.pb.Filter(**resource), **more) for resource in RESOURCES]

    def check_filtered(self, method, requests, rows_of):
        for who, role, number, code, messages in self.cells("telemetry", method, requests):
            expected = expected_rows(role, RESOURCES[number])
            self.assertEqual(code is None, expected is not None, (who, RESOURCES[number], code))
            if expected is not None and rows_of is not None:
                self.assertEqual(rows_of(messages), expected, (who, RESOURCES[number]))

    def scopes(self, snapshots):
        found = [(one.scope.vm or None, one.scope.context or None) for snapshot in snapshots for one in snapshot.scopes]
        self.assertEqual(len(found), len(set(found)))
        return set(found)

    def test_every_method_is_in_this_matrix(self):
        known = {"Telemetry": {"ListDevices", "ListEvents", "ListScopes", "GetSnapshot", "GetHistory", "Peek", "Mark",
                               "ListMarks", "GetSpan", "ListClocks", "Subscribe"},
                 "Confidential": {"Challenge", "Exchange", "SubscribeSealed"}}
        services = {name: set(service.methods_by_name)
                    for name, service in self.pb.DESCRIPTOR.services_by_name.items()}
        self.assertEqual(services, known)

    def test_snapshots(self):
        self.check_filtered("GetSnapshot", self.filtered(self.pb.GetSnapshotRequest),
                            lambda messages: self.scopes(messages[0].snapshots))

    def test_history(self):
        self.check_filtered("GetHistory", self.filtered(self.pb.GetHistoryRequest), None)

    def test_subscriptions(self):
        once = {"mode": self.pb.SubscribeRequest.MODE_ONCE}
        self.check_filtered("Subscribe", self.filtered(self.pb.SubscribeRequest, **once),
                            lambda messages: self.scopes([m.update for m in messages if m.HasField("update")]))

    def test_changes(self):
        once = {"mode": self.pb.SubscribeRequest.MODE_ONCE, "stream_mode": self.pb.SubscribeRequest.STREAM_MODE_ON_CHANGE}
        requests = self.filtered(self.pb.SubscribeRequest, **once)
        for who, role, number, code, messages in self.cells("telemetry", "Subscribe", requests):
            asked = RESOURCES[number]
            expected = expected_rows(role, asked)
            self.assertEqual(code is None, expected is not None, (who, asked, code))
            if expected is None:
                continue
            items = [item for message in messages for item in message.change.items]
            # A confidential VM has no row that could be asked for.
            names_rows = asked["vm"] or asked["context"] or asked["events"]
            hidden = {("vm3", None)} if role in ("operator", "tenant-b") and not names_rows else set()
            self.assertEqual({(item.scope.scope.vm or None, item.scope.scope.context or None) for item in items
                              if item.HasField("scope")}, expected | hidden, (who, asked))
            devices = {item.device.name for item in items if item.HasField("device")}
            self.assertEqual(devices, {DEVICE} if rows(role) and (expected or not names_rows) else set(), (who, asked))

    def test_tokens_are_of_their_identity(self):
        """Anyone's token resumes its own stream, and is garbage to everyone else."""
        once = self.pb.SubscribeRequest(mode=self.pb.SubscribeRequest.MODE_ONCE)
        found = {}
        for who in IDENTITIES:
            code, _, messages = self.call(who, "telemetry", "Subscribe", once)
            if code is None:
                found[who] = messages[-1].resume_token
        self.assertEqual(set(found), set(ROLES))
        gaps = set()
        for owner, token in found.items():
            for who in found:
                once.resume_token = token
                code, _, messages = self.call(who, "telemetry", "Subscribe", once)
                self.assertIsNone(code)
                # A certificate and a token of one identity are the same caller.
                is_own = owner == who or {owner, who} == {"tenant-a", "tenant-a by token"}
                kind = messages[0].WhichOneof("response")
                self.assertEqual(kind, "resumed" if is_own else "gap", (owner, who))
                if kind == "gap":
                    messages[0].gap.ClearField("to")
                    gaps.add(messages[0].gap.SerializeToString())
                self.check_words(who, messages)
        self.assertEqual(len(gaps), 1, "the same words for every token that is not one's own")

    def test_peeks(self):
        requests = [self.pb.PeekRequest(**asked) for asked in PEEKS]
        for who, role, number, code, messages in self.cells("telemetry", "Peek", requests):
            asked = PEEKS[number]
            self.assertEqual(code is None, may_peek(role, asked), (who, asked, code))
            if code is None:
                found = messages[0].counters
                self.assertEqual([one.event for one in found.counters], list(asked["events"]))
                self.assertEqual(found.scope.context, asked["context"])

    def test_nobody_marks_without_the_right(self):
        names = [(device, vm, context) for device in (DEVICE, "gpu9") for vm in ("vm1", "vm2", "vm9", ABSENT_UUID)
                 for context in ("", "train", "nothing")]
        marks = [self.pb.MarkRequest(device=device, vm=vm, context=context) for device, vm, context in names]
        spans = [self.pb.GetSpanRequest(device=device, vm=vm, from_mark=1, to_mark=2) for device, vm, _ in names[::3]]
        for method, requests in (("Mark", marks), ("GetSpan", spans)):
            for who, _, number, code, _ in self.cells("telemetry", method, requests):
                self.assertIsNotNone(code, (who, method, requests[number]))

    def test_marks_are_listed_of_own_vms(self):
        asked = [{"device": device, "vm": vm, "context": "", "events": ()} for device in ("", DEVICE, "gpu9")
                 for vm in ("", "vm1", "vm2", "vm9")]
        requests = [self.pb.ListMarksRequest(device=one["device"], vm=one["vm"]) for one in asked]
        for who, role, number, code, messages in self.cells("telemetry", "ListMarks", requests):
            visible = expected_rows(role, asked[number]) is not None
            self.assertEqual(code is None, visible, (who, asked[number]))
            if visible:
                self.assertEqual(len(messages[0].marks), 0)

    def test_clocks_are_operators(self):
        devices = ("", DEVICE, "gpu9")
        requests = [self.pb.ListClocksRequest(device=device) for device in devices]
        for who, role, number, code, messages in self.cells("telemetry", "ListClocks", requests):
            operator = role == "operator"
            self.assertEqual(code is None, not devices[number] or (operator and devices[number] == DEVICE), who)
            if code is None:
                self.assertEqual([one.device for one in messages[0].devices], [DEVICE] if operator else [], who)

    def test_devices(self):
        for who, role, _, code, messages in self.cells("telemetry", "ListDevices", [self.pb.ListDevicesRequest()]):
            self.assertIsNone(code)
            self.assertEqual([device.name for device in messages[0].devices], [DEVICE] if rows(role) else [], who)

    def test_lists(self):
        devices = ("", DEVICE, "gpu9")
        for method, request_type in (("ListEvents", self.pb.ListEventsRequest), ("ListScopes", self.pb.ListScopesRequest)):
            requests = [request_type(device=device) for device in devices]
            for who, role, number, code, messages in self.cells("telemetry", method, requests):
                visible = not devices[number] or (devices[number] == DEVICE and bool(rows(role)))
                self.assertEqual(code is None, visible, (who, method, devices[number]))
                if visible and method == "ListScopes":
                    listed = {(scope.vm or None, scope.context or None) for scope in messages[0].scopes}
                    hidden = {("vm3", None)} if role in ("operator", "tenant-b") else set()
                    self.assertEqual(listed, rows(role) | hidden, who)

    def test_sealed_records(self):
        requests = [self.pb.SubscribeSealedRequest(device=device, vm=vm) for device, vm in CONFIDENTIAL]
        for who, role, number, code, messages in self.cells("confidential", "SubscribeSealed", requests):
            device, vm = CONFIDENTIAL[number]
            granted = role == "tenant-b" and device in ("", DEVICE) and vm in ("vm3", site_layout.VM_UUIDS["vm3"])
            self.assertEqual(code is None, granted, (who, device, vm))
            self.assertEqual(len(messages), 1 if granted else 0)

    def test_exchanges_of_keys(self):
        """No guest is trusted with keys here, which the VM's owner alone learns; an empty request is nobody's."""
        for method, request_type, owners in (
                ("Challenge", self.pb.ChallengeRequest, grpc.StatusCode.FAILED_PRECONDITION),
                ("Exchange", self.pb.ExchangeRequest, grpc.StatusCode.PERMISSION_DENIED)):
            for device, vm in CONFIDENTIAL:
                for who in IDENTITIES:
                    role = ROLES.get(who)
                    owns = role == "tenant-b" and device in ("", DEVICE) and vm in ("vm3", site_layout.VM_UUIDS["vm3"])
                    expected = (grpc.StatusCode.UNAUTHENTICATED if role is None else
                                owners if owns else grpc.StatusCode.NOT_FOUND)
                    code, _, messages = self.call(who, "confidential", method, request_type(device=device, vm=vm))
                    self.assertEqual((code, messages), (expected, []), (who, method, device, vm))

    def http(self, who, method, path):
        token = self.tokens[who]
        fields = {"Authorization": "Bearer " + token} if token else {}
        return self.site.request(IDENTITIES[who][0], path, fields, method)

    def expected_status(self, who, method, path):
        role = ROLES.get(who)
        if method not in ("GET", "HEAD"):
            return {405}
        if path == "/-/healthy":
            return {200}
        if path == "/-/ready":  # open to all callers, except with an invalid token
            return {401, 403} if role is None and self.tokens[who] else {200}
        if path == "/nothing":
            return {404}
        if path in ("/redfish", "/redfish/v1/"):
            return {200}
        if role is None:
            return {401, 403}
        if path.endswith(("/EnvironmentMetrics", "/ProcessorMetrics")):
            return {200} if role == "operator" else {404}
        if path.startswith(("/redfish/v1/Chassis/", "/redfish/v1/Systems/Host/Processors/")):
            return {200} if rows(role) and path.endswith("/" + DEVICE) else {404}
        if path.startswith("/redfish/v1/TelemetryService/MetricDefinitions/"):
            level, _, event = path.rpartition("/")[2].partition(".")
            return {200} if any(self.level(row) == level and event in events(row) for row in rows(role)) else {404}
        if path.startswith("/audit"):
            return {200} if role == "auditor" else {404}
        if path == "/sd":
            return {200} if role == "operator" else {404}
        if path.startswith(("/metrics?event[]=", "/page/history?")):
            event = path.partition("=")[2].partition("&")[0]
            return {200} if any(event in events(row) for row in rows(role)) else {404}
        return {400} if path == "/metrics?x=y" else {200}

    @staticmethod
    def level(row):
        return "device" if row == DEVICE_ROW else "context" if row[1] else "vm"

    def test_redfish_reports_the_rows_of_the_others(self):
        for who in IDENTITIES:
            role = ROLES.get(who)
            status, _, body = self.http(who, "GET", REDFISH + "TelemetryService/MetricReports/Counters")
            self.assertEqual(status == 200, role is not None, who)
            found = set()
            for value in json.loads(body)["MetricValues"] if role else ():
                oem = value["Oem"]["Sideband"]
                row = (oem.get("Vm"), oem.get("Context"))
                level, _, event = value["MetricId"].partition(".")
                self.assertEqual((oem["Device"], level), (DEVICE, self.level(row)), who)
                found.add((row, event))
            self.assertEqual({row for row, _ in found}, rows(role), who)
            self.assertLessEqual({(row, CONTEXT_EVENT) for row in rows(role)}, found, who)
            # Withheld beside a confidential VM.
            self.assertNotIn(DEVICE_EVENT, {event for _, event in found}, who)

    def test_http(self):
        paths = ("/", "/metrics", "/metrics?event[]=" + CONTEXT_EVENT, "/metrics?event[]=" + DEVICE_EVENT,
                 "/metrics?event[]=nothing", "/metrics?x=y", "/page/status",
                 "/page/history?event=%s&seconds=60" % CONTEXT_EVENT, "/page/history?event=%s&seconds=60" % DEVICE_EVENT,
                 "/page/history?event=nothing&seconds=60", "/sd", "/audit", "/audit?after=1", "/-/healthy", "/-/ready",
                 "/redfish", REDFISH, REDFISH + "Chassis", REDFISH + "Chassis/" + DEVICE, REDFISH + "Chassis/gpu9",
                 REDFISH + "Chassis?$expand=.", REDFISH + "Chassis/" + DEVICE + "/EnvironmentMetrics",
                 REDFISH + "JsonSchemas", REDFISH + "Schemas/SidebandTelemetry_v1.xml",
                 REDFISH + "Systems/Host", REDFISH + "Systems/Host/Processors?$expand=.",
                 *(REDFISH + "Systems/Host/Processors/" + name
                   for name in (DEVICE, "gpu9", DEVICE + "/ProcessorMetrics")),
                 REDFISH + "TelemetryService",
                 REDFISH + "TelemetryService/MetricReports/Counters", REDFISH + "TelemetryService/MetricDefinitions",
                 *(REDFISH + "TelemetryService/MetricDefinitions/" + name
                   for name in ("vm." + CONTEXT_EVENT, "context." + CONTEXT_EVENT, "device." + DEVICE_EVENT, "nothing")),
                 "/nothing")
        told = {}  # answers to unauthenticated callers and to requests for absent resources
        for who, method, path in itertools.product(IDENTITIES, ("GET", "HEAD", "POST"), paths):
            role = ROLES.get(who)
            status, _, body = self.http(who, method, path)
            self.assertIn(status, self.expected_status(who, method, path), (who, method, path, body))
            if path.startswith("/audit") and status == 200:
                continue  # the audit log contains all requests, which is its purpose
            # An error says what was asked for.
            answer = body.replace(path, "").replace("no such event: '%s'" % path.partition("=")[2], "")
            for word in FOREIGN[role]:
                self.assertNotRegex(answer, r"\b%s\b" % word, (who, method, path))
            if status in (401, 403, 404) and method == "GET":
                told.setdefault((status, path.partition("?")[0]), set()).add(NO_EVENT.sub("no such event", body))
        for key, bodies in told.items():
            self.assertEqual(len(bodies), 1, (key, bodies))

    def test_without_a_certificate_there_is_no_connection(self):
        with self.assertRaises(OSError):
            self.site.request(None, "/-/healthy")
