// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/tagged_probe.h"

#include <algorithm>
#include <bit>

namespace sideband::sim {

TaggedProbe::TaggedProbe(const Probe& probe, uint32_t width, uint32_t slices)
    : probe_(probe),
      wires_(WiresOf(probe, width)),
      none_(slices),
      requester_(slices),
      levels_((wires_ + 63) / 64),
      shown_(levels_.size()) {}

void TaggedProbe::Follow(std::span<const uint64_t> signal, std::optional<uint32_t> slice, TraceWriter& writer) {
  ReadLevels(signal);
  const uint32_t requester = slice.value_or(none_);
  if (requester != requester_) {
    Hide(writer);
    requester_ = requester;
  }
  SetWires(levels_, writer);
}

void TaggedProbe::Hide(TraceWriter& writer) { SetWires(std::vector<uint64_t>(levels_.size()), writer); }

void TaggedProbe::ReadLevels(std::span<const uint64_t> signal) {
  if (!IsSpread(probe_)) {
    levels_[0] = LevelOf(probe_, signal) ? 1 : 0;
  } else if (probe_.op == EventOp::kPopcount && probe_.prescaled) {
    levels_[0] = SetBits(signal);
  } else {
    std::ranges::copy(signal, levels_.begin());
  }
}

void TaggedProbe::SetWires(std::span<const uint64_t> levels, TraceWriter& writer) {
  for (size_t i = 0; i < levels.size(); ++i) {
    const WireId first = probe_.first_wire + requester_ * wires_ + static_cast<uint32_t>(i * 64);
    for (uint64_t changed = levels[i] ^ shown_[i]; changed != 0; changed &= changed - 1) {
      const auto position = static_cast<uint32_t>(std::countr_zero(changed));
      writer.Set(probe_.domain, first + position, (levels[i] >> position & 1) != 0);
    }
    shown_[i] = levels[i];
  }
}

}  // namespace sideband::sim
