// SPDX-License-Identifier: Apache-2.0
//
// Pieces of Prometheus' text format 0.0.4 (https://prometheus.io/docs/instrumenting/exposition_formats/).
//   AppendLabel(labels, "vm", vm.name);   →   vm="render farm \"7\""
#ifndef SIDEBAND_DAEMON_EXPOSITION_TEXT_H_
#define SIDEBAND_DAEMON_EXPOSITION_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace sideband::daemon {

// NAME="VALUE" with the value escaped, after a comma unless `out` is at the start of a label list ("" or "{").
void AppendLabel(std::string& out, absl::string_view name, absl::string_view value);

// The # HELP and # TYPE lines. What is not printable ASCII in `help` becomes '?': it may come from a device.
std::string FamilyHeader(absl::string_view name, absl::string_view type, absl::string_view help);

// Numbers and the line's end.
void AppendValue(std::string& out, uint64_t value);
void AppendValue(std::string& out, double value);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_EXPOSITION_TEXT_H_
