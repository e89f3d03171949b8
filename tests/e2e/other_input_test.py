# SPDX-License-Identifier: Apache-2.0
"""Inputs that `sideband` and `sideband-mcu serve` reject: one line, exit status 2 for a mistake of the user, else 1."""

import os
import socket

import certificates
import programs
import site_layout


class ClientTest(programs.ProgramTestCase):
    def setUp(self):
        super().setUp()
        authority = certificates.Authority(self.folder)
        authority.issue("operator", uri=site_layout.TRUST + "operator")
        # Nobody listens there, and nobody else can.
        taken = socket.socket()
        self.addCleanup(taken.close)
        taken.bind(("127.0.0.1", 0))
        self.port = taken.getsockname()[1]
        self.config("address: 127.0.0.1:%d" % self.port)

    def config(self, first_line, cert="operator.pem"):
        self.write("client.yaml", "%s\nca_file: ca.pem\ncert_file: %s\nkey_file: operator.key\n" % (first_line, cert))

    def refused(self, status, *words, arguments=("--config", "client.yaml", "devices")):
        self.assert_refused(programs.run("sideband", *arguments, cwd=self.folder), status, "sideband: ", *words)

    def test_no_command(self):
        self.refused(2, "--help", arguments=())

    def test_unknown_command_names_the_nearest(self):
        self.refused(2, "'device'", "'devices'?", arguments=("device",))

    def test_unknown_option_names_the_nearest(self):
        self.refused(2, "'--formt'", "'--format'?", arguments=("devices", "--formt", "json"))

    def test_unknown_format(self):
        self.refused(2, "--format", arguments=("devices", "--format", "xml"))

    def test_missing_config(self):
        self.refused(2, "absent.yaml: ", "No such file", arguments=("--config", "absent.yaml", "devices"))

    def test_unknown_key_names_the_nearest(self):
        self.config("adress: 127.0.0.1:%d" % self.port)
        self.refused(2, "client.yaml:1: ", "adress", "'address'?")

    def test_not_yaml(self):
        self.config("address: {")
        self.refused(2, "client.yaml:")

    def test_missing_certificate(self):
        self.config("address: 127.0.0.1:%d" % self.port, cert="absent.pem")
        self.refused(2, "absent.pem", "No such file")

    def test_certificate_is_not_pem(self):
        self.write("operator.pem", "hello\n")
        self.refused(2, "operator.pem")

    def test_nobody_listens(self):
        self.refused(1, "127.0.0.1:%d" % self.port)

    def test_missing_record(self):
        site_layout.write(self.folder, "vm.key", "00" * 32)
        self.refused(2, "absent.bin: ", "No such file",
                     arguments=("unseal", "--key-file", "vm.key", "--record", "absent.bin"))

    def test_record_is_no_record(self):
        site_layout.write(self.folder, "vm.key", "00" * 32)
        self.write("record.bin", os.urandom(5000))
        self.refused(1, arguments=("unseal", "--key-file", "vm.key", "--record", "record.bin"))


class ServeTest(programs.ProgramTestCase):
    def setUp(self):
        super().setUp()
        with open(programs.runfile("deploy/examples/chip.yaml"), encoding="utf-8") as file:
            self.chip = file.read()
        self.write("chip.yaml", self.chip)

    def serve(self, bus="unix:gpu0.sock", *arguments):
        return programs.run("sideband-mcu", "serve", "--chip", "chip.yaml", "--bus", bus, *arguments, cwd=self.folder)

    def refused(self, *words, old=None, new=None, bus="unix:gpu0.sock"):
        """`serve` rejects the chip file in which `old` is replaced by `new`."""
        if old is not None:
            self.assertIn(old, self.chip)
            self.write("chip.yaml", self.chip.replace(old, new, 1))
        self.assert_refused(self.serve(bus), 2, "sideband-mcu: ", *words)
        self.assertFalse(os.path.exists(self.path("gpu0.sock")), "it leaves no socket")

    def test_missing_chip(self):
        os.remove(self.path("chip.yaml"))
        self.refused("chip.yaml: ", "No such file")

    def test_not_yaml(self):
        self.refused("chip.yaml:", old="device:\n", new="device: ]\n")

    def test_unknown_key_names_the_nearest(self):
        self.refused("chip.yaml:", "trigger_perod", "'trigger_period'?", old="trigger_period", new="trigger_perod")

    def test_hypervisor_as_a_vm(self):
        self.refused("chip.yaml:", "'vm0' is the hypervisor", old="name: vm1", new="name: vm0")

    def test_two_vms_of_one_name(self):
        self.refused("chip.yaml:", "VM 'vm2' is listed twice", old="name: vm1", new="name: vm2")

    def test_two_contexts_of_one_name(self):
        self.refused("chip.yaml:", "context 'train' is listed twice", old="name: eval", new="name: train")

    def test_two_vms_of_one_uuid(self):
        self.refused("chip.yaml:", "used twice", old="3e102", new="3e101")

    def test_slice_that_is_not_there(self):
        self.refused("chip.yaml:", "slice 1", old="slices: 2", new="slices: 1")

    def test_unknown_workload(self):
        self.refused("chip.yaml:", "gemmm", old="kind: gemm,", new="kind: gemmm,")

    def test_too_little_memory(self):
        self.refused("chip.yaml:", "total_mib is 8192", "need 41600", old="total_mib: 81920", new="total_mib: 8192")

    def test_unknown_persona(self):
        result = self.serve("unix:gpu0.sock", "--persona", "nvida")
        self.assert_refused(result, 2, "sideband-mcu: ", "unknown persona 'nvida'", "'nvidia'?")

    def test_help_says_what_a_persona_is_for(self):
        result = programs.run("sideband-mcu", "serve", "--help", cwd=self.folder)
        self.assertEqual(result.returncode, 0, result)
        self.assertRegex(" ".join(result.stdout.split()), r"--persona .*tests with public clients")

    def test_bus_of_another_kind(self):
        self.refused("unix:", bus="i2c:/dev/i2c-0@0x4f")

    def test_bus_path_too_long(self):
        self.refused("characters", bus="unix:" + "x" * 200)

    def test_busy_bus(self):
        """Caused by the other server, so the exit status is 1; that server is not disturbed."""
        first = self.start("sideband-mcu", "serve", "--chip", "chip.yaml", "--bus", "unix:gpu0.sock")
        programs.wait_until(lambda: "serving" in first.log(), "the first server")
        self.assert_refused(self.serve(), 1, "sideband-mcu: gpu0.sock: ", "another program serves this bus")
        self.assertTrue(os.path.exists(self.path("gpu0.sock")))
        self.assertFalse(first.ended())
        self.assertEqual(first.stop(), 0)
        self.assertFalse(os.path.exists(self.path("gpu0.sock")), "it has removed its socket")

    def test_socket_of_a_dead_server_is_taken_over(self):
        first = self.start("sideband-mcu", "serve", "--chip", "chip.yaml", "--bus", "unix:gpu0.sock")
        programs.wait_until(lambda: "serving" in first.log(), "the first server")
        first.kill()
        self.assertTrue(os.path.exists(self.path("gpu0.sock")))
        second = self.start("sideband-mcu", "serve", "--chip", "chip.yaml", "--bus", "unix:gpu0.sock")
        programs.wait_until(lambda: second.log().count("serving") == 2 or second.ended(), "the second server")
        self.assertEqual(second.stop(), 0, second.log())
