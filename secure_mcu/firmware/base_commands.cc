// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/base_commands.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

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

BaseCommands::BaseCommands(Device& device, PowerModel power) : device_(device), power_(std::move(power)) {}

Reply BaseCommands::Execute(const mailbox::CommandWord& command) {
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
    default:
      return Fail(MailboxStatus::kErrOpcode);
  }
}

Reply BaseCommands::GetCapabilities(uint8_t dword) const {
  constexpr uint32_t kTemperature = 1 << 0, kFractionS24p8 = 8 << 8, kPower = 1 << 16;
  if (dword >= kCapabilityDwords) return Fail(MailboxStatus::kErrArg1);
  if (dword == 0) return {.data = kTemperature | kFractionS24p8 | kPower};
  Reply reply;
  for (uint8_t item = 0; dword == 1 && item <= 0x0E; ++item) {
    if (SysIdItem(device_.identity(), item)) reply.data |= 1u << item;
  }
  return reply;
}

Reply BaseCommands::GetTemperature(uint8_t sensor, bool with_fraction) {
  if (sensor != kSensorGpu) return Fail(MailboxStatus::kErrArg1);
  power_.Update(device_.DeviceCounters(), device_.ReferenceTimeNs());
  const auto fixed = static_cast<int32_t>(std::lround(power_.temperature_c() * 256));
  return {.data = static_cast<uint32_t>(with_fraction ? fixed : fixed & ~0xFF)};
}

Reply BaseCommands::GetPower(uint8_t source) {
  if (source != kPowerTotal) return Fail(MailboxStatus::kErrArg1);
  power_.Update(device_.DeviceCounters(), device_.ReferenceTimeNs());
  return {.data = static_cast<uint32_t>(std::lround(power_.power_mw()))};
}

Reply BaseCommands::GetSysId(uint8_t item, uint8_t dword) const {
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

}  // namespace sideband::mcu
