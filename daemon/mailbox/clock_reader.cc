// SPDX-License-Identifier: Apache-2.0
#include "daemon/mailbox/clock_reader.h"

#include <array>

#include "proto/base/status_macros.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::daemon {
namespace {

using mailbox::CommandWord;
using mailbox::MalformedClocks;
using mailbox::Opcode;
using mailbox::Timeline;
using mailbox::TimelineEntry;
using mailbox::TriggerStep;

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

// What the device means by a refusal of BOOKMARK.
absl::Status OfBookmark(const absl::Status& status) {
  if (absl::IsUnavailable(status)) return absl::NotFoundError("BOOKMARK: no such scope");
  if (absl::IsUnimplemented(status)) return absl::FailedPreconditionError("BOOKMARK: there is no grid of triggers");
  // Interference is another matter: the command may not have run.
  if (!absl::IsAborted(status) || MailboxSession::IsInterference(status)) return status;
  return absl::ResourceExhaustedError("BOOKMARK: the scope has a pending one");
}

absl::Status SelectDomains(MailboxSession& session, uint64_t domains) {
  SIDEBAND_ASSIGN_OR_RETURN(
      const MailboxReply reply,
      session.Run({.command = ExtensionCommand(Opcode::kTrigger, static_cast<uint8_t>(TriggerStep::kSelect)),
                   .data = static_cast<uint32_t>(domains),
                   .extended_data = static_cast<uint32_t>(domains >> 32)}));
  const bool is_meant = (uint64_t{reply.extended_data} << 32 | reply.data) == domains;
  return is_meant ? absl::OkStatus() : absl::AbortedError("SELECT: another controller has changed the domains");
}

absl::StatusOr<uint64_t> SetBookmark(MailboxSession& session, uint32_t scope, uint32_t bookmark) {
  CommandWord command = ExtensionCommand(Opcode::kTrigger, static_cast<uint8_t>(TriggerStep::kBookmark));
  command.arg2 = mailbox::BookmarkCheck(scope, bookmark);
  const auto reply = session.Run({.command = command, .data = scope, .extended_data = bookmark});
  // The operands were another controller's.
  if (absl::IsInvalidArgument(reply.status()))
    return absl::AbortedError("BOOKMARK: another controller has changed the scope");
  if (!reply.ok()) return OfBookmark(reply.status());
  return uint64_t{reply->extended_data} << 32 | reply->data;
}

absl::StatusOr<uint32_t> OpenPackets(MailboxSession& session, TriggerStep step, uint32_t first_trigger_id,
                                     uint32_t offset) {
  const CommandWord command = session.StreamCommand(Opcode::kTrigger, static_cast<uint8_t>(step));
  SIDEBAND_ASSIGN_OR_RETURN(
      const MailboxReply reply,
      session.Run(
          {.command = command, .data = first_trigger_id, .extended_data = offset, .output = MailboxOutput::kData}));
  return reply.data;
}

absl::StatusOr<SecretBytes> ReadPackets(MailboxSession& session, TriggerStep step, uint32_t first_trigger_id) {
  SIDEBAND_ASSIGN_OR_RETURN(const uint32_t size, OpenPackets(session, step, first_trigger_id, 0));
  return session.ReadStream(size,
                            [&](uint32_t offset) { return OpenPackets(session, step, first_trigger_id, offset); });
}

}  // namespace

absl::StatusOr<uint32_t> RunTrigger(MailboxSession& session, TriggerStep step, uint64_t period) {
  if (!mailbox::IsOpcodeOf(session.version(), Opcode::kTrigger)) {
    return absl::UnimplementedError("TRIGGER: not in version 1 of the extension");
  }
  const bool is_start = step == TriggerStep::kStart;
  SIDEBAND_ASSIGN_OR_RETURN(const MailboxReply reply,
                            session.Run({.command = ExtensionCommand(Opcode::kTrigger, static_cast<uint8_t>(step)),
                                         .data = static_cast<uint32_t>(period),
                                         .extended_data = static_cast<uint32_t>(period >> 32),
                                         .output = is_start ? MailboxOutput::kBoth : MailboxOutput::kData}));
  if (is_start && (uint64_t{reply.extended_data} << 32 | reply.data) != period) {
    return absl::AbortedError("TRIGGER: another controller has changed the period");
  }
  return reply.data;
}

absl::Status CheckTimeline(const Timeline& timeline) {
  Order order(timeline);
  for (const TimelineEntry& entry : timeline.entries) SIDEBAND_RETURN_IF_ERROR(order.Add(entry));
  return absl::OkStatus();
}

absl::Status ClockReader::CheckServed() const {
  return session_.Has(mailbox::kClocksFeature) ? absl::OkStatus()
                                               : absl::UnimplementedError("TRIGGER: the device has no clock domains");
}

absl::Status ClockReader::Select(uint64_t domains) {
  SIDEBAND_RETURN_IF_ERROR(CheckServed());
  return SelectDomains(session_, domains);
}

absl::StatusOr<uint64_t> ClockReader::Bookmark(uint16_t vm, uint16_t context, uint32_t bookmark) {
  SIDEBAND_RETURN_IF_ERROR(CheckServed());
  return SetBookmark(session_, uint32_t{context} << 16 | vm, bookmark);
}

absl::StatusOr<Timeline> ClockReader::ReadTimeline(uint32_t first_trigger_id, size_t domains) {
  SIDEBAND_RETURN_IF_ERROR(CheckServed());
  SIDEBAND_ASSIGN_OR_RETURN(const SecretBytes bytes, ReadPackets(session_, TriggerStep::kTimeline, first_trigger_id));
  SIDEBAND_ASSIGN_OR_RETURN(Timeline timeline, mailbox::DecodeTimelineStream(bytes, first_trigger_id, domains));
  SIDEBAND_RETURN_IF_ERROR(CheckTimeline(timeline));
  return timeline;
}

absl::StatusOr<mailbox::ClockHulls> ClockReader::ReadHulls(uint32_t first_trigger_id, size_t domains) {
  SIDEBAND_RETURN_IF_ERROR(CheckServed());
  SIDEBAND_ASSIGN_OR_RETURN(const SecretBytes bytes, ReadPackets(session_, TriggerStep::kHulls, first_trigger_id));
  return mailbox::DecodeHullStream(bytes, first_trigger_id, domains);
}

}  // namespace sideband::daemon
