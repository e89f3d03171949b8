// SPDX-License-Identifier: Apache-2.0
#include "daemon/exposition/exposition_cache.h"

#include <utility>

namespace sideband::daemon {

std::shared_ptr<ExpositionCache::Group> ExpositionCache::FindGroup(const Caller& caller) {
  absl::MutexLock lock(&mu_);
  if (policy_version_ != caller.policy.version) groups_.clear();
  policy_version_ = caller.policy.version;
  auto& group = groups_[caller.principal.group()];
  if (group == nullptr) group = std::make_shared<Group>();
  return group;
}

std::shared_ptr<const std::string> ExpositionCache::Render(const Caller& caller,
                                                           const std::vector<VisibleDevice>& devices,
                                                           absl::string_view more) {
  const std::shared_ptr<Group> group = FindGroup(caller);
  std::unique_ptr<std::string> buffer = group->TakeBuffer();
  {
    absl::MutexLock lock(&group->mu);
    group->exposition.Render(devices, *buffer);
  }
  buffer->append(more.data(), more.size());
  return {buffer.release(), [group](std::string* read) { group->GiveBack(std::unique_ptr<std::string>(read)); }};
}

std::unique_ptr<std::string> ExpositionCache::Group::TakeBuffer() {
  absl::MutexLock lock(&buffer_mu);
  if (spare == nullptr) return std::make_unique<std::string>();
  spare->clear();
  return std::move(spare);
}

void ExpositionCache::Group::GiveBack(std::unique_ptr<std::string> buffer) {
  absl::MutexLock lock(&buffer_mu);
  // One spare is enough: what is beyond is freed, after the lock.
  if (spare == nullptr) spare.swap(buffer);
}

}  // namespace sideband::daemon
