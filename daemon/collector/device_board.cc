// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/device_board.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/base/clock.h"
#include "proto/base/bytes.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/board_items.h"
#include "proto/mailbox/catalog.h"

namespace sideband::daemon {
namespace {

Uuid UuidOf(const BoardReading& reading) {
  const auto guid = Find(reading.identity.items, mailbox::SysId::kGuid);
  const std::optional<Bytes> bytes = guid ? ParseHex(*guid) : std::nullopt;
  Uuid uuid;
  if (bytes && bytes->size() == uuid.bytes.size()) std::ranges::copy(*bytes, uuid.bytes.begin());
  return uuid;
}

// A bus without a configured frequency counts as the fastest of SMBus 3, so that its share is bounded all the same.
constexpr uint32_t kUnknownBusHz = 1'000'000;

}  // namespace

absl::StatusOr<bool> BoardBursts::MayRun(absl::Duration due, absl::Duration now) {
  if (gate_.IsOpen()) return GoOn(due, now);
  // The looks precede the command that they are for.
  if (now < NextTime(due)) return false;
  auto is_open = LookAgain(now);
  if (!is_open.ok()) gate_.Retreat(now);
  return is_open;
}

absl::StatusOr<bool> BoardBursts::GoOn(absl::Duration due, absl::Duration now) {
  if (due > now) {
    has_paused_ = true;
    if (due >= gate_.end()) End(now);
    return false;
  }
  if (!has_paused_) return true;
  const auto status = session_.ReadStatus();
  // Otherwise another client has begun in the pause.
  if (status.ok() && session_.IsOwn(*status)) return true;
  End(now);
  if (!status.ok()) return status.status();
  return false;
}

absl::StatusOr<bool> BoardBursts::Look(absl::Duration now) {
  SIDEBAND_ASSIGN_OR_RETURN(const mailbox::CommandWord status, session_.ReadStatus());
  looked_ = now;
  gate_.Look(status, session_.IsOwn(status), now);
  return lock_.is_held() && gate_.IsQuiet();
}

absl::StatusOr<bool> BoardBursts::LookAgain(absl::Duration now) {
  gate_.Wait(now);
  // Before the look: what a program has done under the lock shows in it.
  if (gate_.IsLastLook(now)) {
    SIDEBAND_ASSIGN_OR_RETURN(const bool is_held, lock_.TryAcquire());
    if (!is_held) return false;
  }
  const auto is_free = Look(now);
  if (!is_free.ok() || !*is_free) {
    lock_.Release();
    return is_free;
  }
  gate_.Open(now);
  has_paused_ = false;
  return true;
}

void BoardBursts::Follow(const absl::Status& status, absl::Duration now) {
  has_paused_ = false;
  if (status.ok()) gate_.Count(now);
  if (!status.ok() || !gate_.IsOpen()) End(now);
}

void BoardBursts::End(absl::Duration now) {
  if (gate_.IsOpen()) gate_.Close(now);
  lock_.Release();
}

absl::Duration BoardBursts::NextTime(absl::Duration due) const {
  return gate_.IsOpen() ? due : std::max(gate_.next_look(), due - options_.quiet);
}

std::shared_ptr<DeviceSnapshot> BoardSnapshots::Make(const BoardReading& reading, const BoardTime& answered,
                                                     absl::Duration wall_error) {
  const auto newest = NewestSample(reading);
  if (!newest) return nullptr;
  const BoardTime time = newest->steady > answered.steady ? *newest : answered;
  const Uuid uuid = UuidOf(reading);
  if (topology_ == nullptr || topology_->catalog().device != uuid) {
    topology_ = std::make_shared<const Topology>(mailbox::Catalog{.device = uuid}, /*hash=*/0);
  }
  auto snapshot = std::make_shared<DeviceSnapshot>();
  snapshot->topology = topology_;
  snapshot->has_board = true;
  snapshot->host_time = time.wall;
  snapshot->host_time_error = wall_error;
  snapshot->steady_time = time.steady;
  snapshot->publication = ++publication_;
  return snapshot;
}

DeviceBoard::DeviceBoard(size_t device, MailboxSession& session, BusLock& lock, const Context& context)
    : device_(device), context_(context), session_(session), lock_(lock), port_(session) {}

absl::StatusOr<BoardReply> DeviceBoard::Port::Run(const mailbox::CommandWord& word, std::optional<uint32_t> data,
                                                  const Outputs& outputs) {
  const auto reply =
      session_.RunBase(word, data, {.data = outputs.data, .extended_data = outputs.extended_data}, runs_max_);
  if (!reply.ok()) return reply.status();
  return BoardReply{.word = reply->word, .data = reply->data, .extended_data = reply->extended_data};
}

void DeviceBoard::SetReachable(bool is_reachable) {
  is_reachable_ = is_reachable;
  // The lock is not kept for a device that is away.
  if (!is_reachable && bursts_) bursts_->End(context_.clock.Steady());
}

bool DeviceBoard::Follow() {
  if (context_.boards == nullptr || !is_reachable_) return false;
  const auto info = context_.store.Info(device_);
  if (info == nullptr) return false;
  const Plan plan = {.settings = context_.boards->SettingsOf(device_),
                     .bus_hz = info->bus_hz == 0 ? kUnknownBusHz : info->bus_hz,
                     .interval = info->interval,
                     .shares_registers = session_.shares_registers()};
  if (!plan.settings.is_read) {
    bursts_.reset();
    reader_.reset();
    return false;
  }
  if (reader_ && plan == plan_) return true;
  name_ = info->name;
  plan_ = plan;
  MakeReader();
  return true;
}

void DeviceBoard::MakeReader() {
  const BoardSettings& settings = plan_.settings;
  // A device of version 2 has registers for the daemon alone.
  const bool is_shared = settings.is_shared && plan_.shares_registers;
  bursts_.reset();
  if (is_shared) {
    bursts_.emplace(session_, lock_,
                    BurstOptions{.commands = settings.burst, .quiet = settings.quiet, .interval = plan_.interval});
  }
  // Beside another client a command is repeated in the next burst, since at once it would be in that one's way again.
  port_.set_runs_max(is_shared ? 1 : MailboxSession::kRunsMax);
  reader_.emplace(port_,
                  BoardReaderOptions{
                      .schedule = {.bus_hz = plan_.bus_hz, .bus_share = settings.bus_share, .interval = plan_.interval},
                      .port = {.is_shared = plan_.shares_registers},
                      .interruptions_max = is_shared ? MailboxSession::kRunsMax - 1 : 0},
                  [this](absl::string_view group, absl::string_view what) { LogChange(group, what); });
}

bool DeviceBoard::is_shared() const {
  return is_wanted() && context_.boards->SettingsOf(device_).is_shared && session_.shares_registers();
}

void DeviceBoard::LogChange(absl::string_view group, absl::string_view what) const {
  spdlog::warn("device {}: board: {}{}", name_, group == "board" ? "" : absl::StrCat(group, ": "), std::string(what));
}

void DeviceBoard::LogError(const absl::Status& status) {
  // Transitions alone: a device that is away fails at each attempt.
  if (error_ == status.message() || absl::IsCancelled(status)) return;
  if (!status.ok()) {
    spdlog::warn("device {}: board: {}", name_, std::string(status.message()));
  } else if (!error_.empty()) {
    spdlog::info("device {}: board: its base commands answer again", name_);
  }
  error_ = std::string(status.message());
}

bool DeviceBoard::MayRun(absl::Duration now) {
  if (!bursts_) return true;
  const auto may_run = bursts_->MayRun(reader_->NextTime(now), now);
  if (!may_run.ok()) LogError(may_run.status());
  return may_run.ok() && *may_run;
}

bool DeviceBoard::RunNext() {
  if (!Follow() || !MayRun(context_.clock.Steady())) return false;
  const absl::Duration begun = context_.clock.Steady();
  const auto step = reader_->Step({begun, PlaceBySteady(ReadWall(context_.clock), begun, begun).time});
  if (step.ok() && *step == BoardStep::kIdle) return false;
  if (bursts_) bursts_->Follow(step.status(), context_.clock.Steady());
  LogError(step.status());
  if (step.ok()) answered_ = context_.clock.Steady();
  if (step.ok() && *step == BoardStep::kPublished) context_.boards->Publish(device_, reader_->reading());
  return true;
}

std::shared_ptr<DeviceSnapshot> DeviceBoard::SnapshotOfReading() {
  if (!reader_) return nullptr;
  const absl::Duration answered = bursts_ ? std::max(answered_, bursts_->looked()) : answered_;
  if (answered == -absl::InfiniteDuration()) return nullptr;  // nothing was read either
  const PlacedTime placed = PlaceBySteady(ReadWall(context_.clock), answered, answered);
  return snapshots_.Make(*reader_->reading(), {.steady = answered, .wall = placed.time}, placed.error);
}

absl::Duration DeviceBoard::NextTime() {
  if (!Follow()) return absl::InfiniteDuration();
  const absl::Duration now = context_.clock.Steady(), due = reader_->NextTime(now);
  return bursts_ ? std::max(now, bursts_->NextTime(due)) : due;
}

}  // namespace sideband::daemon
