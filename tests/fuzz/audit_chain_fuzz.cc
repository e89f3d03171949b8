// SPDX-License-Identifier: Apache-2.0
//
// An audit log's files, manipulated to make its verifier fail. A zero byte begins the next file. An accepted entry
// equals its serialisation, and the result does not depend on how the bytes are split.
#include <algorithm>
#include <string>

#include "proto/audit/chain.h"
#include "tests/fuzz/fuzz_target.h"

namespace sideband::fuzz {
namespace {

std::string ALog(uint64_t first, size_t count) {
  std::string text, prev = first == 1 ? std::string(kAuditNoPrev) : AuditHash("before");
  for (size_t i = 0; i < count; ++i) {
    AuditEntry entry{.sequence = first + i,
                     .time = absl::FromUnixMicros(1'800'000'000'123'456 - static_cast<int64_t>(i)),
                     .kind = static_cast<AuditKind>(i % 6),
                     .principal = "spiffe://example.org/\"\xff",
                     .endpoint = "GET /metrics",
                     .decision = static_cast<AuditDecision>(i % 3),
                     .lost = i / 4};
    if (i % 2 == 1) entry.detail = {"vm0", "vm1"};
    const std::string line = EncodeAuditLine({.entry = entry, .prev = prev});
    prev = AuditHash(line);
    text += line + (i == 2 ? std::string("\n\0", 2) : std::string("\n"));
  }
  return text;
}

// Verifies the chain, fed in pieces of `piece` bytes.
ChainVerifier Follow(absl::string_view text, size_t piece) {
  ChainVerifier chain({.on_line = [](const AuditLine& line) {
    const auto again = DecodeAuditLine(EncodeAuditLine(line));
    FUZZ_CHECK(again.ok() && again->entry.sequence == line.entry.sequence && again->prev == line.prev);
  }});
  while (true) {
    const size_t end = std::min(text.find('\0'), text.size());
    chain.BeginFile("log");
    for (size_t at = 0; at < end; at += piece) chain.Feed(text.substr(at, std::min(piece, end - at)));
    chain.EndFile();
    if (end == text.size()) return chain;
    text.remove_prefix(end + 1);
  }
}

std::vector<Bytes> Seeds() { return {BytesOf(ALog(1, 1)), BytesOf(ALog(1, 6)), BytesOf(ALog(1000, 4))}; }

int RunInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const sideband::ChainVerifier whole = Follow(text, size + 1), pieces = Follow(text, 7);
  FUZZ_CHECK(whole.End() == pieces.End());
  FUZZ_CHECK(whole.summary().entries == pieces.summary().entries);
  FUZZ_CHECK(whole.summary().head == pieces.summary().head);
  return 0;
}

FUZZ_TARGET(audit_chain_fuzz);

}  // namespace
}  // namespace sideband::fuzz
