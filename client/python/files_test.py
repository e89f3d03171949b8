# SPDX-License-Identifier: Apache-2.0
"""Tokens and certificates: what is wrong with a file is said before a connection is opened."""

import os
import subprocess
import tempfile
import unittest

import sideband
from sideband import _files


def make_pair(folder, name):
    """NAME.pem, a certificate for localhost that is its own authority, and NAME.key."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-subj", "/CN=" + name, "-addext", "subjectAltName=DNS:localhost", "-days", "2",
                    "-keyout", name + ".key", "-out", name + ".pem"], cwd=folder, check=True, capture_output=True)


class FilesTestCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        make_pair(cls.folder, "one")
        make_pair(cls.folder, "two")
        subprocess.run(["openssl", "ec", "-in", "one.key", "-aes128", "-passout", "pass:secret", "-out", "locked.key"],
                       cwd=cls.folder, check=True, capture_output=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content)
        return self.path(name)


class TokenTest(FilesTestCase):
    def test_white_space_around_it_is_not_part(self):
        self.assertEqual(_files.load_token(self.write("token", b" \r\na.b.c\n")), "a.b.c")
        self.assertEqual(_files.load_token(self.write("token", b"\xef\xbb\xbfa.b.c\n")), "a.b.c")

    def test_the_longest(self):
        self.assertEqual(len(_files.load_token(self.write("token", b"x" * 8192 + b"\n"))), 8192)

    def test_what_is_refused(self):
        for content, words in ((b"", "no token in it"), (b" \n", "no token in it"), (b"a b", "more than one token, or none"),
                               (b"\xff\xfea\0", "a text in UTF-16: save it as plain text (UTF-8)"),
                               (b"a\x00", "more than one token, or none"), (b"\xc3\xa4", "more than one token, or none"),
                               (b"x" * 8193, "longer than 8192 bytes"), (b"x" * 9000, "longer than 8256 bytes")):
            path = self.write("token", content)
            with self.subTest(content=content[:10]), self.assertRaises(sideband.ConfigError) as raised:
                _files.load_token(path)
            self.assertEqual(str(raised.exception), "%s: %s" % (path, words))


class CertificatesTest(FilesTestCase):
    def refused(self, ca, cert, key):
        with self.assertRaises(sideband.ConfigError) as raised:
            _files.load_certificates(self.path(ca), self.path(cert), self.path(key))
        return str(raised.exception).replace(self.folder + "/", "")

    def test_a_pair(self):
        ca, chain, key = _files.load_certificates(*(self.path(name) for name in ("two.pem", "one.pem", "one.key")))
        self.assertIn(b"BEGIN CERTIFICATE", ca)
        self.assertIn(b"BEGIN CERTIFICATE", chain)
        self.assertIn(b"PRIVATE KEY", key)

    def test_authorities_alone(self):
        self.assertEqual(_files.load_certificates(self.path("one.pem"), "", "")[1:], (None, None))

    def test_what_is_refused(self):
        self.write("empty", b"")
        self.write("broken", b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
        for files, error in ((("none", "one.pem", "one.key"), "none: No such file or directory"),
                             (("empty", "one.pem", "one.key"), "empty: no PEM certificate in it"),
                             (("broken", "one.pem", "one.key"), "broken: no PEM certificate in it"),
                             (("one.pem", "one.key", "one.key"),
                              "one.key: a private key, not a certificate: are cert_file and key_file swapped?"),
                             (("one.pem", "one.pem", "one.pem"), "one.pem: no PEM private key in it"),
                             (("one.pem", "one.pem", "two.key"), "two.key: not the private key of one.pem"),
                             (("one.pem", "one.pem", "locked.key"),
                              "locked.key: the private key has a passphrase: openssl pkey -in locked.key -out NEW.key "
                              "writes it without")):
            with self.subTest(files=files):
                self.assertEqual(self.refused(*files), error)


if __name__ == "__main__":
    unittest.main()
