// SPDX-License-Identifier: Apache-2.0
//
// The numbers of events for programs of guests: a text file of lines `id,event`, after a line with these two words.
// Counter b of extend x of a manager is event 64 * x + b (registers.md, "Registers"). Further columns are ignored, as
// are blanks around a field and a byte order mark.
//
//  id,event
//  0,sm_active_cycles
//  38,resident_cycles
//
//   const std::string text = hpc::FormatEventList({{0, "sm_active_cycles"}, {38, "resident_cycles"}});
//   SIDEBAND_ASSIGN_OR_RETURN(const auto events, hpc::ParseEventList(text, "events.csv"));
#ifndef SIDEBAND_PROTO_REGISTERS_EVENT_LIST_H_
#define SIDEBAND_PROTO_REGISTERS_EVENT_LIST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/registers/hpc_registers.h"

namespace sideband::hpc {

// Events that the registers can address.
inline constexpr uint32_t kEventsMax = ((kHpccExtend >> kHpccExtendLsb) + 1) * kCountersPerManager;

struct ListedEvent {
  uint16_t id = 0;  // below kEventsMax
  std::string name;
  bool operator==(const ListedEvent&) const = default;
};

std::string FormatEventList(const std::vector<ListedEvent>& events);
// INVALID_ARGUMENT "FILE:LINE: …" for a missing title, a line without an id below kEventsMax and a name, and a repeated
// id or name. `file` is for messages.
absl::StatusOr<std::vector<ListedEvent>> ParseEventList(absl::string_view text, const std::string& file);

}  // namespace sideband::hpc

#endif  // SIDEBAND_PROTO_REGISTERS_EVENT_LIST_H_
