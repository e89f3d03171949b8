// SPDX-License-Identifier: Apache-2.0
//
// The meaning of an event in a sentence, for the catalogue and for everything that shows it.
//   EventDescription("dram_read_cycles")   // "Cycles in which the DRAM interface transferred read data."
#ifndef SIDEBAND_SECURE_MCU_CHIP_FILE_EVENT_DESCRIPTIONS_H_
#define SIDEBAND_SECURE_MCU_CHIP_FILE_EVENT_DESCRIPTIONS_H_

#include <string>

namespace sideband::mcu {

// A sentence of at most 255 characters. For an event that is not in the table it is made from the name.
std::string EventDescription(const std::string& event);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_FILE_EVENT_DESCRIPTIONS_H_
