// SPDX-License-Identifier: Apache-2.0
//
// The part of a device that a group of principals may see: the results of Decide() for every scope and event of a
// topology, the cache of views, and the audit log's summary of the decisions behind them.
//   if (const EventSet* events = view.Events(block.vm, block.context)) Show(*events);   // these counters may be read
#ifndef SIDEBAND_DAEMON_VIEW_VIEW_H_
#define SIDEBAND_DAEMON_VIEW_VIEW_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "daemon/audit/audit_sink.h"
#include "daemon/authz/decision.h"
#include "daemon/authz/policy.h"
#include "daemon/snapshot/device_snapshot.h"
#include "daemon/snapshot/store.h"
#include "daemon/snapshot/topology.h"
#include "proto/base/uuid.h"

namespace sideband::daemon {

// The decisions behind a view, summarized for the audit log: "vm 6f1c… contexts: allow (granted): preview, render".
//
// Not thread-safe.
//
// Texts() has the outcome of every decision, but its size does not depend on objects that tenants can create. Where all
// contexts (or events) of a VM have the same outcome, the text has "all". Otherwise it names the allowed contexts or
// events, which a grant lists, and has "others" for the rest.
class DecisionLog {
 public:
  void Add(const Resource& resource, Right right, const Decision& decision);
  // In the order of the first decision on each subject; at most kAuditTextBytesMax bytes each, unless a single name
  // needs more.
  std::vector<std::string> Texts() const;

 private:
  // The common part of decisions: kind of resource, whether of a context or of the VM itself, right, and VM.
  struct Subject {
    Resource::Kind kind;
    bool is_context_level;
    Right right;
    Uuid vm;  // nil for the device, and for kVmIdentity, where the VMs are the names
  };
  struct Outcome {
    Decision decision;
    std::vector<std::string> names;  // of contexts, events or VMs; may have duplicates
  };
  struct Entry {
    Subject subject;
    std::vector<Outcome> outcomes;  // few
  };
  using Key = std::tuple<Resource::Kind, bool, Right, Uuid>;

  static std::string Title(const Subject& subject);
  static void AppendTexts(const Entry& entry, std::vector<std::string>& texts);

  std::vector<Entry> entries_;
  absl::flat_hash_map<Key, size_t> places_;  // indices in entries_
};

// Indexed like the catalogue's events.
using EventSet = std::vector<bool>;

// Immutable, therefore thread-safe. Rows are looked up by id, since blocks appear and disappear between two snapshots
// of a topology. A block that the topology does not name is visible to no principal.
class View {
 public:
  // Every decision behind the view is added to `log`, if not nullptr. Nothing of the VMs in `foreign` is visible: the
  // topology is of a time at which they were not yet the principal's.
  View(const Policy& policy, const Principal& principal, std::shared_ptr<const Topology> topology,
       DecisionLog* log = nullptr, const std::set<Uuid>& foreign = {});
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  const std::shared_ptr<const Topology>& topology() const { return topology_; }
  // Whether the device is visible at all; to a tenant only if one of its VMs is on the device.
  bool sees_device() const { return sees_device_; }
  // The device's own row: VM kHypervisorVm, context kNoContext. A caller that sees it sees the rows of the slices'
  // hosts, too.
  bool sees_device_row() const { return Events(mailbox::kHypervisorVm, mailbox::kNoContext) != nullptr; }
  // Whether the VM's existence is visible, whether or not its counters may be read.
  bool SeesVm(uint16_t vm) const { return vms_.contains(vm); }
  // Whether the VM's sealed records may be delivered.
  bool SeesSealed(uint16_t vm) const { return sealed_.contains(vm); }
  // The counters of the row that may be read; nullptr where the row may not be read. Device-scope events are in the
  // device's row only.
  const EventSet* Events(uint16_t vm, uint16_t context) const;
  // The events of all visible rows.
  const EventSet& AllEvents() const { return all_events_; }

 private:
  class Builder;
  using ScopeId = std::pair<uint16_t, uint16_t>;  // VM, context

  const std::shared_ptr<const Topology> topology_;  // shared with the snapshots that it describes
  bool sees_device_ = false;
  absl::flat_hash_set<uint16_t> vms_;
  absl::flat_hash_set<uint16_t> sealed_;
  absl::flat_hash_map<ScopeId, size_t> rows_;  // the row's index in event_sets_
  std::vector<EventSet> event_sets_;  // of the device, its hosts together, each VM, and each VM's contexts together
  EventSet all_events_;
};

// Called for each view that is computed and cached, on the thread that requested it. Must be thread-safe.
class ViewListener {
 public:
  virtual ~ViewListener() = default;
  // False where the view could not be audited. The cache then drops the view, and the next request for it calls again.
  virtual bool OnView(size_t device, const VersionedPolicy& policy, const Principal& principal,
                      const DecisionLog& decisions) = 0;
};

// Views, computed once per (policy version, topology, group of principals). Thread-safe. Holds one view per device and
// group, the most recently requested. Older views live while readers hold them.
class ViewCache {
 public:
  // `listener` must outlive the cache.
  explicit ViewCache(ViewListener& listener) : listener_(listener) {}

  // `principal` must be from `policy`; `topology` must be the device's.
  std::shared_ptr<const View> Get(size_t device, const VersionedPolicy& policy, const Principal& principal,
                                  std::shared_ptr<const Topology> topology);

 private:
  struct Entry {
    uint64_t policy_version = 0;
    std::shared_ptr<const View> view;  // shared with readers and their caches
  };
  using Key = std::pair<size_t, size_t>;  // device, group

  std::shared_ptr<const View> Find(const Key& key, uint64_t policy_version, const Topology* topology)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Returns `made`, or the view that another thread has cached meanwhile.
  std::shared_ptr<const View> Keep(const Key& key, uint64_t policy_version, std::shared_ptr<const View> made);
  void Drop(const Key& key, const View* view);

  ViewListener& listener_;

  absl::Mutex mu_;
  uint64_t policy_version_ ABSL_GUARDED_BY(mu_) = 0;  // the newest seen
  absl::flat_hash_map<Key, Entry> entries_ ABSL_GUARDED_BY(mu_);
};

// Writes the decisions behind each view to the audit log when the view is computed.
//
// Thread-safe. A view is recomputed whenever a context appears or disappears. It is audited again only if its outcomes
// or the policy differ from those of the last view of its group and device, or if the log did not accept the last view.
// Memory is bounded: one outcome per device and group, and kOutcomesMax past outcomes.
class ViewAuditor final : public ViewListener {
 public:
  // `store` and `audit` must outlive the auditor.
  ViewAuditor(const Store& store, AuditSink& audit) : store_(store), audit_(audit) {}

  bool OnView(size_t device, const VersionedPolicy& policy, const Principal& principal,
              const DecisionLog& decisions) override;
  // For the view of a topology that may be past. Audited unless a present or past view with the same outcomes was
  // audited.
  void OnPastView(const DeviceInfo& device, const VersionedPolicy& policy, const Principal& principal,
                  const DecisionLog& decisions);

 private:
  using Key = std::pair<size_t, size_t>;  // device, group
  static constexpr size_t kOutcomesMax = 4096;

  // False where the log did not accept all entries.
  bool Audit(const std::string& device, const VersionedPolicy& policy, const Principal& principal,
             const std::vector<std::string>& texts, const std::string& why);
  // False under a policy that has been replaced. Its outcomes are not remembered.
  bool Enter(uint64_t policy_version) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool IsNews(const Key& key, uint64_t policy_version, const std::string& outcome);
  bool IsNewsOfThePast(uint64_t policy_version, const std::string& outcome);
  // `key` is nullptr for a past view.
  void Remember(const Key* key, uint64_t policy_version, const std::string& outcome);

  const Store& store_;
  AuditSink& audit_;

  absl::Mutex mu_;
  uint64_t policy_version_ ABSL_GUARDED_BY(mu_) = 0;                 // the newest seen
  absl::flat_hash_map<Key, std::string> told_ ABSL_GUARDED_BY(mu_);  // hashes of the last outcomes under it
  absl::flat_hash_set<std::string> told_ever_ ABSL_GUARDED_BY(mu_);  // likewise of all outcomes, past views included
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_VIEW_VIEW_H_
