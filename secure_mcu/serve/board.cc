// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/serve/board.h"

namespace sideband::mcu {

Board::Board(const Options& options, CommandHandler& handler)
    : options_(options), mailbox_(options.address, handler, {.vendor_id = VendorId(options.persona)}) {}

void Board::Connect(VirtualBus& bus) {
  if (options_.persona == Persona::kNvidia) bus.Connect(kEepromAddress, eeprom_);
  bus.Connect(options_.address, mailbox_);  // wherever it was told to be
}

void Board::Disconnect(VirtualBus& bus) {
  if (options_.persona == Persona::kNvidia) bus.Disconnect(kEepromAddress);
  bus.Disconnect(options_.address);
}

}  // namespace sideband::mcu
