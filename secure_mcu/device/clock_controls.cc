// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/device/clock_controls.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"

namespace sideband::mcu {
namespace {

using mailbox::TimelineKind;

TimelineKind KindOf(TriggerCause cause) {
  switch (cause) {
    case TriggerCause::kOnce:
      return TimelineKind::kOnce;
    case TriggerCause::kGrid:
      return TimelineKind::kGrid;
    case TriggerCause::kExternal:
      return TimelineKind::kExternal;
    case TriggerCause::kLatch:
      break;
  }
  return TimelineKind::kLatch;
}

mailbox::TimelineEntry EntryOf(const TriggerPackets& packets, uint64_t may_stop) {
  const ReferencePacket& reference = packets.reference;
  mailbox::TimelineEntry entry{.trigger_id = reference.number,
                               .kind = KindOf(reference.cause),
                               .reference_cycle = reference.cycle,
                               .scheduler = reference.scheduler,
                               .bookmark = reference.bookmark.value_or(0)};
  for (size_t row = 0; row < packets.rows.size(); ++row) {
    const std::optional<ClockPacket>& packet = packets.rows[row];
    if (!packet) continue;
    entry.domains |= uint64_t{1} << row;
    entry.clocks.push_back({.local_clock = packet->local_clock,
                            .changes = packet->changes,
                            .coalesced = packet->coalesced,
                            .arrival = mailbox::HasDomain(may_stop, row) ? packet->arrival : 0});
  }
  return entry;
}

}  // namespace

std::vector<mailbox::ClockDomain> ClockControls::Domains() const {
  std::vector<mailbox::ClockDomain> domains;
  if (!chip_.has_clocks()) return domains;
  for (const DomainInfo& info : chip_.clocks().domains()) {
    mailbox::ClockDomain& domain = domains.emplace_back();
    domain.name = info.domain_name;
    domain.nominal_hz = info.nominal_hz;
    domain.period_min = info.shortest;
    domain.period_max = info.longest;
    domain.bar_low = static_cast<int64_t>(info.bar_low);
    // Of a clock that may stop, the arrival stamp is the end of a bar.
    domain.bar_high = static_cast<int64_t>(std::max(info.bar_low, info.bar_high));
    domain.wander = info.wander;
    if (info.channel != kDeviceChannel) domain.slice = info.channel;
    domain.announces = info.announces;
  }
  return domains;
}

uint8_t ClockControls::DomainOf(uint8_t channel, uint32_t domain) const {
  const auto row = chip_.has_clocks() ? chip_.clocks().FindRow(channel, domain) : std::nullopt;
  return row ? static_cast<uint8_t>(*row + 1) : 0;
}

absl::Status ClockControls::Select(uint64_t domains) {
  const size_t rows = chip_.has_clocks() ? chip_.clocks().domains().size() : 0;
  if ((domains & ~mailbox::MaskOfDomains(rows)) != 0) {
    return absl::InvalidArgumentError(absl::StrCat("a clock domain of ", rows, " that is not there"));
  }
  if (rows > 0) chip_.clocks().scheduler().Select(domains);
  return absl::OkStatus();
}

uint64_t ClockControls::GridPeriodMin() const {
  uint64_t longest = 0;
  for (const mailbox::ClockDomain& domain : Domains()) {
    if (!domain.MayStop()) longest = std::max(longest, static_cast<uint64_t>(domain.bar_high - domain.bar_low));
  }
  return 2 * longest >> mailbox::kInstantFractionBits;
}

void ClockControls::SetOwnBookmark(uint32_t bookmark) {
  if (chip_.has_clocks()) chip_.clocks().scheduler().SetBookmark(bookmark);
}

mailbox::Timeline ClockControls::TimelineFrom(uint32_t first_trigger_id) {
  mailbox::Timeline timeline{.first_trigger_id = first_trigger_id};
  if (!chip_.has_clocks()) return timeline;
  const std::vector<DomainInfo>& domains = chip_.clocks().domains();
  for (size_t row = 0; row < domains.size(); ++row) {
    if (domains[row].longest == 0) timeline.may_stop |= uint64_t{1} << row;
  }
  for (const TriggerPackets& packets : chip_.clocks().PacketsFrom(first_trigger_id, chip_.now())) {
    timeline.entries.push_back(EntryOf(packets, timeline.may_stop));
  }
  timeline.lost = chip_.clocks().lost_triggers();
  return timeline;
}

std::vector<std::optional<mailbox::ClockReading>> ClockControls::Readings() const {
  std::vector<std::optional<mailbox::ClockReading>> readings;
  if (!chip_.has_clocks()) return readings;
  for (const std::optional<ClockPacket>& packet : chip_.clocks().readings()) {
    auto& reading = readings.emplace_back();
    if (!packet) continue;
    reading = mailbox::ClockReading{.local_clock = packet->local_clock,
                                    .horizon_lag = packet->horizon_lag,
                                    .arrival = packet->arrival - chip_.now(),
                                    .changes = packet->changes};
  }
  return readings;
}

std::vector<mailbox::ServedBookmark> ClockControls::Bookmarks() const {
  std::vector<mailbox::ServedBookmark> bookmarks;
  // Blocks that are released are in no snapshot.
  std::vector<uint16_t> places;
  uint16_t place = 0;
  for (BlockId block = 0; block < chip_.memory().size(); ++block) {
    places.push_back(place);
    if (!chip_.memory().released(block)) ++place;
  }
  for (const KeptBookmark& kept : chip_.bookmarks().kept()) {
    bookmarks.push_back({.number = kept.number,
                         .block = places[kept.block],
                         .bookmark = kept.asked.bookmark,
                         .asked_ns = kept.asked.asked_ns,
                         .served_ns = kept.served_ns,
                         .counters = {kept.counters.begin(), kept.counters.end()}});
  }
  return bookmarks;
}

void ClockControls::AddNumbers(mailbox::Snapshot& snapshot) const {
  snapshot.clocks = Readings();
  snapshot.bookmarks = Bookmarks();
}

}  // namespace sideband::mcu
