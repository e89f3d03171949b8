// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/config_commands.h"

#include <utility>

#include "proto/base/status_macros.h"

namespace sideband::mcu {

using mailbox::ConfigStep;
using mailbox::CountingConfig;
using mailbox::MailboxStatus;

Reply ConfigCommands::Execute(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data) {
  const auto step = static_cast<ConfigStep>(command.arg1);
  if (step == ConfigStep::kDump) return Dump(data);
  if (step == ConfigStep::kBegin) return Begin(command.arg2, data, extended_data);
  if (step == ConfigStep::kCommit) return Commit(command.arg2, data, extended_data);
  if (step > ConfigStep::kDump) return Fail(MailboxStatus::kErrArg1);
  if (IsOfAnother(command.arg2)) return Fail(MailboxStatus::kErrAgain);
  if (IsOpen()) open_->used_ns = device_.ReferenceTimeNs();
  if (step == ConfigStep::kAddress) return SetAddress(data, extended_data);
  if (step == ConfigStep::kWrite) return Write(uint64_t{extended_data} << 32 | data);
  return step == ConfigStep::kRead ? ReadAddressed() : Abort();
}

bool ConfigCommands::IsOpen() const { return open_ && device_.ReferenceTimeNs() - open_->used_ns < kTransactionIdleNs; }

// Each boot begins at revision 1: the revision alone does not tell a change that was made for another boot.
Reply ConfigCommands::Begin(uint8_t tag, uint32_t revision, uint32_t boot) {
  const auto this_boot = static_cast<uint32_t>(device_.identity().boot_id);
  if (tag == 0) return Fail(MailboxStatus::kErrArg2);
  if (boot != 0 && boot != this_boot) return Fail(MailboxStatus::kErrAgain);
  const CountingConfig config = *device_.GetConfig();
  if (IsOfAnother(tag) || revision != config.revision) return Fail(MailboxStatus::kErrAgain);
  open_ = Transaction{.tag = tag,
                      .revision = revision,
                      .used_ns = device_.ReferenceTimeNs(),
                      .before = mailbox::WordsOf(config),
                      .words = {}};
  return {.data = revision, .extended_data = this_boot};
}

Reply ConfigCommands::SetAddress(uint32_t data, uint32_t extended_data) {
  address_ = mailbox::UnpackAddress(data, extended_data);
  return {};
}

// A repeated ADDRESS and WRITE, after an answer that was lost, has the effect of one.
Reply ConfigCommands::Write(uint64_t word) {
  if (!IsOpen()) return Fail(MailboxStatus::kErrAgain);
  CountingConfig scratch = *device_.GetConfig();
  if (!mailbox::WriteWord(address_, word, scratch).ok()) return Fail(MailboxStatus::kErrData);
  open_->words[address_] = word;
  ++address_.index;
  return {};
}

// Within a transaction it answers what the writes are compared with, and a repeated READ has the effect of one.
Reply ConfigCommands::ReadAddressed() {
  const auto words = IsOpen() ? open_->before : mailbox::WordsOf(*device_.GetConfig());
  const auto word = words.find(address_);
  if (word == words.end()) return Fail(MailboxStatus::kErrData);
  if (!IsOpen()) ++address_.index;
  return {.data = static_cast<uint32_t>(word->second), .extended_data = static_cast<uint32_t>(word->second >> 32)};
}

std::vector<mailbox::ConfigWrite> ConfigCommands::Writes() const {
  std::vector<mailbox::ConfigWrite> writes;
  for (const auto& [address, word] : open_->words) writes.push_back({address, word});
  return writes;
}

absl::StatusOr<CountingConfig> ConfigCommands::Written() const {
  CountingConfig config = *device_.GetConfig();
  const auto now = mailbox::WordsOf(config);
  for (const auto& [address, word] : open_->words) {
    const auto from = open_->before.find(address), current = now.find(address);
    // Without them it is a write to every slice, or to a context that has ended.
    const bool is_known = from != open_->before.end() && current != now.end();
    const uint64_t result = is_known ? mailbox::Rebase(address, from->second, word, current->second) : word;
    SIDEBAND_RETURN_IF_ERROR(mailbox::WriteWord(address, result, config));
  }
  SIDEBAND_RETURN_IF_ERROR(device_.CheckConfig(config));
  return config;
}

Reply ConfigCommands::Commit(uint8_t tag, uint32_t crc, uint32_t revision) {
  if (committed_ && committed_->tag == tag && committed_->crc == crc && committed_->revision == revision) {
    return committed_->reply;
  }
  const bool is_meant = IsOpen() && open_->tag == tag && open_->revision == revision &&
                        mailbox::ConfigCrc(Writes()) == crc && device_.GetConfig()->revision == revision;
  if (!is_meant || copy_engine_.acknowledged_id() < closing_id_) return Fail(MailboxStatus::kErrAgain);
  if (!Written().ok()) return Fail(MailboxStatus::kErrData);
  const Reply reply = ApplyWrites();
  committed_ = {.tag = tag, .revision = revision, .crc = crc, .reply = reply};
  return reply;
}

Reply ConfigCommands::ApplyWrites() {
  copy_engine_.Latch(copy_engine_.acknowledged_id());
  closing_id_ = copy_engine_.snapshot_id();
  // Once more, since a guest's own value may have been stored up to the latch.
  const auto config = Written();
  open_.reset();
  if (!config.ok()) return Fail(MailboxStatus::kErrData);
  device_.ApplyConfig(*config);
  return {.data = device_.GetConfig()->revision, .extended_data = closing_id_};
}

Reply ConfigCommands::Abort() {
  open_.reset();
  return {};
}

Reply ConfigCommands::Dump(uint32_t offset) {
  const CountingConfig config = *device_.GetConfig();
  // A reader goes on in what it has begun to read, even if a guest's own value is stored meanwhile.
  if (offset == 0) stream_ = mailbox::EncodeConfigStream(device_.identity().boot_id, config);
  if (offset > 0 && offset >= stream_.size()) return Fail(MailboxStatus::kErrData);
  return {.data = static_cast<uint32_t>(stream_.size()), .extended_data = config.revision};
}

}  // namespace sideband::mcu
