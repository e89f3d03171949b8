// SPDX-License-Identifier: Apache-2.0
//
// Maps /dev/i2c-N to virtual buses, in an environment variable that `sideband i2cdev` sets for the preload library of
// sim/i2cdev, as in SIDEBAND_I2CDEV="3=unix:/run/sideband/gpu0.sock,4=unix:gpu1.sock".
//   SIDEBAND_ASSIGN_OR_RETURN(const I2cDevBuses buses, ParseI2cDevBuses(text));
//   const auto bus = buses.find(3);   // {3, "/run/sideband/gpu0.sock"}
#ifndef SIDEBAND_PROTO_SMBUS_I2CDEV_BUSES_H_
#define SIDEBAND_PROTO_SMBUS_I2CDEV_BUSES_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace sideband::smbus {

inline constexpr char kI2cDevVariable[] = "SIDEBAND_I2CDEV";
// "all", the default, or "smbus": an adapter that supports SMBus transactions only.
inline constexpr char kI2cDevFuncsVariable[] = "SIDEBAND_I2CDEV_FUNCS";

// The maximum bus number in Linux.
inline constexpr uint32_t kI2cBusNumberMax = 999;

// The number of /dev/i2c-N -> the socket's path.
using I2cDevBuses = std::map<uint32_t, std::string>;

// INVALID_ARGUMENT with a description of the error. A path must not contain ',' (the separator) or '@' (an address: the
// entry is for the whole bus).
absl::StatusOr<I2cDevBuses> ParseI2cDevBuses(absl::string_view text);
// The inverse of ParseI2cDevBuses.
std::string FormatI2cDevBuses(const I2cDevBuses& buses);

}  // namespace sideband::smbus

#endif  // SIDEBAND_PROTO_SMBUS_I2CDEV_BUSES_H_
