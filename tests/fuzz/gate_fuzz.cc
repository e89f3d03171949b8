// SPDX-License-Identifier: Apache-2.0
//
// An HTTP/2 client's bytes to the gate, after TLS. The first byte of the input selects how the bytes are split, the
// second whether they begin with the preface. The verdict does not depend on the splitting, bytes are held back at
// frame boundaries only, and forwarded bytes keep the bounds, counted by a reader that is independent of the guard.
#include <algorithm>
#include <string>

#include "absl/strings/string_view.h"
#include "daemon/listen/frame_guard.h"
#include "tests/fuzz/fuzz_target.h"

namespace sideband::fuzz {
namespace {

using daemon::FakeClock;
using daemon::FrameGuard;

constexpr absl::string_view kPreface("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
constexpr uint8_t kHeaders = 1, kReset = 3, kSettings = 4, kPing = 6, kContinuation = 9;
constexpr uint8_t kEndHeaders = 4, kEndStream = 1;

std::string Frame(size_t size, uint8_t type, uint8_t flags, uint8_t stream) {
  std::string frame{'\0', static_cast<char>(size >> 8), static_cast<char>(size), static_cast<char>(type),
                    static_cast<char>(flags)};
  frame += std::string("\0\0\0", 3) + static_cast<char>(stream);
  return frame + std::string(size, 'x');
}

struct Judged {
  FrameGuard::Breach breach = FrameGuard::Breach::kNone;
  size_t passed = 0;  // bytes that may be forwarded
  size_t streams = 0;
};

Judged Judge(absl::string_view bytes, size_t piece) {
  const FakeClock clock(absl::FromUnixSeconds(1'800'000'000));
  FrameGuard guard({}, clock);
  guard.FromServer(Frame(0, kSettings, 0, 0));
  Judged judged;
  for (size_t at = 0; at < bytes.size(); at += piece) {
    const absl::string_view next = bytes.substr(at, piece);
    judged.breach = guard.FromClient(next);
    if (judged.breach != FrameGuard::Breach::kNone) return judged;
    judged.passed = at + next.size() - guard.held();
    FUZZ_CHECK(guard.held() <= at + next.size());
    FUZZ_CHECK(guard.held() <= daemon::kHeaderBlockBytesMax + 5 * daemon::kHttp2FrameHeaderBytes);
    FUZZ_CHECK(guard.open_streams() <= FrameGuard::Limits().streams_max);
  }
  judged.streams = guard.open_streams();
  return judged;
}

uint8_t At(absl::string_view bytes, size_t at) { return static_cast<uint8_t>(bytes[at]); }

// Checks forwarded bytes: complete header blocks within their bounds, and few resets and pings.
void CheckPassed(absl::string_view bytes) {
  FUZZ_CHECK(kPreface.substr(0, bytes.size()) == bytes.substr(0, kPreface.size()));
  bytes.remove_prefix(std::min(bytes.size(), kPreface.size()));
  size_t block = 0, resets = 0, pings = 0;
  bool in_block = false;
  while (!bytes.empty()) {
    FUZZ_CHECK(bytes.size() >= daemon::kHttp2FrameHeaderBytes);
    const size_t size = size_t{At(bytes, 0)} << 16 | size_t{At(bytes, 1)} << 8 | At(bytes, 2);
    const uint8_t type = At(bytes, 3), flags = At(bytes, 4);
    FUZZ_CHECK(in_block == (type == kContinuation));
    if (type == kHeaders) block = 0;
    if (type == kHeaders || type == kContinuation) {
      block += size;
      in_block = (flags & kEndHeaders) == 0;
      FUZZ_CHECK(block <= daemon::kHeaderBlockBytesMax);
      FUZZ_CHECK(size + daemon::kHttp2FrameHeaderBytes <= bytes.size());
    }
    resets += type == kReset;
    pings += type == kPing;
    bytes.remove_prefix(std::min(bytes.size(), size + daemon::kHttp2FrameHeaderBytes));
  }
  FUZZ_CHECK(!in_block && resets <= 100 && pings <= 20);
}

void Check(size_t piece, const std::string& bytes) {
  const Judged whole = Judge(bytes, std::max<size_t>(bytes.size(), 1)), pieces = Judge(bytes, piece);
  FUZZ_CHECK(whole.breach == pieces.breach);
  if (whole.breach != FrameGuard::Breach::kNone) return;
  FUZZ_CHECK(whole.passed == pieces.passed && whole.streams == pieces.streams);
  if (whole.passed > 0) CheckPassed(absl::string_view(bytes).substr(0, whole.passed));
}

std::string Input(const uint8_t* data, size_t size) {
  std::string bytes = (data[1] & 1) != 0 ? std::string(kPreface) : "";
  return bytes.append(reinterpret_cast<const char*>(data) + 2, size - 2);
}

std::vector<Bytes> Seeds() {
  const std::string start = Frame(12, kSettings, 0, 0) + Frame(0, kSettings, 1, 0);
  const std::string call = Frame(60, kHeaders, kEndHeaders, 1) + Frame(5, 0, kEndStream, 1);
  const std::string long_block = Frame(40, kHeaders, 0, 3) + Frame(30, kContinuation, kEndHeaders, 3);
  std::vector<Bytes> seeds;
  for (const std::string& frames :
       {start + call, start + long_block, start + Frame(50, kHeaders, 5, 1) + Frame(4, kReset, 0, 1),
        start + Frame(8, kPing, 0, 0) + Frame(4, 8, 0, 0) + Frame(5, 2, 0, 1)}) {
    const std::string input = std::string("\x07\x01", 2) + frames;
    seeds.emplace_back(input.begin(), input.end());
  }
  return seeds;
}

int RunInput(const uint8_t* data, size_t size) {
  if (size >= 2) Check(data[0] + 1, Input(data, size));
  return 0;
}

FUZZ_TARGET(gate_fuzz);

}  // namespace
}  // namespace sideband::fuzz
