// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/catalog_clocks.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "proto/base/status_macros.h"
#include "proto/mailbox/catalog_items.h"

namespace sideband::mailbox {
namespace {

constexpr uint8_t kOfDevice = 1 << 0;
constexpr uint8_t kAnnounces = 1 << 1;

void Encode(const ClockDomain& domain, ByteWriter& out) {
  out.String(domain.name);
  out.U64(domain.nominal_hz);
  out.U64(domain.period_min);
  out.U64(domain.period_max);
  out.U64(static_cast<uint64_t>(domain.bar_low));
  out.U64(static_cast<uint64_t>(domain.bar_high));
  out.U32(domain.wander);
  out.U8((domain.slice ? 0 : kOfDevice) | (domain.announces ? kAnnounces : 0));
  if (domain.slice) out.U8(*domain.slice);
}

absl::Status Decode(ByteReader& in, ClockDomain& domain) {
  domain.name = in.String();
  domain.nominal_hz = in.U64();
  domain.period_min = in.U64();
  domain.period_max = in.U64();
  domain.bar_low = static_cast<int64_t>(in.U64());
  domain.bar_high = static_cast<int64_t>(in.U64());
  domain.wander = in.U32();
  const uint8_t flags = in.U8();
  // A flag may qualify the limits, on which all bounds depend.
  if ((flags & ~(kOfDevice | kAnnounces)) != 0) return MalformedClocks("a domain has an unknown flag");
  if ((flags & kOfDevice) == 0) domain.slice = in.U8();
  domain.announces = (flags & kAnnounces) != 0;
  return in.ok() ? absl::OkStatus() : MalformedClocks("truncated domains");
}

absl::Status CheckLimits(const ClockDomain& domain) {
  if (domain.nominal_hz == 0) return MalformedClocks("a domain has no frequency");
  if (domain.period_min == 0) return MalformedClocks("a domain has no shortest period");
  if (!domain.MayStop() && domain.period_max < domain.period_min) {
    return MalformedClocks("a domain's longest period is shorter than its shortest");
  }
  if (domain.bar_low > domain.bar_high) return MalformedClocks("a domain's bar ends before it begins");
  return absl::OkStatus();
}

bool HasSlice(const Catalog& catalog, uint8_t id) {
  return std::any_of(catalog.slices.begin(), catalog.slices.end(),
                     [id](const SliceInfo& slice) { return slice.id == id; });
}

}  // namespace

Bytes EncodeClockDomains(const std::vector<ClockDomain>& domains) {
  ByteWriter out;
  out.U8(static_cast<uint8_t>(domains.size()));
  for (const ClockDomain& domain : domains) Encode(domain, out);
  return std::move(out).Take();
}

absl::Status DecodeClockDomains(ByteSpan payload, std::vector<ClockDomain>& domains) {
  ByteReader in(payload);
  const size_t size = in.U8();
  if (size == 0 || size > kClockDomainsMax) return MalformedClocks("no domains, or too many");
  for (size_t i = 0; i < size; ++i) SIDEBAND_RETURN_IF_ERROR(Decode(in, domains.emplace_back()));
  return in.remaining() == 0 ? absl::OkStatus() : MalformedClocks("bytes after the domains");
}

absl::Status CheckClockDomains(const Catalog& catalog) {
  std::set<std::pair<std::optional<uint8_t>, std::string>> names;
  for (const ClockDomain& domain : catalog.clock_domains) {
    if (!IsName(domain.name) || !names.emplace(domain.slice, domain.name).second) {
      return MalformedClocks("a domain has no identity");
    }
    if (domain.slice && !HasSlice(catalog, *domain.slice)) return MalformedClocks("a domain is of an unknown slice");
    SIDEBAND_RETURN_IF_ERROR(CheckLimits(domain));
  }
  // Without domains the numbers have no meaning.
  if (catalog.clock_domains.empty()) return absl::OkStatus();
  for (const EventInfo& event : catalog.events) {
    if (event.details.clock_domain > catalog.clock_domains.size()) {
      return MalformedClocks("an event is of an unknown domain");
    }
  }
  return absl::OkStatus();
}

}  // namespace sideband::mailbox
