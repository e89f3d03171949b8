// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/system_info.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/text.h"
#include "proto/mailbox/board_items.h"
#include "proto/mailbox/word.h"

namespace sideband::mcu {
namespace {

using mailbox::BoardClock;
using mailbox::ClockItem;
using mailbox::MailboxStatus;
using mailbox::MaskOf;
using mailbox::MiscFlag;
using mailbox::SysId;
using mailbox::ThrottleReason;

constexpr uint16_t kNvidiaVendorId = 0x10DE;

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

constexpr uint32_t kInsufficient = 1 << 0;
constexpr uint8_t kGet = 0, kSet = 1;

enum Item : uint8_t { kClocks = 0, kTemperature = 1, kProfiles = 2 };
constexpr uint8_t kProfilePages = 4;
constexpr double kDegreesMax = 32'767;  // of a signed number of 16 bits

Reply Profiles(uint8_t page) { return page < kProfilePages ? Reply{} : Fail(MailboxStatus::kErrArg2); }

constexpr uint32_t kMig =
    MaskOf(MiscFlag::kMigSupported) | MaskOf(MiscFlag::kMigCurrent) | MaskOf(MiscFlag::kMigPending);
constexpr uint32_t kEcc =
    MaskOf(MiscFlag::kEccSupported) | MaskOf(MiscFlag::kEccCurrent) | MaskOf(MiscFlag::kEccPending);
constexpr uint8_t kFlagPages = 2;

constexpr size_t kVersionBytes = 64;

uint32_t SupportedReasons(const BoardSpec& board) {
  uint32_t reasons = board.power_limit ? MaskOf(ThrottleReason::kSoftwarePowerCap) : 0;
  if (board.thermal) {
    reasons |= MaskOf(ThrottleReason::kHardwareSlowdown) | MaskOf(ThrottleReason::kHardwareThermal) |
               MaskOf(ThrottleReason::kSoftwareThermal);
  }
  return reasons;
}

bool IsOfNow(ClockItem item) {
  return item == ClockItem::kCurrent || item == ClockItem::kPState || item == ClockItem::kCurrentReasons;
}

}  // namespace

absl::StatusOr<Persona> ParsePersona(absl::string_view name) {
  if (name == "sideband") return Persona::kSideband;
  if (name == "nvidia") return Persona::kNvidia;
  const std::string names[] = {"sideband", "nvidia"};
  return absl::InvalidArgumentError(
      absl::StrCat("unknown persona '", name, "', must be sideband or nvidia", DidYouMean(name, names)));
}

uint16_t VendorId(Persona persona) { return persona == Persona::kNvidia ? kNvidiaVendorId : mailbox::kVendorId; }

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

Reply BoardFlags::GetPowerConnector(uint8_t arg1) const {
  if (!spec_.power_connector) return Fail(MailboxStatus::kErrNotSupported);
  if (arg1 != 0) return Fail(MailboxStatus::kErrArg1);
  return {.data = state_.power_is_insufficient ? kInsufficient : 0};
}

Reply BoardFlags::AccessWriteProtect(uint8_t arg1, uint8_t arg2) {
  if (!spec_.write_protection) return Fail(MailboxStatus::kErrNotSupported);
  if (arg1 != kGet && arg1 != kSet) return Fail(MailboxStatus::kErrArg1);
  if (arg1 == kGet) return arg2 == 0 ? WriteProtect() : Fail(MailboxStatus::kErrArg2);
  const bool enables = arg2 == mailbox::kWriteProtectEnabled;
  if (!enables && arg2 != mailbox::kWriteProtectDisabled) return Fail(MailboxStatus::kErrArg2);
  state_.is_write_protected = enables;
  return {};
}

Reply BoardFlags::WriteProtect() const {
  return {.data = state_.is_write_protected ? mailbox::kWriteProtectEnabled : mailbox::kWriteProtectDisabled};
}

Reply PowerHints::Get(uint8_t item, uint8_t which) const {
  if (item == kClocks) return Clocks(which);
  if (item == kTemperature) return Temperature(which);
  return item == kProfiles ? Profiles(which) : Fail(MailboxStatus::kErrArg1);
}

Reply PowerHints::Clocks(uint8_t clock) const {
  if (static_cast<BoardClock>(clock) == BoardClock::kMemory) return Fail(MailboxStatus::kErrNotSupported);
  if (static_cast<BoardClock>(clock) != BoardClock::kGraphics) return Fail(MailboxStatus::kErrArg2);
  const auto range = ClockRangeMhz(device_);
  return range ? Reply{.data = *range} : Fail(MailboxStatus::kErrNotSupported);
}

Reply PowerHints::Temperature(uint8_t which) const {
  if (which != 0) return Fail(MailboxStatus::kErrArg2);
  if (!spec_.thermal) return Fail(MailboxStatus::kErrNotSupported);
  const auto most = static_cast<uint32_t>(std::floor(std::clamp(spec_.thermal->shutdown_c, 0.0, kDegreesMax)));
  return {.data = most << 16};
}

Reply SystemInfo::GetFlags(uint8_t page) const {
  if (page >= kFlagPages) return Fail(MailboxStatus::kErrArg1);
  if (page == 1) {
    return {.data = (board_.state.reset_required ? MaskOf(MiscFlag::kResetRequired) : 0) |
                    (board_.state.drain_recommended ? MaskOf(MiscFlag::kDrainRecommended) : 0)};
  }
  // The chip file fixes the partitions and the ECC, so the pending state equals the current one.
  const bool has_partitions = device_.catalog().slices.size() > 1;
  return {.data = MaskOf(MiscFlag::kDriverRuns) | (has_partitions ? kMig : 0) | (board_.spec.ecc ? kEcc : 0)};
}

uint32_t SystemInfo::PState() const {
  const auto clock = device_.GetWorkloadClock();
  const auto above = std::ranges::upper_bound(clock->levels, clock->hz);
  return static_cast<uint32_t>(clock->levels.end() - above);
}

Reply SystemInfo::GetClock(uint8_t number, uint8_t domain) const {
  if (number >= std::size(mailbox::kClockItems)) return Fail(MailboxStatus::kErrArg1);
  const auto item = static_cast<ClockItem>(number);
  const auto clock = device_.GetWorkloadClock();
  const bool is_frequency = item <= ClockItem::kMaximum;
  if (!is_frequency && !clock) return Fail(MailboxStatus::kErrNotSupported);
  if (domain == static_cast<uint8_t>(BoardClock::kMemory)) return Fail(MailboxStatus::kErrNotSupported);
  if (domain != static_cast<uint8_t>(BoardClock::kGraphics)) return Fail(MailboxStatus::kErrArg2);
  if (IsOfNow(item) && IsClockHidden(device_, clocks_)) return Fail(MailboxStatus::kErrNotAvailable);
  const uint64_t reference_hz = device_.catalog().reference_clock_hz;
  switch (item) {
    case ClockItem::kCurrent:
      return {.data = MhzOf(clock ? clock->hz : reference_hz)};
    case ClockItem::kMinimum:
      return {.data = MhzOf(clock ? clock->levels.front() : reference_hz)};
    case ClockItem::kMaximum:
      return {.data = MhzOf(clock ? clock->levels.back() : reference_hz)};
    case ClockItem::kPState:
      return {.data = PState()};
    case ClockItem::kSupportedReasons:
      return {.data = SupportedReasons(board_.spec)};
    case ClockItem::kCurrentReasons:
      return {.data = board_.state.throttle_reasons};
  }
  return Fail(MailboxStatus::kErrArg1);
}

Reply SystemInfo::GetVersion(uint8_t item, uint8_t dword) const {
  if (item != 0) return Fail(MailboxStatus::kErrArg1);
  if (dword >= kVersionBytes / 4) return Fail(MailboxStatus::kErrArg2);
  return {.data = DwordOf(PaddedText(ProgramVersion(), kVersionBytes), dword)};
}

}  // namespace sideband::mcu
