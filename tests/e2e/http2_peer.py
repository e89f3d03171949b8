# SPDX-License-Identifier: Apache-2.0
"""An HTTP/2 peer on the level of frames (RFC 9113), for behaviour that no gRPC library has.

    with http2_peer.Peer(site, "tenant-b", window=0) as peer:     # accepts no byte of any answer
        peer.call("/sideband.v1.Telemetry/GetSnapshot")
        peer.ping()
        peer.send(http2_peer.frame(http2_peer.HEADERS, …))
        peer.goodbye()      # (error code, message) of the GOAWAY
"""

import socket
import struct

import programs

DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 0x0, 0x1, 0x3, 0x4, 0x6, 0x7, 0x8, 0x9
ENHANCE_YOUR_CALM = 0xb
END_STREAM, ACK, END_HEADERS = 0x1, 0x1, 0x4
_INITIAL_WINDOW_SIZE = 0x4
_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def frame(kind, payload=b"", flags=0, stream=0):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def _text(text):
    # Uncompressed; shorter than 127 bytes.
    assert len(text) < 127
    return bytes([len(text)]) + text.encode()


def fields_of(path, **more):
    """The header block of a call."""
    return _fields({":method": "POST", ":scheme": "https", ":path": path, ":authority": "localhost",
                    "content-type": "application/grpc", "te": "trailers", **more})


def _fields(fields):
    # Each field as a literal with a new name, without indexing (RFC 7541, section 6.2.2).
    return b"".join(b"\x00" + _text(name) + _text(value) for name, value in fields.items())


class Peer:
    """A connection of a site's user to its gRPC listener. `window` is the initial flow-control window of each answer.
    The peer acknowledges the server's SETTINGS at once, unless `acknowledges` is False. An operation that makes no
    progress for `timeout_s` raises TimeoutError."""

    def __init__(self, site, user, window=65535, acknowledges=True, timeout_s=programs.PATIENCE_S):
        self._timeout_s = timeout_s
        plain = socket.create_connection(("127.0.0.1", site.grpc_port), timeout=timeout_s)
        context = site.tls(user)
        context.set_alpn_protocols(["h2"])
        self._socket = context.wrap_socket(plain, server_hostname="localhost")
        self._stream = -1
        self._received = b""
        self.send(_PREFACE + frame(SETTINGS, struct.pack(">HI", _INITIAL_WINDOW_SIZE, window)))
        if acknowledges:
            while self._read_frame()[0] != SETTINGS:
                pass
            self.send(frame(SETTINGS, flags=ACK))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self._socket.close()

    def send(self, frames):
        self._socket.sendall(frames)

    def take(self):
        """Reads and discards the received bytes."""
        self._socket.settimeout(0.001)
        try:
            self._socket.recv(1 << 20)
        except TimeoutError:
            pass
        finally:
            self._socket.settimeout(self._timeout_s)

    def ping(self, count=1):
        """Sends all pings at once, so that the server has read them before it closes."""
        self._socket.sendall(frame(PING, bytes(8)) * count)

    def call(self, path, message=b"", **more):
        """Sends a complete request without waiting for an answer."""
        self._stream += 2
        body = struct.pack(">BI", 0, len(message)) + message
        self._socket.sendall(frame(HEADERS, fields_of(path, **more), END_HEADERS, self._stream)
                             + frame(DATA, body, END_STREAM, self._stream))

    def goodbye(self):
        """Reads until the server's GOAWAY; ConnectionError if it closes the connection without one."""
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
