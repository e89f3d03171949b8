// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/sealing/device_sealer.h"

#include <algorithm>
#include <cstdio>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/base/bytes.h"
#include "proto/base/status_macros.h"
#include "proto/envelope/record.h"
#include "proto/exchange/messages.h"
#include "proto/exchange/vm_records.h"

namespace sideband::mcu {
namespace {

using mailbox::BlockHeader;
using mailbox::Snapshot;

constexpr uint64_t kReportEveryNs = 1'000'000'000;

absl::Status NoSuchVm() { return absl::NotFoundError("no such confidential VM"); }

// Removes the bookmarks of blocks that are gone, and gives the others their blocks' new places.
void MoveBookmarks(const std::vector<std::optional<uint16_t>>& places, Snapshot& snapshot) {
  std::erase_if(snapshot.bookmarks, [&](const auto& served) { return !places[served.block]; });
  for (mailbox::ServedBookmark& served : snapshot.bookmarks) served.block = *places[served.block];
}

const BlockHeader* FindOwnBlock(const Snapshot& snapshot, uint16_t vm) {
  const auto found = std::ranges::find_if(snapshot.blocks, [&](const BlockHeader& block) {
    return block.vm == vm && block.context == mailbox::kNoContext;
  });
  return found == snapshot.blocks.end() ? nullptr : &*found;
}

}  // namespace

DeviceSealer::DeviceSealer(exchange::SealingRules rules, const exchange::Sha384Digest& measurement, Device& device)
    : rules_(std::move(rules)),
      device_(device),
      exchanger_(rules_, {.sealer = exchange::SealerKind::kDevice, .measurement = measurement}),
      keys_({.device = device.identity().uuid, .boot_id = device.identity().boot_id}, rules_.rotation()) {}

const mailbox::VmInfo* DeviceSealer::FindConfidential(uint16_t vm) const {
  const auto found = std::ranges::find(device_.catalog().vms, vm, &mailbox::VmInfo::id);
  return found != device_.catalog().vms.end() && found->confidential ? &*found : nullptr;
}

// The device has no other clock.
absl::Duration DeviceSealer::Now() const { return absl::Nanoseconds(device_.ReferenceTimeNs()); }

// The rest behind the other blocks is wiped. A device that seals has no rotation.
void DeviceSealer::RemoveBlocks(Snapshot& snapshot) const {
  const size_t width = snapshot.counters_per_block;
  std::vector<std::optional<uint16_t>> places(snapshot.blocks.size());
  uint16_t kept = 0;
  for (size_t block = 0; block < snapshot.blocks.size(); ++block) {
    if (FindConfidential(snapshot.blocks[block].vm) != nullptr) continue;
    snapshot.blocks[kept] = snapshot.blocks[block];
    std::ranges::copy(snapshot.Counters(block), snapshot.counters.begin() + static_cast<ptrdiff_t>(kept * width));
    places[block] = kept++;
  }
  std::fill(snapshot.counters.begin() + static_cast<ptrdiff_t>(kept * width), snapshot.counters.end(), 0);
  snapshot.counters.resize(kept * width);
  snapshot.blocks.resize(kept);
  MoveBookmarks(places, snapshot);
}

void DeviceSealer::Seal(Snapshot& snapshot, uint64_t fresh_for_ns) {
  DropKeysOfOthers();
  for (const mailbox::VmInfo& vm : device_.catalog().vms) {
    if (!vm.confidential) continue;
    const auto last = sealed_.find(vm.id);
    const bool is_fresh = last != sealed_.end() && !last->second.lacks_exchange &&
                          snapshot.reference_time_ns - last->second.reference_time_ns < fresh_for_ns;
    if (!is_fresh) SealVm(vm, snapshot);
  }
  AddLast(snapshot);
}

void DeviceSealer::AddLast(Snapshot& snapshot) const {
  for (const auto& [vm, last] : sealed_) {
    if (FindConfidential(vm) == nullptr) continue;
    snapshot.sealed.insert(snapshot.sealed.end(), last.records.begin(), last.records.end());
  }
  RemoveBlocks(snapshot);
}

void DeviceSealer::SealVm(const mailbox::VmInfo& vm, const Snapshot& snapshot) {
  Sealed& sealed = sealed_[vm.id];
  sealed = {.reference_time_ns = snapshot.reference_time_ns, .records = {}};
  const BlockHeader* const own = FindOwnBlock(snapshot, vm.id);
  if (own == nullptr || !keys_.Has(vm.uuid)) return;
  const SecretBytes content = envelope::EncodeCounts(exchange::VmCounts(device_.catalog(), snapshot, vm.id));
  auto records = keys_.Seal(
      vm.uuid, {.generation = own->generation, .reference_time_ns = snapshot.reference_time_ns, .content = content},
      Now());
  // Without epochs its guest sees that records end, and exchanges keys again.
  if (!records.ok()) return;
  for (exchange::SealedNow& one : *records) sealed.records.push_back({vm.id, std::move(one.record)});
}

void DeviceSealer::DropKeysOfOthers() {
  std::set<Uuid> vms;
  for (const mailbox::VmInfo& vm : device_.catalog().vms) {
    if (vm.confidential) vms.insert(vm.uuid);
  }
  keys_.KeepOnly(vms);
}

absl::StatusOr<Bytes> DeviceSealer::DrawChallenge(uint16_t vm) {
  const mailbox::VmInfo* const info = FindConfidential(vm);
  if (info == nullptr) return NoSuchVm();
  SIDEBAND_ASSIGN_OR_RETURN(const exchange::Challenge challenge, exchanger_.Draw(info->uuid, Now()));
  return Bytes(challenge.begin(), challenge.end());
}

absl::StatusOr<Bytes> DeviceSealer::Exchange(ByteSpan request) {
  absl::StatusOr<Bytes> answer = Answer(request);
  if (!answer.ok()) ReportRefusal(answer.status());
  return answer;
}

void DeviceSealer::ReportRefusal(const absl::Status& refusal) {
  const uint64_t now_ns = device_.ReferenceTimeNs();
  if (reported_ns_ && now_ns - *reported_ns_ < kReportEveryNs) {
    ++refusals_left_out_;
    return;
  }
  const std::string more = refusals_left_out_ == 0 ? "" : absl::StrCat(", after ", refusals_left_out_, " others");
  absl::FPrintF(stderr, "sideband-mcu: exchange refused%s: %s\n", more, std::string(refusal.message()));
  reported_ns_ = now_ns;
  refusals_left_out_ = 0;
}

absl::StatusOr<Bytes> DeviceSealer::Answer(ByteSpan request) {
  SIDEBAND_ASSIGN_OR_RETURN(const exchange::ExchangeRequest parsed, exchange::ParseRequest(request));
  const auto& vms = device_.catalog().vms;
  const auto vm = std::ranges::find(vms, parsed.vm, &mailbox::VmInfo::uuid);
  if (vm == vms.end() || !vm->confidential) return NoSuchVm();
  const exchange::ExchangeTarget target{.device = keys_.owner().device,
                                        .boot_id = keys_.owner().boot_id,
                                        .vm = vm->uuid,
                                        .generation = vm->generation,
                                        .events = exchange::VmEventNames(device_.catalog())};
  SIDEBAND_ASSIGN_OR_RETURN(exchange::Exchanged done, exchanger_.Exchange(request, target, Now(), std::nullopt));
  keys_.Begin(vm->uuid, vm->generation, std::move(done.secret), done.nonce, Now());
  // The next snapshot has a record of this exchange.
  sealed_[vm->id].lacks_exchange = true;
  absl::FPrintF(stderr, "sideband-mcu: keys exchanged with the guest of VM %s\n", vm->uuid.ToString());
  return std::move(done.answer);
}

absl::StatusOr<uint64_t> DeviceSealer::Rotate(uint16_t vm) {
  const mailbox::VmInfo* const info = FindConfidential(vm);
  const auto status = info == nullptr ? std::nullopt : keys_.StatusOf(info->uuid);
  if (!status) return NoSuchVm();
  const uint64_t now_ns = device_.ReferenceTimeNs();
  const auto last = rotated_ns_.find(vm);
  const bool is_new = last != rotated_ns_.end() && now_ns - last->second < kRotationEveryNs;
  if (is_new || status->budget_used == 0) return status->epoch;
  SIDEBAND_ASSIGN_OR_RETURN(const uint64_t epoch, keys_.Rotate(info->uuid, Now()));
  rotated_ns_[vm] = now_ns;
  return epoch;
}

std::optional<uint64_t> DeviceSealer::Records(uint16_t vm) const {
  const mailbox::VmInfo* const info = FindConfidential(vm);
  const auto status = info == nullptr ? std::nullopt : keys_.StatusOf(info->uuid);
  return status ? std::optional(status->records) : std::nullopt;
}

}  // namespace sideband::mcu
