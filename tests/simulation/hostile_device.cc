// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/hostile_device.h"

#include <algorithm>
#include <utility>

#include "proto/mailbox/snapshot.h"
#include "proto/mailbox/stream.h"
#include "proto/mailbox/word.h"

namespace sideband::tests {
namespace {

using mailbox::ExtensionVersion;
using mailbox::MailboxStatus;
using mailbox::Opcode;
using smbus::TransferResult;

constexpr uint64_t kBootId = 7;
// Bounds of the format, adjacent values, and values that overflow.
constexpr uint32_t kHurtful[] = {0,
                                 1,
                                 3,
                                 4,
                                 27,
                                 28,
                                 32,
                                 254,
                                 255,
                                 256,
                                 4079,
                                 4080,
                                 4081,
                                 0x7FFF,
                                 0xFFFF,
                                 0x10000,
                                 17409,
                                 1 << 20,
                                 (1 << 23) + 1,
                                 64 << 20,
                                 (64 << 20) + 1,
                                 0x7FFFFFFF,
                                 0x80000000,
                                 0xFFFFFFFF};

Bytes Encode(const mailbox::Catalog& catalog, ExtensionVersion version) {
  return version == ExtensionVersion::kOne ? mailbox::EncodeCatalog(catalog) : mailbox::EncodeCatalogSections(catalog);
}

Bytes PayloadOf(const Bytes& stream) {
  return Bytes(stream.begin() + mailbox::kStreamHeaderBytes, stream.end() - mailbox::kStreamCrcBytes);
}

}  // namespace

HostileDevice::HostileDevice(ByteSpan script, ExtensionVersion version)
    : script_(script),
      version_(version),
      target_(kAddress, *this, {.registers = {}, .own_handler = version == ExtensionVersion::kTwo ? this : nullptr}),
      catalog_(ExampleCatalog()),
      latched_(ExampleSnapshot(version)),
      acknowledged_(latched_) {
  bus_.Connect(kAddress, target_);
}

mailbox::Catalog HostileDevice::ExampleCatalog() {
  mailbox::Catalog catalog;
  catalog.device.bytes[0] = 1;
  catalog.reference_clock_hz = 1'000'000'000;
  catalog.has_had_confidential_vm = true;
  catalog.events = {{"busy_cycles", "cycles"}, {"resident_cycles", "cycles"}, {"stall_cycles", "cycles"}};
  catalog.events[0].details.slices = {{.capacity_q32 = uint64_t{8} << 32, .gain_q32 = uint64_t{8} << 32}};
  catalog.slices = {{0, "slice0"}, {1, "slice1"}};
  for (uint16_t vm = 1; vm <= 2; ++vm) {
    catalog.vms.push_back({.id = vm, .name = vm == 1 ? "open" : "secret", .confidential = vm == 2, .generation = 1});
    catalog.vms.back().uuid.bytes[0] = static_cast<uint8_t>(vm);
    catalog.vms.back().slice = static_cast<uint8_t>(vm - 1);
    catalog.contexts.push_back({.vm = vm, .id = 0, .name = "train", .generation = 1});
  }
  return catalog;
}

mailbox::Snapshot HostileDevice::ExampleSnapshot(ExtensionVersion version) {
  mailbox::Snapshot snapshot{.boot_id = kBootId,
                             .snapshot_id = 1,
                             .catalog_hash = mailbox::CatalogHash(Encode(ExampleCatalog(), version)),
                             .trigger_id = 3,
                             .reference_time_ns = 1'000'000,
                             .counters_per_block = 3};
  for (uint16_t vm = 0; vm <= 2; ++vm) {
    snapshot.blocks.push_back({.vm = vm, .generation = 1, .trigger_id = 3, .reference_time_ns = 1'000'000});
    if (vm > 0) snapshot.blocks.push_back({.vm = vm, .context = 0, .generation = 1, .trigger_id = 3});
  }
  for (uint64_t i = 0; i < 3 * snapshot.blocks.size(); ++i) snapshot.counters.push_back(uint64_t{1} << 3 * i);
  return snapshot;
}

uint32_t HostileDevice::Number(uint32_t honest) {
  const uint8_t choice = Next();
  if (choice >= 32) return honest;
  if (choice >= 24) return script_.U32();
  if (choice >= 20) return honest + choice - 22;
  return kHurtful[Next() % std::size(kHurtful)];
}

Bytes HostileDevice::Spoiled(Bytes payload) {
  const uint8_t choice = Next();
  for (int changes = choice < 128 ? choice % 4 : 0; changes > 0 && !payload.empty(); --changes) {
    const size_t at = script_.U16() % payload.size();
    switch (Next() % 4) {
      case 0:
        payload[at] = Next();
        break;
      case 1: {
        ByteWriter number;
        number.U32(kHurtful[Next() % std::size(kHurtful)]);
        for (size_t i = 0; i < 4 && at + i < payload.size(); ++i) payload[at + i] = number.written()[i];
        break;
      }
      case 2:
        payload.resize(at);
        break;
      default: {
        const ByteSpan more = script_.Raw(Next());
        payload.insert(payload.begin() + static_cast<long>(at), more.begin(), more.end());
      }
    }
  }
  return payload;
}

void HostileDevice::LieInTheCatalog() {
  constexpr const char* kNames[] = {"", "secret", "resident_cycles", "a\"}\n# EOF\n", "\\", "\xC3\xA9", "cycles_total"};
  catalog_ = ExampleCatalog();
  for (mailbox::EventInfo& event : catalog_.events) {
    if (OneIn(4)) event.name = kNames[Next() % std::size(kNames)];
    if (OneIn(4)) event.masked = true;
    if (OneIn(4)) event.scope = mailbox::EventScope::kDevice;
    if (OneIn(2)) event.details.slices = {{.capacity_q32 = uint64_t{Number(0)} << 20 | Next()}};
  }
  for (mailbox::VmInfo& vm : catalog_.vms) {
    if (OneIn(4)) vm.name = kNames[Next() % std::size(kNames)];
    if (OneIn(4)) vm.slice = Next() % 3;
    if (OneIn(4)) vm.confidential = !vm.confidential;
    if (OneIn(4)) vm.generation = Number(1);
  }
  if (OneIn(4)) std::swap(catalog_.vms[0].uuid, catalog_.vms[1].uuid);
  if (OneIn(4)) catalog_.reference_clock_hz = Number(1);
}

void HostileDevice::LieInTheSnapshot() {
  for (uint64_t& counter : latched_.counters) {
    if (OneIn(4)) counter = uint64_t{Number(0)} << Next() % 64;
  }
  for (mailbox::BlockHeader& block : latched_.blocks) {
    if (OneIn(4)) block.flags = Next();
    if (OneIn(4)) block.generation = Number(1);
    if (OneIn(4)) block.reference_time_ns = Number(0);
  }
  if (OneIn(4)) latched_.reference_time_ns = Number(0);
}

void HostileDevice::MakeCatalog() {
  const mailbox::StreamHeader header{
      .kind = mailbox::StreamKind::kCatalog, .framing = mailbox::CatalogFraming(version_), .boot_id = Number(kBootId)};
  stream_ = mailbox::EncodeStream(header, Spoiled(Encode(catalog_, version_)));
}

void HostileDevice::MakeSnapshot(uint32_t base_id) {
  constexpr uint64_t kSecond = 1'000'000'000;
  const mailbox::VmIds whole = mailbox::VmsWrittenWhole(ExampleCatalog());
  const mailbox::Snapshot base = mailbox::AsBase(acknowledged_, whole);
  const mailbox::Framing framing = mailbox::SnapshotFraming(version_);
  mailbox::Snapshot& snapshot = latched_;
  snapshot.snapshot_id = ++snapshot_id_;
  snapshot.reference_time_ns += kSecond;
  for (mailbox::BlockHeader& block : snapshot.blocks) block.reference_time_ns = snapshot.reference_time_ns;
  for (size_t i = 0; i < snapshot.counters.size(); ++i) snapshot.counters[i] += kSecond / (i + 1);
  if (version_ == ExtensionVersion::kTwo) snapshot.statistics = {.switches = snapshot_id_, .switch_cycles = 11};
  if (OneIn(8)) LieInTheCatalog();
  if (OneIn(8)) LieInTheSnapshot();
  snapshot.catalog_hash = mailbox::CatalogHash(Encode(catalog_, version_));
  const bool is_relative = base_id != 0 && base_id == acknowledged_id_;
  const mailbox::StreamHeader header{.kind = mailbox::StreamKind::kSnapshot,
                                     .framing = framing,
                                     .boot_id = Number(kBootId),
                                     .snapshot_id = Number(snapshot_id_),
                                     .base_id = Number(is_relative ? base_id : 0)};
  const Bytes stream = mailbox::EncodeSnapshotStream(snapshot, is_relative ? &base : nullptr, whole, framing);
  stream_ = mailbox::EncodeStream(header, Spoiled(PayloadOf(stream)));
}

mcu::CommandHandler::Reply HostileDevice::Stream(const mailbox::CommandWord& command, uint32_t offset) {
  offset_ = offset;
  window_bytes_ = command.arg2;
  if (command.opcode == Opcode::kCatalog && offset == 0) MakeCatalog();
  const auto size = static_cast<uint32_t>(stream_.size());
  return {.data = Number(size), .extended_data = Number(size)};
}

mcu::CommandHandler::Reply HostileDevice::Discover(mailbox::DiscoverItem item) {
  constexpr uint32_t kServed = 0x1F;  // DISCOVER to ACK
  if (item == mailbox::DiscoverItem::kFeatures) return {.data = Number(0), .extended_data = Number(0)};
  return {.data = Number(static_cast<uint32_t>(version_) | mailbox::kWindowBytes << 8 | mailbox::kWindowCount << 16),
          .extended_data = Number(kServed)};
}

mcu::CommandHandler::Reply HostileDevice::Execute(const mailbox::CommandWord& command, uint32_t data, uint32_t) {
  if (OneIn(32)) return {.status = static_cast<MailboxStatus>(Next() % 32), .data = Number(0)};
  switch (command.opcode) {
    case Opcode::kDiscover:
      return Discover(static_cast<mailbox::DiscoverItem>(command.arg1));
    case Opcode::kLatch:
      window_bytes_ = command.arg2;
      MakeSnapshot(data);
      offset_ = 0;
      return {.data = Number(snapshot_id_), .extended_data = Number(static_cast<uint32_t>(stream_.size()))};
    case Opcode::kAck:
      acknowledged_id_ = data;
      acknowledged_ = latched_;
      return {.data = Number(data)};
    default:
      return Stream(command, data);
  }
}

ByteSpan HostileDevice::Window(uint8_t index) const {
  const size_t begin = std::min<size_t>(size_t{offset_} + size_t{index} * window_bytes_, stream_.size());
  const size_t size = std::min<size_t>(window_bytes_, stream_.size() - begin);
  window_.assign(stream_.begin() + static_cast<long>(begin), stream_.begin() + static_cast<long>(begin + size));
  if (OneIn(64)) window_.resize(Next());
  return window_;
}

TransferResult HostileDevice::Execute(const smbus::Transfer& transfer) {
  if (script_.remaining() == 0) return {.outcome = smbus::Outcome::kAddressNack};
  TransferResult result = bus_.Execute(transfer);
  if (!OneIn(64)) return result;
  result.outcome = static_cast<smbus::Outcome>(Next() % (smbus::kOutcomeMax + 1));
  result.read.resize(Next() % 3);
  for (Bytes& read : result.read) {
    const ByteSpan bytes = script_.Raw(std::min<size_t>(Next(), script_.remaining()));
    read.assign(bytes.begin(), bytes.end());
  }
  return result;
}

}  // namespace sideband::tests
