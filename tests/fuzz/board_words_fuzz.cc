// SPDX-License-Identifier: Apache-2.0
//
// Words of a hostile board's replies: links, ECC, remapped rows, and a bundle's rules. The fields of a decoded word are
// in their ranges, and its encoding is the word without the bits that mean nothing.
#include "proto/mailbox/board_items.h"
#include "proto/mailbox/memory_links.h"
#include "proto/mailbox/services.h"
#include "tests/fuzz/fuzz_target.h"

namespace sideband::fuzz {
namespace {

using mailbox::BundleRule;
using mailbox::EccSelector;
using mailbox::NvlinkDelta;
using mailbox::PcieLink;
using mailbox::RemapCountFields;

constexpr uint32_t kDeltaBits = 0x00FF'FFFF, kPcieBits = 0xFFFF'FF77, kRemapBits = 0x00FF'FFFF, kRuleBits = 0x003F'FFFF;

Bytes OfWord(uint32_t word) {
  ByteWriter out;
  out.U32(word);
  return std::move(out).Take();
}

void CheckLinks(uint32_t word) {
  const auto delta = NvlinkDelta::Decode(word);
  FUZZ_CHECK(delta.granularity <= 3 && delta.delta <= 0xFFFFF);
  FUZZ_CHECK(delta.Encode() == (word & kDeltaBits));
  const auto link = PcieLink::Decode(word);
  FUZZ_CHECK(link.speed <= 7 && link.width <= 7);
  FUZZ_CHECK(link.Encode() == (word & kPcieBits));
}

void CheckErrors(uint32_t word) {
  const auto counts = RemapCountFields::Decode(word);
  FUZZ_CHECK(counts.uncorrected <= mailbox::kRemapCountMax && counts.corrected <= mailbox::kRemapCountMax);
  FUZZ_CHECK(counts.Encode() == (word & kRemapBits));
  const auto arg1 = static_cast<uint8_t>(word);
  if (EccSelector::IsValid(arg1)) FUZZ_CHECK(EccSelector::Decode(arg1).Encode() == arg1);
}

void CheckItems(uint32_t word) {
  const BundleRule rule = BundleRule::Decode(word);
  FUZZ_CHECK(rule.request <= 7 && rule.from <= 31 && rule.width <= 31 && rule.to <= 31);
  FUZZ_CHECK(rule.Encode() == (word & kRuleBits));
  const mailbox::SysIdRow* const row = mailbox::FindSysId(static_cast<mailbox::SysId>(word & 0xFF));
  if (row != nullptr) FUZZ_CHECK(row->item == static_cast<mailbox::SysId>(word & 0xFF) && row->bytes > 0);
}

std::vector<Bytes> Seeds() {
  const NvlinkDelta delta{.granularity = 2, .is_new = true, .delta = 0x12345};
  const PcieLink link{.speed = 4, .width = 5, .non_fatal = 1, .fatal = 2, .unsupported = 3};
  const RemapCountFields counts{.uncorrected = 7, .corrected = 9, .corrected_excess = true};
  const BundleRule rule{.request = 3, .from = 8, .width = 16, .to = 16};
  const EccSelector selector{.is_graphics = true, .source = 2, .is_double = true};
  return {OfWord(delta.Encode()), OfWord(link.Encode()), OfWord(counts.Encode()), OfWord(rule.Encode()),
          OfWord(selector.Encode())};
}

int RunInput(const uint8_t* data, size_t size) {
  ByteReader in(ByteSpan(data, size));
  while (in.remaining() >= 4) {
    const uint32_t word = in.U32();
    fuzz::CheckLinks(word);
    fuzz::CheckErrors(word);
    fuzz::CheckItems(word);
  }
  return 0;
}

FUZZ_TARGET(board_words_fuzz);

}  // namespace
}  // namespace sideband::fuzz
