// SPDX-License-Identifier: Apache-2.0
#include "daemon/mailbox/device_commands.h"

#include <array>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/rotation.h"
#include "proto/mailbox/snapshot.h"
#include "proto/mailbox/stream.h"

namespace sideband::daemon {
namespace {

using mailbox::CommandWord;
using mailbox::ConfigStep;
using mailbox::ConfigWrite;
using mailbox::MalformedClocks;
using mailbox::Opcode;
using mailbox::RotateStep;
using mailbox::SealStep;
using mailbox::Timeline;
using mailbox::TimelineEntry;
using mailbox::TriggerStep;

uint32_t Low(uint64_t word) { return static_cast<uint32_t>(word); }
uint32_t High(uint64_t word) { return static_cast<uint32_t>(word >> 32); }

// The order in which the device has them at COMMIT: ascending, and each word once.
std::vector<ConfigWrite> InOrder(const std::vector<ConfigWrite>& writes) {
  std::map<mailbox::ConfigAddress, uint64_t> words;
  for (const ConfigWrite& write : writes) words[write.address] = write.word;
  std::vector<ConfigWrite> ordered;
  for (const auto& [address, word] : words) ordered.push_back({address, word});
  return ordered;
}

absl::StatusOr<uint32_t> OpenConfig(MailboxSession& session, uint32_t offset) {
  const CommandWord command = session.StreamCommand(Opcode::kConfig, static_cast<uint8_t>(ConfigStep::kDump));
  SIDEBAND_ASSIGN_OR_RETURN(
      const MailboxReply reply,
      session.Run({.command = command, .data = offset, .extended_data = {}, .output = MailboxOutput::kData}));
  return reply.data;
}

uint32_t ScopeOf(uint16_t vm, uint16_t context) { return uint32_t{context} << 16 | vm; }

// The device answers the same for a scope that it does not have and for one where nothing rotates.
absl::Status OfScope(const absl::Status& status) {
  return absl::IsInvalidArgument(status) ? absl::NotFoundError("ROTATE: no event is multiplexed there") : status;
}

absl::StatusOr<uint32_t> OpenPlan(MailboxSession& session, uint32_t scope, uint32_t offset) {
  const CommandWord command = session.StreamCommand(Opcode::kRotate, static_cast<uint8_t>(RotateStep::kPlan));
  SIDEBAND_ASSIGN_OR_RETURN(
      const MailboxReply reply,
      session.Run({.command = command, .data = scope, .extended_data = offset, .output = MailboxOutput::kData}));
  return reply.data;
}

absl::StatusOr<mailbox::RotationPlan> ReadPlan(MailboxSession& session, uint32_t scope, size_t events) {
  const absl::StatusOr<uint32_t> size = OpenPlan(session, scope, 0);
  if (absl::IsInvalidArgument(size.status())) return absl::NotFoundError("ROTATE: no event is multiplexed there");
  SIDEBAND_RETURN_IF_ERROR(size.status());
  SIDEBAND_ASSIGN_OR_RETURN(const SecretBytes bytes, session.ReadStream(*size, [&](uint32_t offset) {
    return OpenPlan(session, scope, offset);
  }));
  return mailbox::DecodePlanStream(bytes, scope, events);
}

// INVALID_ARGUMENT, at APPLY, also for other bytes in the upload buffer. ABORTED if another controller has overwritten
// an input: the step was then taken for what that one wrote.
absl::Status RunRotate(MailboxSession& session, RotateStep step, uint32_t data, uint32_t extended_data) {
  const CommandWord command = ExtensionCommand(Opcode::kRotate, static_cast<uint8_t>(step));
  SIDEBAND_ASSIGN_OR_RETURN(const MailboxReply reply,
                            session.Run({.command = command, .data = data, .extended_data = extended_data}));
  const bool is_meant = reply.data == data && reply.extended_data == extended_data;
  return is_meant ? absl::OkStatus() : absl::AbortedError("ROTATE: another controller has changed the scope or plan");
}

// Numbers start again after 2^32.
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

// The meaning of a refusal of BOOKMARK.
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

// The device answers the same for a VM that it does not have and for one without keys.
absl::Status OrNotFound(const absl::Status& status) {
  return absl::IsInvalidArgument(status) ? absl::NotFoundError("SEAL: the device has no keys for this VM") : status;
}

absl::Status OfAnotherController() { return absl::UnavailableError("SEAL: another controller interferes"); }

// The payload of a challenge or an answer.
absl::StatusOr<Bytes> ExchangePayload(ByteSpan bytes) {
  SIDEBAND_ASSIGN_OR_RETURN(const mailbox::Stream stream, mailbox::DecodeStream(bytes));
  if (stream.header.kind != mailbox::StreamKind::kExchange) {
    return OfAnotherController();
  }
  return Bytes(stream.payload.begin(), stream.payload.end());
}

// CHALLENGE or EXCHANGE; `echo` is what the device repeats.
absl::StatusOr<uint32_t> OpenSeal(MailboxSession& session, SealStep step, uint32_t data, uint32_t extended_data,
                                  uint32_t echo) {
  const CommandWord command = session.StreamCommand(Opcode::kSeal, static_cast<uint8_t>(step));
  SIDEBAND_ASSIGN_OR_RETURN(const MailboxReply reply,
                            session.Run({.command = command, .data = data, .extended_data = extended_data}));
  if (reply.extended_data != echo) return OfAnotherController();
  return reply.data;
}

absl::StatusOr<Bytes> ReadChallenge(MailboxSession& session, uint16_t vm) {
  SIDEBAND_ASSIGN_OR_RETURN(const uint32_t size, OpenSeal(session, SealStep::kChallenge, vm, 0, vm));
  // Another one would be drawn in its place.
  SIDEBAND_ASSIGN_OR_RETURN(const SecretBytes bytes,
                            session.ReadStream(size, [](uint32_t) { return OfAnotherController(); }));
  return ExchangePayload(bytes);
}

// The answer to the request in the upload buffer. ABORTED: other bytes were there.
absl::StatusOr<Bytes> ReadAnswer(MailboxSession& session, uint32_t size, uint32_t crc) {
  SIDEBAND_ASSIGN_OR_RETURN(const uint32_t stream, OpenSeal(session, SealStep::kExchange, size, crc, crc));
  SIDEBAND_ASSIGN_OR_RETURN(const SecretBytes bytes, session.ReadStream(stream, [&](uint32_t offset) {
    return OpenSeal(session, SealStep::kExchange, 0, offset, offset);
  }));
  return ExchangePayload(bytes);
}

absl::StatusOr<uint32_t> BeginEpoch(MailboxSession& session, uint16_t vm) {
  const CommandWord command = ExtensionCommand(Opcode::kSeal, static_cast<uint8_t>(SealStep::kEpoch));
  SIDEBAND_ASSIGN_OR_RETURN(const MailboxReply reply,
                            session.Run({.command = command, .data = vm, .extended_data = {}}));
  if (reply.extended_data != vm) return OfAnotherController();
  return reply.data;
}

}  // namespace

absl::StatusOr<mailbox::CountingConfig> ReadConfig(MailboxSession& session) {
  SIDEBAND_ASSIGN_OR_RETURN(const uint32_t size, OpenConfig(session, 0));
  SIDEBAND_ASSIGN_OR_RETURN(const SecretBytes bytes,
                            session.ReadStream(size, [&](uint32_t offset) { return OpenConfig(session, offset); }));
  return mailbox::DecodeConfigStream(bytes);
}

absl::StatusOr<MailboxReply> RunConfig(MailboxSession& session, ConfigStep step, uint8_t tag, uint32_t data,
                                       uint32_t extended_data) {
  CommandWord command = ExtensionCommand(Opcode::kConfig, static_cast<uint8_t>(step));
  command.arg2 = tag;
  return session.Run({.command = command, .data = data, .extended_data = extended_data});
}

absl::Status ConfigWriter::Rebase(const Words& from, std::vector<ConfigWrite>& writes) {
  for (auto& [address, word] : writes) {
    const auto known = from.find(address);
    if (known == from.end() || !mailbox::HasFields(address)) continue;
    SIDEBAND_RETURN_IF_ERROR(
        RunConfig(session_, ConfigStep::kAddress, tag_, PackAddress(address), PackScope(address)).status());
    SIDEBAND_ASSIGN_OR_RETURN(const auto now, RunConfig(session_, ConfigStep::kRead, tag_, 0, 0));
    word = mailbox::Rebase(address, known->second, word, uint64_t{now.extended_data} << 32 | now.data);
  }
  return absl::OkStatus();
}

// Each word has its address, so that a repeated command cannot move the others.
absl::Status ConfigWriter::Write(const std::vector<ConfigWrite>& writes) {
  for (const auto& [address, word] : writes) {
    SIDEBAND_RETURN_IF_ERROR(
        RunConfig(session_, ConfigStep::kAddress, tag_, PackAddress(address), PackScope(address)).status());
    SIDEBAND_RETURN_IF_ERROR(RunConfig(session_, ConfigStep::kWrite, tag_, Low(word), High(word)).status());
  }
  return absl::OkStatus();
}

// A device that has restarted since has the same revision again, and other VMs at the same numbers.
absl::Status ConfigWriter::Begin(const ConfigChange& change) {
  SIDEBAND_ASSIGN_OR_RETURN(const auto reply,
                            RunConfig(session_, ConfigStep::kBegin, tag_, change.revision, Low(change.boot_id)));
  // The device checks the boot, too. Another controller may have overwritten the register with a 0, which names none.
  return reply.extended_data == Low(change.boot_id) ? absl::OkStatus()
                                                    : absl::AbortedError("CONFIG: the device has restarted");
}

absl::StatusOr<CommittedConfig> ConfigWriter::Run(ConfigChange change) {
  SIDEBAND_RETURN_IF_ERROR(Begin(change));
  SIDEBAND_RETURN_IF_ERROR(Rebase(change.from, change.writes));
  SIDEBAND_RETURN_IF_ERROR(Write(change.writes));
  SIDEBAND_ASSIGN_OR_RETURN(const auto reply, RunConfig(session_, ConfigStep::kCommit, tag_,
                                                        mailbox::ConfigCrc(change.writes), change.revision));
  return CommittedConfig{reply.data, reply.extended_data};
}

absl::StatusOr<CommittedConfig> ConfigWriter::Commit(ConfigChange change) {
  change.writes = InOrder(change.writes);
  const auto committed = Run(std::move(change));
  // So that other controllers need not wait for its end. If the bus fails here, too, it ends by itself.
  if (!committed.ok() && !absl::IsCancelled(committed.status())) {
    RunConfig(session_, ConfigStep::kAbort, tag_, 0, 0).IgnoreError();
  }
  return committed;
}

absl::Status RotationWriter::CheckServed() const {
  return session_.Has(mailbox::kRotationFeature) ? absl::OkStatus()
                                                 : absl::UnimplementedError("ROTATE: the device has no rotation");
}

absl::Status RotationWriter::UploadAndApply(ByteSpan bytes) {
  SIDEBAND_RETURN_IF_ERROR(session_.Upload(bytes));
  return RunRotate(session_, RotateStep::kApply, static_cast<uint32_t>(bytes.size()), Crc32c(bytes));
}

absl::Status RotationWriter::Apply(const mailbox::RotationRequest& request) {
  SIDEBAND_RETURN_IF_ERROR(CheckServed());
  const Bytes bytes = mailbox::EncodeRotationRequest(request);
  absl::Status status = UploadAndApply(bytes);
  // The device found other bytes than these. What it refuses would be refused again.
  for (int upload = 1; upload < kUploadsMax && absl::IsAborted(status); ++upload) {
    session_.GiveWay();
    status = UploadAndApply(bytes);
  }
  return status;
}

absl::StatusOr<mailbox::RotationPlan> RotationWriter::Read(uint16_t vm, uint16_t context, size_t events) {
  SIDEBAND_RETURN_IF_ERROR(CheckServed());
  return ReadPlan(session_, ScopeOf(vm, context), events);
}

absl::Status RotationWriter::RunOfScope(RotateStep step, uint32_t scope, uint32_t extended_data) {
  SIDEBAND_RETURN_IF_ERROR(CheckServed());
  return OfScope(RunRotate(session_, step, scope, extended_data));
}

absl::Status RotationWriter::Learn(uint16_t vm, uint16_t context) {
  return RunOfScope(RotateStep::kLearn, ScopeOf(vm, context), 0);
}

absl::Status RotationWriter::SetPass(uint16_t vm, uint16_t context, uint32_t pass) {
  return RunOfScope(RotateStep::kPass, ScopeOf(vm, context), pass);
}

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

absl::Status SealWriter::CheckServed() const {
  return session_.Has(mailbox::kSealingFeature) ? absl::OkStatus()
                                                : absl::NotFoundError("SEAL: the device does not seal");
}

absl::StatusOr<Bytes> SealWriter::Draw(uint16_t vm) {
  SIDEBAND_RETURN_IF_ERROR(CheckServed());
  auto challenge = ReadChallenge(session_, vm);
  if (challenge.ok()) return challenge;
  if (absl::IsAborted(challenge.status())) return absl::ResourceExhaustedError("SEAL: too many challenges: try later");
  return OrNotFound(challenge.status());
}

absl::StatusOr<Bytes> SealWriter::UploadAndExchange(ByteSpan request) {
  SIDEBAND_RETURN_IF_ERROR(session_.Upload(request));
  return ReadAnswer(session_, static_cast<uint32_t>(request.size()), Crc32c(request));
}

absl::StatusOr<Bytes> SealWriter::Exchange(ByteSpan request) {
  SIDEBAND_RETURN_IF_ERROR(CheckServed());
  // EXCHANGE of no bytes reads on in the newest answer, which may be another VM's.
  if (request.empty()) return absl::PermissionDeniedError("an empty request");
  const auto is_disturbed = [](const absl::Status& status) {
    return absl::IsAborted(status) || absl::IsUnavailable(status);
  };
  auto answer = UploadAndExchange(request);
  bool was_disturbed = false;
  for (int upload = 1; upload < kUploadsMax && is_disturbed(answer.status()); ++upload) {
    was_disturbed = true;
    session_.GiveWay();
    answer = UploadAndExchange(request);
  }
  if (is_disturbed(answer.status())) return absl::UnavailableError(answer.status().message());
  // The device may have taken a request whose answer was lost: a second time, its challenge is used up.
  if (absl::IsInvalidArgument(answer.status()) && was_disturbed) {
    return absl::UnavailableError("SEAL: the answer was lost: exchange keys again");
  }
  if (absl::IsInvalidArgument(answer.status())) return absl::PermissionDeniedError("the device refuses the request");
  return answer;
}

absl::StatusOr<uint64_t> SealWriter::Rotate(uint16_t vm) {
  SIDEBAND_RETURN_IF_ERROR(CheckServed());
  const auto epoch = BeginEpoch(session_, vm);
  if (epoch.ok()) return *epoch;
  if (absl::IsAborted(epoch.status())) {
    return absl::ResourceExhaustedError("SEAL: no epochs are left: the guest has to exchange keys again");
  }
  return OrNotFound(epoch.status());
}

}  // namespace sideband::daemon
