// SPDX-License-Identifier: Apache-2.0
#include "client/cpp/subscription.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "client/cpp/snapshot_values.h"
#include "client/cpp/stream_values.h"
#include "client/lib/rpc_status.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"
#include "sideband/client.h"

namespace sideband::library {
namespace {

constexpr char kConfidentialExcluded[] = "confidential_excluded";

bool IsComparable(const ScopeCounters& row) {
  return std::find(row.flags.begin(), row.flags.end(), kConfidentialExcluded) == row.flags.end();
}

using Counts = std::vector<std::pair<std::string, uint64_t>>;

// The earlier count of an event, which usually has the place that it had before.
const uint64_t* FindCount(const Counts& counts, const std::string& event, size_t place) {
  if (place < counts.size() && counts[place].first == event) return &counts[place].second;
  const auto found = std::find_if(counts.begin(), counts.end(), [&](const auto& one) { return one.first == event; });
  return found == counts.end() ? nullptr : &found->second;
}

absl::Status CheckCounts(const ScopeCounters& row, const Counts& before) {
  size_t place = 0;
  for (const Counter& counter : row.counters) {
    if (counter.estimate) continue;
    const uint64_t* const count = FindCount(before, counter.event, place++);
    if (count == nullptr || counter.count >= *count) continue;
    return absl::DataLossError(absl::StrCat(ScopeText(row.scope), ": the count of ", counter.event, " fell from ",
                                            *count, " to ", counter.count, " within generation ",
                                            row.scope.generation));
  }
  return absl::OkStatus();
}

absl::Status Cancelled() { return absl::CancelledError("the stream was cancelled"); }

// The newest reading of a board.
std::optional<Time> TimeOf(const DeviceSensors& sensors) {
  std::optional<Time> newest;
  for (const SensorGroup& group : sensors.groups) newest = std::max(newest, std::optional<Time>(group.host_time));
  return newest;
}

}  // namespace

absl::Status Plausibility::Check(const Snapshot& snapshot, bool is_whole) {
  if (devices_.size() >= kDevicesMax && devices_.count(snapshot.device) == 0) {
    return absl::DataLossError(absl::StrCat("a stream of more than ", kDevicesMax, " devices"));
  }
  Device& device = devices_[snapshot.device];
  if (device.boot_id != snapshot.boot_id) device = {.boot_id = snapshot.boot_id};
  if (snapshot.reference_time < device.reference_time) {
    return absl::DataLossError(absl::StrCat(snapshot.device, ": the device's clock went back from ",
                                            device.reference_time.count(), " ns to ", snapshot.reference_time.count(),
                                            " ns in boot ", BootIdText(snapshot.boot_id)));
  }
  // A scope that was absent for a while may come back; one that is forgotten is not checked.
  Lives lives = is_whole || device.lives.size() > kScopesMax ? Lives() : device.lives;
  for (const ScopeCounters& row : snapshot.scopes) {
    SIDEBAND_RETURN_IF_ERROR(CheckRow(row, device.lives));
    Life life = LifeOf(row);
    Life& kept = lives[ScopeKey(row.scope)];
    // The snapshot may have both lives of a scope that has ended and begun again.
    if (life.generation >= kept.generation) kept = std::move(life);
  }
  device.reference_time = snapshot.reference_time;
  device.lives = std::move(lives);
  return absl::OkStatus();
}

absl::Status Plausibility::CheckRow(const ScopeCounters& row, const Lives& before) {
  const auto found = before.find(ScopeKey(row.scope));
  if (found == before.end() || !IsComparable(row)) return absl::OkStatus();
  const Life& life = found->second;
  if (row.scope.generation == life.generation) return CheckCounts(row, life.counts);
  // The final counts of an earlier life may come late.
  if (row.scope.generation > life.generation || row.status == ScopeStatus::kRetired) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(ScopeText(row.scope), ": the generation went back from ", life.generation,
                                          " to ", row.scope.generation));
}

Plausibility::Life Plausibility::LifeOf(const ScopeCounters& row) {
  Life life{.generation = row.scope.generation};
  if (!IsComparable(row)) return life;
  for (const Counter& counter : row.counters) {
    if (!counter.estimate) life.counts.emplace_back(counter.event, counter.count);
  }
  return life;
}

void Resumption::Lost() {
  for (auto& [name, device] : devices_) device.is_open = true;
  if (kind_ == StreamKind::kOnChange && has_had_change_) all_are_open_ = true;
}

void Resumption::AccountedFor(const std::string& device) {
  // Who accounts for one accounts for all that the token knows.
  all_are_open_ = false;
  for (auto& [name, one] : devices_) {
    if (device.empty() || name == device) one.is_open = false;
  }
}

bool Resumption::IsRepeat(const Snapshot& snapshot) {
  const auto found = devices_.find(snapshot.device);
  if (found == devices_.end() || !found->second.is_open) return false;
  Device& device = found->second;
  if (device.boot_id != snapshot.boot_id || device.snapshot_id != snapshot.snapshot_id) return false;
  device.is_open = false;
  return true;
}

std::optional<Gap> Resumption::GapBefore(const std::string& device, std::optional<Time> time) {
  if (std::exchange(all_are_open_, false)) return Gap{.to = time, .reason = GapReason::kNotResumed};
  const auto found = devices_.find(device);
  if (found == devices_.end() || !std::exchange(found->second.is_open, false)) return std::nullopt;
  return Gap{.device = device, .from = found->second.time, .to = time, .reason = GapReason::kNotResumed};
}

std::optional<Gap> Resumption::GapBeforeAny() {
  if (!std::exchange(all_are_open_, false)) return std::nullopt;
  return Gap{.reason = GapReason::kNotResumed};
}

void Resumption::Had(const Snapshot& snapshot) {
  Device& device = devices_[snapshot.device];
  device.boot_id = snapshot.boot_id;
  device.snapshot_id = snapshot.snapshot_id;
  device.time = snapshot.host_time;
}

void Resumption::Had(const std::string& device, std::optional<Time> time) {
  Device& had = devices_[device];
  if (time && (!had.time || *had.time < *time)) had.time = time;
}

Subscription::Subscription(StreamOptions options, Environment environment)
    : options_(std::move(options)),
      environment_(std::move(environment)),
      heartbeat_(absl::FromChrono(options_.heartbeat)),
      backoff_({.min = absl::FromChrono(options_.delay_min), .max = absl::FromChrono(options_.delay_max)},
               environment_.random),
      resumption_(options_.kind, !options_.resume_token.empty()),
      token_(options_.resume_token) {}

absl::StatusOr<StreamItem> Subscription::Next() {
  while (ended_.ok() && queue_.empty()) ended_ = Advance();
  if (!ended_.ok()) source_.reset();
  // The items that were received before the end come first.
  if (queue_.empty()) return ended_;
  Queued next = std::move(queue_.front());
  queue_.pop_front();
  if (next.token) token_ = *std::move(next.token);
  return std::move(next.item);
}

absl::Status Subscription::Advance() {
  if (environment_.is_cancelled()) return Cancelled();
  if (const auto delay = std::exchange(delay_, std::nullopt)) {
    waited_ += *delay;
    environment_.wait(*delay);
    if (environment_.is_cancelled()) return Cancelled();
  }
  return source_ == nullptr ? Open() : Read();
}

absl::Status Subscription::Open() {
  sequence_ = std::nullopt;
  is_resumed_ = false;
  auto opened = environment_.open(ToMessage(options_, token_));
  if (!opened.ok()) return Lose(opened.status());
  source_ = *std::move(opened);
  return absl::OkStatus();
}

absl::Status Subscription::Read() {
  v1::SubscribeResponse response;
  switch (source_->Read(Patience(), response)) {
    case ResponseSource::Outcome::kMessage:
      return Take(response);
    case ResponseSource::Outcome::kSilence:
      return Lose(client::MarkRemote(absl::UnavailableError(absl::StrCat(
          environment_.peer, ": nothing was received for ", absl::FormatDuration(Patience()), ", two heartbeats"))));
    case ResponseSource::Outcome::kEnded:
      break;
  }
  const absl::Status ended = source_->Finish();
  if (environment_.is_cancelled()) return Cancelled();
  if (!ended.ok()) return Lose(ended);
  return Lose(
      client::MarkRemote(absl::UnavailableError(absl::StrCat(environment_.peer, ": the daemon ended the stream"))));
}

absl::Duration Subscription::Patience() const {
  if (heartbeat_ == absl::ZeroDuration()) return absl::InfiniteDuration();
  if (!sequence_) return std::max(2 * heartbeat_, kFirstMessagePatience);
  // A daemon that does not number its messages knows of no heartbeats either.
  return *sequence_ == 0 ? absl::InfiniteDuration() : 2 * heartbeat_;
}

absl::Status Subscription::Lose(const absl::Status& ended) {
  source_.reset();
  if (!MayConnectAgain(ended)) return ended;
  if (!std::exchange(is_lost_, true)) resumption_.Lost();
  if (!client::IsStarting(ended)) waited_ = absl::ZeroDuration();
  delay_ = std::max(backoff_.Next(), client::RetryAfter(ended).value_or(absl::ZeroDuration()));
  Push(Interrupted{
      .error = ErrorOf(ended), .delay = absl::ToChronoNanoseconds(*delay_), .attempt = backoff_.attempts()});
  return absl::OkStatus();
}

bool Subscription::MayConnectAgain(const absl::Status& ended) const {
  return client::MayOpenAgain(ended, {.was_open = was_open_,
                                      .waits_for_first = options_.waits_for_first,
                                      .starting_for = is_lost_ ? std::optional(waited_) : std::nullopt,
                                      .has_new_credentials = environment_.has_new_credentials()});
}

absl::Status Subscription::Take(const v1::SubscribeResponse& response) {
  if (absl::Status status = CheckSequence(response.sequence()); !status.ok()) return Contradiction(status);
  NoteOpen(response);
  Bounds bounds;
  absl::Status status = TakeContent(response, bounds);
  if (status.ok()) status = bounds.status();
  if (!status.ok()) {
    queue_.clear();
    return Contradiction(status);
  }
  // A response without a token has none, and an earlier one would bring back what the program has had. What has no item
  // has been dealt with.
  if (queue_.empty()) {
    token_ = response.resume_token();
  } else {
    queue_.back().token = response.resume_token();
  }
  return absl::OkStatus();
}

void Subscription::NoteOpen(const v1::SubscribeResponse& response) {
  was_open_ = true;
  is_lost_ = false;
  // The delays go on growing while connections bring a message or two and end.
  if (response.sync_response() || response.heartbeat()) backoff_.Reset();
}

absl::Status Subscription::CheckSequence(uint64_t sequence) {
  const bool is_first = !sequence_.has_value();
  const uint64_t expected = is_first ? 1 : *sequence_ + 1;
  // An older daemon numbers none of its messages.
  const bool is_right =
      sequence == 0 ? is_first || *sequence_ == 0 : sequence == expected && (is_first || *sequence_ > 0);
  if (!is_right) {
    return absl::DataLossError(absl::StrCat("the message after ", sequence_.value_or(0), " has the number ", sequence));
  }
  sequence_ = sequence;
  return absl::OkStatus();
}

absl::Status Subscription::TakeContent(const v1::SubscribeResponse& response, Bounds& bounds) {
  switch (response.response_case()) {
    case v1::SubscribeResponse::kUpdate:
      return TakeUpdate(response, bounds);
    case v1::SubscribeResponse::kSensors:
      TakeSensors(response, bounds);
      break;
    case v1::SubscribeResponse::kChange:
      TakeChange(response, bounds);
      break;
    case v1::SubscribeResponse::kSyncResponse:
      TakeSync(response);
      break;
    case v1::SubscribeResponse::kResumed:
      is_resumed_ = true;
      resumption_.AccountedFor(response.resumed().device());
      Push(Resumed{.device = response.resumed().device()});
      break;
    case v1::SubscribeResponse::kGap:
      // The whole state of all devices follows.
      if (response.gap().device().empty()) is_resumed_ = false;
      resumption_.AccountedFor(response.gap().device());
      Push(ValueOf(response.gap(), bounds));
      break;
    case v1::SubscribeResponse::RESPONSE_NOT_SET:
      // A response that only a newer daemon knows.
      break;
  }
  return absl::OkStatus();
}

absl::Status Subscription::TakeUpdate(const v1::SubscribeResponse& response, Bounds& bounds) {
  Update update{.snapshot = ValueOf(response.update(), bounds),
                .skipped = response.skipped(),
                .heartbeat = response.heartbeat(),
                .replayed = response.replayed()};
  SIDEBAND_RETURN_IF_ERROR(bounds.status());
  const bool is_whole = !options_.suppress_redundant || update.heartbeat;
  SIDEBAND_RETURN_IF_ERROR(plausibility_.Check(update.snapshot, is_whole));
  if (resumption_.IsRepeat(update.snapshot)) return absl::OkStatus();
  PushGap(resumption_.GapBefore(update.snapshot.device, update.snapshot.host_time));
  resumption_.Had(update.snapshot);
  Push(std::move(update));
  return absl::OkStatus();
}

void Subscription::TakeSensors(const v1::SubscribeResponse& response, Bounds& bounds) {
  SensorUpdate update{.sensors = ValueOf(response.sensors(), bounds), .heartbeat = response.heartbeat()};
  const std::optional<Time> time = TimeOf(update.sensors);
  PushGap(resumption_.GapBefore(update.sensors.device, time));
  resumption_.Had(update.sensors.device, time);
  Push(std::move(update));
}

void Subscription::TakeChange(const v1::SubscribeResponse& response, Bounds& bounds) {
  Change change = ValueOf(response.change(), bounds);
  change.heartbeat = response.heartbeat();
  PushGap(resumption_.GapBeforeAny());
  resumption_.HadChange();
  Push(std::move(change));
}

void Subscription::TakeSync(const v1::SubscribeResponse& response) {
  PushGap(resumption_.GapBeforeAny());
  if (!is_resumed_ || response.heartbeat()) Push(Synced{.heartbeat = response.heartbeat()});
}

void Subscription::PushGap(std::optional<Gap> gap) {
  if (gap) Push(*std::move(gap));
}

absl::Status Subscription::Contradiction(const absl::Status& status) const {
  return absl::DataLossError(absl::StrCat(environment_.peer, ": ", status.message()));
}

}  // namespace sideband::library
