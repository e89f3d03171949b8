# SPDX-License-Identifier: Apache-2.0
"""A peer that speaks HTTP/2 by the frame (RFC 9113), for what no gRPC library would do.

    with http2_peer.Peer(site, "tenant-b", window=0) as peer:     # takes no byte of any answer
        peer.call("/sideband.v1.Telemetry/GetSnapshot")
        peer.ping()
        peer.goodbye()      # (error code, words), when it is sent away
"""

import socket
import struct

import programs

DATA, HEADERS, SETTINGS, PING, GOAWAY = 0x0, 0x1, 0x4, 0x6, 0x7
ENHANCE_YOUR_CALM = 0xb
_END_STREAM, _END_HEADERS = 0x1, 0x4
_INITIAL_WINDOW_SIZE = 0x4
_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def frame(kind, payload=b"", flags=0, stream=0):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def _text(text):
    # As it is, not compressed; shorter than 127 bytes.
    assert len(text) < 127
    return bytes([len(text)]) + text.encode()


def _fields(fields):
    # Each as a literal with a name of its own, which enters no table (RFC 7541, section 6.2.2).
    return b"".join(b"\x00" + _text(name) + _text(value) for name, value in fields.items())


class Peer:
    """A connection of a site's user to its gRPC listener. `window` is how much of each answer it lets come unasked."""

    def __init__(self, site, user, window=65535):
        plain = socket.create_connection(("127.0.0.1", site.grpc_port), timeout=programs.PATIENCE_S)
        context = site.tls(user)
        context.set_alpn_protocols(["h2"])
        self._socket = context.wrap_socket(plain, server_hostname="localhost")
        self._stream = -1
        self._received = b""
        self._socket.sendall(_PREFACE + frame(SETTINGS, struct.pack(">HI", _INITIAL_WINDOW_SIZE, window)))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self._socket.close()

    def ping(self, count=1):
        """At once, so that the server has read them all before it closes."""
        self._socket.sendall(frame(PING, bytes(8)) * count)

    def call(self, path, message=b"", **more):
        """Sends a whole request, and waits for nothing."""
        self._stream += 2
        fields = {":method": "POST", ":scheme": "https", ":path": path, ":authority": "localhost",
                  "content-type": "application/grpc", "te": "trailers", **more}
        body = struct.pack(">BI", 0, len(message)) + message
        self._socket.sendall(frame(HEADERS, _fields(fields), _END_HEADERS, self._stream)
                             + frame(DATA, body, _END_STREAM, self._stream))

    def goodbye(self):
        """Reads until the server says why it wants no more of this peer; ConnectionError where it just goes."""
        while True:
            kind, payload = self._read_frame()
            if kind == GOAWAY:
                return struct.unpack(">I", payload[4:8])[0], payload[8:].decode()

    def _read_frame(self):
        header = self._read(9)
        return header[3], self._read(int.from_bytes(header[:3], "big"))

    def _read(self, size):
        while len(self._received) < size:
            more = self._socket.recv(65536)
            if not more:
                raise ConnectionError("the server has closed the connection")
            self._received += more
        read, self._received = self._received[:size], self._received[size:]
        return read
