# SPDX-License-Identifier: Apache-2.0
"""Errors: one class for each status of a call, and two for what is found on this side.

    try:
        client.get(vm="vm9")
    except sideband.NotFound as error:
        print(error)            # "host:9878: no such device, VM, context or event: VM 'vm9' (did you mean 'vm1'?)"
"""

import re

import grpc

# gRPC's trailing metadata of a refused call: when to ask again, in milliseconds.
_RETRY_PUSHBACK = "grpc-retry-pushback-ms"
# The same at the end of the daemon's message; some calls have it there alone.
_RETRY_TEXT = re.compile(r"; retry in ((?:\d{1,9}(?:\.\d{1,9})?(?:ms|h|m|s))+)$")
_UNITS_S = {"h": 3600, "m": 60, "s": 1, "ms": 0.001}
# No limit of the daemon lasts so long: a client that is told more asks after this.
RETRY_AFTER_MAX_S = 3600.0
_REQUEST_ID = "x-request-id"
# gRPC's message for a TLS server that does not negotiate HTTP/2, such as the daemon's HTTPS port.
_NO_ALPN = "missing selected ALPN property"
# gRPC's message for an answer that is longer than the client accepts; the status is that of the daemon's own limits.
_TOO_LARGE = "larger than max ("
# The system's messages, which gRPC forwards, for a connection that the peer closed before its first use.
_CLOSED = ("Broken pipe", "Connection reset by peer", "Socket closed")

# How gRPC's messages begin if no connection comes about. A daemon's own may have the same errors, of its bus.
_CONNECTING = ("failed to connect to all addresses", "DNS resolution failed")

# What gRPC says of the cause, and what there is to look at; the first that is in a message holds.
_NO_CONNECTION = (
    ("Could not contact DNS servers",
     "the host's name cannot be looked up: no DNS server answers; a numeric address needs none"),
    ("DNS resolution failed", "the host's name is not known: is it misspelt, or does DNS have no entry for it?"),
    ("Connection refused", "no program listens there: is the daemon running, and is this its gRPC port or socket?"),
    ("No such file or directory", "the socket is not there: is the daemon running, with this unix_socket?"),
    ("Network is unreachable", "there is no route to the host: is the address right?"),
    ("No route to host", "there is no route to the host: is the address right?"),
    ("Connection timed out", "the host does not answer: is the address right, and does a firewall let it through?"),
)


class Error(Exception):
    """A call that failed. Its text is one line.

    code: the status by its name in gRPC, "NOT_FOUND"; of a local error None.
    message: the daemon's text, without the peer that begins the error's text; of a NotFound also what was not found.
    request_id: the field `x-request-id` of the answer's metadata, by which the operator finds the call in the audit log;
        None without it.
    retry_after_s: seconds after which the daemon says that the call can succeed, at most an hour; else None.
    """

    code = None

    def __init__(self, message, peer="", request_id=None, retry_after_s=None):
        super().__init__("%s: %s" % (peer, message) if peer else message)
        self.message = message
        self.request_id = request_id
        self.retry_after_s = retry_after_s

    def naming(self, what):
        """This error, whose text goes on with `what` it is about."""
        self.message = "%s: %s" % (self.message, what)
        self.args = ("%s: %s" % (self.args[0], what),)
        return self


class ConfigError(Error):
    """The configuration, or a file that it names, cannot be used; the text begins with the file."""


class ProtocolError(Error):
    """An answer that the daemon does not send: of more rows or counters than a device can have."""


class Cancelled(Error):
    """The call was cancelled."""

    code = "CANCELLED"


class InvalidArgument(Error):
    """The request is malformed or out of range."""

    code = "INVALID_ARGUMENT"


class DeadlineExceeded(Error):
    """No answer within the client's `timeout`."""

    code = "DEADLINE_EXCEEDED"


class NotFound(Error):
    """A name in the request is absent, or the caller may not know it. The text names it."""

    code = "NOT_FOUND"


class PermissionDenied(Error):
    """The caller may not make this call."""

    code = "PERMISSION_DENIED"


class ResourceExhausted(Error):
    """A limit is reached: `retry_after_s` tells until when. Also an answer that is larger than this client accepts."""

    code = "RESOURCE_EXHAUSTED"

    @property
    def is_too_large(self):
        """Whether it is such an answer, which comes again however long one waits."""
        return _TOO_LARGE in self.message


class FailedPrecondition(Error):
    """The daemon or the device is not in the state that the call needs; some states change by themselves."""

    code = "FAILED_PRECONDITION"


class Aborted(Error):
    """Something changed during the call; it may be repeated."""

    code = "ABORTED"


class Unimplemented(Error):
    """The daemon, or the device, does not know the call."""

    code = "UNIMPLEMENTED"


class Internal(Error):
    """A defect of the daemon, or an answer that is not one."""

    code = "INTERNAL"


class Unavailable(Error):
    """The daemon cannot be reached, or is stopping."""

    code = "UNAVAILABLE"


class Unauthenticated(Error):
    """The caller's identity is not, or no longer, in the daemon's policy."""

    code = "UNAUTHENTICATED"


_CLASSES = {kind.code: kind for kind in Error.__subclasses__() if kind.code is not None}


def silence(seconds, peer):
    """The Error of a stream that has had no response for so long; None: for longer than a limit that has gone since."""
    how_long = "in time" if seconds is None else "for %g s" % seconds
    return Unavailable("nothing was received %s: the connection is taken for dead" % how_long, peer)


def from_rpc(failure, peer):
    """The Error for a grpc.RpcError of a call to `peer`, the configured address."""
    code = failure.code() if hasattr(failure, "code") else grpc.StatusCode.UNKNOWN
    details = failure.details() or ""
    fields = {**_metadata(failure, "initial_metadata"), **_metadata(failure, "trailing_metadata")}
    error = _CLASSES.get(code.name, Error)(_message(code, details, peer), peer, fields.get(_REQUEST_ID),
                                           _retry_after_s(fields, details))
    error.code = code.name
    return error


def _metadata(failure, kind):
    pairs = getattr(failure, kind)() if hasattr(failure, kind) else None
    return {key: value for key, value in pairs or () if isinstance(value, str)}


def _retry_after_s(fields, details):
    told_s = _told_retry_s(fields, details)
    return None if told_s is None else min(told_s, RETRY_AFTER_MAX_S)


def _told_retry_s(fields, details):
    text = fields.get(_RETRY_PUSHBACK, "")
    if text.isascii() and text.isdigit() and len(text) <= 9:
        return int(text) / 1000
    found = _RETRY_TEXT.search(details)
    if found is None:
        return None
    return sum(float(number) * _UNITS_S[unit] for number, unit in re.findall(r"([\d.]+)(ms|h|m|s)", found[1]))


def _message(code, details, peer):
    if peer.startswith("unix:") and code is grpc.StatusCode.UNAVAILABLE and any(text in details for text in _CLOSED):
        return "the daemon closed the connection: is it running, and is this user one of its local_operators?"
    if _NO_ALPN in details:
        return ("the server at this address speaks TLS, but not gRPC: is it the daemon's HTTPS port? "
                "gRPC has its own port")
    if code is grpc.StatusCode.UNAVAILABLE and details.startswith(_CONNECTING):
        for theirs, ours in _NO_CONNECTION:
            if theirs in details:
                return ours
    return " ".join(details.split()) or code.name
