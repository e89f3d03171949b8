// SPDX-License-Identifier: Apache-2.0
//
// Counters as they are read, over losses of the connection: a stream connects again by itself, goes on where it ended
// if the daemon can, and says so if something is missing.
//   auto stream = client.Subscribe({.filter = {.vm = "vm1"}, .interval = std::chrono::seconds(1)});
//   if (!stream) return 1;
//   while (const auto item = stream->Next()) {
//     const auto* const update = std::get_if<sideband::Update>(&*item);
//     if (update != nullptr) std::cout << update->snapshot.snapshot_id << "\n";
//     const auto* const gap = std::get_if<sideband::Gap>(&*item);
//     if (gap != nullptr) std::cerr << "something may be missing of " << gap->device << "\n";
//   }
#ifndef SIDEBAND_STREAM_H_
#define SIDEBAND_STREAM_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sideband/change.h"
#include "sideband/error.h"
#include "sideband/export.h"
#include "sideband/sensors.h"
#include "sideband/snapshot.h"
#include "sideband/time.h"

namespace sideband {

namespace library {
class StreamState;
}

enum class StreamKind {
  // Counters: an Update for each interval.
  kSample,
  // States: a Change when one of them changes. Older daemons do not have it: kInvalidArgument or kUnimplemented.
  kOnChange,
};

struct StreamOptions {
  Filter filter;
  StreamKind kind = StreamKind::kSample;
  // kSample: the time between two updates of a device, from 10 ms on. The device's own interval takes the place of 0
  // and of a shorter one.
  Duration interval{};
  // kSample: boards' sensors, too. Only with a filter that is empty but for its device.
  bool sensors = false;
  // kSample: an update has only the scopes that have changed.
  bool suppress_redundant = false;
  // How often the daemon sends the present state even if nothing has happened, from 1 s to 24 h. After two of them
  // without anything, the connection is taken for dead. 0: never. An older daemon sends none, and its silence means
  // nothing.
  Duration heartbeat = std::chrono::seconds(10);
  // The token of the last item of an earlier stream with equal options, perhaps of another process:
  // Stream::resume_token().
  std::string resume_token;
  // Whether the first connection, too, is tried until it succeeds. Otherwise its failure is an error.
  bool waits_for_first = false;
  // Bounds of the delay before another attempt to connect. It doubles from one attempt to the next, and begins anew
  // when a connection has sent the whole present state, or a heartbeat; of each delay a random part of up to one half
  // is left out. A daemon that says when it has room again is waited for so long, at most an hour.
  Duration delay_min = std::chrono::milliseconds(500);
  Duration delay_max = std::chrono::seconds(10);
  // Waits before another attempt, on the thread of Next(); must not throw. Empty: a wait that Cancel() ends.
  std::function<void(Duration)> sleep;
};

// A snapshot of one device.
struct Update {
  Snapshot snapshot;
  // Snapshots of this device since its previous update that were not sent. No count is lost: counters are cumulative.
  uint64_t skipped = 0;
  // The update is a heartbeat's: it may be the same snapshot as before.
  bool heartbeat = false;
  // The update is of the time in which there was no connection: without rates, ratios, age and state of the device.
  bool replayed = false;

  bool operator==(const Update&) const = default;
};

struct SensorUpdate {
  DeviceSensors sensors;
  bool heartbeat = false;

  bool operator==(const SensorUpdate&) const = default;
};

struct Change {
  std::vector<StateItem> items;
  bool heartbeat = false;

  bool operator==(const Change&) const = default;
};

// The whole present state has been sent: at the beginning of each connection that is not Resumed, and in each
// heartbeat.
struct Synced {
  bool heartbeat = false;

  bool operator==(const Synced&) const = default;
};

// After a loss of the connection: nothing is missing. What follows goes on where the stream ended.
struct Resumed {
  // Empty: all devices.
  std::string device;

  bool operator==(const Resumed&) const = default;
};

enum class GapReason {
  kUnknown,
  // The daemon does not know the token: it has restarted, or the token is of another caller or request.
  kUnknownToken,
  kPolicyChanged,
  // The device has restarted.
  kRebooted,
  // The daemon's history does not go back so far.
  kNotKept,
  // kOnChange: something has changed meanwhile.
  kStateChanged,
  // The caller sees no device of this name any more.
  kGone,
  // The caller has seen the device only since, or a VM of it, which a new policy has given to the caller.
  kAppeared,
  // The daemon does not say whether anything is missing: it is older than this library.
  kNotResumed,
};

// Something may be missing between the two times. The whole present state follows. No count is lost: counters are
// cumulative, within a boot and a generation.
struct Gap {
  // Empty: all devices.
  std::string device;
  // By the host's clock: the newest thing before, and the first after. Absent: unknown.
  std::optional<Time> from;
  std::optional<Time> to;
  GapReason reason = GapReason::kUnknown;
  // The gap is in the sensors of the device's board, and not in its counters.
  bool sensors = false;

  bool operator==(const Gap&) const = default;
};

// The connection was lost, or another attempt has failed. The next call of Next() waits for `delay` and connects again.
// A program that does not want that stops calling.
struct Interrupted {
  Error error;
  Duration delay{};
  // 1 for the first failure since the delays began anew.
  uint32_t attempt = 0;

  bool operator==(const Interrupted&) const = default;
};

using StreamItem = std::variant<Update, SensorUpdate, Change, Synced, Resumed, Gap, Interrupted>;

// Made by Client::Subscribe(), and independent of the client from then on. Not thread-safe, except for Cancel(), which
// any thread may call. Must not be moved or destroyed while a call is in flight; a stream that was moved from can only
// be destroyed or assigned to. It has no thread of its own: between two calls of Next() the connection keeps a few
// messages, and then the daemon waits, and skips snapshots.
class SIDEBAND_EXPORT Stream {
 public:
  explicit Stream(std::unique_ptr<library::StreamState> state) noexcept;
  Stream(Stream&&) noexcept;
  Stream& operator=(Stream&&) noexcept;
  ~Stream();

  // Waits for the next item. An error is the stream's end, and every later call returns it again:
  //   kCancelled    Cancel()
  //   kProtocol     the daemon's answers contradict each other: a count that falls within a generation, a generation or
  //                 a device's time that goes back, an answer beyond the limits in client.h. The message says which
  //   others        the daemon refuses: other names, rights, credentials
  // Losses of the connection are no errors but items (Interrupted), except before the first message (waits_for_first).
  // The files of the configuration are read for each connection, so certificates and tokens may be renewed meanwhile.
  // After a loss, files that cannot be used are an error when they are so for 30 s.
  Result<StreamItem> Next() noexcept;

  // For StreamOptions::resume_token: of the last item that Next() has returned. Empty: there is none, or the daemon
  // gives none. Up to 32 KiB of bytes for the daemon alone.
  std::string resume_token() const noexcept;

  // Ends a call of Next() in another thread, and all later ones, with kCancelled. Thread-safe.
  void Cancel() noexcept;

 private:
  std::unique_ptr<library::StreamState> state_;
};

}  // namespace sideband

#endif  // SIDEBAND_STREAM_H_
