// SPDX-License-Identifier: Apache-2.0
//
// sideband.v1.Counting, without gRPC: who is counted, within the caller's rights.
//   CountingQueries queries(reader, book);
//   SIDEBAND_ASSIGN_OR_RETURN(auto response, queries.Get(caller, request));
#ifndef SIDEBAND_DAEMON_VIEW_COUNTING_QUERIES_H_
#define SIDEBAND_DAEMON_VIEW_COUNTING_QUERIES_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "daemon/counting/counting_book.h"
#include "daemon/counting/settings.h"
#include "daemon/view/reader.h"
#include "sideband/v1/counting.pb.h"

namespace sideband::daemon {

// The revision of a device's configuration as a tenant knows it: a number that grows with each change that the tenant
// sees, and with no other. The device's own number would tell how often others change theirs. Thread-safe.
class TenantRevisions {
 public:
  using Key = std::pair<std::string, std::string>;  // the names of a tenant and a device

  // The number of `contents`, which is what the tenant sees now; from 1 on. It is forgotten with the tenant.
  uint32_t Observe(const Policy& policy, const Key& key, const sideband::v1::GetCountingResponse& contents)
      ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Seen {
    std::string contents;
    uint32_t revision = 0;
  };
  absl::Mutex mu_;
  std::map<Key, Seen> seen_ ABSL_GUARDED_BY(mu_);
};

// Thread-safe; the constructor's arguments must outlive it.
class CountingQueries {
 public:
  CountingQueries(Reader& reader, CountingBook& book) : reader_(reader), book_(book) {}

  // NotFound(): a device that is absent, denied, or without gate groups. UNAVAILABLE while the configuration of a
  // device that has changed its events is being read. An operator gets everything; of a confidential VM that is what it
  // may open. A tenant gets its VMs on which it has the right `configure`, and the groups of its grants; its revision
  // and `in_sync` are of these alone.
  absl::StatusOr<sideband::v1::GetCountingResponse> Get(const Caller& caller,
                                                        const sideband::v1::GetCountingRequest& request) const;
  // Errors as above, and ABORTED as of CountingBook::Set. What is not the caller's to set is refused as what does not
  // exist. A tenant's value leaves the groups that are not granted as they are.
  absl::StatusOr<sideband::v1::SetCountingResponse> Set(const Caller& caller,
                                                        const sideband::v1::SetCountingRequest& request) const;

 private:
  struct Subject {
    VisibleDevice device;
    CountingState state;
  };
  absl::StatusOr<Subject> Find(const Caller& caller, const std::string& device) const;
  uint32_t RevisionFor(const Caller& caller, const Subject& subject) const;
  absl::StatusOr<sideband::v1::SetCountingResponse> TrySet(const Caller& caller,
                                                           const sideband::v1::SetCountingRequest& request) const;

  Reader& reader_;
  CountingBook& book_;
  mutable TenantRevisions revisions_;
};

// The part of a request to change counting that its caller may ask for.
//
// VMs are named by UUID in the result, so that a setting never passes to another VM of the same name. Adds a refusal
// for each field that is not the caller's, in the words for what does not exist.
CountingSettings SettingsOf(const sideband::v1::SetCountingRequest& request, const Caller& caller,
                            const CountingState& state, std::vector<Refusal>& refusals);

// The groups whose gates the caller may see and, of the VM, open and close: a bit for each.
uint64_t GroupsOf(const Caller& caller, const mailbox::Catalog& catalog, const mailbox::VmInfo& vm);

// Whether the caller may change something of the VM: open or close a gate group, or choose an event.
bool MayConfigure(const Caller& caller, const mailbox::Catalog& catalog, const mailbox::VmInfo& vm);

// Whether the caller may let the VM count by this selection: every event that it counts by one of this and the desired
// one, which may be pending, and not by the other is the caller's to choose, and none is lost of a pinned group. An
// operator may, also if there is no such selection.
bool MaySelect(const Caller& caller, const CountingState& state, const mailbox::VmInfo& vm, uint32_t selection);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_VIEW_COUNTING_QUERIES_H_
