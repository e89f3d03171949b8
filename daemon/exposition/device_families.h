// SPDX-License-Identifier: Apache-2.0
//
// The families that do not depend on events or the configuration.
//   for (const DeviceFamily& family : DeviceFamilies()) family.write(family.name, frame, out);
#ifndef SIDEBAND_DAEMON_EXPOSITION_DEVICE_FAMILIES_H_
#define SIDEBAND_DAEMON_EXPOSITION_DEVICE_FAMILIES_H_

#include <span>

#include "absl/strings/string_view.h"
#include "daemon/exposition/frame.h"
#include "daemon/exposition/text_buffer.h"
#include "proto/exposition/text.h"

namespace sideband::daemon {

struct DeviceFamily {
  const char* name;
  MetricType type;
  const char* help;
  // Appends the family's series of one device.
  void (*write)(absl::string_view name, const DeviceFrame& frame, TextBuffer& out);
};

std::span<const DeviceFamily> DeviceFamilies();

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_EXPOSITION_DEVICE_FAMILIES_H_
