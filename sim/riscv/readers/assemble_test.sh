#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The words in the repository are what Debian's assembler makes of the sources.
set -euo pipefail

readonly HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
readonly BUILT="${TEST_TMPDIR:?}"
failures=0

"${HERE}/../kernels/assemble.sh" "${BUILT}" "${HERE}"
for source in "${HERE}"/*.S; do
  name="$(basename "${source}" .S)"
  cmp "${HERE}/${name}.hex" "${BUILT}/${name}.hex" && continue
  echo "FAILED: ${name}.hex: run sim/riscv/kernels/assemble.sh sim/riscv/readers sim/riscv/readers" >&2
  failures=$((failures + 1))
done

exit "$((failures > 0))"
