# SPDX-License-Identifier: Apache-2.0
"""Fifty misbehaving identities at once, in every way that is known: an operator's scrapes, a good tenant's scrapes and the
daemon's memory obey two laws, as ratios to what the same run measures without them.

    99th percentile of the scrapes: the operator's at most twice, the tenant's at most three times the quiet one
    resident memory: at most 128 MiB, and 15 s later at most 16 MiB above the quiet one
"""

import contextlib
import http.client
import itertools
import multiprocessing
import os
import socket
import ssl
import struct
import subprocess
import threading
import time
import unittest
import zlib

import http2_peer
import programs
import site_layout
import tokens
from http2_peer import DATA, END_HEADERS, END_STREAM, HEADERS, PING, RST_STREAM, frame

SNAPSHOT = "/sideband.v1.Telemetry/GetSnapshot"
HISTORY = "/sideband.v1.Telemetry/GetHistory"
IDENTITIES = 50
ATTACK_S = 20
AFTER_S = 15
OPERATOR_FACTOR, TENANT_FACTOR = 2, 3
RESIDENT_MAX, REST_MAX = 128 << 20, 16 << 20
SCRAPE_PAUSE_S = 0.02
# A measurement shorter than a time slice of the kernel's scheduler says nothing of the daemon.
QUIET_MIN_S = 0.010
RETURN_S = 0.5
BLOCKED_MAX_S = 2
# Another program's load can push one measurement above a limit. A real breach repeats.
ATTEMPTS = 5


def grpc_message(payload, compressed=0):
    return struct.pack(">BI", compressed, len(payload)) + payload


def rapid_resets(peer):
    block = http2_peer.fields_of(SNAPSHOT)
    for first in itertools.count(1, 100):
        peer.send(b"".join(frame(HEADERS, block, END_HEADERS, stream) + frame(RST_STREAM, struct.pack(">I", 8), 0, stream)
                           for stream in range(first, first + 100, 2)))
        yield 0.01


def pings(peer):
    while True:
        peer.send(frame(PING, bytes(8)) * 200)
        yield 0.01


def half_calls(peer):
    """Calls whose requests never come."""
    block = http2_peer.fields_of(SNAPSHOT)
    peer.send(b"".join(frame(HEADERS, block, END_HEADERS, stream) for stream in range(1, 253, 2)))
    while True:
        yield 1


def half_health(peer):
    block = http2_peer.fields_of("/grpc.health.v1.Health/Watch")
    peer.send(b"".join(frame(HEADERS, block, END_HEADERS, stream) for stream in range(1, 253, 2)))
    while True:
        yield 1


def zeros(size):
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return packer.compress(bytes(size)) + packer.flush()


# 56 KB that would be 58 MB. Made once, since attackers are to load the daemon and not the machine.
INFLATED = grpc_message(zeros(56 << 20), compressed=1)


def inflated(peer):
    block = http2_peer.fields_of(SNAPSHOT, **{"grpc-encoding": "gzip"})
    for stream in itertools.count(1, 2):
        pieces = [INFLATED[at:at + 16000] for at in range(0, len(INFLATED), 16000)]
        peer.send(frame(HEADERS, block, END_HEADERS, stream) +
                  b"".join(frame(DATA, piece, END_STREAM if piece is pieces[-1] else 0, stream) for piece in pieces))
        peer.take()
        yield 0.2


def unread_answers(peer):
    for _ in range(126):
        peer.call(SNAPSHOT)
    while True:
        yield 1


def histories(peer):
    while True:
        for _ in range(8):
            peer.call(HISTORY)
        peer.take()
        yield 0.05


def paths_of(*paths, anonymous=False, token=None):
    """Pipelined requests of these paths."""
    def attack(connection):
        field = "Authorization: Bearer %s\r\n" % token if token else ""
        requests = "".join("GET %s HTTP/1.1\r\nHost: localhost\r\n%s\r\n" % (path, field) for path in paths).encode()
        connection.settimeout(BLOCKED_MAX_S)
        while True:
            connection.sendall(requests * 8)
            connection.setblocking(False)
            try:
                while connection.recv(1 << 16):
                    pass
                raise ConnectionResetError
            except (BlockingIOError, ssl.SSLWantReadError):
                pass
            finally:
                connection.settimeout(BLOCKED_MAX_S)
            yield 0.01
    attack.anonymous = anonymous
    return attack


def unread_documents(connection):
    request = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
    connection.sendall(request * 64)
    while True:
        yield 1


unread_documents.anonymous = False
GRPC_ATTACKS = {
    "rapid resets": rapid_resets,
    "pings": pings,
    "half calls": half_calls,
    "half health watches": half_health,
    "compressed requests": inflated,
    "unread answers": unread_answers,
    "histories": histories,
}
HTTP_ATTACKS = {
    "filters": paths_of("/metrics?event[]=sm_active_cycles", "/metrics?scope=context"),
    "Redfish": paths_of("/redfish/v1/Chassis", "/redfish/v1/TelemetryService/MetricReports"),
    "status": paths_of("/page/status", "/page/history?event=sm_active_cycles&seconds=300"),
    "unread scrapes": unread_documents,
    "anonymous health": paths_of("/-/healthy", anonymous=True),
    "token guesses": paths_of("/metrics", anonymous=True, token="eyJhbGciOiJFUzI1NiIsImtpZCI6ImsxIn0.e30." + "A" * 86),
}


def connect_http(site, user):
    plain = socket.create_connection(("127.0.0.1", site.http_port), timeout=BLOCKED_MAX_S)
    return site.tls(user).wrap_socket(plain, server_hostname="localhost")


def attack_once(site, user, attack, is_grpc, stopped):
    if is_grpc:
        window = 0 if attack is unread_answers else 65535
        with http2_peer.Peer(site, user, window=window, timeout_s=BLOCKED_MAX_S) as peer:
            for pause in attack(peer):
                if stopped.wait(pause):
                    return
    else:
        with connect_http(site, None if attack.anonymous else user) as connection:
            for pause in attack(connection):
                if stopped.wait(pause):
                    return


def attack_on(site, user, attack, is_grpc, stopped):
    while not stopped.is_set():
        try:
            attack_once(site, user, attack, is_grpc, stopped)
        except (OSError, ssl.SSLError):
            stopped.wait(RETURN_S)  # disconnected


def key_updates(site, user, stopped):
    """OpenSSL's client sends a TLS 1.3 KeyUpdate for each line "K"."""
    while not stopped.is_set():
        client = subprocess.Popen(
            ["openssl", "s_client", "-connect", "127.0.0.1:%d" % site.http_port, "-cert", site.path(user + ".pem"), "-key",
             site.path(user + ".key"), "-CAfile", site.path("ca.pem"), "-quiet", "-no_ign_eof"], stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            while not stopped.wait(0.01):
                client.stdin.write(b"K\n" * 20)
                client.stdin.flush()
        except OSError:
            stopped.wait(RETURN_S)
        finally:
            client.kill()
            with contextlib.suppress(OSError):
                client.stdin.close()
            client.wait()


def idle():
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


def run_crowd(site, kind, users, connections, stopped):
    """A process of attackers. Others would have processors of their own: these run where nothing else does."""
    idle()
    if kind == "key updates":
        work = [(key_updates, (site, user, stopped)) for user in users]
    else:
        attack = GRPC_ATTACKS.get(kind) or HTTP_ATTACKS[kind]
        work = [(attack_on, (site, user, attack, kind in GRPC_ATTACKS, stopped)) for user in users * connections]
    threads = [threading.Thread(target=target, args=arguments) for target, arguments in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def burn(stopped):
    """As busy as the attackers, without an attack."""
    idle()
    while not stopped.is_set():
        pass


KINDS = [*GRPC_ATTACKS, *HTTP_ATTACKS, "key updates"]


class Crowd:
    """Attackers of these kinds, each with its share of the identities, of which None has no certificate; without a kind
    processes that are as busy."""

    def __init__(self, site, kinds, identities, connections=4):
        self._stopped = multiprocessing.Event()
        if kinds:
            users = {kind: identities[at::len(kinds)] or identities for at, kind in enumerate(kinds)}
            work = [(run_crowd, (site, kind, users[kind], connections, self._stopped)) for kind in kinds]
        else:
            work = [(burn, (self._stopped,))] * (os.cpu_count() or 1)
        self._processes = [multiprocessing.Process(target=target, args=arguments, daemon=True)
                           for target, arguments in work]

    def __enter__(self):
        for process in self._processes:
            process.start()
        return self

    def __exit__(self, *_):
        self._stopped.set()
        for process in self._processes:
            process.join(programs.PATIENCE_S)


class Scraper(threading.Thread):
    """Scrapes again and again on a kept connection, as Prometheus does, until `deadline`."""

    def __init__(self, site, user, deadline):
        super().__init__()
        self._site, self._user, self._deadline = site, user, deadline
        self.times_s, self.bad = [], []
        self.start()

    def run(self):
        connection = None
        while time.monotonic() < self._deadline:
            start = time.monotonic()
            try:
                if connection is None:
                    connection = http.client.HTTPSConnection("127.0.0.1", self._site.http_port, timeout=programs.PATIENCE_S,
                                                             context=self._site.tls(self._user))
                connection.request("GET", "/metrics", headers={"Accept-Encoding": "gzip"})
                response = connection.getresponse()
                response.read()
                if response.status != 200:
                    self.bad.append(response.status)
            except (OSError, http.client.HTTPException) as error:
                self.bad.append(repr(error))
                connection = None
            self.times_s.append(time.monotonic() - start)
            time.sleep(SCRAPE_PAUSE_S)
        if connection is not None:
            connection.close()

    def p99(self):
        return sorted(self.times_s)[int(len(self.times_s) * 0.99)]


class CrowdTest(unittest.TestCase):
    def setUp(self):
        self.site = site_layout.Site(interval="100ms")
        self.addCleanup(self.site.close)
        self.identities = ["bad-%d" % number for number in range(IDENTITIES)]
        for name in self.identities:
            self.site.authority.issue(name, uri=site_layout.TRUST + name)
        self.configure()
        self.site.start()

    def configure(self):
        policy = self.site.read("policy.yaml").decode()
        listed = ", ".join('"%s%s"' % (site_layout.TRUST, name) for name in ["tenant-b", *self.identities])
        self.assertEqual(policy.count('["%stenant-b"]' % site_layout.TRUST), 1)
        site_layout.write(self.site.folder, "policy.yaml",
                          policy.replace('["%stenant-b"]' % site_layout.TRUST, "[%s]" % listed))
        config = self.site.read("sidebandd.yaml").decode()
        self.assertEqual((config.count("client_ca_file: ca.pem}"), config.count("http:\n")), (2, 1))
        site_layout.write(self.site.folder, "sidebandd.yaml", config.replace(
            "client_ca_file: ca.pem}", "client_ca_file: ca.pem, client_auth_type: VerifyClientCertIfGiven}").replace(
                "http:\n", "http:\n  redfish: true\n") +
                "tokens: {jwks_file: jwks.json, audience: %s}\n" % tokens.AUDIENCE)
        site_layout.write(self.site.folder, "jwks.json", tokens.jwks(tokens.Issuer("k1")))

    def _read(self, name):
        with open("/proc/%d/%s" % (self.site.daemon.pid, name), encoding="ascii") as file:
            return file.read()

    def resident(self):
        return int(self._read("statm").split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def cpu_s(self):
        fields = self._read("stat").rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def measure(self, what, kinds, identities, seconds=ATTACK_S):
        """(99th percentiles of the operator's and the tenant's scrapes, largest resident memory, scrapes that failed)"""
        largest = 0
        with Crowd(self.site, kinds, identities):
            time.sleep(1)
            start, cpu = time.monotonic(), self.cpu_s()
            scrapers = [Scraper(self.site, user, start + seconds) for user in ("operator", "tenant-a")]
            while any(scraper.is_alive() for scraper in scrapers):
                largest = max(largest, self.resident())
                time.sleep(0.05)
            cores = (self.cpu_s() - cpu) / (time.monotonic() - start)
        for scraper in scrapers:
            scraper.join()
            self.assertGreater(len(scraper.times_s), 20, what)
        operator, tenant = (scraper.p99() for scraper in scrapers)
        print("%-22s %2d identities: scrape p99 operator %4.0f ms, tenant %4.0f ms, %.2f cores, resident %3.0f MiB" %
              (what, len(identities), operator * 1e3, tenant * 1e3, cores, largest / 2**20), flush=True)
        return operator, tenant, largest, [bad for scraper in scrapers for bad in scraper.bad]

    def rest(self, limit):
        """The resident memory once it is below the limit; else after AFTER_S."""
        deadline = time.monotonic() + AFTER_S
        while self.resident() >= limit and time.monotonic() < deadline:
            time.sleep(0.1)
        return self.resident()

    def quiet(self, seconds=ATTACK_S):
        measured = self.measure("quiet", [], [], seconds)
        self.assertEqual(measured[3], [])
        return measured

    def breaches(self, what, kinds, identities, seconds, quiet):
        """The laws that do not hold."""
        operator, tenant, largest, bad = self.measure(what, kinds, identities, seconds)
        factors = operator / max(quiet[0], QUIET_MIN_S), tenant / max(quiet[1], QUIET_MIN_S)
        rest = self.rest(quiet[2] + REST_MAX) - quiet[2]
        print("%-22s operator × %.2f, tenant × %.2f, %d MiB afterwards" % ("", *factors, rest >> 20), flush=True)
        held = {
            "the operator's scrapes, × %.2f" % factors[0]: factors[0] <= OPERATOR_FACTOR,
            "the tenant's scrapes, × %.2f" % factors[1]: factors[1] <= TENANT_FACTOR,
            "%d MiB" % (largest >> 20): largest < RESIDENT_MAX,
            "%d MiB more afterwards" % (rest >> 20): rest < REST_MAX,
            "failed: %s" % bad: not bad,
        }
        return [law for law, holds in held.items() if not holds]

    def check(self, what, kinds, identities, seconds, quiet):
        for attempt in range(1, ATTEMPTS + 1):
            breaches = self.breaches(what, kinds, identities, seconds, quiet)
            if not breaches:
                return
            self.assertLess(attempt, ATTEMPTS, "%s: %s" % (what, breaches))
            # Others may keep the machine busy now. What the daemon rests at does not depend on them.
            quiet = *self.quiet(seconds)[:2], quiet[2]

    def refusals(self):
        """How often the daemon has refused something, by its own metrics."""
        found = dict.fromkeys(("RESOURCE_EXHAUSTED", "connections"), 0)
        for (name, labels), count in self.site.metrics("operator").items():
            code = dict(labels).get("code") if name.endswith("_requests_total") else None
            if name == "sideband_connections_refused_total":
                code = "connections"
            if code in found:
                found[code] += count
        return found

    def test_all_kinds_at_once(self):
        for path in ("/metrics?scope=context", "/redfish/v1/Chassis", "/page/status"):
            self.assertEqual(self.site.get(self.identities[0], path)[0], 200, "an attack is what a caller may ask")
        before = self.refusals()
        self.check("all kinds", KINDS, self.identities, ATTACK_S, self.quiet())
        after = self.refusals()
        for what, count in after.items():
            self.assertGreater(count, before[what], what)

    def test_one_identity_and_one_address(self):
        quiet = self.quiet()
        with self.subTest("identity"):
            self.check("one identity", KINDS, self.identities[:1], ATTACK_S / 2, quiet)
        with self.subTest("address"):
            # The certificate is what a KeyUpdate's client begins with.
            self.check("one address", KINDS[:-1], [None], ATTACK_S / 2, quiet)

    def test_each_kind(self):
        quiet = self.quiet()
        for kind in KINDS:
            with self.subTest(kind):
                self.check(kind, [kind], self.identities[:8], ATTACK_S / 4, quiet)


if __name__ == "__main__":
    unittest.main()
