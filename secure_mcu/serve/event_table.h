// SPDX-License-Identifier: Apache-2.0
//
// The events of an emulated device, each with one counter in every memory block.
#ifndef SIDEBAND_SECURE_MCU_SERVE_EVENT_TABLE_H_
#define SIDEBAND_SECURE_MCU_SERVE_EVENT_TABLE_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/mailbox/catalog.h"

namespace sideband::mcu {

// Not thread-safe.
class EventTable {
 public:
  // The counter of an event, which is added where it is new. INVALID_ARGUMENT where the table is full, where the name
  // is no metric name, or where it is counted already for the other scope or in the other way.
  absl::StatusOr<uint16_t> Add(const std::string& name, mailbox::EventScope scope, bool prescaled);
  std::optional<uint16_t> Find(const std::string& name) const;

  const std::vector<mailbox::EventInfo>& events() const { return events_; }
  std::vector<std::string> names() const;

 private:
  absl::StatusOr<uint16_t> Same(uint16_t counter, const mailbox::EventInfo& event) const;

  std::vector<mailbox::EventInfo> events_;
  std::map<std::string, uint16_t> index_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_SERVE_EVENT_TABLE_H_
