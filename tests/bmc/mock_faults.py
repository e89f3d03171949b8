# SPDX-License-Identifier: Apache-2.0
"""What a BMC may do wrong: one table, FAULTS, of name, function and the function's options with their defaults.

A function changes an answer before it is sent. It may replace how the answer is sent, too.
"""

import fnmatch
import gzip
import json
import re
import socket
import struct
import threading
import time

REASONS = {200: "OK", 201: "Created", 204: "No Content", 304: "Not Modified", 308: "Permanent Redirect",
           400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 429: "Too Many Requests",
           500: "Internal Server Error", 501: "Not Implemented", 503: "Service Unavailable"}


class Answer:
    """A status, fields of the header and a body; `send(connection, wire, stopped)` puts its bytes on the wire."""

    def __init__(self, status, body=b"", **fields):
        self.status, self.body, self.send = status, body, send_all
        self.fields = {"OData-Version": "4.0", "Cache-Control": "no-store", **fields}
        if body:
            self.fields.setdefault("Content-Type", "application/json; charset=utf-8")

    def become(self, other):
        self.__dict__.update(other.__dict__)

    def edit(self, change):
        """Applies `change` to the body's JSON, if it is JSON."""
        try:
            resource = json.loads(self.body)
        except ValueError:
            return
        self.body = json.dumps(change(resource)).encode()

    def wire(self, without_body):
        fields = dict(self.fields)
        if "Transfer-Encoding" not in fields and self.status not in (204, 304):
            fields.setdefault("Content-Length", str(len(self.body)))
        head = "HTTP/1.1 %d %s\r\n" % (self.status, REASONS.get(self.status, "Other"))
        head += "".join("%s: %s\r\n" % field for field in fields.items()) + "\r\n"
        return head.encode("latin-1") + (b"" if without_body else self.body)


def error(status, message_id, message, registry="Base.1.16", **fields):
    """An answer with Redfish's body of an error."""
    known = {"MessageId": "%s.%s" % (registry, message_id), "Message": message, "Severity": "Warning",
             "Resolution": "None."}
    body = {"error": {"code": known["MessageId"], "message": message, "@Message.ExtendedInfo": [known]}}
    return Answer(status, json.dumps(body).encode(), **fields)


class Fault:
    """One row of FAULTS, set up: for requests whose path matches the pattern, `times` times, or always for None."""

    def __init__(self, kind, path="*", times=None, method="GET", **options):
        self._function, known = FAULTS[kind]
        unknown = set(options) - set(known)
        if unknown:
            raise TypeError("fault %s has no option %s" % (kind, ", ".join(sorted(unknown))))
        self._path, self._method, self.times, self.options, self.happened = path, method, times, {**known, **options}, 0

    def matches(self, method, path):
        is_over = self.times is not None and self.happened >= self.times
        return not is_over and self._method in (method, "*") and fnmatch.fnmatchcase(path, self._path)

    def apply(self, answer):
        self.happened += 1
        self._function(answer, **self.options)


# --- Functions of answers ------------------------------------------------------------------------------------------

def _status(answer, status, retry_after, message):
    fields = {} if retry_after is None else {"Retry-After": str(retry_after)}
    answer.become(error(status, message, message, **fields))


def _redirect(answer, status, to):
    answer.become(Answer(status, Location=to))


def _html(answer, status):
    answer.become(Answer(status, b"<html><body><h1>Please log in</h1></body></html>", **{"Content-Type": "text/html"}))


def _body(answer, body):
    answer.body = body


def _fields(answer, **fields):
    answer.fields.update(fields)


def _walk(value, change):
    """Calls `change` with every JSON object in `value`, the innermost first."""
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _walk(inner, change)
    if isinstance(value, dict):
        change(value)
    return value


def _members(answer, members, where, change):
    """Calls `change(object, name)` for members with these names, of objects whose property or id contains `where`."""
    def in_object(found):
        about = found.get("MetricProperty") or found.get("@odata.id") or ""
        for name in members.split(","):
            if name in found and where in str(about):
                change(found, name)
    answer.edit(lambda resource: _walk(resource, in_object))


def _set(answer, members, value, where):
    _members(answer, members, where, lambda found, name: found.update({name: value}))


def _drop(answer, members, where):
    _members(answer, members, where, lambda found, name: found.pop(name))


def _no_fragments(answer):
    _members(answer, "MetricProperty", "#", lambda found, name: found.update({name: found[name].partition("#")[0]}))


def _duplicate(answer, member, value):
    """The member twice; readers differ in which one they take."""
    name = json.dumps(member).encode()
    answer.body = re.sub(name + rb": *", name + b": " + json.dumps(value).encode() + b", " + name + b": ", answer.body)


def _next_link(answer, to):
    answer.edit(lambda resource: {**resource, "Members@odata.nextLink": to})


def _insert(answer, text):
    """Puts `text` in front of the members of a JSON object."""
    if answer.body.startswith(b"{"):
        answer.body = b"{" + text + b", " + answer.body[1:]


def _many(answer, members, count):
    def repeat(resource):
        known = resource.get(members)
        return {**resource, members: known * (count // len(known) + 1)} if known else resource
    answer.edit(repeat)


def _gzip(answer):
    answer.body = gzip.compress(answer.body)
    answer.fields["Content-Encoding"] = "gzip"


def _chunked(answer, size):
    parts = [answer.body[at:at + size] for at in range(0, len(answer.body), size)] + [b""]
    answer.body = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts)
    answer.fields["Transfer-Encoding"] = "chunked"


# --- Ways to send --------------------------------------------------------------------------------------------------
# Each returns whether the connection goes on.

def send_all(connection, wire, _):
    connection.sendall(wire)
    return True


def reset(connection):
    """Ends a connection by RST."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    socket.socket(fileno=connection.detach()).close()


def _part_of(wire, part):
    head = wire.index(b"\r\n\r\n") + 4
    return wire[:head + int(part * (len(wire) - head))]


def _truncated(connection, wire, _, part):
    """Ends the connection without the end of TLS."""
    connection.sendall(_part_of(wire, part))
    socket.socket(fileno=connection.detach()).close()
    return False


def _reset(connection, wire, _, part):
    connection.sendall(_part_of(wire, part))
    reset(connection)
    return False


def _silent(_connection, _wire, stopped, seconds):
    stopped.wait(seconds)
    return False


def _slow(connection, wire, stopped, seconds):
    stopped.wait(seconds)
    return send_all(connection, wire, stopped)


def _held(connection, wire, stopped, until):
    """Sends when `until`, a threading.Event, is set."""
    while not until.wait(0.02) and not stopped.is_set():
        pass
    return send_all(connection, wire, stopped)


def _drip(connection, wire, stopped, size, seconds):
    for at in range(0, len(wire), size):
        if stopped.wait(seconds):
            return False
        connection.sendall(wire[at:at + size])
    return True


def _drop_connection(connection, wire, _):
    connection.sendall(wire)
    return False


def _half_close(connection, wire, stopped, seconds):
    """Sends all, closes this direction, and hears whatever the peer still says."""
    connection.sendall(wire)
    raw = socket.socket(fileno=connection.detach())
    with raw:
        raw.shutdown(socket.SHUT_WR)
        raw.settimeout(0.05)
        end = time.monotonic() + seconds
        while not stopped.is_set() and time.monotonic() < end:
            try:
                if not raw.recv(4096):
                    break
            except TimeoutError:
                continue
            except OSError:
                break
    return False


def _way(send):
    """A function of answers that chooses the way to send them."""
    def choose(answer, **options):
        answer.send = lambda connection, wire, stopped: send(connection, wire, stopped, **options)
    return choose


VALUES = "MetricValue,Reading"
NEVER = threading.Event()
FAULTS = {
    # The status.
    "busy": (_status, {"status": 503, "retry_after": None, "message": "ServiceTemporarilyUnavailable"}),
    "too_many": (_status, {"status": 429, "retry_after": None, "message": "RateLimitExceeded"}),
    "failed": (_status, {"status": 500, "retry_after": None, "message": "InternalError"}),
    "missing": (_status, {"status": 404, "retry_after": None, "message": "ResourceMissingAtURI"}),
    "unauthorized": (_status, {"status": 401, "retry_after": None, "message": "NoValidSession"}),
    "redirect": (_redirect, {"status": 308, "to": "/redfish/v1"}),
    # The body's bytes.
    "html": (_html, {"status": 200}),
    "empty": (_body, {"body": b""}),
    "not_json": (_body, {"body": b'{"Id": '}),
    "not_utf8": (_insert, {"text": b'"Description": "\xff\xfe"'}),
    "control": (_insert, {"text": b'"Description": "\x01\x1b[31m"'}),
    "deep": (lambda answer, depth: _insert(answer, b'"Deep": ' + b"[" * depth + b"]" * depth), {"depth": 100000}),
    "huge": (lambda answer, size: _insert(answer, b'"Huge": "' + b"x" * size + b'"'), {"size": 5 << 20}),
    "duplicate": (_duplicate, {"member": "MetricValue", "value": "31463"}),
    # The body's members.
    "set": (_set, {"members": VALUES, "value": None, "where": ""}),
    "drop": (_drop, {"members": "Timestamp", "where": ""}),
    "null": (_set, {"members": VALUES, "value": None, "where": ""}),
    "nan": (_set, {"members": VALUES, "value": "nan", "where": ""}),
    "wrong_type": (_set, {"members": VALUES, "value": {"a": [1]}, "where": ""}),
    "stale": (_set, {"members": "MetricValueStale", "value": True, "where": ""}),
    "no_fragments": (_no_fragments, {}),
    "many": (_many, {"members": "MetricValues", "count": 20001}),
    "next_link": (_next_link, {"to": "https://192.0.2.1/redfish/v1/Systems"}),
    # How it is sent.
    "gzip": (_gzip, {}),
    "chunked": (_chunked, {"size": 1000}),
    "close": (_fields, {"Connection": "close"}),
    "huge_header": (lambda answer, size: _fields(answer, Padding="x" * size), {"size": 70000}),
    "slow": (_way(_slow), {"seconds": 1.0}),
    "silent": (_way(_silent), {"seconds": 60.0}),
    "held": (_way(_held), {"until": NEVER}),
    "drip": (_way(_drip), {"size": 1, "seconds": 0.1}),
    "truncated": (_way(_truncated), {"part": 0.5}),
    "reset": (_way(_reset), {"part": 0.5}),
    "dropped": (_way(_drop_connection), {}),
    "half_closed": (_way(_half_close), {"seconds": 60.0}),
}
