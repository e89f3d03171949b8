// SPDX-License-Identifier: Apache-2.0
#include "daemon/board/command_cost.h"

#include "proto/mailbox/word.h"
#include "proto/smbus/bit_times.h"
#include "proto/smbus/transfer.h"

namespace sideband::daemon {
namespace {

constexpr uint8_t kAnyAddress = 0x4F;
constexpr size_t kCountAndBlock = 1 + mailbox::kRegisterBytes;

uint64_t WriteBits(bool has_pec) {
  smbus::Transfer transfer;
  transfer.messages.push_back(smbus::Message::Write(kAnyAddress, Bytes(1 + kCountAndBlock + has_pec)));
  return smbus::BitTimes(transfer, {});
}

uint64_t ReadBits(bool has_pec) {
  smbus::Transfer transfer;
  const Bytes block(kCountAndBlock + has_pec);
  transfer.messages.push_back(smbus::Message::Write(kAnyAddress, {mailbox::kDataRegister}));
  transfer.messages.push_back(smbus::Message::Read(kAnyAddress, static_cast<uint16_t>(block.size())));
  return smbus::BitTimes(transfer, {.read = {block}});
}

}  // namespace

uint64_t CommandBits(bool has_data_in, const Outputs& outputs, const PortTraits& port) {
  const bool is_checked = port.is_shared && (outputs.data || outputs.extended_data);
  const uint64_t writes = 1 + has_data_in, reads = 1 + outputs.data + outputs.extended_data + is_checked;
  return writes * WriteBits(port.has_pec) + reads * ReadBits(port.has_pec);
}

}  // namespace sideband::daemon
