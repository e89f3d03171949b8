// SPDX-License-Identifier: Apache-2.0
//
// The name of a device on a bus, in configuration files and on command lines:
//  unix:/run/sideband/gpu0.sock@0x4f     the virtual bus on a Unix socket
//  i2c:/dev/i2c-3@0x4f                   Linux' i2c-dev
// The address is hexadecimal or decimal, from 0x08 to 0x77 (other addresses are reserved); the default is 0x4f.
//
// Beside it the map of /dev/i2c-N to virtual buses, in an environment variable that `sideband i2cdev` sets for the
// preload library of sim/bus, as in SIDEBAND_I2CDEV="3=unix:/run/sideband/gpu0.sock,4=unix:gpu1.sock".
//   SIDEBAND_ASSIGN_OR_RETURN(const I2cDevBuses buses, ParseI2cDevBuses(text));
//   const auto bus = buses.find(3);   // {3, "/run/sideband/gpu0.sock"}
#ifndef SIDEBAND_PROTO_SMBUS_BUS_NAME_H_
#define SIDEBAND_PROTO_SMBUS_BUS_NAME_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace sideband::smbus {

struct BusName {
  enum class Kind { kUnix, kI2c };
  Kind kind;
  std::string path;
  uint8_t address;
  bool operator==(const BusName&) const = default;
};

inline constexpr uint8_t kMailboxAddress = 0x4F;

// Parses "0x4f" or "79". INVALID_ARGUMENT unless the address is from 0x08 to 0x77.
absl::StatusOr<uint8_t> ParseAddress(absl::string_view text);

// INVALID_ARGUMENT with a description of the error in `name`.
absl::StatusOr<BusName> ParseBusName(absl::string_view name);

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

#endif  // SIDEBAND_PROTO_SMBUS_BUS_NAME_H_
