// SPDX-License-Identifier: Apache-2.0
//
// The families of a device's clock domains, for whoever sees the device's own row.
//   WriteClockFrequency("sideband_clock_domain_frequency_hertz", frame, out);
#ifndef SIDEBAND_DAEMON_EXPOSITION_CLOCK_FAMILIES_H_
#define SIDEBAND_DAEMON_EXPOSITION_CLOCK_FAMILIES_H_

#include "absl/strings/string_view.h"
#include "daemon/exposition/frame.h"
#include "daemon/exposition/text_buffer.h"

namespace sideband::daemon {

// Each appends the samples of one device; none for clocks of which nothing is known, or that are withheld.
void WriteClockFrequency(absl::string_view name, const DeviceFrame& frame, TextBuffer& out);
void WriteClockErrorBound(absl::string_view name, const DeviceFrame& frame, TextBuffer& out);
void WriteClockSegments(absl::string_view name, const DeviceFrame& frame, TextBuffer& out);
void WriteClockRefutedSegments(absl::string_view name, const DeviceFrame& frame, TextBuffer& out);
void WriteClockUnusedReadings(absl::string_view name, const DeviceFrame& frame, TextBuffer& out);
void WriteHostClockErrorBound(absl::string_view name, const DeviceFrame& frame, TextBuffer& out);
void WriteReferenceWithinLimits(absl::string_view name, const DeviceFrame& frame, TextBuffer& out);
void WriteLineErrorBound(absl::string_view name, const DeviceFrame& frame, TextBuffer& out);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_EXPOSITION_CLOCK_FAMILIES_H_
