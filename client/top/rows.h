// SPDX-License-Identifier: Apache-2.0
//
// The model as the lines of a tree: devices, their hosts and VMs, the VMs' contexts, and the events of each.
//   const std::vector<Row> rows = BuildRows(model, {.sort = Sort::kUtilisation}, now);
#ifndef SIDEBAND_CLIENT_TOP_ROWS_H_
#define SIDEBAND_CLIENT_TOP_ROWS_H_

#include <compare>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "client/top/model.h"

namespace sideband::client::top {

// kHost: one of several daemons; kBoard: the sensors of a device's board; kEvents: the group of a device's or VM's
// events
enum class RowKind { kHost, kDevice, kBoard, kVm, kContext, kEvents, kEvent };
enum class Sort { kName, kUtilisation, kRate };
// For colours; the text says the same.
enum class Tone { kPlain, kGood, kWarning, kBad };

// Identifies a row while others come and go.
struct RowKey {
  std::string host, device, vm, context, event;  // `host` is empty if there is one daemon
  RowKind kind = RowKind::kDevice;
  auto operator<=>(const RowKey&) const = default;
};

struct Row {
  RowKey key;
  int depth = 0;
  std::string name;
  bool has_children = false;
  bool is_open = false;
  std::string state;
  Tone tone = Tone::kPlain;
  std::optional<double> reads;   // of a device: DeviceEntry::ReadsAt
  bool has_no_reads = false;     // of a device that does not show them
  std::optional<double> share;   // of the chosen event; of an event row: its own
  std::optional<double> rate;    // the same
  bool is_estimate = false;      // both
  std::vector<double> minute;    // empty, or Minute::kSeconds values
  bool is_share_minute = false;  // whether they are utilisations
  std::string detail;            // a line about the row
};

struct RowOptions {
  Sort sort = Sort::kName;
  bool is_reversed = false;
  std::string event;         // the chosen event; empty: the first one with a utilisation
  std::string filter;        // a part of a name, or a pattern (client/cli/options.h); empty: everything
  std::set<RowKey> toggled;  // rows that are not open or closed as by default
};

// The model of one of several daemons.
struct HostModel {
  std::string host;  // empty if it is the only one
  Model model;
};

// All events that have occurred on any host.
std::vector<std::string> EventsOf(const std::vector<HostModel>& hosts);

// The event that the rows of devices, VMs and contexts show; empty if there is none yet.
std::string ChosenEvent(const Model& model, const RowOptions& options);
std::string ChosenEvent(const std::vector<HostModel>& hosts, const RowOptions& options);

// Siblings are sorted; by utilisation and rate, the highest first and unknown ones last. By default, devices and VMs
// are open, contexts and groups of events are closed. With a filter there are the rows whose names match, those above
// them, which are open, and those below. Values of a device that is not fresh are unknown.
std::vector<Row> BuildRows(const Model& model, const RowOptions& options, absl::Time now);
// The same below a row for each host, if there are several; it is open, too.
std::vector<Row> BuildRows(const std::vector<HostModel>& hosts, const RowOptions& options, absl::Time now);

}  // namespace sideband::client::top

#endif  // SIDEBAND_CLIENT_TOP_ROWS_H_
