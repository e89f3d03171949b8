#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""A BMC with Redfish over HTTPS, for tests and for the demo. It serves a generated machine or a captured tree.

    with mock_bmc.MockBmc(mock_machine.HgxMachine(8), folder, password="secret") as bmc:     # in a test
        bmc.inject("busy", path="*/HGX_MemoryMetrics_0", times=3, retry_after=7)
        ... bmc.url, bmc.ca_file ...
        self.assertLessEqual(mock_bmc.most_within([request.at for request in bmc.requests], 60), 30)

    tests/bmc/mock_bmc.py --machine hgx --gpus 8 --user sideband --password secret --folder bmc    # as a program

README.md has the options, mock_faults.py the faults, mock_machine.py the machines.
"""

import argparse
import base64
import collections
import datetime
import email.utils
import hashlib
import http.server
import json
import os
import random
import re
import secrets
import signal
import socket
import socketserver
import ssl
import subprocess
import sys
import threading
import time
import urllib.parse

import mock_faults
import mock_machine
from mock_faults import Answer, error

ROOT = mock_machine.ROOT
OPEN = {"/redfish": json.dumps({"v1": ROOT + "/"}).encode(),
        ROOT + "/odata": json.dumps({"@odata.context": ROOT + "/$metadata", "value": [
            {"name": "Service", "kind": "Singleton", "url": ROOT + "/"}]}).encode(),
        ROOT + "/$metadata": b'<?xml version="1.0"?><edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"'
                             b' Version="4.0"/>'}
# What AMI's expanded members lack.
REQUIRED = ("Id", "Name", "Status", "@odata.type", "UUID")
HANDSHAKE_S = 10

Request = collections.namedtuple("Request", "at method path status token")  # `at` is monotonic, as all times here
Write = collections.namedtuple("Write", "at method path body")


def most_within(times, seconds):
    """The most of these times that any period of so many seconds has."""
    times, most, first = sorted(times), 0, 0
    for last, at in enumerate(times):
        while at - times[first] >= seconds:
            first += 1
        most = max(most, last - first + 1)
    return most


def make_certificate(folder, name, hosts=("DNS:localhost", "IP:127.0.0.1")):
    """Writes NAME.pem, which is its own authority, and NAME.key; returns their paths."""
    certificate, key = (os.path.join(folder, name + end) for end in (".pem", ".key"))
    subprocess.run(["/usr/bin/openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                    "-nodes", "-days", "30", "-subj", "/CN=" + hosts[0].partition(":")[2],
                    "-addext", "subjectAltName=" + ",".join(hosts), "-keyout", key, "-out", certificate],
                   check=True, capture_output=True)
    return certificate, key


def public_key_sha256(certificate):
    """What a client pins: the digest of the public key in DER."""
    pem = subprocess.run(["/usr/bin/openssl", "x509", "-in", certificate, "-noout", "-pubkey"], check=True,
                         capture_output=True, text=True).stdout
    return hashlib.sha256(base64.b64decode("".join(pem.split("\n")[1:-2]))).digest()


class MockBmc:
    """The BMC. Attributes may be changed while it runs, and hold from the next request on. It writes its certificate to
    `folder`, as NAME.pem and NAME.key."""

    def __init__(self, machine, folder, name="bmc", user="sideband", password="mock", clock=None, port=0, **behaviour):
        self.machine, self.user, self.password = machine, user, password
        self.clock = clock or mock_machine.Clock(machine.start)
        # Sessions and logins.
        self.session_limit, self.session_limit_status, self.session_timeout_s = 16, 503, 1800
        self.lockout_after, self.lockout_s, self.basic = None, 30, True
        # Speed: what a request costs, how many are worked on at a time, and how long a connection may be silent.
        self.latency_s, self.jitter_s, self.workers, self.keep_alive_s = 0, 0, 1, None
        # Queries. `expand` is "on", "broken" (members lack fields), "ignored" or "refused".
        self.expand, self.expand_levels, self.page_size, self.etags = "on", 6, None, True
        self.prefix = ""  # of a service that passes requests on, such as /hmc
        for attribute, value in behaviour.items():
            if attribute not in vars(self):
                raise TypeError("MockBmc has no %s" % attribute)
            setattr(self, attribute, value)
        # What it saw.
        self.requests, self.logins, self.connections, self.writes = [], [], [], []
        self.tokens_seen, self.sessions = set(), {}
        self.open_connections = self.most_connections = self.in_flight = self.most_in_flight = self.working = 0
        self._faults, self._sockets, self._random = [], set(), random.Random(1)
        self._failures, self._locked_at, self._numbers = 0, None, 0
        self._changed, self._stopped = threading.Condition(), threading.Event()
        self._folder, self._name, self.port, self._server = folder, name, port, None
        self._context = self.ca_file = None

    # --- Life.

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()

    def start(self):
        """Listens; after a stop, on the same port."""
        self._stopped.clear()
        if self._context is None:
            self.use_certificate(*make_certificate(self._folder, self._name))
        self._server = _Server(self, self.port)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def stop(self):
        self._stopped.set()
        self._server.shutdown()
        self._server.server_close()
        self.close_connections()

    @property
    def url(self):
        return "https://127.0.0.1:%d%s" % (self.port, self.prefix)

    def use_certificate(self, certificate, key, tls12=False, ca_file=None):
        """Holds for new connections. `ca_file` is what a client trusts if the certificate is not its own authority."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        if tls12:
            context.maximum_version = ssl.TLSVersion.TLSv1_2
        self._context, self.ca_file = context, ca_file or certificate

    def swap_certificate(self, name, **options):
        """Another certificate, as after an update of the firmware; `hosts` and `tls12` as elsewhere."""
        tls12 = options.pop("tls12", False)
        self.use_certificate(*make_certificate(self._folder, name, **options), tls12=tls12)
        self.close_connections()

    def close_connections(self):
        with self._changed:
            sockets = list(self._sockets)
        for one in sockets:
            try:
                socket.socket.shutdown(one, socket.SHUT_RDWR)  # not TLS's
            except OSError:
                pass  # it ended meanwhile

    def restart(self):
        """Forgets sessions and connections, as a BMC does that restarts."""
        self.sessions.clear()
        self.machine.restarted = self.clock.now()
        self.close_connections()

    def expire_sessions(self):
        self.sessions.clear()

    def inject(self, kind, **options):
        """Begins a fault of mock_faults.FAULTS; its `happened` counts."""
        self._faults.append(mock_faults.Fault(kind, **options))
        return self._faults[-1]

    def mend(self):
        """Ends all faults."""
        self._faults.clear()

    def values(self):
        """{MetricProperty: value} of a generated machine, now."""
        return self.machine.values(self.clock)

    def counts(self):
        return {"requests": len(self.requests), "logins": len(self.logins), "connections": len(self.connections),
                "most_connections": self.most_connections, "most_in_flight": self.most_in_flight,
                "sessions": len(self.sessions), "writes": [list(write[1:3]) for write in self.writes]}

    # --- One request.

    def serve(self, method, target, fields, body):
        """The answer of one request, which waits for a worker."""
        token = fields.get("X-Auth-Token")
        if token:
            self.tokens_seen.add(token)
        at = time.monotonic()
        with self._changed:
            self._changed.wait_for(lambda: self.working < self.workers or self._stopped.is_set())
            self.working += 1
        try:
            self._stopped.wait(self.latency_s + self._random.random() * self.jitter_s)
            answer = self._answer(method, target, fields, body)
            for fault in list(self._faults):
                if fault.matches(method, target.partition("?")[0]):
                    fault.apply(answer)
            answer.fields["Date"] = email.utils.format_datetime(self.clock.now(), usegmt=True)
            self.requests.append(Request(at, method, target, answer.status, token))
            return answer
        finally:
            with self._changed:
                self.working -= 1
                self._changed.notify_all()

    def _answer(self, method, target, fields, body):
        path, _, query = target.partition("?")
        if not path.startswith(self.prefix):
            return error(404, "ResourceMissingAtURI", path)
        path, query = urllib.parse.unquote(path[len(self.prefix):]).rstrip("/"), urllib.parse.unquote(query)
        sessions = self._sessions_path()
        if method == "POST" and path in (sessions, sessions + "/Members"):
            return self._log_in(sessions, body)
        if method not in ("GET", "HEAD") and not (method == "DELETE" and path.startswith(sessions + "/")):
            return self._refuse_write(method, path, body)
        if path in OPEN:
            is_xml = path.endswith("$metadata")
            return Answer(200, OPEN[path], **({"Content-Type": "application/xml"} if is_xml else {}))
        if path != ROOT and not self._is_authorized(fields):
            return error(401, "NoValidSession", "Log in.", **{"WWW-Authenticate": 'Basic realm="mock"'})
        if method == "DELETE" and self.sessions.get(fields.get("X-Auth-Token"), ("",))[0] != path:
            return self._refuse_write(method, path, body)  # another's session
        if path == sessions or path.startswith(sessions + "/"):
            return self._session(method, sessions, path)
        return self._get(path, query, fields)

    def _refuse_write(self, method, path, body):
        self.writes.append(Write(time.monotonic(), method, path, body))
        return error(403, "InsufficientPrivilege", "This account only reads.")

    # --- Sessions.

    def _sessions_path(self):
        try:
            return json.loads(self._read(ROOT))["Links"]["Sessions"]["@odata.id"].rstrip("/")
        except (KeyError, TypeError, ValueError):
            return ROOT + "/SessionService/Sessions"

    def _is_right(self, user, password):
        """Whether the credentials are right; wrong ones count, and lock the account."""
        now = time.monotonic()
        if self._locked_at is not None and now < self._locked_at + self.lockout_s:
            return False
        if (user, password) == (self.user, self.password):
            self._failures = 0
            return True
        self._failures += 1
        if self.lockout_after and self._failures >= self.lockout_after:
            self._failures, self._locked_at = 0, now
        return False

    def _forget_idle(self):
        now = time.monotonic()
        for token, (_, used) in list(self.sessions.items()):
            if now - used > self.session_timeout_s:
                self.sessions.pop(token, None)

    def _is_authorized(self, fields):
        self._forget_idle()
        token = fields.get("X-Auth-Token")
        if token in self.sessions:
            self.sessions[token] = (self.sessions[token][0], time.monotonic())
            return True
        kind, _, text = fields.get("Authorization", "").partition(" ")
        if token or kind.lower() != "basic" or not self.basic:
            return False
        try:
            user, _, password = base64.b64decode(text).decode().partition(":")
        except ValueError:
            return False
        return self._is_right(user, password)

    def _log_in(self, sessions, body):
        self.logins.append(time.monotonic())
        self._forget_idle()
        try:
            asked = json.loads(body)
            user, password = asked["UserName"], asked["Password"]
        except (KeyError, TypeError, ValueError):
            return error(400, "PropertyMissing", "UserName and Password are required.")
        if not self._is_right(user, password):
            return error(401, "ResourceAtUriUnauthorized", "Wrong user or password, or the account is locked.")
        if len(self.sessions) >= self.session_limit:
            if self.session_limit_status == 400:  # as Dell's
                return error(400, "RAC0218", "The maximum number of user sessions is reached.", registry="IDRAC.2.8")
            return error(self.session_limit_status, "SessionLimitExceeded", "There are too many sessions.")
        self._numbers += 1
        token, uri = secrets.token_hex(16), "%s/%d" % (sessions, self._numbers)
        self.sessions[token] = (uri, time.monotonic())
        return Answer(201, self._session_body(uri), Location=uri, **{"X-Auth-Token": token})

    def _session_body(self, uri):
        resource = mock_machine.Machine.resource(uri, "#Session.v1_7_0.Session")
        return json.dumps({**resource, "UserName": self.user}).encode()

    def _session(self, method, sessions, path):
        uris = {uri: token for token, (uri, _) in self.sessions.items()}
        if path == sessions:
            return self._with_query({"@odata.id": path, "@odata.type": "#SessionCollection.SessionCollection",
                                     "Name": "Sessions", "Members@odata.count": len(uris),
                                     "Members": [mock_machine.link(uri) for uri in uris]}, path, {})
        if path not in uris:
            return error(404, "ResourceMissingAtURI", path)
        if method == "DELETE":
            self.sessions.pop(uris[path], None)
            return Answer(204)
        return Answer(200, self._session_body(path))

    # --- Resources.

    def _read(self, path):
        """The body of a resource, or None."""
        body = self.machine.get(path, self.clock)
        if body is None and path == ROOT + "/SessionService":
            body = json.dumps({**mock_machine.Machine.resource(path, "#SessionService.v1_1_8.SessionService"),
                               "ServiceEnabled": True, "SessionTimeout": self.session_timeout_s,
                               "Sessions": mock_machine.link(path + "/Sessions")}).encode()
        return body

    def _get(self, path, query, fields):
        saved = isinstance(self.machine, mock_machine.CapturedTree) and query and self.expand == "on"
        body = self.machine.get(path, self.clock, query) if saved else None
        if body is None:
            body = self._read(path)
            if body is None:
                return error(404, "ResourceMissingAtURI", "There is no resource %s." % path)
            options = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
            if options or self.page_size and b'"Members"' in body:
                return self._with_query(json.loads(body), path, options)
        etag = '"%s"' % hashlib.sha256(body).hexdigest()[:16]
        if self.etags and fields.get("If-None-Match") == etag:
            return Answer(304, ETag=etag)
        return Answer(200, body, **({"ETag": etag} if self.etags else {}))

    def _with_query(self, resource, path, options):
        known = {"$expand", "$top", "$skip"}
        for name in options:
            if name.startswith("$") and name not in known:
                return error(501, "QueryNotSupported", "%s is not supported." % name)
        resource = self._page(resource, path, options)
        if resource is None:
            return error(400, "QueryParameterValueError", "A number is wrong.")
        if "$expand" in options and self.expand != "ignored":
            if self.expand == "refused":
                return error(501, "QueryNotSupported", "$expand is not supported.")
            match = re.fullmatch(r"([.*~])(?:\(\$levels=(\d+)\))?", options["$expand"])
            if not match or int(match[2] or 1) > self.expand_levels:
                return error(400, "QueryParameterOutOfRange", "$expand is too deep or malformed.")
            resource = self._expanded(resource, match[1], int(match[2] or 1), top=True)
        return Answer(200, json.dumps(resource).encode())

    def _page(self, resource, path, options):
        """Part of the members, with a link to the next part; None if a number is wrong."""
        try:
            skip, top = int(options.get("$skip", 0)), int(options.get("$top", sys.maxsize))
        except ValueError:
            return None
        if skip < 0 or top < 0:
            return None
        members, size = resource.get("Members"), min(self.page_size or sys.maxsize, top)
        if not isinstance(members, list):
            return resource
        resource["Members"] = members[skip:skip + size]
        if size < len(members) - skip and size:
            following = {**options, "$skip": skip + size}
            resource["Members@odata.nextLink"] = "%s?%s" % (path, urllib.parse.urlencode(following, safe="$.()*~="))
        return resource

    def _expanded(self, value, kind, levels, in_links=False, top=False):
        """The value with resources in place of links to them: for "~" of links in Links, for "." of the others."""
        if isinstance(value, list):
            return [self._expanded(one, kind, levels, in_links) for one in value]
        if not isinstance(value, dict) or levels <= 0:
            return value
        if list(value) == ["@odata.id"] and not top:
            body = self._read(value["@odata.id"].rstrip("/")) if kind != ("." if in_links else "~") else None
            if body is None:
                return value
            found = self._expanded(json.loads(body), kind, levels - 1, top=True)
            return {name: one for name, one in found.items() if self.expand != "broken" or name not in REQUIRED}
        return {name: self._expanded(one, kind, levels, in_links or name == "Links") for name, one in value.items()}

    # --- Connections, for the server.

    def wrap(self, raw):
        """TLS on a new connection, which counts even if the handshake fails."""
        self.connections.append(time.monotonic())
        raw.settimeout(HANDSHAKE_S)
        connection = self._context.wrap_socket(raw, server_side=True)
        connection.settimeout(self.keep_alive_s)
        with self._changed:
            self._sockets.add(connection)
            self.open_connections += 1
            self.most_connections = max(self.most_connections, self.open_connections)
        return connection

    def forget(self, connection):
        with self._changed:
            self._sockets.discard(connection)
            self.open_connections -= 1

    def answer(self, handler):
        """Reads the rest of a request, serves and answers it; returns whether the connection goes on."""
        with self._changed:
            self.in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            length = handler.headers.get("Content-Length", "0")
            body = handler.rfile.read(int(length) if length.isdigit() else 0)
            answer = self.serve(handler.command, handler.path, handler.headers, body)
            if handler.close_connection:  # the client asked for it
                answer.fields["Connection"] = "close"
            wire = answer.wire(without_body=handler.command == "HEAD")
            return answer.send(handler.connection, wire, self._stopped) and answer.fields.get("Connection") != "close"
        finally:
            with self._changed:
                self.in_flight -= 1


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def setup(self):
        self.request = self.server.bmc.wrap(self.request)
        super().setup()

    def finish(self):
        self.server.bmc.forget(self.connection)
        try:
            super().finish()
            if self.connection.fileno() >= 0:
                self.connection.settimeout(0)  # the end of TLS is sent, and the peer's not awaited
                self.connection.unwrap()
        except (OSError, ValueError):
            pass  # the peer ended it
        self.connection.close()

    def answer_one(self):
        if not self.server.bmc.answer(self):
            self.close_connection = True

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = answer_one

    def log_message(self, *_):
        pass


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads, allow_reuse_address, request_queue_size = True, True, 128

    def __init__(self, bmc, port):
        self.bmc = bmc
        super().__init__(("127.0.0.1", port), _Handler)

    def handle_error(self, request, client_address):
        """Connections that end early are no news; a mistake of the mock is."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


def _fault(text):
    """busy,path=*/HGX_MemoryMetrics_0,times=3,retry_after=7"""
    kind, *options = text.split(",")
    values = {}
    for option in options:
        name, _, value = option.partition("=")
        try:
            values[name] = json.loads(value)
        except ValueError:
            values[name] = value
    return kind, values


def _moment(text):
    return datetime.datetime.fromisoformat(text).replace(tzinfo=datetime.timezone.utc)


def _parser():
    parser = argparse.ArgumentParser(description="A mock of a BMC with Redfish.")
    parser.add_argument("--machine", choices=("hgx", "ubb"), default="hgx")
    parser.add_argument("--gpus", type=int, default=8)
    parser.add_argument("--no-hgx-prefix", action="store_true", help="names as the board's own BMC has them")
    parser.add_argument("--tree", help="a captured tree, in place of a generated machine")
    parser.add_argument("--folder", default=".", help="where the certificate is written")
    parser.add_argument("--cert", help="in place of a certificate of its own, with --key")
    parser.add_argument("--key")
    parser.add_argument("--ca-file", help="where a copy of what clients trust is written")
    parser.add_argument("--address-file", help="where the URL is written, once it listens")
    parser.add_argument("--port", type=int, default=0, help="0: any that is free")
    parser.add_argument("--user", default="sideband")
    parser.add_argument("--password", default="mock")
    parser.add_argument("--clock", type=_moment, help="the BMC's clock, such as 2000-01-01T00:00:00")
    parser.add_argument("--tls12", action="store_true", help="no newer TLS; with a certificate of its own, too")
    parser.add_argument("--latency", type=float, default=0, dest="latency_s", help="seconds a request")
    parser.add_argument("--jitter", type=float, default=0, dest="jitter_s")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--session-limit", type=int, default=16)
    parser.add_argument("--session-timeout", type=float, default=1800, dest="session_timeout_s")
    parser.add_argument("--lockout-after", type=int)
    parser.add_argument("--page-size", type=int)
    parser.add_argument("--expand", choices=("on", "broken", "ignored", "refused"), default="on")
    parser.add_argument("--prefix", default="")
    parser.add_argument("--fault", type=_fault, action="append", default=[], help=_fault.__doc__)
    return parser


def _write(path, content):
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(content)
    os.rename(path + ".new", path)


def main():
    options = vars(_parser().parse_args())
    tree, kind, gpus, bare = (options.pop(name) for name in ("tree", "machine", "gpus", "no_hgx_prefix"))
    machine = (mock_machine.CapturedTree(tree) if tree else mock_machine.UbbMachine(gpus) if kind == "ubb" else
               mock_machine.HgxMachine(gpus, prefix=not bare))
    certificate, key, ca_file, address_file, faults, tls12 = (
        options.pop(name) for name in ("cert", "key", "ca_file", "address_file", "fault", "tls12"))
    moment = options.pop("clock")
    bmc = MockBmc(machine, clock=moment and mock_machine.Clock(moment), **options)
    if not certificate:
        certificate, key = make_certificate(options["folder"], "bmc")
    bmc.use_certificate(certificate, key, tls12=tls12)
    for kind, values in faults:
        bmc.inject(kind, **values)
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    with bmc:
        if ca_file:
            with open(bmc.ca_file, encoding="utf-8") as file:
                _write(ca_file, file.read())
        if address_file:
            _write(address_file, bmc.url + "\n")
        print("listening:", bmc.url, flush=True)
        ended.wait()
    print(json.dumps(bmc.counts()), flush=True)


if __name__ == "__main__":
    main()
