// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/confidentiality_book.h"

#include "absl/strings/string_view.h"

namespace sideband::daemon {

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
