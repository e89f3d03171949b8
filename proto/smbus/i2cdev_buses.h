// SPDX-License-Identifier: Apache-2.0
//
// Which virtual bus stands for which /dev/i2c-N: what `sideband i2cdev` tells the preload library of sim/i2cdev in an
// environment variable.
//   SIDEBAND_I2CDEV="3=unix:/run/sideband/gpu0.sock,4=unix:gpu1.sock"
//   SIDEBAND_ASSIGN_OR_RETURN(const I2cDevBuses buses, ParseI2cDevBuses(std::getenv(kI2cDevVariable)));
//   const auto bus = buses.find(3);                                     // "/run/sideband/gpu0.sock"
#ifndef SIDEBAND_PROTO_SMBUS_I2CDEV_BUSES_H_
#define SIDEBAND_PROTO_SMBUS_I2CDEV_BUSES_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace sideband::smbus {

inline constexpr char kI2cDevVariable[] = "SIDEBAND_I2CDEV";
// "all", which is the default, or "smbus": an adapter that knows the transactions of SMBus alone.
inline constexpr char kI2cDevFuncsVariable[] = "SIDEBAND_I2CDEV_FUNCS";

// Linux has no bus with a greater number.
inline constexpr uint32_t kI2cBusNumberMax = 999;

// The number of /dev/i2c-N -> the socket's path.
using I2cDevBuses = std::map<uint32_t, std::string>;

// INVALID_ARGUMENT says what is wrong. A path has neither ',' nor '@': a whole bus is meant, without an address.
absl::StatusOr<I2cDevBuses> ParseI2cDevBuses(absl::string_view text);
// ParseI2cDevBuses reads back what it returns.
std::string FormatI2cDevBuses(const I2cDevBuses& buses);

}  // namespace sideband::smbus

#endif  // SIDEBAND_PROTO_SMBUS_I2CDEV_BUSES_H_
