// SPDX-License-Identifier: Apache-2.0
#include "sim/bus/fault_plan.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"
#include "proto/base/yaml.h"
#include "proto/mailbox/memory_links.h"
#include "proto/mailbox/services.h"

namespace sideband::sim {
namespace {

// Each in the order of its enumeration.
const std::string kMemories[] = {"sram", "dram"};
const std::string kErrors[] = {"corrected", "uncorrected"};
const std::string kNvlinkErrors[] = {"replay", "recovery", "flit_crc", "data_crc"};
const std::string kPcieErrors[] = {"correctable", "non_fatal", "fatal", "unsupported", "replay"};

constexpr size_t kTextMax = mailbox::DriverEvent::kTextBytesMax - 1;  // without the terminating zero

// The index of the node's text in `words`. The error for another text, "unknown WHAT 'TEXT'", lists the words if they
// are few, and otherwise suggests the nearest.
absl::StatusOr<size_t> FindWord(const YamlNode& node, absl::string_view what, std::span<const std::string> words) {
  constexpr size_t kListedMax = 5;
  SIDEBAND_ASSIGN_OR_RETURN(const std::string text, node.String());
  const auto found = std::ranges::find(words, text);
  if (found != words.end()) return static_cast<size_t>(found - words.begin());
  const std::string hint = words.size() <= kListedMax ? MustBeOneOf(words) : DidYouMean(text, words);
  return node.Error(absl::StrCat("unknown ", what, " '", text, "'", hint));
}

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

namespace {

// In the order of the enumeration, each with the keys of its details.
struct KindInfo {
  const char* name;
  std::initializer_list<absl::string_view> details;
};
const KindInfo kKinds[] = {
    {"address_nack", {}},
    {"data_nack", {"byte"}},
    {"arbitration_lost", {"byte"}},
    {"bus_busy", {}},
    {"stuck_clock", {"byte"}},
    {"bit_flip", {"byte", "bit", "bits"}},
    {"bad_pec", {}},
    {"short_block", {"length"}},
    {"long_block", {"length"}},
    {"busy_forever", {}},
    {"status", {"status"}},
    {"die", {"byte"}},
    {"reset", {}},
    {"supersede", {}},
    {"change_catalog", {}},
    {"delay", {"time"}},
    {"board", {}},
};
static_assert(std::size(kKinds) == kFaultKinds);

constexpr std::initializer_list<absl::string_view> kRuleKeys = {
    // The fault and its transactions.
    "fault", "at", "from", "to", "every", "probability", "times", "only", "command",
    // Details of some faults.
    "byte", "bit", "bits", "length", "status", "time", "memory", "errors", "failed", "count", "xid", "text", "link",
    "error", "capability"};
constexpr size_t kTransactionKeys = 9;
constexpr uint32_t kByteMax = 65535;

// The words of `fault`: those of the kinds before kBoard, then those of the board's faults.
constexpr size_t kBoardWords = static_cast<size_t>(FaultKind::kBoard);
std::vector<std::string> FaultWords() {
  std::vector<std::string> words;
  for (size_t i = 0; i < kBoardWords; ++i) words.emplace_back(kKinds[i].name);
  for (const BoardFaultRow& row : kBoardFaults) words.emplace_back(row.name);
  return words;
}

// The file's word for the rule's fault, and the keys of its details.
absl::string_view WordOf(const FaultRule& rule) {
  return rule.kind == FaultKind::kBoard ? BoardFaultName(rule.board.kind) : FaultName(rule.kind);
}
std::initializer_list<absl::string_view> DetailsOf(const FaultRule& rule) {
  return rule.kind == FaultKind::kBoard ? RowOf(rule.board.kind).keys : kKinds[static_cast<size_t>(rule.kind)].details;
}

absl::StatusOr<mailbox::MailboxStatus> ReadStatus(const YamlNode& node) {
  constexpr uint8_t kStatuses = 32;  // five bits
  if (const auto number = node.Uint(0, kStatuses - 1); number.ok()) {
    return static_cast<mailbox::MailboxStatus>(*number);
  }
  std::vector<std::string> names;
  for (uint8_t i = 0; i < kStatuses; ++i) names.emplace_back(StatusName(static_cast<mailbox::MailboxStatus>(i)));
  SIDEBAND_ASSIGN_OR_RETURN(const size_t status, FindWord(node, "status", names));
  return static_cast<mailbox::MailboxStatus>(status);
}

absl::StatusOr<FaultRule::Only> ReadOnly(const YamlNode& node) {
  const std::string names[] = {"all", "reads", "writes"};
  SIDEBAND_ASSIGN_OR_RETURN(const size_t only, FindWord(node, "kind of transaction", names));
  return static_cast<FaultRule::Only>(only);
}

absl::Status ReadPlace(const YamlMap& map, FaultRule& rule) {
  if (const auto at = map.Find("at")) {
    for (const char* other : {"from", "to", "every", "probability", "times"}) {
      if (map.Find(other)) return at->Error(absl::StrCat("'at' cannot be combined with '", other, "'"));
    }
    SIDEBAND_ASSIGN_OR_RETURN(rule.from, at->Uint(1, FaultRule::kNoEnd));
    rule.to = rule.from;
    return absl::OkStatus();
  }
  SIDEBAND_ASSIGN_OR_RETURN(rule.from, map.UintOr("from", 1, 1, FaultRule::kNoEnd));
  SIDEBAND_ASSIGN_OR_RETURN(rule.to, map.UintOr("to", FaultRule::kNoEnd, rule.from, FaultRule::kNoEnd));
  SIDEBAND_ASSIGN_OR_RETURN(rule.every, map.UintOr("every", 1, 1, FaultRule::kNoEnd));
  SIDEBAND_ASSIGN_OR_RETURN(rule.times, map.UintOr("times", FaultRule::kNoEnd, 1, FaultRule::kNoEnd));
  if (const auto probability = map.Find("probability")) {
    SIDEBAND_ASSIGN_OR_RETURN(rule.probability, probability->Number(0, 1));
  }
  return absl::OkStatus();
}

absl::Status ReadFilter(const YamlMap& map, FaultRule& rule) {
  if (const auto only = map.Find("only")) {
    SIDEBAND_ASSIGN_OR_RETURN(rule.only, ReadOnly(*only));
  }
  if (const auto command = map.Find("command")) {
    SIDEBAND_ASSIGN_OR_RETURN(rule.command, command->Uint(0, 255));
  }
  return absl::OkStatus();
}

absl::Status CheckDetails(const YamlMap& map, const FaultRule& rule) {
  const auto details = DetailsOf(rule);
  for (const absl::string_view key : std::span(kRuleKeys).subspan(kTransactionKeys)) {
    const auto node = map.Find(std::string(key));
    if (!node || std::ranges::find(details, key) != details.end()) continue;
    return node->Error(absl::StrCat("'", key, "' does not go with ", WordOf(rule)));
  }
  return absl::OkStatus();
}

absl::Status ReadDetails(const YamlMap& map, FaultRule& rule) {
  if (const auto byte = map.Find("byte")) {
    SIDEBAND_ASSIGN_OR_RETURN(rule.byte, byte->Uint(0, kByteMax));
  }
  if (const auto bit = map.Find("bit")) {
    SIDEBAND_ASSIGN_OR_RETURN(rule.bit, bit->Uint(0, 7));
  }
  SIDEBAND_ASSIGN_OR_RETURN(rule.bits, map.UintOr("bits", 1, 1, FaultPlan::kBitsMax));
  // Several flips need distinct bytes, so their places are drawn.
  if (rule.bits > 1 && (rule.byte || rule.bit)) {
    return map.node().Error("several 'bits' cannot be combined with 'byte' or 'bit'");
  }
  if (const auto length = map.Find("length")) {
    SIDEBAND_ASSIGN_OR_RETURN(rule.length, length->Uint(0, 255));
  }
  if (rule.kind == FaultKind::kStatus) {
    SIDEBAND_ASSIGN_OR_RETURN(const YamlNode status, map.Get("status"));
    SIDEBAND_ASSIGN_OR_RETURN(rule.status, ReadStatus(status));
  }
  if (rule.kind == FaultKind::kDelay) {
    SIDEBAND_ASSIGN_OR_RETURN(const YamlNode time, map.Get("time"));
    SIDEBAND_ASSIGN_OR_RETURN(rule.time, time.Duration(absl::Microseconds(1), absl::Hours(1)));
  }
  if (rule.kind == FaultKind::kBoard) {
    SIDEBAND_ASSIGN_OR_RETURN(rule.board, ReadBoardFault(map, rule.board.kind));
  }
  return absl::OkStatus();
}

// The fault without its details.
absl::StatusOr<FaultRule> ReadFault(const YamlNode& node) {
  SIDEBAND_ASSIGN_OR_RETURN(const size_t word, FindWord(node, "fault", FaultWords()));
  if (word < kBoardWords) return FaultRule{.kind = static_cast<FaultKind>(word)};
  return FaultRule{.kind = FaultKind::kBoard, .board = {.kind = kBoardFaults[word - kBoardWords].kind}};
}

absl::StatusOr<FaultRule> ReadRule(const YamlNode& node) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, node.Map(kRuleKeys));
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode fault, map.Get("fault"));
  SIDEBAND_ASSIGN_OR_RETURN(FaultRule rule, ReadFault(fault));
  SIDEBAND_RETURN_IF_ERROR(CheckDetails(map, rule));
  SIDEBAND_RETURN_IF_ERROR(ReadPlace(map, rule));
  SIDEBAND_RETURN_IF_ERROR(ReadFilter(map, rule));
  SIDEBAND_RETURN_IF_ERROR(ReadDetails(map, rule));
  return rule;
}

absl::StatusOr<FaultPlan> ReadPlan(const YamlNode& root) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, root.Map({"seed", "rules"}));
  FaultPlan plan;
  SIDEBAND_ASSIGN_OR_RETURN(plan.seed, map.UintOr("seed", 1, 0, FaultRule::kNoEnd));
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode list, map.Get("rules"));
  SIDEBAND_ASSIGN_OR_RETURN(const std::vector<YamlNode> rules, list.List());
  if (rules.size() > FaultPlan::kRulesMax) return list.Error(absl::StrCat("at most ", FaultPlan::kRulesMax, " rules"));
  for (const YamlNode& rule : rules) {
    SIDEBAND_ASSIGN_OR_RETURN(plan.rules.emplace_back(), ReadRule(rule));
  }
  return plan;
}

}  // namespace

absl::string_view FaultName(FaultKind kind) { return kKinds[static_cast<size_t>(kind)].name; }

bool IsWireFault(FaultKind kind) { return kind < FaultKind::kReset; }

absl::StatusOr<FaultPlan> FaultPlan::Load(const std::string& path) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode root, YamlNode::Load(path));
  return ReadPlan(root);
}

absl::StatusOr<FaultPlan> FaultPlan::Parse(const std::string& text, const std::string& path) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode root, YamlNode::Parse(text, path));
  return ReadPlan(root);
}

}  // namespace sideband::sim
