// SPDX-License-Identifier: Apache-2.0
//
// Properties of a device that need no counters: identity, flags, clocks, hints, and its driver's version. Texts
// and numbers are in SMBPBI's representation, four bytes at a time, least significant first.
//   SystemInfo info(device, board);
//   info.GetClock(/*item*/ 0, /*clock*/ 0).data;      // MHz
//
//   const auto range = ClockRangeMhz(device);
//   const uint32_t most_mhz = range.value_or(0) >> 16;
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_SYSTEM_INFO_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_SYSTEM_INFO_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/base/bytes.h"
#include "proto/base/version.h"
#include "proto/mailbox/services.h"
#include "secure_mcu/firmware/board_state.h"
#include "secure_mcu/firmware/board_unit.h"
#include "secure_mcu/firmware/command_handler.h"
#include "secure_mcu/firmware/complement.h"
#include "secure_mcu/firmware/device.h"

namespace sideband::mcu {

// The vendor identity of the emulated board: our own, or NVIDIA's for tests with public clients that require it.
enum class Persona { kSideband, kNvidia };

// INVALID_ARGUMENT for any name other than "sideband" and "nvidia".
absl::StatusOr<Persona> ParsePersona(absl::string_view name);

uint16_t VendorId(Persona persona);

// GET_SYS_ID: the identity of the board, item by item. Immutable.
class IdentityItems {
 public:
  IdentityItems(const DeviceIdentity& identity, Persona persona);

  // ERR_NOT_SUPPORTED for an item that SMBPBI defines and this board lacks, ERR_ARG1 for an undefined item, ERR_ARG2
  // beyond the item's length. Texts are padded with zeros.
  Reply Get(uint8_t item, uint8_t dword) const;
  // Bit n is set if item n is served, for the first 32 items.
  uint32_t served() const;

 private:
  std::map<uint8_t, Bytes> items_;  // each of the length defined by SMBPBI
};

// Whether a board's power suffices, GET_POWER_CONNECTOR_STATE (opcode 0x12), and whether it is protected against
// writes, ACCESS_WP_MODE (0x17). A command that the board lacks is ERR_NOT_SUPPORTED with any arguments. Not
// thread-safe.
class BoardFlags {
 public:
  // Both must outlive it.
  BoardFlags(const BoardSpec& spec, BoardState& state) : spec_(spec), state_(state) {}

  // Bit 0: the power of the auxiliary connector is insufficient. `arg1` must be 0.
  Reply GetPowerConnector(uint8_t arg1) const;

  // arg1 0 returns mailbox::kWriteProtectEnabled or kWriteProtectDisabled, 1 sets it to arg2, which is one of the two.
  // Both sets of registers share it. Nothing in an emulated board obeys it.
  Reply AccessWriteProtect(uint8_t arg1, uint8_t arg2);

 private:
  Reply WriteProtect() const;

  const BoardSpec& spec_;
  BoardState& state_;
};

// GET_POWER_HINT_INFO (opcode 0x26): the ranges for which a controller may ask for a hint of the power. Not
// thread-safe.
class PowerHints {
 public:
  // Both must outlive it.
  PowerHints(const Device& device, const BoardSpec& spec) : device_(device), spec_(spec) {}

  // `item` 0: of the graphics clock (`which` 0), the least and most level in MHz; the memory clock (1) is unknown.
  // 1: of the temperature, in whole degrees Celsius, 0 and the board's shutdown, rounded down. Both have the least in
  // 15:0 and the most in 31:16. 2: of profiles, page `which`, of which there are four: none. ERR_NOT_SUPPORTED for a
  // range that the board lacks.
  Reply Get(uint8_t item, uint8_t which) const;

 private:
  Reply Clocks(uint8_t clock) const;
  Reply Temperature(uint8_t which) const;

  const Device& device_;
  const BoardSpec& spec_;
};

// `text`, truncated or zero-padded to `size` bytes.
inline Bytes PaddedText(const std::string& text, size_t size) {
  Bytes bytes(size);
  std::copy_n(text.begin(), std::min(size, text.size()), bytes.begin());
  return bytes;
}

// The four bytes from 4 · index on; bytes beyond the last are 0.
inline uint32_t DwordOf(ByteSpan bytes, size_t index) {
  uint32_t dword = 0;
  const size_t begin = 4 * index;
  for (size_t i = begin; i < std::min(begin + 4, bytes.size()); ++i) dword |= uint32_t{bytes[i]} << 8 * (i - begin);
  return dword;
}

// GET_MISC_FLAGS, GET_CLOCK_FREQ_INFO and DYNAMIC_SYSTEM_INFORMATION. Not thread-safe.
class SystemInfo {
 public:
  // Both must outlive it.
  SystemInfo(const Device& device, const BoardUnit& board, Complement clocks = Complement::kExclude)
      : device_(device), board_(board), clocks_(clocks) {}

  // Page 0: on a device with several slices MIG is supported, enabled and stays enabled (bits 3 to 5), and so is ECC on
  // a board with ECC (bits 0 to 2); the driver runs (bit 6). Page 1: whether a reset is needed, or recommended.
  Reply GetFlags(uint8_t page) const;
  // `item` is a ClockItem. The graphics clock in MHz is the workload's, which the board can lower, or the reference
  // clock, which never changes; the memory clock is unknown. P-states are numbered from the highest level on, from 0.
  // Where the board can lower the clock, it does by the heat of confidential VMs, too: what it is now is
  // ERR_NOT_AVAILABLE beside such a VM, unless the rule allows it; otherwise where the rule withholds it.
  Reply GetClock(uint8_t item, uint8_t clock) const;
  // Item 0: the emulator's name and version, 64 characters.
  Reply GetVersion(uint8_t item, uint8_t dword) const;

 private:
  uint32_t PState() const;

  const Device& device_;
  const BoardUnit& board_;
  const Complement clocks_;
};

// Complement protection of the workload's clock. A board lowers it by all heat, that of confidential VMs included, and
// no part of a clock is one VM's: to exclude them is to withhold what it is, and for how long it was lowered.
// Of a device whose clock is never lowered, only where the rule withholds it.
inline bool IsClockHidden(const Device& device, Complement rule) {
  const bool is_lowered_by_all = device.GetWorkloadClock().has_value() && rule == Complement::kExclude;
  return IsWithheld(is_lowered_by_all ? Complement::kWithhold : rule, device.catalog());
}

// Rounded; saturates below mailbox::kNoClockLimit, which is no clock.
inline uint32_t MhzOf(uint64_t hz) {
  constexpr uint64_t kHzPerMhz = 1'000'000;
  const uint64_t mhz = (hz + kHzPerMhz / 2) / kHzPerMhz;
  return static_cast<uint32_t>(std::min<uint64_t>(mhz, mailbox::kNoClockLimit - 1));
}

// The range of a board's clock, as SMBPBI's power hints and clock limits have it: the least level of the workload's
// clock in 15:0 and the most in 31:16; nullopt if the clock has no levels.
inline std::optional<uint32_t> ClockRangeMhz(const Device& device) {
  const auto clock = device.GetWorkloadClock();
  if (!clock) return std::nullopt;
  return MhzOf(clock->levels.front()) | MhzOf(clock->levels.back()) << 16;
}

// The version reported by `sideband-mcu --version` and by the emulated device's driver.
inline std::string ProgramVersion() { return absl::StrCat("sideband-mcu ", BuildVersion()); }

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_SYSTEM_INFO_H_
