# SPDX-License-Identifier: Apache-2.0
# Checks of a Spin model, for a test that has set MODEL. The log is a table: configuration, states searched, errors.
# The test ends with `exit "$((failures > 0))"`.
# shellcheck shell=bash

readonly DEPTH_MAX=1000000
# shellcheck disable=SC2034  # for the tests
readonly DEADLOCK='invalid end state'
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
  rm -f pan* model.pml.trail
  cp -f "${MODEL}" model.pml
  spin -a "$@" model.pml > spin.log 2>&1 || { cat spin.log >&2; exit 1; }
  # -w: what gcc thinks of generated code.
  # shellcheck disable=SC2086
  gcc -w ${gcc_flags} -o pan pan.c
}

stored() { awk '/states, stored/ { print $1; exit }' pan.log; }
errors() { sed -n 's/.*errors: \([0-9]*\)$/\1/p' pan.log; }
violation() { sed -n 's/^pan:1: \(.*\) (at depth.*/\1/p' pan.log | tr -s ' '; }
row() { printf '%-72s %8s states  %s errors  %s\n' "$1" "$(stored)" "$(errors)" "${2:-}"; }

expect_finished() {
  if grep -qE 'max search depth too small|out of memory|^Interrupted|Search not completed' pan.log; then
    fail "$1: the search was cut short"
  fi
}

# No line of the model is dead but the ends of its endless processes.
expect_complete() {
  expect_finished "$1"
  if sed -n 's/.*, state [0-9]*, //p' pan.log | grep -vq '"-end-"'; then
    fail "$1: a part of the model is never reached"
  fi
}

# holds CLAIM MODEL_FLAGS...: every law, deadlock freedom; or, with CLAIM live, the model's claim.
holds() {
  local claim="$1"
  shift
  if [[ "${claim}" == live ]]; then
    build "-O1 -DCOLLAPSE -DNFAIR=3" -DLIVENESS "$@"
    ./pan -a -f -m"${DEPTH_MAX}" > pan.log 2>&1 || true
  else
    build "-O1 -DCOLLAPSE -DSAFETY" "$@"
    ./pan -m"${DEPTH_MAX}" > pan.log 2>&1 || true
  fi
  row "${claim} $*"
  expect_complete "$*"
  if [[ "$(errors)" != 0 ]]; then
    cat pan.log >&2
    fail "${claim} $*: $(errors) errors"
  fi
}

# search_mutant MUTANT LAW MODEL_FLAGS...: breadth first, so that a counterexample is a shortest one.
search_mutant() {
  local options=(-m"${DEPTH_MAX}")
  [[ "$2" == ENDS ]] || options+=(-E)  # deadlocks break ENDS only
  build "-O0 -DSAFETY -DBFS" "-D$1" "-DLAW_$2" "${@:3}"
  ./pan "${options[@]}" > pan.log 2>&1 || true
}

# refuted MUTANT LAW VIOLATION MODEL_FLAGS...: a shortest counterexample has just that violation.
refuted() {
  search_mutant "$1" "$2" "${@:4}"
  row "mutant $1, law $2" "$(violation)"
  [[ "$(errors)" -ge 1 && "$(violation)" == "$3" ]] || fail "mutant $1 was not refuted by law $2"
}
