// SPDX-License-Identifier: Apache-2.0
//
// The targets of an emulated board: the mailbox, and the additional targets of the board's persona.
//   Board board({.address = 0x4F, .persona = Persona::kSideband}, firmware, /*own_handler=*/nullptr);
//   board.Connect(bus);
//   bus.Execute(transfer);
#ifndef SIDEBAND_SECURE_MCU_SERVE_BOARD_H_
#define SIDEBAND_SECURE_MCU_SERVE_BOARD_H_

#include <cstdint>

#include "secure_mcu/bus/command_handler.h"
#include "secure_mcu/bus/mailbox_target.h"
#include "secure_mcu/bus/presence_target.h"
#include "secure_mcu/bus/virtual_bus.h"
#include "secure_mcu/firmware/persona.h"

namespace sideband::mcu {

// Not thread-safe.
class Board {
 public:
  // The address of the identity EEPROM of NVIDIA's boards, which their clients probe.
  static constexpr uint8_t kEepromAddress = 0x50;

  struct Options {
    uint8_t address = 0x4F;
    Persona persona = Persona::kSideband;
  };

  // Both must outlive the board. `own_handler` executes the commands of the extension's own registers; null: the board
  // has none (MailboxTarget).
  Board(const Options& options, CommandHandler& handler, CommandHandler* own_handler);
  Board(const Board&) = delete;  // the bus holds references to the targets
  Board& operator=(const Board&) = delete;

  // The board must outlive the connection.
  void Connect(VirtualBus& bus);
  void Disconnect(VirtualBus& bus);

 private:
  const Options options_;
  MailboxTarget mailbox_;
  PresenceTarget eeprom_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_SERVE_BOARD_H_
