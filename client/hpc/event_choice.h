// SPDX-License-Identifier: Apache-2.0
//
// The events of a command line, by name or by number.
//   SIDEBAND_ASSIGN_OR_RETURN(const auto listed, hpc::ParseEventList(text, "events.csv"));
//   SIDEBAND_ASSIGN_OR_RETURN(const auto chosen, ChooseEvents({"l2_miss_cycles", "70"}, listed));
//   std::vector<uint16_t> ids = IdsOf(chosen);
#ifndef SIDEBAND_CLIENT_HPC_EVENT_CHOICE_H_
#define SIDEBAND_CLIENT_HPC_EVENT_CHOICE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/registers/event_list.h"

namespace sideband::client {

// The events that `words` name, in their order. A number needs no list; it is shown by its name if it has one.
// NOT_FOUND for a name that is not listed, with the nearest one; OUT_OF_RANGE for a number that registers cannot
// address.
absl::StatusOr<std::vector<hpc::ListedEvent>> ChooseEvents(const std::vector<std::string>& words,
                                                           const std::vector<hpc::ListedEvent>& listed);
std::vector<uint16_t> IdsOf(const std::vector<hpc::ListedEvent>& events);

// Whether any of the words is a name.
bool HasName(const std::vector<std::string>& words);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_HPC_EVENT_CHOICE_H_
