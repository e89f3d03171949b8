// SPDX-License-Identifier: Apache-2.0
#include "daemon/mailbox/counting_writer.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/rotation.h"

namespace sideband::daemon {
namespace {

using mailbox::CommandWord;
using mailbox::ConfigStep;
using mailbox::ConfigWrite;
using mailbox::Opcode;
using mailbox::RotateStep;

uint32_t Low(uint64_t word) { return static_cast<uint32_t>(word); }
uint32_t High(uint64_t word) { return static_cast<uint32_t>(word >> 32); }

// As the device has them at COMMIT: ascending, and each word once.
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

// Of APPLY, INVALID_ARGUMENT also for other bytes in the upload buffer. ABORTED if another controller has overwritten
// an input: the step was then taken for what that one wrote.
absl::Status RunRotate(MailboxSession& session, RotateStep step, uint32_t data, uint32_t extended_data) {
  const CommandWord command = ExtensionCommand(Opcode::kRotate, static_cast<uint8_t>(step));
  SIDEBAND_ASSIGN_OR_RETURN(const MailboxReply reply,
                            session.Run({.command = command, .data = data, .extended_data = extended_data}));
  const bool is_meant = reply.data == data && reply.extended_data == extended_data;
  return is_meant ? absl::OkStatus() : absl::AbortedError("ROTATE: another controller has changed the scope or plan");
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

}  // namespace sideband::daemon
