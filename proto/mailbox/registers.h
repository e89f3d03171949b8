// SPDX-License-Identifier: Apache-2.0
//
// The mailbox's sets of registers, and the signature that announces the second set. (mailbox.md, "Version 2".)
//   RegisterSet registers = kSharedRegisters;
//   if (VersionOfSignature(block)) registers = kOwnRegisters;
//   Write(registers.command, word);
#ifndef SIDEBAND_PROTO_MAILBOX_REGISTERS_H_
#define SIDEBAND_PROTO_MAILBOX_REGISTERS_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "proto/base/bytes.h"
#include "proto/mailbox/word.h"

namespace sideband::mailbox {

// The command codes of a mailbox's command/status, data and extended data registers.
struct RegisterSet {
  uint8_t command;
  uint8_t data;
  uint8_t extended_data;

  constexpr bool Has(uint8_t code) const { return code == command || code == data || code == extended_data; }
  bool operator==(const RegisterSet&) const = default;
};

// SMBPBI's registers, which all clients of a board share without a lock.
inline constexpr RegisterSet kSharedRegisters = {kCommandRegister, kDataRegister, kExtendedDataRegister};
// The registers of the extension's version 2, always with PEC. They share no state with the others.
inline constexpr RegisterSet kOwnRegisters = {0xC8, 0xC9, 0xCA};

// A read-only block: "SBND", the extension's version, three zeros. It exists from version 2 on; reading it changes
// nothing, so a controller reads it before it writes to a device for the first time.
inline constexpr uint8_t kSignatureRegister = 0xCF;
inline constexpr size_t kSignatureBytes = 8;

constexpr std::array<uint8_t, kSignatureBytes> Signature(uint8_t version) {
  return {'S', 'B', 'N', 'D', version, 0, 0, 0};
}

// The version in a signature; nullopt if the bytes are not a signature.
constexpr std::optional<uint8_t> VersionOfSignature(ByteSpan block) {
  if (block.size() != kSignatureBytes) return std::nullopt;
  const auto expected = Signature(block[4]);
  return std::equal(block.begin(), block.end(), expected.begin()) ? std::optional(block[4]) : std::nullopt;
}

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_REGISTERS_H_
