# SPDX-License-Identifier: Apache-2.0
"""A certificate authority for one test.

    authority = certificates.Authority(folder)          # ca.pem
    authority.issue("tenant-a", uri="spiffe://e2e/a")   # tenant-a.pem, tenant-a.key
"""

import datetime
import ipaddress
import os

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_VALID = datetime.timedelta(days=1)
# Since an hour ago, to tolerate clock steps.
_START = -datetime.timedelta(hours=1)


def key_usage(*usages):
    """An extension of these usages and no others, such as "key_cert_sign"."""
    all_usages = ("digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement",
                  "key_cert_sign", "crl_sign", "encipher_only", "decipher_only")
    return x509.KeyUsage(**{usage: usage in usages for usage in all_usages}), True


def is_authority(value):
    return x509.BasicConstraints(value, None), True


def _name(text):
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


class Authority:
    def __init__(self, folder, ca_file="ca.pem"):
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._subject = _name("sideband end-to-end tests")
        certificate = self._sign(self._subject, self._key.public_key(), (x509.BasicConstraints(True, 0), True))
        self._write(ca_file, certificate.public_bytes(serialization.Encoding.PEM))

    def issue(self, name, uri=None, valid=_VALID, extensions=(), start=_START):
        """Writes NAME.pem and NAME.key: a client's certificate with that URI, or a server's for localhost. `valid` is
        the period of validity, which begins `start` from now; `extensions` are further ones, each with its criticality."""
        key = ec.generate_private_key(ec.SECP256R1())
        if uri is not None:
            names = [x509.UniformResourceIdentifier(uri)]
            usage = ExtendedKeyUsageOID.CLIENT_AUTH
        else:
            names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
            usage = ExtendedKeyUsageOID.SERVER_AUTH
        certificate = self._sign(_name(name), key.public_key(), (x509.SubjectAlternativeName(names), False),
                                 (x509.ExtendedKeyUsage([usage]), False), *extensions, valid=valid, start=start)
        self._write(name + ".pem", certificate.public_bytes(serialization.Encoding.PEM))
        self._write(name + ".key", key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
                                                     serialization.NoEncryption()))

    def _sign(self, subject, public_key, *extensions, valid=_VALID, start=_START):
        start = datetime.datetime.utcnow() + start
        builder = (x509.CertificateBuilder().subject_name(subject).issuer_name(self._subject).public_key(public_key)
                   .serial_number(x509.random_serial_number()).not_valid_before(start).not_valid_after(start + valid))
        for extension, critical in extensions:
            builder = builder.add_extension(extension, critical)
        return builder.sign(self._key, hashes.SHA256())

    def _write(self, name, content):
        with open(os.path.join(self._folder, name), "wb") as file:
            file.write(content)
        os.chmod(os.path.join(self._folder, name), 0o600)
