// SPDX-License-Identifier: Apache-2.0
//
// The decisions behind a view, summarized for the audit log.
//   DecisionLog log;
//   log.Add(resource, Right::kRead, Decide(policy, principal, resource, Right::kRead));
//   entry.detail = log.Texts();   // "vm 6f1c… contexts: allow (granted): preview, render"
#ifndef SIDEBAND_DAEMON_VIEW_DECISION_LOG_H_
#define SIDEBAND_DAEMON_VIEW_DECISION_LOG_H_

#include <cstddef>
#include <string>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "daemon/authz/decision.h"

namespace sideband::daemon {

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

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_VIEW_DECISION_LOG_H_
