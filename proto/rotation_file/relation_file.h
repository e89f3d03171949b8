// SPDX-License-Identifier: Apache-2.0
//
// Relations between events, by their names (README.md).
//   SIDEBAND_ASSIGN_OR_RETURN(const std::vector<NamedRelation> relations, ReadRelations(list));
//   SIDEBAND_ASSIGN_OR_RETURN(const mailbox::Relation relation, RelationOf(relations[0], numbers));
#ifndef SIDEBAND_PROTO_ROTATION_FILE_RELATION_FILE_H_
#define SIDEBAND_PROTO_ROTATION_FILE_RELATION_FILE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/base/yaml.h"
#include "proto/mailbox/rotation.h"
#include "proto/rotation_file/event_names.h"

namespace sideband {

struct NamedRelation {
  mailbox::Relation::Kind kind = mailbox::Relation::Kind::kCycles;
  std::vector<NamedEvent> members;
  NamedEvent whole;  // not of kCycles
  uint32_t times = 1;
  size_t line = 0;
  bool operator==(const NamedRelation&) const = default;
};

// Each of {sum: […], of: resident_cycles, times: n}, {event: x, is_sum_of: […]} and {event: a, at_most: b}.
absl::StatusOr<std::vector<NamedRelation>> ReadRelations(const YamlNode& list);

// Errors are "FILE:LINE: no event …". Whether the events fit together is the device's to check.
absl::StatusOr<mailbox::Relation> RelationOf(const NamedRelation& relation, const EventNumbers& numbers);

}  // namespace sideband

#endif  // SIDEBAND_PROTO_ROTATION_FILE_RELATION_FILE_H_
