// SPDX-License-Identifier: Apache-2.0
//
// SMBPBI's GET_SYS_ID (opcode 0x05): the items of a board's identity. The numbers and lengths are those of NVIDIA's
// public smbpbi.h (open-gpu-kernel-modules, MIT; docs/design/smbpbi-facts.md, 3.3); the names are our own wording.
// arg1 is the item and arg2 a dword within it; the last dword is padded with zeros.
//   for (uint8_t dword = 0; dword < DwordsOf(*FindSysId(item)); ++dword) Run(Opcode::kGetSysId, item, dword);
#ifndef SIDEBAND_PROTO_MAILBOX_SYS_ID_H_
#define SIDEBAND_PROTO_MAILBOX_SYS_ID_H_

#include <cstdint>
#include <iterator>

namespace sideband::mailbox {

enum class SysId : uint8_t {
  kBoardPartNumber = 0x00,
  kOemInfo = 0x01,
  kSerialNumber = 0x02,
  kMarketingName = 0x03,
  kGpuPartNumber = 0x04,
  kMemoryVendor = 0x05,
  kMemoryPartNumber = 0x06,
  kBuildDate = 0x07,
  kFirmwareVersion = 0x08,
  kVendorId = 0x09,
  kDeviceId = 0x0A,
  kSubsystemVendorId = 0x0B,
  kSubsystemId = 0x0C,
  kGuid = 0x0D,
  kInforomVersion = 0x0E,
  kLength = 0x0F,
  kWidth = 0x10,
  kHeight = 0x11,
  kPcieSpeed = 0x12,
  kPcieWidth = 0x13,
  kPowerLimit = 0x14,  // milliwatts
  kFruPartNumber = 0x15,
  kModulePowerLimit = 0x16,  // milliwatts
  kMaxDramCapacity = 0x17,   // MiB
};

enum class SysIdFormat { kText, kBytes, kNumber };

struct SysIdRow {
  SysId item;
  const char* name;
  uint8_t bytes;
  SysIdFormat format;
};
// In the order of their numbers, which have no gap.
inline constexpr SysIdRow kSysIds[] = {
    {SysId::kBoardPartNumber, "board part number", 24, SysIdFormat::kText},
    {SysId::kOemInfo, "OEM info", 24, SysIdFormat::kText},
    {SysId::kSerialNumber, "serial number", 16, SysIdFormat::kText},
    {SysId::kMarketingName, "marketing name", 24, SysIdFormat::kText},
    {SysId::kGpuPartNumber, "GPU part number", 16, SysIdFormat::kText},
    {SysId::kMemoryVendor, "memory vendor", 1, SysIdFormat::kNumber},
    {SysId::kMemoryPartNumber, "memory part number", 20, SysIdFormat::kText},
    {SysId::kBuildDate, "build date", 4, SysIdFormat::kBytes},
    {SysId::kFirmwareVersion, "firmware version", 14, SysIdFormat::kText},
    {SysId::kVendorId, "vendor id", 2, SysIdFormat::kNumber},
    {SysId::kDeviceId, "device id", 2, SysIdFormat::kNumber},
    {SysId::kSubsystemVendorId, "subsystem vendor id", 2, SysIdFormat::kNumber},
    {SysId::kSubsystemId, "subsystem id", 2, SysIdFormat::kNumber},
    {SysId::kGuid, "GPU GUID", 16, SysIdFormat::kBytes},
    {SysId::kInforomVersion, "InfoROM version", 16, SysIdFormat::kText},
    {SysId::kLength, "length", 4, SysIdFormat::kNumber},
    {SysId::kWidth, "width", 4, SysIdFormat::kNumber},
    {SysId::kHeight, "height", 4, SysIdFormat::kNumber},
    {SysId::kPcieSpeed, "PCIe speed", 1, SysIdFormat::kNumber},
    {SysId::kPcieWidth, "PCIe width", 1, SysIdFormat::kNumber},
    {SysId::kPowerLimit, "power limit", 4, SysIdFormat::kNumber},
    {SysId::kFruPartNumber, "FRU part number", 20, SysIdFormat::kText},
    {SysId::kModulePowerLimit, "module power limit", 4, SysIdFormat::kNumber},
    {SysId::kMaxDramCapacity, "DRAM capacity", 4, SysIdFormat::kNumber},
};

// nullptr for an item that SMBPBI does not define.
constexpr const SysIdRow* FindSysId(SysId item) {
  const auto index = static_cast<uint8_t>(item);
  return index < std::size(kSysIds) ? &kSysIds[index] : nullptr;
}

constexpr uint8_t DwordsOf(const SysIdRow& row) { return static_cast<uint8_t>((row.bytes + 3) / 4); }

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_SYS_ID_H_
