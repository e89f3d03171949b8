#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Checks vm_commit.pml in every configuration, and that each mutant is refuted by the law that it breaks. The log is a
# table: configuration, states searched, errors.
set -euo pipefail

readonly MODEL="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/vm_commit.pml"
# shellcheck source=spin.sh
source "$(dirname "${MODEL}")/spin.sh"

for depth in 1 2; do
  holds laws -DDEPTH=${depth} -DSLICES=1 -DUNITS=1 -DVMS=2
  holds laws -DDEPTH=${depth} -DSLICES=2 -DUNITS=1 -DVMS=1
done
holds laws -DSLICES=1 -DUNITS=2 -DVMS=2
holds laws -DSLICES=2 -DUNITS=1 -DVMS=2

readonly MEANING='assertion violated ((count&(51<<(2*(1-meanings))))==0)'
readonly REVISION='assertion violated ((sum[0]&(51<<(2*(1-revision))))==0)'
readonly OWNER='assertion violated ((sum[1]& ~((15<<(4*resident[1]))))==0)'
readonly CONSERVE='assertion violated (committed[s]==produced[s])'
readonly INSTANT='assertion violated (connected[u]==((2*resident[(u/1)])+revision))'
readonly STORE='assertion violated ((guest_value==kept_guest)&&(host_value==kept_host))'
readonly SMALLEST=(-DSLICES=1 -DUNITS=1 -DVMS=1)
refuted APPLY_FIRST REVISION "${REVISION}" "${SMALLEST[@]}"
refuted APPLY_FIRST MEANING "${MEANING}" "${SMALLEST[@]}"
refuted MEANINGS_EARLY MEANING "${MEANING}" "${SMALLEST[@]}"
refuted SUM_STAYS REVISION "${REVISION}" "${SMALLEST[@]}"
refuted SUM_STAYS CONSERVE "${CONSERVE}" "${SMALLEST[@]}"
refuted RUN_EARLY INSTANT "${INSTANT}" "${SMALLEST[@]}"
refuted ONE_SLICE INSTANT "${INSTANT}" -DSLICES=2 -DUNITS=1 -DVMS=1
refuted ONE_SLICE OWNER "${OWNER}" -DSLICES=2 -DUNITS=1 -DVMS=1
refuted NO_WAIT STORE "${STORE}" "${SMALLEST[@]}"
refuted NO_WAIT CONSERVE "${CONSERVE}" "${SMALLEST[@]}"
refuted OLD_IMAGE STORE "${STORE}" "${SMALLEST[@]}"
refuted IMAGE_BEFORE_EXIT STORE "${STORE}" "${SMALLEST[@]}"

exit "$((failures > 0))"
