// SPDX-License-Identifier: Apache-2.0
//
// Readings of events as tables and as JSON, one after another.
//   ReadingText text(chosen);
//   out.Write(text.Table(reading, style));
//   out.Write(text.JsonLine(reading));
#ifndef SIDEBAND_CLIENT_HPC_READING_TEXT_H_
#define SIDEBAND_CLIENT_HPC_READING_TEXT_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "client/cli/table.h"
#include "client/guest/counters.h"
#include "proto/registers/event_list.h"

namespace sideband::client {

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

#endif  // SIDEBAND_CLIENT_HPC_READING_TEXT_H_
