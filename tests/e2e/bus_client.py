# SPDX-License-Identifier: Apache-2.0
"""A client of a virtual bus (proto/smbus/README.md) beside the daemon: of SMBPBI's base commands, and, at the registers of
their own, of the extension's.

    with bus_client.BusClient(path) as bus:
        bus.execute(0x04)      # (status, data, extended data)
    with bus_client.BusClient(path, bus_client.OWN) as bus:
        bus.stream(0x62)       # the bytes of the stream that the command opens
"""

import socket
import struct

ADDRESS = 0x4F
SHARED = (0x5C, 0x5D, 0x5E)  # command, data, extended data
OWN = (0xC8, 0xC9, 0xCA)
WINDOW_FIRST, WINDOW_COUNT, WINDOW_BYTES = 0xD0, 16, 255
SUCCESS, ACCEPTED = 0x1F, 0x1C
LATCH, READ, PEEK = 0x62, 0x63, 0x67
_READ = 1
_EXECUTE = 0x80000000


def _pec(data):
    """SMBus' packet error code: CRC-8 with the polynomial x^8 + x^2 + x + 1."""
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc << 1 ^ (0x107 if crc & 0x80 else 0)) & 0xFF
    return crc


class BusClient:
    def __init__(self, path, registers=SHARED):
        self._command, self._data, self._extended_data = registers
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(path)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._socket.close()

    def _exactly(self, size):
        received = b""
        while len(received) < size:
            more = self._socket.recv(size - len(received))
            if not more:
                raise AssertionError("the bus has closed the connection")
            received += more
        return received

    def _transfer(self, messages):
        """Each message is bytes to write, or the number of bytes to read; returns what was read."""
        body = struct.pack("<BBH", 1, 0x01, len(messages))
        for message in messages:
            is_read = isinstance(message, int)
            body += struct.pack("<BBH", ADDRESS, _READ if is_read else 0, message if is_read else len(message))
            body += b"" if is_read else message
        self._socket.sendall(struct.pack("<I", len(body)) + body)
        answer = self._exactly(struct.unpack("<I", self._exactly(4))[0])
        _, _, outcome, _, count = struct.unpack_from("<BBBIH", answer)
        if outcome != 0:
            raise AssertionError("outcome %d" % outcome)
        reads, offset = [], 9
        for _ in range(count):
            size, = struct.unpack_from("<H", answer, offset)
            reads.append(answer[offset + 2:offset + 2 + size])
            offset += 2 + size
        return reads

    def _write(self, code, word):
        message = struct.pack("<BBI", code, 4, word)
        if self._command != SHARED[0]:
            message += bytes([_pec(bytes([ADDRESS << 1]) + message)])
        self._transfer([message])

    def _read(self, code):
        block, = self._transfer([bytes([code]), 5])
        return struct.unpack("<BI", block)[1]

    def execute(self, opcode, arg1=0, arg2=0, data=0, extended_data=None):
        """(status, data, extended data) of a command."""
        self._write(self._data, data)
        if extended_data is not None:
            self._write(self._extended_data, extended_data)
        self._write(self._command, _EXECUTE | arg2 << 16 | arg1 << 8 | opcode)
        word = self._read(self._command)
        while word & _EXECUTE or word >> 24 & 0x1F == 0:
            word = self._read(self._command)
        return word >> 24 & 0x1F, self._read(self._data), self._read(self._extended_data)

    def _window(self, index):
        block, = self._transfer([bytes([WINDOW_FIRST + index]), 1 + WINDOW_BYTES])
        return block[1:1 + block[0]]

    def stream(self, opcode, arg1=0, data=0, extended_data=0):
        """The bytes of the stream that a command opens, up to what its windows have; None if it is refused."""
        status, answer, more = self.execute(opcode, arg1, 0, data, extended_data)
        if status != SUCCESS:
            return None
        size = more if opcode == LATCH else answer
        return b"".join(self._window(i) for i in range(WINDOW_COUNT))[:size]
