// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/line_section.h"

#include <cstdint>
#include <utility>

namespace sideband::mailbox {

Bytes EncodeLinePulse(const Snapshot& snapshot, const Snapshot* base) {
  const auto& pulse = snapshot.line_pulse;
  if (!pulse || (base != nullptr && base->line_pulse == pulse)) return {};
  ByteWriter out;
  out.U64(pulse->pulses);
  out.U64(pulse->reference_cycle);
  out.U8(pulse->is_own ? 1 : 0);
  return std::move(out).Take();
}

absl::Status DecodeLinePulse(const ByteSpan* payload, const Snapshot* base, Snapshot& snapshot) {
  if (payload == nullptr) {
    if (base != nullptr) snapshot.line_pulse = base->line_pulse;
    return absl::OkStatus();
  }
  ByteReader in(*payload);
  LinePulse pulse;
  pulse.pulses = in.U64();
  pulse.reference_cycle = in.U64();
  const uint8_t is_own = in.U8();
  pulse.is_own = is_own == 1;
  if (!in.ok() || in.remaining() != 0) return absl::InvalidArgumentError("trigger line: a pulse of a wrong length");
  if (pulse.pulses == 0 || is_own > 1) return absl::InvalidArgumentError("trigger line: a pulse that cannot be");
  snapshot.line_pulse = pulse;
  return absl::OkStatus();
}

}  // namespace sideband::mailbox
