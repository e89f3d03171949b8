// SPDX-License-Identifier: Apache-2.0
//
// Narrows what a caller sees to what it asks for. It looks only at what the caller may see, so that what is denied and
// what does not exist take the same path and give the same answer.
//   const RowFilter filter(request.filter());
//   SIDEBAND_RETURN_IF_ERROR(filter.Check(devices));
#ifndef SIDEBAND_DAEMON_API_ROW_FILTER_H_
#define SIDEBAND_DAEMON_API_ROW_FILTER_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "daemon/api/reader.h"
#include "proto/base/uuid.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {

// The answer to whatever is not there for the caller, always in the same words.
absl::Status NotFound();

// Immutable after construction.
class RowFilter {
 public:
  RowFilter() = default;  // selects everything
  explicit RowFilter(const sideband::v1::Filter& filter);

  bool SelectsDevice(const VisibleDevice& device) const { return device_.empty() || device_ == device.info->name; }
  // By the VM's name or UUID and the context's name. Rows that the topology does not know are never selected by name.
  bool SelectsRow(const Topology& topology, uint16_t vm, uint16_t context) const;
  // Which of the row's counters are selected and may be read; all false where the row may not.
  EventSet SelectedEvents(const View& view, uint16_t vm, uint16_t context) const;

  // NotFound() where something is named that is in no selected row which the caller sees.
  absl::Status Check(const std::vector<VisibleDevice>& devices) const;

 private:
  bool NamesRows() const { return !vm_.empty() || !context_.empty() || !events_.empty(); }
  bool SelectsVm(const Topology& topology, uint16_t vm) const;
  // Takes from `missing` the named events that the view's selected rows have; whether there is any such row.
  bool FindRows(const View& view, std::set<std::string>& missing) const;

  std::string device_;
  std::string vm_;
  std::optional<Uuid> vm_uuid_;  // where vm_ is one
  std::string context_;
  std::set<std::string> events_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_API_ROW_FILTER_H_
