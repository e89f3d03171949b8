// SPDX-License-Identifier: Apache-2.0
//
// A fault of the board behind the mailbox: an error of its memories or links, a message of its driver, a state that
// requires a reset. A plan names it (README.md); the device that has the board applies it.
//   const BoardFault fault = {.kind = BoardFaultKind::kXid, .xid = 63, .text = "Row remapping pending"};
//   const absl::string_view name = BoardFaultName(fault.kind);   // "xid", the word of the file
#ifndef SIDEBAND_SIM_BUS_BOARD_FAULT_H_
#define SIDEBAND_SIM_BUS_BOARD_FAULT_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <string>

#include "absl/strings/string_view.h"
#include "proto/mailbox/capability.h"
#include "proto/mailbox/memory_links.h"

namespace sideband::sim {

enum class BoardFaultKind : uint8_t {
  kEcc,            // errors of a memory
  kSramThreshold,  // more errors of SRAM than the board tolerates
  kRowRemap,       // a row is replaced at the next reset, or could not be replaced
  kRetirePage,
  kXid,  // a message of the driver
  kNvlinkDown,
  kNvlinkUp,
  kNvlinkErrors,
  kPcieErrors,
  kPowerConnector,  // the power is insufficient
  kResetRequired,
  kDrain,           // draining and a reset are recommended
  kLoseCapability,  // the board no longer announces it
  kRegainCapability,
};

// In the order of the enumeration: the file's word, and the keys that go with it.
struct BoardFaultRow {
  BoardFaultKind kind;
  absl::string_view name;
  std::initializer_list<absl::string_view> keys;
};
inline constexpr BoardFaultRow kBoardFaults[] = {
    {BoardFaultKind::kEcc, "ecc", {"memory", "errors", "count"}},
    {BoardFaultKind::kSramThreshold, "sram_threshold", {}},
    {BoardFaultKind::kRowRemap, "row_remap", {"errors", "failed"}},
    {BoardFaultKind::kRetirePage, "retire_page", {"errors"}},
    {BoardFaultKind::kXid, "xid", {"xid", "text"}},
    {BoardFaultKind::kNvlinkDown, "nvlink_down", {"link"}},
    {BoardFaultKind::kNvlinkUp, "nvlink_up", {"link"}},
    {BoardFaultKind::kNvlinkErrors, "nvlink_errors", {"link", "error", "count"}},
    {BoardFaultKind::kPcieErrors, "pcie_errors", {"error", "count"}},
    {BoardFaultKind::kPowerConnector, "power_connector", {}},
    {BoardFaultKind::kResetRequired, "reset_required", {}},
    {BoardFaultKind::kDrain, "drain", {}},
    {BoardFaultKind::kLoseCapability, "lose_capability", {"capability"}},
    {BoardFaultKind::kRegainCapability, "regain_capability", {"capability"}},
};
inline constexpr size_t kBoardFaultKinds = std::size(kBoardFaults);
static_assert([] {
  for (size_t i = 0; i < kBoardFaultKinds; ++i) {
    if (kBoardFaults[i].kind != static_cast<BoardFaultKind>(i)) return false;
  }
  return true;
}());

constexpr const BoardFaultRow& RowOf(BoardFaultKind kind) { return kBoardFaults[static_cast<size_t>(kind)]; }
constexpr absl::string_view BoardFaultName(BoardFaultKind kind) { return RowOf(kind).name; }

enum class NvlinkError : uint8_t { kReplay, kRecovery, kFlitCrc, kDataCrc };
enum class PcieError : uint8_t { kCorrectable, kNonFatal, kFatal, kUnsupported, kReplay };

// Only the fields of the kind's keys count.
struct BoardFault {
  BoardFaultKind kind = BoardFaultKind::kEcc;
  mailbox::EccMemory memory = mailbox::EccMemory::kDram;
  bool uncorrected = false;  // key `errors`; of a retired page: errors of two bits
  bool failed = false;       // the row could not be remapped
  uint32_t count = 1;        // from 1
  uint16_t xid = 1;          // from 1
  std::string text;          // printable ASCII, at most 79 characters
  uint8_t link = 0;          // 0 to 31
  NvlinkError nvlink_error = NvlinkError::kReplay;
  PcieError pcie_error = PcieError::kCorrectable;
  mailbox::Capability capability = mailbox::Capability::kTempGpu0;
};

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_BUS_BOARD_FAULT_H_
