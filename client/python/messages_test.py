# SPDX-License-Identifier: Apache-2.0
"""Imports of generated modules are rewritten, and nothing else is."""

import os
import subprocess
import sys
import tempfile
import unittest

import generate_messages
from sideband import _proto
from sideband._proto.sideband.v1 import telemetry_pb2

MODULES = {"sideband.v1.telemetry_pb2", "sideband.v1.sensors_pb2"}


def rewrite(text):
    return generate_messages.rewrite_imports(text, "sideband._proto", MODULES)


class RewriteTest(unittest.TestCase):
    def test_imports_of_the_files(self):
        self.assertEqual(rewrite("from sideband.v1 import sensors_pb2 as sideband_dot_v1_dot_sensors__pb2\n"),
                         "from sideband._proto.sideband.v1 import sensors_pb2 as sideband_dot_v1_dot_sensors__pb2\n")

    def test_other_lines_stay(self):
        text = ("from google.protobuf import duration_pb2 as google_dot_protobuf_dot_duration__pb2\nimport grpc\n"
                "  '/sideband.v1.Telemetry/ListDevices'\n# from sideband.v1 import sensors_pb2 as x\n")
        self.assertEqual(rewrite(text), text)

    def test_an_unknown_form_is_an_error(self):
        for line in ("import sideband.v1.telemetry_pb2", "from sideband.v1.telemetry_pb2 import Device",
                     "from sideband.v1 import other_pb2 as x", "    import sideband.v1.sensors_pb2 as y"):
            with self.subTest(line=line), self.assertRaises(generate_messages.UnknownImport):
                rewrite(line + "\n")


class GeneratedTest(unittest.TestCase):
    def test_the_files_of_the_messages_are_beside_them(self):
        folder = os.path.dirname(telemetry_pb2.__file__)
        for name in ("admin", "counting", "sensors", "telemetry"):
            self.assertTrue(os.path.exists(os.path.join(folder, name + ".proto")), name)
        self.assertTrue(folder.startswith(list(_proto.__path__)[0]))

    def test_descriptors_keep_their_names(self):
        self.assertEqual(telemetry_pb2.DESCRIPTOR.name, "sideband/v1/telemetry.proto")

    def test_modules_of_a_programs_own_are_beside_the_package(self):
        with tempfile.TemporaryDirectory() as folder:
            os.makedirs(os.path.join(folder, "sideband/v1"))
            with open(os.path.join(folder, "sideband/v1/telemetry_pb2.py"), "w", encoding="utf-8") as file:
                file.write("OWN = 1\n")
            code = "import sideband; from sideband.v1 import telemetry_pb2; print(telemetry_pb2.OWN, sideband.Client.__name__)"
            path = os.pathsep.join((os.environ.get("PYTHONPATH", os.getcwd()), folder))
            done = subprocess.run([sys.executable, "-B", "-c", code], env={"PYTHONPATH": path}, check=True,
                                  capture_output=True, text=True)
        self.assertEqual(done.stdout, "1 Client\n")


if __name__ == "__main__":
    unittest.main()
