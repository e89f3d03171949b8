# SPDX-License-Identifier: Apache-2.0
"""Messages and stubs made from telemetry.proto alone, as a tenant without the Python package would make them.

    from bare_messages import telemetry_pb2, telemetry_pb2_grpc

It is imported before the package (`tenant_client`), which leaves modules of the same names importable.
"""

import subprocess
import sys
import tempfile

import programs

# The files are not needed after the import.
with tempfile.TemporaryDirectory(prefix="sb-") as _folder:
    # Debian's compiler and plugin: the compiler in python3-grpc-tools is too old for the library.
    subprocess.run(["/usr/bin/protoc", "-I" + programs.runfile("proto/api"), "--python_out=" + _folder,
                    "--plugin=protoc-gen-grpc=/usr/bin/grpc_python_plugin", "--grpc_out=" + _folder,
                    "sideband/v1/sensors.proto", "sideband/v1/telemetry.proto"], check=True)
    sys.path.insert(0, _folder)
    try:
        from sideband.v1 import telemetry_pb2, telemetry_pb2_grpc  # noqa: F401
    finally:
        sys.path.remove(_folder)
        # The package has the same name; what was imported stays.
        del sys.modules["sideband"]
