// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/admin.h"

#include <optional>
#include <set>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "daemon/view/row_filter.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"

namespace sideband::daemon {
namespace {

using mailbox::TriggerStep;
using sideband::v1::ReloadResponse;
using sideband::v1::TriggerRequest;
using sideband::v1::TriggerResponse;

absl::Status CheckIsLocal(const Caller& caller, const Credentials& peer) {
  // With a token the caller is the token's, whom a proxy in front of the socket may have passed on.
  if (caller.is_operator() && peer.local_operator && !peer.bearer_token) return absl::OkStatus();
  return absl::PermissionDeniedError("Admin is for local operators on the daemon's Unix socket");
}

TriggerStep StepOf(const TriggerRequest& request) {
  if (request.has_select()) return TriggerStep::kSelect;
  if (!request.has_period_cycles()) return TriggerStep::kOnce;
  return request.period_cycles() == 0 ? TriggerStep::kStop : TriggerStep::kStart;
}

// The error as callers see it: what the mailbox reports, in the request's words.
absl::Status TriggerError(TriggerStep step, const absl::Status& status) {
  if (absl::IsUnimplemented(status) && step == TriggerStep::kSelect) {
    return absl::UnimplementedError("the device has no clock domains");
  }
  if (absl::IsInvalidArgument(status) && step == TriggerStep::kStart) {
    return absl::InvalidArgumentError("period_cycles: too short for the device");
  }
  if (absl::IsUnimplemented(status)) return absl::UnimplementedError("the device cannot be triggered by a controller");
  return absl::UnavailableError(absl::StrCat("the device was not triggered: ", status.message()));
}

absl::StatusOr<TriggerResponse> ResponseOf(TriggerStep step, const absl::StatusOr<uint32_t>& number) {
  if (!number.ok()) return TriggerError(step, number.status());
  TriggerResponse response;
  if (step == TriggerStep::kOnce) response.set_trigger_id(*number);
  return response;
}

ReloadResponse ResponseOf(const ReloadOutcome& outcome, uint64_t policy_version) {
  ReloadResponse response;
  for (const std::string& error : outcome.errors) response.add_errors(error);
  for (const std::string& setting : outcome.needs_restart) response.add_needs_restart(setting);
  response.set_policy_version(policy_version);
  return response;
}

std::optional<VisibleDevice> DeviceToTrigger(Reader& reader, const Caller& caller, const std::string& name) {
  for (VisibleDevice& device : reader.Devices(caller)) {
    if (device.info->name == name) return std::move(device);
  }
  return std::nullopt;
}

// A bit for each domain of the catalogue.
absl::StatusOr<uint64_t> MaskOf(const sideband::v1::DomainSelection& selection, const VisibleDevice& device) {
  if (device.snapshot == nullptr) return absl::UnavailableError("the device cannot be reached now");
  const std::vector<mailbox::ClockDomain>& domains = device.snapshot->topology->catalog().clock_domains;
  if (domains.empty()) return absl::UnimplementedError("the device has no clock domains");
  std::set<absl::string_view> unknown(selection.domains().begin(), selection.domains().end());
  uint64_t mask = 0;
  for (size_t d = 0; d < domains.size(); ++d) {
    if (selection.domains().empty() || absl::c_linear_search(selection.domains(), domains[d].name)) mask |= 1ULL << d;
    unknown.erase(domains[d].name);
  }
  if (unknown.empty()) return mask;
  return absl::InvalidArgumentError(absl::StrCat("select: no clock domain '", Visible(*unknown.begin()), "'"));
}

// The argument of the step: a period, or domains.
absl::StatusOr<uint64_t> ArgumentOf(const TriggerRequest& request, const VisibleDevice& device) {
  if (!request.has_select()) return request.period_cycles();
  if (request.has_period_cycles()) return absl::InvalidArgumentError("select: cannot be combined with period_cycles");
  return MaskOf(request.select(), device);
}

}  // namespace

absl::Status Admin::Reload(const Caller& caller, const Credentials& peer,
                           const sideband::v1::ReloadRequest& /*request*/, Done<ReloadResponse> done) const {
  SIDEBAND_RETURN_IF_ERROR(CheckIsLocal(caller, peer));
  parts_.reload([&reader = parts_.reader, done = std::move(done)](const absl::StatusOr<ReloadOutcome>& outcome) {
    if (!outcome.ok()) return done(outcome.status());
    done(ResponseOf(*outcome, reader.CurrentPolicy().version));
  });
  return absl::OkStatus();
}

absl::Status Admin::Trigger(const Caller& caller, const Credentials& peer, const TriggerRequest& request,
                            Done<TriggerResponse> done) const {
  SIDEBAND_RETURN_IF_ERROR(CheckIsLocal(caller, peer));
  const auto device = DeviceToTrigger(parts_.reader, caller, request.device());
  if (!device) return NotFound();
  const TriggerStep step = StepOf(request);
  SIDEBAND_ASSIGN_OR_RETURN(const uint64_t argument, ArgumentOf(request, *device));
  return parts_.trigger(
      device->index, step, argument,
      [step, done = std::move(done)](const absl::StatusOr<uint32_t>& number) { done(ResponseOf(step, number)); });
}

absl::Status Admin::RotateKeys(const Caller& caller, const Credentials& peer,
                               const sideband::v1::RotateKeysRequest& request,
                               Done<sideband::v1::RotateKeysResponse> done) const {
  SIDEBAND_RETURN_IF_ERROR(CheckIsLocal(caller, peer));
  return parts_.rotate_keys(caller, request, std::move(done));
}

}  // namespace sideband::daemon
