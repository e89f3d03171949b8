// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/confidentiality.h"

#include "absl/strings/string_view.h"

namespace sideband::daemon {

void Confidentiality::ForgetUnlessSameBoot(uint64_t boot_id) {
  if (boot_id == boot_id_) return;
  boot_id_ = boot_id;
  vms_.clear();
  instances_.clear();
  reported_.clear();
  is_device_block_mixed_ = false;
  before_ = nullptr;
}

void Confidentiality::Remember(const mailbox::VmInfo& vm) {
  // Once the sets are full, WhyConfidential() reports every VM as confidential; nothing more has to be remembered.
  if (vms_.size() >= remembered_max_ || instances_.size() >= remembered_max_) return;
  vms_.insert(vm.uuid);
  instances_.emplace(vm.id, vm.generation);
}

absl::string_view Confidentiality::WhyConfidential(const mailbox::VmInfo& vm) const {
  if (const absl::string_view required = requirement_(vm.uuid); !required.empty()) return required;
  if (vms_.contains(vm.uuid) || instances_.contains({vm.id, vm.generation})) {
    return "it was confidential since the device started";
  }
  if (vms_.size() >= remembered_max_ || instances_.size() >= remembered_max_) {
    return "the device has had too many confidential VMs to remember";
  }
  return "";
}

bool Confidentiality::WasCountedForDevice(const mailbox::VmInfo& vm) const {
  if (!vm.is_private) return true;
  const mailbox::VmInfo* const earlier = before_ == nullptr ? nullptr : before_->FindVm(vm.id);
  // A VM is private for a whole generation, so one of these reports is wrong.
  return earlier != nullptr && earlier->generation == vm.generation && !earlier->is_private;
}

std::shared_ptr<const Topology> Confidentiality::Corrected(const std::shared_ptr<const Topology>& said,
                                                           std::vector<size_t> vms) {
  // Pointer equality is kept, since views and history layouts are keyed by the topology's address.
  const bool were_private = !is_device_block_mixed_;
  if (said == said_ && vms == corrected_vms_ && corrected_->catalog().confidential_vms_were_private == were_private) {
    return corrected_;
  }
  mailbox::Catalog catalog = said->catalog();
  for (const size_t vm : vms) catalog.vms[vm].confidential = true;
  catalog.has_had_confidential_vm = true;
  catalog.confidential_vms_were_private = were_private;
  said_ = said;
  corrected_vms_ = std::move(vms);
  corrected_ = std::make_shared<const Topology>(std::move(catalog), said->hash());
  return corrected_;
}

Confidentiality::Verdict Confidentiality::Judge(const std::shared_ptr<const Topology>& said, uint64_t boot_id) {
  absl::MutexLock lock(&mu_);
  ForgetUnlessSameBoot(boot_id);
  is_device_block_mixed_ |= said->device_block_has_confidential_counts();
  Verdict verdict;
  std::vector<size_t> refused;
  const std::vector<mailbox::VmInfo>& vms = said->catalog().vms;
  for (size_t i = 0; i < vms.size(); ++i) {
    if (!vms[i].confidential) {
      const absl::string_view reason = WhyConfidential(vms[i]);
      if (reason.empty()) continue;
      refused.push_back(i);
      // Reported once per VM and boot, so that a device cannot flood the log and the audit log.
      if (reported_.size() < remembered_max_ && reported_.insert(vms[i].uuid).second) {
        verdict.to_report.push_back({vms[i].uuid, reason});
      }
    }
    // Refused VMs, too: a device cannot change first the UUID and then the id of a VM to be believed.
    Remember(vms[i]);
    is_device_block_mixed_ |= WasCountedForDevice(vms[i]);
  }
  before_ = said;
  verdict.refused = refused.size();
  // A confidential VM that has left the catalogue still affects the device's row (docs/decisions/0003).
  const bool is_past_right = (said->has_had_confidential_vm() || (vms_.empty() && !is_device_block_mixed_)) &&
                             said->device_block_has_confidential_counts() == is_device_block_mixed_;
  verdict.topology = refused.empty() && is_past_right ? said : Corrected(said, std::move(refused));
  return verdict;
}

ConfidentialityBook::ConfidentialityBook(const SealerSet& sealers, const ExchangeBook* exchanges,
                                         const PolicyHolder& policy, size_t devices_max)
    : requirement_([&sealers, exchanges, &policy](const Uuid& vm) -> absl::string_view {
        if (sealers.HasKey(vm)) return "it has a sealing key";
        if (exchanges != nullptr && exchanges->Serves(vm)) return "a guest is trusted with its sealing keys";
        return policy.Current().policy->GrantsSeal(vm) ? "the policy grants `seal` on it" : "";
      }),
      devices_max_(devices_max) {}

std::shared_ptr<Confidentiality> ConfidentialityBook::Of(const Uuid& device) {
  absl::MutexLock lock(&mu_);
  const auto known = devices_.find(device);
  if (known != devices_.end()) return known->second;
  // With a limit of 0, Confidentiality treats every VM as confidential. The object is not stored: the map stays
  // bounded.
  if (devices_.size() >= devices_max_) return std::make_shared<Confidentiality>(requirement_, /*remembered_max=*/0);
  return devices_.emplace(device, std::make_shared<Confidentiality>(requirement_)).first->second;
}

}  // namespace sideband::daemon
