#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Checks nonces.pml in every configuration, and that each mutant is refuted by the law that it breaks. The log is a
# table: configuration, states searched, errors.
set -euo pipefail

readonly MODEL="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/nonces.pml"
# shellcheck source=spin.sh
source "$(dirname "${MODEL}")/spin.sh"

holds laws -DREQUESTS=3 -DEPOCHS=1 -DSEQUENCES=1
holds laws -DREQUESTS=2 -DEPOCHS=2 -DSEQUENCES=2

readonly NONCE='assertion violated !(((used[key[which]]&(1<<nonce))!=0))'
readonly ORDER='assertion violated ((accepted[x]>>position)==0)'
readonly ENDED='assertion violated !(((ended&(1<<which))!=0))'
readonly ONCE='assertion violated !(((answered&(1<<r))!=0))'
refuted RESTART_KEEPS_KEY NONCE "${NONCE}"
refuted RESTART_KEEPS_KEY ENDED "${ENDED}"
refuted SHARED_KEY NONCE "${NONCE}"
refuted SENT_THEN_COUNTED NONCE "${NONCE}"
refuted ROTATION_KEEPS_KEY NONCE "${NONCE}"
refuted EQUAL_ACCEPTED ORDER "${ORDER}"
refuted EPOCHS_APART ORDER "${ORDER}"
refuted GUEST_RESTART_KEEPS_KEY ORDER "${ORDER}"
refuted CHALLENGE_KEPT ONCE "${ONCE}" -DREQUESTS=1 -DEXCHANGES=2
refuted GRACE_FOREVER ENDED "${ENDED}"

exit "$((failures > 0))"
