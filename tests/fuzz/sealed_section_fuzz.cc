// SPDX-License-Identifier: Apache-2.0
//
// The sealed records in a snapshot of a device that seals. The section has one form: what was decoded has the same
// bytes again.
#include <algorithm>

#include "proto/mailbox/catalog.h"
#include "proto/mailbox/sections.h"
#include "tests/fuzz/fuzz_target.h"

namespace sideband::fuzz {
namespace {

std::vector<Bytes> Seeds() {
  return {mailbox::EncodeSealed({}), mailbox::EncodeSealed({{1, Bytes(40, 1)}}),
          mailbox::EncodeSealed({{1, Bytes(40, 1)}, {1, Bytes(40, 2)}, {9, Bytes(1, 3)}})};
}

int RunInput(const uint8_t* data, size_t size) {
  const auto sealed = mailbox::DecodeSealed({data, size});
  if (!sealed.ok()) return 0;
  FUZZ_CHECK(std::ranges::is_sorted(*sealed, {}, &mailbox::SealedBlocks::vm));
  for (const mailbox::SealedBlocks& of : *sealed) FUZZ_CHECK(of.vm != mailbox::kHypervisorVm && !of.record.empty());
  FUZZ_CHECK(std::ranges::equal(mailbox::EncodeSealed(*sealed), ByteSpan(data, size)));
  return 0;
}

FUZZ_TARGET(sealed_section_fuzz);

}  // namespace
}  // namespace sideband::fuzz
