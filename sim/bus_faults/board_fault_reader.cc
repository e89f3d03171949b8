// SPDX-License-Identifier: Apache-2.0
#include "sim/bus_faults/board_fault_reader.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/driver_event.h"
#include "proto/mailbox/link_info.h"
#include "sim/bus_faults/plan_word.h"

namespace sideband::sim {
namespace {

// Each in the order of its enumeration.
const std::string kMemories[] = {"sram", "dram"};
const std::string kErrors[] = {"corrected", "uncorrected"};
const std::string kNvlinkErrors[] = {"replay", "recovery", "flit_crc", "data_crc"};
const std::string kPcieErrors[] = {"correctable", "non_fatal", "fatal", "unsupported", "replay"};

constexpr size_t kTextMax = mailbox::DriverEvent::kTextBytesMax - 1;  // without the terminating zero

absl::Status ReadMemory(const YamlMap& rule, BoardFault& fault) {
  const auto memory = rule.Find("memory");
  if (!memory) return absl::OkStatus();
  SIDEBAND_ASSIGN_OR_RETURN(const size_t index, FindWord(*memory, "memory", kMemories));
  fault.memory = static_cast<mailbox::EccMemory>(index);
  return absl::OkStatus();
}

absl::Status ReadErrors(const YamlMap& rule, BoardFault& fault) {
  const auto errors = rule.Find("errors");
  if (!errors) return absl::OkStatus();
  SIDEBAND_ASSIGN_OR_RETURN(const size_t index, FindWord(*errors, "kind of errors", kErrors));
  fault.uncorrected = index == 1;
  return absl::OkStatus();
}

absl::Status ReadFailed(const YamlMap& rule, BoardFault& fault) {
  SIDEBAND_ASSIGN_OR_RETURN(fault.failed, rule.BoolOr("failed", false));
  return absl::OkStatus();
}

absl::Status ReadCount(const YamlMap& rule, BoardFault& fault) {
  SIDEBAND_ASSIGN_OR_RETURN(fault.count, rule.UintOr("count", 1, 1, std::numeric_limits<uint32_t>::max()));
  return absl::OkStatus();
}

absl::Status ReadXid(const YamlMap& rule, BoardFault& fault) {
  SIDEBAND_ASSIGN_OR_RETURN(fault.xid, rule.Uint("xid", 1, std::numeric_limits<uint16_t>::max()));
  return absl::OkStatus();
}

absl::Status ReadText(const YamlMap& rule, BoardFault& fault) {
  const auto node = rule.Find("text");
  if (!node) return absl::OkStatus();
  SIDEBAND_ASSIGN_OR_RETURN(std::string text, node->String());
  const bool is_printable = std::ranges::all_of(text, [](unsigned char c) { return absl::ascii_isprint(c); });
  if (text.size() > kTextMax || !is_printable) {
    return node->Error(absl::StrCat("expected 1 to ", kTextMax, " printable characters of ASCII"));
  }
  fault.text = std::move(text);
  return absl::OkStatus();
}

absl::Status ReadLink(const YamlMap& rule, BoardFault& fault) {
  SIDEBAND_ASSIGN_OR_RETURN(fault.link, rule.Uint("link", 0, mailbox::kNvlinksMax - 1));
  return absl::OkStatus();
}

absl::Status ReadError(const YamlMap& rule, BoardFault& fault) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode error, rule.Get("error"));
  if (fault.kind == BoardFaultKind::kPcieErrors) {
    SIDEBAND_ASSIGN_OR_RETURN(const size_t index, FindWord(error, "error", kPcieErrors));
    fault.pcie_error = static_cast<PcieError>(index);
    return absl::OkStatus();
  }
  SIDEBAND_ASSIGN_OR_RETURN(const size_t index, FindWord(error, "error", kNvlinkErrors));
  fault.nvlink_error = static_cast<NvlinkError>(index);
  return absl::OkStatus();
}

absl::Status ReadCapability(const YamlMap& rule, BoardFault& fault) {
  std::vector<std::string> names;
  for (const mailbox::CapabilityRow& row : mailbox::kCapabilities) names.emplace_back(row.name);
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode capability, rule.Get("capability"));
  SIDEBAND_ASSIGN_OR_RETURN(const size_t index, FindWord(capability, "capability", names));
  fault.capability = mailbox::kCapabilities[index].capability;
  return absl::OkStatus();
}

struct KeyReader {
  absl::string_view key;
  absl::Status (*read)(const YamlMap& rule, BoardFault& fault);
};
constexpr KeyReader kReaders[] = {
    {"memory", ReadMemory}, {"errors", ReadErrors}, {"failed", ReadFailed},
    {"count", ReadCount},   {"xid", ReadXid},       {"text", ReadText},
    {"link", ReadLink},     {"error", ReadError},   {"capability", ReadCapability},
};

}  // namespace

absl::StatusOr<BoardFault> ReadBoardFault(const YamlMap& rule, BoardFaultKind kind) {
  BoardFault fault{.kind = kind};
  for (const KeyReader& reader : kReaders) {
    if (std::ranges::find(RowOf(kind).keys, reader.key) == RowOf(kind).keys.end()) continue;
    SIDEBAND_RETURN_IF_ERROR(reader.read(rule, fault));
  }
  return fault;
}

}  // namespace sideband::sim
