# SPDX-License-Identifier: Apache-2.0
"""sidebandd's listeners: certificates that change during operation, Unix sockets, and bad peers beside a scraper."""

import contextlib
import datetime
import fcntl
import http.client
import json
import os
import re
import resource
import shutil
import signal
import socket
import ssl
import stat
import struct
import subprocess
import termios
import threading
import time
import unittest

import grpc

import certificates
import exposition
import programs
import site_layout
import tenant_client


PACE_S = 5
HANDSHAKES_MAX = 128


class Scraper:
    """Requests /metrics repeatedly, each time on a new connection, until it is stopped; every answer is checked."""

    def __init__(self, site, user="operator"):
        self._site, self._user = site, user
        self.answers, self.failures, self.slowest_s, self.publications = 0, [], 0.0, []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()

    def _run(self):
        while not self._stop.is_set():
            start = time.monotonic()
            try:
                series = self._site.metrics(self._user)
                self.publications.append((start, exposition.value(series, "sideband_snapshots_total", device="gpu0") or 0))
                if exposition.value(series, "sideband_device_up", device="gpu0") != 1 or not exposition.counters(series):
                    self.failures.append("the device is not up")
                self.answers += 1
            except Exception as error:  # any failure is a result of the test
                self.failures.append(repr(error))
            self.slowest_s = max(self.slowest_s, time.monotonic() - start)

    def wait_for(self, more):
        """Waits for so many more answers, and for publications over a period long enough to measure their pace."""
        until = self.answers + more
        programs.wait_until(lambda: self.failures or (self.answers >= until and self._seen_s() >= PACE_S),
                            "%d more answers" % more)

    def _seen_s(self):
        return self.publications[-1][0] - self.publications[0][0] if self.publications else 0

    def pace(self):
        """Publications per second over the whole observation; not defined for less than PACE_S."""
        (first, before), (last, after) = self.publications[0], self.publications[-1]
        return (after - before) / (last - first)


class ListenerTestCase(unittest.TestCase):
    interval = "100ms"

    def setUp(self):
        self.site = site_layout.Site(self.interval)
        self.addCleanup(self.site.close)

    def change_config(self, old, new):
        text = self.site.read("sidebandd.yaml").decode()
        self.assertIn(old, text)
        site_layout.write(self.site.folder, "sidebandd.yaml", text.replace(old, new))

    def own(self, name, **labels):
        """One of the daemon's own metrics."""
        return exposition.value(self.site.metrics("operator"), name, **labels)


class RotationTest(ListenerTestCase):
    interval = "500ms"  # a busy machine may delay a snapshot by some tenths of a second; one is fresh for three intervals

    def setUp(self):
        super().setUp()
        # The server's certificate may then be issued by a different authority than the clients'.
        shutil.copyfile(self.site.path("ca.pem"), self.site.path("clients.pem"))
        self.change_config("client_ca_file: ca.pem", "client_ca_file: clients.pem")
        self.authority = certificates.Authority(self.site.folder, "ca.pem")
        self.authority.issue("server")
        self.site.start()

    def serial(self, port):
        with socket.create_connection(("127.0.0.1", port)) as plain:
            with self.site.tls("operator").wrap_socket(plain, server_hostname="localhost") as connection:
                return connection.getpeercert()["serialNumber"]

    def serials(self):
        return self.serial(self.site.http_port), self.serial(self.site.grpc_port)

    def reloads(self, outcome):
        return [self.own("sideband_tls_reloads_total", listener=listener, outcome=outcome) or 0
                for listener in ("http", "grpc")]

    def replace(self, name, with_name):
        os.replace(self.site.path(with_name), self.site.path(name))

    def test_under_way(self):
        """Certificate files are renewed, partly and completely, and lost, without an effect on scrapes and streams."""
        stream = iter(tenant_client.Client(self.site, "tenant-a").stream(timeout=300))
        old = self.serials()
        with Scraper(self.site) as scraper:
            next(stream)
            self.authority.issue("renewed")
            self.replace("server.pem", "renewed.pem")
            programs.wait_until(lambda: self.reloads("error") == [1, 1], "half a pair has been refused")
            self.assertEqual(self.serials(), old)
            self.assertEqual(self.own("sideband_tls_last_reload_successful", listener="http"), 0)
            self.assertEqual(self.site.daemon.log().count("server.key: not the key of the certificate in"), 2, "once each")
            self.replace("server.key", "renewed.key")
            programs.wait_until(lambda: self.reloads("ok") == [1, 1], "the pair is in force")
            renewed = self.serials()
            self.assertNotIn(renewed[0], old)
            self.assertEqual(renewed[0], renewed[1])
            os.remove(self.site.path("server.pem"))
            programs.wait_until(lambda: self.reloads("error") == [2, 2], "the loss has been seen")
            self.assertEqual(self.serials(), renewed)
            for _ in range(10):
                next(stream)
            scraper.wait_for(5)
        self.assertEqual(scraper.failures, [])
        not_after = self.own("sideband_tls_certificate_not_after_timestamp_seconds", listener="grpc")
        self.assertAlmostEqual(not_after, time.time() + 23 * 3600, delta=600)

    def test_an_expired_certificate_replaces_none_that_is_good(self):
        old = self.serials()
        self.authority.issue("expired", valid=datetime.timedelta(minutes=30))
        self.replace("server.key", "expired.key")
        self.replace("server.pem", "expired.pem")
        refused = r"server\.pem: has expired, at \S+; the old certificates stay"
        programs.wait_until(lambda: len(re.findall(refused, self.site.daemon.log())) == 2,
                            "both listeners have refused it")
        self.assertEqual(self.serials(), old)
        self.assertEqual(self.own("sideband_tls_last_reload_successful", listener="http"), 0)

    def test_sighup(self):
        old = self.serials()
        self.authority.issue("renewed")
        self.replace("server.pem", "renewed.pem")
        self.replace("server.key", "renewed.key")
        self.site.daemon.signal(signal.SIGHUP)
        programs.wait_until(lambda: "reload: policy generation 2" in self.site.daemon.log(), "the policy is read, too")
        programs.wait_until(lambda: self.serials()[0] not in old and self.serials()[1] not in old, "new certificates")

    def test_client_authority(self):
        """A client of the old authority is unauthenticated under the new one, also on open connections."""
        old_operator = self.site.tls("operator")
        tenant = tenant_client.Client(self.site, "tenant-a")
        stream = iter(tenant.stream())
        next(stream)
        clients = certificates.Authority(self.site.folder, "new-clients.pem")
        for user in site_layout.USERS:
            clients.issue(user, uri=site_layout.TRUST + user)
        self.replace("clients.pem", "new-clients.pem")
        programs.wait_until(lambda: self.site.daemon.log().count("new certificates are in force") == 2, "new authority")
        self.assertEqual(self.site.get("operator", "/-/ready")[0], 200)
        self.assertTrue(tenant_client.Client(self.site, "tenant-a").snapshot().scopes)
        with self.assertRaises((ssl.SSLError, ConnectionError)):
            connection = http.client.HTTPSConnection("127.0.0.1", self.site.http_port, context=old_operator, timeout=30)
            self.addCleanup(connection.close)
            connection.request("GET", "/-/ready")
            connection.getresponse()
        with self.assertRaises(grpc.RpcError) as ended:
            while True:
                next(stream)
        self.assertEqual((ended.exception.code(), ended.exception.details()),
                         (grpc.StatusCode.UNAUTHENTICATED, "the client certificate's authority is no longer trusted"))


class StandingTest(ListenerTestCase):
    """Credentials that were valid when the connection was made, and no longer are."""

    VALID_S = 12

    def connect_https(self, user):
        connection = http.client.HTTPSConnection("127.0.0.1", self.site.http_port, context=self.site.tls(user),
                                                 timeout=programs.PATIENCE_S)
        self.addCleanup(connection.close)
        return connection

    @staticmethod
    def ask(connection):
        connection.request("GET", "/metrics")
        response = connection.getresponse()
        response.read()
        return response.status

    def test_a_certificate_ends_under_way(self):
        """No stream, connection or session outlives the certificate."""
        self.site.start()
        self.site.authority.issue("tenant-a", uri=site_layout.TRUST + "tenant-a",
                                  valid=datetime.timedelta(hours=1, seconds=self.VALID_S))
        stream = iter(tenant_client.Client(self.site, "tenant-a").stream(timeout=300))
        next(stream)
        connection = self.connect_https("tenant-a")
        self.assertEqual(self.ask(connection), 200)
        with self.assertRaises(grpc.RpcError) as ended:
            while True:
                next(stream)
        self.assertEqual((ended.exception.code(), ended.exception.details()),
                         (grpc.StatusCode.UNAUTHENTICATED, "the client certificate has expired"))
        with self.assertRaises((http.client.RemoteDisconnected, ConnectionError, ssl.SSLError)):
            while self.ask(connection) != 200:
                pass
            self.fail("answered after the certificate has expired")
        with self.assertRaises(grpc.RpcError) as refused:
            tenant_client.Client(self.site, "tenant-a").snapshot()
        self.assertEqual(refused.exception.code(), grpc.StatusCode.UNAVAILABLE)

    def test_no_session_is_resumed(self):
        self.site.start()
        for port in (self.site.http_port, self.site.grpc_port):
            context = self.site.tls("operator")
            context.set_alpn_protocols(["h2"])
            with socket.create_connection(("127.0.0.1", port)) as plain:
                with context.wrap_socket(plain, server_hostname="localhost") as connection:
                    connection.settimeout(programs.PATIENCE_S)
                    if port == self.site.grpc_port:
                        connection.recv(1)  # the SETTINGS, after which a session ticket would follow
                    self.assertFalse(connection.session is not None and connection.session.has_ticket)

    def test_connections_age(self):
        """Streams end with a message; new connections work normally."""
        self.change_config("grpc:\n", "grpc:\n  max_connection_age: 5s\n")
        self.change_config("http:\n", "http:\n  max_connection_age: 5s\n")
        self.site.start()
        client = tenant_client.Client(self.site, "tenant-a")
        connection = self.connect_https("tenant-a")
        stream = iter(client.stream(timeout=300))
        with self.assertRaises(grpc.RpcError) as ended:
            while True:
                next(stream)
                last = self.ask(connection)
        self.assertEqual(last, 200)
        self.assertEqual((ended.exception.code(), ended.exception.details()),
                         (grpc.StatusCode.UNAVAILABLE, "the connection has reached its maximum age; connect again"))
        self.assertTrue(client.snapshot().scopes)


class SigningCertificateTest(ListenerTestCase):
    """X509-SVID 5.2: a certificate that signs others is no identity."""

    def served(self, name):
        """Which listeners serve the operator's name in the certificate NAME.pem."""
        served = set()
        try:
            if self.site.get(name, "/metrics")[0] == 200:
                served.add("http")
        except OSError:  # TLS' errors are some, too
            pass
        with tenant_client.Client(self.site, name) as client:
            try:
                client.snapshot()
                served.add("grpc")
            except grpc.RpcError:
                pass
        return served

    def test_only_leaves_are_served(self):
        self.site.start()
        signing = {"authority": [certificates.is_authority(True)],
                   "authority-signature": [certificates.is_authority(True), certificates.key_usage("digital_signature")],
                   "certs": [certificates.key_usage("digital_signature", "key_cert_sign")],
                   "crls": [certificates.is_authority(False), certificates.key_usage("digital_signature", "crl_sign")]}
        leaves = {"plain": [], "leaf": [certificates.is_authority(False), certificates.key_usage("digital_signature")]}
        for name, extensions in {**signing, **leaves}.items():
            self.site.authority.issue(name, uri=site_layout.TRUST + "operator", extensions=extensions)
            self.assertEqual(self.served(name), {"http", "grpc"} if name in leaves else set(), name)


class KeyUpdateTest(ListenerTestCase):
    def connect(self, port):
        """openssl s_client, which sends a KeyUpdate for each line `k`."""
        command = ["openssl", "s_client", "-connect", "127.0.0.1:%d" % port, "-alpn", "h2", "-CAfile", "ca.pem",
                   "-cert", "operator.pem", "-key", "operator.key"]
        client = subprocess.Popen(command, bufsize=0, cwd=self.site.folder, stdin=subprocess.PIPE,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.addCleanup(lambda: (client.kill(), client.wait(), client.stdin.close(), client.stderr.close()))
        return client

    @staticmethod
    def say(client, words):
        """What openssl reads by itself: its commands are at the beginning of what it reads."""
        with contextlib.suppress(BrokenPipeError):  # it has ended
            client.stdin.write(words)
        programs.wait_until(lambda: client.poll() is not None or
                            fcntl.ioctl(client.stdin, termios.FIONREAD, bytes(4)) == bytes(4), "openssl's read")

    def update(self, client, data):
        """A KeyUpdate, which goes with the data that follow it."""
        self.say(client, b"k\n")
        while b"KEYUPDATE" not in (line := client.stderr.readline()):
            if not line:
                raise AssertionError("the client has ended")
        self.say(client, data)

    def test_the_tenth_ends_a_connection(self):
        self.site.start()
        request = [b"GET / HTTP/1.1\r\n"] + [b"X: y\r\n"] * 9
        preface = [b"PRI", b" ", b"*", b" ", b"H", b"T", b"T", b"P", b"/", b"2"]
        for listener, port, pieces in (("http", self.site.http_port, request), ("grpc", self.site.grpc_port, preface)):
            client = self.connect(port)
            for piece in pieces[:9]:
                self.update(client, piece)
            self.assertIsNone(self.refused(listener), listener)
            self.update(client, pieces[9])
            client.wait(timeout=programs.PATIENCE_S)
            self.assertEqual(self.refused(listener), 1, listener)

    def refused(self, listener):
        return self.own("sideband_connections_refused_total", listener=listener, reason="tls_key_updates")


class DefaultsTest(ListenerTestCase):
    def reflection(self):
        """The status code of a request to gRPC's reflection."""
        own = self.site.read("operator.key"), self.site.read("operator.pem")
        with grpc.secure_channel("localhost:%d" % self.site.grpc_port,
                                 grpc.ssl_channel_credentials(self.site.read("ca.pem"), *own)) as channel:
            ask = channel.stream_stream("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo")
            try:
                return next(iter(ask(iter([b"\x3a\x00"]), timeout=programs.PATIENCE_S))) and grpc.StatusCode.OK
            except grpc.RpcError as error:
                return error.code()

    def test_reflection_is_off(self):
        self.site.start()
        self.assertEqual(self.reflection(), grpc.StatusCode.UNIMPLEMENTED)

    def test_reflection_can_be_turned_on(self):
        self.change_config("grpc:\n", "grpc:\n  reflection: true\n")
        self.site.start()
        self.assertEqual(self.reflection(), grpc.StatusCode.OK)


class DescriptorLimitTest(ListenerTestCase):
    def test_few_files(self):
        """An operator is served beside idle connections that would take all descriptors."""
        self.site.daemon_command = ("/bin/sh", "-c", "ulimit -n 64; exec \"$0\" --config sidebandd.yaml",
                                    programs.program_path("sidebandd"))
        self.site.start()
        peers = []
        self.addCleanup(lambda: [peer.close() for peer in peers])
        for port in (self.site.http_port, self.site.grpc_port):
            for _ in range(50):
                try:
                    plain = socket.create_connection(("127.0.0.1", port), timeout=5)
                    peers.append(plain)
                    context = self.site.tls("tenant-b")
                    context.set_alpn_protocols(["h2"] if port == self.site.grpc_port else [])
                    peers.append(context.wrap_socket(plain, server_hostname="localhost"))
                except OSError:
                    pass  # the connection was not accepted, or was closed for another
            for _ in range(5):
                self.assertEqual(self.site.get("operator", "/metrics")[0], 200)
        self.assertTrue(tenant_client.Client(self.site, "operator").snapshot().scopes)
        self.assertGreater(self.own("sideband_connections_refused_total", listener="http", reason="idle"), 0)
        files = len(os.listdir("/proc/%d/fd" % self.site.daemon.pid))
        self.assertLess(files, 64)


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=programs.PATIENCE_S)
        self._path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class UnixSocketTest(ListenerTestCase):
    def setUp(self):
        super().setUp()
        self.change_config("http:\n", "http:\n  unix_socket: http.sock\n")
        self.change_config("grpc:\n", "grpc:\n  unix_socket: grpc.sock\n")

    def keep_audit_log(self):
        self.change_config("ports_file: ports\n", "ports_file: ports\naudit: {file: audit.jsonl}\n")

    def asked(self):
        """(principal, endpoint) of each request in the audit log."""
        entries = [json.loads(line) for line in self.site.read("audit.jsonl").decode().splitlines()]
        return [(entry["principal"], entry["endpoint"]) for entry in entries if entry["kind"] == "access"]

    def get(self, path):
        connection = UnixConnection(self.site.path("http.sock"))
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            return response.status, response.read().decode()
        finally:
            connection.close()

    def test_local_operator(self):
        self.keep_audit_log()
        self.site.start()
        status, body = self.get("/metrics")
        self.assertEqual(status, 200)
        self.assertEqual(exposition.vms(exposition.parse(body)), exposition.vms(self.site.metrics("operator")))
        listed = programs.run("sideband", "devices", "--address", "unix:" + self.site.path("grpc.sock"),
                              cwd=self.site.folder)
        self.assertEqual(listed.returncode, 0, listed.stderr)
        self.assertIn("gpu0", listed.stdout)
        for name in ("http.sock", "grpc.sock"):
            self.assertEqual(stat.S_IMODE(os.stat(self.site.path(name)).st_mode), 0o600)
        self.assertEqual(self.site.get("nobody", "/metrics")[0], 403, "on the network nothing has changed")
        self.assertEqual(self.site.daemon.stop(), 0)
        self.assertFalse(os.path.exists(self.site.path("http.sock")))
        self.assertFalse(os.path.exists(self.site.path("grpc.sock")))
        own = "local:uid=%d" % os.geteuid()
        self.assertEqual([asked for asked in self.asked() if asked[0].startswith("local")],
                         [(own, "GET /metrics"), (own, "Telemetry/ListDevices")])

    def test_killed_and_started_again(self):
        self.site.start()
        self.site.daemon.kill()
        self.assertTrue(os.path.exists(self.site.path("http.sock")))
        self.site.start_daemon()
        programs.wait_until(lambda: self.get("/-/ready")[0] == 200, "it serves on the same path")
        second = programs.run("sidebandd", "--config", "sidebandd.yaml", cwd=self.site.folder)
        self.assertEqual(second.returncode, 1)
        self.assertRegex(second.stderr, r"\Asidebandd: http: cannot listen on \S*http.sock: Address already in use\n\Z")
        self.assertEqual(self.get("/-/healthy")[0], 200, "the first one is not disturbed")

    @unittest.skipUnless(os.geteuid() == 0, "only root can become somebody else")
    def test_somebody_else(self):
        self.keep_audit_log()
        self.change_config("policy_file", "local_operators: {users: [54322]}\nlog: {level: debug}\npolicy_file")
        self.site.start()
        os.chmod(self.site.folder, 0o755)
        for name in ("http.sock", "grpc.sock"):
            os.chmod(self.site.path(name), 0o666)
        request = ("import socket; s = socket.socket(socket.AF_UNIX); s.connect('http.sock'); "
                   "s.sendall(b'GET /metrics HTTP/1.0\\r\\n\\r\\n'); print(len(b''.join(iter(lambda: s.recv(65536), b''))))")

        def bytes_for(user):
            result = programs.run("/usr/bin/setpriv", "--reuid", str(user), "--clear-groups", "/usr/bin/python3", "-c",
                                  request, cwd=self.site.folder)
            return result.stdout.strip() or result.stderr

        self.assertGreater(int(bytes_for(54322)), 1000)
        # gRPC as two users at once: each call is attributed to its user. The program is reachable by root only.
        client = shutil.copy(programs.program_path("sideband"), self.site.path("sideband"))
        os.chmod(client, 0o755)
        for user in (54322, 0):
            listed = programs.run("/usr/bin/setpriv", "--reuid", str(user), "--clear-groups", client, "devices", "--address",
                                  "unix:" + self.site.path("grpc.sock"), cwd=self.site.folder)
            self.assertEqual(listed.returncode, 0, listed.stderr)
        expected = [("local:uid=54322", "GET /metrics"), ("local:uid=54322", "Telemetry/ListDevices"),
                    ("local:uid=0", "Telemetry/ListDevices")]
        programs.wait_until(lambda: set(expected) <= set(self.asked()), "all is told: %s" % self.asked())
        refused = bytes_for(54321)
        self.assertTrue(refused == "0" or "BrokenPipe" in refused or "ConnectionReset" in refused, refused)
        self.assertEqual(self.own("sideband_connections_refused_total", listener="http", reason="not_a_local_operator"), 1)
        self.assertIn("of user 54321 is not a local operator", self.site.daemon.log())

    def test_nothing_else(self):
        """Without any network listener no certificate is needed."""
        for name in ("http", "grpc"):
            tls = "  tls_server_config: {cert_file: server.pem, key_file: server.key, client_ca_file: ca.pem}\n"
            self.change_config('  unix_socket: %s.sock\n  listen: "127.0.0.1:0"\n%s' % (name, tls),
                               "  unix_socket: %s.sock\n" % name)
        self.site.start_device()
        self.site.start_daemon()
        programs.wait_until(lambda: self.get("/-/ready")[0] == 200, "it is ready")
        self.assertEqual((self.site.http_port, self.site.grpc_port), (0, 0))


class WrongPortTest(ListenerTestCase):
    def test_the_https_port_is_guessed(self):
        self.site.start()
        result = programs.run("sideband", "devices", "--address", "localhost:%d" % self.site.http_port, "--ca-file", "ca.pem",
                              "--cert-file", "operator.pem", "--key-file", "operator.key", cwd=self.site.folder)
        self.assertEqual(result.returncode, 1)
        self.assertIn("speaks TLS, but not gRPC: is it the daemon's HTTPS port?", result.stderr)


class BadPeersTest(ListenerTestCase):
    """Under any behaviour of bad peers, a scraper gets complete answers and the device is read at its pace."""

    CROWD = 2000
    # A snapshot is fresh up to an age of three intervals, also on a loaded machine.
    interval = "500ms"

    def setUp(self):
        super().setUp()
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        if hard < self.CROWD + 500:
            self.skipTest("this host allows %d files only" % hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        self.site.start()
        self.peers = []
        self.addCleanup(lambda: [peer.close() for peer in self.peers])

    def connect(self, port):
        peer = socket.create_connection(("127.0.0.1", port), timeout=programs.PATIENCE_S)
        self.peers.append(peer)
        return peer

    def tls_peer(self, user, port):
        context = self.site.tls(user)
        self.peers.append(context.wrap_socket(self.connect(port), server_hostname="localhost"))
        return self.peers[-1]

    def memory_mb(self):
        return self.own("process_resident_memory_bytes") / 2**20

    def check(self, scraper):
        self.assertEqual(scraper.failures, [])
        self.assertGreater(scraper.pace(), 0.5, "two a second, less what a loaded machine takes; none where peers stop them")
        self.assertFalse(self.site.daemon.ended())

    def test_a_crowd_that_says_nothing(self):
        for port, protocol in ((self.site.http_port, "http"), (self.site.grpc_port, "grpc")):
            with Scraper(self.site) as scraper:
                scraper.wait_for(3)
                before = self.memory_mb()
                for _ in range(self.CROWD):
                    self.connect(port)
                scraper.wait_for(10)
                self.assertLess(self.memory_mb() - before, 150)
                # Evicted connections are closed a moment later, on a loaded machine also a second.
                programs.wait_until(lambda: self.own("sideband_%s_connections" % protocol) <= HANDSHAKES_MAX + 2,
                                    "no more connections than may be in their handshake")
            self.check(scraper)
            for peer in self.peers:
                peer.close()
            self.peers.clear()

    def test_a_tenant_that_hoards_connections(self):
        with Scraper(self.site) as scraper:
            for _ in range(200):
                self.tls_peer("tenant-b", self.site.http_port)
            scraper.wait_for(5)
            self.assertGreaterEqual(self.own("sideband_connections_refused_total", listener="http", reason="idle"), 136)
        self.check(scraper)

    def test_slow_and_deaf_and_mad_peers(self):
        with Scraper(self.site) as scraper:
            slow = [self.tls_peer("tenant-b", self.site.http_port) for _ in range(5)]
            raw = [self.connect(port) for port in (self.site.http_port, self.site.grpc_port) for _ in range(5)]
            deaf = [self.tls_peer("tenant-b", self.site.http_port) for _ in range(5)]
            for peer in deaf:
                peer.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" * 50)
            for round_ in range(12):  # longer than the time limit of a header
                for peer in slow + raw:
                    try:
                        peer.sendall(b"G" if peer in slow else b"\x16")
                    except OSError:
                        pass  # disconnected, as expected
                mad = self.connect((self.site.http_port, self.site.grpc_port)[round_ % 2])
                mad.sendall((b"GET / HTTP/1.1\r\n\r\n", os.urandom(4096), b"\x16\x03\x01\xff\xff" + bytes(70000),
                             b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")[round_ % 4])
                time.sleep(1)
            for peer in slow:
                peer.settimeout(programs.PATIENCE_S)
                self.assertEqual(self.read_to_end(peer)[:12], b"")
        self.check(scraper)

    @staticmethod
    def read_to_end(peer):
        read = b""
        try:
            while chunk := peer.recv(65536):
                read += chunk
        except (ConnectionError, ssl.SSLError):
            pass
        return read

    def test_resets_in_the_midst(self):
        with Scraper(self.site) as scraper:
            for _ in range(100):
                peer = self.tls_peer("operator", self.site.http_port)
                peer.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
                peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                peer.close()
            scraper.wait_for(5)
        self.check(scraper)

    def test_a_name_that_would_write_the_log(self):
        """Text from an unauthenticated peer must not appear as a line of its own in the log."""
        forged = "2026-01-01T00:00:00.000 info reload: policy generation 99 is in force"
        for port in (self.site.grpc_port, self.site.http_port):
            subprocess.run(["openssl", "s_client", "-connect", "127.0.0.1:%d" % port, "-servername", "x\n" + forged],
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60)
        self.assertTrue(self.site.get("operator", "/-/ready")[0])
        self.assertNotIn(forged, self.site.daemon.log())

    def test_old_tls(self):
        for port in (self.site.http_port, self.site.grpc_port):
            for version in (ssl.TLSVersion.TLSv1_1, ssl.TLSVersion.TLSv1_2):
                context = self.site.tls("operator")
                context.minimum_version, context.maximum_version = ssl.TLSVersion.TLSv1, version
                with self.assertRaises((ssl.SSLError, ConnectionError)):
                    context.wrap_socket(self.connect(port), server_hostname="localhost")

    def test_grpc_calls_beyond_all_measure(self):
        pb, stubs = tenant_client.messages(), tenant_client.Client(self.site, "tenant-b")
        with Scraper(self.site) as scraper:
            streams = [stubs.stream() for _ in range(300)]
            codes = set()
            for stream in streams:
                try:
                    next(iter(stream))
                except grpc.RpcError as error:
                    codes.add(error.code())
            with self.assertRaises(grpc.RpcError) as large:
                stubs.telemetry.GetSnapshot(pb.GetSnapshotRequest(filter=pb.Filter(vm="x" * 100000)), timeout=30)
            for stream in streams:
                stream.cancel()
            scraper.wait_for(5)
        self.check(scraper)
        self.assertEqual(codes, {grpc.StatusCode.RESOURCE_EXHAUSTED})
        self.assertEqual(large.exception.code(), grpc.StatusCode.RESOURCE_EXHAUSTED)
