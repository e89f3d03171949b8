// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "daemon/base/clock.h"
#include "daemon/board/board_reader.h"
#include "daemon/mailbox/mailbox_session.h"
#include "daemon/mailbox/register_port.h"
#include "daemon/mailbox/snapshot_reader.h"
#include "proto/base/status_macros.h"
#include "proto/smbus/bus_name.h"
#include "proto/smbus/transfer.h"
#include "secure_mcu/chip_file/chip_file.h"
#include "secure_mcu/device/live_device.h"
#include "secure_mcu/firmware/firmware.h"
#include "secure_mcu/firmware/mailbox_target.h"
#include "secure_mcu/serve/served_device.h"
#include "tests/lab/bench/benchmarks.h"

namespace sideband::bench {
namespace {

using daemon::BoardGroup;
using daemon::BoardStep;

constexpr uint32_t kBusHz = 100'000;
constexpr absl::Duration kInterval = absl::Seconds(1);
constexpr absl::Duration kWarmUp = absl::Seconds(70);
constexpr absl::Duration kMeasured = absl::Seconds(60);
constexpr absl::Duration kTick = absl::Milliseconds(50);  // at which a device catches up

// A bus on which time passes by its transactions.
class TimedBus final : public daemon::Transport {
 public:
  TimedBus(smbus::Bus& bus, daemon::FakeClock& clock) : bus_(bus), clock_(clock) {}

  absl::StatusOr<smbus::TransferResult> Execute(const smbus::Transfer& transfer) override {
    smbus::TransferResult result = bus_.Execute(transfer);
    const uint64_t bits = smbus::BitTimes(transfer, result);
    bit_times_ += bits;
    clock_.Advance(absl::Seconds(1) * bits / kBusHz);
    return result;
  }
  uint64_t bit_times() const { return bit_times_; }

 private:
  smbus::Bus& bus_;
  daemon::FakeClock& clock_;
  uint64_t bit_times_ = 0;
};

class SessionPort final : public daemon::BoardPort {
 public:
  explicit SessionPort(daemon::MailboxSession& session) : session_(session) {}

  absl::StatusOr<daemon::BoardReply> Run(const mailbox::CommandWord& word, std::optional<uint32_t> data,
                                         const daemon::Outputs& outputs) override {
    SIDEBAND_ASSIGN_OR_RETURN(const auto reply, session_.RunBase(word, data, {outputs.data, outputs.extended_data}));
    return daemon::BoardReply{reply.word, reply.data, reply.extended_data};
  }

 private:
  daemon::MailboxSession& session_;
};

// A device behind its bus, and the daemon's readers of it.
class Site {
 public:
  static absl::StatusOr<std::unique_ptr<Site>> Create(const std::string& chip_file) {
    SIDEBAND_ASSIGN_OR_RETURN(const mcu::ChipFile file, mcu::LoadChipFile(chip_file));
    auto site = std::make_unique<Site>();
    SIDEBAND_ASSIGN_OR_RETURN(
        site->device_, mcu::LiveDevice::Create(file, /*boot_id=*/1, [site = site.get()] { return site->Elapsed(); }));
    site->Connect(file);
    return site;
  }

  absl::Duration Steady() const { return clock_.Steady(); }
  absl::Duration Elapsed() const { return Steady() - start_; }
  uint64_t bit_times() const { return transport_.bit_times(); }
  const daemon::BoardReading& reading() const { return *board_.reading(); }
  daemon::MailboxSession& session() { return session_; }

  // One command of the board, if one is due.
  absl::StatusOr<BoardStep> Step() { return board_.Step({clock_.Steady(), clock_.Now()}); }
  // Until the board's next command, or `end`.
  void Rest(absl::Duration end) { PassUntil(std::min(end, board_.NextTime(clock_.Steady()) - start_)); }
  void PassUntil(absl::Duration end) {
    while (Elapsed() < end) {
      clock_.Advance(std::min(kTick, end - Elapsed()));
      viewed_->Tick();
      firmware_->Tick();
    }
  }
  absl::Status TakeSnapshot() {
    SIDEBAND_RETURN_IF_ERROR(snapshots_.Take().status());
    return snapshots_.Acknowledge();
  }

 private:
  void Connect(const mcu::ChipFile& file) {
    viewed_.emplace(*device_, nullptr, nullptr);
    firmware_.emplace(*viewed_, mcu::PowerModel(device_->power()), mcu::Persona::kNvidia, file.extension,
                      file.complement, file.board);
    target_.emplace(smbus::kMailboxAddress, firmware_->shared(),
                    mcu::MailboxTarget::Options{.registers = {}, .own_handler = firmware_->own()});
    bus_.Connect(smbus::kMailboxAddress, *target_);
  }

  daemon::FakeClock clock_{absl::FromUnixSeconds(1'000'000'000)};
  const absl::Duration start_ = clock_.Steady();
  std::unique_ptr<mcu::LiveDevice> device_;
  std::optional<mcu::ViewedDevice> viewed_;
  std::optional<mcu::FirmwarePair> firmware_;
  std::optional<mcu::MailboxTarget> target_;
  mcu::VirtualBus bus_;
  TimedBus transport_{bus_, clock_};
  daemon::RegisterPort port_{transport_, smbus::kMailboxAddress, [](absl::string_view) {}};
  daemon::MailboxSession session_{port_, [this](absl::Duration pause) { PassUntil(Elapsed() + pause); }};
  SessionPort board_port_{session_};
  daemon::BoardReader board_{board_port_, {.schedule = {.bus_hz = kBusHz, .interval = kInterval}}, nullptr};
  daemon::SnapshotReader snapshots_{session_, clock_};
};

struct Cost {
  uint64_t bit_times = 0, commands = 0;
};
using Costs = std::array<Cost, daemon::kBoardGroupCount>;

// The group that has been published since `before`.
std::optional<BoardGroup> Published(const daemon::BoardReading& reading, const daemon::BoardReading& before) {
  for (const auto& [group, time] : reading.samples) {
    if (daemon::Find(before.samples, group) != time) return group;
  }
  return std::nullopt;
}

double OldestSeconds(const daemon::BoardReading& reading, absl::Duration now) {
  double oldest = 0;
  for (const daemon::GroupRow& row : daemon::kBoardGroups) {
    const auto sample = daemon::Find(reading.samples, row.group);
    if (row.group_class != daemon::GroupClass::kInterval || !sample) continue;
    oldest = std::max(oldest, absl::ToDoubleSeconds(now - sample->steady));
  }
  return oldest;
}

// The cost of the latest reading of each group.
class GroupMeter {
 public:
  explicit GroupMeter(Site& site) : site_(site), before_(site.reading()) {}

  absl::Status RunUntil(absl::Duration end) {
    while (site_.Elapsed() < end) {
      const uint64_t start = site_.bit_times();
      SIDEBAND_ASSIGN_OR_RETURN(const BoardStep step, site_.Step());
      round_.bit_times += site_.bit_times() - start;
      round_.commands += site_.bit_times() > start ? 1 : 0;
      if (step == BoardStep::kPublished) TakeRound();
      if (step == BoardStep::kIdle) site_.Rest(end);
    }
    return absl::OkStatus();
  }
  const Costs& costs() const { return costs_; }
  void ForgetAges() { oldest_s_ = 0; }
  double oldest_s() const { return oldest_s_; }

 private:
  void TakeRound() {
    oldest_s_ = std::max(oldest_s_, OldestSeconds(before_, site_.Steady()));
    const auto group = Published(site_.reading(), before_);
    if (group) costs_[daemon::IndexOf(*group)] = round_;
    round_ = {};
    before_ = site_.reading();
  }

  Site& site_;
  daemon::BoardReading before_;
  Cost round_;
  Costs costs_ = {};
  double oldest_s_ = 0;
};

uint64_t Longest(uint64_t before, uint64_t value) { return std::max(before, value); }

// Does the work of the collector's thread until the next snapshot is due: commands of the board.
absl::Status RunBoard(Site& site, absl::Duration due, SnapshotWait& wait) {
  while (site.Elapsed() < due) {
    const uint64_t start = site.bit_times();
    SIDEBAND_ASSIGN_OR_RETURN(const BoardStep step, site.Step());
    wait.longest_command = Longest(wait.longest_command, site.bit_times() - start);
    wait.commands += site.bit_times() > start ? 1 : 0;
    if (step == BoardStep::kIdle) site.Rest(due);
  }
  return absl::OkStatus();
}

uint64_t BitTimesOf(absl::Duration time) { return static_cast<uint64_t>(absl::ToDoubleSeconds(time) * kBusHz + 0.5); }

// The longest snapshot's latency. The first ones, with the catalogue and without a base, are not counted.
absl::StatusOr<uint64_t> TakeSnapshots(Site& site, bool with_board, SnapshotWait& wait) {
  SIDEBAND_RETURN_IF_ERROR(site.session().CheckExtension());
  uint64_t longest = 0;
  const int warm_up = static_cast<int>(kWarmUp / kInterval), all = warm_up + static_cast<int>(kMeasured / kInterval);
  for (int i = 1; i <= all; ++i) {
    const absl::Duration due = i * kInterval;
    if (with_board) SIDEBAND_RETURN_IF_ERROR(RunBoard(site, due, wait));
    site.PassUntil(due);
    const uint64_t waited = BitTimesOf(site.Elapsed() - due);
    SIDEBAND_RETURN_IF_ERROR(site.TakeSnapshot());
    if (i <= warm_up) continue;
    if (with_board) wait.longest_wait = Longest(wait.longest_wait, waited);
    longest = Longest(longest, BitTimesOf(site.Elapsed() - due));
  }
  return longest;
}

Rows RowsOf(const BoardPass& pass) {
  const auto bits = static_cast<double>(pass.bit_times);
  return {
      {"board: a pass of the interval's groups at 100 kHz", bits / kBusHz, "s",
       absl::StrCat(pass.commands, " commands, ", pass.bit_times, " bit times, ", pass.metric_bit_times,
                    " of them for metrics")},
      {"board: the oldest of their samples at 1 Hz and a share of 0.3", pass.oldest_s, "s"},
  };
}

Rows RowsOf(const SnapshotWait& wait) {
  return {{"board: longest wait of a due snapshot, of the longest command",
           static_cast<double>(wait.longest_wait) / static_cast<double>(wait.longest_command), "x",
           absl::StrCat(wait.longest_wait, " and ", wait.longest_command, " bit times, ", wait.commands, " commands")},
          {"board: a snapshot's latency beside the board, of that alone",
           static_cast<double>(wait.bit_times_beside) / static_cast<double>(wait.bit_times_alone), "x",
           absl::StrCat(wait.bit_times_beside, " and ", wait.bit_times_alone, " bit times")}};
}

}  // namespace

absl::StatusOr<BoardPass> MeasureBoardPass(const std::string& chip_file) {
  SIDEBAND_ASSIGN_OR_RETURN(const auto site, Site::Create(chip_file));
  GroupMeter meter(*site);
  SIDEBAND_RETURN_IF_ERROR(meter.RunUntil(kWarmUp));
  meter.ForgetAges();
  SIDEBAND_RETURN_IF_ERROR(meter.RunUntil(kWarmUp + kMeasured));
  BoardPass pass = {.oldest_s = meter.oldest_s()};
  for (const daemon::GroupRow& row : daemon::kBoardGroups) {
    if (row.group_class != daemon::GroupClass::kInterval) continue;
    const Cost& cost = meter.costs()[daemon::IndexOf(row.group)];
    pass.bit_times += cost.bit_times;
    pass.commands += cost.commands;
    if (row.group == BoardGroup::kMetrics) pass.metric_bit_times = cost.bit_times;
  }
  return pass;
}

absl::StatusOr<SnapshotWait> MeasureSnapshotWait(const std::string& chip_file) {
  SIDEBAND_ASSIGN_OR_RETURN(const auto alone, Site::Create(chip_file));
  SIDEBAND_ASSIGN_OR_RETURN(const auto beside, Site::Create(chip_file));
  SnapshotWait wait;
  SIDEBAND_ASSIGN_OR_RETURN(wait.bit_times_alone, TakeSnapshots(*alone, /*with_board=*/false, wait));
  SIDEBAND_ASSIGN_OR_RETURN(wait.bit_times_beside, TakeSnapshots(*beside, /*with_board=*/true, wait));
  return wait;
}

absl::StatusOr<Rows> MeasureBoardCost(const std::string& examples) {
  SIDEBAND_ASSIGN_OR_RETURN(const BoardPass pass, MeasureBoardPass(examples + "/chip-board.yaml"));
  SIDEBAND_ASSIGN_OR_RETURN(const SnapshotWait wait, MeasureSnapshotWait(examples + "/chip.yaml"));
  Rows rows = RowsOf(pass);
  const Rows more = RowsOf(wait);
  rows.insert(rows.end(), more.begin(), more.end());
  return rows;
}

}  // namespace sideband::bench
