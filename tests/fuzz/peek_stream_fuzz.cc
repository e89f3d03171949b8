// SPDX-License-Identifier: Apache-2.0
//
// A peek's stream from a hostile device, or its payload in a correct frame (the first byte decides). A decoded answer
// has a counter for each bit of its question, and survives encoding.
#include <bit>

#include "proto/mailbox/peek.h"
#include "proto/mailbox/stream.h"
#include "tests/fuzz/fuzz_target.h"

namespace sideband::fuzz {
namespace {

mailbox::PeekAnswer Example(uint64_t bitmap) {
  mailbox::PeekAnswer answer{.boot_id = 1,
                             .tag = 7,
                             .question = {.vm = 1, .context = 0, .bitmap = bitmap},
                             .generation = 3,
                             .reference_cycle = 1400,
                             .reference_time_ns = 1000};
  for (int i = 0; i < std::popcount(bitmap); ++i) answer.counters.push_back(uint64_t{1} << i);
  return answer;
}

std::vector<Bytes> Seeds() {
  std::vector<Bytes> seeds;
  for (const uint64_t bitmap : {uint64_t{0}, uint64_t{1}, uint64_t{0xF0}, ~uint64_t{0}}) {
    const Bytes stream = mailbox::EncodePeekStream(Example(bitmap));
    const ByteSpan payload = ByteSpan(stream).subspan(mailbox::kStreamHeaderBytes);
    seeds.push_back(WithFirst(0, stream));
    seeds.push_back(WithFirst(1, payload.first(payload.size() - mailbox::kStreamCrcBytes)));
  }
  return seeds;
}

int RunInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const ByteSpan rest(data + 1, size - 1);
  const Bytes bytes = data[0] % 2 == 0
                          ? Bytes(rest.begin(), rest.end())
                          : mailbox::EncodeStream({.kind = mailbox::StreamKind::kPeek, .boot_id = 1}, rest);
  const auto answer = mailbox::DecodePeekStream(bytes);
  if (!answer.ok()) return 0;
  FUZZ_CHECK(answer->counters.size() == static_cast<size_t>(std::popcount(answer->question.bitmap)));
  FUZZ_CHECK(bytes.size() == mailbox::PeekStreamBytes(answer->counters.size()));
  const auto again = mailbox::DecodePeekStream(mailbox::EncodePeekStream(*answer));
  FUZZ_CHECK(again.ok() && *again == *answer);
  return 0;
}

FUZZ_TARGET(peek_stream_fuzz);

}  // namespace
}  // namespace sideband::fuzz
