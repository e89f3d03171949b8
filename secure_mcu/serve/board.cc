// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/serve/board.h"

namespace sideband::mcu {

Board::Board(const Options& options, CommandHandler& handler, CommandHandler* own_handler)
    : options_(options),
      mailbox_(options.address, handler,
               {.vendor_id = VendorId(options.persona), .registers = {}, .own_handler = own_handler}) {}

void Board::Connect(VirtualBus& bus) {
  if (options_.persona == Persona::kNvidia) bus.Connect(kEepromAddress, eeprom_);
  bus.Connect(options_.address, mailbox_);  // last, so that the mailbox wins at a shared address
}

void Board::Disconnect(VirtualBus& bus) {
  if (options_.persona == Persona::kNvidia) bus.Disconnect(kEepromAddress);
  bus.Disconnect(options_.address);
}

}  // namespace sideband::mcu
