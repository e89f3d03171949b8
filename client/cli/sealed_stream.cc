// SPDX-License-Identifier: Apache-2.0
#include "client/cli/sealed_stream.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/lib/exchange_state.h"
#include "client/lib/opener_state.h"
#include "client/lib/rpc_status.h"
#include "client/lib/sealed_snapshot.h"
#include "client/lib/state_file.h"
#include "proto/base/status_macros.h"
#include "proto/envelope/keys.h"
#include "proto/envelope/record.h"
#include "proto/exchange/guest_exchange.h"

namespace sideband::client {
namespace {

using Reopening = SealedStream::Reopening;

// Two programs that exchange keys of one VM end each other's streams: delays grow unless a stream has lasted.
constexpr int kSteadyAfterRecords = 10;

}  // namespace

absl::StatusOr<v1::SealedContent> ContentOf(const OpenResult& opened, const std::vector<std::string>& events) {
  if (opened.header.suite == envelope::kSuiteHpke) return SealedContentOf(opened, events);
  v1::SealedContent content;
  if (content.ParseFromArray(opened.content.data(), static_cast<int>(opened.content.size()))) return content;
  return absl::DataLossError("the record's content is not telemetry that this program knows");
}

SealedStream::SealedStream(envelope::Secret static_key, Options options, CommandContext& context)
    : static_key_(std::move(static_key)), options_(std::move(options)), context_(context) {}

SealedStream::SealedStream(const ExchangeOptions& exchange, Options options, CommandContext& context)
    : exchange_(&exchange), options_(std::move(options)), context_(context) {}

absl::Status SealedStream::Follow(const Callbacks& callbacks) {
  SIDEBAND_RETURN_IF_ERROR(NoteMissingState());
  Reconnection reconnection(context_, {.is_loss = [this](const absl::Status& ended) { return IsPassing(ended); },
                                       .waits_for_first = options_.reopening == Reopening::kAlways,
                                       .steady_after = kSteadyAfterRecords});
  for (;;) {
    const absl::Status ended = FollowOnce(callbacks, reconnection);
    callbacks.on_end(ended);
    if (ended.ok() || context_.cancellation().cancelled()) return absl::OkStatus();
    const bool goes_on = options_.reopening != Reopening::kNever && reconnection.Again(ended);
    if (!goes_on) return context_.cancellation().cancelled() ? absl::OkStatus() : ended;
  }
}

absl::Status SealedStream::FollowOnce(const Callbacks& callbacks, Reconnection& reconnection) {
  // A new client reads certificates and token again.
  SIDEBAND_ASSIGN_OR_RETURN(const auto client, reconnection.Connect(context_));
  SIDEBAND_ASSIGN_OR_RETURN(Keys keys, NewKeys(*client));
  SIDEBAND_RETURN_IF_ERROR(callbacks.on_open(*client));
  return Receive(keys, *client, callbacks, reconnection);
}

absl::Status SealedStream::Receive(Keys& keys, TelemetryClient& client, const Callbacks& callbacks,
                                   Reconnection& reconnection) {
  absl::Status error;
  bool is_wanted = true;
  const auto on_record = [&](ByteSpan bytes) {
    const absl::StatusOr<OpenedRecord> record = Open(keys, bytes);
    if (!record.ok()) {
      error = record.status();
      return false;
    }
    reconnection.Received();
    was_open_ = true;
    return is_wanted = callbacks.on_record(*record);
  };
  const absl::Status ended =
      options_.records->Read({.client = client, .subject = options_.subject, .nonce = keys.nonce},
                             {.on_record = on_record, .on_second = [&] { callbacks.on_second(client); }});
  if (!error.ok()) return error;
  if (!ended.ok() || !is_wanted || context_.cancellation().cancelled()) return ended;
  return MarkRemote(absl::UnavailableError("the server ended the stream"));
}

bool SealedStream::IsPassing(const absl::Status& ended) const {
  const bool is_always = options_.reopening == Reopening::kAlways;
  if (!IsRemote(ended)) return is_always && absl::IsDataLoss(ended);
  if (is_always && (was_open_ || absl::IsNotFound(ended))) return true;
  // The VM has no keys, or no longer these.
  return absl::IsFailedPrecondition(ended);
}

absl::StatusOr<SealedStream::Keys> SealedStream::NewKeys(TelemetryClient& client) {
  if (exchange_ != nullptr) return ExchangedKeys(client);
  Opener::Expected expected = options_.expected;
  SIDEBAND_ASSIGN_OR_RETURN(expected.nonce, context_.DrawNonce());
  return Keys{.opener = Opener(static_key_.Clone(), expected), .nonce = *expected.nonce};
}

absl::StatusOr<SealedStream::Keys> SealedStream::ExchangedKeys(TelemetryClient& client) {
  SIDEBAND_ASSIGN_OR_RETURN(exchange::GuestKeys keys, exchange_->Run(client, options_.subject));
  context_.Note(ExchangeOptions::Describe(keys.statement));
  Opener::Expected expected = options_.expected;
  // The daemon has resolved the names: a UUID that the user has given must be that of the keys.
  if (expected.vm.value_or(keys.statement.vm) != keys.statement.vm ||
      expected.device.value_or(keys.statement.device) != keys.statement.device) {
    return absl::UnauthenticatedError("the sealer is not trusted: the keys belong to another VM or device");
  }
  expected.vm = keys.statement.vm;
  expected.device = keys.statement.device;
  expected.nonce = keys.nonce;
  return Keys{.opener = Opener(envelope::Ratchet(std::move(keys.secret)), expected),
              .nonce = keys.nonce,
              .events = std::move(keys.statement.events)};
}

absl::StatusOr<OpenedRecord> SealedStream::Open(Keys& keys, ByteSpan record) {
  OpenedRecord result;
  SIDEBAND_ASSIGN_OR_RETURN(result.opened, keys.opener.Open(record));
  result.begins_stream = std::exchange(keys.is_fresh, false);
  SIDEBAND_RETURN_IF_ERROR(Remember(result.opened.header, result.begins_stream));
  SIDEBAND_ASSIGN_OR_RETURN(result.content, ContentOf(result.opened, keys.events));
  return result;
}

absl::Status SealedStream::Remember(const envelope::RecordHeader& header, bool begins_stream) const {
  const std::string name =
      exchange_ == nullptr ? StateFileName(header.vm, header.device) : ExchangeStateFileName(header.vm, header.device);
  SIDEBAND_ASSIGN_OR_RETURN(const std::string path, StatePath(name));
  if (path.empty()) return absl::OkStatus();
  if (exchange_ == nullptr) {
    // The state is not read: the nonce proves that the record is new, even if the host's clock was set back.
    SIDEBAND_ASSIGN_OR_RETURN(const OpenerState::Lock lock, OpenerState(path).Acquire());
    return lock.Raise(header);
  }
  SIDEBAND_ASSIGN_OR_RETURN(const ExchangeState::Lock lock, ExchangeState(path).Acquire());
  // Of a later record another program may have opened the successor already.
  if (begins_stream) SIDEBAND_RETURN_IF_ERROR(lock.CheckFollows(header));
  return lock.Raise(header);
}

// Empty if there is no folder for state files.
absl::StatusOr<std::string> SealedStream::StatePath(const std::string& name) const {
  if (!options_.state.empty()) return options_.state;
  SIDEBAND_ASSIGN_OR_RETURN(const std::optional<std::string> folder, StateFolder(context_.get_env()));
  return folder.has_value() ? absl::StrCat(*folder, "/", name) : "";
}

absl::Status SealedStream::NoteMissingState() {
  SIDEBAND_ASSIGN_OR_RETURN(const std::string path, StatePath("any"));
  if (path.empty()) {
    context_.Note(
        "the newest record cannot be remembered: HOME is not a folder (set XDG_STATE_HOME, or give --state FILE)");
  }
  return absl::OkStatus();
}

}  // namespace sideband::client
