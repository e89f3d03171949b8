#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What is made from the register table agrees: C with C++ and with the RTL's parameters, and the page has its tables.
set -euo pipefail

readonly FOLDER="${TEST_SRCDIR}/${TEST_WORKSPACE}/proto/registers"
readonly PAGE="${TEST_SRCDIR}/${TEST_WORKSPACE}/docs/design/registers.md"

# CamelCase constants of the C++ header in the spelling of the C macros.
names() { sed -n 's/^inline constexpr [a-z0-9_]* k\([A-Za-z]*\) =.*/\1/p' "${FOLDER}/hpc_registers.h"; }
macro_of() { sed 's/\([A-Z]\)/_\1/g; s/^/SIDEBAND_HPC/' <<< "$1" | tr '[:lower:]' '[:upper:]'; }

cd "${TEST_TMPDIR:?}"
cat > guest.c << 'END'
#include "sideband_hpc.h"
unsigned long long start_of(unsigned module) {
  return (unsigned long long)module << SIDEBAND_HPC_HPCC_MODULE_LSB | SIDEBAND_HPC_HPCC_TRIGGER;
}
END
gcc -std=c99 -pedantic -Wall -Wextra -Werror -I"${FOLDER}" -c guest.c

{
  echo '#include "hpc_registers.h"'
  echo '#include "sideband_hpc.h"'
  for name in $(names); do echo "static_assert(sideband::hpc::k${name} == $(macro_of "${name}"));"; done
} > agree.cc
[[ "$(grep -c static_assert agree.cc)" -ge 25 ]] || { echo "FAILED: few constants were found" >&2; exit 1; }
g++ -std=c++20 -Wall -Wextra -Werror -I"${FOLDER}" -c agree.cc

# Lowest bits and widths in the RTL's spelling, against the C masks.
sed -n 's/^localparam HPCC_\([A-Z]*\)_LSB = \([0-9]*\);/\1 \2/p' "${FOLDER}/hpc_registers.svh" |
  while read -r field lsb; do
    width="$(sed -n "s/^localparam HPCC_${field}_WIDTH = \([0-9]*\);/\1/p" "${FOLDER}/hpc_registers.svh")"
    echo "static_assert(SIDEBAND_HPC_HPCC_${field} == ((1ull << ${width}) - 1) << ${lsb});"
  done > fields.txt
[[ "$(wc -l < fields.txt)" -ge 9 ]] || { echo "FAILED: few fields were found" >&2; exit 1; }
{ echo '#include "sideband_hpc.h"'; cat fields.txt; } > fields.cc
g++ -std=c++20 -I"${FOLDER}" -c fields.cc

sed -n '/^<!-- registers: begin -->$/,/^<!-- registers: end -->$/p' "${PAGE}" | sed '1d;$d' > shown.md
diff shown.md "${FOLDER}/registers.md" || { echo "FAILED: the tables of docs/design/registers.md are old" >&2; exit 1; }
