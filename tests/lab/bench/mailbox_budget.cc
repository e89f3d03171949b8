// SPDX-License-Identifier: Apache-2.0
#include "tests/lab/bench/mailbox_budget.h"

#include <zstd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "daemon/base/clock.h"
#include "daemon/mailbox/block_peeker.h"
#include "daemon/mailbox/device_commands.h"
#include "daemon/mailbox/mailbox_session.h"
#include "daemon/mailbox/register_port.h"
#include "daemon/mailbox/snapshot_reader.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/counting.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/peek.h"
#include "proto/mailbox/snapshot.h"
#include "proto/smbus/bus_name.h"
#include "secure_mcu/chip_file/chip_file.h"
#include "secure_mcu/device/live_device.h"
#include "secure_mcu/firmware/firmware.h"
#include "secure_mcu/firmware/mailbox_target.h"

namespace sideband::bench {
namespace {

// One context's counters.
struct Context {
  std::span<const uint64_t> before;
  std::vector<uint64_t> increments;
  double sum_before = 0;
  double sum_increments = 0;
};

// Only contexts that have counted: a bit tells that another has not.
std::vector<Context> ContextsOf(const mailbox::Snapshot& before, const mailbox::Snapshot& now) {
  std::vector<Context> contexts;
  for (size_t i = 0; i < now.blocks.size(); ++i) {
    if (now.blocks[i].context == mailbox::kNoContext) continue;
    Context context{.before = before.Counters(i), .increments = {}};
    for (size_t c = 0; c < context.before.size(); ++c) {
      context.increments.push_back(now.Counters(i)[c] - context.before[c]);
      context.sum_before += static_cast<double>(context.before[c]);
      context.sum_increments += static_cast<double>(context.increments[c]);
    }
    if (context.sum_increments > 0) contexts.push_back(std::move(context));
  }
  return contexts;
}

// The information of numbers whose widths are coded by their frequencies so far.
class AdaptiveWidths {
 public:
  double Cost(double number) {
    const auto width = static_cast<size_t>(std::bit_width(static_cast<uint64_t>(std::abs(number))));
    const double probability = (counts_[width] + 0.5) / (total_ + 0.5 * static_cast<double>(counts_.size()));
    ++counts_[width];
    ++total_;
    // The highest bit is implied by the width.
    return -std::log2(probability) + static_cast<double>(width > 0 ? width - 1 : 0);
  }

 private:
  std::array<double, 65> counts_{};
  double total_ = 0;
};

// Predicts the increment of counter `c`, given the context's earlier ones.
using Model = std::function<double(const Context& context, size_t c)>;

double Nothing(const Context&, size_t) { return 0; }

double ShareOfSum(const Context& context, size_t c) {
  if (context.sum_before == 0) return 0;
  return static_cast<double>(context.before[c]) * context.sum_increments / context.sum_before;
}

double ShareByNeighbour(const Context& context, size_t c) {
  if (c == 0 || context.before[c - 1] == 0) return ShareOfSum(context, c);
  return static_cast<double>(context.before[c]) * static_cast<double>(context.increments[c - 1]) /
         static_cast<double>(context.before[c - 1]);
}

double Bits(const std::vector<Context>& contexts, const Model& model, bool is_signed) {
  AdaptiveWidths widths;
  double bits = 0;
  for (const Context& context : contexts) {
    for (size_t c = 0; c < context.increments.size(); ++c) {
      const double difference = static_cast<double>(context.increments[c]) - std::floor(model(context, c));
      bits += widths.Cost(difference) + (is_signed && difference != 0 ? 1 : 0);
    }
  }
  return bits;
}

}  // namespace

uint64_t IncrementBoundBytes(const mailbox::Snapshot& before, const mailbox::Snapshot& now) {
  const std::vector<Context> contexts = ContextsOf(before, now);
  const double bits = std::min({Bits(contexts, Nothing, /*is_signed=*/false), Bits(contexts, ShareOfSum, true),
                                Bits(contexts, ShareByNeighbour, true)});
  return static_cast<uint64_t>(std::ceil(bits / 8));
}

namespace {

constexpr uint64_t kPlainBitTimes = 290;  // one command with one status, 5D and 5E, without PEC (smbpbi-facts.md, 6.2)
constexpr uint64_t kWindowBitTimes = 2343;
constexpr absl::Duration kBefore = absl::Milliseconds(2700);
constexpr absl::Duration kBetween = absl::Seconds(1);
constexpr int kZstdLevel = 19;
// Each context of a slice runs many times a second.
constexpr absl::Duration kShortQuantum = absl::Milliseconds(4);

// The emulated device behind its bus, read by the daemon's reader; time advances only by explicit calls.
class Bench {
 public:
  static absl::StatusOr<std::unique_ptr<Bench>> Create(const std::string& chip_file, mailbox::ExtensionVersion version,
                                                       Scenario scenario) {
    SIDEBAND_ASSIGN_OR_RETURN(mcu::ChipFile file, mcu::LoadChipFile(chip_file));
    file.extension = version;
    if (scenario == Scenario::kSteady) file.quantum = kShortQuantum;
    return Create(file);
  }
  static absl::StatusOr<std::unique_ptr<Bench>> Create(const mcu::ChipFile& file) {
    auto bench = std::unique_ptr<Bench>(new Bench);
    SIDEBAND_ASSIGN_OR_RETURN(bench->device_,
                              mcu::LiveDevice::Create(file, /*boot_id=*/1, [b = bench.get()] { return b->elapsed_; }));
    bench->firmware_.emplace(*bench->device_, mcu::PowerModel(bench->device_->power()), mcu::Persona::kSideband,
                             file.extension);
    bench->target_.emplace(smbus::kMailboxAddress, bench->firmware_->shared(),
                           mcu::MailboxTarget::Options{.registers = {}, .own_handler = bench->firmware_->own()});
    bench->bus_.Connect(smbus::kMailboxAddress, *bench->target_);
    return bench;
  }

  // A snapshot and its acknowledgement, and their cost. The device's catalogue must have been read before.
  struct Read {
    mailbox::Snapshot snapshot;
    uint64_t bit_times;
  };
  absl::StatusOr<Read> ReadSnapshot(absl::Duration later) {
    elapsed_ += later;
    const uint64_t before = transport_.bit_times();
    SIDEBAND_ASSIGN_OR_RETURN(daemon::TakenSnapshot taken, reader_.Take());
    SIDEBAND_RETURN_IF_ERROR(reader_.Acknowledge());
    catalog_hash_ = taken.raw.catalog_hash;
    return Read{std::move(taken.raw), transport_.bit_times() - before};
  }

  // A peek of the first `counters` events of context 0 of VM 1, and its cost. A snapshot must have been read before.
  absl::StatusOr<uint64_t> Peek(size_t counters) {
    daemon::PeekQuery query{.vm = 1, .context = 0, .boot_id = 1, .generation = 1};
    for (size_t event = 0; event < counters; ++event) query.events.push_back(static_cast<uint16_t>(event));
    const uint64_t before = transport_.bit_times();
    SIDEBAND_RETURN_IF_ERROR(peeker_.Peek(query).status());
    return transport_.bit_times() - before;
  }

  // A change of VM 1 in place of a snapshot, and its acknowledgement.
  absl::StatusOr<CommitBudget> Commit(absl::Duration later) {
    elapsed_ += later;
    SIDEBAND_ASSIGN_OR_RETURN(const mailbox::CountingConfig actual, ReadConfig(session_));
    mailbox::CountingConfig desired = actual;
    desired.vms[1] = {
        .guest_value = {.vector_enable = true, .vector = 1}, .guest_load = true, .allowed = 1, .pinned = 2};
    const daemon::ConfigChange change{/*boot_id=*/1, catalog_hash_, actual.revision,
                                      mailbox::Difference(actual, desired)};
    std::optional<daemon::CommittedConfig> committed;
    CommitBudget budget{.words = change.writes.size()};
    const uint64_t before = transport_.bit_times();
    SIDEBAND_RETURN_IF_ERROR(reader_.TakeClosing(writer_, change, committed).status());
    SIDEBAND_RETURN_IF_ERROR(reader_.Acknowledge());
    budget.change = transport_.bit_times() - before;
    SIDEBAND_RETURN_IF_ERROR(RunConfig(session_, mailbox::ConfigStep::kAddress, 0, 0, 0).status());
    budget.command = transport_.bit_times() - before - budget.change;
    return budget;
  }

 private:
  Bench() = default;

  absl::Duration elapsed_;
  uint32_t catalog_hash_ = 0;  // of the last snapshot
  std::unique_ptr<mcu::LiveDevice> device_;
  std::optional<mcu::FirmwarePair> firmware_;
  std::optional<mcu::MailboxTarget> target_;
  mcu::VirtualBus bus_;
  CountingBus transport_{bus_};
  daemon::RegisterPort port_{transport_, smbus::kMailboxAddress, [](absl::string_view) {}};
  daemon::MailboxSession session_{port_, [](absl::Duration) {}};
  daemon::FakeClock clock_{absl::UnixEpoch()};
  daemon::SnapshotReader reader_{session_, clock_};
  daemon::BlockPeeker peeker_{session_, clock_, [] {}};
  daemon::ConfigWriter writer_{session_, /*tag=*/1};
};

std::vector<uint64_t> Increments(const mailbox::Snapshot& before, const mailbox::Snapshot& now) {
  std::vector<uint64_t> increments(now.counters.begin(), now.counters.end());
  for (size_t i = 0; i < increments.size(); ++i) increments[i] -= before.counters[i];
  return increments;
}

absl::StatusOr<uint64_t> ZstdBytes(const std::vector<uint64_t>& increments) {
  const size_t size = increments.size() * sizeof(uint64_t);
  std::vector<char> compressed(ZSTD_compressBound(size));
  const size_t result = ZSTD_compress(compressed.data(), compressed.size(), increments.data(), size, kZstdLevel);
  if (ZSTD_isError(result) != 0) return absl::InternalError(ZSTD_getErrorName(result));
  return result;
}

uint64_t FullWindows(uint64_t bytes) {
  return (bytes + mailbox::kWindowBytes - 1) / mailbox::kWindowBytes * kWindowBitTimes;
}

// The average cost of the same snapshot and base in a version.
double CostOf(mailbox::Snapshot snapshot, const mailbox::Snapshot& base, mailbox::ExtensionVersion version) {
  snapshot.statistics.emplace();
  uint64_t bit_times = 0;
  // One snapshot in kStatisticsInterval has the statistics.
  for (uint32_t id = 1; id <= mailbox::kStatisticsInterval; ++id) {
    snapshot.snapshot_id = id;
    const Bytes stream = mailbox::EncodeSnapshotStream(snapshot, &base, {}, mailbox::SnapshotFraming(version));
    bit_times += mailbox::CostOfSnapshot(stream.size(), mailbox::kWindowBytes).bit_times;
  }
  return static_cast<double>(bit_times) / mailbox::kStatisticsInterval;
}

}  // namespace

absl::StatusOr<MailboxBudget> MeasureMailboxBudget(const std::string& chip_file, mailbox::ExtensionVersion version,
                                                   Scenario scenario) {
  SIDEBAND_ASSIGN_OR_RETURN(const auto bench, Bench::Create(chip_file, version, scenario));
  SIDEBAND_ASSIGN_OR_RETURN(const Bench::Read first, bench->ReadSnapshot(kBefore));
  SIDEBAND_ASSIGN_OR_RETURN(const Bench::Read steady, bench->ReadSnapshot(kBetween));
  const std::vector<uint64_t> increments = Increments(first.snapshot, steady.snapshot);
  MailboxBudget budget{.scenario = scenario, .first = first.bit_times, .steady = steady.bit_times};
  budget.changed_counters = increments.size() - std::count(increments.begin(), increments.end(), 0);
  budget.plain = budget.changed_counters * kPlainBitTimes;
  SIDEBAND_ASSIGN_OR_RETURN(budget.zstd_bytes, ZstdBytes(increments));
  budget.version_1 = CostOf(steady.snapshot, first.snapshot, mailbox::ExtensionVersion::kOne);
  budget.version_2 = CostOf(steady.snapshot, first.snapshot, mailbox::ExtensionVersion::kTwo);
  budget.zstd = FullWindows(budget.zstd_bytes);
  budget.bound_bytes = IncrementBoundBytes(first.snapshot, steady.snapshot);
  budget.bound = FullWindows(budget.bound_bytes);
  return budget;
}

Rows RowsOf(const MailboxBudget& budget) {
  const auto steady = static_cast<double>(budget.steady);
  const auto row = [&](const char* name, uint64_t bit_times, const std::string& note) {
    return Row{absl::StrCat("mailbox: ", name), static_cast<double>(bit_times) / 1e5, "s, 100 kHz",
               absl::StrFormat("%d bit times%s", bit_times, note)};
  };
  const auto times = [&](uint64_t bit_times) {
    return absl::StrFormat(", %.2f times the snapshot", static_cast<double>(bit_times) / steady);
  };
  return {row("first snapshot, 8 VMs x 8 contexts x 64 events, with the catalogue", budget.first, ""),
          row(budget.scenario == Scenario::kSteady ? "snapshot a second later, all contexts active as before"
                                                   : "snapshot a second later, one context in eight active",
              budget.steady, ""),
          row("the same, as a stream of version 1", static_cast<uint64_t>(budget.version_1), ""),
          row("the same, as a stream of version 2", static_cast<uint64_t>(budget.version_2),
              absl::StrFormat(", %.4f times version 1's", budget.version_2 / budget.version_1)),
          row("each changed counter as an SMBPBI command", budget.plain,
              times(budget.plain) + absl::StrFormat(", %d counters", budget.changed_counters)),
          row("increments under zstd -19, in full windows", budget.zstd,
              times(budget.zstd) + absl::StrFormat(", %d bytes", budget.zstd_bytes)),
          row("increments' information, in full windows", budget.bound,
              times(budget.bound) + absl::StrFormat(", %d bytes", budget.bound_bytes))};
}

absl::StatusOr<PeekBudget> MeasurePeekBudget(const std::string& chip_file) {
  SIDEBAND_ASSIGN_OR_RETURN(const auto bench,
                            Bench::Create(chip_file, mailbox::ExtensionVersion::kTwo, Scenario::kOneInEight));
  SIDEBAND_ASSIGN_OR_RETURN(const Bench::Read first, bench->ReadSnapshot(kBefore));
  PeekBudget budget{.plain = mailbox::kPeekCountersMax * kPlainBitTimes};
  SIDEBAND_ASSIGN_OR_RETURN(budget.one, bench->Peek(1));
  SIDEBAND_ASSIGN_OR_RETURN(budget.all, bench->Peek(mailbox::kPeekCountersMax));
  SIDEBAND_ASSIGN_OR_RETURN(const Bench::Read steady, bench->ReadSnapshot(kBetween));
  budget.predicted = steady.bit_times;
  budget.snapshot = static_cast<uint64_t>(CostOf(steady.snapshot, first.snapshot, mailbox::ExtensionVersion::kOne));
  budget.is_as_computed = budget.one == mailbox::PeekBitTimes(1, mailbox::kWindowBytes) &&
                          budget.all == mailbox::PeekBitTimes(mailbox::kPeekCountersMax, mailbox::kWindowBytes);
  return budget;
}

Rows RowsOf(const PeekBudget& budget) {
  const auto row = [&](const char* name, uint64_t bit_times, const char* of, uint64_t other) {
    return Row{absl::StrCat("mailbox: ", name), static_cast<double>(bit_times) / 1e5, "s, 100 kHz",
               absl::StrFormat("%d bit times, 1/%.1f of %s (%d)", bit_times,
                               static_cast<double>(other) / static_cast<double>(bit_times), of, other)};
  };
  return {row("peek of 1 counter", budget.one, "a snapshot as a stream of version 1", budget.snapshot),
          row("the same", budget.one, "a snapshot that version 2 predicts", budget.predicted),
          row("peek of 64 counters", budget.all, "64 SMBPBI commands", budget.plain)};
}

absl::StatusOr<CommitBudget> MeasureCommitBudget(const std::string& chip_file) {
  SIDEBAND_ASSIGN_OR_RETURN(mcu::ChipFile file, mcu::LoadChipFile(chip_file));
  file.extension = mailbox::ExtensionVersion::kTwo;
  file.gate_groups.push_back({.name = "sm", .events = {file.units.front().events.front().name}});
  file.pipeline.gate_groups.emplace_back();
  SIDEBAND_ASSIGN_OR_RETURN(const auto bench, Bench::Create(file));
  SIDEBAND_RETURN_IF_ERROR(bench->ReadSnapshot(kBefore).status());
  SIDEBAND_ASSIGN_OR_RETURN(const Bench::Read latch, bench->ReadSnapshot(kBetween));
  SIDEBAND_ASSIGN_OR_RETURN(CommitBudget budget, bench->Commit(kBetween));
  budget.latch = latch.bit_times;
  return budget;
}

Rows RowsOf(const CommitBudget& budget) {
  return {{"mailbox: change of what is counted of a VM, beyond its snapshot", budget.commands(), "commands",
           absl::StrFormat("%d words; %d bit times, the snapshot %d; at most 20", budget.words, budget.change,
                           budget.latch)}};
}

}  // namespace sideband::bench
