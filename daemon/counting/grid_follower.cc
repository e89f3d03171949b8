// SPDX-License-Identifier: Apache-2.0
#include "daemon/counting/grid_follower.h"

#include <spdlog/spdlog.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/mailbox/clock_reader.h"
#include "proto/mailbox/extension.h"

namespace sideband::daemon {
namespace {

std::string RateText(uint32_t hz) { return hz == 0 ? "none" : absl::StrCat(hz, " a second"); }

}  // namespace

absl::Status GridFollower::Set(uint32_t trigger_hz, uint64_t reference_hz) {
  if (trigger_hz == 0) return RunTrigger(session_, mailbox::TriggerStep::kStop, 0).status();
  const uint64_t period = reference_hz / trigger_hz;
  if (period == 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("the device's clock of ", reference_hz, " Hz is slower than the triggers, or unknown"));
  }
  return RunTrigger(session_, mailbox::TriggerStep::kStart, period).status();
}

void GridFollower::Follow(const std::string& device, std::optional<uint32_t> trigger_hz, const Topology& topology,
                          uint64_t boot_id) {
  if (boot_id_ != boot_id || !trigger_hz) hz_.reset();
  boot_id_ = boot_id;
  if (!trigger_hz || hz_ == trigger_hz) return;
  const absl::Status set = Set(*trigger_hz, topology.catalog().reference_clock_hz);
  if (set.ok() || IsFinal(set)) hz_ = trigger_hz;
  const std::string before = std::exchange(error_, std::string(set.message()));
  if (set.ok()) {
    spdlog::info("device {}: grid of triggers: {}", device, RateText(*trigger_hz));
  } else if (error_ != before) {
    spdlog::warn("device {}: grid of triggers: {} not in force: {}", device, RateText(*trigger_hz), error_);
  }
}

}  // namespace sideband::daemon
