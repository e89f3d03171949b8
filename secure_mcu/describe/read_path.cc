// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/describe/read_path.h"

#include <algorithm>
#include <bit>

#include "proto/registers/hpc_registers.h"

namespace sideband::mcu {
namespace {

constexpr uint64_t kWordBits = 64;
constexpr uint64_t kManagerIdBits = std::popcount(hpc::kHpccModule | hpc::kHpccExtend);
constexpr uint64_t kBitBits = std::bit_width(hpc::kCountersPerManager - 1);
constexpr uint64_t kLookupBits = 5;  // LOOKUP_BITS

// hpc_fifo.sv: words, and two pointers.
constexpr uint64_t kFifo = hpc::kFifoWords * kWordBits + 2 * std::bit_width(hpc::kFifoWords);
// hpc_client.sv: trigger, interrupted, readerror, useren, refused, stamp, waiting; manager, bitmap, high_half; busy and
// current of each tag.
constexpr uint64_t kClient = kFifo + 7 + kManagerIdBits + kWordBits + kWordBits / 2 + 2 * hpc::kTags;

// hpc_answer_link.sv of each tag: the stages, with value, bit, stamp, last and whether they are valid.
constexpr uint64_t kAnswerLinks = hpc::kTags * hpc::kHopCycles * (kWordBits + kBitBits + 3);

// hpc_request_port.sv: the stages, with manager, bitmap, stamp, tag and whether they are valid; the slots, with all but
// the tag; and for each pair of slots which is older, both ways. The bitmap has a bit of each counter that exists.
uint64_t RequestPort(uint64_t events) {
  const uint64_t slot = kManagerIdBits + std::min<uint64_t>(events, hpc::kCountersPerManager) + 2;
  return (hpc::kHopCycles - 1) * (slot + hpc::kTags) + hpc::kTags * slot + hpc::kTags * (hpc::kTags - 1);
}

}  // namespace

ReadPathRegisters CountReadPath(uint64_t slices, uint64_t events) {
  if (events == 0) return {};
  const uint64_t clients = slices + 1, modules = 2 * slices + 1;
  const uint64_t extends = (events + hpc::kCountersPerManager - 1) / hpc::kCountersPerManager;
  // hpc_manager.sv: the latched value of each counter and whether it remains to be sent; to whom, and the countdown.
  const uint64_t managers = modules * (events * (kWordBits + 1) + extends * (clients * hpc::kTags + kLookupBits));
  // rotating_priority.sv of each manager has a bit of each client.
  const uint64_t interconnect = clients * (RequestPort(events) + kAnswerLinks) + modules * extends * clients;
  return {.clients = clients * kClient, .interconnect = interconnect, .managers = managers};
}

}  // namespace sideband::mcu
