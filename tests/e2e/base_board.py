# SPDX-License-Identifier: Apache-2.0
"""A board with only the base commands of SMBPBI, on a virtual bus (proto/smbus/README.md).

    with base_board.BaseBoard(path) as board: ...
"""

import os
import socketserver
import struct
import threading

ADDRESS = 0x4F
SUCCESS, ERR_OPCODE = 0x1F, 0x02
# {opcode: content of 5D}, the values of the golden exchanges.
ANSWERS = {0x00: 0, 0x01: 0x00010033, 0x02: 0x2D00, 0x03: 0x2D80, 0x04: 123456}
OK, ADDRESS_NACK = 0, 1


def pec(data):
    code = 0
    for byte in data:
        code ^= byte
        for _ in range(8):
            code = (code << 1 ^ 0x07) & 0xFF if code & 0x80 else code << 1
    return code


class _Registers:
    """Accepts writes with and without PEC; appends a PEC to every read."""

    def __init__(self):
        self._words = {0x5C: 0x1E000000, 0x5D: 0, 0x5E: 0}
        self._code = 0

    def write(self, data):
        if data:
            self._code = data[0]
        if len(data) >= 6 and data[1] == 4 and self._code in self._words:
            word = struct.unpack_from("<I", data, 2)[0]
            self._words[self._code] = self._execute(word) if self._code == 0x5C else word

    def _execute(self, word):
        opcode = word & 0xFF
        self._words[0x5D] = ANSWERS.get(opcode, 0)
        return word & 0x00FFFFFF | (SUCCESS if opcode in ANSWERS else ERR_OPCODE) << 24

    def read(self, size):
        if self._code not in self._words:
            return b"\xff" * size
        block = struct.pack("<BI", 4, self._words[self._code])
        block += bytes([pec(bytes([ADDRESS << 1, self._code, ADDRESS << 1 | 1]) + block)])
        return (block + b"\xff" * size)[:size]


def _carry_out(registers, body):
    outcome, reads = OK, []
    count, offset = struct.unpack_from("<H", body, 2)[0], 4
    for _ in range(count):
        address, flags, size = struct.unpack_from("<BBH", body, offset)
        offset += 4
        data = b"" if flags & 1 else body[offset:offset + size]
        offset += len(data)
        if address != ADDRESS:
            outcome = ADDRESS_NACK
            break
        if flags & 1:
            reads.append(registers.read(size + 5 if flags & 2 else size))
        else:
            registers.write(data)
    result = struct.pack("<BBBIH", 1, 0x81, outcome, 0, len(reads))
    return result + b"".join(struct.pack("<H", len(read)) + read for read in reads)


class _Handler(socketserver.StreamRequestHandler):
    def handle(self):
        while len(header := self.rfile.read(4)) == 4:
            answer = _carry_out(self.server.registers, self.rfile.read(struct.unpack("<I", header)[0]))
            self.wfile.write(struct.pack("<I", len(answer)) + answer)


class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    block_on_close = False


class BaseBoard:
    def __init__(self, path):
        self._path = path
        self._server = _Server(path, _Handler)
        self._server.registers = _Registers()
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
        os.unlink(self._path)
