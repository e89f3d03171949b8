# SPDX-License-Identifier: Apache-2.0
"""Evidence of AMD SEV-SNP by a test processor's key, by what proto/attestation/README.md says of its bytes.

    processor = snp_evidence.Processor(folder)      # with ask.pem, vcek.pem and vcek.key
    evidence = processor.report(report_data, measurement)
"""

import os
import struct
import uuid

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils

_REPORT_BYTES, _SIGNED_BYTES, _NUMBER_BYTES = 1184, 0x2A0, 72
_POLICY = 1 << 17
_ECDSA_P384_SHA384 = 1
_EXTENSIONS = "1.3.6.1.4.1.3704.1"
_TCB_BYTES = {".3.1": 0, ".3.2": 1, ".3.3": 6, ".3.8": 7}
_VCEK = uuid.UUID("63da758d-e664-4564-adc5-f4b93be8accd").bytes
_ASK = uuid.UUID("4ab7b379-bbac-4fe4-a02f-05aef327c782").bytes


def _table(certificates):
    """The certificate table of {GUID: DER}."""
    at, entries = 24 * (len(certificates) + 1), b""
    for guid, der in certificates.items():
        entries += guid + struct.pack("<II", at, len(der))
        at += len(der)
    return entries + bytes(24) + b"".join(certificates.values())


class Processor:
    """The key, certificates, firmware and chip of an emulated secure processor."""

    def __init__(self, folder):
        self._folder = folder
        self._key = serialization.load_pem_private_key(self._read("vcek.key"), None)
        self._vcek = x509.load_pem_x509_certificate(self._read("vcek.pem"))
        ask = x509.load_pem_x509_certificate(self._read("ask.pem"))
        self._certificates = {guid: one.public_bytes(serialization.Encoding.DER)
                              for guid, one in ((_VCEK, self._vcek), (_ASK, ask))}

    def _read(self, name):
        with open(os.path.join(self._folder, name), "rb") as file:
            return file.read()

    def _extension(self, name):
        identifier = x509.ObjectIdentifier(_EXTENSIONS + name)
        return self._vcek.extensions.get_extension_for_oid(identifier).value.value

    def _tcb(self):
        tcb = bytearray(8)
        for name, at in _TCB_BYTES.items():
            tcb[at] = self._extension(name)[-1]  # INTEGER of 0 to 255: its last byte
        return bytes(tcb)

    def _fields(self, report_data, measurement):
        tcb = self._tcb()
        return {0x000: struct.pack("<I", 2), 0x008: struct.pack("<Q", _POLICY),
                0x034: struct.pack("<I", _ECDSA_P384_SHA384), 0x050: report_data, 0x090: measurement,
                0x038: tcb, 0x180: tcb, 0x1E0: tcb, 0x1F0: tcb, 0x1A0: self._extension(".4")[-64:]}

    def report(self, report_data, measurement):
        report = bytearray(_REPORT_BYTES)
        for at, field in self._fields(report_data, measurement).items():
            report[at:at + len(field)] = field
        signature = self._key.sign(bytes(report[:_SIGNED_BYTES]), ec.ECDSA(hashes.SHA384()))
        for i, number in enumerate(utils.decode_dss_signature(signature)):
            at = _SIGNED_BYTES + i * _NUMBER_BYTES
            report[at:at + _NUMBER_BYTES] = number.to_bytes(_NUMBER_BYTES, "little")
        return bytes(report) + _table(self._certificates)
