// SPDX-License-Identifier: Apache-2.0
//
// Bounds the cost that an HTTP/2 client (RFC 9113) can cause in the library behind it: reads the connection preface and
// the 9-byte frame headers of both directions, and no payloads. No socket, no HPACK.
//   FrameGuard guard(limits, clock);
//   const FrameGuard::Breach breach = guard.FromClient(bytes);
//   if (breach != FrameGuard::Breach::kNone) return Close(BreachName(breach));
//   unsent += bytes;
//   Forward(unsent, unsent.size() - guard.held());
//   guard.FromServer(answer_bytes);
//
// A frame header and a header block (HEADERS with its CONTINUATIONs) are to be forwarded whole. Until they are
// complete, held() returns how many of the newest bytes belong to them. The library thus parses each block once, not
// repeatedly as it grows.
#ifndef SIDEBAND_DAEMON_LISTEN_FRAME_GUARD_H_
#define SIDEBAND_DAEMON_LISTEN_FRAME_GUARD_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "daemon/base/clock.h"
#include "daemon/listen/throttle.h"

namespace sideband::daemon {

inline constexpr size_t kHttp2FrameHeaderBytes = 9;
inline constexpr size_t kHeaderBlockBytesMax = 16 << 10;

// Not thread-safe. `clock` must outlive it.
class FrameGuard {
 public:
  // Limits and rates of one connection. Frames of the server earn credits, noted as "+ 1 for …", since well-behaved
  // clients respond to them.
  struct Limits {
    size_t block_bytes_max = kHeaderBlockBytesMax;        // of a header block, including padding
    size_t early_bytes_max = kHeaderBlockBytesMax;        // of all blocks until the client acknowledges the SETTINGS
    size_t continuations_max = 4;                         // of a block
    size_t streams_max = 128;                             // open at a time
    absl::Duration request_max = absl::Seconds(10);       // from HEADERS until the client has ended the stream
    size_t settings_bytes_max = 32 * 6;                   // of a SETTINGS frame
    size_t other_bytes_max = 1 << 10;                     // of a GOAWAY or unknown frame
    TokenRate resets = {.burst = 100, .per_second = 50};  // + 1 for an end: a stream that the server ends
    TokenRate pings = {.burst = 20, .per_second = 2};     // + 1 for a DATA frame >= 64 bytes; + 1 for an end
    TokenRate settings = {.burst = 20, .per_second = 2};  // + 1 for a DATA frame >= 64 bytes
    TokenRate window_updates = {.burst = 500, .per_second = 200};  // + 1 per 64 bytes of DATA, max. 3; + 3 for an end
    TokenRate empty_data = {.burst = 100, .per_second = 10};
    TokenRate others = {.burst = 100, .per_second = 10};  // PRIORITY, GOAWAY, unknown, padded, closed streams
  };

  enum class Breach {
    kNone,
    kPreface,
    kMalformed,
    kHeaderBytes,
    kEarlyHeaderBytes,
    kContinuations,
    kStreams,
    kRequestTimeout,
    kResets,
    kPings,
    kSettings,
    kWindowUpdates,
    kEmptyData,
    kOthers,
  };

  // The work that the client has caused.
  using Work = HolderThrottle::Work;

  FrameGuard(const Limits& limits, const Clock& clock);

  // Reads bytes of the client, in pieces of any size. After a breach nothing more may be forwarded, and all further
  // calls return the same breach.
  Breach FromClient(absl::string_view bytes);
  // kRequestTimeout where a request has not been complete for too long, as a breach of FromClient. To be called every
  // second: gRPC reports no call before its request is complete, and keeps it without a limit.
  Breach CheckRequests();
  // Reads bytes of the server, which are trusted.
  void FromServer(absl::string_view bytes);

  // The number of the newest bytes that must not be forwarded yet.
  size_t held() const { return held_; }
  // The work since the last call.
  Work TakeWork();
  // Whether the server's bytes end between two frames, where a frame of the gate may be inserted.
  bool is_at_server_boundary() const { return server_.is_at_boundary(); }
  bool has_settings_acknowledged() const { return acknowledged_ > 0; }
  size_t open_streams() const { return streams_.size(); }
  // The largest stream id that the client has opened; 0 before the first.
  uint32_t last_stream() const { return last_stream_; }

 private:
  struct Frame {
    size_t size = 0;
    uint8_t type = 0;
    uint8_t flags = 0;
    uint32_t stream = 0;
  };
  // Splits the bytes of one direction into frames.
  class Reader {
   public:
    // Consumes `bytes` up to the next event. True where a frame header has become complete: see frame().
    bool Read(absl::string_view& bytes);
    const Frame& frame() const { return frame_; }
    bool is_at_boundary() const { return header_size_ == 0 && payload_left_ == 0; }
    bool is_in_header() const { return header_size_ > 0; }

   private:
    std::array<char, kHttp2FrameHeaderBytes> header_ = {};
    size_t header_size_ = 0;
    size_t payload_left_ = 0;
    Frame frame_;
  };
  struct StreamState {
    absl::Duration opened;
    bool client_ended = false;
    bool server_ended = false;
  };

  Breach ReadPreface(absl::string_view& bytes);
  void CountHeld(size_t bytes);
  Breach OnClientFrame(const Frame& frame);
  Breach OnFrameOfKind(const Frame& frame);
  Breach OnHeaders(const Frame& frame);
  Breach OnBlock(const Frame& frame);
  Breach OnNewStream(const Frame& frame);
  Breach OnContinuation(const Frame& frame);
  Breach OnData(const Frame& frame);
  Breach OnReset(const Frame& frame);
  Breach OnSettings(const Frame& frame);
  Breach OnPing(const Frame& frame);
  Breach OnWindowUpdate(const Frame& frame);
  Breach OnOther(const Frame& frame, size_t bytes_max);
  void OnServerFrame(const Frame& frame);
  void OnServerData(const Frame& frame);
  bool IsUnderWay(uint32_t stream) const;
  void EndByClient(uint32_t stream);
  void EndByServer(uint32_t stream);

  const Limits limits_;
  const Clock& clock_;
  absl::Duration now_;
  Breach breach_ = Breach::kNone;

  size_t preface_read_ = 0;
  Reader client_, server_;
  size_t held_ = 0;

  bool is_in_block_ = false;  // END_HEADERS has not arrived
  uint32_t block_stream_ = 0;
  size_t block_bytes_ = 0;
  size_t block_continuations_ = 0;
  size_t early_bytes_ = 0;

  absl::flat_hash_map<uint32_t, StreamState> streams_;  // open streams by id
  uint32_t last_stream_ = 0;
  size_t settings_sent_ = 0;  // by the server
  size_t acknowledged_ = 0;
  size_t pings_sent_ = 0;  // by the server, not yet answered
  Work work_;
  TokenBucket resets_, pings_, settings_, window_updates_, empty_data_, others_;
};

// The name of a breach in metrics, the audit log and the GOAWAY frame: "http2_resets", …
const char* BreachName(FrameGuard::Breach breach);

// A GOAWAY frame with ENHANCE_YOUR_CALM (RFC 9113, section 7) and `words` as its debug data.
std::string CalmFrame(uint32_t last_stream, absl::string_view words);
// A GOAWAY frame with NO_ERROR, likewise.
std::string FarewellFrame(uint32_t last_stream, absl::string_view words);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_LISTEN_FRAME_GUARD_H_
