#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Checks switch_flush.pml in every configuration, and that each mutant is refuted by the law that it breaks. The log is
# a table: configuration, states searched, errors.
set -euo pipefail

readonly MODEL="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/switch_flush.pml"
# shellcheck source=spin.sh
source "$(dirname "${MODEL}")/spin.sh"

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

readonly OWNER='assertion violated ((sum&(15<<(4*(1-channel_to))))==0)'
readonly LATE='assertion violated ((acked&(1<<unit))==0)'
readonly CONSERVE='assertion violated (committed==produced)'
readonly SMALLEST=(-DDEPTH=1 -DUNITS=2 -DEVENTS=1 -DTHRESHOLD=1)
refuted FLUSH_REMOVED OWNER "${OWNER}" "${SMALLEST[@]}"
refuted FLUSH_REMOVED CONSERVE "${CONSERVE}" "${SMALLEST[@]}"
refuted ACK_FIRST LATE "${LATE}" "${SMALLEST[@]}"
refuted ACK_FIRST OWNER "${OWNER}" "${SMALLEST[@]}"
refuted NO_PAUSE LATE "${LATE}" "${SMALLEST[@]}"
refuted NO_HOLD CONSERVE "${CONSERVE}" "${SMALLEST[@]}"
refuted REBIND_EARLY OWNER "${OWNER}" "${SMALLEST[@]}"

exit "$((failures > 0))"
