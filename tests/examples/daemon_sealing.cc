// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/base/clock.h"
#include "daemon/sealing/epoch_source.h"
#include "daemon/sealing/sealer_set.h"
#include "daemon/sealing/vm_sealer.h"
#include "proto/base/bytes.h"
#include "proto/base/status_macros.h"
#include "proto/base/uuid.h"
#include "proto/envelope/secret.h"

namespace sideband::daemon {
namespace {

void Withhold(const Uuid& vm);

absl::Status UseEpochSource() {
  //@ daemon/sealing/epoch_source.h
  return absl::OkStatus();
}

absl::Status UseSealerSet(EpochSource& epochs, const Uuid& device, const Uuid& vm, const SealInput& input) {
  //@ daemon/sealing/sealer_set.h
  return absl::OkStatus();
}

absl::Status UseVmSealer(envelope::Secret static_key, const Uuid& device, const Uuid& vm, EpochSource& epochs,
                         ByteSpan bytes) {
  //@ daemon/sealing/vm_sealer.h
  return absl::OkStatus();
}

}  // namespace
}  // namespace sideband::daemon
