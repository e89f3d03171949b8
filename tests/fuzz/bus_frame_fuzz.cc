// SPDX-License-Identifier: Apache-2.0
//
// The body of a virtual bus frame from either end. A decoded frame survives encoding.
#include "proto/smbus/bus_frame.h"
#include "tests/fuzz/fuzz_target.h"

namespace sideband::fuzz {
namespace {

Bytes BodyOf(const Bytes& frame) { return Bytes(frame.begin() + smbus::kFrameHeaderBytes, frame.end()); }

void CheckTransfer(ByteSpan body) {
  const auto transfer = smbus::DecodeTransfer(body);
  if (!transfer.ok()) return;
  const Bytes frame = smbus::EncodeTransfer(*transfer);
  FUZZ_CHECK(smbus::FrameBodySize(ByteSpan(frame).first(smbus::kFrameHeaderBytes)).ok());
  const auto again = smbus::DecodeTransfer(BodyOf(frame));
  FUZZ_CHECK(again.ok() && *again == *transfer);
}

void CheckResult(ByteSpan body) {
  const auto result = smbus::DecodeResult(body);
  if (!result.ok()) return;
  const auto again = smbus::DecodeResult(BodyOf(smbus::EncodeResult(*result)));
  FUZZ_CHECK(again.ok() && *again == *result);
}

std::vector<Bytes> Seeds() {
  using smbus::Message;
  return {BodyOf(smbus::EncodeTransfer({{Message::Write(0x4F, {0x5C}), Message::ReadBlock(0x4F, 1)}})),
          BodyOf(smbus::EncodeTransfer({{Message::Write(0x4F, {})}})),
          BodyOf(smbus::EncodeResult({.read = {{0x04, 0x02, 0x00, 0x00, 0x1F}, {}}, .stretch_us = 12})),
          BodyOf(smbus::EncodeResult({.outcome = smbus::Outcome::kBadCount}))};
}

int RunInput(const uint8_t* data, size_t size) {
  CheckTransfer({data, size});
  CheckResult({data, size});
  return 0;
}

FUZZ_TARGET(bus_frame_fuzz);

}  // namespace
}  // namespace sideband::fuzz
