// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/clock_section.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "absl/numeric/int128.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/bit_stream.h"
#include "proto/mailbox/clocks.h"

namespace sideband::mailbox {
namespace {

// What is expected of a snapshot's clocks. Without a base, and where it has no such reading, all numbers are 0.
class ExpectedClocks {
 public:
  ExpectedClocks(const Snapshot& snapshot, const Snapshot* base, size_t domains)
      : base_(base != nullptr && base->clocks.size() == domains ? base : nullptr),
        time_ns_(snapshot.reference_time_ns) {}

  // A clock goes on as it has gone since boot, which costs a third of its increment and is exact of a steady one.
  // Packets take about the same time from latch to latch.
  ClockReading Of(size_t domain) const {
    if (base_ == nullptr || !base_->clocks[domain]) return {};
    ClockReading expected = *base_->clocks[domain];
    const uint64_t before = expected.local_clock, before_ns = base_->reference_time_ns;
    if (before_ns == 0) return expected;
    expected.local_clock += absl::Uint128Low64(absl::uint128(before) * (time_ns_ - before_ns) / before_ns);
    return expected;
  }

 private:
  const Snapshot* const base_;
  const uint64_t time_ns_;
};

void Encode(const ClockReading& clock, const ClockReading& expected, BitWriter& out) {
  out.Number(WithSign(clock.local_clock - expected.local_clock));
  out.Number(clock.horizon_lag);
  out.Number(WithSign(clock.arrival - expected.arrival));
  out.Number(WithSign(uint64_t{clock.changes} - expected.changes));
}

absl::Status Decode(BitReader& in, const ClockReading& expected, ClockReading& clock) {
  clock.local_clock = expected.local_clock + WithoutSign(in.Number());
  clock.horizon_lag = in.Number();
  clock.arrival = expected.arrival + WithoutSign(in.Number());
  const uint64_t changes = expected.changes + WithoutSign(in.Number());
  if (changes > std::numeric_limits<uint32_t>::max()) return MalformedClocks("too many changes");
  clock.changes = static_cast<uint32_t>(changes);
  return absl::OkStatus();
}

}  // namespace

Bytes EncodeClocks(const Snapshot& snapshot, const Snapshot* base) {
  const size_t domains = snapshot.clocks.size();
  const bool is_as_before = base != nullptr && base->clocks.size() == domains;
  BitWriter out;
  out.Bit(is_as_before);
  if (!is_as_before) out.Bits(domains - 1, kDomainNumberBits);
  const ExpectedClocks expected(snapshot, base, domains);
  for (size_t domain = 0; domain < domains; ++domain) {
    const std::optional<ClockReading>& clock = snapshot.clocks[domain];
    out.Bit(clock.has_value());
    if (clock) Encode(*clock, expected.Of(domain), out);
  }
  return std::move(out).Take();
}

absl::Status DecodeClocks(ByteSpan bits, const Snapshot* base, Snapshot& snapshot) {
  BitReader in(bits);
  const bool is_as_before = in.Bit();
  if (is_as_before && (base == nullptr || base->clocks.empty())) return MalformedClocks("as many as in no snapshot");
  const size_t domains = is_as_before ? base->clocks.size() : in.Bits(kDomainNumberBits) + 1;
  const ExpectedClocks expected(snapshot, base, domains);
  for (size_t domain = 0; domain < domains; ++domain) {
    std::optional<ClockReading>& clock = snapshot.clocks.emplace_back();
    if (in.Bit()) SIDEBAND_RETURN_IF_ERROR(Decode(in, expected.Of(domain), clock.emplace()));
  }
  if (!in.ok()) return MalformedClocks("truncated");
  return in.AtEnd() ? absl::OkStatus() : MalformedClocks("bits left over");
}

}  // namespace sideband::mailbox
