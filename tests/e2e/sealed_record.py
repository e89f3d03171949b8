# SPDX-License-Identifier: Apache-2.0
"""Opens sealed records by what proto/envelope/README.md says of their bytes, independently of the product's own code.

    opener = sealed_record.Opener.of_static_key(key)
    opener = sealed_record.Opener.of_exchange(secret, nonce)
    record = opener.open(bytes)                       # Rejected, whatever is wrong
    counts = sealed_record.decode_counts(record.content, events)     # of suite 2
"""

import dataclasses
import struct
import uuid

from cryptography import exceptions
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers import aead
from cryptography.hazmat.primitives.kdf import hkdf

STATIC, EXCHANGED = 1, 2
_HEADER = struct.Struct("<4sBBH16sQ16sIIQQQ")
_NONCE_BYTES, _TAG_BYTES = 32, 16
_EPOCHS_MAX = 1 << 16
_INFO = {STATIC: b"sideband/1 static", EXCHANGED: b"sideband/2 exchange"}
_PADDED_TO = {STATIC: 4096, EXCHANGED: 64}
_PADDED_MAX = (16 << 20) - 4096


class Rejected(Exception):
    """The record is not to be trusted."""


def _require(condition):
    if not condition:
        raise Rejected


@dataclasses.dataclass(frozen=True)
class Header:
    """The fields of a record's header. The guest nonce of version 1 is empty."""
    version: int
    suite: int
    scope: int
    device: bytes
    boot_id: int
    vm: bytes
    generation: int
    padded_length: int
    epoch: int
    sequence: int
    reference_time_ns: int
    guest_nonce: bytes

    @property
    def bytes(self):
        return _HEADER.size + len(self.guest_nonce)

    @property
    def position(self):
        return self.epoch, self.sequence


@dataclasses.dataclass(frozen=True)
class Record:
    """An opened record."""
    header: Header
    content: bytes


def parse_header(record):
    _require(len(record) >= _HEADER.size)
    magic, version, *fields = _HEADER.unpack_from(record)
    _require(magic == b"SBSR" and version in (1, 2))
    header = Header(version, *fields, record[_HEADER.size:_HEADER.size + _NONCE_BYTES] if version == 2 else b"")
    _require(header.suite in _INFO and (header.suite == STATIC or version == 2))
    _require(0 < header.padded_length <= _PADDED_MAX and header.padded_length % _PADDED_TO[header.suite] == 0)
    _require(len(record) == header.bytes + header.padded_length + _TAG_BYTES)
    return header


def ratchet(secret):
    """The secret of the next epoch of an exchange."""
    return hkdf.HKDFExpand(hashes.SHA256(), 32, b"sideband/2 ratchet").derive(secret)


def session_key(secret, header):
    """(key, base nonce) of the header's session."""
    salt = struct.pack("<QQ16s16sI", header.epoch, header.boot_id, header.device, header.vm, header.generation)
    okm = hkdf.HKDF(hashes.SHA256(), 44, salt + header.guest_nonce, _INFO[header.suite]).derive(secret)
    return okm[:32], okm[32:]


def nonce_of(base_nonce, sequence):
    return (int.from_bytes(base_nonce, "big") ^ sequence).to_bytes(12, "big")


def _decrypt(secret, header, record):
    key, base_nonce = session_key(secret, header)
    try:
        return aead.AESGCM(key).decrypt(nonce_of(base_nonce, header.sequence), record[header.bytes:],
                                        record[:header.bytes])
    except exceptions.InvalidTag as error:
        raise Rejected from error


def _without_padding(plaintext):
    length, = struct.unpack_from("<I", plaintext)
    content, padding = plaintext[4:4 + length], plaintext[4 + length:]
    _require(len(content) == length and not any(padding))
    return content


class Opener:
    """Accepts each record once, and none that is not later than all before it."""

    def __init__(self, suite, secret, nonce):
        self._suite, self._nonce = suite, nonce
        self._secret, self._epoch = secret, 0  # of an exchange: the epoch's secret
        self._newest = (-1, -1)

    @classmethod
    def of_static_key(cls, key, nonce=b""):
        return cls(STATIC, key, nonce)

    @classmethod
    def of_exchange(cls, secret, nonce):
        return cls(EXCHANGED, secret, nonce)

    def open(self, record):
        header = parse_header(record)
        _require(header.suite == self._suite and header.guest_nonce == self._nonce)
        _require(header.position > self._newest)
        secret = self._secret_of(header)
        content = _without_padding(_decrypt(secret, header, record))
        self._newest = header.position
        if self._suite == EXCHANGED:
            self._secret, self._epoch = secret, header.epoch
        return Record(header, content)

    def _secret_of(self, header):
        if self._suite == STATIC:
            return self._secret
        _require(self._epoch <= header.epoch < _EPOCHS_MAX)
        secret = self._secret
        for _ in range(header.epoch - self._epoch):
            secret = ratchet(secret)
        return secret


_UNKNOWN = (1 << 64) - 1
_CONTENT = struct.Struct("<BBHHHIIQQ")
_ROW = struct.Struct("<HBBHIBB")
_ESTIMATE = struct.Struct("<QQQQQQ")


@dataclasses.dataclass(frozen=True)
class Estimate:
    """How exact a count is; None: unknown."""
    standard_error: int
    lower: int
    upper: int
    time_enabled_ns: int
    time_running_ns: int
    method: int


@dataclasses.dataclass
class Row:
    """The counts of a context, or of the VM, whose name is empty, by event. An event that has no number is absent."""
    name: str
    context: int
    state: int
    slice: int
    flags: int
    generation: int
    counts: dict = dataclasses.field(default_factory=dict)
    coverage: dict = dataclasses.field(default_factory=dict)
    estimates: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Counts:
    """The content of a record of suite 2."""
    snapshot_id: int
    trigger_id: int
    host_time_ns: int
    rows: list


class _Cursor:
    """Reads from the start of bytes to their end."""

    def __init__(self, data):
        self._data, self._at = data, 0

    def unpack(self, layout):
        layout = struct.Struct(layout) if isinstance(layout, str) else layout
        _require(self._at + layout.size <= len(self._data))
        self._at += layout.size
        return layout.unpack_from(self._data, self._at - layout.size)

    def at_end(self):
        return self._at == len(self._data)


def _read_row(cursor):
    context, state, slice_, flags, generation, _, length = cursor.unpack(_ROW)
    name, = cursor.unpack("%ds" % length)
    return Row(name.decode(), context, state, slice_, flags, generation)


def _read_estimate(cursor):
    error, lower, upper, *rest = cursor.unpack(_ESTIMATE)
    return Estimate(None if error == _UNKNOWN else error, lower, None if upper == _UNKNOWN else upper, *rest)


def _read_numbers(cursor, rows, events, has_coverage, estimated):
    for row in rows:
        row.counts = dict(zip(events, cursor.unpack("<%dQ" % len(events))))
    for row in rows if has_coverage else ():
        row.coverage = dict(zip(events, cursor.unpack("<%dd" % len(events))))
    for row in rows:
        row.estimates = {event: _read_estimate(cursor) for event in estimated}
        row.estimates = {event: one for event, one in row.estimates.items() if one.method != 0}
        row.counts = {event: count for event, count in row.counts.items() if row.coverage.get(event) != 0}


def decode_counts(content, events):
    """The content of a record of suite 2; `events` are those of the exchange's statement."""
    cursor = _Cursor(content)
    version, parts, rows, events_of_row, estimated, snapshot, trigger, host_time, _ = cursor.unpack(_CONTENT)
    _require(version == 1 and parts in (0, 1) and events_of_row == len(events))
    positions = cursor.unpack("<%dH" % estimated)
    _require(all(one < len(events) for one in positions) and list(positions) == sorted(set(positions)))
    read = [_read_row(cursor) for _ in range(rows)]
    _read_numbers(cursor, read, events, parts == 1, [events[one] for one in positions])
    _require(cursor.at_end())
    return Counts(snapshot, trigger, host_time, read)


def uuid_text(uuid_bytes):
    return str(uuid.UUID(bytes=uuid_bytes))
