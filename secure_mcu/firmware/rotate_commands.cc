// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/rotate_commands.h"

#include "proto/mailbox/extension.h"
#include "proto/mailbox/rotation_stream.h"

namespace sideband::mcu {
namespace {

using mailbox::MailboxStatus;
using mailbox::RotateStep;

uint16_t VmOf(uint32_t scope) { return static_cast<uint16_t>(scope); }
uint16_t ContextOf(uint32_t scope) { return static_cast<uint16_t>(scope >> 16); }

// The registers are shared: another controller may have written one of them, which the answer tells.
Reply ReplyOf(const absl::Status& status, uint32_t data, uint32_t extended_data) {
  return status.ok() ? Reply{.data = data, .extended_data = extended_data} : Fail(MailboxStatus::kErrData);
}

}  // namespace

Reply RotateCommands::Execute(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data) {
  const auto step = static_cast<RotateStep>(command.arg1);
  if (step > RotateStep::kPass) return Fail(MailboxStatus::kErrArg1);
  if (step == RotateStep::kPlan) return OpenPlan(data, extended_data);
  if (command.arg2 != 0) return Fail(MailboxStatus::kErrArg2);
  if (step == RotateStep::kApply) return Apply(data, extended_data);
  const uint16_t vm = VmOf(data), context = ContextOf(data);
  const bool is_learn = step == RotateStep::kLearn;
  return ReplyOf(is_learn ? device_.LearnRotation(vm, context) : device_.SetPass(vm, context, extended_data), data,
                 extended_data);
}

// A reader goes on in what it has begun to read, even if another plan comes into force meanwhile.
Reply RotateCommands::OpenPlan(uint32_t scope, uint32_t offset) {
  if (offset > 0 && scope != stream_scope_) return Fail(MailboxStatus::kErrAgain);
  if (offset > 0 && offset >= stream_.size()) return Fail(MailboxStatus::kErrData);
  if (offset == 0) {
    const auto plan = device_.GetRotation(VmOf(scope), ContextOf(scope));
    if (!plan) return Fail(MailboxStatus::kErrData);
    stream_ = mailbox::EncodePlanStream(device_.identity().boot_id, scope, *plan);
    stream_scope_ = scope;
    stream_number_ = plan->number;
  }
  return {.data = static_cast<uint32_t>(stream_.size()), .extended_data = stream_number_};
}

// An APPLY that a controller repeats, because its answer was lost, is answered again.
Reply RotateCommands::Apply(uint32_t size, uint32_t crc) {
  const bool is_repeated = applied_ && applied_->size == size && applied_->crc == crc && uploads_.IsEmpty();
  return is_repeated ? applied_->reply : ApplyUpload(size, crc);
}

Reply RotateCommands::ApplyUpload(uint32_t size, uint32_t crc) {
  const std::optional<Bytes> bytes = uploads_.Take(size, crc);
  // Not a refusal: the controller may upload its request again.
  if (!bytes) return Fail(MailboxStatus::kErrAgain);
  const auto request = mailbox::DecodeRotationRequest(*bytes, device_.catalog().events.size());
  const Reply reply = ReplyOf(request.ok() ? device_.ApplyRotation(*request) : request.status(), size, crc);
  applied_ = {.size = size, .crc = crc, .reply = reply};
  return reply;
}

}  // namespace sideband::mcu
