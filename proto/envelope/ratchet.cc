// SPDX-License-Identifier: Apache-2.0
#include "proto/envelope/ratchet.h"

#include "absl/strings/string_view.h"
#include "proto/base/status_macros.h"
#include "proto/envelope/hkdf.h"

namespace sideband::envelope {
namespace {

ByteSpan StepInfo() {
  static constexpr absl::string_view kInfo = "sideband/2 ratchet";
  return {reinterpret_cast<const uint8_t*>(kInfo.data()), kInfo.size()};
}

}  // namespace

absl::Status Ratchet::AdvanceTo(uint64_t epoch) {
  if (epoch < epoch_ || epoch >= kExchangeEpochsMax) return absl::OutOfRangeError("no such epoch of the exchange");
  Secret secret = secret_.Clone();
  for (uint64_t at = epoch_; at < epoch; ++at) {
    SIDEBAND_ASSIGN_OR_RETURN(secret, HkdfExpand(secret, StepInfo(), secret.size()));
  }
  secret_ = std::move(secret);
  epoch_ = epoch;
  return absl::OkStatus();
}

}  // namespace sideband::envelope
