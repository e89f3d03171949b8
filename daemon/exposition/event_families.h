// SPDX-License-Identifier: Apache-2.0
//
// The series of events: their counters, their utilisations, and the configured ratios, at one level of one device.
//   WriteCounters("sideband_vm_dram_bytes_total", frame, Level::kVm, event, out);
#ifndef SIDEBAND_DAEMON_EXPOSITION_EVENT_FAMILIES_H_
#define SIDEBAND_DAEMON_EXPOSITION_EVENT_FAMILIES_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"
#include "daemon/exposition/frame.h"
#include "daemon/exposition/text_buffer.h"
#include "daemon/snapshot/ratio.h"
#include "proto/mailbox/catalog.h"

namespace sideband::daemon {

std::string CounterHelp(const mailbox::EventInfo& event, Level level);
std::string UtilisationHelp(const mailbox::EventInfo& event, Level level);
std::string RatioHelp(const RatioSpec& ratio, Level level);

// `name` ends in _total. `event` is an index of the catalogue.
void WriteCounters(absl::string_view name, const DeviceFrame& frame, Level level, size_t event, TextBuffer& out);
void WriteUtilisations(absl::string_view name, const DeviceFrame& frame, Level level, size_t event, TextBuffer& out);
void WriteRatios(absl::string_view name, const DeviceFrame& frame, Level level, const Ratio& ratio, TextBuffer& out);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_EXPOSITION_EVENT_FAMILIES_H_
