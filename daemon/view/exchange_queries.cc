// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/exchange_queries.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/authz/policy.h"
#include "daemon/view/row_filter.h"
#include "proto/base/status_macros.h"
#include "proto/exchange/messages.h"
#include "proto/exchange/vm_records.h"

namespace sideband::daemon {
namespace {

using mailbox::VmInfo;
using sideband::v1::ChallengeResponse;
using sideband::v1::ExchangeResponse;
using sideband::v1::RotateKeysResponse;

absl::Status NotExchanged() {
  return absl::FailedPreconditionError(
      "this VM's keys are not exchanged: no guest is trusted with them (sealing.exchange of the daemon's "
      "configuration, "
      "or the device's own)");
}

struct Found {
  SealedVm vm;
  std::string device;  // its name
};

template <typename Predicate>
absl::StatusOr<Found> FindVm(Reader& reader, const Caller& caller, const std::string& device, const std::string& vm,
                             Predicate may) {
  for (const VisibleDevice& visible : reader.Devices(caller)) {
    if (visible.snapshot == nullptr || (!device.empty() && visible.info->name != device)) continue;
    const mailbox::Catalog& catalog = visible.snapshot->topology->catalog();
    const auto found = std::ranges::find_if(catalog.vms, [&](const VmInfo& info) {
      return may(*visible.view, info) && (info.name == vm || info.uuid.ToString() == vm);
    });
    if (found == catalog.vms.end()) continue;
    return Found{.vm = {.device = visible.index,
                        .device_uuid = catalog.device,
                        .boot_id = visible.snapshot->data.boot_id,
                        .vm = found->uuid,
                        .vm_id = found->id,
                        .generation = found->generation,
                        .is_sealed_by_device = visible.snapshot->IsSealedByDevice(found->id),
                        .events = exchange::VmEventNames(catalog)},
                 .device = visible.info->name};
  }
  return NotFound();
}

absl::StatusOr<Found> FindForOwner(Reader& reader, const Caller& caller, const std::string& device,
                                   const std::string& vm) {
  return FindVm(reader, caller, device, vm,
                [](const View& view, const VmInfo& info) { return view.SeesSealed(info.id); });
}

// The part of a sealer's error that the caller may know.
absl::Status ExchangeError(const absl::Status& status) {
  if (absl::IsNotFound(status)) return NotExchanged();
  const bool is_of_no_request = absl::IsResourceExhausted(status) || absl::IsUnavailable(status);
  return is_of_no_request ? status : ExchangeRefused();
}

std::string ResourceOf(const Found& found) {
  return absl::StrCat("device ", found.device, ", VM ", found.vm.vm.ToString());
}

// The call's own entry says that it was refused, and this one why.
AuditEntry EntryOf(const Caller& caller, const Found& found, const absl::Status& outcome) {
  return {.kind = AuditKind::kAccess,
          .principal = caller.principal.identity,
          .role = RoleName(*caller.policy.policy, caller.principal),
          .endpoint = "Confidential/Exchange",
          .resource = ResourceOf(found),
          .decision = outcome.ok() ? AuditDecision::kAllow : AuditDecision::kDeny,
          .reason = outcome.ok() ? "keys exchanged" : absl::StrCat("exchange refused: ", outcome.message()),
          .policy_version = caller.policy.version};
}

// The sealer is asked only what the caller may ask: a device would answer a request of another VM, and read an empty
// one as a wish for its newest answer.
absl::Status CheckRequest(const SealedVm& vm, ByteSpan bytes) {
  SIDEBAND_ASSIGN_OR_RETURN(const exchange::ExchangeRequest request, exchange::ParseRequest(bytes));
  if (request.device == vm.device_uuid && request.vm == vm.vm) return absl::OkStatus();
  return absl::PermissionDeniedError("the request belongs to another VM or device");
}

}  // namespace

absl::Status ExchangeRefused() { return absl::PermissionDeniedError("the exchange is refused"); }

absl::Status ExchangeQueries::Challenge(const Caller& caller, const sideband::v1::ChallengeRequest& request,
                                        Done<ChallengeResponse> done) const {
  SIDEBAND_ASSIGN_OR_RETURN(const Found found, FindForOwner(reader_, caller, request.device(), request.vm()));
  return sealer_.Draw(found.vm, [vm = found.vm, done = std::move(done)](const absl::StatusOr<Bytes>& challenge) {
    if (!challenge.ok()) return done(ExchangeError(challenge.status()));
    ChallengeResponse response;
    response.set_challenge(challenge->data(), challenge->size());
    response.set_device_uuid(vm.device_uuid.bytes.data(), vm.device_uuid.bytes.size());
    response.set_vm_uuid(vm.vm.bytes.data(), vm.vm.bytes.size());
    done(response);
  });
}

absl::Status ExchangeQueries::Exchange(const Caller& caller, const sideband::v1::ExchangeRequest& request,
                                       Done<ExchangeResponse> done) const {
  SIDEBAND_ASSIGN_OR_RETURN(const Found found, FindForOwner(reader_, caller, request.device(), request.vm()));
  const ByteSpan bytes = AsBytes(request.request());
  if (const absl::Status checked = CheckRequest(found.vm, bytes); !checked.ok()) {
    reader_.audit().Record(EntryOf(caller, found, checked));
    return ExchangeRefused();
  }
  return sealer_.Exchange(
      found.vm, Bytes(bytes.begin(), bytes.end()),
      [&reader = reader_, caller, found, done = std::move(done)](const absl::StatusOr<Bytes>& answer) {
        reader.audit().Record(EntryOf(caller, found, answer.status()));
        if (!answer.ok()) return done(ExchangeError(answer.status()));
        ExchangeResponse response;
        response.set_answer(answer->data(), answer->size());
        done(response);
      });
}

absl::Status ExchangeQueries::Rotate(const Caller& caller, const sideband::v1::RotateKeysRequest& request,
                                     Done<RotateKeysResponse> done) const {
  const auto is_confidential = [](const View& view, const VmInfo& info) {
    return info.confidential && view.SeesVm(info.id);
  };
  SIDEBAND_ASSIGN_OR_RETURN(const Found found,
                            FindVm(reader_, caller, request.device(), request.vm(), is_confidential));
  return sealer_.Rotate(found.vm, [done = std::move(done)](const absl::StatusOr<uint64_t>& epoch) {
    if (absl::IsNotFound(epoch.status())) {
      return done(absl::FailedPreconditionError("the VM's guest has exchanged no keys"));
    }
    if (!epoch.ok()) return done(epoch.status());
    RotateKeysResponse response;
    response.set_epoch(*epoch);
    done(response);
  });
}

}  // namespace sideband::daemon
