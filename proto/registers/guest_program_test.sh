#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The C program of docs/registers.md compiles with the installed header alone.
set -euo pipefail

readonly ROOT="${TEST_SRCDIR}/${TEST_WORKSPACE}"

cd "${TEST_TMPDIR:?}"
sed -n '/^```c$/,/^```$/p' "${ROOT}/docs/registers.md" | sed '/^```/d' > guest.c
grep -q get_counters_shared guest.c || { echo "FAILED: the page has no program" >&2; exit 1; }
gcc -std=c99 -pedantic -Wall -Wextra -Werror -I"${ROOT}/proto/registers" -c guest.c
g++ -std=c++20 -Wall -Wextra -Werror -I"${ROOT}/proto/registers" -x c++ -c guest.c
