// SPDX-License-Identifier: Apache-2.0
#include "daemon/mailbox/clock_reader.h"

#include <array>

#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

using mailbox::MalformedClocks;
using mailbox::Timeline;
using mailbox::TimelineEntry;

// Numbers start anew after 2^32.
bool IsBefore(uint32_t a, uint32_t b) { return static_cast<int32_t>(a - b) < 0; }

// The newest packets so far.
class Order {
 public:
  explicit Order(const Timeline& timeline) : timeline_(timeline) {}

  absl::Status Add(const TimelineEntry& entry) {
    const bool is_first = before_ == nullptr;
    if (IsBefore(entry.trigger_id, timeline_.first_trigger_id)) return MalformedClocks("an earlier trigger");
    if (!is_first && !IsBefore(before_->trigger_id, entry.trigger_id)) return MalformedClocks("triggers do not ascend");
    if (!is_first && entry.reference_cycle < before_->reference_cycle) {
      return MalformedClocks("reference time goes back");
    }
    before_ = &entry;
    return AddClocks(entry);
  }

 private:
  absl::Status AddClocks(const TimelineEntry& entry) {
    auto clock = entry.clocks.begin();
    for (size_t domain = 0; domain < mailbox::kClockDomainsMax; ++domain) {
      if (!mailbox::HasDomain(entry.domains, domain)) continue;
      if (clock->local_clock < local_clocks_[domain]) return MalformedClocks("a local clock goes back");
      const bool has_arrival = mailbox::HasDomain(timeline_.may_stop, domain);
      if (has_arrival && clock->arrival < entry.reference_cycle) {
        return MalformedClocks("a packet arrives before its trigger");
      }
      local_clocks_[domain] = clock->local_clock;
      ++clock;
    }
    return absl::OkStatus();
  }

  const Timeline& timeline_;
  const TimelineEntry* before_ = nullptr;
  std::array<uint64_t, mailbox::kClockDomainsMax> local_clocks_{};
};

}  // namespace

absl::Status CheckTimeline(const Timeline& timeline) {
  Order order(timeline);
  for (const TimelineEntry& entry : timeline.entries) SIDEBAND_RETURN_IF_ERROR(order.Add(entry));
  return absl::OkStatus();
}

absl::Status ClockReader::CheckServed() const {
  return session_.has_clocks() ? absl::OkStatus()
                               : absl::UnimplementedError("TRIGGER: the device has no clock domains");
}

absl::Status ClockReader::Select(uint64_t domains) {
  SIDEBAND_RETURN_IF_ERROR(CheckServed());
  return session_.SelectDomains(domains);
}

absl::StatusOr<uint64_t> ClockReader::Bookmark(uint16_t vm, uint16_t context, uint32_t bookmark) {
  SIDEBAND_RETURN_IF_ERROR(CheckServed());
  return session_.SetBookmark(uint32_t{context} << 16 | vm, bookmark);
}

absl::StatusOr<Timeline> ClockReader::ReadTimeline(uint32_t first_trigger_id, size_t domains) {
  SIDEBAND_RETURN_IF_ERROR(CheckServed());
  SIDEBAND_ASSIGN_OR_RETURN(Timeline timeline, session_.ReadTimeline(first_trigger_id, domains));
  SIDEBAND_RETURN_IF_ERROR(CheckTimeline(timeline));
  return timeline;
}

absl::StatusOr<mailbox::ClockHulls> ClockReader::ReadHulls(uint32_t first_trigger_id, size_t domains) {
  SIDEBAND_RETURN_IF_ERROR(CheckServed());
  return session_.ReadHulls(first_trigger_id, domains);
}

}  // namespace sideband::daemon
