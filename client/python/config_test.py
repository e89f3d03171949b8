# SPDX-License-Identifier: Apache-2.0
"""The configuration: the same file, members and places as of the program `sideband`."""

import os
import tempfile
import unittest

import sideband
from sideband import _config


class ConfigTestCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, text, name="client.yaml"):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(text.encode() if isinstance(text, str) else text)
        return path

    def refused(self, text):
        """The error of a file, without the folder."""
        path = self.write(text)
        with self.assertRaises(sideband.ConfigError) as raised:
            _config.load(path)
        self.assertNotIn("\n", str(raised.exception))
        return str(raised.exception).replace(path, "FILE")


class LoadTest(ConfigTestCase):
    def test_all_members(self):
        path = self.write("address: host:9878\nca_file: ca.pem\ncert_file: /etc/own.pem\nkey_file: own.key\n"
                          "token_file: sub/token\nserver_name: sidebandd\n")
        beside = lambda name: os.path.join(self.folder, name)  # noqa: E731
        self.assertEqual(_config.load(path), sideband.Config("host:9878", beside("ca.pem"), "/etc/own.pem",
                                                             beside("own.key"), beside("sub/token"), "sidebandd"))

    def test_scalars_are_texts_as_written(self):
        self.assertEqual(_config.load(self.write('address: "1:2"\nserver_name: 0x10\n')).server_name, "0x10")
        self.assertEqual(_config.load(self.write("server_name: true\n")).server_name, "true")

    def test_json_is_yaml(self):
        self.assertEqual(_config.load(self.write('{"address": "a:1"}')).address, "a:1")

    def test_what_is_refused(self):
        cases = [
            ("address: a:1\nadress: b:1\n", "FILE:2: unknown key 'adress'"),
            ("address: a:1\naddress: b:1\n", "FILE:2: key 'address' is given twice"),
            ("address: [a]\n", "FILE:1: expected a text"),
            ("address:\n", "FILE:1: expected a text"),
            ("address: ~\n", "FILE:1: expected a text"),
            ("- address\n", "FILE:1: expected a mapping (key: value)"),
            ("", "FILE:1: expected a mapping (key: value)"),
            ("address: a:1\n---\naddress: b:1\n", "FILE:2: a second document: a file has one"),
            (b"address: \xff\n", "FILE: not UTF-8"),
        ]
        for text, error in cases:
            with self.subTest(text=text):
                self.assertEqual(self.refused(text), error)
        self.assertRegex(self.refused("address: 'a\n"), r"^FILE:\d+: ")

    def test_a_file_that_is_not_there(self):
        with self.assertRaisesRegex(sideband.ConfigError, "^/nonexistent/client.yaml: No such file or directory$"):
            _config.load("/nonexistent/client.yaml")
        with self.assertRaisesRegex(sideband.ConfigError, ": not a regular file$"):
            _config.load(self.folder)

    def test_a_fifo_does_not_hang(self):
        path = os.path.join(self.folder, "fifo")
        os.mkfifo(path)
        with self.assertRaisesRegex(sideband.ConfigError, ": not a regular file$"):
            _config.load(path)


class FindTest(ConfigTestCase):
    def test_the_order_of_places(self):
        usual = self.write("address: usual:1\n", ".config/sideband/client.yaml")
        home = {"HOME": self.folder}
        self.assertEqual(_config.find("", home), usual)
        self.assertEqual(_config.find("", {**home, "SIDEBAND_CONFIG": "other"}), "other")
        self.assertEqual(_config.find("given", {**home, "SIDEBAND_CONFIG": "other"}), "given")
        self.assertEqual(_config.find("", {**home, "SIDEBAND_CONFIG": ""}), usual)

    def test_without_a_file_members_are_empty(self):
        for environment in ({}, {"HOME": ""}, {"HOME": self.folder}):
            self.assertIsNone(_config.find("", environment))
            self.assertEqual(_config.find_and_load("", environment), sideband.Config())

    def test_a_named_file_must_be_there(self):
        with self.assertRaises(sideband.ConfigError):
            _config.find_and_load("", {"SIDEBAND_CONFIG": os.path.join(self.folder, "none")})


class OverrideTest(unittest.TestCase):
    def test_given_members_win(self):
        config = sideband.Config(address="a:1", ca_file="ca")
        self.assertEqual(config.override(address="b:1", ca_file=None, key_file=""), sideband.Config("b:1", "ca"))

    def test_the_default_address(self):
        self.assertEqual(sideband.Config().override().address, "127.0.0.1:9878")


if __name__ == "__main__":
    unittest.main()
