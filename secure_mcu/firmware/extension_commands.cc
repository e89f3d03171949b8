// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/extension_commands.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/clocks.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/rotation.h"
#include "proto/mailbox/snapshot.h"
#include "proto/mailbox/stream.h"
#include "secure_mcu/firmware/command_handler.h"

namespace sideband::mcu {
namespace {

using mailbox::ConfigStep;
using mailbox::CountingConfig;
using mailbox::kHypervisorVm;
using mailbox::kPeekCountersMax;
using mailbox::MailboxStatus;
using mailbox::Opcode;
using mailbox::PeekStep;
using mailbox::ReadSelector;
using mailbox::RotateStep;
using mailbox::SealStep;
using mailbox::TriggerStep;

uint16_t VmOf(uint32_t scope) { return static_cast<uint16_t>(scope); }
uint16_t ContextOf(uint32_t scope) { return static_cast<uint16_t>(scope >> 16); }

// The registers are shared: another controller may have written one of them, which the answer tells.
Reply ReplyOf(const absl::Status& status, uint32_t data, uint32_t extended_data) {
  return status.ok() ? Reply{.data = data, .extended_data = extended_data} : Fail(MailboxStatus::kErrData);
}

SealStep StepOf(const mailbox::CommandWord& command) { return static_cast<SealStep>(command.arg1); }

bool HasStream(SealStep step) { return step == SealStep::kExchange || step == SealStep::kChallenge; }

MailboxStatus SealingStatus(const absl::Status& status) {
  return absl::IsResourceExhausted(status) ? MailboxStatus::kErrAgain : MailboxStatus::kErrData;
}

// The registers are shared, and another controller may have written one of a word's halves: the answer tells which word
// was taken.
Reply Taken(uint64_t word) {
  return {.data = static_cast<uint32_t>(word), .extended_data = static_cast<uint32_t>(word >> 32)};
}

Reply Stop(DeviceTriggers& triggers) {
  return triggers.SetTriggerGrid(0).ok() ? Reply{} : Fail(MailboxStatus::kErrData);
}

Reply Start(DeviceTriggers& triggers, uint64_t period) {
  if (period == 0 || !triggers.SetTriggerGrid(period).ok()) return Fail(MailboxStatus::kErrData);
  return Taken(period);
}

// Another controller may have written to the operands before the command.
bool IsCheckOf(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data) {
  const bool is_bookmark = static_cast<TriggerStep>(command.arg1) == TriggerStep::kBookmark;
  return is_bookmark && command.arg2 == mailbox::BookmarkCheck(data, extended_data);
}

MailboxStatus BookmarkStatus(const absl::Status& refused) {
  switch (refused.code()) {
    case absl::StatusCode::kNotFound:
      return MailboxStatus::kErrNotAvailable;
    case absl::StatusCode::kUnavailable:
      return MailboxStatus::kErrAgain;
    case absl::StatusCode::kFailedPrecondition:
      return MailboxStatus::kErrNotSupported;
    default:
      return MailboxStatus::kErrData;
  }
}

bool Always(Device&) { return true; }

uint32_t WindowBytes(const mailbox::CommandWord& command) {
  return command.arg2 == 0 ? mailbox::kWindowBytes : command.arg2;
}

}  // namespace

Reply UploadBuffer::Open(const mailbox::CommandWord& command, uint32_t offset) {
  if (command.arg1 != 0) return Fail(MailboxStatus::kErrArg1);
  if (offset >= mailbox::kUploadBytesMax) return Fail(MailboxStatus::kErrData);
  is_open_ = true;
  offset_ = offset;
  window_bytes_ = command.arg2 == 0 ? mailbox::kWindowBytes : command.arg2;
  return {.data = offset, .extended_data = mailbox::kUploadBytesMax};
}

bool UploadBuffer::Write(uint8_t window, ByteSpan bytes) {
  const size_t begin = offset_ + size_t{window} * window_bytes_, end = begin + bytes.size();
  if (!is_open_ || bytes.size() > window_bytes_ || end > mailbox::kUploadBytesMax) return false;
  content_.resize(std::max(content_.size(), end));
  std::copy(bytes.begin(), bytes.end(), content_.begin() + static_cast<ptrdiff_t>(begin));
  return true;
}

std::optional<Bytes> UploadBuffer::Take(uint32_t size, uint32_t crc) {
  if (size > content_.size() || Crc32c(ByteSpan(content_).first(size)) != crc) return std::nullopt;
  Bytes taken(content_.begin(), content_.begin() + size);
  content_.clear();
  return taken;
}

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
  const CountingConfig config = device_.counting()->GetConfig();
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
  CountingConfig scratch = device_.counting()->GetConfig();
  if (!mailbox::WriteWord(address_, word, scratch).ok()) return Fail(MailboxStatus::kErrData);
  open_->words[address_] = word;
  ++address_.index;
  return {};
}

// Within a transaction it answers what the writes are compared with, and a repeated READ has the effect of one.
Reply ConfigCommands::ReadAddressed() {
  const auto words = IsOpen() ? open_->before : mailbox::WordsOf(device_.counting()->GetConfig());
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
  CountingConfig config = device_.counting()->GetConfig();
  const auto now = mailbox::WordsOf(config);
  for (const auto& [address, word] : open_->words) {
    const auto from = open_->before.find(address), current = now.find(address);
    // Without them it is a write to every slice, or to a context that has ended.
    const bool is_known = from != open_->before.end() && current != now.end();
    const uint64_t result = is_known ? mailbox::Rebase(address, from->second, word, current->second) : word;
    SIDEBAND_RETURN_IF_ERROR(mailbox::WriteWord(address, result, config));
  }
  SIDEBAND_RETURN_IF_ERROR(device_.counting()->CheckConfig(config));
  return config;
}

Reply ConfigCommands::Commit(uint8_t tag, uint32_t crc, uint32_t revision) {
  if (committed_ && committed_->tag == tag && committed_->crc == crc && committed_->revision == revision) {
    return committed_->reply;
  }
  const bool is_meant = IsOpen() && open_->tag == tag && open_->revision == revision &&
                        mailbox::ConfigCrc(Writes()) == crc && device_.counting()->GetConfig().revision == revision;
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
  device_.counting()->ApplyConfig(*config);
  return {.data = device_.counting()->GetConfig().revision, .extended_data = closing_id_};
}

Reply ConfigCommands::Abort() {
  open_.reset();
  return {};
}

Reply ConfigCommands::Dump(uint32_t offset) {
  const CountingConfig config = device_.counting()->GetConfig();
  // A reader goes on in what it has begun to read, even if a guest's own value is stored meanwhile.
  if (offset == 0) stream_ = mailbox::EncodeConfigStream(device_.identity().boot_id, config);
  if (offset > 0 && offset >= stream_.size()) return Fail(MailboxStatus::kErrData);
  return {.data = static_cast<uint32_t>(stream_.size()), .extended_data = config.revision};
}

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
  // Events of the device's scope have a part of a confidential VM's traffic.
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

Reply RotateCommands::Execute(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data) {
  const auto step = static_cast<RotateStep>(command.arg1);
  if (step > RotateStep::kPass) return Fail(MailboxStatus::kErrArg1);
  if (step == RotateStep::kPlan) return OpenPlan(data, extended_data);
  if (command.arg2 != 0) return Fail(MailboxStatus::kErrArg2);
  if (step == RotateStep::kApply) return Apply(data, extended_data);
  const uint16_t vm = VmOf(data), context = ContextOf(data);
  const bool is_learn = step == RotateStep::kLearn;
  return ReplyOf(is_learn ? device_.rotation()->LearnRotation(vm, context)
                          : device_.rotation()->SetPass(vm, context, extended_data),
                 data, extended_data);
}

// A reader goes on in what it has begun to read, even if another plan comes into force meanwhile.
Reply RotateCommands::OpenPlan(uint32_t scope, uint32_t offset) {
  if (offset > 0 && scope != stream_scope_) return Fail(MailboxStatus::kErrAgain);
  if (offset > 0 && offset >= stream_.size()) return Fail(MailboxStatus::kErrData);
  if (offset == 0) {
    const auto plan = device_.rotation()->GetRotation(VmOf(scope), ContextOf(scope));
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
  const Reply reply = ReplyOf(request.ok() ? device_.rotation()->ApplyRotation(*request) : request.status(), size, crc);
  applied_ = {.size = size, .crc = crc, .reply = reply};
  return reply;
}

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

bool TriggerCommands::OpensStream(const mailbox::CommandWord& command) {
  const auto step = static_cast<TriggerStep>(command.arg1);
  return step == TriggerStep::kTimeline || step == TriggerStep::kHulls;
}

Reply TriggerCommands::Execute(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data) {
  const auto step = static_cast<TriggerStep>(command.arg1);
  if (step > TriggerStep::kHulls) return Fail(MailboxStatus::kErrArg1);
  if (step >= TriggerStep::kSelect && device_.clocks() == nullptr) return Fail(MailboxStatus::kErrOpcode);
  // For a stream it is the width of the windows.
  if (command.arg2 != 0 && !OpensStream(command) && !IsCheckOf(command, data, extended_data)) {
    return Fail(MailboxStatus::kErrArg2);
  }
  if (step == TriggerStep::kOnce) return {.data = device_.triggers()->Trigger()};
  if (step == TriggerStep::kStart) return Start(*device_.triggers(), uint64_t{extended_data} << 32 | data);
  return step == TriggerStep::kStop ? Stop(*device_.triggers()) : OfDomains(step, data, extended_data);
}

Reply TriggerCommands::OfDomains(TriggerStep step, uint32_t data, uint32_t extended_data) {
  if (step == TriggerStep::kSelect) return Select(uint64_t{extended_data} << 32 | data);
  return step == TriggerStep::kBookmark ? Bookmark(data, extended_data) : Open(step, data, extended_data);
}

Reply TriggerCommands::Select(uint64_t domains) {
  return device_.clocks()->SelectClocks(domains).ok() ? Taken(domains) : Fail(MailboxStatus::kErrData);
}

Reply TriggerCommands::Bookmark(uint32_t scope, uint32_t bookmark) {
  const auto asked_ns =
      device_.clocks()->SetBookmark(static_cast<uint16_t>(scope), static_cast<uint16_t>(scope >> 16), bookmark);
  return asked_ns.ok() ? Taken(*asked_ns) : Fail(BookmarkStatus(asked_ns.status()));
}

// A reader goes on in what it has begun to read, whatever arrives meanwhile.
Reply TriggerCommands::Open(TriggerStep step, uint32_t first_trigger_id, uint32_t offset) {
  if (offset == 0) MakeStream(step, first_trigger_id);
  if (step != stream_step_ || first_trigger_id != stream_first_) return Fail(MailboxStatus::kErrAgain);
  if (offset >= stream_.size()) return Fail(MailboxStatus::kErrData);
  return {.data = static_cast<uint32_t>(stream_.size()), .extended_data = stream_newest_};
}

void TriggerCommands::MakeStream(TriggerStep step, uint32_t first_trigger_id) {
  stream_step_ = step;
  stream_first_ = first_trigger_id;
  stream_newest_ = 0;
  if (step == TriggerStep::kTimeline) {
    mailbox::Timeline timeline = device_.clocks()->GetTimeline(first_trigger_id);
    timeline.boot_id = device_.identity().boot_id;
    if (!timeline.entries.empty()) stream_newest_ = timeline.entries.back().trigger_id;
    stream_ = mailbox::EncodeTimelineStream(timeline);
    return;
  }
  mailbox::ClockHulls hulls = device_.clocks()->GetHulls(first_trigger_id);
  hulls.boot_id = device_.identity().boot_id;
  for (const mailbox::ClockHull& hull : hulls.hulls) stream_newest_ = std::max(stream_newest_, hull.last_trigger_id);
  stream_ = mailbox::EncodeHullStream(hulls);
}

// Each opcode of the extension. Those of a later version than the device's are not served either.
const SnapshotCommands::Row SnapshotCommands::kRows[] = {
    {Opcode::kDiscover, Always, &SnapshotCommands::Discover, /*ends_peek=*/false},
    {Opcode::kCatalog, Always, &SnapshotCommands::ReadCatalog},
    {Opcode::kLatch, Always, &SnapshotCommands::Latch},
    {Opcode::kRead, Always, &SnapshotCommands::ReadSnapshot},
    {Opcode::kAck, Always, &SnapshotCommands::Acknowledge},
    {Opcode::kPeek, Always, &SnapshotCommands::Peek, /*ends_peek=*/false},
    {Opcode::kConfig, [](Device& device) { return device.counting() != nullptr; }, &SnapshotCommands::Config},
    {Opcode::kUpload, Always, &SnapshotCommands::Upload},
    {Opcode::kRotate, [](Device& device) { return device.rotation() != nullptr; }, &SnapshotCommands::Rotate},
    {Opcode::kTrigger, [](Device& device) { return device.triggers() != nullptr; }, &SnapshotCommands::Trigger},
    {Opcode::kSeal, [](Device& device) { return device.block_sealer() != nullptr; }, &SnapshotCommands::Seal},
};

const SnapshotCommands::Row* SnapshotCommands::RowOf(Opcode opcode) {
  const Row* const row = std::ranges::find(kRows, opcode, &Row::opcode);
  const bool is_served = row != std::end(kRows) && row->is_served(device_) && mailbox::IsOpcodeOf(version_, opcode);
  return is_served ? row : nullptr;
}

// Bit n for opcode 0x60 + n.
uint32_t SnapshotCommands::ServedOpcodes() {
  uint32_t served = 0;
  for (const Row& row : kRows) {
    if (RowOf(row.opcode) != nullptr) served |= 1u << (static_cast<uint8_t>(row.opcode) & 0x0F);
  }
  return served;
}

uint64_t SnapshotCommands::Features() {
  const uint64_t selections = device_.catalog().selections.empty() ? 0 : mailbox::kSelectionsFeature;
  const uint64_t host_blocks = device_.catalog().host_blocks.empty() ? 0 : mailbox::kHostBlocksFeature;
  const uint64_t private_vms = device_.HasPrivateVms() ? mailbox::kPrivateVmsFeature : 0;
  const uint64_t rotation = device_.rotation() != nullptr ? mailbox::kRotationFeature : 0;
  const uint64_t clocks = device_.triggers() != nullptr && device_.clocks() != nullptr ? mailbox::kClocksFeature : 0;
  const uint64_t sealing = RowOf(Opcode::kSeal) != nullptr ? mailbox::kSealingFeature : 0;
  return mailbox::kPeekFeature | sealing | clocks | rotation | selections | host_blocks | private_vms |
         (device_.counting() != nullptr ? mailbox::kGateGroupsFeature : 0);
}

Reply SnapshotCommands::Execute(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data) {
  const Row* const row = RowOf(command.opcode);
  if (row == nullptr || row->ends_peek) peeks_.EndLatch();
  if (row == nullptr) return Fail(MailboxStatus::kErrOpcode);
  return (this->*row->execute)(command, data, extended_data);
}

Reply SnapshotCommands::Discover(const mailbox::CommandWord& command, uint32_t, uint32_t) {
  const uint64_t boot_id = device_.identity().boot_id;
  switch (static_cast<mailbox::DiscoverItem>(command.arg1)) {
    case mailbox::DiscoverItem::kVersion:
      return {.data = static_cast<uint32_t>(version_) | mailbox::kWindowBytes << 8 | mailbox::kWindowCount << 16,
              .extended_data = ServedOpcodes()};
    case mailbox::DiscoverItem::kLimits: {
      const mailbox::Catalog& catalog = device_.catalog();
      const size_t blocks = 1 + catalog.vms.size() + catalog.contexts.size() + catalog.host_blocks.size();
      return {.data = static_cast<uint32_t>(blocks), .extended_data = static_cast<uint32_t>(catalog.events.size())};
    }
    case mailbox::DiscoverItem::kBootId:
      return {.data = static_cast<uint32_t>(boot_id), .extended_data = static_cast<uint32_t>(boot_id >> 32)};
    case mailbox::DiscoverItem::kCatalog:
      return {.data = static_cast<uint32_t>(copy_engine_.catalog().size()),
              .extended_data = copy_engine_.catalog_hash()};
    case mailbox::DiscoverItem::kFeatures:
      if (version_ == mailbox::ExtensionVersion::kOne) break;
      return {.data = static_cast<uint32_t>(Features()), .extended_data = static_cast<uint32_t>(Features() >> 32)};
  }
  return Fail(MailboxStatus::kErrArg1);
}

Reply SnapshotCommands::ReadCatalog(const mailbox::CommandWord& command, uint32_t offset, uint32_t) {
  window_bytes_ = WindowBytes(command);
  if (command.arg1 != 0) return Fail(MailboxStatus::kErrArg1);
  return OpenAt(copy_engine_.catalog(), Open::kCatalog, offset, copy_engine_.catalog_hash());
}

Reply SnapshotCommands::Latch(const mailbox::CommandWord& command, uint32_t base_id, uint32_t) {
  window_bytes_ = WindowBytes(command);
  // A mark that does not fit data-in (overwritten since, or of another boot) makes this a LATCH without a base.
  const bool has_base = command.arg1 == mailbox::LatchMark(device_.identity().boot_id, base_id);
  copy_engine_.Latch(has_base ? base_id : 0);
  open_ = Open::kSnapshot;
  offset_ = 0;
  return {.data = copy_engine_.snapshot_id(), .extended_data = static_cast<uint32_t>(copy_engine_.stream().size())};
}

Reply SnapshotCommands::ReadSnapshot(const mailbox::CommandWord& command, uint32_t offset, uint32_t extended_data) {
  window_bytes_ = WindowBytes(command);
  const uint8_t selector = command.arg1;
  if (selector > static_cast<uint8_t>(ReadSelector::kContext)) return Fail(MailboxStatus::kErrArg1);
  if (copy_engine_.snapshot_id() == 0) return Fail(MailboxStatus::kErrNotAvailable);
  // Reads of one scope carry the scope in place of the snapshot id.
  CopyEngine::Selection selection{.selector = static_cast<ReadSelector>(selector)};
  if (selection.selector == ReadSelector::kVm || selection.selector == ReadSelector::kContext) {
    selection.vm = static_cast<uint16_t>(extended_data);
    if (selection.selector == ReadSelector::kContext) selection.context = static_cast<uint16_t>(extended_data >> 16);
  } else if (extended_data != copy_engine_.snapshot_id()) {
    return Fail(MailboxStatus::kErrAgain);
  }
  copy_engine_.Select(selection);
  return OpenAt(copy_engine_.stream(), Open::kSnapshot, offset, copy_engine_.snapshot_id());
}

uint16_t SnapshotCommands::MarkOf(uint32_t snapshot_id) const {
  return mailbox::SnapshotMark(device_.identity().boot_id, snapshot_id);
}

Reply SnapshotCommands::Acknowledge(const mailbox::CommandWord& command, uint32_t snapshot_id, uint32_t) {
  if (copy_engine_.snapshot_id() == 0) return Fail(MailboxStatus::kErrNotAvailable);
  // Without a fitting mark, data-in may be the id of a snapshot that the controller has not read.
  const bool is_meant = (command.arg1 | command.arg2 << 8) == MarkOf(snapshot_id);
  if (!is_meant || snapshot_id != copy_engine_.snapshot_id()) return Fail(MailboxStatus::kErrAgain);
  copy_engine_.Acknowledge();
  return {.data = snapshot_id};
}

Reply SnapshotCommands::Upload(const mailbox::CommandWord& command, uint32_t data, uint32_t) {
  return uploads_.Open(command, data);
}

Reply SnapshotCommands::Peek(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data) {
  const Reply reply = peeks_.Execute(command, data, extended_data);
  const bool is_go = command.arg1 == static_cast<uint8_t>(mailbox::PeekStep::kGo);
  if (!is_go || reply.status != MailboxStatus::kSuccess) return reply;
  window_bytes_ = WindowBytes(command);
  open_ = Open::kPeek;
  offset_ = 0;
  return reply;
}

Reply SnapshotCommands::Config(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data) {
  const Reply reply = configs_.Execute(command, data, extended_data);
  const auto step = static_cast<mailbox::ConfigStep>(command.arg1);
  if (reply.status != MailboxStatus::kSuccess) return reply;
  if (step == mailbox::ConfigStep::kDump) {
    window_bytes_ = WindowBytes(command);
    open_ = Open::kConfig;
    offset_ = data;
  } else if (step == mailbox::ConfigStep::kCommit) {
    // Its snapshot has taken the place of the one that was open.
    open_ = Open::kNothing;
  }
  return reply;
}

Reply SnapshotCommands::Rotate(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data) {
  const Reply reply = rotations_.Execute(command, data, extended_data);
  const bool is_plan = command.arg1 == static_cast<uint8_t>(mailbox::RotateStep::kPlan);
  if (!is_plan || reply.status != MailboxStatus::kSuccess) return reply;
  window_bytes_ = WindowBytes(command);
  open_ = Open::kPlan;
  offset_ = extended_data;
  return reply;
}

Reply SnapshotCommands::Seal(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data) {
  const Reply reply = seals_.Execute(command, data, extended_data);
  const auto offset = SealCommands::OffsetOf(command, data, extended_data);
  if (!offset || reply.status != MailboxStatus::kSuccess) return reply;
  window_bytes_ = WindowBytes(command);
  open_ = Open::kExchange;
  offset_ = *offset;
  return reply;
}

Reply SnapshotCommands::Trigger(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data) {
  const Reply reply = triggers_.Execute(command, data, extended_data);
  if (!TriggerCommands::OpensStream(command) || reply.status != MailboxStatus::kSuccess) return reply;
  window_bytes_ = WindowBytes(command);
  open_ = Open::kTriggers;
  offset_ = extended_data;
  return reply;
}

Reply SnapshotCommands::OpenAt(ByteSpan stream, Open open, uint32_t offset, uint32_t extended_data) {
  // The selection may have replaced the stream that was open.
  open_ = Open::kNothing;
  if (offset >= stream.size()) return Fail(MailboxStatus::kErrData);
  open_ = open;
  offset_ = offset;
  return {.data = static_cast<uint32_t>(stream.size()), .extended_data = extended_data};
}

ByteSpan SnapshotCommands::Window(uint8_t index) const {
  ByteSpan stream;
  if (open_ == Open::kCatalog) stream = copy_engine_.catalog();
  if (open_ == Open::kSnapshot) stream = copy_engine_.stream();
  if (open_ == Open::kPeek) stream = peeks_.stream();
  if (open_ == Open::kConfig) stream = configs_.stream();
  if (open_ == Open::kPlan) stream = rotations_.stream();
  if (open_ == Open::kExchange) stream = seals_.stream();
  if (open_ == Open::kTriggers) stream = triggers_.stream();
  const size_t begin = offset_ + size_t{index} * window_bytes_;
  if (begin >= stream.size()) return {};
  return stream.subspan(begin, std::min<size_t>(window_bytes_, stream.size() - begin));
}

}  // namespace sideband::mcu
