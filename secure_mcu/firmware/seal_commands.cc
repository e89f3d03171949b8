// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/seal_commands.h"

#include <limits>

#include "proto/mailbox/extension.h"
#include "proto/mailbox/stream.h"

namespace sideband::mcu {
namespace {

using mailbox::MailboxStatus;
using mailbox::SealStep;

SealStep StepOf(const mailbox::CommandWord& command) { return static_cast<SealStep>(command.arg1); }

bool HasStream(SealStep step) { return step == SealStep::kExchange || step == SealStep::kChallenge; }

MailboxStatus SealingStatus(const absl::Status& status) {
  return absl::IsResourceExhausted(status) ? MailboxStatus::kErrAgain : MailboxStatus::kErrData;
}

}  // namespace

std::optional<uint32_t> SealCommands::OffsetOf(const mailbox::CommandWord& command, uint32_t data,
                                               uint32_t extended_data) {
  if (!HasStream(StepOf(command))) return std::nullopt;
  return StepOf(command) == SealStep::kExchange && data == 0 ? extended_data : 0;
}

Reply SealCommands::Execute(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data) {
  const SealStep step = StepOf(command);
  if (step > SealStep::kChallenge) return Fail(MailboxStatus::kErrArg1);
  if (!HasStream(step) && command.arg2 != 0) return Fail(MailboxStatus::kErrArg2);
  if (step == SealStep::kExchange) return data == 0 ? ReadOn(extended_data) : Exchange({data, extended_data});
  if (data > std::numeric_limits<uint16_t>::max()) return Fail(MailboxStatus::kErrData);
  const auto vm = static_cast<uint16_t>(data);
  if (step == SealStep::kChallenge) return Draw(vm);
  return step == SealStep::kEpoch ? Rotate(vm) : Count(vm);
}

Bytes SealCommands::StreamOf(ByteSpan payload) const {
  return mailbox::EncodeStream({.kind = mailbox::StreamKind::kExchange, .boot_id = device_.identity().boot_id},
                               payload);
}

// A request that a controller repeats, because the reply was lost, has the same answer.
Reply SealCommands::Exchange(const Taken& upload) {
  if (answered_ != upload || !uploads_.IsEmpty()) {
    const std::optional<Bytes> request = uploads_.Take(upload.size, upload.crc);
    // Not a refusal: the controller may upload its request again.
    if (!request) return Fail(MailboxStatus::kErrAgain);
    const absl::StatusOr<Bytes> answer = sealer().Exchange(*request);
    if (!answer.ok()) return Fail(MailboxStatus::kErrData);
    answer_ = StreamOf(*answer);
    answered_ = upload;
  }
  shows_answer_ = true;
  return {.data = static_cast<uint32_t>(answer_.size()), .extended_data = upload.crc};
}

Reply SealCommands::ReadOn(uint32_t offset) {
  if (!answered_) return Fail(MailboxStatus::kErrAgain);
  if (offset >= answer_.size()) return Fail(MailboxStatus::kErrData);
  shows_answer_ = true;
  return {.data = static_cast<uint32_t>(answer_.size()), .extended_data = offset};
}

Reply SealCommands::Draw(uint16_t vm) {
  const absl::StatusOr<Bytes> challenge = sealer().DrawChallenge(vm);
  if (!challenge.ok()) return Fail(SealingStatus(challenge.status()));
  challenge_ = StreamOf(*challenge);
  shows_answer_ = false;
  return {.data = static_cast<uint32_t>(challenge_.size()), .extended_data = vm};
}

// The VM is repeated, since another controller may have written its own in between.
Reply SealCommands::Rotate(uint16_t vm) {
  const absl::StatusOr<uint64_t> epoch = sealer().Rotate(vm);
  if (!epoch.ok()) return Fail(SealingStatus(epoch.status()));
  return {.data = static_cast<uint32_t>(*epoch), .extended_data = vm};
}

Reply SealCommands::Count(uint16_t vm) {
  const std::optional<uint64_t> records = sealer().Records(vm);
  if (!records) return Fail(MailboxStatus::kErrData);
  return {.data = static_cast<uint32_t>(*records), .extended_data = static_cast<uint32_t>(*records >> 32)};
}

}  // namespace sideband::mcu
