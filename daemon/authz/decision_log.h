// SPDX-License-Identifier: Apache-2.0
//
// The answers of Decide() for one view, put together for the audit log.
//   DecisionLog log;
//   log.Add(resource, Right::kRead, Decide(policy, principal, resource, Right::kRead));
//   entry.detail = log.Texts();   // "vm 6f1c… contexts: allow (granted): preview, render"
#ifndef SIDEBAND_DAEMON_AUTHZ_DECISION_LOG_H_
#define SIDEBAND_DAEMON_AUTHZ_DECISION_LOG_H_

#include <cstddef>
#include <string>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "daemon/authz/decision.h"

namespace sideband::daemon {

// Not thread-safe.
//
// Texts() says the outcome of every decision, but does not grow with what tenants can make more of: where all contexts
// (or events) of a VM have one outcome it says "all", else it names those that are allowed, which a grant lists, and
// the rest are "others".
class DecisionLog {
 public:
  void Add(const Resource& resource, Right right, const Decision& decision);
  // In the order of the first decision on each thing; at most kAuditTextBytesMax bytes each.
  std::vector<std::string> Texts() const;

 private:
  // What decisions have in common: the kind of thing, whether one context's or the VM's own, and whose.
  struct Subject {
    Resource::Kind kind;
    bool is_context_level;
    Right right;
    Uuid vm;  // nil for the device, and for kVmIdentity, where each VM is a name
  };
  struct Outcome {
    Decision decision;
    std::vector<std::string> names;  // of contexts, events or VMs; some may be there several times
  };
  struct Entry {
    Subject subject;
    std::vector<Outcome> outcomes;  // few
  };
  using Key = std::tuple<Resource::Kind, bool, Right, Uuid>;

  static std::string Title(const Subject& subject);
  static void AppendTexts(const Entry& entry, std::vector<std::string>& texts);

  std::vector<Entry> entries_;
  absl::flat_hash_map<Key, size_t> places_;  // in entries_
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_AUTHZ_DECISION_LOG_H_
