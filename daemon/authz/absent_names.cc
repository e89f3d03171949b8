// SPDX-License-Identifier: Apache-2.0
#include "daemon/authz/absent_names.h"

#include <algorithm>
#include <cstddef>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/base/text.h"
#include "proto/mailbox/board_items.h"

namespace sideband::daemon {
namespace {

// An absent name of the policy, its line and the description of the error.
struct Absence {
  size_t line;
  std::string name;
  std::string what;
};

// `where` locates the policy's allowance, unless the message is about the policy itself.
std::string VmText(const Uuid& vm, absl::string_view where = "") {
  return absl::StrCat("VM ", vm.ToString(), " is on no device (allow_absent_vms: true", where, " allows it)");
}

// The VMs and events of all devices.
class Present {
 public:
  explicit Present(const Topologies& topologies) {
    for (const auto& topology : topologies) {
      for (const mailbox::VmInfo& vm : topology->catalog().vms) vms_.insert(vm.uuid);
      for (const mailbox::EventInfo& event : topology->catalog().events) Add(event.name);
      for (const mailbox::GateGroupInfo& group : topology->catalog().gate_groups) gate_groups_.push_back(group.name);
    }
  }

  bool HasVm(const Uuid& vm) const { return vms_.contains(vm); }
  bool HasEvent(const std::string& event) const { return events_.contains(event) || IsMetric(event); }
  bool HasGateGroup(const std::string& group) const { return std::ranges::count(gate_groups_, group) > 0; }
  std::string GateGroupText(const std::string& group) const {
    return absl::StrCat("gate group '", group, "' is on no device", DidYouMean(group, gate_groups_),
                        "; allow_absent_events: true allows it");
  }
  // `where` as for VmText().
  std::string EventText(const std::string& event, absl::string_view where = "") const {
    return absl::StrCat("event '", event, "' is counted by no device", DidYouMean(event, event_names_),
                        "; allow_absent_events: true", where, " allows it");
  }

 private:
  // Boards have them, and groups may list them, for partitions.
  static bool IsMetric(const std::string& name) {
    return std::ranges::any_of(mailbox::kMetrics, [&](const mailbox::MetricRow& row) { return name == row.word; });
  }
  void Add(const std::string& event) {
    if (events_.insert(event).second) event_names_.push_back(event);
  }

  absl::flat_hash_set<Uuid> vms_;
  absl::flat_hash_set<std::string> events_;
  std::vector<std::string> event_names_;
  std::vector<std::string> gate_groups_;
};

void AddAbsentVms(const Policy& policy, const Present& present, std::vector<Absence>& absences) {
  if (policy.allows_absent_vms()) return;
  for (const Tenant& tenant : policy.tenants()) {
    for (const VmGrant& grant : tenant.vms) {
      if (!present.HasVm(grant.vm)) absences.push_back({grant.line, grant.vm.ToString(), VmText(grant.vm)});
    }
  }
}

void AddAbsentEvents(const Policy& policy, const Present& present, std::vector<Absence>& absences) {
  if (policy.allows_absent_events()) return;
  for (const NamedEvent& event : policy.named_events()) {
    if (!present.HasEvent(event.name)) absences.push_back({event.line, event.name, present.EventText(event.name)});
  }
}

// The text of Absence::name; an event may have the name of a group.
std::string GateGroupName(const std::string& group) { return absl::StrCat("gate group ", group); }

void AddAbsentGateGroups(const Policy& policy, const Present& present, std::vector<Absence>& absences) {
  if (policy.allows_absent_events()) return;
  for (const Tenant& tenant : policy.tenants()) {
    for (const VmGrant& grant : tenant.vms) {
      for (const std::string& group : grant.gate_groups) {
        if (present.HasGateGroup(group)) continue;
        absences.push_back({grant.line, GateGroupName(group), present.GateGroupText(group)});
      }
    }
  }
}

std::vector<Absence> Absences(const Policy& policy, const Topologies& topologies) {
  const Present present(topologies);
  std::vector<Absence> absences;
  AddAbsentVms(policy, present, absences);
  AddAbsentEvents(policy, present, absences);
  AddAbsentGateGroups(policy, present, absences);
  // VMs, events and gate groups were collected separately; the report has the order of the file.
  std::ranges::stable_sort(absences, {}, &Absence::line);
  return absences;
}

std::string Text(const Policy& policy, const Absence& absence) {
  return absl::StrCat(policy.path(), ":", absence.line, ": ", absence.what);
}

// The UUIDs of VMs and the names of events and gate groups, as in Absence::name.
absl::flat_hash_set<std::string> NamesIn(const Policy& policy) {
  absl::flat_hash_set<std::string> names;
  for (const Tenant& tenant : policy.tenants()) {
    for (const VmGrant& grant : tenant.vms) {
      names.insert(grant.vm.ToString());
      for (const std::string& group : grant.gate_groups) names.insert(GateGroupName(group));
    }
  }
  for (const NamedEvent& event : policy.named_events()) names.insert(event.name);
  return names;
}

}  // namespace

std::vector<std::string> AbsentNames(const Policy& policy, const Topologies& topologies) {
  std::vector<std::string> texts;
  for (const Absence& absence : Absences(policy, topologies)) texts.push_back(Text(policy, absence));
  return texts;
}

std::vector<std::string> AbsentVms(std::span<const NamedVm> vms, const Policy& policy, const Topologies& topologies) {
  std::vector<std::string> texts;
  if (policy.allows_absent_vms()) return texts;
  const Present present(topologies);
  for (const NamedVm& named : vms) {
    if (!present.HasVm(named.vm)) texts.push_back(absl::StrCat(named.place, ": ", VmText(named.vm, " in the policy")));
  }
  return texts;
}

std::vector<std::string> AbsentEvents(std::span<const PlacedEvent> events, const Policy& policy,
                                      const Topologies& topologies) {
  std::vector<std::string> texts;
  if (policy.allows_absent_events()) return texts;
  const Present present(topologies);
  for (const auto& [name, place] : events) {
    if (!present.HasEvent(name)) texts.push_back(absl::StrCat(place, ": ", present.EventText(name, " in the policy")));
  }
  return texts;
}

std::vector<std::string> NewAbsentNames(const Policy& policy, const Policy& in_force, const Topologies& topologies) {
  const absl::flat_hash_set<std::string> known = NamesIn(in_force);
  std::vector<std::string> texts;
  for (const Absence& absence : Absences(policy, topologies)) {
    if (!known.contains(absence.name)) texts.push_back(Text(policy, absence));
  }
  return texts;
}

}  // namespace sideband::daemon
