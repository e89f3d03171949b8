// SPDX-License-Identifier: Apache-2.0
//
// For commands that run until a stop is requested.
#ifndef SIDEBAND_SECURE_MCU_CLI_STOP_SIGNALS_H_
#define SIDEBAND_SECURE_MCU_CLI_STOP_SIGNALS_H_

#include <atomic>

namespace sideband::mcu {

// From the first call on, SIGINT and SIGTERM set the returned flag instead of ending the process.
const std::atomic<bool>& StopOnSignals();

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CLI_STOP_SIGNALS_H_
