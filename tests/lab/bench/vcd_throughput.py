#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The throughput of `sideband-mcu replay` on a waveform, beside gtkwave's vcd2fst on the same file.

    bazel build //secure_mcu:sideband-mcu && tests/lab/bench/vcd_throughput.py [--mcu PATH] [--megabytes 200]

Repeats the body of a synthetic design with shifted times until the file is large enough, runs each program three
times, and prints the best run as a line of the benchmarks' table. If SIDEBAND_SHARED_DATA is set, the waveform of a
real GPU in that folder is measured as well. Rates are in 10^6 bytes per second of the whole process; `cpu` rates
exclude the time of other processes. Peaks are at least this program's own, some 15 MiB.
"""

import argparse
import gzip
import json
import multiprocessing
import os
import pathlib
import random
import shutil
import subprocess
import tempfile
import time

RUNS = 3
ROOT = pathlib.Path(__file__).resolve().parents[3]


def code_of(number):
    """The identifier code of the number-th signal."""
    code = ""
    number += 1
    while number > 0:
        number, digit = divmod(number - 1, 94)
        code += chr(33 + digit)
    return code


def synthetic_design():
    """The header, body and signal map of a design of 4,000 signals, 100 of them watched; about 8 MB."""
    dice = random.Random(1)
    widths = [1] + [dice.choice((1, 1, 4, 8, 8, 16, 32, 64)) for _ in range(4000)]
    header = ["$timescale 1ns $end", "$scope module top $end", "$var wire 1 ! clk $end"]
    header += [f"$var wire {widths[i]} {code_of(i)} s{i} $end" for i in range(1, len(widths))]
    header += ["$upscope $end", "$enddefinitions $end", ""]
    body = ["#0", "0!"]
    for cycle in range(1, 10001):
        body += [f"#{10 * cycle - 5}"]
        for signal in dice.sample(range(1, len(widths)), 60):
            value = dice.getrandbits(widths[signal])
            body.append(f"{value}{code_of(signal)}" if widths[signal] == 1 else
                        f"b{value:0{widths[signal]}b} {code_of(signal)}")
        body += ["1!", f"#{10 * cycle}", "0!"]
    events = [{"name": f"e{i}", "signal": f"top.s{i}", "op": "high"} for i in range(1, 101)]
    return "\n".join(header), "\n".join(body) + "\n", json.dumps({"clock": "top.clk", "events": events})


def shared_design(directory):
    """Likewise for the waveform of a real GPU."""
    text = gzip.decompress((directory / "tinygpu.vcd.gz").read_bytes()).decode()
    end = text.index("$enddefinitions $end") + len("$enddefinitions $end\n")
    return text[:end], text[end:], (directory / "tinygpu.signals.json").read_text()


def write_repeated(path, header, body, size):
    """Repeats the body with increasing times until the file has `size` bytes."""
    head, *steps = ("\n" + body.lstrip()).split("\n#")
    steps = [step.split("\n", 1) for step in steps if step]
    steps = [(int(step[0]), "\n" + step[1] + "\n" if len(step) > 1 else "\n") for step in steps]
    period = steps[-1][0] + 5
    with open(path, "w", encoding="ascii", newline="\n") as file:
        file.write(header + head)
        turn = 0
        while file.tell() < size:
            file.write("".join(f"#{turn * period + at}{rest}" for at, rest in steps))
            turn += 1


def write_schedule(path):
    """Two VMs of two contexts each alternate, for longer than any trace here."""
    rows = ["start_cycle,end_cycle,vm,context,slice"]
    for turn in range(2000):
        rows.append(f"{turn * 1000},{turn * 1000 + 900},vm{turn % 2 + 1},ctx{turn // 2 % 2},0")
    path.write_text("\n".join(rows) + "\n")


def run(command):
    """Elapsed and processor seconds, and peak memory in MiB, of one run."""
    start = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        errors = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{command[0]}: {errors.decode(errors='replace').strip()}")
    return time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def print_row(name, value, unit, note=""):
    """Prints a row in the format of bench.cc."""
    print(f"{name:68s} {value:10.3f} {unit:11s} {note}".rstrip(), flush=True)


def measure(name, command, megabytes):
    """Prints the best of some runs; returns the best rates by elapsed and by processor time."""
    runs = [run(command) for _ in range(RUNS)]
    rates = megabytes / min(r[0] for r in runs), megabytes / min(r[1] for r in runs)
    print_row(name, rates[0], "MB/s", f"{rates[1]:.0f} MB/s of the processor's time, peak {max(r[2] for r in runs):.1f} MiB")
    return rates


def write_inputs(design, trace, size):
    header, body, signals = design()
    write_repeated(trace, header, body, size)
    trace.with_name("signals.json").write_text(signals)
    write_schedule(trace.with_name("schedule.csv"))


def bench(name, design, arguments, directory):
    trace = directory / f"{name}.vcd"
    # In a process of its own: a child's peak memory includes this process's memory at the time of the fork.
    writer = multiprocessing.Process(target=write_inputs, args=(design, trace, arguments.megabytes * 1_000_000))
    writer.start()
    writer.join()
    if writer.exitcode != 0:
        raise SystemExit("the trace could not be written")
    megabytes = trace.stat().st_size / 1e6
    title = f"waveform: {name}, {megabytes:.0f} MB"
    replay = measure(f"{title}, replay", [
        str(arguments.mcu), "replay", "--trace", str(trace), "--signals", str(directory / "signals.json"), "--schedule",
        str(directory / "schedule.csv")
    ], megabytes)
    if shutil.which("vcd2fst"):
        other = measure(f"{title}, vcd2fst", ["vcd2fst", str(trace), str(directory / "out.fst")], megabytes)
        print_row(f"{title}, replay / vcd2fst", replay[0] / other[0], "", f"{replay[1] / other[1]:.1f} of processor time")
    else:
        print(f"{title}: vcd2fst is not installed, so there is nothing to compare with")
    trace.unlink()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mcu", type=pathlib.Path, default=ROOT / "bazel-bin/secure_mcu/sideband-mcu")
    parser.add_argument("--megabytes", type=int, default=200)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        bench("synthetic", synthetic_design, arguments, pathlib.Path(directory))
        shared = os.environ.get("SIDEBAND_SHARED_DATA")
        if shared and (pathlib.Path(shared) / "tinygpu.vcd.gz").exists():
            bench("tinygpu", lambda: shared_design(pathlib.Path(shared)), arguments, pathlib.Path(directory))


if __name__ == "__main__":
    main()
