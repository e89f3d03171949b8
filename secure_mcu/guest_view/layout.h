// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a guest view, a file that shows one VM its memory blocks; see README.md. A fixed directory, which names
// everything, is followed by the live part, 64-bit words that the writer keeps up to date.
//
//   const Bytes directory = EncodeGuestDirectory({.boot_id = boot_id, .catalog = *CatalogOfVm(catalog, vm)});
//   const GuestLiveLayout live = GuestLiveLayout::Of(of_one_vm);
//   words[live.CounterWord(block, event)]
#ifndef SIDEBAND_SECURE_MCU_GUEST_VIEW_LAYOUT_H_
#define SIDEBAND_SECURE_MCU_GUEST_VIEW_LAYOUT_H_

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/base/bytes.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::mcu {

// Who reads the file, and what is counted.
struct GuestDirectory {
  uint64_t boot_id = 0;
  mailbox::Catalog catalog;  // of one VM: see CatalogOfVm
  bool operator==(const GuestDirectory&) const = default;
};

// Whether a VM has counts of the event: those of the device's scope are nobody's.
bool IsOfContexts(const mailbox::EventInfo& event);
// What a VM may know of a catalogue: the device, the events of contexts, the VM and its contexts. NOT_FOUND without
// such a VM.
absl::StatusOr<mailbox::Catalog> CatalogOfVm(const mailbox::Catalog& catalog, uint16_t vm);

// The name of a VM's view within its directory. Two names never share a file: what is not a letter, a digit, '-', '_'
// or an inner '.' becomes %XX.
std::string GuestViewFileName(absl::string_view vm_name);

// How many bytes tell the directory's size.
inline constexpr size_t kGuestPrologueBytes = 24;
inline constexpr size_t kGuestDirectoryBytesMax = 16 << 20;
inline constexpr size_t kGuestViewBytesMax = 64 << 20;

Bytes EncodeGuestDirectory(const GuestDirectory& directory);

// From a file that may hold anything. The size of the whole directory, from its first kGuestPrologueBytes:
// INVALID_ARGUMENT where this is no guest view, UNIMPLEMENTED where it is one of another version.
absl::StatusOr<size_t> GuestDirectorySize(ByteSpan prologue);
// INVALID_ARGUMENT, or DATA_LOSS where the checksum is wrong. The catalogue is of exactly one VM.
absl::StatusOr<GuestDirectory> DecodeGuestDirectory(ByteSpan directory);

// Where the words of the live part are. Block 0 is the VM's own, then its contexts' in the catalogue's order.
struct GuestLiveLayout {
  static constexpr size_t kHeadWord = 0;
  static constexpr size_t kSupersededWord = 1;
  static constexpr size_t kTriggerWord = 2;
  static constexpr size_t kTimeWord = 3;
  static constexpr size_t kBlocksWord = 4;
  static constexpr size_t kBlockHeaderWords = 3;

  size_t blocks = 0;
  size_t events = 0;

  static GuestLiveLayout Of(const mailbox::Catalog& catalog_of_vm) {
    return {.blocks = 1 + catalog_of_vm.contexts.size(), .events = catalog_of_vm.events.size()};
  }
  size_t BlockWord(size_t block) const { return kBlocksWord + block * (kBlockHeaderWords + events); }
  size_t CounterWord(size_t block, size_t event) const { return BlockWord(block) + kBlockHeaderWords + event; }
  size_t TailWord() const { return BlockWord(blocks); }
  size_t words() const { return TailWord() + 1; }
  size_t bytes() const { return words() * sizeof(uint64_t); }
};

using GuestBlockWords = std::array<uint64_t, GuestLiveLayout::kBlockHeaderWords>;

// A block's header but for its ids, which follow from its place.
GuestBlockWords PackGuestBlock(const mailbox::BlockHeader& header);
// DATA_LOSS where a state or flag is unknown.
absl::Status UnpackGuestBlock(std::span<const uint64_t> words, mailbox::BlockHeader& header);

// A word as it is in the file, or back.
inline uint64_t LittleEndianWord(uint64_t word) {
  return std::endian::native == std::endian::little ? word : __builtin_bswap64(word);
}

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_GUEST_VIEW_LAYOUT_H_
