#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Checks switch_flush.pml in every configuration, and that each mutant is refuted by the law that it breaks. The log is
# a table: configuration, states searched, errors.
set -euo pipefail

readonly MODEL="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/switch_flush.pml"
readonly DEPTH_MAX=1000000
failures=0

fail() {
  echo "FAILED: $*" >&2
  failures=$((failures + 1))
}

for tool in spin gcc; do
  command -v "${tool}" > /dev/null || { echo "FAILED: ${tool} is not installed" >&2; exit 1; }
done
cd "${TEST_TMPDIR:?}"

# build GCC_FLAGS MODEL_FLAGS...: a verifier ./pan of the model. Spin passes its -D to the preprocessor.
build() {
  local gcc_flags="$1"
  shift
  rm -f pan* switch_flush.pml.trail
  cp -f "${MODEL}" switch_flush.pml
  spin -a "$@" switch_flush.pml > spin.log 2>&1 || { cat spin.log >&2; exit 1; }
  # -w: what gcc thinks of generated code.
  # shellcheck disable=SC2086
  gcc -w ${gcc_flags} -o pan pan.c
}

stored() { awk '/states, stored/ { print $1; exit }' pan.log; }
errors() { sed -n 's/.*errors: \([0-9]*\)$/\1/p' pan.log; }
row() { printf '%-72s %8s states  %s errors  %s\n' "$1" "$(stored)" "$(errors)" "${2:-}"; }

# Nothing was cut short, and no line of the model is dead but the ends of its endless processes.
expect_complete() {
  if grep -qE 'max search depth too small|out of memory|interrupted|Search not completed' pan.log; then
    fail "$1: the search was cut short"
  fi
  if sed -n 's/.*, state [0-9]*, //p' pan.log | grep -vq '"-end-"'; then fail "$1: a part of the model is never reached"; fi
}

# holds CLAIM MODEL_FLAGS...: every law, deadlock freedom; or, with CLAIM live, that every flush is acknowledged.
holds() {
  local claim="$1"
  shift
  if [[ "${claim}" == live ]]; then
    build "-O2 -DCOLLAPSE -DNFAIR=3" -DLIVENESS "$@"
    ./pan -a -f -m"${DEPTH_MAX}" > pan.log 2>&1 || true
  else
    build "-O2 -DCOLLAPSE -DSAFETY" "$@"
    ./pan -m"${DEPTH_MAX}" > pan.log 2>&1 || true
  fi
  row "${claim} $*"
  expect_complete "$*"
  if [[ "$(errors)" != 0 ]]; then
    cat pan.log >&2
    fail "${claim} $*: $(errors) errors"
  fi
}

# refuted MUTANT LAW ASSERTION: a shortest counterexample (breadth first) violates just that assertion.
refuted() {
  build "-O0 -DSAFETY -DBFS" "-D$1" "-DLAW_$2" -DUNITS=2 -DDEPTH=1 -DEVENTS=1 -DTHRESHOLD=1
  ./pan -m"${DEPTH_MAX}" > pan.log 2>&1 || true
  local violation
  violation="$(sed -n 's/^pan:1: \(.*\) (at depth.*/\1/p' pan.log)"
  row "mutant $1, law $2" "${violation}"
  [[ "$(errors)" -ge 1 && "${violation}" == "assertion violated $3" ]] || fail "mutant $1 was not refuted by law $2"
}

readonly SMALL="-DEVENTS=1 -DTHRESHOLD=1"
readonly TWO_RECORDS="-DUNITS=1 -DRECORDS=2 -DEVENTS=2 -DTHRESHOLD=2"
for depth in 1 2; do
  # shellcheck disable=SC2086
  {
    holds laws -DDEPTH=${depth} -DUNITS=2 ${SMALL}
    holds laws -DDEPTH=${depth} -DUNITS=2 ${SMALL} -DPOLL_FIRST
    holds laws -DDEPTH=${depth} ${TWO_RECORDS}
    holds live -DDEPTH=${depth} -DUNITS=2 ${SMALL}
  }
done

holds laws -DDEPTH=1 -DUNITS=2 -DEVENTS=2 -DTHRESHOLD=2

readonly OWNER='((sum&(15<<(4*(1-channel_to))))==0)'
readonly LATE='((acked&(1<<unit))==0)'
readonly CONSERVE='(committed==produced)'
refuted FLUSH_REMOVED OWNER "${OWNER}"
refuted FLUSH_REMOVED CONSERVE "${CONSERVE}"
refuted ACK_FIRST LATE "${LATE}"
refuted ACK_FIRST OWNER "${OWNER}"
refuted NO_PAUSE LATE "${LATE}"
refuted NO_HOLD CONSERVE "${CONSERVE}"
refuted REBIND_EARLY OWNER "${OWNER}"

exit "$((failures > 0))"
