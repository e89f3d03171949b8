// SPDX-License-Identifier: Apache-2.0
//
// Follows the sealed records of one VM: connects, exchanges keys if asked, opens the records of a source, remembers the
// newest one (replay_state.h), and begins anew with new keys when the stream ends.
//   SealedStream stream(std::move(static_key), {.subject = {.vm = "vm3"}}, context);
//   return stream.Follow({.on_record = [&](const OpenedRecord& record) { return Use(record); }});
#ifndef SIDEBAND_CLIENT_CLI_SEALED_STREAM_H_
#define SIDEBAND_CLIENT_CLI_SEALED_STREAM_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/cli/command.h"
#include "client/cli/exchange_options.h"
#include "client/cli/reconnection.h"
#include "client/lib/key_exchange.h"
#include "client/lib/opener.h"
#include "client/lib/record_source.h"
#include "client/lib/telemetry_client.h"
#include "proto/envelope/secret.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::client {

struct OpenedRecord {
  OpenResult opened;
  v1::SealedContent content;
  bool begins_stream = false;  // the first one under its keys' nonce
};

// The content of a record. `events` are those of an exchange, for records of suite 2. DATA_LOSS: no telemetry.
absl::StatusOr<v1::SealedContent> ContentOf(const OpenResult& opened, const std::vector<std::string>& events);

// Not thread-safe. Each stream has a nonce of its own, so that no record of an earlier one is accepted.
class SealedStream {
 public:
  enum class Reopening : uint8_t {
    kNever,
    // Once a record was received, when the connection is lost or the keys have ended.
    kOnceOpen,
    // Likewise, and while the daemon or the VM is not there yet; after a rejected record; and, once a record was
    // received, after each error of the daemon.
    kAlways,
  };
  struct Options {
    ExchangeSubject subject;
    Opener::Expected expected;  // VM and device, where the user has named them by UUID
    std::string state;          // a file; empty: one of VM and device in StateFolder()
    Reopening reopening = Reopening::kNever;
    std::unique_ptr<RecordSource> records = std::make_unique<DaemonRecords>();
  };
  struct Callbacks {
    // Returns whether to go on.
    std::function<bool(const OpenedRecord& record)> on_record;
    // Keys are there, and the stream is opened next. An error ends the stream.
    std::function<absl::Status(TelemetryClient& client)> on_open = [](TelemetryClient&) { return absl::OkStatus(); };
    // Every second of a stream whose records need the daemon.
    std::function<void(TelemetryClient& client)> on_second = [](TelemetryClient&) {};
    // A stream has ended, or could not be opened; whether or not another follows. DATA_LOSS: a record was rejected.
    std::function<void(const absl::Status& ended)> on_end = [](const absl::Status&) {};
  };

  // The context, and `exchange`, must outlive the object.
  SealedStream(envelope::Secret static_key, Options options, CommandContext& context);
  SealedStream(const ExchangeOptions& exchange, Options options, CommandContext& context);

  // OK at the cancellation, and when on_record has returned false; else why the last stream ended. Waits between two
  // streams, from 0.5 s to 10 s.
  absl::Status Follow(const Callbacks& callbacks);

 private:
  // Of one stream.
  struct Keys {
    Opener opener;
    envelope::GuestNonce nonce{};
    std::vector<std::string> events;
    bool is_fresh = true;  // no record was opened by them
  };

  absl::StatusOr<Keys> NewKeys(TelemetryClient& client);
  absl::StatusOr<Keys> ExchangedKeys(TelemetryClient& client);
  absl::Status FollowOnce(const Callbacks& callbacks, Reconnection& reconnection);
  absl::Status Receive(Keys& keys, TelemetryClient& client, const Callbacks& callbacks, Reconnection& reconnection);
  absl::StatusOr<OpenedRecord> Open(Keys& keys, ByteSpan record);
  absl::Status Remember(const envelope::RecordHeader& header, bool begins_stream) const;
  absl::StatusOr<std::string> StatePath(const std::string& name) const;
  absl::Status NoteMissingState();
  bool IsPassing(const absl::Status& ended) const;

  envelope::Secret static_key_;
  const ExchangeOptions* const exchange_ = nullptr;  // nullptr: by the static key
  const Options options_;
  CommandContext& context_;
  bool was_open_ = false;
};

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_SEALED_STREAM_H_
