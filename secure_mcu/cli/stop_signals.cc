// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/cli/stop_signals.h"

#include <csignal>

namespace sideband::mcu {
namespace {

std::atomic<bool> stop_requested = false;
static_assert(std::atomic<bool>::is_always_lock_free, "set by a signal handler");

}  // namespace

const std::atomic<bool>& StopOnSignals() {
  struct sigaction action {};
  action.sa_handler = [](int) { stop_requested = true; };
  // Without SA_RESTART: a signal ends the sleep or the poll that it interrupts.
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  return stop_requested;
}

}  // namespace sideband::mcu
