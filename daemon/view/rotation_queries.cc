// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/rotation_queries.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"
#include "daemon/counting/followers.h"
#include "daemon/snapshot/message.h"
#include "daemon/view/row_filter.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/rotation_file.h"

namespace sideband::daemon {
namespace {

using mailbox::Catalog;
using mailbox::RotationProfile;
using mailbox::RotationSettings;

constexpr double kPerUnit = 1000;

absl::Status Bad(absl::string_view field, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("settings.", field, ": ", what));
}

absl::Status MustBe(absl::string_view field, absl::string_view range) {
  return Bad(field, absl::StrCat("must be ", range));
}

// Also false for NaN.
bool IsUpTo(double most, double number) { return number >= 0 && number <= most; }

void SetTurnTime(uint64_t cycles, uint64_t hertz, google::protobuf::Duration& out) {
  constexpr uint64_t kLongest = std::numeric_limits<int64_t>::max();
  SetDuration(absl::Nanoseconds(std::min(NanosecondsOf(cycles, hertz), kLongest)), out);
}

absl::StatusOr<RotationProfile> ProfileOf(const sideband::v1::RotationSettings& from) {
  switch (from.profile()) {
    case sideband::v1::RotationSettings::PROFILE_UNSPECIFIED:
    case sideband::v1::RotationSettings::PROFILE_FAST:
      return RotationProfile::kFast;
    case sideband::v1::RotationSettings::PROFILE_TWO_SET:
      return RotationProfile::kTwoSet;
    default:
      return Bad("profile", "is unknown");
  }
}

absl::Status TakeTime(const google::protobuf::Duration& from, absl::string_view field, absl::Duration& out) {
  SIDEBAND_ASSIGN_OR_RETURN(out, PositiveDurationOf(from, absl::StrCat("settings.", field)));
  return out >= kTurnTimeMin && out <= kTurnTimeMax ? absl::OkStatus() : MustBe(field, kTurnTimeRange);
}

absl::Status TakeTimes(const sideband::v1::RotationSettings& from, RotationTerms& out) {
  if (from.has_stable_slot()) {
    SIDEBAND_RETURN_IF_ERROR(TakeTime(from.stable_slot(), "stable_slot", out.stable_slot));
  }
  if (from.has_fluctuating_slot()) {
    SIDEBAND_RETURN_IF_ERROR(TakeTime(from.fluctuating_slot(), "fluctuating_slot", out.fluctuating_slot));
  }
  return from.has_interval() ? TakeTime(from.interval(), "interval", out.interval) : absl::OkStatus();
}

absl::Status TakeClassifier(const sideband::v1::RotationSettings& from, RotationTerms& out) {
  if (from.has_threshold()) {
    if (!IsUpTo(kThresholdMax, from.threshold())) return MustBe("threshold", kThresholdRange);
    out.threshold_per_mille = PerMille(from.threshold());
  }
  if (from.has_step()) out.step = from.step();
  return out.step >= 1 && out.step <= kStepMax ? absl::OkStatus() : MustBe("step", kStepRange);
}

absl::Status TakeSets(const sideband::v1::RotationSettings& from, RotationTerms& out) {
  if (from.has_sets_per_pass()) out.sets_per_pass = from.sets_per_pass();
  if (out.sets_per_pass > kSetsPerPassMax) {
    return MustBe("sets_per_pass", absl::StrCat("0, which is all, or ", kSetsPerPassRange));
  }
  if (from.has_adapt()) out.adapt = from.adapt();
  const bool is_adaptable = out.profile == RotationProfile::kFast;
  return out.adapt && !is_adaptable ? Bad("adapt", "is for the profile fast only") : absl::OkStatus();
}

absl::StatusOr<RotationTerms> TermsOf(const sideband::v1::RotationSettings& from) {
  SIDEBAND_ASSIGN_OR_RETURN(const RotationProfile profile, ProfileOf(from));
  RotationTerms terms = DefaultTerms(profile);
  SIDEBAND_RETURN_IF_ERROR(TakeTimes(from, terms));
  SIDEBAND_RETURN_IF_ERROR(TakeClassifier(from, terms));
  SIDEBAND_RETURN_IF_ERROR(TakeSets(from, terms));
  return terms;
}

absl::Status TakeWeights(const sideband::v1::RotationSettings& from, const Catalog& catalog, const EventSet& readable,
                         RotationSettings& out) {
  for (const auto& [name, weight] : from.weights()) {
    const auto event = FindReadable(catalog, readable, name);
    if (!event) return NotFound();
    if (!IsUpTo(kWeightMax, weight)) return Bad("weights", absl::StrCat(name, " must be ", kWeightRange));
    const bool is_new = out.weights.emplace(static_cast<uint16_t>(*event), PerMille(weight)).second;
    if (!is_new) return Bad("weights", absl::StrCat(catalog.events[*event].name, " is given twice"));
  }
  return absl::OkStatus();
}

using mailbox::kNoContext;
using mailbox::VmInfo;
using sideband::v1::GetRotationRequest;
using sideband::v1::GetRotationResponse;
using sideband::v1::LearnRotationRequest;
using sideband::v1::LearnRotationResponse;
using sideband::v1::SetRotationRequest;
using sideband::v1::SetRotationResponse;

// A device of the caller with multiplexed events.
absl::StatusOr<VisibleDevice> FindRotating(Reader& reader, const Caller& caller, const std::string& name) {
  SIDEBAND_ASSIGN_OR_RETURN(VisibleDevice device, FindDevice(reader, caller, name));
  if (!device.view->topology()->rotation().has_rotated_events()) return NotFound();
  return device;
}

// The numbers of plans as a caller sees them. The device counts all plans of a boot, so that its numbers would tell a
// tenant of others' plans. Tenants see their own counted: from 1 on for each VM after the other, 0 for the chip's.
class PlanNumbers {
 public:
  // By all rows that the caller may read, whatever it asks for.
  PlanNumbers(const Caller& caller, const VisibleDevice& device) {
    if (caller.is_operator()) return;
    const mailbox::Snapshot& data = device.snapshot->data;
    std::map<uint16_t, std::set<uint16_t>> of_vms;
    for (size_t row = 0; row < data.rotation.size(); ++row) {
      const mailbox::BlockHeader& block = data.blocks[row];
      if (device.view->Events(block.vm, block.context) == nullptr) continue;
      for (const mailbox::RotationPart& part : data.rotation[row].parts) of_vms[block.vm].insert(part.plan);
    }
    for (const auto& [vm, plans] : of_vms) Count(plans);
  }

  uint32_t Of(uint16_t plan) const {
    const auto found = numbers_.find(plan);
    return found == numbers_.end() ? plan : found->second;
  }

 private:
  void Count(const std::set<uint16_t>& plans) {
    for (const uint16_t plan : plans) {
      if (plan == mailbox::kOwnPlan || plan == mailbox::kForgottenPlan) continue;
      numbers_.try_emplace(plan, static_cast<uint32_t>(numbers_.size()) + 1);
    }
  }

  std::map<uint16_t, uint32_t> numbers_;  // by the device's; others are shown as they are
};

class RotationAnswer {
 public:
  RotationAnswer(const Caller& caller, const VisibleDevice& device)
      : snapshot_(*device.snapshot),
        info_(*device.info),
        topology_(*snapshot_.topology),
        catalog_(topology_.catalog()),
        numbers_(caller, device) {}

  void AddRow(size_t row, const EventSet& events, GetRotationResponse& response) {
    const mailbox::BlockHeader& block = snapshot_.data.blocks[row];
    sideband::v1::RotationRow out;
    for (size_t event = 0; event < events.size(); ++event) {
      if (events[event] && IsShown(row, event)) AddEvent(row, event, out);
    }
    if (out.events().empty()) return;
    *out.mutable_scope() = ScopeMessage(info_, topology_, block.vm, block.context);
    out.mutable_scope()->set_generation(block.generation);
    if (row < snapshot_.data.rotation.size()) AddParts(row, events, out);
    *response.add_rows() = std::move(out);
  }

  // Adds the rows' plans, each with the events that the caller may read in a row that has it.
  void AddPlans(GetRotationResponse& response) const {
    for (const mailbox::RotationPlan& plan : catalog_.plans) {
      const auto readable = readable_.find(plan.number);
      if (readable == readable_.end()) continue;
      sideband::v1::RotationPlan& out = *response.add_plans();
      out.set_number(numbers_.Of(plan.number));
      FillRotationSettings(plan.settings, catalog_, readable->second, *out.mutable_settings());
      out.set_passes(static_cast<uint32_t>(mailbox::Passes(plan.sets.size(), plan.settings.sets_per_pass)));
      for (const mailbox::EventSet& set : plan.sets) AddSet(set, readable->second, out);
    }
    std::sort(response.mutable_plans()->begin(), response.mutable_plans()->end(),
              [](const auto& a, const auto& b) { return a.number() < b.number(); });
  }

 private:
  bool IsShown(size_t row, size_t event) const {
    return topology_.rotation().IsRotated(event) && snapshot_.MayShow(row, event);
  }

  void AddEvent(size_t row, size_t event, sideband::v1::RotationRow& out) const {
    sideband::v1::RotationRow::EventCoverage& coverage = *out.add_events();
    coverage.set_event(catalog_.events[event].name);
    coverage.set_counting(EventMessage(topology_, event).counting());
    coverage.set_coverage(snapshot_.CoverageOf(row, event));
  }

  void AddParts(size_t row, const EventSet& events, sideband::v1::RotationRow& out) {
    const uint64_t hertz = catalog_.reference_clock_hz;
    for (const mailbox::RotationPart& part : snapshot_.data.rotation[row].parts) {
      AddReadable(row, events, readable_[part.plan]);
      sideband::v1::RotationRow::Part& message = *out.add_parts();
      message.set_plan(numbers_.Of(part.plan));
      if (part.enabled.empty()) continue;
      message.set_enabled_ns(NanosecondsOf(part.enabled[0], hertz));
      for (size_t at = 0; at < part.running.size(); at += part.enabled.size()) {
        message.add_set_running_ns(NanosecondsOf(part.running[at], hertz));
      }
    }
  }

  void AddReadable(size_t row, const EventSet& events, EventSet& readable) const {
    readable.resize(catalog_.events.size());
    for (size_t event = 0; event < events.size(); ++event) {
      if (events[event] && IsShown(row, event)) readable[event] = true;
    }
  }

  void AddSet(const mailbox::EventSet& set, const EventSet& readable, sideband::v1::RotationPlan& out) const {
    sideband::v1::CounterSet& message = *out.add_sets();
    for (size_t event = 0; event < catalog_.events.size(); ++event) {
      if (readable[event] && mailbox::Includes(set, event)) message.add_events(catalog_.events[event].name);
    }
  }

  const DeviceSnapshot& snapshot_;
  const DeviceInfo& info_;
  const Topology& topology_;
  const Catalog& catalog_;
  const PlanNumbers numbers_;
  std::map<uint16_t, EventSet> readable_;  // by the device's number of a plan
};

// A requested change, as far as its caller may ask for it.
class RotationChange {
 public:
  RotationChange(const Caller& caller, const VisibleDevice& device, const SetRotationRequest& request)
      : caller_(caller), view_(*device.view), topology_(*device.view->topology()), request_(request) {}

  // Its VM and contexts alone.
  absl::StatusOr<mailbox::RotationRequest> Scope() {
    SIDEBAND_RETURN_IF_ERROR(ReadScope());
    return std::move(wanted_);
  }

  absl::StatusOr<mailbox::RotationRequest> Read() {
    SIDEBAND_RETURN_IF_ERROR(ReadScope());
    SIDEBAND_ASSIGN_OR_RETURN(wanted_.settings,
                              RotationSettingsOf(request_.settings(), topology_.catalog(), readable_));
    SIDEBAND_ASSIGN_OR_RETURN(wanted_.events, EventsOf(request_.events(), "events"));
    SIDEBAND_ASSIGN_OR_RETURN(wanted_.always, EventsOf(request_.always(), "always"));
    if (request_.events().empty()) wanted_.events = AllThatCan();
    const bool has_events = std::ranges::any_of(wanted_.events, [](uint64_t word) { return word != 0; });
    if (!has_events) return NotFound();
    for (size_t event = 0; event < readable_.size(); ++event) {
      if (!mailbox::Includes(wanted_.always, event) || mailbox::Includes(wanted_.events, event)) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("always: ", topology_.catalog().events[event].name, " is not in events"));
    }
    return std::move(wanted_);
  }

 private:
  absl::Status ReadScope() {
    const VmInfo* const vm = topology_.FindVm(request_.vm());
    if (vm == nullptr) return NotFound();
    wanted_.vm = vm->id;
    readable_.assign(topology_.catalog().events.size(), true);
    if (request_.contexts().empty()) {
      if (!caller_.May(Resource::Vm(vm->uuid, caller_.IsConfidential(*vm)), Right::kRotate)) return NotFound();
      return KeepReadable(kNoContext);
    }
    for (const std::string& name : request_.contexts()) SIDEBAND_RETURN_IF_ERROR(ReadContext(*vm, name));
    std::ranges::sort(wanted_.contexts);
    // Not the one of ranges: clang 14 cannot compile the subrange that it returns.
    const auto repeated = std::unique(wanted_.contexts.begin(), wanted_.contexts.end());
    wanted_.contexts.erase(repeated, wanted_.contexts.end());
    return absl::OkStatus();
  }

  // A right covers all contexts of a name.
  absl::Status ReadContext(const VmInfo& vm, const std::string& name) {
    if (!caller_.May(Resource::Context(vm.uuid, caller_.IsConfidential(vm), name), Right::kRotate)) return NotFound();
    bool is_there = false;
    for (const mailbox::ContextInfo& context : topology_.catalog().contexts) {
      if (context.vm != vm.id || context.name != name) continue;
      is_there = true;
      wanted_.contexts.push_back(context.id);
      SIDEBAND_RETURN_IF_ERROR(KeepReadable(context.id));
    }
    return is_there ? absl::OkStatus() : NotFound();
  }

  absl::Status KeepReadable(uint16_t context) {
    const EventSet* const events = view_.Events(wanted_.vm, context);
    if (events == nullptr) return NotFound();
    for (size_t event = 0; event < readable_.size(); ++event) readable_[event] = readable_[event] && (*events)[event];
    return absl::OkStatus();
  }

  absl::StatusOr<mailbox::EventSet> EventsOf(const google::protobuf::RepeatedPtrField<std::string>& names,
                                             absl::string_view field) const {
    const auto& events = topology_.catalog().events;
    mailbox::EventSet set = names.empty() ? mailbox::EventSet() : mailbox::EmptySet(events.size());
    for (const std::string& name : names) {
      const auto event = FindReadable(topology_.catalog(), readable_, name);
      if (!event) return NotFound();
      if (!topology_.CanTakeTurns(*event)) {
        return absl::InvalidArgumentError(absl::StrCat(field, ": ", events[*event].name, " cannot be multiplexed"));
      }
      mailbox::Insert(*event, set);
    }
    return set;
  }

  // Only events that the caller may read.
  mailbox::EventSet AllThatCan() const {
    mailbox::EventSet set = mailbox::EmptySet(readable_.size());
    for (size_t event = 0; event < readable_.size(); ++event) {
      if (readable_[event] && topology_.CanTakeTurns(event)) mailbox::Insert(event, set);
    }
    return set;
  }

  const Caller& caller_;
  const View& view_;
  const Topology& topology_;
  const SetRotationRequest& request_;
  EventSet readable_;  // of every named row
  mailbox::RotationRequest wanted_;
};

absl::Status CannotChange() { return absl::FailedPreconditionError("this daemon cannot change the rotation"); }

absl::Status Refusal(const mailbox::RotationRequest& request, const Catalog& catalog) {
  return absl::FailedPreconditionError(RefusalText(request, catalog));
}

absl::Status Refusal(const LearnRequest&, const Catalog&) {
  return absl::FailedPreconditionError(
      "the device has nothing to learn there: all slots of the VM or context have the same length, as on a chip "
      "without an instruction event");
}

// The error as callers see it: what the mailbox reports, in the request's words.
template <typename What>
absl::Status RotationError(const What& what, const Catalog& catalog, const absl::Status& status) {
  if (status.ok()) return status;
  const bool is_refused =
      absl::IsInvalidArgument(status) || absl::IsNotFound(status) || absl::IsFailedPrecondition(status);
  if (is_refused) return Refusal(what, catalog);
  if (absl::IsUnimplemented(status)) {
    return absl::FailedPreconditionError(absl::StrCat("the device's rotation cannot be changed: ", status.message()));
  }
  return absl::UnavailableError(absl::StrCat("the device was not changed: ", status.message()));
}

template <typename Response, typename What>
absl::Status Hand(RotationSink& sink, const Caller& caller, const VisibleDevice& device, const What& what,
                  RotationDone<Response> done) {
  const size_t asker = caller.principal.group();
  return sink.Ask(device.index, {device.snapshot->data.boot_id, device.snapshot->topology, what, asker},
                  [what, topology = device.snapshot->topology, done = std::move(done)](const absl::Status& status) {
                    if (status.ok()) return done(Response());
                    done(RotationError(what, topology->catalog(), status));
                  });
}

}  // namespace

absl::StatusOr<RotationSettings> RotationSettingsOf(const sideband::v1::RotationSettings& from, const Catalog& catalog,
                                                    const EventSet& readable) {
  SIDEBAND_ASSIGN_OR_RETURN(const RotationTerms terms, TermsOf(from));
  if (catalog.reference_clock_hz == 0) return absl::FailedPreconditionError("the device's clock is unknown");
  RotationSettings out = SettingsOf(terms, catalog.reference_clock_hz);
  SIDEBAND_RETURN_IF_ERROR(TakeWeights(from, catalog, readable, out));
  return out;
}

void FillRotationSettings(const RotationSettings& from, const Catalog& catalog, const EventSet& readable,
                          sideband::v1::RotationSettings& out) {
  out.set_profile(from.profile == RotationProfile::kTwoSet ? sideband::v1::RotationSettings::PROFILE_TWO_SET
                                                           : sideband::v1::RotationSettings::PROFILE_FAST);
  if (const uint64_t hertz = catalog.reference_clock_hz; hertz != 0) {
    SetTurnTime(from.stable_slot, hertz, *out.mutable_stable_slot());
    SetTurnTime(from.fluctuating_slot, hertz, *out.mutable_fluctuating_slot());
    SetTurnTime(from.interval, hertz, *out.mutable_interval());
  }
  out.set_threshold(from.threshold_per_mille / kPerUnit);
  out.set_step(from.step);
  out.set_sets_per_pass(from.sets_per_pass);
  out.set_adapt(from.adapt);
  for (const auto& [event, weight] : from.weights) {
    if (event >= readable.size() || !readable[event]) continue;
    (*out.mutable_weights())[catalog.events[event].name] = weight / kPerUnit;
  }
}

absl::StatusOr<GetRotationResponse> GetRotation(Reader& reader, const Caller& caller,
                                                const GetRotationRequest& request) {
  SIDEBAND_ASSIGN_OR_RETURN(const VisibleDevice device, FindRotating(reader, caller, request.device()));
  sideband::v1::Filter named;
  named.set_device(request.device());
  named.set_vm(request.vm());
  named.set_context(request.context());
  const RowFilter filter(named);
  SIDEBAND_RETURN_IF_ERROR(filter.Check({device}));
  GetRotationResponse response;
  response.set_device(device.info->name);
  RotationAnswer answer(caller, device);
  for (size_t row = 0; row < device.snapshot->data.blocks.size(); ++row) {
    const mailbox::BlockHeader& block = device.snapshot->data.blocks[row];
    answer.AddRow(row, filter.SelectedEvents(*device.view, block.vm, block.context), response);
  }
  answer.AddPlans(response);
  return response;
}

absl::Status SetRotation(Reader& reader, RotationSink* sink, const Caller& caller, const SetRotationRequest& request,
                         RotationDone<SetRotationResponse> done) {
  SIDEBAND_ASSIGN_OR_RETURN(const VisibleDevice device, FindRotating(reader, caller, request.device()));
  SIDEBAND_ASSIGN_OR_RETURN(const mailbox::RotationRequest wanted, RotationChange(caller, device, request).Read());
  if (sink == nullptr) return CannotChange();
  if (!request.validate_only()) return Hand<SetRotationResponse>(*sink, caller, device, wanted, std::move(done));
  done(SetRotationResponse());
  return absl::OkStatus();
}

absl::Status LearnRotation(Reader& reader, RotationSink* sink, const Caller& caller,
                           const LearnRotationRequest& request, RotationDone<LearnRotationResponse> done) {
  SIDEBAND_ASSIGN_OR_RETURN(const VisibleDevice device, FindRotating(reader, caller, request.device()));
  SetRotationRequest of_scope;
  of_scope.set_vm(request.vm());
  if (!request.context().empty()) of_scope.add_contexts(request.context());
  SIDEBAND_ASSIGN_OR_RETURN(const mailbox::RotationRequest scope, RotationChange(caller, device, of_scope).Scope());
  if (sink == nullptr) return CannotChange();
  // A context that is named is one: several of a name cannot be told apart.
  if (scope.contexts.size() > 1) return NotFound();
  const uint16_t context = scope.contexts.empty() ? kNoContext : scope.contexts.front();
  return Hand<LearnRotationResponse>(*sink, caller, device, LearnRequest{.vm = scope.vm, .context = context},
                                     std::move(done));
}

}  // namespace sideband::daemon
