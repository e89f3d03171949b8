// SPDX-License-Identifier: Apache-2.0
//
// BUNDLE_LAUNCH (opcode 0x1C): executes several requests that a controller has laid out in scratch memory, and packs
// parts of their results into one reply. The layout is that of mailbox/services.h.
//   Bundles bundles(scratch, [&](const mailbox::CommandWord& word, uint32_t data) { return base.Execute(word, data);
//   }); const Reply reply = bundles.Launch(/*2 requests, 1 rule*/ 0x12, /*dword=*/0);
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_BUNDLES_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_BUNDLES_H_

#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include "proto/mailbox/word.h"
#include "secure_mcu/firmware/command_handler.h"
#include "secure_mcu/firmware/scratch_memory.h"

namespace sideband::mcu {

// A bundle is judged as a whole before the first of its requests is executed. Not thread-safe.
class Bundles {
 public:
  using Executor = std::function<Reply(const mailbox::CommandWord& command, uint32_t data)>;

  // `scratch` must outlive it.
  Bundles(ScratchMemory& scratch, Executor execute) : scratch_(scratch), execute_(std::move(execute)) {}

  // `counts`: requests 3:0, 1 to 4, and rules 7:4, at most 10; `dword` is where they begin in the destination page.
  // Writes to each request its status word, as register 5C would have it without EVENT_PENDING, its data and its
  // extended data. The rules are then applied in order, to failed requests, too: what none of them writes is 0, or in
  // the status word the echo. PARTIAL_FAILURE if a request failed; those after a failed one with kBundleStops are not
  // executed: their status is NULL.
  // Nothing is executed or written for ERR_ARG1, a wrong count; ERR_ARG2, a bundle that exceeds the page; and
  // ERR_DISPOSITION, a rule of a request or a field that does not exist, of bits beyond a register (of the reply's
  // status word 23:0), or with undefined bits.
  // A request that is a bundle, writes scratch memory or selects its pages fails with ERR_REQUEST: a bundle does not
  // recur, and its own dwords stay in place.
  Reply Launch(uint8_t counts, uint8_t dword);

 private:
  // False if one of them failed.
  bool ExecuteAll(std::span<uint32_t> entries) const;
  Reply ExecuteOne(const mailbox::CommandWord& command, uint32_t data) const;

  ScratchMemory& scratch_;
  const Executor execute_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_BUNDLES_H_
