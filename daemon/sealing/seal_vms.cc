// SPDX-License-Identifier: Apache-2.0
#include "daemon/sealing/seal_vms.h"

#include <google/protobuf/arena.h>

#include <algorithm>
#include <limits>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "daemon/snapshot/coverage.h"
#include "daemon/snapshot/message.h"
#include "proto/base/bytes.h"
#include "proto/base/status_macros.h"
#include "proto/envelope/record.h"
#include "proto/exchange/vm_records.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {
namespace {

using envelope::CountsEstimate;
using envelope::SealedCounts;

// Where an event of a row is: in the snapshot, and in the content.
struct Place {
  size_t block = 0;
  size_t event = 0;  // of the catalogue
  size_t count = 0;  // in SealedCounts::counts
};

CountsEstimate Fixed(const Estimate& estimate, uint64_t hertz) {
  static_assert(CountsEstimate::kUnknown == mailbox::kUnknownNumber);
  return {.standard_error = estimate.deviation,
          .lower = estimate.lower,
          .upper = estimate.upper,
          .time_enabled_ns = NanosecondsOf(estimate.time.enabled, hertz),
          .time_running_ns = NanosecondsOf(estimate.time.running, hertz),
          .method = static_cast<uint8_t>(estimate.method == EstimateMethod::kRandomTurns
                                             ? sideband::v1::Estimate::METHOD_RANDOM_TURNS
                                             : sideband::v1::Estimate::METHOD_MODEL)};
}

class OwnersCounts {
 public:
  OwnersCounts(const Topology& topology, const mailbox::Snapshot& raw, uint16_t vm)
      : topology_(topology),
        raw_(raw),
        blocks_(exchange::VmBlocks(raw, vm)),
        events_(exchange::VmEvents(topology.catalog())),
        counts_(exchange::VmCounts(topology.catalog(), raw, vm)) {}

  SealedCounts Take() && {
    for (size_t row = 0; row < blocks_.size(); ++row) {
      counts_.rows[row].flags = FlagsForOwner(topology_, raw_, blocks_[row]);
    }
    if (!HasCoverage()) return std::move(counts_);
    counts_.coverage.resize(counts_.counts.size());
    ForEach([this](const Place& at) { Cover(at); });
    for (size_t i = 0; i < events_.size(); ++i) {
      if (IsRotated(events_[i])) counts_.rotated.push_back(static_cast<uint16_t>(i));
    }
    ForEach([this](const Place& at) { AddEstimate(at); });
    return std::move(counts_);
  }

 private:
  bool IsRotated(size_t event) const { return !raw_.rotation.empty() && topology_.rotation().IsRotated(event); }
  bool HasCoverage() const {
    return topology_.coverage().has_gates() || (!raw_.rotation.empty() && topology_.rotation().has_rotated_events());
  }

  template <typename Do>
  void ForEach(Do action) {
    size_t count = 0;
    for (const size_t block : blocks_) {
      for (const size_t event : events_) {
        if (event < raw_.counters_per_block) action(Place{block, event, count});
        ++count;
      }
    }
  }

  void Cover(const Place& at) {
    counts_.coverage[at.count] = topology_.coverage().OfCount(at.event, raw_.Counters(at.block)) *
                                 topology_.rotation().CoverageOf(raw_, at.block, at.event);
    counts_.counts[at.count] = topology_.rotation().Shown(raw_, at.block, at.event);
  }

  void AddEstimate(const Place& at) {
    if (!IsRotated(at.event)) return;
    const std::optional<Estimate> estimate = topology_.rotation().Of(raw_, at.block, at.event);
    const uint64_t hertz = topology_.catalog().reference_clock_hz;
    counts_.estimates.push_back(estimate ? Fixed(*estimate, hertz) : CountsEstimate{});
  }

  const Topology& topology_;
  const mailbox::Snapshot& raw_;
  const std::vector<size_t> blocks_;
  const std::vector<size_t> events_;
  SealedCounts counts_;
};

}  // namespace

SealedCounts CountsForOwner(const Topology& topology, const mailbox::Snapshot& raw, uint16_t vm, absl::Time host_time) {
  SealedCounts counts = OwnersCounts(topology, raw, vm).Take();
  counts.host_time_ns = static_cast<uint64_t>(absl::ToUnixNanos(host_time));
  return counts;
}

namespace {

// Block size of an arena whose memory is excluded from core dumps.
constexpr size_t kArenaBlockBytes = 64 << 10;

google::protobuf::ArenaOptions SecretArena() {
  google::protobuf::ArenaOptions options;
  options.start_block_size = kArenaBlockBytes;
  options.max_block_size = kArenaBlockBytes;
  options.block_alloc = [](size_t size) {
    void* const block = AllocateSecretMemory(size);
    // Protobuf uses the block without a test.
    if (block == nullptr) throw std::bad_alloc();
    return block;
  };
  options.block_dealloc = FreeSecretMemory;
  return options;
}

// Sets every number of a multiplexed event.
void SetLongest(sideband::v1::Counter& counter) {
  constexpr uint64_t kLongest = std::numeric_limits<uint64_t>::max();
  counter.set_coverage(1);
  sideband::v1::Estimate& estimate = *counter.mutable_estimate();
  estimate.set_standard_error(kLongest);
  estimate.set_lower(kLongest);
  estimate.set_upper(kLongest);
  estimate.set_time_enabled_ns(kLongest);
  estimate.set_time_running_ns(kLongest);
  estimate.set_method(sideband::v1::Estimate::METHOD_COUNTED);
}

// The names of the events that are estimated in `raw`.
absl::flat_hash_set<std::string> RotatedEvents(const Topology& topology, const mailbox::Snapshot& raw) {
  absl::flat_hash_set<std::string> names;
  const auto& events = topology.catalog().events;
  for (size_t i = 0; i < events.size() && !raw.rotation.empty(); ++i) {
    if (topology.rotation().IsRotated(i)) names.insert(events[i].name);
  }
  return names;
}

// Returns the maximum size of a content with these scopes and events: every number at its longest encoding, every flag
// of `flags` set, and all numbers of the events that are `rotated`. Overwrites `content`, which must have every
// counter.
size_t LargestSize(uint16_t flags, const absl::flat_hash_set<std::string>& rotated,
                   sideband::v1::SealedContent& content) {
  constexpr uint64_t kLongest = std::numeric_limits<uint64_t>::max();
  sideband::v1::Snapshot& snapshot = *content.mutable_snapshot();
  snapshot.set_snapshot_id(std::numeric_limits<uint32_t>::max());
  snapshot.set_trigger_id(std::numeric_limits<uint32_t>::max());
  snapshot.set_boot_id(kLongest);
  snapshot.set_reference_time_ns(kLongest);
  snapshot.mutable_host_time()->set_nanos(999'999'999);
  for (sideband::v1::ScopeCounters& scope : *snapshot.mutable_scopes()) {
    scope.mutable_scope()->set_generation(std::numeric_limits<uint32_t>::max());
    scope.clear_flags();
    for (const std::string& flag : mailbox::FlagNames(flags)) scope.add_flags(flag);
    for (sideband::v1::Counter& counter : *scope.mutable_counters()) {
      counter.set_count(kLongest);
      if (rotated.contains(counter.event())) SetLongest(counter);
    }
  }
  return content.ByteSizeLong();
}

struct SizedContent {
  SecretBytes bytes;
  size_t bytes_max;
};

SizedContent Content(const DeviceInfo& device, const Topology& topology, const mailbox::Snapshot& raw, uint16_t vm,
                     absl::Time host_time) {
  google::protobuf::Arena arena(SecretArena());
  auto& content = *google::protobuf::Arena::CreateMessage<sideband::v1::SealedContent>(&arena);
  sideband::v1::Snapshot& snapshot = *content.mutable_snapshot();
  snapshot.set_device(device.name);
  snapshot.set_boot_id(raw.boot_id);
  snapshot.set_snapshot_id(raw.snapshot_id);
  snapshot.set_trigger_id(raw.trigger_id);
  snapshot.set_reference_time_ns(raw.reference_time_ns);
  const int64_t host_ns = absl::ToUnixNanos(host_time);
  snapshot.mutable_host_time()->set_seconds(host_ns / 1'000'000'000);
  snapshot.mutable_host_time()->set_nanos(static_cast<int32_t>(host_ns % 1'000'000'000));
  const auto fill = [&](Uncounted uncounted) {
    snapshot.clear_scopes();
    for (size_t row = 0; row < raw.blocks.size(); ++row) {
      if (raw.blocks[row].vm == vm) FillScopeCounters(device, topology, raw, row, uncounted, *snapshot.add_scopes());
    }
  };
  fill(Uncounted::kDropped);
  // LargestSize() overwrites the counts, so the content is serialised first.
  SizedContent sized{.bytes = SecretBytes(content.ByteSizeLong()), .bytes_max = 0};
  content.SerializeToArray(sized.bytes.data(), static_cast<int>(sized.bytes.size()));
  const bool has_gates = topology.coverage().has_gates();
  const auto rotated = RotatedEvents(topology, raw);
  // A record's length must not tell whether a gate was open, or an event had its turn.
  if (has_gates || !rotated.empty()) fill(Uncounted::kKept);
  uint16_t flags = mailbox::kFlagsKnown;
  if (has_gates || !rotated.empty()) flags |= mailbox::kFlagPartial;
  if (!rotated.empty()) flags |= mailbox::kFlagRotationInconsistent;
  sized.bytes_max = LargestSize(flags, rotated, content);
  return sized;
}

// The VM's own block, which carries its generation; nullptr if the snapshot has none.
const mailbox::BlockHeader* OwnBlock(const mailbox::Snapshot& raw, uint16_t vm) {
  const auto block = std::find_if(raw.blocks.begin(), raw.blocks.end(), [&](const mailbox::BlockHeader& b) {
    return b.vm == vm && b.context == mailbox::kNoContext;
  });
  return block == raw.blocks.end() ? nullptr : &*block;
}

// One VM of a snapshot.
struct Subject {
  const DeviceInfo& device;
  const Topology& topology;
  const mailbox::Snapshot& raw;
  absl::Time host_time;
  const mailbox::VmInfo& vm;
  const mailbox::BlockHeader& own;
};

absl::Status SealWithStaticKey(const Subject& of, SealerSet& sealers, std::vector<SealedVmRecord>& records) {
  const SizedContent content = Content(of.device, of.topology, of.raw, of.vm.id, of.host_time);
  SIDEBAND_ASSIGN_OR_RETURN(auto sealed, sealers.Seal(of.topology.catalog().device, of.vm.uuid,
                                                      {.boot_id = of.raw.boot_id,
                                                       .generation = of.own.generation,
                                                       .reference_time_ns = of.raw.reference_time_ns,
                                                       .content = content.bytes,
                                                       .content_bytes_max = content.bytes_max}));
  for (StreamRecord& one : sealed) {
    records.push_back({of.vm.uuid, one.stream, std::make_shared<const Bytes>(std::move(one.record))});
  }
  return absl::OkStatus();
}

void SealWithExchangedKeys(const Subject& of, ExchangeBook& exchanges, std::vector<SealedVmRecord>& records) {
  const ExchangeBook::Subject subject{of.topology.catalog().device, of.raw.boot_id, of.vm.uuid};
  if (!exchanges.StatusOf(subject.device, subject.vm)) return;
  const SecretBytes content = envelope::EncodeCounts(CountsForOwner(of.topology, of.raw, of.vm.id, of.host_time));
  auto sealed = exchanges.Seal(
      subject, {.generation = of.own.generation, .reference_time_ns = of.raw.reference_time_ns, .content = content});
  if (!sealed.ok()) return;
  for (exchange::SealedNow& one : *sealed) {
    records.push_back({of.vm.uuid, kExchangedStream, std::make_shared<const Bytes>(std::move(one.record))});
  }
}

void AddRecordsOfDevice(const Topology& topology, const mailbox::Snapshot& raw, std::vector<SealedVmRecord>& records) {
  for (const mailbox::SealedBlocks& sealed : raw.sealed) {
    const mailbox::VmInfo* const vm = topology.FindVm(sealed.vm);
    if (vm == nullptr) continue;
    records.push_back({vm->uuid, kExchangedStream, std::make_shared<const Bytes>(sealed.record)});
  }
}

void DropKeysOfOthers(const Topology& topology, ExchangeBook& exchanges) {
  std::set<Uuid> vms;
  for (const mailbox::VmInfo& vm : topology.catalog().vms) {
    if (vm.confidential) vms.insert(vm.uuid);
  }
  exchanges.KeepOnly(topology.catalog().device, vms);
}

}  // namespace

absl::StatusOr<std::vector<SealedVmRecord>> SealVms(const DeviceInfo& device, const Topology& topology,
                                                    const mailbox::Snapshot& raw, absl::Time host_time,
                                                    const VmSealers& sealers) {
  std::vector<SealedVmRecord> records;
  AddRecordsOfDevice(topology, raw, records);
  if (sealers.exchanged != nullptr) DropKeysOfOthers(topology, *sealers.exchanged);
  for (const mailbox::VmInfo& vm : topology.catalog().vms) {
    const mailbox::BlockHeader* const own = OwnBlock(raw, vm.id);
    if (!vm.confidential || own == nullptr) continue;
    const Subject of{device, topology, raw, host_time, vm, *own};
    // Without a key the counts are withheld: there is no form in which they may be published.
    if (sealers.with_static_keys.HasKey(vm.uuid)) {
      SIDEBAND_RETURN_IF_ERROR(SealWithStaticKey(of, sealers.with_static_keys, records));
    }
    if (sealers.exchanged != nullptr) SealWithExchangedKeys(of, *sealers.exchanged, records);
  }
  return records;
}

std::vector<uint16_t> VmsSealedByDevice(const Topology& topology, const mailbox::Snapshot& raw) {
  std::vector<uint16_t> vms;
  for (const mailbox::VmInfo& vm : topology.catalog().vms) {
    if (vm.confidential && OwnBlock(raw, vm.id) == nullptr) vms.push_back(vm.id);
  }
  std::ranges::sort(vms);
  return vms;
}

std::map<Uuid, double> BudgetsUsed(const std::vector<SealedVmRecord>& sealed) {
  std::map<Uuid, double> used;
  for (const SealedVmRecord& one : sealed) {
    const auto record = envelope::ParseRecord(*one.record);
    if (!record.ok()) continue;
    double& share = used[one.vm];
    share = std::max(share, static_cast<double>(record->header.sequence + 1) / kRecordsPerEpochMax);
  }
  return used;
}

}  // namespace sideband::daemon
