// SPDX-License-Identifier: Apache-2.0
#include "proto/rotation_file/relation_file.h"

#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/catalog.h"

namespace sideband {
namespace {

using Kind = mailbox::Relation::Kind;

absl::StatusOr<NamedEvent> ReadEvent(const YamlMap& map, const std::string& key) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode node, map.Get(key));
  SIDEBAND_ASSIGN_OR_RETURN(std::string name, node.String());
  return NamedEvent{std::move(name), node.line()};
}

absl::Status ReadMembers(const YamlMap& map, const std::string& key, NamedRelation& relation) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode list, map.Get(key));
  SIDEBAND_ASSIGN_OR_RETURN(relation.members, ReadEventNames(list));
  return relation.members.empty() ? list.Error(absl::StrCat("'", key, "' has no event")) : absl::OkStatus();
}

absl::Status ReadCycles(const YamlNode& node, NamedRelation& relation) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, node.Map({"sum", "of", "times"}));
  SIDEBAND_RETURN_IF_ERROR(ReadMembers(map, "sum", relation));
  SIDEBAND_ASSIGN_OR_RETURN(const NamedEvent of, ReadEvent(map, "of"));
  if (of.name != mailbox::kResidentCyclesEvent) {
    return map.Get("of")->Error(absl::StrCat("'of' is ", of.name, ", must be ", mailbox::kResidentCyclesEvent,
                                             "; the sum that is an event is {event: ", of.name, ", is_sum_of: […]}"));
  }
  const auto times = map.UintOr("times", 1, 1, std::numeric_limits<uint32_t>::max());
  if (!times.ok()) return map.Get("times")->Error("'times' must be a whole number from 1 to 4294967295");
  relation.times = static_cast<uint32_t>(*times);
  return absl::OkStatus();
}

absl::Status ReadSum(const YamlNode& node, NamedRelation& relation) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, node.Map({"event", "is_sum_of"}));
  relation.kind = Kind::kSum;
  SIDEBAND_ASSIGN_OR_RETURN(relation.whole, ReadEvent(map, "event"));
  return ReadMembers(map, "is_sum_of", relation);
}

absl::Status ReadAtMost(const YamlNode& node, NamedRelation& relation) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, node.Map({"event", "at_most"}));
  relation.kind = Kind::kAtMost;
  SIDEBAND_ASSIGN_OR_RETURN(relation.whole, ReadEvent(map, "event"));
  SIDEBAND_ASSIGN_OR_RETURN(NamedEvent bound, ReadEvent(map, "at_most"));
  relation.members.push_back(std::move(bound));
  return absl::OkStatus();
}

absl::StatusOr<NamedRelation> ReadRelation(const YamlNode& node) {
  NamedRelation relation;
  relation.line = node.line();
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, node.Map({"sum", "of", "times", "event", "is_sum_of", "at_most"}));
  if (map.Find("sum")) {
    SIDEBAND_RETURN_IF_ERROR(ReadCycles(node, relation));
  } else if (map.Find("is_sum_of")) {
    SIDEBAND_RETURN_IF_ERROR(ReadSum(node, relation));
  } else if (map.Find("at_most")) {
    SIDEBAND_RETURN_IF_ERROR(ReadAtMost(node, relation));
  } else {
    return node.Error("a relation has one of the keys sum, is_sum_of and at_most");
  }
  return relation;
}

}  // namespace

absl::StatusOr<std::vector<NamedRelation>> ReadRelations(const YamlNode& list) {
  std::vector<NamedRelation> relations;
  SIDEBAND_ASSIGN_OR_RETURN(const auto nodes, list.List());
  if (nodes.size() > mailbox::kRelationsMax) {
    return nodes[mailbox::kRelationsMax].Error(absl::StrCat("more than ", mailbox::kRelationsMax, " relations"));
  }
  for (const YamlNode& node : nodes) {
    SIDEBAND_ASSIGN_OR_RETURN(NamedRelation relation, ReadRelation(node));
    relations.push_back(std::move(relation));
  }
  return relations;
}

absl::StatusOr<mailbox::Relation> RelationOf(const NamedRelation& relation, const EventNumbers& numbers) {
  mailbox::Relation result{.kind = relation.kind, .members = {}, .whole = 0, .times = relation.times};
  SIDEBAND_ASSIGN_OR_RETURN(result.members, numbers.Of(relation.members));
  if (relation.kind == Kind::kCycles) return result;
  SIDEBAND_ASSIGN_OR_RETURN(result.whole, numbers.Of(relation.whole));
  return result;
}

}  // namespace sideband
