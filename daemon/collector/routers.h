// SPDX-License-Identifier: Apache-2.0
//
// From the servers to the collectors of devices, which come and go with reloads: what a caller asks for becomes a job
// of the device's bus (bus_jobs.h). A job that depends on who has a VM's or a context's number is not run if that has
// changed since the caller asked.
//   BusDirectory buses;   // the collectors' threads enter their jobs there
//   PeekRouter peeks(buses, store, metrics, clock);
//   const absl::StatusOr<LiveReader::Ticket> ticket = peeks.Peek(device, query, done);
#ifndef SIDEBAND_DAEMON_COLLECTOR_ROUTERS_H_
#define SIDEBAND_DAEMON_COLLECTOR_ROUTERS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "daemon/base/clock.h"
#include "daemon/collector/bus_jobs.h"
#include "daemon/counting/followers.h"
#include "daemon/counting/mark_book.h"
#include "daemon/metrics/area_metrics.h"
#include "daemon/sealing/exchange_book.h"
#include "daemon/snapshot/live_reader.h"
#include "daemon/snapshot/store.h"
#include "proto/base/bytes.h"
#include "proto/mailbox/extension.h"

namespace sideband::daemon {

// The object that serves each device, for callers on any thread, while devices come and go with reloads.
// Thread-safe. Must outlive its uses.
template <typename Served>
class DeviceDirectory {
 public:
  // `served` is used until Remove returns.
  void Add(size_t device, Served& served) ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    devices_[device] = std::make_unique<Entry>(&served);
  }

  // Not to be called by a thread that uses the device.
  void Remove(size_t device) ABSL_LOCKS_EXCLUDED(mu_) {
    std::unique_ptr<Entry> removed;
    absl::MutexLock lock(&mu_);
    const auto found = devices_.find(device);
    if (found == devices_.end()) return;
    removed = std::move(found->second);
    devices_.erase(found);  // no use begins any more
    mu_.Await(absl::Condition(
        +[](Entry* entry) { return entry->uses == 0; }, removed.get()));
  }

 private:
  struct Entry {
    explicit Entry(Served* served) : served(served) {}
    Served* const served;
    size_t uses = 0;  // guarded by the directory's mu_
  };

 public:
  // Empty if the device is not served.
  class Using {
   public:
    Using(DeviceDirectory& directory, Entry* entry) : directory_(directory), entry_(entry) {}
    Using(const Using&) = delete;
    Using& operator=(const Using&) = delete;
    ~Using() {
      if (entry_ != nullptr) directory_.EndUse(*entry_);
    }

    explicit operator bool() const { return entry_ != nullptr; }
    Served* operator->() const { return entry_->served; }
    Served& operator*() const { return *entry_->served; }

   private:
    DeviceDirectory& directory_;
    Entry* const entry_;
  };

  Using Use(size_t device) ABSL_LOCKS_EXCLUDED(mu_) { return Using(*this, BeginUse(device)); }

 private:
  Entry* BeginUse(size_t device) ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    const auto found = devices_.find(device);
    if (found == devices_.end()) return nullptr;
    ++found->second->uses;
    return found->second.get();
  }

  void EndUse(Entry& entry) ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    --entry.uses;
  }

  absl::Mutex mu_;
  absl::flat_hash_map<size_t, std::unique_ptr<Entry>> devices_ ABSL_GUARDED_BY(mu_);
};

using BusDirectory = DeviceDirectory<BusJobs>;

// All of them are thread-safe. What their constructors take must outlive them, and they must outlive the jobs of all
// devices. UNAVAILABLE: the device is no longer read, or cannot be reached now.

class PeekRouter final : public LiveReader {
 public:
  PeekRouter(BusDirectory& buses, const Store& store, CollectionMetrics& metrics, const Clock& clock)
      : buses_(buses), store_(store), metrics_(metrics), clock_(clock) {}

  absl::StatusOr<Ticket> Peek(size_t device, PeekQuery query, Done done) override;
  bool Cancel(const Ticket& ticket) override;

 private:
  absl::StatusOr<uint64_t> Ask(BusJobs& jobs, size_t device, const DeviceInfo& info, PeekQuery query, Done done);

  BusDirectory& buses_;
  const Store& store_;
  CollectionMetrics& metrics_;
  const Clock& clock_;
};

class TriggerRouter {
 public:
  // Called once, on the collector's thread or on the one that stops it: the result as of MailboxSession::Trigger
  // (SELECT: 0), CANCELLED if the collector is stopped meanwhile, or UNAVAILABLE.
  using Done = std::function<void(const absl::StatusOr<uint32_t>& number)>;

  explicit TriggerRouter(BusDirectory& buses) : buses_(buses) {}

  // Does not block. `argument` is START's period, or SELECT's domains. After an error `done` is not called:
  // RESOURCE_EXHAUSTED, with the time of a retry, if too many wait; UNAVAILABLE.
  absl::Status Trigger(size_t device, mailbox::TriggerStep step, uint64_t argument, Done done);

 private:
  BusDirectory& buses_;
};

class RotationRouter final : public RotationSink {
 public:
  RotationRouter(BusDirectory& buses, const Store& store) : buses_(buses), store_(store) {}

  absl::Status Ask(size_t device, RotationOrder order, Done done) override;

 private:
  BusDirectory& buses_;
  const Store& store_;
};

class SealRouter final : public GuestSealer {
 public:
  SealRouter(BusDirectory& buses, const Store& store) : buses_(buses), store_(store) {}

  absl::Status Draw(const SealedVm& vm, Done<Bytes> done) override;
  absl::Status Exchange(const SealedVm& vm, Bytes request, Done<Bytes> done) override;
  absl::Status Rotate(const SealedVm& vm, Done<uint64_t> done) override;

 private:
  template <typename Value>
  absl::Status Ask(const SealedVm& vm, std::function<absl::StatusOr<Value>(MailboxSession&)> run, Done<Value> done);

  BusDirectory& buses_;
  const Store& store_;
};

class MarkRouter final : public BookmarkSink {
 public:
  MarkRouter(BusDirectory& buses, const Store& store, CollectionMetrics& metrics)
      : buses_(buses), store_(store), metrics_(metrics) {}

  // RESOURCE_EXHAUSTED also, with the time of a retry, if the VM's part of the bus is used up.
  absl::Status Ask(size_t device, const BookmarkOrder& order, Done done) override;

 private:
  BusDirectory& buses_;
  const Store& store_;
  CollectionMetrics& metrics_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COLLECTOR_ROUTERS_H_
