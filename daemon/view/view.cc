// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/view.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "daemon/authz/policy.h"
#include "proto/audit/chain.h"

namespace sideband::daemon {
namespace {

using Kind = Resource::Kind;

// The name that distinguishes the decision from others on the same subject; empty for a subject with a single decision.
std::string NameOf(const Resource& resource) {
  switch (resource.kind) {
    case Kind::kVmIdentity:
      return resource.vm.ToString();
    case Kind::kContext:
      return resource.context;
    case Kind::kEvent:
    case Kind::kGateGroup:
      return resource.event;
    case Kind::kDevice:
    case Kind::kVm:
    case Kind::kSelfMetrics:
    case Kind::kAuditLog:
    case Kind::kBoard:
    case Kind::kPartition:
      break;
  }
  return "";
}

std::string OutcomeText(const Decision& decision) {
  return absl::StrCat(decision.allowed ? "allow (" : "deny (", decision.reason, ")");
}

// Adds `start` followed by the names, split into as many texts as needed.
void AppendNames(const std::string& start, const std::vector<std::string>& names, std::vector<std::string>& texts) {
  std::string text = start;
  for (const std::string& name : names) {
    const bool is_first = text.size() == start.size();
    if (!is_first && text.size() + 2 + name.size() > kAuditTextBytesMax) {
      texts.push_back(std::exchange(text, start));
    }
    absl::StrAppend(&text, text.size() == start.size() ? " " : ", ", name);
  }
  texts.push_back(std::move(text));
}

std::vector<std::string> Sorted(std::vector<std::string> names) {
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

// Differs where the device, the group or a decision differs.
std::string OutcomeOf(const std::string& device, const Principal& principal, const std::vector<std::string>& texts) {
  return AuditHash(absl::StrCat(device, "\n", principal.group(), "\n", absl::StrJoin(texts, "\n")));
}

}  // namespace

// Evaluates Decide() for every scope and event of the topology.
class View::Builder {
 public:
  Builder(const Policy& policy, const Principal& principal, View& view, DecisionLog* log, const std::set<Uuid>& foreign)
      : policy_(policy),
        principal_(principal),
        view_(view),
        log_(log),
        foreign_(foreign),
        catalog_(view.topology_->catalog()) {}

  void Build() {
    view_.all_events_.assign(catalog_.events.size(), false);
    if (May(Resource::Device())) AddDevice();
    for (const mailbox::VmInfo& vm : catalog_.vms) AddVm(vm);
    for (const mailbox::ContextInfo& context : catalog_.contexts) AddContext(context);
    // An operator sees a device without VMs, too.
    view_.sees_device_ = principal_.role == Principal::Role::kOperator || !view_.vms_.empty();
  }

 private:
  bool May(const Resource& resource, Right right = Right::kRead) const {
    const Decision decision = Decide(policy_, principal_, resource, right);
    if (log_ != nullptr) log_->Add(resource, right, decision);
    return decision.allowed;
  }

  // Adds the counters of `row` that may be read to the view's event sets and returns their index.
  size_t AddEvents(const Resource& row) {
    EventSet set(catalog_.events.size(), false);
    for (size_t i = 0; i < set.size(); ++i) {
      // The count of a device-scope event is unknown for a VM.
      const bool belongs = row.vm.is_nil() || catalog_.events[i].scope == mailbox::EventScope::kContext;
      set[i] = belongs && May(row.Event(catalog_.events[i].name));
      if (set[i]) view_.all_events_[i] = true;
    }
    view_.event_sets_.push_back(std::move(set));
    return view_.event_sets_.size() - 1;
  }

  void AddDevice() {
    const size_t events = AddEvents(Resource::Device());
    AddRow(mailbox::kHypervisorVm, mailbox::kNoContext, events);
    if (catalog_.host_blocks.empty()) return;
    // The hypervisor's work is a part of the device's, and only the device's units know the rest.
    EventSet of_hosts = view_.event_sets_[events];
    for (size_t i = 0; i < of_hosts.size(); ++i) {
      of_hosts[i] = of_hosts[i] && catalog_.events[i].scope == mailbox::EventScope::kContext;
    }
    view_.event_sets_.push_back(std::move(of_hosts));
    for (const mailbox::HostBlockInfo& host : catalog_.host_blocks) {
      AddRow(mailbox::kHypervisorVm, host.slice, view_.event_sets_.size() - 1);
    }
  }

  void AddRow(uint16_t vm, uint16_t context, size_t events) { view_.rows_.emplace(ScopeId(vm, context), events); }

  void AddVm(const mailbox::VmInfo& vm) {
    if (foreign_.contains(vm.uuid) || !May(Resource::VmIdentity(vm.uuid, vm.confidential))) return;
    view_.vms_.insert(vm.id);
    if (May(Resource::Vm(vm.uuid, vm.confidential), Right::kSeal)) view_.sealed_.insert(vm.id);
    const Resource row = Resource::Vm(vm.uuid, vm.confidential);
    if (May(row)) AddRow(vm.id, mailbox::kNoContext, AddEvents(row));
  }

  void AddContext(const mailbox::ContextInfo& context) {
    const mailbox::VmInfo* vm = view_.topology_->FindVm(context.vm);
    // A context of an unknown VM belongs to no principal.
    if (vm == nullptr || foreign_.contains(vm->uuid)) return;
    const Resource row = Resource::Context(vm->uuid, vm->confidential, context.name);
    if (!May(row)) return;
    // A grant has the same events for all its contexts, of which there may be thousands.
    const auto [known, is_first] = context_events_.try_emplace(context.vm, 0);
    if (is_first) known->second = AddEvents(row);
    AddRow(context.vm, context.id, known->second);
  }

  const Policy& policy_;
  const Principal& principal_;
  View& view_;
  DecisionLog* const log_;
  const std::set<Uuid>& foreign_;
  const mailbox::Catalog& catalog_;
  absl::flat_hash_map<uint16_t, size_t> context_events_;  // by VM
};

View::View(const Policy& policy, const Principal& principal, std::shared_ptr<const Topology> topology, DecisionLog* log,
           const std::set<Uuid>& foreign)
    : topology_(std::move(topology)) {
  Builder(policy, principal, *this, log, foreign).Build();
}

const EventSet* View::Events(uint16_t vm, uint16_t context) const {
  const auto row = rows_.find(ScopeId(vm, context));
  // A block that the topology does not name is visible to no principal.
  return row == rows_.end() ? nullptr : &event_sets_[row->second];
}

void DecisionLog::Add(const Resource& resource, Right right, const Decision& decision) {
  // The identities of all VMs are one subject.
  const Subject subject{resource.kind, !resource.context.empty(), right,
                        resource.kind == Kind::kVmIdentity ? Uuid{} : resource.vm};
  const auto [place, is_new] =
      places_.try_emplace(Key(subject.kind, subject.is_context_level, subject.right, subject.vm), entries_.size());
  if (is_new) entries_.push_back({subject, {}});
  std::vector<Outcome>& outcomes = entries_[place->second].outcomes;
  auto outcome = std::ranges::find_if(outcomes, [&](const Outcome& one) {
    return one.decision.allowed == decision.allowed && one.decision.reason == decision.reason;
  });
  if (outcome == outcomes.end()) outcome = outcomes.insert(outcomes.end(), {decision, {}});
  if (std::string name = NameOf(resource); !name.empty()) outcome->names.push_back(std::move(name));
}

std::string DecisionLog::Title(const Subject& subject) {
  const std::string whose = subject.vm.is_nil() ? "device" : absl::StrCat("vm ", subject.vm.ToString());
  switch (subject.kind) {
    case Kind::kVmIdentity:
      return "vms";
    case Kind::kContext:
      return whose + " contexts";
    case Kind::kEvent:
      return whose + (subject.is_context_level ? " context events" : " events");
    case Kind::kGateGroup:
      return whose + " gate groups";
    case Kind::kDevice:
    case Kind::kVm:
    case Kind::kSelfMetrics:
    case Kind::kAuditLog:
    case Kind::kBoard:
    case Kind::kPartition:
      break;
  }
  return whose + (subject.right == Right::kSeal ? " sealed" : "");
}

void DecisionLog::AppendTexts(const Entry& entry, std::vector<std::string>& texts) {
  const bool is_of_many = entry.subject.kind == Kind::kContext || entry.subject.kind == Kind::kEvent;
  const bool is_mixed = entry.outcomes.size() > 1;
  for (const Outcome& outcome : entry.outcomes) {
    const std::string start = absl::StrCat(Title(entry.subject), ": ", OutcomeText(outcome.decision));
    // Names are listed only for the allowed part of a mixed outcome: tenants can create any number of contexts.
    if (is_of_many && !(is_mixed && outcome.decision.allowed)) {
      texts.push_back(start + (is_mixed ? ": others" : ": all"));
    } else if (outcome.names.empty()) {
      texts.push_back(start);
    } else {
      AppendNames(start + ":", Sorted(outcome.names), texts);
    }
  }
}

std::vector<std::string> DecisionLog::Texts() const {
  std::vector<std::string> texts;
  for (const Entry& entry : entries_) AppendTexts(entry, texts);
  return texts;
}

std::shared_ptr<const View> ViewCache::Find(const Key& key, uint64_t policy_version, const Topology* topology) {
  const auto found = entries_.find(key);
  // A view holds its topology, so that the address is not reused.
  const bool current = found != entries_.end() && found->second.policy_version == policy_version &&
                       found->second.view->topology().get() == topology;
  return current ? found->second.view : nullptr;
}

std::shared_ptr<const View> ViewCache::Keep(const Key& key, uint64_t policy_version, std::shared_ptr<const View> made) {
  absl::MutexLock lock(&mu_);
  if (auto view = Find(key, policy_version, made->topology().get())) return view;
  if (policy_version < policy_version_) return made;  // from a late reader of a replaced policy; not cached
  if (policy_version > policy_version_) entries_.clear();
  policy_version_ = policy_version;
  entries_.insert_or_assign(key, Entry{policy_version, made});
  return made;
}

void ViewCache::Drop(const Key& key, const View* view) {
  absl::MutexLock lock(&mu_);
  const auto found = entries_.find(key);
  // Another thread may have replaced the view meanwhile.
  if (found != entries_.end() && found->second.view.get() == view) entries_.erase(found);
}

std::shared_ptr<const View> ViewCache::Get(size_t device, const VersionedPolicy& policy, const Principal& principal,
                                           std::shared_ptr<const Topology> topology) {
  const Key key(device, principal.group());
  {
    absl::MutexLock lock(&mu_);
    if (auto view = Find(key, policy.version, topology.get())) return view;
  }
  // Computed without the lock, since it may take long. A view that is computed twice does no harm.
  DecisionLog decisions;
  const auto made = std::make_shared<const View>(*policy.policy, principal, std::move(topology), &decisions);
  auto kept = Keep(key, policy.version, made);
  // Only the thread whose view was cached has it audited.
  if (kept == made && !listener_.OnView(device, policy, principal, decisions)) Drop(key, made.get());
  return kept;
}

bool ViewAuditor::Enter(uint64_t policy_version) {
  if (policy_version < policy_version_) return false;
  if (policy_version > policy_version_) {
    told_.clear();
    told_ever_.clear();
  }
  policy_version_ = policy_version;
  return true;
}

bool ViewAuditor::IsNews(const Key& key, uint64_t policy_version, const std::string& outcome) {
  absl::MutexLock lock(&mu_);
  // Outcomes under a replaced policy are not remembered, so each of them is audited.
  if (!Enter(policy_version)) return true;
  const auto told = told_.find(key);
  return told == told_.end() || told->second != outcome;
}

bool ViewAuditor::IsNewsOfThePast(uint64_t policy_version, const std::string& outcome) {
  absl::MutexLock lock(&mu_);
  return !Enter(policy_version) || !told_ever_.contains(outcome);
}

void ViewAuditor::Remember(const Key* key, uint64_t policy_version, const std::string& outcome) {
  absl::MutexLock lock(&mu_);
  if (!Enter(policy_version)) return;
  if (key != nullptr) told_[*key] = outcome;
  // A forgotten outcome is audited once more.
  if (told_ever_.size() >= kOutcomesMax) told_ever_.clear();
  told_ever_.insert(outcome);
}

bool ViewAuditor::Audit(const std::string& device, const VersionedPolicy& policy, const Principal& principal,
                        const std::vector<std::string>& texts, const std::string& why) {
  // Texts beyond the limit of one entry follow in further entries.
  for (size_t begin = 0; begin < texts.size(); begin += kAuditDetailMax) {
    const size_t end = std::min(begin + kAuditDetailMax, texts.size());
    const bool is_taken =
        audit_.Record({.kind = AuditKind::kView,
                       .principal = principal.identity,
                       .role = RoleName(*policy.policy, principal),
                       .resource = absl::StrCat("device ", device),
                       .reason = begin == 0 ? why : "continued",
                       .policy_version = policy.version,
                       .detail = {texts.begin() + static_cast<long>(begin), texts.begin() + static_cast<long>(end)}});
    if (!is_taken) return false;
  }
  return true;
}

bool ViewAuditor::OnView(size_t device, const VersionedPolicy& policy, const Principal& principal,
                         const DecisionLog& decisions) {
  const auto info = store_.Info(device);
  if (info == nullptr) return false;  // removed since the request
  const std::string& name = info->name;
  const std::vector<std::string> texts = decisions.Texts();
  const std::string outcome = OutcomeOf(name, principal, texts);
  const Key key(device, principal.group());
  if (!IsNews(key, policy.version, outcome)) return true;
  // Remembered only once the log has taken every entry; until then each request tries again.
  if (!Audit(name, policy, principal, texts, "first request of this role")) return false;
  Remember(&key, policy.version, outcome);
  return true;
}

void ViewAuditor::OnPastView(const DeviceInfo& device, const VersionedPolicy& policy, const Principal& principal,
                             const DecisionLog& decisions) {
  const std::vector<std::string> texts = decisions.Texts();
  const std::string outcome = OutcomeOf(device.name, principal, texts);
  if (!IsNewsOfThePast(policy.version, outcome)) return;
  if (!Audit(device.name, policy, principal, texts, "first request of this role for this past")) return;
  Remember(nullptr, policy.version, outcome);
}

}  // namespace sideband::daemon
