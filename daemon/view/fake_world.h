// SPDX-License-Identifier: Apache-2.0
//
// A small host for tests of the servers: two devices, three VMs, an operator, an auditor and three tenants.
//   gpu0: vm0 (contexts render and compute on slice 0), vm1 (context train on slice 1),
//         secret (confidential; context inner)
//   gpu1: away until published
//   spiffe://example.org/ops       operator
//   spiffe://example.org/auditor   auditor
//   spiffe://example.org/tenant-a  vm0, everything
//   spiffe://example.org/tenant-b  vm1, context train and event cycles only
//   spiffe://example.org/tenant-c  secret, right `seal`
// The ratio dram_share of gpu0 is dram_bytes / (cycles + dram_bytes). Row r of publication p has the counts 1000·p +
// 10·r + (the event's index).
#ifndef SIDEBAND_DAEMON_VIEW_FAKE_WORLD_H_
#define SIDEBAND_DAEMON_VIEW_FAKE_WORLD_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "daemon/audit/fake_audit_sink.h"
#include "daemon/history/history.h"
#include "daemon/snapshot/live_reader.h"
#include "daemon/view/history_reader.h"
#include "daemon/view/reader.h"
#include "proto/base/wait_until.h"

namespace sideband::daemon {

inline constexpr char kVm0Uuid[] = "00000000-0000-0000-0000-0000000000a0";
inline constexpr char kVm1Uuid[] = "00000000-0000-0000-0000-0000000000a1";
inline constexpr char kSecretUuid[] = "00000000-0000-0000-0000-0000000000a2";

inline Credentials CredentialsOf(const std::string& who) {
  return {.certificate = {{"spiffe://example.org/" + who}, {}}};
}

// The policy above, with `vm0` as the UUID of tenant-a's VM.
std::shared_ptr<const Policy> FakePolicy(const std::string& vm0 = kVm0Uuid);

// Another, for boards: tenant a has partition 2 of gpu0, tenant b a metric of partition 3, and both have no VM.
inline constexpr char kPartitionPolicy[] = R"(version: 1
operators: [{name: ops, identities: ["spiffe://example.org/ops"]}]
tenants:
  - {name: a, identities: ["spiffe://example.org/tenant-a"], partitions: [{device: gpu0, gpu_instance: 2}]}
  - name: b
    identities: ["spiffe://example.org/tenant-b"]
    partitions: [{device: gpu0, gpu_instance: 3, events: [dram_usage]}, {device: gpu1, gpu_instance: 2}]
auditors: [{name: audit, identities: ["spiffe://example.org/auditor"]}]
)";

std::shared_ptr<const Topology> FakeTopology();
// The same with a gate group, g: its events are cycles, behind the gate, and the running cycles (number 2, in place of
// pcie_bytes). resident_cycles are number 1, in place of dram_bytes.
std::shared_ptr<const Topology> GatedTopology();

// The same with dram_bytes (number 1) multiplexed with another set: half of each row's cycles are its own.
std::shared_ptr<const Topology> RotatingTopology();

// Thread-safe as its members are.
struct FakeWorld {
  FakeWorld();
  // Gives both slices host blocks from the next publication on: rows 6 and 7.
  void AddHostBlocks();
  // Publishes the device's data at the clock's time, with a sealed record "sealed-P" of the VM `secret`.
  void Publish(size_t device, uint64_t publication);
  // The newest snapshot of the device again, with these counts and rates in each row.
  void PublishRows(size_t device, const std::vector<uint64_t>& counts, const std::vector<double>& rates);

  FakeClock clock;
  Store store;
  PolicyHolder policy;
  FakeAuditSink audit;
  Reader reader;
  std::shared_ptr<const Topology> topology = FakeTopology();
};

// The history of a FakeWorld.
//
// Thread-safe. `world` must outlive it, and publish nothing after it has ended.
struct FakePast {
  explicit FakePast(FakeWorld& world) : reader(world.reader, world.store, history) { world.store.AddListener(history); }

  History history{{}};
  const HistoryReader reader;
};

// Keeps the requests, which the test answers or cancels.
//
// Thread-safe.
class FakeLiveReader final : public LiveReader {
 public:
  struct Request {
    size_t device = 0;
    PeekQuery query;
    Done done;  // empty once it is answered or cancelled
  };

  absl::StatusOr<Ticket> Peek(size_t device, PeekQuery query, Done done) override {
    absl::MutexLock lock(&mu_);
    if (!refusal_.ok()) return refusal_;
    requests_.push_back({device, std::move(query), std::move(done)});
    return Ticket{device, requests_.size() - 1};
  }
  bool Cancel(const Ticket& ticket) override {
    absl::MutexLock lock(&mu_);
    return std::exchange(requests_.at(ticket.number).done, nullptr) != nullptr;
  }

  // Every request is refused from now on; OK: accepted.
  void Refuse(absl::Status status) {
    absl::MutexLock lock(&mu_);
    refusal_ = std::move(status);
  }
  // Waits for the request with this number, from 0 on.
  Request Await(size_t number) {
    WaitUntil([&] { return count() > number; }, absl::StrCat("live request ", number));
    absl::MutexLock lock(&mu_);
    return requests_[number];
  }
  void Answer(size_t number, const absl::StatusOr<PeekedBlock>& peeked) {
    Done done;
    {
      absl::MutexLock lock(&mu_);
      done = std::exchange(requests_.at(number).done, nullptr);
    }
    done(peeked);
  }
  bool IsPending(size_t number) {
    absl::MutexLock lock(&mu_);
    return requests_.at(number).done != nullptr;
  }
  size_t count() {
    absl::MutexLock lock(&mu_);
    return requests_.size();
  }

 private:
  absl::Mutex mu_;
  absl::Status refusal_ ABSL_GUARDED_BY(mu_);
  std::vector<Request> requests_ ABSL_GUARDED_BY(mu_);
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_VIEW_FAKE_WORLD_H_
