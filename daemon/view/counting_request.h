// SPDX-License-Identifier: Apache-2.0
//
// What a request to change who is counted asks for, as far as its caller may ask for it.
//   std::vector<Refusal> refusals;
//   const CountingSettings settings = SettingsOf(request, caller, state, refusals);
#ifndef SIDEBAND_DAEMON_VIEW_COUNTING_REQUEST_H_
#define SIDEBAND_DAEMON_VIEW_COUNTING_REQUEST_H_

#include <vector>

#include "daemon/counting/counting_book.h"
#include "daemon/counting/settings.h"
#include "daemon/view/reader.h"
#include "sideband/v1/counting.pb.h"

namespace sideband::daemon {

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

#endif  // SIDEBAND_DAEMON_VIEW_COUNTING_REQUEST_H_
