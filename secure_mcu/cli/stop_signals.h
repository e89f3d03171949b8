// SPDX-License-Identifier: Apache-2.0
//
// For commands that run until they are told to stop.
#ifndef SIDEBAND_SECURE_MCU_CLI_STOP_SIGNALS_H_
#define SIDEBAND_SECURE_MCU_CLI_STOP_SIGNALS_H_

#include <atomic>

namespace sideband::mcu {

// From now on SIGINT and SIGTERM set what is returned, instead of ending the process.
const std::atomic<bool>& StopOnSignals();

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CLI_STOP_SIGNALS_H_
