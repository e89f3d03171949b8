// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/identity_items.h"

#include <utility>

#include "proto/mailbox/sys_id.h"
#include "proto/mailbox/word.h"
#include "secure_mcu/firmware/dwords.h"

namespace sideband::mcu {
namespace {

using mailbox::MailboxStatus;
using mailbox::SysId;

constexpr uint16_t kDeviceId = 0x0001;
constexpr char kFirmwareVersion[] = "1.0.0";

Bytes Word(uint16_t value) { return {static_cast<uint8_t>(value), static_cast<uint8_t>(value >> 8)}; }

Bytes Dword(uint32_t value) {
  ByteWriter out;
  out.U32(value);
  return std::move(out).Take();
}

Bytes Text(SysId item, const std::string& text) { return PaddedText(text, mailbox::FindSysId(item)->bytes); }

constexpr uint8_t Key(SysId item) { return static_cast<uint8_t>(item); }

}  // namespace

IdentityItems::IdentityItems(const DeviceIdentity& identity, Persona persona)
    : items_{{Key(SysId::kBoardPartNumber), Text(SysId::kBoardPartNumber, identity.part_number)},
             {Key(SysId::kSerialNumber), Text(SysId::kSerialNumber, identity.serial)},
             {Key(SysId::kFirmwareVersion), Text(SysId::kFirmwareVersion, kFirmwareVersion)},
             {Key(SysId::kVendorId), Word(VendorId(persona))},
             {Key(SysId::kDeviceId), Word(kDeviceId)},
             {Key(SysId::kGuid), Bytes(identity.uuid.bytes.begin(), identity.uuid.bytes.end())}} {
  if (!identity.name.empty()) items_[Key(SysId::kMarketingName)] = Text(SysId::kMarketingName, identity.name);
  if (identity.memory_mib) items_[Key(SysId::kMaxDramCapacity)] = Dword(*identity.memory_mib);
}

Reply IdentityItems::Get(uint8_t item, uint8_t dword) const {
  const auto found = items_.find(item);
  if (found == items_.end()) {
    return Fail(mailbox::FindSysId(static_cast<SysId>(item)) != nullptr ? MailboxStatus::kErrNotSupported
                                                                        : MailboxStatus::kErrArg1);
  }
  if (size_t{dword} * 4 >= found->second.size()) return Fail(MailboxStatus::kErrArg2);
  return {.data = DwordOf(found->second, dword)};
}

uint32_t IdentityItems::served() const {
  uint32_t served = 0;
  for (const auto& [item, bytes] : items_) served |= uint32_t{1} << item;
  return served;
}

}  // namespace sideband::mcu
