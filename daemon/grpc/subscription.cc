// SPDX-License-Identifier: Apache-2.0
#include "daemon/grpc/subscription.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/stream/change_stream.h"
#include "daemon/stream/sample_stream.h"
#include "daemon/view/row_filter.h"
#include "proto/base/bytes.h"
#include "proto/base/status_macros.h"
#include "proto/envelope/record.h"

namespace sideband::daemon {
namespace {

using sideband::v1::Gap;
using sideband::v1::SubscribeRequest;

std::unique_ptr<StreamContent> ContentOf(const StreamRequest& request, const StreamSources& sources) {
  if (request.on_change) {
    return std::make_unique<ChangeStream>(request,
                                          ChangeStream::Sources{.sensors = sources.sensors, .marks = sources.marks});
  }
  return std::make_unique<SampleStream>(
      request,
      SampleStream::Sources{
          .reader = sources.reader, .bodies = sources.bodies, .history = sources.history, .sensors = sources.sensors});
}

// The newest thing that the caller had: of several devices the earliest.
absl::Time NewestOf(const StreamPosition& position) {
  absl::Time newest = position.time;
  for (const DevicePosition& device : position.devices) newest = std::min(newest, device.host_time);
  return newest;
}

// The VM of that name or UUID whose sealed records the view permits; nullptr if none.
const mailbox::VmInfo* FindSealed(const View& view, const std::string& name_or_uuid) {
  for (const mailbox::VmInfo& vm : view.topology()->catalog().vms) {
    if (!view.SeesSealed(vm.id)) continue;
    if (vm.name == name_or_uuid || vm.uuid.ToString() == name_or_uuid) return &vm;
  }
  return nullptr;
}

const Bytes* FindRecord(const DeviceSnapshot& snapshot, const Uuid& vm, uint64_t stream) {
  for (const SealedVmRecord& sealed : snapshot.sealed) {
    if (sealed.vm == vm && sealed.stream == stream) return sealed.record.get();
  }
  return nullptr;
}

const Bytes* FindExchanged(const DeviceSnapshot& snapshot, const Uuid& vm, const envelope::GuestNonce& nonce) {
  for (const SealedVmRecord& sealed : snapshot.sealed) {
    if (sealed.vm != vm || sealed.stream != kExchangedStream) continue;
    const auto record = envelope::ParseRecord(*sealed.record);
    if (record.ok() && record->header.guest_nonce == nonce) return sealed.record.get();
  }
  return nullptr;
}

absl::Status ExchangeEnded() {
  return absl::FailedPreconditionError("the exchange of keys has ended: the guest has to exchange keys again");
}

// Keys are loaded at the start only, and the nonce is of no exchange: waiting would not help.
absl::Status NoKeyError() {
  return absl::FailedPreconditionError(
      "the daemon has no key for this VM: neither from sealing.vm_keys of its configuration, nor from an exchange with "
      "this nonce");
}

// The same where a device seals.
absl::Status SealedByDevice() {
  return absl::FailedPreconditionError(
      "the VM's device seals its records, but has no exchange with this nonce: the guest has to exchange keys");
}

}  // namespace

absl::StatusOr<Subscription> Subscription::Create(const StreamSources& sources, Credentials credentials,
                                                  const SubscribeRequest& request) {
  SIDEBAND_ASSIGN_OR_RETURN(const StreamRequest parsed, StreamRequest::Parse(request));
  return Subscription(sources, std::move(credentials), request, parsed);
}

Subscription::Subscription(const StreamSources& sources, Credentials credentials, SubscribeRequest request,
                           const StreamRequest& parsed)
    : sources_(sources),
      credentials_(std::move(credentials)),
      request_(std::move(request)),
      filter_(parsed.filter),
      once_(parsed.once),
      heartbeat_(parsed.heartbeat_interval),
      content_(ContentOf(parsed, sources)) {}

// Repeats the check only where a view has changed since the last call.
absl::Status Subscription::CheckFilter(const std::vector<VisibleDevice>& devices) {
  std::vector<std::shared_ptr<const View>> views;
  for (const VisibleDevice& device : devices) views.push_back(device.view);
  if (is_checked_ && views == checked_) return absl::OkStatus();
  SIDEBAND_RETURN_IF_ERROR(filter_.Check(devices));
  checked_ = std::move(views);
  is_checked_ = true;
  return absl::OkStatus();
}

absl::Status Subscription::Begin(const StreamSight& sight) {
  if (sealer_) return absl::OkStatus();
  SIDEBAND_ASSIGN_OR_RETURN(sealer_, sources_.tokens.Begin(sight.caller.principal.identity, *request_));
  content_->BeginRound();
  heartbeat_.Sent(sight.steady_now);
  resumed_from_ = request_->resume_token();
  if (!resumed_from_.empty()) Resume(*request_, sight);
  request_.reset();
  return absl::OkStatus();
}

void Subscription::Resume(const SubscribeRequest& request, const StreamSight& sight) {
  const auto position = sources_.tokens.Open(sight.caller.principal.identity, request, request.resume_token());
  if (!position) {
    resumption_.push_back(GapMessage("", Gap::REASON_UNKNOWN_TOKEN, absl::InfinitePast(), sight.now));
  } else if (position->policy_version != sight.caller.policy.version) {
    resumption_.push_back(GapMessage("", Gap::REASON_POLICY_CHANGED, NewestOf(*position), sight.now));
  } else {
    for (Message& message : content_->Resume(*position, sight)) resumption_.push_back(std::move(message));
  }
}

std::optional<Subscription::Message> Subscription::NextOfRound(const StreamSight& sight) {
  std::optional<Message> message = content_->NextOfRound(sight);
  if (!message && content_->IsRoundDone(sight)) {
    is_in_round_ = false;
    heartbeat_.Sent(sight.steady_now);
    message.emplace();
    message->fields.set_sync_response(true);
  }
  if (message && message->fields.sync_response()) {
    // Rounds after the first one are heartbeats.
    message->fields.set_heartbeat(synced_);
    synced_ = true;
  }
  return message;
}

std::optional<Subscription::Message> Subscription::NextMessage(const StreamSight& sight) {
  if (!resumption_.empty()) {
    Message message = std::move(resumption_.front());
    resumption_.pop_front();
    // A reader that is cut now has not had the others: it resumes at the same place once more.
    if (!resumption_.empty()) message.fields.set_resume_token(resumed_from_);
    return message;
  }
  if (content_->IsReplaying(sight)) return NextReplayed(sight);
  if (!is_in_round_ && heartbeat_.IsDue(sight.steady_now)) {
    content_->BeginRound();
    is_in_round_ = true;
  }
  return is_in_round_ ? NextOfRound(sight) : content_->NextNews(sight);
}

// The whole state would be out of order. A reader that waits for rows learns that the stream is alive, and how far it
// is.
std::optional<Subscription::Message> Subscription::NextReplayed(const StreamSight& sight) {
  auto message = is_in_round_ ? NextOfRound(sight) : content_->NextNews(sight);
  if (!message && heartbeat_.IsDue(sight.steady_now)) {
    message.emplace();
    message->fields.set_heartbeat(true);
  }
  if (message) heartbeat_.Sent(sight.steady_now);
  return message;
}

absl::Status Subscription::Stamp(const StreamSight& sight, Message& message) {
  message.fields.set_sequence(++sequence_);
  if (!message.fields.resume_token().empty()) return absl::OkStatus();
  StreamPosition position{.policy_version = sight.caller.policy.version, .time = sight.now};
  content_->AddPosition(sight, position);
  SIDEBAND_ASSIGN_OR_RETURN(std::string token, sealer_->Seal(position));
  // One that would be refused is of no use.
  if (token.size() <= kResumeTokenBytesMax) message.fields.set_resume_token(std::move(token));
  return absl::OkStatus();
}

StreamStep<Subscription::Message> Subscription::Wait() const {
  if (!sources_.reader.Identify(credentials_)) return StreamEnd{UnknownCallerError()};
  return StreamWait{};
}

StreamStep<Subscription::Message> Subscription::Next() {
  if (once_ && synced_) return StreamEnd{absl::OkStatus()};
  const auto caller = sources_.reader.Identify(credentials_);
  if (!caller) return StreamEnd{UnknownCallerError()};
  const std::vector<VisibleDevice> devices = sources_.reader.Devices(*caller);
  // A name that the caller may no longer read ends the stream, with the same status as an absent one.
  if (const absl::Status found = CheckFilter(devices); !found.ok()) return StreamEnd{found};
  const Clock& clock = sources_.reader.clock();
  const StreamSight sight{.caller = *caller, .devices = devices, .now = clock.Now(), .steady_now = clock.Steady()};
  if (const absl::Status begun = Begin(sight); !begun.ok()) return StreamEnd{begun};
  auto message = NextMessage(sight);
  if (!message) return StreamWait{};
  if (const absl::Status stamped = Stamp(sight, *message); !stamped.ok()) return StreamEnd{stamped};
  return *std::move(message);
}

std::optional<BoardEventSubscription::Message> BoardEventSubscription::NextEvent(
    const std::vector<VisibleBoard>& boards) {
  // Boards that are no longer seen have no events either.
  std::erase_if(cursors_, [&](const auto& cursor) {
    return std::ranges::none_of(boards, [&](const VisibleBoard& board) { return board.device == cursor.first; });
  });
  for (const VisibleBoard& board : boards) {
    if (!board.part.is_whole()) continue;
    BoardEventCursor& cursor = cursors_.try_emplace(board.device, board.device).first->second;
    cursor.Follow(*board.reading);
    if (auto event = cursor.Next()) return event;
  }
  return std::nullopt;
}

StreamStep<BoardEventSubscription::Message> BoardEventSubscription::Wait() const {
  if (!sensors_->reader().Identify(credentials_)) return StreamEnd{UnknownCallerError()};
  return StreamWait{};
}

StreamStep<BoardEventSubscription::Message> BoardEventSubscription::Next() {
  const auto caller = sensors_->reader().Identify(credentials_);
  if (!caller) return StreamEnd{UnknownCallerError()};
  const auto boards = sensors_->WholeBoards(*caller, device_);
  if (!boards.ok()) return StreamEnd{boards.status()};
  if (auto event = NextEvent(*boards)) return *std::move(event);
  if (is_synced_) return StreamWait{};
  is_synced_ = true;
  Message sync;
  sync.set_sync_response(true);
  return sync;
}

SealedSubscription::SealedSubscription(Reader& reader, SealerSet* sealers, ExchangeBook* exchanges,
                                       Credentials credentials, const sideband::v1::SubscribeSealedRequest& request)
    : reader_(&reader),
      sealers_(sealers),
      exchanges_(exchanges),
      credentials_(std::move(credentials)),
      nonce_(request.nonce()),
      device_(request.device()),
      vm_(request.vm()) {}

absl::Status SealedSubscription::CheckNonce() const {
  if (nonce_.empty()) return absl::OkStatus();
  // All zeros in a record's header mean no nonce.
  if (nonce_.size() != envelope::kGuestNonceBytes || nonce_.find_first_not_of('\0') == std::string::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat("nonce: must be ", envelope::kGuestNonceBytes, " bytes, not all zeros, or empty"));
  }
  if (sealers_ == nullptr) return absl::UnimplementedError("nonce: this daemon seals no records");
  return absl::OkStatus();
}

absl::Status SealedSubscription::OpenOwnStream(const Uuid& device, const Uuid& vm) {
  if (nonce_.empty() || stream_ != nullptr) return absl::OkStatus();
  SIDEBAND_ASSIGN_OR_RETURN(stream_, sealers_->OpenStream(device, vm, Nonce()));
  return absl::OkStatus();
}

envelope::GuestNonce SealedSubscription::Nonce() const {
  envelope::GuestNonce nonce;
  std::ranges::copy(AsBytes(nonce_), nonce.begin());
  return nonce;
}

absl::Status SealedSubscription::FollowExchange(const Uuid& device, const Uuid& vm) {
  if (nonce_.empty() || stream_ != nullptr) return absl::OkStatus();
  const bool has_exchange = exchanges_ != nullptr && exchanges_->HasExchange(device, vm, Nonce());
  if (is_exchanged_ && !has_exchange) return ExchangeEnded();
  is_exchanged_ = has_exchange;
  return absl::OkStatus();
}

// An exchange with a device ends before its caller can subscribe, so the next collection has a record of it.
absl::StatusOr<const Bytes*> SealedSubscription::RecordOfDevice(const DeviceSnapshot& snapshot, const Uuid& vm) {
  if (nonce_.empty()) return SealedByDevice();
  const Bytes* const record = FindExchanged(snapshot, vm, Nonce());
  if (!first_publication_) first_publication_ = snapshot.publication;
  if (record == nullptr && snapshot.publication > *first_publication_) {
    return is_exchanged_ ? ExchangeEnded() : SealedByDevice();
  }
  if (record != nullptr) is_exchanged_ = true;
  return record;
}

absl::StatusOr<const Bytes*> SealedSubscription::RecordOf(const DeviceSnapshot& snapshot, const Uuid& vm) {
  const Uuid& device = snapshot.topology->catalog().device;
  SIDEBAND_RETURN_IF_ERROR(FollowExchange(device, vm));
  if (is_exchanged_) return FindExchanged(snapshot, vm, Nonce());
  if (sealers_ != nullptr && !sealers_->HasKey(vm)) return NoKeyError();
  SIDEBAND_RETURN_IF_ERROR(OpenOwnStream(device, vm));
  return FindRecord(snapshot, vm, stream_ == nullptr ? kSharedStream : stream_->id());
}

StreamStep<SealedSubscription::Message> SealedSubscription::Wait() const {
  if (!reader_->Identify(credentials_)) return StreamEnd{UnknownCallerError()};
  return StreamWait{};
}

StreamStep<SealedSubscription::Message> SealedSubscription::Next() {
  const auto caller = reader_->Identify(credentials_);
  if (!caller) return StreamEnd{UnknownCallerError()};
  // After authentication: an unauthenticated caller learns nothing about its request.
  if (const absl::Status nonce = CheckNonce(); !nonce.ok()) return StreamEnd{nonce};
  for (const VisibleDevice& device : reader_->Devices(*caller)) {
    if (device.snapshot == nullptr || (!device_.empty() && device.info->name != device_)) continue;
    const mailbox::VmInfo* vm = FindSealed(*device.view, vm_);
    if (vm == nullptr) continue;
    device_ = device.info->name;  // a request without a device binds to the first match
    // A reload may have restarted the device, whose publications then count from 1 again.
    if (std::exchange(index_, device.index) != device.index) {
      sent_ = 0;
      first_publication_.reset();
    }
    const absl::StatusOr<const Bytes*> found = device.snapshot->IsSealedByDevice(vm->id)
                                                   ? RecordOfDevice(*device.snapshot, vm->uuid)
                                                   : RecordOf(*device.snapshot, vm->uuid);
    if (!found.ok()) return StreamEnd{found.status()};
    const Bytes* const record = *found;
    // Two snapshots within ten milliseconds have the same record of a device.
    if (record == nullptr || device.snapshot->publication <= sent_ || *record == last_) return StreamWait{};
    sent_ = device.snapshot->publication;
    last_ = *record;
    Message message;
    message.set_record(record->data(), record->size());
    return message;
  }
  return StreamEnd{NotFound()};
}

}  // namespace sideband::daemon
