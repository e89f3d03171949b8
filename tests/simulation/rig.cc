// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/rig.h"

#include <algorithm>
#include <utility>

#include "proto/mailbox/extension.h"
#include "proto/mailbox/word.h"
#include "proto/smbus/bit_times.h"
#include "proto/smbus/pec.h"

namespace sideband::tests {
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
