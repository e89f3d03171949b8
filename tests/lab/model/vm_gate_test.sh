#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Checks vm_gate.pml in every configuration, and that each mutant is refuted by the law that it breaks. The log is a
# table: configuration, states searched, errors.
set -euo pipefail

readonly MODEL="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/vm_gate.pml"
# shellcheck source=spin.sh
source "$(dirname "${MODEL}")/spin.sh"

for units in 1 2; do
  holds laws -DUNITS=${units}
done

readonly MIXED='assertion violated (seen[k]==gce)'
readonly STORE='assertion violated ( !(guest_store[bound])||(guest_value[bound]==of_guest[bound]))'
readonly OWNER='assertion violated (((gce/2)==0)||((gce/2)==(1+bound)))'
readonly IDS='assertion violated (counts_by==( (in_guest) ? (ids[bound]) : (host_ids) ))'
refuted LOAD_FIRST STORE "${STORE}" -DUNITS=1
refuted WRITE_IN_EXIT STORE "${STORE}" -DUNITS=1
refuted WRITE_IN_EXIT MIXED "${MIXED}" -DUNITS=1
refuted IDS_OF_VM IDS "${IDS}" -DUNITS=1
refuted NO_RESET OWNER "${OWNER}" -DUNITS=1
refuted RUN_EARLY MIXED "${MIXED}" -DUNITS=1

exit "$((failures > 0))"
