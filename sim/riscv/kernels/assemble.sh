#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Assembles the kernels: assemble.sh FOLDER writes NAME.elf, a Linux program, and NAME.hex, its words, to FOLDER.
# With this folder as FOLDER it renews what is in the repository, and leaves programs there that nothing needs.
# assemble.sh FOLDER SOURCES does so with the sources of another folder.
set -euo pipefail

readonly HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
readonly TO="$1"
readonly FROM="${2:-${HERE}}"
for tool in riscv64-linux-gnu-{as,ld,objcopy}; do
  command -v "${tool}" > /dev/null || { echo "FAILED: ${tool} is not installed" >&2; exit 1; }
done
for source in "${FROM}"/*.S; do
  name="$(basename "${source}" .S)"
  riscv64-linux-gnu-as -march=rv64im -mabi=lp64 -I "${FROM}" -o "${TO}/${name}.o" "${source}"
  riscv64-linux-gnu-ld -T "${HERE}/kernel.ld" -o "${TO}/${name}.elf" "${TO}/${name}.o"
  riscv64-linux-gnu-objcopy -O binary -j .text "${TO}/${name}.elf" "${TO}/${name}.bin"
  od -An -v -tx4 -w4 "${TO}/${name}.bin" | tr -d ' ' > "${TO}/${name}.hex"
  rm "${TO}/${name}.o" "${TO}/${name}.bin"
done
