// SPDX-License-Identifier: Apache-2.0
//
// A guest view, as `sideband-mcu peek-shm` reads it. A valid view survives encoding, and its JSON output is valid JSON.
//   Input: a first byte; if odd, the directory's checksum is corrected first. Then the file.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "secure_mcu/guest_view/layout.h"
#include "secure_mcu/guest_view/reader.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/given_files.h"

namespace sideband::fuzz {
namespace {

constexpr size_t kCrcBytes = 4;

Uuid SomeUuid(uint8_t last) {
  Uuid uuid;
  uuid.bytes[15] = last;
  return uuid;
}

mailbox::Catalog SomeCatalog() {
  mailbox::Catalog catalog{.device = SomeUuid(1), .reference_clock_hz = 1'000'000'000};
  catalog.events = {{"cycles", "cycles"}, {"stalls", "cycles"}};
  catalog.vms = {{1, SomeUuid(2), "vm1", false, 0, 1}};
  catalog.contexts = {{1, 0, "train", 0, 1}};
  return catalog;
}

// A view with the words of a live part that is not being written.
Bytes SomeView(uint8_t mode, const mailbox::Catalog& catalog) {
  Bytes view = mcu::EncodeGuestDirectory({.boot_id = 7, .catalog = catalog});
  const auto live = mcu::GuestLiveLayout::Of(catalog);
  ByteWriter words;
  for (size_t word = 0; word < live.words(); ++word) {
    const bool is_sequence = word == mcu::GuestLiveLayout::kHeadWord || word == live.TailWord();
    words.U64(is_sequence ? 2 : word == mcu::GuestLiveLayout::kTriggerWord ? 5 : 0);
  }
  const Bytes rest = std::move(words).Take();
  view.insert(view.end(), rest.begin(), rest.end());
  view.insert(view.begin(), mode);
  return view;
}

void MakeChecksumRight(Bytes& view) {
  const auto size = mcu::GuestDirectorySize(ByteSpan(view).first(std::min(view.size(), mcu::kGuestPrologueBytes)));
  if (!size.ok() || *size > view.size()) return;
  ByteWriter crc;
  crc.U32(Crc32c(ByteSpan(view).first(*size - kCrcBytes)));
  std::copy(crc.written().begin(), crc.written().end(), view.begin() + static_cast<long>(*size - kCrcBytes));
}

void CheckView(ByteSpan bytes) {
  const MemoryFile file(bytes);
  const auto reader = mcu::GuestViewReader::Open(file.path());
  if (!reader.ok()) return;
  const mcu::GuestDirectory& directory = (*reader)->directory();
  const auto again = mcu::DecodeGuestDirectory(mcu::EncodeGuestDirectory(directory));
  FUZZ_CHECK(again.ok() && *again == directory);
  const auto sample = (*reader)->Read();
  if (!sample.ok()) return;
  FUZZ_CHECK(sample->blocks.size() == 1 + directory.catalog.contexts.size());
  FUZZ_CHECK(nlohmann::json::accept(mcu::FormatPeekJson(directory, *sample)));
  FUZZ_CHECK(!mcu::FormatPeekTable(directory, *sample).empty());
}

std::vector<Bytes> Seeds() {
  mailbox::Catalog alone = SomeCatalog();
  alone.contexts.clear();
  return {SomeView(0, SomeCatalog()), SomeView(1, SomeCatalog()), SomeView(1, alone)};
}

int RunInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  sideband::Bytes view(data + 1, data + size);
  if ((data[0] & 1) != 0) MakeChecksumRight(view);
  CheckView(view);
  return 0;
}

FUZZ_TARGET(guest_view_fuzz);

}  // namespace
}  // namespace sideband::fuzz
