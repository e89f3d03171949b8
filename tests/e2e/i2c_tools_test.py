# SPDX-License-Identifier: Apache-2.0
"""Debian's unmodified i2c-tools and python3-smbus2 on the bus of an emulated device.

The exchanges are SMBPBI's, in the forms that public clients use: raw writes of six bytes, SMBus blocks and I2C blocks
with an explicit count; a repeated START, or a STOP and a START, before a read.
"""

import json
import shutil
import textwrap
import unittest

import programs

ADDRESS = "0x4f"


class BusTestCase(unittest.TestCase):
    """A device on /dev/i2c-3. Commands of a test have no effect on other tests."""

    serve_options = ()

    @classmethod
    def setUpClass(cls):
        cls.folder = programs.temporary_folder(cls.addClassCleanup)
        shutil.copy(programs.runfile("deploy/examples/chip.yaml"), cls.folder)
        device = programs.Program("sideband-mcu", "serve", "--chip", "chip.yaml", "--bus", "unix:gpu0.sock",
                                  *cls.serve_options, cwd=cls.folder)
        cls.addClassCleanup(device.kill)
        programs.wait_until(lambda: "serving" in device.log() or device.ended(), "the device's bus")

    def run_on_bus(self, *command, options=()):
        return programs.run("sideband", "i2cdev", "--bus", "3=unix:gpu0.sock", *options, "--", *command,
                            cwd=self.folder)

    def tool(self, name, *arguments, options=()):
        """The output of one of the i2c-tools, which must succeed with an empty standard error."""
        result = self.run_on_bus("/usr/sbin/" + name, *arguments, options=options)
        self.assertEqual((result.returncode, result.stderr), (0, ""), result)
        return result.stdout

    def bytes_of(self, name, *arguments, options=()):
        return [int(byte, 16) for byte in self.tool(name, *arguments, options=options).split()]

    def tool_fails(self, message, name, *arguments, options=()):
        result = self.run_on_bus("/usr/sbin/" + name, *arguments, options=options)
        self.assertNotEqual(result.returncode, 0, result)
        self.assertIn(message, result.stderr)


class TransferTest(BusTestCase):
    """i2ctransfer: I2C_RDWR."""

    def write(self, *numbers):
        return self.bytes_of("i2ctransfer", "-y", "3", "w%d@%s" % (len(numbers), ADDRESS), *map(str, numbers))

    def read(self, register, size=5):
        return self.bytes_of("i2ctransfer", "-y", "3", "w1@" + ADDRESS, str(register), "r%d" % size)

    def command(self, opcode, arg1=0, arg2=0):
        """(status byte, the four bytes of 5D)."""
        self.assertEqual(self.write(0x5C, 4, opcode, arg1, arg2, 0x80), [])
        status = self.read(0x5C)
        self.assertEqual(status[:4], [4, opcode, arg1, arg2], "count, and the command's echo")
        data = self.read(0x5D)
        self.assertEqual(data[0], 4)
        return status[4], int.from_bytes(bytes(data[1:]), "little")

    def test_capabilities(self):
        status, word = self.command(0x01)
        self.assertEqual(status, 0x1F)
        self.assertEqual(word & 0x00010F01, 0x00010801, "GPU temperature, with fraction as s24.8; total power")

    def test_temperature_and_power(self):
        status, whole = self.command(0x02)
        self.assertEqual((status, whole & 0xFF), (0x1F, 0), "without its fraction")
        status, fine = self.command(0x03)
        self.assertEqual(status, 0x1F)
        self.assertTrue(20 * 256 <= fine <= 110 * 256, fine)
        self.assertLess(abs(fine - whole), 3 * 256)
        status, power = self.command(0x04)
        self.assertEqual(status, 0x1F)
        self.assertTrue(1_000 <= power <= 1_000_000, power)

    def test_vendor_is_our_own(self):
        self.assertEqual(self.command(0x05, 0x09), (0x1F, 0x4253))

    def test_memory(self):
        self.assertEqual(self.command(0x05, 0x17), (0x1F, 81920), "MAX_DRAM_CAPACITY of the chip file's total_mib")

    def test_a_command_runs_at_the_stop(self):
        """In one transaction the answer is that of the previous command, as docs/real-boards.md describes."""
        self.command(0x05, 0x09)
        both = self.bytes_of_all("w6@" + ADDRESS, "0x5c", "4", "2", "0", "0", "0x80", "w1@" + ADDRESS, "0x5d", "r5")
        self.assertEqual(both, [4, 0x53, 0x42, 0, 0])
        self.assertEqual(self.read(0x5C), [4, 2, 0, 0, 0x1F])

    def bytes_of_all(self, *messages):
        return self.bytes_of("i2ctransfer", "-y", "3", *messages)

    def test_errors_of_commands(self):
        self.assertEqual(self.command(0x1F)[0], 0x02, "no such opcode")
        self.assertEqual(self.command(0x01, 0x06)[0], 0x03, "no such capability dword")
        self.assertEqual(self.command(0x05, 0x09, 0x01)[0], 0x04, "beyond the vendor id")

    def test_data_in(self):
        """Writes a dword to the scratch memory and reads it back."""
        self.assertEqual(self.write(0x5D, 4, 0x30, 0x57, 0x05, 0x00), [])
        self.assertEqual(self.command(0x0E, 0x20)[0], 0x1F)
        self.assertEqual(self.command(0x0D, 0x20), (0x1F, 350_000))

    def test_stop_and_start_between_pointer_and_read(self):
        self.command(0x05, 0x09)
        self.write(0x5D)
        self.assertEqual(self.bytes_of("i2ctransfer", "-y", "3", "r5@" + ADDRESS), [4, 0x53, 0x42, 0, 0])

    def test_counted_read(self):
        self.command(0x05, 0x09)
        self.assertEqual(self.bytes_of("i2ctransfer", "-y", "3", "w1@" + ADDRESS, "0x5d", "r?"),
                         [4, 0x53, 0x42, 0, 0])

    def test_short_and_long_reads(self):
        self.command(0x05, 0x09)
        self.assertEqual(self.read(0x5D, 2), [4, 0x53])
        self.assertEqual(self.read(0x5D, 8)[:5], [4, 0x53, 0x42, 0, 0])

    def test_a_wrong_pec_keeps_the_command_from_running(self):
        self.command(0x05, 0x09)
        self.tool_fails("Input/output error", "i2ctransfer", "-y", "3", "w7@" + ADDRESS, "0x5c", "4", "2", "0", "0",
                        "0x80", "0x57")
        self.assertEqual(self.read(0x5C), [4, 5, 9, 0, 0x1F], "that of the command before")
        self.assertEqual(self.write(0x5C, 4, 2, 0, 0, 0x80, 0x56), [], "the right one")
        self.assertEqual(self.read(0x5C), [4, 2, 0, 0, 0x1F])

    def test_nobody_at_the_address(self):
        self.tool_fails("No such device or address", "i2ctransfer", "-y", "3", "w1@0x4e", "0x5c", "r5")

    def test_too_long(self):
        self.tool_fails("Input/output error", "i2ctransfer", "-y", "3", "w300@" + ADDRESS, "0x5c=")
        self.assertEqual(self.command(0x00), (0x1F, 0), "the device has kept its senses")

    def test_another_bus(self):
        self.tool_fails("No such file or directory", "i2ctransfer", "-y", "4", "r1@" + ADDRESS)

    def test_an_adapter_without_messages(self):
        self.tool_fails("Adapter does not have I2C transfers capability", "i2ctransfer", "-y", "3", "r5@" + ADDRESS,
                        options=("--smbus-only",))


class SmbusToolsTest(BusTestCase):
    """i2cdetect, i2cget and i2cset: I2C_SMBUS."""

    def found(self, *options):
        """The addresses that i2cdetect finds."""
        rows = self.tool("i2cdetect", "-y", *options, "3").splitlines()[1:]
        return [cell for row in rows for cell in row.split(":")[1].split() if cell != "--"]

    def test_detect(self):
        self.assertEqual(self.found(), ["4f"])
        self.assertEqual(self.found("-q"), ["4f"])
        self.assertEqual(self.found("-r"), ["4f"])

    def test_functionality(self):
        lines = {}
        for line in self.tool("i2cdetect", "-F", "3").splitlines()[1:]:
            name, _, value = line.rpartition(" ")
            lines[name.strip()] = value
        self.assertEqual({name for name, value in lines.items() if value == "no"},
                         {"SMBus Process Call", "SMBus Block Process Call"})
        self.assertIn("I2C                              no",
                      self.tool("i2cdetect", "-F", "3", options=("--smbus-only",)))

    def check_vendor(self, *options):
        self.assertEqual(self.tool("i2cset", "-y", "3", ADDRESS, "0x5c", "0x05", "0x09", "0x00", "0x80", "s",
                                   options=options), "")
        self.assertEqual(self.bytes_of("i2cget", "-y", "3", ADDRESS, "0x5c", "s", options=options), [5, 9, 0, 0x1F])
        self.assertEqual(self.bytes_of("i2cget", "-y", "3", ADDRESS, "0x5d", "s", options=options),
                         [0x53, 0x42, 0, 0])

    def test_smbus_blocks(self):
        self.check_vendor()
        self.check_vendor("--smbus-only")

    def test_i2c_blocks(self):
        self.tool("i2cset", "-y", "3", ADDRESS, "0x5c", "4", "0x05", "0x09", "0x00", "0x80", "i")
        self.assertEqual(self.bytes_of("i2cget", "-y", "3", ADDRESS, "0x5d", "i", "5"), [4, 0x53, 0x42, 0, 0])

    def test_bytes_and_words(self):
        self.check_vendor()
        self.assertEqual(self.bytes_of("i2cget", "-y", "3", ADDRESS, "0x5d", "b"), [4])
        self.assertEqual(self.bytes_of("i2cget", "-y", "3", ADDRESS, "0x5d", "w"), [0x5304])
        self.assertEqual(self.bytes_of("i2cget", "-y", "3", ADDRESS, "0x5d", "c"), [4], "pointer, then a byte")

    def test_pec(self):
        self.tool("i2cset", "-y", "3", ADDRESS, "0x5c", "0x05", "0x09", "0x00", "0x80", "sp")
        self.assertEqual(self.bytes_of("i2cget", "-y", "3", ADDRESS, "0x5d", "sp"), [0x53, 0x42, 0, 0])
        self.assertEqual(self.bytes_of("i2cget", "-y", "3", ADDRESS, "0x62", "cp"), [0x53], "Send Byte, Receive Byte")
        self.assertEqual(self.bytes_of("i2cget", "-y", "3", ADDRESS, "0x5c", "sp"), [5, 9, 0, 0x1F], "and no error of it")
        # The second of a block's first two bytes is not the PEC of the first.
        self.tool_fails("Read failed", "i2cget", "-y", "3", ADDRESS, "0x5d", "bp")

    def test_nobody_at_the_address(self):
        self.tool_fails("Read failed", "i2cget", "-y", "3", "0x4e", "0x5d", "s")


class FolderTest(BusTestCase):
    """The bus is in listings of /dev."""

    BUSES = ("--bus", "30=unix:gpu0.sock", "--bus", "4=unix:other.sock")

    def run_with_buses(self, *command):
        result = programs.run("sideband", "i2cdev", *self.BUSES, "--", *command, cwd=self.folder)
        self.assertEqual((result.returncode, result.stderr), (0, ""), result)
        return result.stdout

    def test_ls(self):
        before = programs.run("/usr/bin/ls", "/dev", cwd=self.folder).stdout.split()
        names = self.run_with_buses("/usr/bin/ls", "/dev").split()
        self.assertEqual(sorted(names), sorted(set(before) | {"i2c-30", "i2c-4"}))
        self.assertRegex(self.run_with_buses("/usr/bin/ls", "-l", "/dev/i2c-30"), r"\Ac.* 89, +30 .* /dev/i2c-30\n\Z")
        self.assertEqual(self.run_with_buses("/usr/bin/ls", self.folder).split(),
                         programs.run("/usr/bin/ls", self.folder, cwd=self.folder).stdout.split())

    def test_the_shell(self):
        self.assertEqual(self.run_with_buses("/usr/bin/bash", "-c", "cd /; echo dev/i2c-*; [ -c /dev/i2c-4 ] && echo is"),
                         "dev/i2c-30 dev/i2c-4\nis\n")

    def test_python(self):
        script = textwrap.dedent("""
            import glob, os, stat
            print(sorted(glob.glob("/dev/i2c-*")), [entry.name for entry in os.scandir("/dev") if "i2c-" in entry.name])
            print(stat.S_ISCHR(os.stat("/dev/i2c-4").st_mode), os.path.exists("/dev/i2c-5"), os.access("/dev/i2c-4", os.R_OK))
            """)
        self.assertEqual(self.run_with_buses("/usr/bin/python3", "-c", script),
                         "['/dev/i2c-30', '/dev/i2c-4'] ['i2c-4', 'i2c-30']\nTrue False True\n")


class Smbus2Test(BusTestCase):
    """python3-smbus2."""

    PROLOGUE = textwrap.dedent("""
        import errno, json, smbus2
        def error(call, *arguments):
            try:
                return call(*arguments)
            except OSError as failure:
                return errno.errorcode[failure.errno].replace("ENOTSUP", "EOPNOTSUPP")  # one number, two names
        bus = smbus2.SMBus(3)
        """)

    def script(self, body, options=()):
        """The elements that the script appends to the list `answers`."""
        code = self.PROLOGUE + "answers = []\n" + textwrap.dedent(body) + "\nprint(json.dumps(answers))\n"
        result = self.run_on_bus("/usr/bin/python3", "-c", code, options=options)
        self.assertEqual((result.returncode, result.stderr), (0, ""), result)
        return json.loads(result.stdout)

    VENDOR = """
        for pec in (0, 1):
            bus.pec = pec
            bus.write_block_data(0x4F, 0x5C, [5, 9, 0, 0x80])
            answers.append(bus.read_block_data(0x4F, 0x5C))
            answers.append(bus.read_block_data(0x4F, 0x5D))
        """

    def test_smbus_blocks(self):
        expected = [[5, 9, 0, 0x1F], [0x53, 0x42, 0, 0]] * 2
        self.assertEqual(self.script(self.VENDOR), expected)
        self.assertEqual(self.script(self.VENDOR, options=("--smbus-only",)), expected)

    def test_i2c_blocks(self):
        self.assertEqual(self.script("""
            bus.write_i2c_block_data(0x4F, 0x5D, [4, 0, 0, 0, 0])
            bus.write_i2c_block_data(0x4F, 0x5C, [4, 5, 9, 0, 0x80])
            answers.append(bus.read_i2c_block_data(0x4F, 0x5C, 5))
            answers.append(bus.read_i2c_block_data(0x4F, 0x5D, 5))
            """), [[4, 5, 9, 0, 0x1F], [4, 0x53, 0x42, 0, 0]])

    def test_messages(self):
        self.assertEqual(self.script("""
            write = smbus2.i2c_msg.write(0x4F, [0x5C, 4, 5, 9, 0, 0x80])
            bus.i2c_rdwr(write)
            pointer, read = smbus2.i2c_msg.write(0x4F, [0x5D]), smbus2.i2c_msg.read(0x4F, 6)
            bus.i2c_rdwr(pointer, read)
            answers.append(list(read)[:5])
            """), [[4, 0x53, 0x42, 0, 0]])

    def test_errors(self):
        self.assertEqual(self.script("""
            answers.append(error(bus.read_block_data, 0x4E, 0x5C))
            answers.append(error(bus.write_quick, 0x4E))
            answers.append(error(bus.write_quick, 0x4F))
            answers.append(error(bus.read_block_data, 0x4F, 0x42))
            answers.append(error(bus.process_call, 0x4F, 0x5C, 1))
            answers.append(error(bus.block_process_call, 0x4F, 0x5C, [1]))
            bus.pec = 1
            answers.append(error(bus.read_byte_data, 0x4F, 0x5D))
            answers.append(error(bus.read_word_data, 0x4F, 0x5D))
            bus.pec = 0
            answers.append(error(bus.i2c_rdwr, *[smbus2.i2c_msg.read(0x4F, 1)] * 42))
            answers.append(error(bus.i2c_rdwr, *[smbus2.i2c_msg.read(0x4F, 1)] * 43))
            answers.append(error(bus.i2c_rdwr, smbus2.i2c_msg.read(0x4F, 8193)))
            answers.append(error(smbus2.SMBus, 4))
            bus.pec = 1
            answers.append([error(bus.read_byte_data, 0x4F, code) for code in (0x62, 0x63)])
            """), ["ENXIO", "ENXIO", None, "EPROTO", "EOPNOTSUPP", "EOPNOTSUPP", "EBADMSG", "EBADMSG", None, "EINVAL",
                   "EINVAL", "ENOENT", [0x53, 0x42]])

    def test_a_program_and_its_children(self):
        """Duplicated and inherited descriptors; a child that opens the bus itself."""
        self.assertEqual(self.script("""
            import os, subprocess
            bus.write_block_data(0x4F, 0x5C, [5, 9, 0, 0x80])
            copy = os.dup(bus.fd)
            bus.close()
            os.write(copy, bytes([0x5D]))
            answers.append(list(os.read(copy, 5)))
            child = os.fork()
            if child == 0:
                os._exit(os.read(copy, 2)[1])
            answers.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
            answers.append(subprocess.check_output(["/usr/sbin/i2cget", "-y", "3", "0x4f", "0x5d", "s"]).decode())
            answers.append(list(os.read(copy, 3)))
            os.close(copy)
            with open("/dev/zero", "rb", buffering=0) as zero:
                answers.append(list(zero.read(2)))
            """), [[4, 0x53, 0x42, 0, 0], 0x53, "0x53 0x42 0x00 0x00\n", [4, 0x53, 0x42], [0, 0]])


class PersonaTest(BusTestCase):
    """The features that a public client expects: an EEPROM beside the mailbox, and the vendor's id."""

    serve_options = ("--persona", "nvidia")

    def test_detection(self):
        rows = self.tool("i2cdetect", "-y", "-q", "3")
        self.assertEqual([cell for cell in rows.split() if cell in ("4f", "50")], ["4f", "50"])
        self.tool("i2ctransfer", "-y", "3", "w6@" + ADDRESS, "0x5c", "4", "5", "9", "0", "0x80")
        self.assertEqual(self.bytes_of("i2ctransfer", "-y", "3", "w1@" + ADDRESS, "0x5d", "r5"), [4, 0xDE, 0x10, 0, 0])


class CommandTest(BusTestCase):
    """`sideband i2cdev` itself."""

    def run_command(self, *arguments, environment=None):
        return programs.run("sideband", "i2cdev", *arguments, cwd=self.folder, environment=environment)

    def refused(self, status, message, *arguments, environment=None):
        result = self.run_command(*arguments, environment=environment)
        self.assertEqual((result.returncode, result.stdout), (status, ""), result)
        self.assertRegex(result.stderr, r"\Asideband: [^\n]+\n\Z")
        self.assertIn(message, result.stderr)

    def test_exit_status_is_the_programs(self):
        self.assertEqual(self.run_command("--bus", "unix:gpu0.sock", "--", "sh", "-c", "exit 7").returncode, 7)

    def test_what_it_sets(self):
        result = self.run_command("--bus", "unix:a", "--bus", "5=unix:b", "--bus", "unix:c", "--smbus-only", "--", "sh",
                                  "-c", "echo $SIDEBAND_I2CDEV $SIDEBAND_I2CDEV_FUNCS; echo ${LD_PRELOAD##*/}")
        self.assertEqual(result.stdout, "3=unix:a,4=unix:c,5=unix:b smbus\nlibsideband_i2cdev.so\n")

    def test_buses_of_the_environment(self):
        result = self.run_command("--", "/usr/sbin/i2cget", "-y", "9", ADDRESS, "0x5c",
                                  environment={"SIDEBAND_I2CDEV": "9=unix:gpu0.sock"})
        self.assertEqual(result.stdout, "0x04\n")
        self.refused(2, "bus '9=gpu0.sock'", "--", "true", environment={"SIDEBAND_I2CDEV": "9=gpu0.sock"})

    def test_mistakes(self):
        self.refused(2, "--bus is required", "--", "true")
        self.refused(2, "NUMBER=unix:PATH", "--bus", "gpu0.sock", "--", "true")
        self.refused(2, "without an address", "--bus", "3=unix:gpu0.sock@0x4f", "--", "true")
        self.refused(2, "the number is given twice", "--bus", "3=unix:a", "--bus", "3=unix:b", "--", "true")
        self.refused(2, "command", "--bus", "unix:gpu0.sock")
        self.refused(2, "absent.so: No such file", "--bus", "unix:gpu0.sock", "--library", "absent.so", "--", "true")

    def test_programs_that_cannot_be_run(self):
        self.refused(127, "absent: No such file", "--bus", "unix:gpu0.sock", "--", "absent")
        self.refused(126, "Permission denied", "--bus", "unix:gpu0.sock", "--", self.folder + "/chip.yaml")

    def test_a_bus_that_is_not_served(self):
        result = self.run_command("--bus", "unix:absent.sock", "--", "/usr/sbin/i2cget", "-y", "3", ADDRESS)
        self.assertIn("No such file or directory", result.stderr)
        self.assertEqual(result.returncode, 1)
