// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/seal_vms.h"

#include <google/protobuf/arena.h>
#include <openssl/crypto.h>

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

#include "daemon/api/snapshot_message.h"
#include "proto/base/status_macros.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {
namespace {

// An arena whose memory is wiped before it is freed.
google::protobuf::ArenaOptions WipingArena() {
  google::protobuf::ArenaOptions options;
  options.block_alloc = [](size_t size) { return ::operator new(size); };
  options.block_dealloc = [](void* block, size_t size) {
    OPENSSL_cleanse(block, size);
    ::operator delete(block);
  };
  return options;
}

// What a content with these scopes and events can take at most: every number at its longest, every flag raised.
// `content` is overwritten.
size_t LargestSize(sideband::v1::SealedContent& content) {
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
    for (const std::string& flag : mailbox::FlagNames(mailbox::kFlagsKnown)) scope.add_flags(flag);
    for (sideband::v1::Counter& counter : *scope.mutable_counters()) counter.set_count(kLongest);
  }
  return content.ByteSizeLong();
}

struct SizedContent {
  Bytes bytes;
  size_t bytes_max;
};

SizedContent Content(const DeviceInfo& device, const Topology& topology, const mailbox::Snapshot& raw, uint16_t vm,
                     absl::Time host_time) {
  google::protobuf::Arena arena(WipingArena());
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
  for (size_t row = 0; row < raw.blocks.size(); ++row) {
    if (raw.blocks[row].vm == vm) FillScopeCounters(device, topology, raw, row, *snapshot.add_scopes());
  }
  SizedContent sized{.bytes = Bytes(content.ByteSizeLong()), .bytes_max = 0};
  content.SerializeToArray(sized.bytes.data(), static_cast<int>(sized.bytes.size()));
  sized.bytes_max = LargestSize(content);
  return sized;
}

// The VM's own block, which carries its generation; nullptr where the snapshot has none.
const mailbox::BlockHeader* OwnBlock(const mailbox::Snapshot& raw, uint16_t vm) {
  const auto block = std::find_if(raw.blocks.begin(), raw.blocks.end(), [&](const mailbox::BlockHeader& b) {
    return b.vm == vm && b.context == mailbox::kNoContext;
  });
  return block == raw.blocks.end() ? nullptr : &*block;
}

}  // namespace

absl::StatusOr<std::vector<SealedVmRecord>> SealVms(const DeviceInfo& device, const Topology& topology,
                                                    const mailbox::Snapshot& raw, absl::Time host_time,
                                                    SealerSet& sealers) {
  std::vector<SealedVmRecord> records;
  for (const mailbox::VmInfo& vm : topology.catalog().vms) {
    const mailbox::BlockHeader* const own = OwnBlock(raw, vm.id);
    if (!vm.confidential || own == nullptr || !sealers.HasKey(vm.uuid)) continue;
    const SizedContent content = Content(device, topology, raw, vm.id, host_time);
    auto record = sealers.Seal(topology.catalog().device, vm.uuid,
                               {.boot_id = raw.boot_id,
                                .generation = own->generation,
                                .reference_time_ns = raw.reference_time_ns,
                                .content = content.bytes,
                                .content_bytes_max = content.bytes_max});
    if (!record.ok()) return record.status();
    records.push_back({vm.uuid, std::make_shared<const Bytes>(*std::move(record))});
  }
  return records;
}

}  // namespace sideband::daemon
