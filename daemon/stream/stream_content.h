// SPDX-License-Identifier: Apache-2.0
//
// The request for a stream, and its content: Subscription decides when, and asks it for the next message at each step.
// A round is the whole present state: the first one, and one for each heartbeat. A message that only repeats state has
// `heartbeat`, so that a reader may ignore it; a message with new content has not.
//   content.BeginRound();
//   while (auto message = content.NextOfRound(sight)) Send(*message);
//   if (content.IsRoundDone(sight)) SendSync();
//   while (auto message = content.NextNews(sight)) Send(*message);
#ifndef SIDEBAND_DAEMON_STREAM_STREAM_CONTENT_H_
#define SIDEBAND_DAEMON_STREAM_STREAM_CONTENT_H_

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/snapshot/message.h"
#include "daemon/stream/resume_token.h"
#include "daemon/view/reader.h"
#include "daemon/view/row_filter.h"
#include "daemon/view/snapshot_message.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {

// A valid SubscribeRequest. The names in its filter are checked against what the caller sees, at each step.
struct StreamRequest {
  // More than a device can have.
  static constexpr int kEventsMax = 4096;
  static constexpr size_t kNameBytesMax = 256;

  // INVALID_ARGUMENT naming the field.
  static absl::StatusOr<StreamRequest> Parse(const sideband::v1::SubscribeRequest& request);

  RowFilter filter;
  bool names_rows = false;  // the filter has a VM, a context or events
  bool once = false;
  bool on_change = false;
  bool sensors = false;
  bool suppress_redundant = false;
  absl::Duration sample_interval;     // zero: the device's own
  absl::Duration heartbeat_interval;  // zero: no heartbeats
};

// A SubscribeResponse, whose snapshot may be one that is serialised already.
struct StreamMessage {
  sideband::v1::SubscribeResponse fields;  // all of it, but `update` where that is shared
  std::optional<SharedSnapshot> update;    // the response's, shared by all readers of the view; `fields` then has none
};

// When a stream's whole state is to be sent again. Streams are woken every second, so that it needs no timer.
//
// Not thread-safe. Times are of the host's steady clock.
class Heartbeat {
 public:
  // Zero: there are none.
  explicit Heartbeat(absl::Duration interval) : interval_(interval) {}

  // The whole state has been sent.
  void Sent(absl::Duration now) { sent_ = now; }
  // Up to half a second before the interval ends, and with short ones at most at their half: the next wake-up may be a
  // second away.
  bool IsDue(absl::Duration now) const {
    if (interval_ == absl::ZeroDuration() || !sent_) return false;
    return now - *sent_ >= interval_ - std::min(interval_ / 2, absl::Milliseconds(500));
  }
  // For how long a reader may leave a message untaken.
  absl::Duration patience() const {
    return interval_ == absl::ZeroDuration() ? absl::InfiniteDuration() : 2 * interval_;
  }

 private:
  absl::Duration interval_;
  std::optional<absl::Duration> sent_;
};

// The caller's view of all data at one step, under the policy in force. It is valid during the call that it is passed
// to.
struct StreamSight {
  const Caller& caller;
  const std::vector<VisibleDevice>& devices;
  absl::Time now;             // by the host's clock
  absl::Duration steady_now;  // by its steady clock
};

// Not thread-safe.
class StreamContent {
 public:
  using Message = StreamMessage;

  virtual ~StreamContent() = default;

  // Goes on at `position`, before anything else is asked: returns `resumed` and `gap` messages, at least one. The
  // policy is that of the position.
  virtual std::vector<Message> Resume(const StreamPosition& position, const StreamSight& sight) = 0;
  virtual void BeginRound() = 0;
  // nullopt: nothing more is to be sent now. If the round is not done then, the work of this step was: the next step
  // goes on.
  virtual std::optional<Message> NextOfRound(const StreamSight& sight) = 0;
  virtual bool IsRoundDone(const StreamSight& sight) const = 0;
  virtual std::optional<Message> NextNews(const StreamSight& sight) = 0;
  // Whether what a resumption covers is still being sent: the present state would be out of order.
  virtual bool IsReplaying(const StreamSight& sight) const = 0;
  // Adds the position after the last message.
  virtual void AddPosition(const StreamSight& sight, StreamPosition& position) const = 0;
};

// For one device, or for all where the name is empty.
inline StreamContent::Message ResumedMessage(const std::string& device) {
  StreamContent::Message message;
  message.fields.mutable_resumed()->set_device(device);
  return message;
}

// Without `from` where it is InfinitePast().
inline StreamContent::Message GapMessage(const std::string& device, sideband::v1::Gap::Reason reason, absl::Time from,
                                         absl::Time to) {
  StreamContent::Message message;
  sideband::v1::Gap& gap = *message.fields.mutable_gap();
  gap.set_device(device);
  gap.set_reason(reason);
  if (from != absl::InfinitePast()) SetTime(from, *gap.mutable_from());
  SetTime(to, *gap.mutable_to());
  return message;
}

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_STREAM_STREAM_CONTENT_H_
