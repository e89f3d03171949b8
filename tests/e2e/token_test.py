# SPDX-License-Identifier: Apache-2.0
"""Bearer tokens: their identities, their validity, and the effect of a reload of the policy and the keys."""

import http.client
import json
import signal
import time
import unittest

import grpc

import exposition
import http2_peer
import programs
import site_layout
import tenant_client
import tokens

PROMETHEUS = "system:serviceaccount:monitoring:prometheus"
POLICY = site_layout.POLICY.replace('["%soperator"]' % site_layout.TRUST,
                                    '["%soperator", "jwt:%s"]' % (site_layout.TRUST, PROMETHEUS))
NOBODY = "the caller has no valid credentials, or is not in the policy"


class TokenTestCase(unittest.TestCase):
    """A site with an interval of an hour, so that events in a stream are not caused by a snapshot."""

    def setUp(self):
        self.site = site_layout.Site("1h")
        self.addCleanup(self.site.close)
        self.issuer = tokens.Issuer("k1")
        config = self.site.read("sidebandd.yaml").decode()
        self.assertIn("client_ca_file: ca.pem}", config)
        config = config.replace("client_ca_file: ca.pem}",
                                "client_ca_file: ca.pem, client_auth_type: VerifyClientCertIfGiven}")
        self.write("sidebandd.yaml", config + "tokens: {jwks_file: jwks.json, audience: %s}\n" % tokens.AUDIENCE +
                   "audit: {file: audit.jsonl}\n")
        self.write("jwks.json", tokens.jwks(self.issuer))
        self.write("policy.yaml", POLICY)
        self.site.start()
        tenant_client.messages()  # generated in advance, so that it takes no time of a token's validity

    def write(self, name, text):
        site_layout.write(self.site.folder, name, text)

    def get(self, path, *authorization, user="nobody"):
        """(status, body, WWW-Authenticate) of a request with these Authorization fields."""
        connection = http.client.HTTPSConnection("127.0.0.1", self.site.http_port, context=self.site.tls(user),
                                                 timeout=programs.PATIENCE_S)
        try:
            connection.putrequest("GET", path)
            for field in authorization:
                connection.putheader("Authorization", field)
            connection.endheaders()
            response = connection.getresponse()
            return response.status, response.read().decode(), response.getheader("WWW-Authenticate")
        finally:
            connection.close()

    def cli(self, token, *arguments, user="nobody"):
        self.write("token", token + "\n")
        own = ("--cert-file", user + ".pem", "--key-file", user + ".key") if user is not None else ()
        return programs.run("sideband", *arguments, "--address", "localhost:%d" % self.site.grpc_port, "--ca-file",
                            "ca.pem", *own, "--token-file", "token", cwd=self.site.folder)

    def reload(self):
        """The line that says so."""
        def said():
            return [line for line in self.site.daemon.log().splitlines() if "reload: " in line]

        before = len(said())
        self.site.daemon.signal(signal.SIGHUP)
        programs.wait_until(lambda: len(said()) > before, "the daemon has reloaded")
        return said()[-1]

    def stream(self, token, **wanted):
        """A stream that has delivered all pending messages."""
        client = tenant_client.Client(self.site, "nobody")
        self.addCleanup(client.__exit__)
        pb = tenant_client.messages()
        stream = client.telemetry.Subscribe(pb.SubscribeRequest(mode="MODE_STREAM", **wanted),
                                            timeout=programs.PATIENCE_S, metadata=[("authorization", "Bearer " + token)])
        while not next(stream).sync_response:
            pass
        return stream

    def wait_for_audit(self, reason):
        programs.wait_until(lambda: reason in self.site.read("audit.jsonl").decode(), "audit log: " + reason)

    def end_of(self, stream):
        with self.assertRaises(grpc.RpcError) as ended:
            for _ in stream:
                pass
        return ended.exception.code()


class WhoTest(TokenTestCase):
    def test_http(self):
        operator = "Bearer " + self.issuer.token(PROMETHEUS)
        tenant = "Bearer " + self.issuer.token(site_layout.TRUST + "tenant-a")
        status, body, _ = self.get("/metrics", operator)
        self.assertEqual(status, 200)
        self.assertIn("sideband_build_info", body)
        status, body, _ = self.get("/metrics", tenant)
        self.assertEqual(status, 200)
        self.assertIn('vm="vm1"', body)
        for foreign in ("vm2", "vm3", "sideband_build_info"):
            self.assertNotIn(foreign, body)
        bad = (
            (), ("Bearer x",), ("Basic YTpi",), (operator + "A",), (operator, operator), (operator, "Bearer x"),
            ("Bearer " + self.issuer.token(PROMETHEUS, lifetime_s=-60),),
            ("Bearer " + self.issuer.token(PROMETHEUS, nbf=int(time.time()) + 60),),
            ("Bearer " + self.issuer.token(PROMETHEUS, aud="another"),),
            ("Bearer " + tokens.Issuer("k1").token(PROMETHEUS),),
            ("Bearer " + tokens.Issuer("k2").token(PROMETHEUS),),
            ("Bearer " + self.issuer.sign({"alg": "none", "kid": "k1"}, {"sub": PROMETHEUS}),),
        )
        for fields in bad:
            for path, user in (("/metrics", "nobody"), ("/metrics", None), ("/", "nobody")):
                self.assertEqual(self.get(path, *fields, user=user), (401, NOBODY + "\n", "Bearer"), fields)
        self.assertEqual(self.get("/metrics", operator, user=None)[0], 200, "a token needs no certificate")
        for reason in ("token: not three parts", "token: the signature is wrong", "token: it has expired",
                       "token: it is not valid yet", "token: it is for another audience", "token: its key is unknown",
                       "token: alg 'none' is not the key's, which is ES256"):
            self.wait_for_audit(reason)
        self.assertNotIn("eyJ", self.site.read("audit.jsonl").decode(), "no token is in the log")
        unknown = "Bearer " + self.issuer.token("unknown")
        self.assertEqual(self.get("/metrics", unknown), (403, NOBODY + "\n", None))
        # An invalid token fails despite a valid certificate, and two identities are unauthenticated.
        self.assertEqual(self.get("/metrics", user="operator")[0], 200)
        self.assertEqual(self.get("/metrics", "Bearer x", user="operator")[0], 401)
        self.assertEqual(self.get("/metrics", tenant, user="operator")[0], 403)
        self.assertEqual(self.get("/metrics", tenant, user="tenant-a")[0], 200)

    def test_client(self):
        result = self.cli(self.issuer.token(site_layout.TRUST + "tenant-b"), "scopes")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("vm2", result.stdout)
        self.assertNotIn("vm1", result.stdout)
        self.assertEqual(self.cli(self.issuer.token(PROMETHEUS), "devices", user=None).returncode, 0)
        refused = self.cli(self.issuer.token("unknown"), "devices")
        self.assertEqual(refused.returncode, 1)
        self.assertEqual(refused.stderr, "sideband: localhost:%d: %s\n" % (self.site.grpc_port, NOBODY))
        empty = self.cli("", "devices")
        self.assertEqual((empty.returncode, empty.stderr), (2, "sideband: token: no token in it\n"))


class CrowdedAddressTest(TokenTestCase):
    """Who shows a token is served beside busy connections of the same address that show none."""
    CROWD = 72  # more than an address may have

    def peers(self, count):
        for _ in range(count):
            peer = http2_peer.Peer(self.site, None)
            self.addCleanup(peer.close)
            yield peer

    def half_calls(self, peer, count):
        block = http2_peer.fields_of("/sideband.v1.Telemetry/GetSnapshot")
        peer.send(b"".join(http2_peer.frame(http2_peer.HEADERS, block, http2_peer.END_HEADERS, stream)
                           for stream in range(1, 2 * count, 2)))

    def evicted(self, reason):
        return exposition.value(self.site.metrics("operator"), "sideband_connections_refused_total", listener="grpc",
                                reason=reason) or 0

    def test_connections_with_unfinished_calls(self):
        for peer in self.peers(self.CROWD):
            self.half_calls(peer, 1)
        result = self.cli(self.issuer.token(PROMETHEUS), "devices", user=None)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertGreater(self.evicted("no_identity"), 0)

    def test_streams(self):
        for peer in self.peers(4):
            self.half_calls(peer, 120)
        result = self.cli(self.issuer.token(PROMETHEUS), "devices", user=None)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertGreater(self.evicted("http2_streams_of_identity"), 0)


class StreamTest(TokenTestCase):
    def test_ends_when_its_token_expires(self):
        stream = self.stream(self.issuer.token(PROMETHEUS, lifetime_s=-4))  # six of the ten seconds of tolerance remain
        # The stream's own deadline would be another status.
        self.assertEqual(self.end_of(stream), grpc.StatusCode.UNAUTHENTICATED)
        self.wait_for_audit("stream ended: UNAUTHENTICATED: token: it has expired")

    def test_ends_when_its_key_is_gone(self):
        other = tokens.Issuer("k2")
        self.write("jwks.json", tokens.jwks(self.issuer, other))
        self.assertIn("is in force", self.reload())
        ending = self.stream(self.issuer.token(PROMETHEUS))
        staying = self.stream(other.token(PROMETHEUS))
        self.write("jwks.json", tokens.jwks(other))
        self.assertIn("is in force", self.reload())
        self.assertEqual(self.end_of(ending), grpc.StatusCode.UNAUTHENTICATED)
        self.assertTrue(staying.is_active())
        self.assertEqual(self.get("/metrics", "Bearer " + self.issuer.token(PROMETHEUS))[0], 401)
        staying.cancel()

    def test_watch_goes_on_with_a_new_token(self):
        other = tokens.Issuer("k2")
        self.write("token", self.issuer.token(PROMETHEUS))
        watch = programs.Program("sideband", "--address", "localhost:%d" % self.site.grpc_port, "--ca-file", "ca.pem",
                                 "--token-file", "token", "watch", "--format", "json", cwd=self.site.folder)
        self.addCleanup(watch.kill)
        programs.wait_until(lambda: '"update"' in watch.log(), "an update\n" + watch.log())
        self.write("token", other.token(PROMETHEUS))
        self.write("jwks.json", tokens.jwks(other))
        self.assertIn("is in force", self.reload())
        programs.wait_until(lambda: "sideband: connected again\n" in watch.log(), "the new token\n" + watch.log())
        self.assertIn(": %s; connecting again\n" % NOBODY, watch.log())
        # Without another token it is the end.
        self.write("jwks.json", tokens.jwks(self.issuer))
        self.assertIn("is in force", self.reload())
        self.assertEqual(watch.wait(), 1)
        self.assertEqual(watch.log().count("; connecting again\n"), 1)
        self.assertTrue(watch.log().endswith(": %s\n" % NOBODY), watch.log())

    def test_narrows_with_the_policy(self):
        stream = self.stream(self.issuer.token(site_layout.TRUST + "tenant-a"), filter={"vm": "vm1"})
        own = "    vms:\n      - {uuid: %s}\n" % site_layout.VM_UUIDS["vm1"]
        self.assertIn(own, POLICY)
        self.write("policy.yaml", POLICY.replace(own, "    vms: []\n"))
        self.assertIn("is in force", self.reload())
        self.assertEqual(self.end_of(stream), grpc.StatusCode.NOT_FOUND)


class ReloadTest(TokenTestCase):
    def test_all_or_nothing(self):
        tenant = "Bearer " + self.issuer.token(site_layout.TRUST + "tenant-a")
        # A good policy with bad keys, and bad policies with good keys, change nothing.
        without = POLICY.replace("tenant-a\"]", "elsewhere\"]")
        self.assertNotEqual(without, POLICY)
        self.write("policy.yaml", without)
        private = self.issuer.jwk() | {"d": "AAAA"}
        for keys, error in (("{", "jwks.json:1: "), ('{"keys": []}', "jwks.json:1: 'keys' is empty"),
                            (json.dumps({"keys": [private]}), "jwks.json:1: key 'k1': 'd' belongs to a private "),
                            (tokens.jwks(self.issuer, self.issuer), "kid 'k1' is given twice")):
            self.write("jwks.json", keys)
            line = self.reload()
            self.assertIn(error, line)
            self.assertIn("nothing is changed", line)
            self.assertEqual(self.get("/metrics", tenant)[0], 200)
        self.write("jwks.json", tokens.jwks(self.issuer))
        self.assertIn("is in force", self.reload())
        self.assertEqual(self.get("/metrics", tenant)[0], 403)

    def test_a_vm_on_no_device_is_refused(self):
        absent = "5b0f6a2e-7c64-4d0c-9d7e-2f1a90c3e1ff"
        added = POLICY + "      - {uuid: %s}\n" % absent
        self.write("policy.yaml", added)
        line = self.reload()
        self.assertIn("policy.yaml:%d: VM %s is on no device" % (added.count("\n"), absent), line)
        self.assertIn("nothing is changed", line)
        self.write("policy.yaml", added + "allow_absent_vms: true\n")
        self.assertIn("is in force", self.reload())


    def test_an_event_that_no_device_counts_is_refused(self):
        groups = "event_groups:\n  memory: [dram_read_cycles,\n    dram_wriet_cycles]\n"
        added = POLICY + groups
        self.write("policy.yaml", added)
        line = self.reload()
        self.assertIn("policy.yaml:%d: event 'dram_wriet_cycles' is counted by no device (did you mean "
                      "'dram_write_cycles'?)" % added.count("\n"), line)
        self.assertIn("nothing is changed", line)
        self.write("policy.yaml", added + "allow_absent_events: true\n")
        self.assertIn("is in force", self.reload())


class StartTest(programs.ProgramTestCase):
    def test_what_is_on_no_device_is_told(self):
        site = site_layout.Site()
        self.addCleanup(site.close)
        absent, without = "5b0f6a2e-7c64-4d0c-9d7e-2f1a90c3e1ff", "5b0f6a2e-7c64-4d0c-9d7e-2f1a90c3e1fe"
        site_layout.write(site.folder, "policy.yaml",
                          site_layout.POLICY + "      - {uuid: %s, events: [cycels]}\n" % absent)
        config = site.read("sidebandd.yaml").decode() + "    - {vm: %s, key_file: vm3.key}\n" % without
        site_layout.write(site.folder, "sidebandd.yaml", config)
        site.start()
        named = site_layout.POLICY.count("\n") + 1
        for line in ("policy.yaml:%d: VM %s is on no device" % (named, absent),
                     "policy.yaml:%d: event 'cycels' is counted by no device" % named,
                     "sidebandd.yaml:%d: VM %s is on no device" % (config.count("\n"), without)):
            programs.wait_until(lambda: line in site.daemon.log(), line)
