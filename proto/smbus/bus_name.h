// SPDX-License-Identifier: Apache-2.0
//
// The name of a device on a bus, in configuration files and on command lines:
//   unix:/run/sideband/gpu0.sock@0x4f     the virtual bus on a Unix socket
//   i2c:/dev/i2c-3@0x4f                   Linux' i2c-dev
// The address is hexadecimal or decimal, from 0x08 to 0x77 (other addresses are reserved); the default is 0x4f.
#ifndef SIDEBAND_PROTO_SMBUS_BUS_NAME_H_
#define SIDEBAND_PROTO_SMBUS_BUS_NAME_H_

#include <cstdint>
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

}  // namespace sideband::smbus

#endif  // SIDEBAND_PROTO_SMBUS_BUS_NAME_H_
