// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/firmware.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "proto/mailbox/extension.h"

namespace sideband::mcu {
namespace {

using mailbox::MailboxStatus;
using mailbox::Opcode;
using mailbox::SysId;
using Reply = CommandHandler::Reply;

constexpr uint8_t kCapabilityDwords = 6;
constexpr uint8_t kSensorGpu = 0;
constexpr uint8_t kPowerTotal = 0;

// "SB": our own, which is in no registry. Clients that insist on a vendor's need that vendor's board.
constexpr uint8_t kVendorId[] = {0x53, 0x42};
constexpr uint8_t kDeviceId[] = {0x01, 0x00};
constexpr char kFirmwareVersion[] = "1.0.0";

constexpr Opcode kExtensionOpcodes[] = {Opcode::kDiscover, Opcode::kCatalog, Opcode::kLatch, Opcode::kRead,
                                        Opcode::kAck};

Reply Fail(MailboxStatus status) { return {.status = status}; }

Bytes Text(const std::string& text, size_t size) {
  Bytes bytes(size);
  std::copy_n(text.begin(), std::min(size, text.size()), bytes.begin());
  return bytes;
}

// The bytes of an identity item, of the length that SMBPBI gives it; none for what is not served.
std::optional<Bytes> SysIdItem(const DeviceIdentity& identity, uint8_t item) {
  switch (static_cast<SysId>(item)) {
    case SysId::kBoardPartNumber:
      return Text(identity.part_number, 24);
    case SysId::kSerialNumber:
      return Text(identity.serial, 16);
    case SysId::kFirmwareVersion:
      return Text(kFirmwareVersion, 14);
    case SysId::kVendorId:
      return Bytes(std::begin(kVendorId), std::end(kVendorId));
    case SysId::kDeviceId:
      return Bytes(std::begin(kDeviceId), std::end(kDeviceId));
    case SysId::kGuid:
      return Bytes(identity.uuid.bytes.begin(), identity.uuid.bytes.end());
  }
  return std::nullopt;
}

}  // namespace

Firmware::Firmware(Device& device, PowerModel power)
    : device_(device), power_(std::move(power)), copy_engine_(device) {}

Reply Firmware::Execute(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data) {
  switch (command.opcode) {
    case Opcode::kNull:
      return {};
    case Opcode::kGetCapabilities:
      return GetCapabilities(command.arg1);
    case Opcode::kGetTemp:
      return GetTemperature(command.arg1, /*with_fraction=*/false);
    case Opcode::kGetExtTemp:
      return GetTemperature(command.arg1, /*with_fraction=*/true);
    case Opcode::kGetPower:
      return GetPower(command.arg1);
    case Opcode::kGetSysId:
      return GetSysId(command.arg1, command.arg2);
    case Opcode::kDiscover:
      return Discover(command.arg1);
    case Opcode::kCatalog:
      return ReadCatalog(data);
    case Opcode::kLatch:
      return Latch();
    case Opcode::kRead:
      return ReadSnapshot(command.arg1, data, extended_data);
    case Opcode::kAck:
      return Acknowledge(data);
  }
  return Fail(MailboxStatus::kErrOpcode);
}

// --- Base commands --------------------------------------------------------------------------------------------------

Reply Firmware::GetCapabilities(uint8_t dword) const {
  constexpr uint32_t kTemperature = 1 << 0, kFractionS24p8 = 8 << 8, kPower = 1 << 16;
  if (dword >= kCapabilityDwords) return Fail(MailboxStatus::kErrArg1);
  if (dword == 0) return {.data = kTemperature | kFractionS24p8 | kPower};
  Reply reply;
  for (uint8_t item = 0; dword == 1 && item <= 0x0E; ++item) {
    if (SysIdItem(device_.identity(), item)) reply.data |= 1u << item;
  }
  return reply;
}

Reply Firmware::GetTemperature(uint8_t sensor, bool with_fraction) {
  if (sensor != kSensorGpu) return Fail(MailboxStatus::kErrArg1);
  power_.Update(device_.DeviceCounters(), device_.ReferenceTimeNs());
  const auto fixed = static_cast<int32_t>(std::lround(power_.temperature_c() * 256));
  return {.data = static_cast<uint32_t>(with_fraction ? fixed : fixed & ~0xFF)};
}

Reply Firmware::GetPower(uint8_t source) {
  if (source != kPowerTotal) return Fail(MailboxStatus::kErrArg1);
  power_.Update(device_.DeviceCounters(), device_.ReferenceTimeNs());
  return {.data = static_cast<uint32_t>(std::lround(power_.power_mw()))};
}

Reply Firmware::GetSysId(uint8_t item, uint8_t dword) const {
  const auto bytes = SysIdItem(device_.identity(), item);
  if (!bytes) return Fail(MailboxStatus::kErrArg1);
  const size_t begin = size_t{dword} * 4;
  if (begin >= bytes->size()) return Fail(MailboxStatus::kErrArg2);
  Reply reply;
  for (size_t i = begin; i < std::min(begin + 4, bytes->size()); ++i) {
    reply.data |= uint32_t{(*bytes)[i]} << 8 * (i - begin);
  }
  return reply;
}

// --- The snapshot extension -----------------------------------------------------------------------------------------

Reply Firmware::Discover(uint8_t item) const {
  const uint64_t boot_id = device_.identity().boot_id;
  switch (static_cast<mailbox::DiscoverItem>(item)) {
    case mailbox::DiscoverItem::kVersion: {
      uint32_t served = 0;
      for (const Opcode opcode : kExtensionOpcodes) served |= 1u << (static_cast<uint8_t>(opcode) - 0x60);
      return {.data = mailbox::kExtensionVersion | mailbox::kWindowBytes << 8 | mailbox::kWindowCount << 16,
              .extended_data = served};
    }
    case mailbox::DiscoverItem::kLimits: {
      const mailbox::Catalog& catalog = device_.catalog();
      const size_t blocks = 1 + catalog.vms.size() + catalog.contexts.size();
      return {.data = static_cast<uint32_t>(blocks), .extended_data = static_cast<uint32_t>(catalog.events.size())};
    }
    case mailbox::DiscoverItem::kBootId:
      return {.data = static_cast<uint32_t>(boot_id), .extended_data = static_cast<uint32_t>(boot_id >> 32)};
    case mailbox::DiscoverItem::kCatalog:
      return {.data = static_cast<uint32_t>(copy_engine_.catalog().size()),
              .extended_data = copy_engine_.catalog_hash()};
  }
  return Fail(MailboxStatus::kErrArg1);
}

Reply Firmware::ReadCatalog(uint32_t offset) { return OpenAt(Open::kCatalog, offset, copy_engine_.catalog_hash()); }

Reply Firmware::Latch() {
  copy_engine_.Latch();
  if (open_ == Open::kSnapshot) open_ = Open::kNothing;
  return {.data = copy_engine_.snapshot_id(), .extended_data = static_cast<uint32_t>(copy_engine_.snapshot().size())};
}

Reply Firmware::ReadSnapshot(uint8_t selector, uint32_t offset, uint32_t snapshot_id) {
  if (selector != static_cast<uint8_t>(mailbox::ReadSelector::kAll)) return Fail(MailboxStatus::kErrArg1);
  if (copy_engine_.snapshot_id() == 0) return Fail(MailboxStatus::kErrNotAvailable);
  if (snapshot_id != copy_engine_.snapshot_id()) return Fail(MailboxStatus::kErrAgain);
  return OpenAt(Open::kSnapshot, offset, snapshot_id);
}

Reply Firmware::Acknowledge(uint32_t snapshot_id) {
  if (copy_engine_.snapshot_id() == 0) return Fail(MailboxStatus::kErrNotAvailable);
  if (snapshot_id != copy_engine_.snapshot_id()) return Fail(MailboxStatus::kErrAgain);
  copy_engine_.Acknowledge();
  return {.data = snapshot_id};
}

Reply Firmware::OpenAt(Open stream, uint32_t offset, uint32_t extended_data) {
  const ByteSpan bytes = Stream(stream);
  if (offset >= bytes.size()) return Fail(MailboxStatus::kErrData);
  open_ = stream;
  offset_ = offset;
  return {.data = static_cast<uint32_t>(bytes.size()), .extended_data = extended_data};
}

ByteSpan Firmware::Stream(Open stream) const {
  switch (stream) {
    case Open::kNothing:
      return {};
    case Open::kCatalog:
      return copy_engine_.catalog();
    case Open::kSnapshot:
      return copy_engine_.snapshot();
  }
  return {};
}

ByteSpan Firmware::Window(uint8_t index) const {
  const ByteSpan bytes = Stream(open_);
  const size_t begin = offset_ + size_t{index} * mailbox::kWindowBytes;
  if (begin >= bytes.size()) return {};
  return bytes.subspan(begin, std::min<size_t>(mailbox::kWindowBytes, bytes.size() - begin));
}

}  // namespace sideband::mcu
