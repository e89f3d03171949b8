# SPDX-License-Identifier: Apache-2.0
"""The guest's end of an exchange of keys, by what proto/exchange/README.md says of its bytes and RFC 9180 of HPKE,
independently of the product's own code.

    guest = key_exchange.Guest(device, vm, challenge)
    request = guest.request(key_exchange.SEV_SNP, make_evidence(guest.report_data(key_exchange.SEV_SNP)))
    keys = guest.finish(answer, [root certificate])              # Untrusted, whatever is wrong
    opener = sealed_record.Opener.of_exchange(keys.secret, guest.nonce)
"""

import dataclasses
import hashlib
import hmac
import secrets
import struct
import uuid

from cryptography import exceptions, x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, x25519
from cryptography.hazmat.primitives.kdf import hkdf

TEST, SEV_SNP = 1, 2
DAEMON, DEVICE = 1, 2
_STATEMENT = struct.Struct("<4sBBBB16sQ16sI32s48s32sH")
_RAW = (serialization.Encoding.Raw, serialization.PublicFormat.Raw)


class Untrusted(Exception):
    """The answer is not of a sealer that the guest trusts, or not to its request."""


def _require(condition, why):
    if not condition:
        raise Untrusted(why)


# RFC 9180: DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-256-GCM.
_KEM_SUITE = b"KEM" + struct.pack(">H", 0x0020)
_HPKE_SUITE = b"HPKE" + struct.pack(">HHH", 0x0020, 0x0001, 0x0002)


def _labeled_extract(suite, salt, label, material):
    return hmac.digest(salt or bytes(32), b"HPKE-v1" + suite + label + material, "sha256")


def _labeled_expand(suite, key, label, info, length):
    labeled = struct.pack(">H", length) + b"HPKE-v1" + suite + label + info
    return hkdf.HKDFExpand(hashes.SHA256(), length, labeled).derive(key)


def _decapsulate(enc, private_key):
    shared = private_key.exchange(x25519.X25519PublicKey.from_public_bytes(enc))
    key = _labeled_extract(_KEM_SUITE, b"", b"eae_prk", shared)
    context = enc + private_key.public_key().public_bytes(*_RAW)
    return _labeled_expand(_KEM_SUITE, key, b"shared_secret", context, 32)


def export(enc, private_key, info, context, length):
    """SetupBaseR and Export."""
    schedule = (b"\0" + _labeled_extract(_HPKE_SUITE, b"", b"psk_id_hash", b"")
                + _labeled_extract(_HPKE_SUITE, b"", b"info_hash", info))
    secret = _labeled_extract(_HPKE_SUITE, _decapsulate(enc, private_key), b"secret", b"")
    exporter = _labeled_expand(_HPKE_SUITE, secret, b"exp", schedule, 32)
    return _labeled_expand(_HPKE_SUITE, exporter, b"sec", context, length)


class _Cursor:
    """Reads from the start of bytes to their end."""

    def __init__(self, data):
        self._data, self._at = data, 0

    def take(self, length):
        _require(self._at + length <= len(self._data), "truncated")
        self._at += length
        return self._data[self._at - length:self._at]

    def number(self, width):
        return int.from_bytes(self.take(width), "little")

    def at_end(self):
        return self._at == len(self._data)


@dataclasses.dataclass(frozen=True)
class Statement:
    """What a sealer says of itself."""
    sealer: int
    device: bytes
    boot_id: int
    vm: bytes
    generation: int
    enc: bytes
    measurement: bytes
    request: bytes
    events: list


def parse_statement(data):
    cursor = _Cursor(data)
    magic, version, suite, sealer, zero, *fields, events = _STATEMENT.unpack(cursor.take(_STATEMENT.size))
    _require((magic, version, suite, zero) == (b"SBXS", 1, 2, 0), "not a statement")
    names = [cursor.take(cursor.number(1)).decode() for _ in range(events)]
    _require(cursor.at_end(), "more than a statement")
    return Statement(sealer, *fields, names)


@dataclasses.dataclass(frozen=True)
class Answer:
    """The parts of an answer; the signer's certificate is the first."""
    statement: bytes
    certificates: list
    signature: bytes


def parse_answer(data):
    cursor = _Cursor(data)
    statement = cursor.take(cursor.number(4))
    certificates = [cursor.take(cursor.number(2)) for _ in range(cursor.number(1))]
    signature = cursor.take(cursor.number(2))
    _require(cursor.at_end() and certificates, "not an answer")
    return Answer(statement, certificates, signature)


def _is_signed(key, signature, data, digest):
    try:
        key.verify(signature, data, ec.ECDSA(digest))
    except exceptions.InvalidSignature:
        return False
    return True


def _is_issued(certificate, issuer):
    # Names are not read before they are known to be of the issuer.
    return _is_signed(issuer.public_key(), certificate.signature, certificate.tbs_certificate_bytes,
                      certificate.signature_hash_algorithm) and certificate.issuer == issuer.subject


def _load_certificate(encoded):
    certificate = x509.load_der_x509_certificate(encoded)
    # The library ignores how many bits at the signature's end are said to be unused.
    _require(encoded.endswith(b"\0" + certificate.signature), "a certificate has bits that are unused")
    return certificate


def _verified_signer(encoded, roots):
    chain = [_load_certificate(one) for one in encoded]
    _require(any(_is_issued(chain[-1], root) for root in roots), "the chain has no trusted root")
    for issuer, certificate in zip(chain[:0:-1], chain[-2::-1]):  # from the root down
        _require(issuer.extensions.get_extension_for_class(x509.BasicConstraints).value.ca, "an issuer is none")
        _require(_is_issued(certificate, issuer), "the chain is broken")
    return chain[0]


def _trusted_signer(encoded, roots):
    """The certificate of the signer, whose chain ends at a root."""
    try:
        return _verified_signer(encoded, roots)
    except (ValueError, x509.InvalidVersion, exceptions.UnsupportedAlgorithm) as error:
        raise Untrusted("a certificate is malformed") from error


def _names(certificate):
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return names.get_values_for_type(x509.UniformResourceIdentifier)


@dataclasses.dataclass(frozen=True)
class Keys:
    """The secret of epoch 0, and the statement of the sealer that has it, too."""
    secret: bytes
    statement: Statement


class Guest:
    """One exchange. Device and VM are the 16 bytes of their UUIDs."""

    def __init__(self, device, vm, challenge):
        self._private_key = x25519.X25519PrivateKey.generate()
        self.nonce = secrets.token_bytes(32)
        self._device, self._vm, self._challenge = device, vm, challenge
        self._sent = None

    def _head(self, kind):
        return struct.pack("<4sBBH16s16s32s32s32s", b"SBXQ", 1, 2, kind, self._device, self._vm,
                           self._private_key.public_key().public_bytes(*_RAW), self.nonce, self._challenge)

    def report_data(self, kind):
        return hashlib.sha512(b"sideband/2 evidence" + self._head(kind)).digest()

    def request(self, kind, evidence):
        self._sent = self._head(kind) + struct.pack("<I", len(evidence)) + evidence
        return self._sent

    def finish(self, answer, roots, sealers=(DAEMON, DEVICE)):
        parts = parse_answer(answer)
        signer = _trusted_signer(parts.certificates, roots)
        _require(_is_signed(signer.public_key(), parts.signature, parts.statement, hashes.SHA384()), "not signed")
        statement = parse_statement(parts.statement)
        self._check(statement, sealers, signer)
        context = b"sideband/2 root" + hashlib.sha256(parts.statement).digest()
        info = b"sideband/2 exchange" + statement.request
        return Keys(export(statement.enc, self._private_key, info, context, 32), statement)

    def _check(self, statement, sealers, signer):
        _require(statement.request == hashlib.sha256(self._sent).digest(), "the answer to another request")
        _require((statement.device, statement.vm) == (self._device, self._vm), "another device or VM")
        _require(statement.sealer in sealers, "this kind of sealer is not accepted")
        if statement.sealer == DEVICE:
            _require("urn:uuid:" + str(uuid.UUID(bytes=statement.device)) in _names(signer),
                     "the certificate is of another device")
