// SPDX-License-Identifier: Apache-2.0
//
// `sideband hpc`: the registers by which a guest's programs read counters.
#ifndef SIDEBAND_CLIENT_CLI_HPC_COMMAND_H_
#define SIDEBAND_CLIENT_CLI_HPC_COMMAND_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cli/table.h"
#include "client/lib/register_counters.h"
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

// Readings of events as tables and as JSON, one after another.
//
// Not thread-safe.
class ReadingText {
 public:
  explicit ReadingText(std::vector<hpc::ListedEvent> events) : events_(std::move(events)) {}

  // A row per event: its count; from the second table on, what has been added since the one before; the reference cycle
  // if the reading is stamped. Tables after the first begin with an empty line.
  std::string Table(const EventReading& reading, const TableStyle& style);
  // {"events": [{"event", "id", "count", "change" from the second on, "cycle" if stamped}]} and a line break; 64-bit
  // numbers are decimal strings.
  std::string JsonLine(const EventReading& reading);

 private:
  const std::vector<hpc::ListedEvent> events_;
  std::vector<uint64_t> before_;  // counts of the reading before; none before the first
};

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_HPC_COMMAND_H_
