// SPDX-License-Identifier: Apache-2.0
//
// Follows the sealed records of one VM: connects, exchanges keys if asked, opens the records of a source, remembers the
// newest one (replay_state.h), and begins again with new keys when the stream ends. The options of a
// command that does so are here, too.
//   sealed_.AddTo(app);
//   SIDEBAND_ASSIGN_OR_RETURN(const auto stream, sealed_.Stream(SealedStream::Reopening::kAlways, context));
//   return stream->Follow({.on_record = [&](const OpenedRecord& record) { return Use(record); }});
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
#include "client/cli/stream.h"
#include "client/lib/opener.h"
#include "client/lib/record_source.h"
#include "client/lib/telemetry_client.h"
#include "proto/envelope/secret.h"
#include "proto/exchange/guest_exchange.h"
#include "proto/exchange/messages.h"
#include "sideband/v1/telemetry.pb.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace sideband::client {

// The options of a command that exchanges keys from inside a confidential VM. They must outlive the parsing.
class ExchangeOptions {
 public:
  // Not together with `key_file`.
  void AddTo(CLI::App& app, CLI::Option& key_file);
  bool is_given() const { return is_given_; }

  // INVALID_ARGUMENT: an option that is missing or malformed; otherwise as ExchangeKeys.
  absl::StatusOr<exchange::GuestKeys> Run(TelemetryClient& client, const ExchangeSubject& subject) const;
  // A line about who seals.
  static std::string Describe(const exchange::Statement& statement);

 private:
  absl::StatusOr<EvidenceSource> Source() const;

  bool is_given_ = false;
  bool accepts_daemon_ = false;
  std::string sealer_ca_;
  std::string psp_;
  std::string measurement_;
};

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
    // The same, and while the daemon or the VM is not there yet; after a rejected record; and, once a record was
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
  // The keys of one stream.
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

// The options of a command that follows the sealed records of one VM. They must outlive the parsing.
struct SealedOptions {
  std::string vm;  // by name or UUID
  std::string key_file;
  ExchangeOptions exchange;
  std::string view;  // a file that has the records, inside the guest; empty: the daemon's stream
  std::string device;
  std::string device_uuid;
  std::string state;

  void AddTo(CLI::App& app);

  // A --vm that is not a UUID leaves the expected VM open: the key identifies the VM, and the first opened record sets
  // its UUID. INVALID_ARGUMENT: --device-uuid is no UUID.
  absl::StatusOr<Opener::Expected> Expected() const;
  // INVALID_ARGUMENT: an option is missing; otherwise errors of the key file. The options and the context must outlive
  // the stream.
  absl::StatusOr<std::unique_ptr<SealedStream>> Stream(SealedStream::Reopening reopening,
                                                       CommandContext& context) const;
};

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_SEALED_STREAM_H_
