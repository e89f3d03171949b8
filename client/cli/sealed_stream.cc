// SPDX-License-Identifier: Apache-2.0
#include "client/cli/sealed_stream.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "client/lib/opener.h"
#include "client/lib/replay_state.h"
#include "client/lib/rpc_status.h"
#include "proto/base/bytes.h"
#include "proto/base/openssl.h"
#include "proto/base/status_macros.h"
#include "proto/base/uuid.h"
#include "proto/envelope/keys.h"
#include "proto/envelope/record.h"
#include "proto/envelope/secret.h"
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
  // Another program may have opened the successor of a later record already.
  if (begins_stream) SIDEBAND_RETURN_IF_ERROR(lock.CheckFollows(header));
  return lock.Raise(header);
}

// Empty without a folder for state files.
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

void ExchangeOptions::AddTo(CLI::App& app, CLI::Option& key_file) {
  auto* const given = app.add_flag("--exchange", is_given_, "Exchange a key with the sealer, from inside the VM");
  given->excludes(&key_file);
  app.add_option("--sealer-ca", sealer_ca_, "CA certificates that the sealer's certificate is verified against")
      ->needs(given)
      ->type_name("FILE");
  app.add_flag("--accept-daemon", accepts_daemon_,
               "Also accept the daemon as the sealer, which can then read the counts; default: only the device")
      ->needs(given);
  auto* const psp = app.add_option("--throwaway-psp", psp_,
                                   "Take the evidence from the test processor in this folder; default: from the kernel")
                        ->needs(given)
                        ->type_name("DIR");
  app.add_option("--measurement", measurement_, "The guest's measurement in that evidence: 96 hexadecimal digits")
      ->needs(psp)
      ->type_name("HEX");
}

absl::StatusOr<EvidenceSource> ExchangeOptions::Source() const {
  if (psp_.empty()) return EvidenceOfTsm();
  const std::optional<Bytes> digits = ParseHex(measurement_);
  attestation::Measurement measurement{};
  if (!digits || digits->size() != measurement.size()) {
    return absl::InvalidArgumentError("--measurement: must be 96 hexadecimal digits");
  }
  std::ranges::copy(*digits, measurement.begin());
  return EvidenceOfThrowawayPsp(psp_, measurement);
}

absl::StatusOr<exchange::GuestKeys> ExchangeOptions::Run(TelemetryClient& client,
                                                         const ExchangeSubject& subject) const {
  if (sealer_ca_.empty()) return absl::InvalidArgumentError("--exchange needs --sealer-ca, the CAs of sealers");
  SIDEBAND_ASSIGN_OR_RETURN(const CertificateRoots roots, CertificateRoots::Load({sealer_ca_}));
  SIDEBAND_ASSIGN_OR_RETURN(const EvidenceSource source, Source());
  exchange::SealerTrust trust{.roots = &roots, .measurements = {}};
  if (accepts_daemon_) trust.sealers.push_back(exchange::SealerKind::kDaemon);
  return ExchangeKeys(client, subject, source, trust);
}

std::string ExchangeOptions::Describe(const exchange::Statement& statement) {
  const auto& digest = statement.measurement;
  const std::string measurement = absl::BytesToHexString({reinterpret_cast<const char*>(digest.data()), digest.size()});
  return absl::StrCat("keys exchanged with the ", exchange::SealerName(statement.sealer), " of ",
                      statement.device.ToString(), ", whose program has the measurement ", measurement);
}

void SealedOptions::AddTo(CLI::App& app) {
  app.add_option("--vm", vm, "The VM, by name or UUID")->type_name("VM");
  auto* const key_option =
      app.add_option("--key-file", key_file,
                     absl::StrCat("The VM's key (given after `", app.get_name(), "`; not the TLS key)"))
          ->type_name("FILE");
  exchange.AddTo(app, *key_option);
  app.add_option(
         "--view", view,
         "Read the records from this file, which a sealing device writes for its guest, instead of from the daemon")
      ->needs(app.get_option("--exchange"))
      ->excludes(key_option)
      ->type_name("FILE");
  app.add_option("--device", device, "The device on which the VM is")->type_name("NAME");
  app.add_option("--device-uuid", device_uuid, "Accept records of this device only")->type_name("UUID");
  app.add_option("--state", state,
                 "Remember the newest record in this file, and reject older ones; default for streams: a file for the "
                 "VM and device under $XDG_STATE_HOME or ~/.local/state")
      ->type_name("FILE");
}

absl::StatusOr<Opener::Expected> SealedOptions::Expected() const {
  Opener::Expected expected;
  if (const absl::StatusOr<Uuid> uuid = Uuid::Parse(vm); uuid.ok()) expected.vm = *uuid;
  if (device_uuid.empty()) return expected;
  const absl::StatusOr<Uuid> uuid = Uuid::Parse(device_uuid);
  if (!uuid.ok()) return absl::InvalidArgumentError(absl::StrCat("--device-uuid: ", uuid.status().message()));
  expected.device = *uuid;
  return expected;
}

absl::StatusOr<std::unique_ptr<SealedStream>> SealedOptions::Stream(SealedStream::Reopening reopening,
                                                                    CommandContext& context) const {
  if (vm.empty()) return absl::InvalidArgumentError("--vm is required");
  SealedStream::Options options{.subject = {.device = device, .vm = vm}, .state = state, .reopening = reopening};
  SIDEBAND_ASSIGN_OR_RETURN(options.expected, Expected());
  if (!view.empty()) {
    options.records = std::make_unique<ViewRecords>(
        ViewRecords::Options{.path = view,
                             .wait = [&context](absl::Duration duration) { return context.Wait(duration); },
                             .note = [&context](const std::string& line) { context.Note(line); }});
  }
  if (exchange.is_given()) return std::make_unique<SealedStream>(exchange, std::move(options), context);
  if (key_file.empty()) return absl::InvalidArgumentError("--key-file or --exchange is required");
  SIDEBAND_ASSIGN_OR_RETURN(envelope::Secret key, envelope::LoadStaticKey(key_file));
  return std::make_unique<SealedStream>(std::move(key), std::move(options), context);
}

}  // namespace sideband::client
