// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/clock_section.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/numeric/int128.h"
#include "proto/mailbox/bit_stream.h"
#include "proto/mailbox/clocks.h"

namespace sideband::mailbox {
namespace {

// Of the number of domains less one.
constexpr uint32_t kDomainBits = 6;

// What is expected of the clocks of a snapshot.
class ExpectedClocks {
 public:
  // Without a base, and of a base with another number of clocks, all numbers are expected to be 0.
  ExpectedClocks(const Snapshot& snapshot, const Snapshot* base, size_t domains)
      : base_(base != nullptr && base->clocks.size() == domains ? base : nullptr),
        time_ns_(snapshot.reference_time_ns) {}

  // A clock goes on as it has gone since boot, which costs a third of its increment and is exact of a steady one.
  uint64_t Local(size_t domain) const {
    if (base_ == nullptr) return 0;
    const uint64_t before = base_->clocks[domain].local_clock, before_ns = base_->reference_time_ns;
    if (before_ns == 0) return before;
    return before + absl::Uint128Low64(absl::uint128(before) * (time_ns_ - before_ns) / before_ns);
  }
  // Packets take about the same time from latch to latch.
  uint64_t Arrival(size_t domain) const { return base_ == nullptr ? 0 : base_->clocks[domain].arrival; }

 private:
  const Snapshot* const base_;
  const uint64_t time_ns_;
};

}  // namespace

Bytes EncodeClocks(const Snapshot& snapshot, const Snapshot* base) {
  const size_t domains = snapshot.clocks.size();
  const bool is_as_before = base != nullptr && base->clocks.size() == domains;
  BitWriter out;
  out.Bit(is_as_before);
  if (!is_as_before) out.Bits(domains - 1, kDomainBits);
  const ExpectedClocks expected(snapshot, base, domains);
  for (size_t domain = 0; domain < domains; ++domain) {
    const ClockReading& clock = snapshot.clocks[domain];
    out.Number(WithSign(clock.local_clock - expected.Local(domain)));
    out.Number(clock.horizon_lag);
    out.Number(WithSign(clock.arrival - expected.Arrival(domain)));
    out.Bit(clock.changed);
  }
  return std::move(out).Take();
}

absl::Status DecodeClocks(ByteSpan bits, const Snapshot* base, Snapshot& snapshot) {
  BitReader in(bits);
  const bool is_as_before = in.Bit();
  if (is_as_before && (base == nullptr || base->clocks.empty())) return MalformedClocks("as many as in no snapshot");
  const size_t domains = is_as_before ? base->clocks.size() : in.Bits(kDomainBits) + 1;
  const ExpectedClocks expected(snapshot, base, domains);
  for (size_t domain = 0; domain < domains; ++domain) {
    ClockReading& clock = snapshot.clocks.emplace_back();
    clock.local_clock = expected.Local(domain) + WithoutSign(in.Number());
    clock.horizon_lag = in.Number();
    clock.arrival = expected.Arrival(domain) + WithoutSign(in.Number());
    clock.changed = in.Bit();
  }
  if (!in.ok()) return MalformedClocks("truncated");
  return in.AtEnd() ? absl::OkStatus() : MalformedClocks("bits left over");
}

}  // namespace sideband::mailbox
