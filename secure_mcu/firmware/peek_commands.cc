// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/peek_commands.h"

#include <algorithm>
#include <utility>

#include "proto/mailbox/catalog.h"
#include "proto/mailbox/extension.h"

namespace sideband::mcu {

using mailbox::kHypervisorVm;
using mailbox::kPeekCountersMax;
using mailbox::MailboxStatus;
using mailbox::PeekStep;

Reply PeekCommands::Execute(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data) {
  switch (static_cast<PeekStep>(command.arg1)) {
    case PeekStep::kScope:
      if (command.arg2 != 0) return Fail(MailboxStatus::kErrArg2);
      return SetScope({.manager = data,
                       .vm = static_cast<uint16_t>(extended_data),
                       .context = static_cast<uint16_t>(extended_data >> 16)});
    case PeekStep::kGo:
      return Go(uint64_t{extended_data} << 32 | data);
  }
  return Fail(MailboxStatus::kErrArg1);
}

bool PeekCommands::HasBlock(const Scope& scope) const {
  const mailbox::Catalog& catalog = device_.catalog();
  // The device's block contains the counts of every VM that ever was and was not private; a host block those of none.
  if (scope.IsDevice()) return !catalog.has_had_confidential_vm || catalog.confidential_vms_were_private;
  if (scope.vm == kHypervisorVm) {
    return std::ranges::any_of(catalog.host_blocks,
                               [&](const mailbox::HostBlockInfo& block) { return block.slice == scope.context; });
  }
  const auto vm = std::ranges::find(catalog.vms, scope.vm, &mailbox::VmInfo::id);
  if (vm == catalog.vms.end() || vm->confidential) return false;
  return scope.context == mailbox::kNoContext ||
         std::ranges::any_of(catalog.contexts, [&](const mailbox::ContextInfo& context) {
           return context.vm == scope.vm && context.id == scope.context;
         });
}

uint64_t PeekCommands::EventsOf(const Scope& scope) const {
  const auto& events = device_.catalog().events;
  // Of a confidential VM's traffic, events of the device's scope have a part.
  const bool has_device_scope = scope.IsDevice() && !device_.catalog().has_had_confidential_vm;
  uint64_t bitmap = 0;
  for (size_t i = scope.FirstEvent(); i < std::min(events.size(), scope.FirstEvent() + kPeekCountersMax); ++i) {
    // The counter of any other event is 0 there, which is no count.
    const bool is_of_block = has_device_scope || events[i].scope == mailbox::EventScope::kContext;
    if (is_of_block && !events[i].masked) bitmap |= mailbox::BitOf(i);
  }
  return bitmap;
}

Reply PeekCommands::SetScope(const Scope& scope) {
  const bool is_manager = (scope.manager & mailbox::kPeekReservedMask) == 0 && EventsOf(scope) != 0;
  if (!is_manager || !HasBlock(scope)) return Fail(MailboxStatus::kErrData);
  if (scope.IsOfSameLatch() && !HoldsLatch(scope)) return Fail(MailboxStatus::kErrAgain);
  if (!scope.IsOfSameLatch()) latch_.reset();
  scope_ = scope;
  return {};
}

Reply PeekCommands::Go(uint64_t bitmap) {
  if (!scope_) return Fail(MailboxStatus::kErrNotAvailable);
  const bool is_question = bitmap != 0 && (bitmap & ~EventsOf(*scope_)) == 0;
  // The block may have gone since SCOPE.
  if (!is_question || !HasBlock(*scope_)) return Fail(MailboxStatus::kErrData);
  if (!scope_->IsOfSameLatch()) {
    auto live = device_.PeekBlock(scope_->vm, scope_->context);
    if (!live) return Fail(MailboxStatus::kErrData);
    latch_ = {*scope_, *std::move(live)};
  } else if (!HoldsLatch(*scope_)) {
    return Fail(MailboxStatus::kErrAgain);
  }
  Answer(bitmap);
  return {.data = static_cast<uint32_t>(stream_.size()), .extended_data = tag_};
}

void PeekCommands::Answer(uint64_t bitmap) {
  const LiveBlock& block = latch_->block;
  mailbox::PeekAnswer answer{
      .boot_id = device_.identity().boot_id,
      .tag = ++tag_,
      .question = {.manager = scope_->manager, .vm = scope_->vm, .context = scope_->context, .bitmap = bitmap},
      .generation = block.generation,
      .reference_cycle = block.reference_cycle,
      .reference_time_ns = block.reference_time_ns,
      .flags = block.flags};
  for (size_t bit = 0; bit < kPeekCountersMax; ++bit) {
    if ((bitmap >> bit & 1) != 0) answer.counters.push_back(block.counters[scope_->FirstEvent() + bit]);
  }
  stream_ = mailbox::EncodePeekStream(answer);
}

}  // namespace sideband::mcu
