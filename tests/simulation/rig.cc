// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/rig.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/word.h"
#include "proto/smbus/transfer.h"

namespace sideband::tests {
namespace {

using mailbox::BlockState;

constexpr uint8_t kSlices = 4;
constexpr uint64_t kClockHz = 1'000'000'000;

Uuid MakeUuid(uint8_t kind, uint16_t number) {
  Uuid uuid;
  uuid.bytes[0] = kind;
  uuid.bytes[14] = static_cast<uint8_t>(number >> 8);
  uuid.bytes[15] = static_cast<uint8_t>(number);
  return uuid;
}

}  // namespace

SimulatedDevice::SimulatedDevice(const Options& options, Truth& truth, std::function<uint64_t()> now_ns)
    : identity_{.uuid = MakeUuid(1, 0), .serial = "SIM", .part_number = "SIM", .boot_id = options.boot_id},
      retires_one_in_(options.retires_one_in),
      truth_(truth),
      now_ns_(std::move(now_ns)),
      random_(options.seed) {
  Populate(options);
  FollowBlocks();
}

void SimulatedDevice::Populate(const Options& options) {
  catalog_.device = identity_.uuid;
  catalog_.reference_clock_hz = kClockHz;
  const uint64_t events = 1 + Draw(options.events_max);
  for (uint64_t i = 0; i < events; ++i) catalog_.events.push_back({absl::StrCat("event_", i), "cycles"});
  for (uint8_t slice = 0; slice < kSlices; ++slice) catalog_.slices.push_back({slice, absl::StrCat("slice", slice)});
  const std::vector<uint64_t> zeros(events);
  blocks_.push_back({.header = {.generation = 1}, .counters = zeros});
  const auto vms = static_cast<uint16_t>(Draw(options.vms_max + 1));
  for (uint16_t vm = 1; vm <= vms; ++vm) {
    const bool is_private = options.extension == mailbox::ExtensionVersion::kTwo && vm % 2 == 1;
    catalog_.vms.push_back({.id = vm,
                            .uuid = MakeUuid(2, vm),
                            .name = absl::StrCat("vm", vm),
                            .confidential = OneIn(4),
                            .generation = 1,
                            .is_private = is_private});
    const size_t place = blocks_.size();
    blocks_.push_back({.header = {.vm = vm, .generation = 1}, .counters = zeros});
    const uint64_t contexts = Draw(options.contexts_max + 1);
    for (uint16_t context = 0; context < contexts; ++context) {
      blocks_.push_back({.header = {.vm = vm, .context = context, .generation = 1},
                         .counters = zeros,
                         .is_there = !OneIn(3),
                         .slice = static_cast<uint8_t>(Draw(kSlices)),
                         .vm = place});
    }
  }
}

uint64_t SimulatedDevice::DrawCounts() {
  // Up to 2^44 at a time, so that the sum over a long life stays below 2^64.
  return OneIn(3) ? 0 : random_() >> (20 + Draw(44));
}

void SimulatedDevice::Touch(Block& block) {
  block.header.trigger_id = trigger_id_;
  block.header.reference_time_ns = now_ns_();
  ++block.header.sequence;
}

void SimulatedDevice::Count(Block& block) {
  Block& vm = blocks_[block.vm];
  const bool is_private = catalog_.vms[block.header.vm - 1].is_private;
  for (size_t i = 0; i < block.counters.size(); ++i) {
    const uint64_t counts = DrawCounts();
    block.counters[i] += counts;
    vm.counters[i] += counts;
    if (!is_private) blocks_[0].counters[i] += counts;
  }
  if (OneIn(50)) block.header.flags |= 1 << Draw(4);
  Touch(block);
  Touch(vm);
  if (!is_private) Touch(blocks_[0]);
}

void SimulatedDevice::Appear(Block& block) {
  block = {
      .header = {.vm = block.header.vm, .context = block.header.context, .generation = block.header.generation + 1},
      .counters = std::vector<uint64_t>(block.counters.size()),
      .slice = static_cast<uint8_t>(Draw(kSlices)),
      .vm = block.vm};
}

// The changes between two latches.
void SimulatedDevice::Live() {
  bool has_changed = false;
  for (Block& block : blocks_) {
    if (!IsContext(block) || block.header.state == BlockState::kRetired) continue;
    if (!block.is_there) {
      if (!OneIn(20)) continue;
      Appear(block);
      has_changed = true;
    }
    const bool retires = OneIn(retires_one_in_);
    block.header.state = OneIn(3) ? BlockState::kActive : BlockState::kIdle;
    // A retiring context counts once more, because final counts are the most easily lost.
    if (retires || block.header.state == BlockState::kActive) Count(block);
    if (retires) block.header.state = BlockState::kRetired;
  }
  if (has_changed) FollowBlocks();
}

mailbox::Snapshot SimulatedDevice::Latch() {
  ++trigger_id_;
  Live();
  mailbox::Snapshot snapshot{.trigger_id = trigger_id_,
                             .reference_time_ns = now_ns_(),
                             .counters_per_block = static_cast<uint32_t>(catalog_.events.size())};
  for (Block& block : blocks_) {
    block.was_retired = block.is_there && block.header.state == BlockState::kRetired;
    if (!block.is_there) continue;
    snapshot.blocks.push_back(block.header);
    snapshot.counters.insert(snapshot.counters.end(), block.counters.begin(), block.counters.end());
  }
  truth_.Latched(identity_.boot_id, snapshot, catalog_);
  return snapshot;
}

void SimulatedDevice::Acknowledge() {
  bool has_changed = false;
  for (Block& block : blocks_) {
    // Only a block that was retired in the newest latch has its final counts in the acknowledged snapshot.
    if (!std::exchange(block.was_retired, false)) continue;
    const mailbox::BlockHeader& header = block.header;
    truth_.Vanished({identity_.boot_id, header.vm, header.context, header.generation}, block.counters);
    block.is_there = false;
    block.header.state = BlockState::kIdle;
    if (OneIn(2)) Appear(block);
    has_changed = true;
  }
  if (has_changed) FollowBlocks();
}

void SimulatedDevice::ChangeCatalog() {
  for (Block& block : blocks_) {
    if (!IsContext(block) || !OneIn(2)) continue;
    if (!block.is_there) Appear(block);
    block.slice = static_cast<uint8_t>(Draw(kSlices));
  }
  FollowBlocks();
}

// Makes the catalogue of the present blocks and their generations.
void SimulatedDevice::FollowBlocks() {
  ++catalog_version_;
  catalog_.contexts.clear();
  for (const Block& block : blocks_) {
    if (!IsContext(block) || !block.is_there) continue;
    catalog_.contexts.push_back({.vm = block.header.vm,
                                 .id = block.header.context,
                                 .name = absl::StrCat("context", block.header.context),
                                 .slice = block.slice,
                                 .generation = block.header.generation});
  }
}

namespace {

constexpr uint8_t kAddress = 0x4F;
constexpr uint64_t kBitTimeNs = 10'000;  // at 100 kHz
constexpr absl::Duration kInterval = absl::Milliseconds(100);

uint64_t DivideUp(uint64_t dividend, uint64_t divisor) { return (dividend + divisor - 1) / divisor; }

// Commands and windows of one stream.
uint64_t StreamTransactions(uint64_t bytes, uint32_t window_bytes, uint64_t command) {
  constexpr uint64_t kResumes = daemon::MailboxSession::kResumesMax;
  return (DivideUp(bytes, mailbox::WindowSpanBytes(window_bytes)) + kResumes) * command +
         (DivideUp(bytes, window_bytes) + kResumes) * daemon::RegisterPort::kAttemptsMax;
}

}  // namespace

smbus::TransferResult Rig::TimedBus::Execute(const smbus::Transfer& transfer) {
  const smbus::TransferResult result = rig_.faulty_->Execute(transfer);
  rig_.now_ns_ += smbus::BitTimes(transfer, result) * kBitTimeNs + uint64_t{result.stretch_us} * 1000;
  return result;
}

Rig::Rig(const SimulatedDevice::Options& device, const sim::FaultPlan& plan, size_t block_bytes_max)
    : options_(device), wire_(timed_, block_bytes_max) {
  RestartDevice();
  SetPlan(plan);
  RestartController();
}

void Rig::SetPlan(const sim::FaultPlan& plan) {
  faulty_ =
      std::make_unique<sim::FaultyBus>(targets_, plan,
                                       sim::FaultyBus::Hooks{.reset = [this] { RestartDevice(); },
                                                             .supersede = [this] { LatchByAnother(); },
                                                             .change_catalog = [this] { device_->ChangeCatalog(); },
                                                             .delay = {}});
}

void Rig::RestartDevice() {
  SimulatedDevice::Options options = options_;
  options.boot_id = ++boot_id_;
  options.seed = options_.seed * 1'000'003 + boot_id_;
  target_.reset();
  firmware_.reset();
  device_ = std::make_unique<SimulatedDevice>(options, truth_, [this, start = now_ns_] { return now_ns_ - start; });
  firmware_ =
      std::make_unique<mcu::FirmwarePair>(*device_, mcu::PowerModel({}), mcu::Persona::kSideband, options_.extension);
  target_ = std::make_unique<mcu::MailboxTarget>(
      kAddress, firmware_->shared(), mcu::MailboxTarget::Options{.registers = {}, .own_handler = firmware_->own()});
  targets_.Connect(kAddress, *target_);
}

void Rig::RestartController() {
  port_ = std::make_unique<daemon::RegisterPort>(
      wire_, kAddress, [this](absl::string_view outcome) { ++outcomes_[std::string(outcome)]; });
  session_ = std::make_unique<daemon::MailboxSession>(
      *port_, [this](absl::Duration pause) { now_ns_ += static_cast<uint64_t>(absl::ToInt64Nanoseconds(pause)); });
  reader_ = std::make_unique<Reader>(*session_, clock_,
                                     [this](const mailbox::Snapshot& snapshot, const daemon::Topology& topology) {
                                       ++accepted_;
                                       std::string wrong = truth_.Accept(snapshot, topology);
                                       if (wrong_.empty()) wrong_ = std::move(wrong);
                                     });
}

void Rig::LatchByAnother() {
  const bool is_own = options_.extension == mailbox::ExtensionVersion::kTwo;
  const uint32_t word = mailbox::CommandWord{.opcode = mailbox::Opcode::kLatch, .execute = true}.Encode();
  ByteWriter out;
  out.U8(is_own ? mailbox::kOwnRegisters.command : mailbox::kSharedRegisters.command);
  out.U8(mailbox::kRegisterBytes);
  out.U32(word);
  const uint8_t address_byte = smbus::AddressByte(kAddress, /*read=*/false);
  out.U8(smbus::Pec(out.written(), smbus::Pec({&address_byte, 1})));
  targets_.Execute({{smbus::Message::Write(kAddress, std::move(out).Take())}});
}

absl::Status Rig::CollectOnce() {
  now_ns_ += static_cast<uint64_t>(absl::ToInt64Nanoseconds(kInterval));
  const uint64_t before = wire_.transfers;
  const absl::Status status = reader_->CollectOnce();
  transactions_ = wire_.transfers - before;
  return status;
}

uint64_t Rig::transactions_max() const {
  constexpr uint64_t kAttempts = daemon::RegisterPort::kAttemptsMax;
  constexpr uint64_t kRuns = daemon::MailboxSession::kRunsMax;
  const uint64_t command =
      kRuns * (kAttempts * (2 * kAttempts + 1) + (daemon::MailboxSession::kPollsMax + 2) * kAttempts);
  const uint64_t blocks = 1 + options_.vms_max * (1 + uint64_t{options_.contexts_max});
  // Upper bounds: a header of 64 bytes and 9 bytes a counter in each block, 64 bytes for each name in the catalogue.
  const uint64_t snapshot = 128 + blocks * (64 + 9 * uint64_t{options_.events_max});
  const uint64_t catalog = 128 + 64 * (blocks + options_.events_max);
  const auto window_bytes = static_cast<uint32_t>(wire_.block_bytes_max());
  const uint64_t latch = 3 * kAttempts + (kRuns + 1) * command + StreamTransactions(snapshot, window_bytes, command) +
                         command + StreamTransactions(catalog, window_bytes, command);
  return daemon::SnapshotReader::kLatchesMax * latch + command;
}

}  // namespace sideband::tests
