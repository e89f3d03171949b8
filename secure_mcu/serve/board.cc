// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/serve/board.h"

namespace sideband::mcu {

Board::Board(const Options& options, CommandHandler& handler)
    : mailbox_(options.address, handler, {.vendor_id = VendorId(options.persona)}) {
  if (options.persona == Persona::kNvidia) bus_.Connect(kEepromAddress, eeprom_);
  bus_.Connect(options.address, mailbox_);  // wherever it was told to be
}

}  // namespace sideband::mcu
