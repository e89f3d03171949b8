// SPDX-License-Identifier: Apache-2.0
#include "sim/bus_faults/fault_plan.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"
#include "proto/base/yaml.h"

namespace sideband::sim {
namespace {

// In the order of the enumeration, each with the keys of its details.
struct KindInfo {
  const char* name;
  std::initializer_list<absl::string_view> details;
};
const KindInfo kKinds[] = {
    {"address_nack", {}}, {"data_nack", {"byte"}},     {"arbitration_lost", {"byte"}},
    {"bus_busy", {}},     {"stuck_clock", {"byte"}},   {"bit_flip", {"byte", "bit", "bits"}},
    {"bad_pec", {}},      {"short_block", {"length"}}, {"long_block", {"length"}},
    {"busy_forever", {}}, {"status", {"status"}},      {"die", {"byte"}},
    {"reset", {}},        {"supersede", {}},           {"change_catalog", {}},
    {"delay", {"time"}},
};
static_assert(std::size(kKinds) == kFaultKinds);
constexpr absl::string_view kDetails[] = {"byte", "bit", "bits", "length", "status", "time"};
constexpr uint32_t kByteMax = 65535;

// The index below `size` whose name(index) is the node's text.
template <typename Name>
absl::StatusOr<uint8_t> FindName(const YamlNode& node, absl::string_view what, uint8_t size, Name name) {
  SIDEBAND_ASSIGN_OR_RETURN(const std::string text, node.String());
  std::vector<std::string> names;
  for (uint8_t i = 0; i < size; ++i) names.emplace_back(name(i));
  const auto found = std::find(names.begin(), names.end(), text);
  if (found != names.end()) return static_cast<uint8_t>(found - names.begin());
  return node.Error(absl::StrCat("unknown ", what, " '", text, "'", DidYouMean(text, names)));
}

absl::StatusOr<mailbox::MailboxStatus> ReadStatus(const YamlNode& node) {
  constexpr uint8_t kStatuses = 32;  // five bits
  if (const auto number = node.Uint(0, kStatuses - 1); number.ok()) {
    return static_cast<mailbox::MailboxStatus>(*number);
  }
  SIDEBAND_ASSIGN_OR_RETURN(const uint8_t status, FindName(node, "status", kStatuses, [](uint8_t number) {
                              return std::string(mailbox::StatusName(static_cast<mailbox::MailboxStatus>(number)));
                            }));
  return static_cast<mailbox::MailboxStatus>(status);
}

absl::StatusOr<FaultRule::Only> ReadOnly(const YamlNode& node) {
  constexpr const char* kNames[] = {"all", "reads", "writes"};
  SIDEBAND_ASSIGN_OR_RETURN(const uint8_t only, FindName(node, "kind of transaction", std::size(kNames),
                                                         [&](uint8_t i) { return std::string(kNames[i]); }));
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

absl::Status ReadDetails(const YamlMap& map, FaultRule& rule) {
  const KindInfo& kind = kKinds[static_cast<size_t>(rule.kind)];
  for (const absl::string_view key : kDetails) {
    const auto node = map.Find(std::string(key));
    const bool fits = std::find(kind.details.begin(), kind.details.end(), key) != kind.details.end();
    if (node && !fits) return node->Error(absl::StrCat("'", key, "' does not go with ", kind.name));
  }
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
  return absl::OkStatus();
}

absl::StatusOr<FaultRule> ReadRule(const YamlNode& node) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map,
                            node.Map({"fault", "at", "from", "to", "every", "probability", "times", "only", "command",
                                      "byte", "bit", "bits", "length", "status", "time"}));
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode fault, map.Get("fault"));
  SIDEBAND_ASSIGN_OR_RETURN(
      const uint8_t kind, FindName(fault, "fault", kFaultKinds, [](uint8_t i) { return std::string(kKinds[i].name); }));
  FaultRule rule{.kind = static_cast<FaultKind>(kind)};
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
