// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a guest view, the file with the memory blocks of one VM; see README.md. A constant directory with all
// names is followed by the live part, 64-bit words that the writer updates.
//
//   const Bytes directory = EncodeGuestDirectory({.boot_id = boot_id, .catalog = *CatalogOfVm(catalog, vm)});
//   const GuestLiveLayout live = GuestLiveLayout::Of(of_one_vm);
//   const uint64_t count = words[live.CounterWord(block, event)];
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

// The device, the VM, its contexts and its events.
struct GuestDirectory {
  uint64_t boot_id = 0;
  mailbox::Catalog catalog;  // of one VM (CatalogOfVm)
  bool operator==(const GuestDirectory&) const = default;
};

// Whether VMs have counts of the event: neither events of the device's scope nor masked events.
bool IsCountedForVms(const mailbox::EventInfo& event);
// The part of a catalogue that a VM may read: the device, the events counted for VMs, the VM and its contexts.
// NOT_FOUND if the catalogue has no such VM.
absl::StatusOr<mailbox::Catalog> CatalogOfVm(const mailbox::Catalog& catalog, uint16_t vm);

// A name as part of a file's name; different names stay different: all characters except letters, digits, '-', '_' and
// inner '.' become %XX.
std::string FileNameOf(absl::string_view name);
// The name of a VM's view within its directory.
std::string GuestViewFileName(absl::string_view vm_name);

// The first bytes of a directory, which contain its size.
inline constexpr size_t kGuestPrologueBytes = 24;
inline constexpr size_t kGuestDirectoryBytesMax = 16 << 20;
inline constexpr size_t kGuestViewBytesMax = 64 << 20;

Bytes EncodeGuestDirectory(const GuestDirectory& directory);

// Returns the size of the whole directory from its first kGuestPrologueBytes, which are untrusted. INVALID_ARGUMENT if
// the file is not a guest view, UNIMPLEMENTED if it has another version.
absl::StatusOr<size_t> GuestDirectorySize(ByteSpan prologue);
// INVALID_ARGUMENT if malformed, DATA_LOSS if the checksum is wrong. The catalogue has exactly one VM.
absl::StatusOr<GuestDirectory> DecodeGuestDirectory(ByteSpan directory);

// The places of the words in the live part. Block 0 is the VM's own; its contexts' follow in the catalogue's order.
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

// The header of a block without its ids, which follow from the block's place.
GuestBlockWords PackGuestBlock(const mailbox::BlockHeader& header);
// DATA_LOSS for an unknown state or flag.
absl::Status UnpackGuestBlock(std::span<const uint64_t> words, mailbox::BlockHeader& header);

// Converts a word to or from the byte order of the file.
inline uint64_t LittleEndianWord(uint64_t word) {
  return std::endian::native == std::endian::little ? word : __builtin_bswap64(word);
}

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_GUEST_VIEW_LAYOUT_H_
