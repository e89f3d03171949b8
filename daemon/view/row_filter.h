// SPDX-License-Identifier: Apache-2.0
//
// Narrows the data that a caller may see to the data that it requests. The filter evaluates visible data only, so that
// a denied and an absent object take the same path and have the same status.
//   const RowFilter filter(request.filter());
//   SIDEBAND_RETURN_IF_ERROR(filter.Check(devices));
#ifndef SIDEBAND_DAEMON_VIEW_ROW_FILTER_H_
#define SIDEBAND_DAEMON_VIEW_ROW_FILTER_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/view/reader.h"
#include "proto/base/uuid.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {

// The status for every object that does not exist for the caller, always with the same message.
absl::Status NotFound();

// The visible device of this name, which has a view. INVALID_ARGUMENT without a name; NotFound() also while the device
// has no snapshot.
absl::StatusOr<VisibleDevice> FindDevice(Reader& reader, const Caller& caller, const std::string& name);

// The event that a caller names, by its full or its short name (proto/base/event_name.h), among those that it may read:
// `readable` is indexed like the catalogue. nullopt where there is none.
std::optional<size_t> FindReadable(const mailbox::Catalog& catalog, const EventSet& readable, const std::string& name);

// Immutable after construction.
class RowFilter {
 public:
  RowFilter() = default;  // selects everything
  explicit RowFilter(const sideband::v1::Filter& filter, bool with_contexts = true);

  bool SelectsDevice(const VisibleDevice& device) const { return device_.empty() || device_ == device.info->name; }
  // By the VM's name or UUID and the context's name. A row that the topology does not name, such as that of a slice's
  // host, is never selected by name.
  bool SelectsRow(const Topology& topology, uint16_t vm, uint16_t context) const;
  // Differs where two filters may select different rows or counters of a device that both select. Empty where all of
  // them are selected.
  const std::string& rows_key() const { return rows_key_; }
  // The row's counters that are selected and may be read; all false where the row may not be read.
  EventSet SelectedEvents(const View& view, uint16_t vm, uint16_t context) const;

  // NotFound() where the filter names an object that is in no selected row that the caller may see.
  absl::Status Check(const std::vector<VisibleDevice>& devices) const;

 private:
  bool NamesRows() const { return !vm_.empty() || !context_.empty() || !events_.empty(); }
  bool SelectsVm(const Topology& topology, uint16_t vm) const;
  // Removes from `missing` the names of events of the view's selected rows. Returns whether there is a selected row.
  bool FindRows(const View& view, std::set<std::string>& missing) const;

  std::string device_;
  std::string vm_;
  std::optional<Uuid> vm_uuid_;  // where vm_ is a UUID
  std::string context_;
  std::set<std::string> events_;
  bool with_contexts_ = true;
  std::string rows_key_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_VIEW_ROW_FILTER_H_
