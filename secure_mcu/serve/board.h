// SPDX-License-Identifier: Apache-2.0
//
// The targets of an emulated board: the mailbox, and what the board's persona has besides.
//   Board board({.address = 0x4F, .persona = Persona::kSideband}, firmware);
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
  // Where NVIDIA's boards have the memory that says what they are; a client that looks for one probes it.
  static constexpr uint8_t kEepromAddress = 0x50;

  struct Options {
    uint8_t address = 0x4F;
    Persona persona = Persona::kSideband;
  };

  // `handler` must outlive it.
  Board(const Options& options, CommandHandler& handler);
  Board(const Board&) = delete;  // a bus refers to the targets
  Board& operator=(const Board&) = delete;

  // While it is connected it must live.
  void Connect(VirtualBus& bus);
  void Disconnect(VirtualBus& bus);

 private:
  const Options options_;
  MailboxTarget mailbox_;
  PresenceTarget eeprom_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_SERVE_BOARD_H_
