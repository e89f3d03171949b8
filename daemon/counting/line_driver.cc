// SPDX-License-Identifier: Apache-2.0
#include "daemon/counting/line_driver.h"

#include <spdlog/spdlog.h>

#include <utility>

#include "absl/status/status.h"
#include "daemon/mailbox/clock_reader.h"
#include "proto/mailbox/extension.h"

namespace sideband::daemon {

void LineDriver::Follow(const std::string& device, const TriggerLineSettings& line) {
  if (!line.drives) return error_.clear();
  const absl::Status sent = RunTrigger(session_, mailbox::TriggerStep::kOnce, 0).status();
  const std::string before = std::exchange(error_, std::string(sent.message()));
  if (error_ == before) return;
  if (sent.ok()) {
    spdlog::info("device {}: sends pulses on trigger line {} again", device, line.name);
  } else {
    spdlog::warn("device {}: no pulse on trigger line {}: {}", device, line.name, error_);
  }
}

}  // namespace sideband::daemon
