// SPDX-License-Identifier: Apache-2.0
//
// A configuration's stream from a hostile device, or its payload in a correct frame (the first byte decides). A decoded
// configuration survives encoding, and its words, written one after the other, make it again.
#include "proto/mailbox/counting.h"
#include "proto/mailbox/stream.h"
#include "tests/fuzz/fuzz_target.h"

namespace sideband::fuzz {
namespace {

mailbox::CountingConfig Example() {
  mailbox::CountingConfig config{.revision = 3,
                                 .groups = {{{.identifier = 7}, {.in_host = true}}, {{}, {}}},
                                 .hosts = {{}, {.match = {.enable = true, .ids = {1, 2, 3, 4}}}},
                                 .selections = {{1}, {2}}};
  config.vms[1] = {.guest_load = true, .pinned = 1};
  config.vms[2] = {.is_private = true, .selection = 1};
  config.contexts[{1, 0}] = {.load = true};
  return config;
}

std::vector<Bytes> Seeds() {
  std::vector<Bytes> seeds;
  for (const mailbox::CountingConfig& config : {mailbox::CountingConfig(), Example()}) {
    const Bytes stream = mailbox::EncodeConfigStream(1, config);
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
                          : mailbox::EncodeStream({.kind = mailbox::StreamKind::kConfig, .boot_id = 1}, rest);
  const auto config = mailbox::DecodeConfigStream(bytes);
  if (!config.ok()) return 0;
  const auto again = mailbox::DecodeConfigStream(mailbox::EncodeConfigStream(1, *config));
  FUZZ_CHECK(again.ok() && *again == *config);
  mailbox::CountingConfig copy = *config;
  for (const auto& [address, word] : mailbox::WordsOf(*config)) {
    FUZZ_CHECK(mailbox::WriteWord(address, word, copy).ok());
  }
  FUZZ_CHECK(copy == *config);
  return 0;
}

FUZZ_TARGET(config_stream_fuzz);

}  // namespace
}  // namespace sideband::fuzz
