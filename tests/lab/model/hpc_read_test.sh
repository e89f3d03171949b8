#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Checks hpc_read.pml in every configuration, and that each mutant is refuted by the law that it breaks, after as many
# switches as README.md states and not after fewer.
set -euo pipefail

readonly MODEL="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/hpc_read.pml"
# shellcheck source=spin.sh
source "$(dirname "${MODEL}")/spin.sh"

holds laws -DTAGS=1
holds laws -DTAGS=2 -DWHOLE
holds laws -DTAGS=1 -DOPTIMISTIC
holds laws -DTAGS=2 -DWILD
holds laws -DTAGS=1 -DSWITCH_WITHDRAWS
holds laws -DTAGS=2 -DSWITCH_WITHDRAWS -DWILD
holds laws -DTAGS=1 -DSWITCH_KEEPS
holds laws -DTAGS=1 -DSWITCH_KEEPS -DWILD
holds laws -DTAGS=1 -DSWITCH_WITHDRAWS -DTHREADS=3 -DWHOLE
holds laws -DTAGS=2 -DSWITCHES=4 -DTHREADS=3 -DWHOLE
holds laws -DTAGS=1 -DSWITCH_WITHDRAWS -DTHREADS=1 -DCORES=2 -DWHOLE
holds laws -DTAGS=2 -DCORES=4 -DASKERS
holds live -DTAGS=1
holds live -DTAGS=1 -DWILD
holds live -DTAGS=1 -DSWITCH_KEEPS -DWHOLE

# refuted_after SWITCHES MUTANT LAW VIOLATION MODEL_FLAGS...: after that many switches, and not after fewer.
refuted_after() {
  local switches="$1" mutant="$2" law="$3"
  if ((switches > 0)); then
    search_mutant "${mutant}" "${law}" "${@:5}" -DSWITCHES=$((switches - 1))
    expect_finished "mutant ${mutant}"
    [[ "$(errors)" == 0 ]] || fail "mutant ${mutant} breaks law ${law} after fewer than ${switches} switches"
  fi
  refuted "${@:2}" -DSWITCHES="${switches}"
}

readonly OWN='assertion violated !(foreign)'
readonly LEAK='assertion violated (((client[c].hpcr/2)==0)||((client[c].hpcr/2)==me))'
readonly LEAK_READERROR='assertion violated ((client[c].readerror==0)||(client[c].readerror==me))'
readonly TAG='assertion violated ((client[c].taken&(1<<client[c].current.tag))==0)'
readonly WAIT='assertion violated (waited<3)'
readonly FAIR='assertion violated (passed[((other*3)+granted)]<=1)'
refuted_after 0 ONE_MORE ENDS "${DEADLOCK}" -DWHOLE -DTHREADS=1
refuted_after 0 SET_BITS OWN "${OWN}" -DWHOLE -DTHREADS=1
refuted_after 2 CHECK_LATE ENDS "${DEADLOCK}" -DWHOLE
refuted_after 0 REFUSAL_IGNORED ENDS "${DEADLOCK}" -DWHOLE -DTHREADS=1
refuted_after 0 READERROR_IGNORED OWN "${OWN}" -DWHOLE -DTHREADS=1 -DOPTIMISTIC
refuted_after 2 TWO_READS OWN "${OWN}" -DWHOLE -DOPTIMISTIC
refuted_after 1 NO_TAGS OWN "${OWN}" -DWHOLE
refuted_after 4 TAGS_WRAP TAG "${TAG}" -DWHOLE -DTAGS=4
refuted_after 4 TAGS_WRAP OWN "${OWN}" -DWHOLE -DTAGS=4
refuted_after 2 REFUSED_CLEARS OWN "${OWN}" -DWHOLE -DSWITCH_KEEPS
refuted_after 2 HIGH_HALF_CLEARS ENDS "${DEADLOCK}"
refuted_after 2 HIGH_HALF_CLEARS OWN "${OWN}" -DSWITCH_KEEPS
refuted_after 2 EMPTY_ASKS ENDS "${DEADLOCK}" -DWHOLE
refuted_after 2 EMPTY_SHOWS LEAK "${LEAK}" -DWHOLE
refuted_after 3 READERROR_KEPT LEAK "${LEAK_READERROR}" -DWHOLE -DWILD
refuted FIXED_PRIORITY WAIT "${WAIT}" -DTAGS=2 -DCORES=3 -DASKERS
refuted FIXED_PRIORITY FAIR "${FAIR}" -DTAGS=2 -DCORES=3 -DASKERS
refuted_after 0 REFERENCE ENDS "${DEADLOCK}" -DTHREADS=1
refuted_after 1 REFERENCE OWN "${OWN}"
refuted_after 1 REFERENCE LEAK "${LEAK}"

exit "$((failures > 0))"
