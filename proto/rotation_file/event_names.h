// SPDX-License-Identifier: Apache-2.0
//
// Events as a file names them, and as numbers among the events that a device has.
//   SIDEBAND_ASSIGN_OR_RETURN(const std::vector<NamedEvent> fixed, ReadEventNames(list));
//   const EventNumbers numbers(names, path);
//   SIDEBAND_ASSIGN_OR_RETURN(const mailbox::EventSet set, numbers.SetOf(fixed));   // or "r.yaml:3: no event 'a'"
#ifndef SIDEBAND_PROTO_ROTATION_FILE_EVENT_NAMES_H_
#define SIDEBAND_PROTO_ROTATION_FILE_EVENT_NAMES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/base/yaml.h"
#include "proto/mailbox/event_set.h"

namespace sideband {

struct NamedEvent {
  std::string name;
  size_t line = 0;
  bool operator==(const NamedEvent&) const = default;
};

// A list of names, each once.
absl::StatusOr<std::vector<NamedEvent>> ReadEventNames(const YamlNode& list);

// Immutable, and so thread-safe.
class EventNumbers {
 public:
  // Event i has the name names[i]. `path` is the file of the names that are looked up.
  EventNumbers(std::vector<std::string> names, std::string path);

  const std::string& path() const { return path_; }
  const std::vector<std::string>& names() const { return names_; }
  // Errors are "FILE:LINE: no event …".
  absl::StatusOr<uint16_t> Of(const NamedEvent& event) const;
  // Ascending.
  absl::StatusOr<std::vector<uint16_t>> Of(const std::vector<NamedEvent>& events) const;
  // Without words if there are no events.
  absl::StatusOr<mailbox::EventSet> SetOf(const std::vector<NamedEvent>& events) const;

 private:
  std::vector<std::string> names_;
  std::string path_;
  std::map<std::string, uint16_t> numbers_;
};

}  // namespace sideband

#endif  // SIDEBAND_PROTO_ROTATION_FILE_EVENT_NAMES_H_
