// SPDX-License-Identifier: Apache-2.0
//
// A snapshot's stream from a hostile device. What is taken for one survives being written again.
//   Input: a first byte that is odd says that the rest is a payload, in a frame with a right CRC; else it is all there
//   is.
#include "proto/mailbox/snapshot.h"
#include "proto/mailbox/stream.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/simulation/hostile_device.h"

namespace sideband::fuzz {
namespace {

constexpr uint8_t kPayload = 1;

Bytes StreamOf(ByteSpan input) {
  if (input.empty()) return {};
  const ByteSpan rest = input.subspan(1);
  if (input[0] % 2 != kPayload) return Bytes(rest.begin(), rest.end());
  return mailbox::EncodeStream({.kind = mailbox::StreamKind::kSnapshot, .boot_id = 1, .snapshot_id = 1}, rest);
}

}  // namespace

std::vector<Bytes> Seeds() {
  std::vector<Bytes> seeds;
  for (const mailbox::Snapshot& snapshot : {mailbox::Snapshot(), tests::HostileDevice::ExampleSnapshot()}) {
    const Bytes stream = mailbox::EncodeSnapshotStream(snapshot);
    seeds.push_back(stream);
    seeds.back().insert(seeds.back().begin(), 0);
    seeds.emplace_back(stream.begin() + mailbox::kStreamHeaderBytes - 1, stream.end() - mailbox::kStreamCrcBytes);
    seeds.back()[0] = kPayload;
  }
  return seeds;
}

}  // namespace sideband::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto snapshot = sideband::mailbox::DecodeSnapshotStream(sideband::fuzz::StreamOf({data, size}));
  if (!snapshot.ok()) return 0;
  const auto again = sideband::mailbox::DecodeSnapshotStream(sideband::mailbox::EncodeSnapshotStream(*snapshot));
  FUZZ_CHECK(again.ok() && *again == *snapshot);
  return 0;
}
