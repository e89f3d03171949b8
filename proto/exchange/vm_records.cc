// SPDX-License-Identifier: Apache-2.0
#include "proto/exchange/vm_records.h"

#include <algorithm>
#include <utility>

#include "proto/base/status_macros.h"
#include "proto/envelope/keys.h"

namespace sideband::exchange {
namespace {

envelope::CountsRow RowOf(const mailbox::Catalog& catalog, const mailbox::BlockHeader& block) {
  envelope::CountsRow row{.context = block.context,
                          .generation = block.generation,
                          .state = static_cast<uint8_t>(block.state),
                          .flags = block.flags};
  const auto is_vm = [&](const mailbox::VmInfo& vm) { return vm.id == block.vm; };
  const auto vm = std::ranges::find_if(catalog.vms, is_vm);
  if (vm != catalog.vms.end()) row.slice = vm->slice;
  const auto is_context = [&](const mailbox::ContextInfo& info) {
    return info.vm == block.vm && info.id == block.context;
  };
  const auto context = std::ranges::find_if(catalog.contexts, is_context);
  if (context == catalog.contexts.end()) return row;
  row.slice = context->slice;
  row.name = context->name;
  return row;
}

}  // namespace

bool RecordSealer::IsDue(absl::Duration now) const {
  return next_sequence_ >= std::min(rotation_.records, kRecordsPerKeyMax) || now - epoch_began_ >= rotation_.every;
}

absl::Status RecordSealer::Rotate(absl::Duration now) {
  if (!ratchet_.AdvanceTo(ratchet_.epoch() + 1).ok()) {
    return absl::ResourceExhaustedError("the exchange has no epochs left: the guest has to exchange keys again");
  }
  keys_.reset();
  next_sequence_ = 0;
  epoch_began_ = now;
  return absl::OkStatus();
}

absl::Status RecordSealer::EnsureKeys() {
  if (keys_) return absl::OkStatus();
  SIDEBAND_ASSIGN_OR_RETURN(keys_, envelope::SessionKeys::Derive(ratchet_.secret(), {.suite = envelope::kSuiteHpke,
                                                                                     .epoch = ratchet_.epoch(),
                                                                                     .boot_id = scope_.boot_id,
                                                                                     .device = scope_.device,
                                                                                     .vm = scope_.vm,
                                                                                     .generation = scope_.generation,
                                                                                     .guest_nonce = scope_.nonce}));
  return absl::OkStatus();
}

absl::StatusOr<Bytes> RecordSealer::Seal(uint64_t reference_time_ns, ByteSpan content, absl::Duration now) {
  SIDEBAND_ASSIGN_OR_RETURN(const uint32_t needed, envelope::PaddedLengthFor(content.size(), envelope::kSuiteHpke));
  if (IsDue(now)) SIDEBAND_RETURN_IF_ERROR(Rotate(now));
  SIDEBAND_RETURN_IF_ERROR(EnsureKeys());
  padded_length_ = std::max(padded_length_, needed);
  const envelope::RecordHeader header{.suite = envelope::kSuiteHpke,
                                      .device = scope_.device,
                                      .boot_id = scope_.boot_id,
                                      .vm = scope_.vm,
                                      .generation = scope_.generation,
                                      .padded_length = padded_length_,
                                      .epoch = ratchet_.epoch(),
                                      // Incremented before use: a failure skips a sequence but never repeats one.
                                      .sequence = next_sequence_++,
                                      .reference_time_ns = reference_time_ns,
                                      .guest_nonce = scope_.nonce};
  ++records_;
  return envelope::SealRecord(*keys_, header, content);
}

void VmKeys::Begin(const Uuid& vm, uint32_t generation, envelope::Secret secret, const envelope::GuestNonce& nonce,
                   absl::Duration now) {
  OfVm& of = vms_[vm];
  if (of.current != nullptr && of.generation == generation) {
    of.previous = std::move(of.current);
    of.previous_ends = now + rotation_.grace;
  } else {
    of.previous = nullptr;
  }
  of.generation = generation;
  of.current = std::make_unique<RecordSealer>(RecordSealer::Scope{owner_.device, owner_.boot_id, vm, generation, nonce},
                                              std::move(secret), rotation_, now);
}

absl::StatusOr<std::vector<SealedNow>> VmKeys::Seal(const Uuid& vm, const Input& input, absl::Duration now) {
  std::vector<SealedNow> sealed;
  const auto found = vms_.find(vm);
  if (found == vms_.end()) return sealed;
  OfVm& of = found->second;
  if (of.generation != input.generation) {
    vms_.erase(found);
    return sealed;
  }
  absl::StatusOr<Bytes> record = of.current->Seal(input.reference_time_ns, input.content, now);
  if (absl::IsResourceExhausted(record.status())) vms_.erase(found);
  if (!record.ok()) return record.status();
  sealed.push_back({of.current->nonce(), *std::move(record)});
  if (of.previous == nullptr || now >= of.previous_ends) {
    of.previous = nullptr;
    return sealed;
  }
  absl::StatusOr<Bytes> last = of.previous->Seal(input.reference_time_ns, input.content, now);
  if (last.ok()) sealed.push_back({of.previous->nonce(), *std::move(last)});
  return sealed;
}

bool VmKeys::Has(const Uuid& vm, const envelope::GuestNonce& nonce) const {
  const auto found = vms_.find(vm);
  if (found == vms_.end()) return false;
  const OfVm& of = found->second;
  return of.current->nonce() == nonce || (of.previous != nullptr && of.previous->nonce() == nonce);
}

absl::StatusOr<uint64_t> VmKeys::Rotate(const Uuid& vm, absl::Duration now) {
  const auto found = vms_.find(vm);
  if (found == vms_.end()) return absl::NotFoundError("the VM's guest has exchanged no keys");
  SIDEBAND_RETURN_IF_ERROR(found->second.current->Rotate(now));
  return found->second.current->epoch();
}

std::optional<KeyStatus> VmKeys::StatusOf(const Uuid& vm) const {
  const auto found = vms_.find(vm);
  if (found == vms_.end()) return std::nullopt;
  const RecordSealer& sealer = *found->second.current;
  return KeyStatus{.epoch = sealer.epoch(), .records = sealer.records(), .budget_used = sealer.budget_used()};
}

std::vector<size_t> VmEvents(const mailbox::Catalog& catalog) {
  std::vector<size_t> events;
  for (size_t i = 0; i < catalog.events.size(); ++i) {
    const mailbox::EventInfo& event = catalog.events[i];
    if (event.scope != mailbox::EventScope::kDevice && !event.masked) events.push_back(i);
  }
  return events;
}

std::vector<std::string> VmEventNames(const mailbox::Catalog& catalog) {
  std::vector<std::string> names;
  for (const size_t event : VmEvents(catalog)) names.push_back(catalog.events[event].name);
  return names;
}

std::vector<size_t> VmBlocks(const mailbox::Snapshot& snapshot, uint16_t vm) {
  std::vector<size_t> blocks;
  for (size_t i = 0; i < snapshot.blocks.size(); ++i) {
    if (snapshot.blocks[i].vm == vm) blocks.push_back(i);
  }
  return blocks;
}

envelope::SealedCounts VmCounts(const mailbox::Catalog& catalog, const mailbox::Snapshot& snapshot, uint16_t vm) {
  const std::vector<size_t> events = VmEvents(catalog);
  const std::vector<size_t> blocks = VmBlocks(snapshot, vm);
  envelope::SealedCounts counts{.snapshot_id = snapshot.snapshot_id,
                                .trigger_id = snapshot.trigger_id,
                                .events = static_cast<uint16_t>(events.size())};
  counts.counts.reserve(blocks.size() * events.size());
  for (const size_t block : blocks) {
    counts.rows.push_back(RowOf(catalog, snapshot.blocks[block]));
    const auto counters = snapshot.Counters(block);
    for (const size_t event : events) counts.counts.push_back(event < counters.size() ? counters[event] : 0);
  }
  return counts;
}

}  // namespace sideband::exchange
