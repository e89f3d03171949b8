// SPDX-License-Identifier: Apache-2.0
//
// Resume tokens of streams. Only what the daemon has sealed opens.
//   Input: a first byte, modulo 3: 0 a token, 1 changes of a good token (offset, bits), 2 the content of one.
#include <algorithm>
#include <string>

#include "daemon/stream/resume_token.h"
#include "tests/fuzz/fuzz_target.h"

namespace sideband::fuzz {
namespace {

using daemon::DecodePosition;
using daemon::EncodePosition;
using daemon::ResumeTokens;
using daemon::StreamPosition;

enum : uint8_t { kToken, kChanges, kContent, kKinds };

constexpr char kWho[] = "spiffe://e.org/a";

const ResumeTokens& Tokens() {
  static const auto* const tokens = ResumeTokens::Create()->release();
  return *tokens;
}

StreamPosition Somewhere() {
  return {.policy_version = 2,
          .time = absl::FromUnixMillis(1'800'000'000'000),
          .state = 77,
          .devices = {{.device = 1, .name = "gpu0", .boot_id = 5, .after = 9, .due = absl::Seconds(3)},
                      {.device = 300, .name = "board", .sensors_steady = absl::Seconds(4)}},
          .boards = {{.name = "board", .messages = 70, .reader_id = 3, .raised = {1, 0, 1000}}}};
}

Bytes Input(uint8_t kind, ByteSpan bytes) {
  Bytes input = {kind};
  input.insert(input.end(), bytes.begin(), bytes.end());
  return input;
}

void CheckToken(const std::string& token) { FUZZ_CHECK(!Tokens().Open(kWho, {}, token).has_value()); }

// Pairs of an offset and the bits that change there.
void CheckChanges(ByteSpan changes) {
  const std::string good = *Tokens().Begin(kWho, {})->Seal(Somewhere());
  std::string changed = good;
  for (size_t i = 0; i + 1 < changes.size(); i += 2) {
    char& byte = changed[changes[i] % changed.size()];
    byte = static_cast<char>(byte ^ changes[i + 1]);
  }
  const auto opened = Tokens().Open(kWho, {}, changed);
  FUZZ_CHECK(opened.has_value() == (changed == good));
  if (opened) FUZZ_CHECK(*opened == Somewhere());
}

void CheckContent(ByteSpan bytes) {
  const auto position = DecodePosition(bytes);
  if (!position) return;
  FUZZ_CHECK(DecodePosition(EncodePosition(*position)) == *position);
}

std::vector<Bytes> Seeds() {
  const std::string of_another = *(*ResumeTokens::Create())->Begin(kWho, {})->Seal(Somewhere());
  const Bytes nothing, one_bit = {50, 4};
  return {Input(kToken, AsBytes(of_another)),
          Input(kToken, nothing),
          Input(kChanges, nothing),
          Input(kChanges, one_bit),
          Input(kContent, EncodePosition(Somewhere())),
          Input(kContent, EncodePosition({}))};
}

int RunInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const sideband::ByteSpan rest(data + 1, size - 1);
  switch (data[0] % kKinds) {
    case kToken:
      CheckToken(std::string(rest.begin(), rest.end()));
      break;
    case kChanges:
      CheckChanges(rest);
      break;
    default:
      CheckContent(rest);
  }
  return 0;
}

FUZZ_TARGET(resume_token_fuzz);

}  // namespace
}  // namespace sideband::fuzz
