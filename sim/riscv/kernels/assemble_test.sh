#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The words in the repository are what Debian's assembler makes of the sources, and as Linux programs under qemu the
# kernels have the checksums that kernels_test expects of the interpreter.
set -euo pipefail

readonly HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
readonly BUILT="${TEST_TMPDIR:?}"
failures=0

fail() {
  echo "FAILED: $*" >&2
  failures=$((failures + 1))
}

command -v qemu-riscv64 > /dev/null || { echo "FAILED: qemu-riscv64 is not installed" >&2; exit 1; }
"${HERE}/assemble.sh" "${BUILT}"

for source in "${HERE}"/*.S; do
  name="$(basename "${source}" .S)"
  cmp "${HERE}/${name}.hex" "${BUILT}/${name}.hex" || fail "${name}.hex: run sim/riscv/kernels/assemble.sh"
  grep -q "^${name} " "${HERE}/checksums.txt" || fail "checksums.txt has no line of ${name}"
done
while read -r name iterations checksum; do
  written="$(qemu-riscv64 "${BUILT}/${name}.elf" "${iterations}")" || fail "${name} ${iterations} ends with $?"
  [[ "${written}" == "${checksum}" ]] || fail "${name} ${iterations} writes ${written}, not ${checksum}"
done < "${HERE}/checksums.txt"

exit "$((failures > 0))"
