// SPDX-License-Identifier: Apache-2.0
//
// The sources of streams, which do not depend on gRPC: each decides at every step what its stream does next.
//   SIDEBAND_ASSIGN_OR_RETURN(Subscription subscription, Subscription::Create(sources, credentials, request));
//   const StreamStep<StreamMessage> step = subscription.Next();
//   if (const auto* message = std::get_if<StreamMessage>(&step)) Send(*message);   // then call Next() again
#ifndef SIDEBAND_DAEMON_GRPC_SUBSCRIPTION_H_
#define SIDEBAND_DAEMON_GRPC_SUBSCRIPTION_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/identity/identity.h"
#include "daemon/sealing/exchange_book.h"
#include "daemon/sealing/sealer_set.h"
#include "daemon/stream/resume_token.h"
#include "daemon/stream/stream_content.h"
#include "daemon/view/history_reader.h"
#include "daemon/view/mark_queries.h"
#include "daemon/view/reader.h"
#include "daemon/view/sensor_queries.h"
#include "daemon/view/snapshot_message.h"
#include "daemon/view/state_items.h"
#include "sideband/v1/sensors.pb.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {

// A step: a message to send, after which Next() is called again, or one of these two.
//
// Call Next() again after the next publication, policy change or second.
struct StreamWait {};

// The stream is over; OK where the request has been fulfilled.
struct StreamEnd {
  absl::Status status;
};

template <typename Message>
using StreamStep = std::variant<Message, StreamWait, StreamEnd>;

// The error for every unauthenticated or unlisted caller; it does not reveal the reason.
inline absl::Status UnknownCallerError() {
  return absl::UnauthenticatedError("the caller has no valid credentials, or is not in the policy");
}

// The sources of streams' content. All referents must outlive them.
struct StreamSources {
  Reader& reader;
  const ResumeTokens& tokens;
  SnapshotBodies& bodies;
  const HistoryReader* history = nullptr;  // nullptr: no history is kept
  const SensorQueries* sensors = nullptr;  // nullptr: no board is read
  const MarkQueries* marks = nullptr;      // nullptr: there are no marks
};

// One Subscribe stream: the present state, a sync_response, then what is new; heartbeats; and where the request has a
// resume token, first what it says of the resumption. It holds no queue of updates: the next one is made when the last
// one was taken.
//
// Not thread-safe.
class Subscription {
 public:
  using Message = StreamMessage;

  // INVALID_ARGUMENT naming the field (StreamRequest::Parse). Next() checks the permissions.
  static absl::StatusOr<Subscription> Create(const StreamSources& sources, Credentials credentials,
                                             const sideband::v1::SubscribeRequest& request);

  // Evaluates the policy at each call, so that a change of policy or topology narrows or ends the stream at once. Ends
  // with OK after MODE_ONCE, UNAUTHENTICATED for an unknown caller, NotFound() where the filter names something absent
  // or denied.
  StreamStep<Message> Next();
  // Replaces Next() while the identity is at its limit of unread bytes: waits, or ends with UNAUTHENTICATED where the
  // policy no longer lists the caller.
  StreamStep<Message> Wait() const;
  // For how long the reader may leave a message untaken.
  absl::Duration reader_patience() const { return heartbeat_.patience(); }

 private:
  Subscription(const StreamSources& sources, Credentials credentials, sideband::v1::SubscribeRequest request,
               const StreamRequest& parsed);

  absl::Status CheckFilter(const std::vector<VisibleDevice>& devices);
  // At the first step: opens the request's token.
  absl::Status Begin(const StreamSight& sight);
  void Resume(const sideband::v1::SubscribeRequest& request, const StreamSight& sight);
  std::optional<Message> NextMessage(const StreamSight& sight);
  std::optional<Message> NextOfRound(const StreamSight& sight);
  std::optional<Message> NextReplayed(const StreamSight& sight);
  // Adds what every message has.
  absl::Status Stamp(const StreamSight& sight, Message& message);

  StreamSources sources_;
  Credentials credentials_;
  std::optional<sideband::v1::SubscribeRequest> request_;  // until Begin()
  RowFilter filter_;
  bool once_;
  Heartbeat heartbeat_;
  std::unique_ptr<StreamContent> content_;
  // The views of the last filter check. Held, so that an equal address implies an equal view.
  std::vector<std::shared_ptr<const View>> checked_;
  bool is_checked_ = false;
  std::optional<TokenSealer> sealer_;  // from Begin() on
  std::string resumed_from_;           // the request's token
  std::deque<Message> resumption_;     // what is said of it; at most two for each device
  bool is_in_round_ = true;            // the whole state is being sent
  bool synced_ = false;
  uint64_t sequence_ = 0;
};

// One WatchBoardEvents stream: what the daemon holds, a sync_response, then what happens.
//
// Not thread-safe. The queries must outlive it.
class BoardEventSubscription {
 public:
  using Message = sideband::v1::WatchBoardEventsResponse;

  BoardEventSubscription(const SensorQueries& sensors, Credentials credentials,
                         const sideband::v1::WatchBoardEventsRequest& request)
      : sensors_(&sensors), credentials_(std::move(credentials)), device_(request.device()) {}

  // Evaluates the policy at each call. Ends with UNAUTHENTICATED for an unknown caller, NotFound() where the request
  // names a device of which the caller may not see everything.
  StreamStep<Message> Next();
  // Replaces Next() while the identity is at its limit of unread bytes.
  StreamStep<Message> Wait() const;

 private:
  std::optional<Message> NextEvent(const std::vector<VisibleBoard>& boards);

  const SensorQueries* sensors_;
  Credentials credentials_;
  std::string device_;
  bool is_synced_ = false;
  std::map<std::string, BoardEventCursor> cursors_;  // by device name, of devices that were seen at the last call
};

// One SubscribeSealed stream: the newest sealed record of a confidential VM, then each new one. A slow reader misses
// records, and detects that by their sequence numbers. With the nonce of an exchange of keys the records are those of
// the exchange; with another they are sealed for this stream alone, starting with the next snapshot.
//
// Not thread-safe. The reader and the sealers must outlive it.
class SealedSubscription {
 public:
  using Message = sideband::v1::SealedRecord;

  // Where `sealers` is nullptr a nonce is UNIMPLEMENTED; where `exchanges` is nullptr there are none.
  SealedSubscription(Reader& reader, SealerSet* sealers, ExchangeBook* exchanges, Credentials credentials,
                     const sideband::v1::SubscribeSealedRequest& request);

  // Evaluates the policy at each call. Ends with UNAUTHENTICATED for an unknown caller, NotFound() where the caller may
  // not read sealed records of such a VM, INVALID_ARGUMENT for a malformed nonce, FAILED_PRECONDITION for a VM
  // without a key and when the exchange has ended, and RESOURCE_EXHAUSTED beyond kNonceStreamsPerVmMax. Waits while the
  // VM has no new record.
  StreamStep<Message> Next();
  // Replaces Next() while the identity is at its limit of unread bytes: waits, or ends with UNAUTHENTICATED where the
  // policy no longer lists the caller.
  StreamStep<Message> Wait() const;

 private:
  absl::Status CheckNonce() const;
  // The nonce, which CheckNonce has accepted.
  envelope::GuestNonce Nonce() const;
  // Finds the exchange of the nonce, if it is of one. FAILED_PRECONDITION once it has ended.
  absl::Status FollowExchange(const Uuid& device, const Uuid& vm);
  // The VM's newest record for this stream; nullptr: none. FAILED_PRECONDITION and RESOURCE_EXHAUSTED as of Next().
  absl::StatusOr<const Bytes*> RecordOf(const DeviceSnapshot& snapshot, const Uuid& vm);
  // The same for a VM that its device seals.
  absl::StatusOr<const Bytes*> RecordOfDevice(const DeviceSnapshot& snapshot, const Uuid& vm);
  // Starts the sealing of the stream's own records. Does nothing without a nonce or when already started.
  absl::Status OpenOwnStream(const Uuid& device, const Uuid& vm);

  Reader* reader_;
  SealerSet* sealers_;
  ExchangeBook* exchanges_;
  Credentials credentials_;
  std::string nonce_;                               // empty: the shared stream
  std::unique_ptr<SealerSet::NonceStream> stream_;  // nullptr without a nonce, or before OpenOwnStream
  std::string device_;
  std::optional<size_t> index_;  // device index in the store
  std::string vm_;
  bool is_exchanged_ = false;                  // the nonce is that of an exchange
  std::optional<uint64_t> first_publication_;  // seen, of a VM that its device seals
  uint64_t sent_ = 0;                          // publication number of the last record sent
  Bytes last_;                                 // that record
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_GRPC_SUBSCRIPTION_H_
