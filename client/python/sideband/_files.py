# SPDX-License-Identifier: Apache-2.0
"""Reads the user's small files; every error names the file.

    token = load_token("/var/run/secrets/tokens/sideband")
"""

import os
import ssl
import stat

from sideband._errors import ConfigError

# The daemon rejects longer tokens.
TOKEN_BYTES_MAX = 8192
_SPACE_AROUND = 64
_PEM_BYTES_MAX = 1 << 20


def read_file(path, size_max):
    """The bytes of a regular file. Opening never blocks: a FIFO without a writer must not hang the program."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise ConfigError("%s: not a regular file" % path)
            with open(descriptor, "rb", closefd=False) as file:
                content = file.read(size_max + 1)
        finally:
            os.close(descriptor)
    except (OSError, ValueError) as error:
        raise ConfigError("%s: %s" % (path, getattr(error, "strerror", None) or error)) from None
    if len(content) > size_max:
        raise ConfigError("%s: longer than %d bytes" % (path, size_max))
    return content


def load_token(path):
    """The file's content without white space around it. The daemon verifies it; here only its form is checked."""
    content = read_file(path, TOKEN_BYTES_MAX + _SPACE_AROUND)
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ConfigError("%s: a text in UTF-16: save it as plain text (UTF-8)" % path)
    token = content.removeprefix(b"\xef\xbb\xbf").strip()
    if not token:
        raise ConfigError("%s: no token in it" % path)
    if len(token) > TOKEN_BYTES_MAX:
        raise ConfigError("%s: longer than %d bytes" % (path, TOKEN_BYTES_MAX))
    # Other characters are not valid in a field of a header.
    if not all(0x21 <= byte <= 0x7e for byte in token):
        raise ConfigError("%s: more than one token, or none" % path)
    return token.decode()


def load_certificates(ca_file, cert_file, key_file):
    """(authorities, own chain, own key) in PEM; the latter two None if both paths are empty.

    They are checked here because gRPC reports a bad file only by a log line and a channel that never connects.
    """
    authorities = read_file(ca_file, _PEM_BYTES_MAX)
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cadata=authorities.decode("ascii"))
    except (ssl.SSLError, ValueError):
        raise ConfigError("%s: no PEM certificate in it" % ca_file) from None
    if not cert_file and not key_file:
        return authorities, None, None
    chain, key = read_file(cert_file, _PEM_BYTES_MAX), read_file(key_file, _PEM_BYTES_MAX)
    _check_pair(cert_file, chain, key_file, key)
    return authorities, chain, key


def _check_pair(cert_file, chain, key_file, key):
    if b"-----BEGIN CERTIFICATE-----" not in chain:
        if b"PRIVATE KEY-----" in chain:
            raise ConfigError("%s: a private key, not a certificate: are cert_file and key_file swapped?" % cert_file)
        raise ConfigError("%s: no PEM certificate in it" % cert_file)
    if b"PRIVATE KEY-----" not in key:
        raise ConfigError("%s: no PEM private key in it" % key_file)

    def refuse():
        raise ConfigError("%s: the private key has a passphrase: openssl pkey -in %s -out NEW.key writes it without" %
                          (key_file, key_file))

    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_cert_chain(cert_file, key_file, password=refuse)
    except (ssl.SSLError, ValueError, OSError):
        raise ConfigError("%s: not the private key of %s" % (key_file, cert_file)) from None
