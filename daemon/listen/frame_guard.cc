// SPDX-License-Identifier: Apache-2.0
#include "daemon/listen/frame_guard.h"

#include <algorithm>
#include <utility>

namespace sideband::daemon {
namespace {

constexpr absl::string_view kPreface("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

// RFC 9113, section 6.
enum FrameType : uint8_t {
  kData = 0x0,
  kHeaders = 0x1,
  kPriority = 0x2,
  kRstStream = 0x3,
  kSettings = 0x4,
  kPushPromise = 0x5,
  kPing = 0x6,
  kGoAway = 0x7,
  kWindowUpdate = 0x8,
  kContinuation = 0x9,
};
constexpr uint8_t kEndStream = 0x1, kAck = 0x1, kEndHeaders = 0x4, kPadded = 0x8;
constexpr uint32_t kNoError = 0x0, kEnhanceYourCalm = 0xb;
// A DATA frame of the server earns one credit per kCreditBytes, at most kCreditMax.
constexpr size_t kCreditBytes = 64, kCreditMax = 3;

uint32_t BigEndian(const char* bytes, size_t size) {
  uint32_t value = 0;
  for (size_t i = 0; i < size; ++i) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  return value;
}

std::string BigEndianBytes(uint32_t value, size_t size) {
  std::string bytes(size, '\0');
  for (size_t i = 0; i < size; ++i) bytes[size - 1 - i] = static_cast<char>(value >> (8 * i));
  return bytes;
}

// RFC 9113, section 6.8.
std::string GoAwayFrame(uint32_t last_stream, uint32_t error, absl::string_view words) {
  std::string frame = BigEndianBytes(8 + words.size(), 3);
  frame.push_back(static_cast<char>(kGoAway));
  // Flags and stream are zero: a GOAWAY concerns the whole connection.
  frame.append(5, '\0');
  frame += BigEndianBytes(last_stream, 4) + BigEndianBytes(error, 4);
  frame.append(words.data(), words.size());
  return frame;
}

}  // namespace

bool FrameGuard::Reader::Read(absl::string_view& bytes) {
  // Payloads are skipped, not read.
  if (payload_left_ > 0) {
    const size_t size = std::min(payload_left_, bytes.size());
    payload_left_ -= size;
    bytes.remove_prefix(size);
    return false;
  }
  const size_t size = std::min(header_.size() - header_size_, bytes.size());
  std::copy_n(bytes.begin(), size, header_.begin() + header_size_);
  header_size_ += size;
  bytes.remove_prefix(size);
  if (header_size_ < header_.size()) return false;
  header_size_ = 0;
  // The highest bit of the stream id is reserved and to be ignored (section 4.1).
  frame_ = {.size = BigEndian(header_.data(), 3),
            .type = static_cast<uint8_t>(header_[3]),
            .flags = static_cast<uint8_t>(header_[4]),
            .stream = BigEndian(header_.data() + 5, 4) & 0x7fffffff};
  payload_left_ = frame_.size;
  return true;
}

FrameGuard::FrameGuard(const Limits& limits, const Clock& clock)
    : limits_(limits),
      clock_(clock),
      resets_(limits.resets),
      pings_(limits.pings),
      settings_(limits.settings),
      window_updates_(limits.window_updates),
      empty_data_(limits.empty_data),
      others_(limits.others) {}

FrameGuard::Breach FrameGuard::ReadPreface(absl::string_view& bytes) {
  const size_t size = std::min(kPreface.size() - preface_read_, bytes.size());
  // Compared byte by byte as they arrive: HTTP/1 and port scanners end at their first piece.
  if (bytes.substr(0, size) != kPreface.substr(preface_read_, size)) return Breach::kPreface;
  preface_read_ += size;
  bytes.remove_prefix(size);
  // An incomplete preface is held back as well.
  held_ = preface_read_ < kPreface.size() ? preface_read_ : 0;
  return Breach::kNone;
}

void FrameGuard::CountHeld(size_t bytes) {
  // Bytes are held while a frame header or a header block is incomplete.
  held_ += bytes;
  const bool is_in_payload = !client_.is_at_boundary() && !client_.is_in_header();
  const bool block_goes_on =
      is_in_block_ || (is_in_payload && (client_.frame().type == kHeaders || client_.frame().type == kContinuation));
  if (!client_.is_in_header() && !block_goes_on) held_ = 0;
}

FrameGuard::Breach FrameGuard::FromClient(absl::string_view bytes) {
  now_ = clock_.Steady();
  if (breach_ == Breach::kNone && preface_read_ < kPreface.size()) breach_ = ReadPreface(bytes);
  while (breach_ == Breach::kNone && !bytes.empty()) {
    const size_t before = bytes.size();
    if (client_.Read(bytes)) breach_ = OnClientFrame(client_.frame());
    CountHeld(before - bytes.size());
  }
  return breach_;
}

// Whether a frame or a header block of the stream has begun: the end that it announces has not come.
bool FrameGuard::IsUnderWay(uint32_t stream) const {
  const bool is_in_payload = !client_.is_at_boundary() && !client_.is_in_header();
  return (is_in_payload && client_.frame().stream == stream) || (is_in_block_ && block_stream_ == stream);
}

FrameGuard::Breach FrameGuard::CheckRequests() {
  const absl::Duration due = clock_.Steady() - limits_.request_max;
  for (const auto& [id, stream] : streams_) {
    const bool is_complete = stream.client_ended && !IsUnderWay(id);
    if (breach_ == Breach::kNone && !is_complete && stream.opened < due) breach_ = Breach::kRequestTimeout;
  }
  return breach_;
}

FrameGuard::Breach FrameGuard::OnClientFrame(const Frame& frame) {
  ++work_.frames;
  // Within a header block only CONTINUATION frames may follow (section 6.10).
  if (is_in_block_ != (frame.type == kContinuation)) return Breach::kMalformed;
  // Padding costs work and may carry nothing, and the guard does not read payloads to see how much of it there is.
  const bool may_be_padded = frame.type == kData || frame.type == kHeaders;
  if (may_be_padded && (frame.flags & kPadded) != 0 && !others_.Take(1, now_)) return Breach::kOthers;
  return OnFrameOfKind(frame);
}

FrameGuard::Breach FrameGuard::OnFrameOfKind(const Frame& frame) {
  switch (frame.type) {
    case kData:
      return OnData(frame);
    case kHeaders:
      return OnHeaders(frame);
    case kContinuation:
      return OnContinuation(frame);
    case kRstStream:
      return OnReset(frame);
    case kSettings:
      return OnSettings(frame);
    case kPing:
      return OnPing(frame);
    case kWindowUpdate:
      return OnWindowUpdate(frame);
    case kPriority:
      return frame.size == 5 ? OnOther(frame, frame.size) : Breach::kMalformed;
    // Only a server may push (section 8.4).
    case kPushPromise:
      return Breach::kMalformed;
    default:  // GOAWAY and unknown types, which a receiver ignores (section 5.5)
      return OnOther(frame, limits_.other_bytes_max);
  }
}

FrameGuard::Breach FrameGuard::OnHeaders(const Frame& frame) {
  // Clients use odd stream ids (section 5.1.1); 0 is even.
  if (frame.stream % 2 == 0) return Breach::kMalformed;
  // Ids of new streams only increase (section 5.1.1), so a smaller one was used before.
  if (frame.stream > last_stream_) {
    const Breach breach = OnNewStream(frame);
    if (breach != Breach::kNone) return breach;
  } else if (!others_.Take(1, now_)) {  // trailers, or a stream that has ended in the meantime
    return Breach::kOthers;
  }
  block_stream_ = frame.stream;
  block_bytes_ = block_continuations_ = 0;
  if ((frame.flags & kEndStream) != 0) EndByClient(frame.stream);
  return OnBlock(frame);
}

FrameGuard::Breach FrameGuard::OnNewStream(const Frame& frame) {
  last_stream_ = frame.stream;
  ++work_.streams;
  if (streams_.size() >= limits_.streams_max) return Breach::kStreams;
  streams_.emplace(frame.stream, StreamState{.opened = now_});
  return Breach::kNone;
}

FrameGuard::Breach FrameGuard::OnBlock(const Frame& frame) {
  block_bytes_ += frame.size;
  if (block_bytes_ > limits_.block_bytes_max) return Breach::kHeaderBytes;
  // gRPC enforces its metadata limit only from the acknowledgement on.
  if (!has_settings_acknowledged()) early_bytes_ += frame.size;
  if (early_bytes_ > limits_.early_bytes_max) return Breach::kEarlyHeaderBytes;
  is_in_block_ = (frame.flags & kEndHeaders) == 0;
  return Breach::kNone;
}

FrameGuard::Breach FrameGuard::OnContinuation(const Frame& frame) {
  // Many small CONTINUATIONs cost more than their bytes show, hence the bound on their number (CERT VU#421644).
  if (frame.stream != block_stream_) return Breach::kMalformed;
  if (++block_continuations_ > limits_.continuations_max) return Breach::kContinuations;
  return OnBlock(frame);
}

FrameGuard::Breach FrameGuard::OnData(const Frame& frame) {
  if (frame.stream == 0) return Breach::kMalformed;
  const bool ends = (frame.flags & kEndStream) != 0;
  // Flow control counts payload only: an empty frame costs the client no window (CVE-2019-9518).
  if (frame.size == 0 && !ends && !empty_data_.Take(1, now_)) return Breach::kEmptyData;
  if (ends) EndByClient(frame.stream);
  return Breach::kNone;
}

FrameGuard::Breach FrameGuard::OnReset(const Frame& frame) {
  if (frame.size != 4 || frame.stream == 0) return Breach::kMalformed;
  // Rapid reset (CVE-2023-44487): a reset frees the stream's place at once, so the limit of open streams does not bound
  // it.
  streams_.erase(frame.stream);
  return resets_.Take(1, now_) ? Breach::kNone : Breach::kResets;
}

FrameGuard::Breach FrameGuard::OnSettings(const Frame& frame) {
  if (frame.stream != 0) return Breach::kMalformed;
  if ((frame.flags & kAck) != 0) {
    // An acknowledgement without a SETTINGS frame of the server is a breach.
    if (frame.size != 0 || acknowledged_ >= settings_sent_) return Breach::kMalformed;
    ++acknowledged_;
    return Breach::kNone;
  }
  // A setting has six bytes (section 6.5). The server must acknowledge each frame, hence the rate (CVE-2019-9515).
  if (frame.size % 6 != 0) return Breach::kMalformed;
  return frame.size <= limits_.settings_bytes_max && settings_.Take(1, now_) ? Breach::kNone : Breach::kSettings;
}

FrameGuard::Breach FrameGuard::OnPing(const Frame& frame) {
  if (frame.size != 8 || frame.stream != 0) return Breach::kMalformed;
  // Answers to pings of the server are free; unsolicited ones count as pings.
  if ((frame.flags & kAck) != 0 && pings_sent_ > 0) {
    --pings_sent_;
    return Breach::kNone;
  }
  // The server must answer each of them, even while the client does not read (CVE-2019-9512).
  return pings_.Take(1, now_) ? Breach::kNone : Breach::kPings;
}

FrameGuard::Breach FrameGuard::OnWindowUpdate(const Frame& frame) {
  if (frame.size != 4) return Breach::kMalformed;
  return window_updates_.Take(1, now_) ? Breach::kNone : Breach::kWindowUpdates;
}

FrameGuard::Breach FrameGuard::OnOther(const Frame& frame, size_t bytes_max) {
  return frame.size <= bytes_max && others_.Take(1, now_) ? Breach::kNone : Breach::kOthers;
}

void FrameGuard::FromServer(absl::string_view bytes) {
  while (!bytes.empty()) {
    if (server_.Read(bytes)) OnServerFrame(server_.frame());
  }
}

void FrameGuard::OnServerFrame(const Frame& frame) {
  const bool is_ack = (frame.flags & kAck) != 0;
  if (frame.type == kSettings && !is_ack) ++settings_sent_;
  if (frame.type == kPing && !is_ack) ++pings_sent_;
  if (frame.type == kData) OnServerData(frame);
  // A reset ends both directions of a stream (section 6.4).
  if (frame.type == kRstStream) {
    EndByServer(frame.stream);
    streams_.erase(frame.stream);
  }
  if ((frame.type == kData || frame.type == kHeaders) && (frame.flags & kEndStream) != 0) EndByServer(frame.stream);
}

void FrameGuard::OnServerData(const Frame& frame) {
  // Good clients answer data by window updates and by probes of the bandwidth (PING, SETTINGS). Tiny frames earn
  // nothing.
  const size_t credit = std::min(frame.size / kCreditBytes, kCreditMax);
  window_updates_.Credit(credit);
  if (credit == 0) return;
  pings_.Credit(1);
  settings_.Credit(1);
}

void FrameGuard::EndByClient(uint32_t stream) {
  const auto found = streams_.find(stream);
  if (found == streams_.end()) return;
  // A stream stays open until both sides have ended it (section 5.1).
  found->second.client_ended = true;
  if (found->second.server_ended) streams_.erase(found);
}

void FrameGuard::EndByServer(uint32_t stream) {
  const auto found = streams_.find(stream);
  // One credit for each stream, however often the server ends it (END_STREAM, then RST_STREAM).
  if (found == streams_.end() || found->second.server_ended) return;
  found->second.server_ended = true;
  resets_.Credit(1);
  pings_.Credit(1);  // some clients probe the bandwidth at each answer, however small
  window_updates_.Credit(kCreditMax);
  if (found->second.client_ended) streams_.erase(found);
}

FrameGuard::Work FrameGuard::TakeWork() { return std::exchange(work_, Work()); }

const char* BreachName(FrameGuard::Breach breach) {
  switch (breach) {
    case FrameGuard::Breach::kNone:
      return "none";
    case FrameGuard::Breach::kPreface:
      return "http2_preface";
    case FrameGuard::Breach::kMalformed:
      return "http2_malformed";
    case FrameGuard::Breach::kHeaderBytes:
      return "http2_header_bytes";
    case FrameGuard::Breach::kEarlyHeaderBytes:
      return "http2_early_header_bytes";
    case FrameGuard::Breach::kContinuations:
      return "http2_continuations";
    case FrameGuard::Breach::kStreams:
      return "http2_streams";
    case FrameGuard::Breach::kRequestTimeout:
      return "http2_request_timeout";
    case FrameGuard::Breach::kResets:
      return "http2_resets";
    case FrameGuard::Breach::kPings:
      return "http2_pings";
    case FrameGuard::Breach::kSettings:
      return "http2_settings";
    case FrameGuard::Breach::kWindowUpdates:
      return "http2_window_updates";
    case FrameGuard::Breach::kEmptyData:
      return "http2_empty_data";
    case FrameGuard::Breach::kOthers:
      return "http2_other_frames";
  }
  return "none";
}

std::string CalmFrame(uint32_t last_stream, absl::string_view words) {
  return GoAwayFrame(last_stream, kEnhanceYourCalm, words);
}

std::string FarewellFrame(uint32_t last_stream, absl::string_view words) {
  return GoAwayFrame(last_stream, kNoError, words);
}

}  // namespace sideband::daemon
