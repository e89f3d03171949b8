// SPDX-License-Identifier: Apache-2.0
//
// Errors of a board's memories, its links with their errors, and the links' bandwidth. The arguments of the commands
// are those of proto/mailbox/memory_links.h.
//   MemoryErrors errors(board.spec, board.state);
//   const uint32_t corrected = errors.GetEcc(EccGeneration::kV6, /*corrected*/ 0, /*DRAM*/ 1).data;
//
//   LinkInfo links(board.spec, board.state, traffic);
//   const uint32_t up = links.GetNvlink(/*item: state*/ 1, /*page*/ 0).data;  // a bit for each link
//   const uint32_t recoveries = links.GetPcie(/*page*/ 1, 0).data;
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_MEMORY_LINKS_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_MEMORY_LINKS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "proto/mailbox/board_items.h"
#include "proto/mailbox/memory_links.h"
#include "secure_mcu/firmware/board_state.h"
#include "secure_mcu/firmware/command_handler.h"

namespace sideband::mcu {

// GET_ECC in its five generations (opcodes 0x07, 0x0C, 0x14, 0x16, 0x1E), REMAP_ROW_STATS (0x20) and
// GET_PAGE_RETIREMENT_STATS (0x13). A command that the board lacks is ERR_NOT_SUPPORTED with any arguments. Not
// thread-safe.
class MemoryErrors {
 public:
  // Both must outlive it.
  MemoryErrors(const BoardSpec& spec, const BoardState& state) : spec_(spec), state_(state) {}

  // A board has one generation, BoardSpec::ecc.
  //   V2 to V4: the frame buffer's errors are those of DRAM, the graphics engine's those of SRAM. Source 0 and arg2 0
  //     have them; other sources, partitions, slices, GPCs and TPCs have none. Their fields fill arg2, so each arg2 is
  //     valid. ERR_NOT_SUPPORTED for addresses.
  //   V5: index 0 is DRAM, 1 is SRAM; types 2 to 4 are 0. ERR_NOT_SUPPORTED for the buffer's 16 entries.
  //   V6: errors, or flags.
  Reply GetEcc(EccGeneration generation, uint8_t arg1, uint8_t arg2) const;

  // Both counts in one dword, each at most mailbox::kRemapCountMax and with a flag if there were more; one count as it
  // is; flags; or the histogram, whose banks without spare rows are in the reply's word.
  Reply GetRowRemap(uint8_t arg1, uint8_t arg2) const;

  // `arg1` must be 0.
  Reply GetRetiredPages(uint8_t arg1) const;

 private:
  Reply OfUnit(uint8_t arg1, uint8_t arg2) const;    // V2 to V4
  Reply OfIndex(uint8_t arg1, uint8_t arg2) const;   // V5
  Reply OfMemory(uint8_t arg1, uint8_t arg2) const;  // V6
  Reply RemapCounts(uint8_t arg2) const;

  const BoardSpec& spec_;
  const BoardState& state_;
};

// The growth of a byte count between two reads, as GET_NVLINK_INFO returns it: in 20 bits, and in a unit that fits. Not
// thread-safe.
class UnreadBytes {
 public:
  // `bytes` is the count so far. The delta is in the finest unit in which it fits 20 bits. What is less than a unit, or
  // beyond 2^20 - 1 TiB, belongs to the next read with a new sample, so no byte is lost. A count below the last one has
  // restarted, and so have its deltas.
  mailbox::NvlinkDelta Read(uint64_t bytes);

 private:
  std::optional<uint64_t> last_;  // the count at the last read
  uint64_t reported_ = 0;         // how much of it the deltas have covered
};

// The bandwidths of GPU_PERFORMANCE_MONITORING in bytes per second, of a board whose links are known: the share of
// cycles with a transfer, of what the links carry. (docs/design/smbpbi-facts.md, 3.4) Immutable. Without links by
// default.
class LinkBandwidth {
 public:
  LinkBandwidth() = default;
  explicit LinkBandwidth(const BoardSpec& spec);

  // Bytes per second that the metric's links carry in one direction; nullopt for other metrics, and without the links.
  std::optional<double> MostOf(mailbox::MetricId metric) const;
  // 5D in the finest unit in which it fits, and the unit's number in bits 2:0 of the word, beside the echo of a command
  // with these arguments.
  static Reply ReplyOf(double bytes_per_second, uint8_t arg1, uint8_t arg2);

 private:
  std::optional<double> pcie_, nvlink_, each_nvlink_;
};

// Bytes so far in the direction and of the kind of `item` (kDataTx to kRawRx), on one link, or on all of them
// (mailbox::kAllLinks). nullopt if they are not counted.
using LinkTraffic = std::function<std::optional<uint64_t>(mailbox::NvlinkItem item, uint8_t link)>;

// GET_NVLINK_INFO (opcode 0x1A) and GET_PCIE_LINK_INFO (0x21), each ERR_NOT_SUPPORTED on a board without such links.
// Not thread-safe.
class LinkInfo {
 public:
  // Both must outlive it. Without `traffic` no bytes are counted.
  LinkInfo(const BoardSpec& spec, const BoardState& state, LinkTraffic traffic = {});

  // `item` is a mailbox::NvlinkItem; it determines whether `arg2` is 0, a page, a link, or a link or kAllLinks. A link
  // below mailbox::kNvlinksMax that the board lacks is ERR_NOT_SUPPORTED, and so is a page of such links; one above is
  // ERR_ARG2. On a page beside existing links, one that the board lacks is off, and its width is invalid.
  //   kDataTx to kRawRx: an NvlinkDelta in the reply's word, since the last read of this item and link here, and an
  //     invalid one at the first read; ERR_NOT_SUPPORTED if the bytes are not counted
  //   kTrainingErrors, kRuntimeErrors: also the numbers of links with each, in 11:0 and 23:12 of the reply's word
  Reply GetNvlink(uint8_t item, uint8_t arg2);

  // `page` is a mailbox::PciePage, `arg2` is 0. The link is always up, at its full speed and width. ERR_NOT_SUPPORTED
  // for traffic (its unit is not public) and equalisation.
  Reply GetPcie(uint8_t page, uint8_t arg2) const;

 private:
  static constexpr size_t kThroughputItems = 4;

  Reply Throughput(mailbox::NvlinkItem item, uint8_t link);
  Reply OfPcie(mailbox::PciePage page) const;

  const BoardSpec& spec_;
  const BoardState& state_;
  const LinkTraffic traffic_;
  // By item and link, the last one being kAllLinks.
  std::array<std::array<UnreadBytes, mailbox::kNvlinksMax + 1>, kThroughputItems> unread_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_MEMORY_LINKS_H_
