// SPDX-License-Identifier: Apache-2.0
#include "daemon/grpc/sealed_subscription.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/view/row_filter.h"
#include "proto/base/bytes.h"
#include "proto/base/status_macros.h"
#include "proto/envelope/record.h"

namespace sideband::daemon {
namespace {

// The VM of that name or UUID whose sealed records the view permits; nullptr if none.
const mailbox::VmInfo* FindSealed(const View& view, const std::string& name_or_uuid) {
  for (const mailbox::VmInfo& vm : view.topology()->catalog().vms) {
    if (!view.SeesSealed(vm.id)) continue;
    if (vm.name == name_or_uuid || vm.uuid.ToString() == name_or_uuid) return &vm;
  }
  return nullptr;
}

const Bytes* FindRecord(const DeviceSnapshot& snapshot, const Uuid& vm, uint64_t stream) {
  for (const SealedVmRecord& sealed : snapshot.sealed) {
    if (sealed.vm == vm && sealed.stream == stream) return sealed.record.get();
  }
  return nullptr;
}

const Bytes* FindExchanged(const DeviceSnapshot& snapshot, const Uuid& vm, const envelope::GuestNonce& nonce) {
  for (const SealedVmRecord& sealed : snapshot.sealed) {
    if (sealed.vm != vm || sealed.stream != kExchangedStream) continue;
    const auto record = envelope::ParseRecord(*sealed.record);
    if (record.ok() && record->header.guest_nonce == nonce) return sealed.record.get();
  }
  return nullptr;
}

absl::Status ExchangeEnded() {
  return absl::FailedPreconditionError("the exchange of keys has ended: the guest has to exchange keys again");
}

// Keys are loaded at the start only, and the nonce is of no exchange: waiting would not help.
absl::Status NoKeyError() {
  return absl::FailedPreconditionError(
      "the daemon has no key of this VM: neither of sealing.vm_keys of its configuration, nor of an exchange with this "
      "nonce");
}

// Likewise of a device that seals.
absl::Status SealedByDevice() {
  return absl::FailedPreconditionError(
      "the VM's device seals its records, and has no exchange with this nonce: the guest has to exchange keys");
}

}  // namespace

SealedSubscription::SealedSubscription(Reader& reader, SealerSet* sealers, ExchangeBook* exchanges,
                                       Credentials credentials, const sideband::v1::SubscribeSealedRequest& request)
    : reader_(&reader),
      sealers_(sealers),
      exchanges_(exchanges),
      credentials_(std::move(credentials)),
      nonce_(request.nonce()),
      device_(request.device()),
      vm_(request.vm()) {}

absl::Status SealedSubscription::CheckNonce() const {
  if (nonce_.empty()) return absl::OkStatus();
  // All zeros in a record's header mean no nonce.
  if (nonce_.size() != envelope::kGuestNonceBytes || nonce_.find_first_not_of('\0') == std::string::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat("nonce: must be ", envelope::kGuestNonceBytes, " bytes, not all zeros, or empty"));
  }
  if (sealers_ == nullptr) return absl::UnimplementedError("nonce: this daemon seals no records");
  return absl::OkStatus();
}

absl::Status SealedSubscription::OpenOwnStream(const Uuid& device, const Uuid& vm) {
  if (nonce_.empty() || stream_ != nullptr) return absl::OkStatus();
  SIDEBAND_ASSIGN_OR_RETURN(stream_, sealers_->OpenStream(device, vm, Nonce()));
  return absl::OkStatus();
}

envelope::GuestNonce SealedSubscription::Nonce() const {
  envelope::GuestNonce nonce;
  std::ranges::copy(AsBytes(nonce_), nonce.begin());
  return nonce;
}

absl::Status SealedSubscription::FollowExchange(const Uuid& device, const Uuid& vm) {
  if (nonce_.empty() || stream_ != nullptr) return absl::OkStatus();
  const bool has_exchange = exchanges_ != nullptr && exchanges_->HasExchange(device, vm, Nonce());
  if (is_exchanged_ && !has_exchange) return ExchangeEnded();
  is_exchanged_ = has_exchange;
  return absl::OkStatus();
}

// An exchange with a device ends before its caller can subscribe, so the next collection has a record of it.
absl::StatusOr<const Bytes*> SealedSubscription::RecordOfDevice(const DeviceSnapshot& snapshot, const Uuid& vm) {
  if (nonce_.empty()) return SealedByDevice();
  const Bytes* const record = FindExchanged(snapshot, vm, Nonce());
  if (!first_publication_) first_publication_ = snapshot.publication;
  if (record == nullptr && snapshot.publication > *first_publication_) {
    return is_exchanged_ ? ExchangeEnded() : SealedByDevice();
  }
  if (record != nullptr) is_exchanged_ = true;
  return record;
}

absl::StatusOr<const Bytes*> SealedSubscription::RecordOf(const DeviceSnapshot& snapshot, const Uuid& vm) {
  const Uuid& device = snapshot.topology->catalog().device;
  SIDEBAND_RETURN_IF_ERROR(FollowExchange(device, vm));
  if (is_exchanged_) return FindExchanged(snapshot, vm, Nonce());
  if (sealers_ != nullptr && !sealers_->HasKey(vm)) return NoKeyError();
  SIDEBAND_RETURN_IF_ERROR(OpenOwnStream(device, vm));
  return FindRecord(snapshot, vm, stream_ == nullptr ? kSharedStream : stream_->id());
}

StreamStep<SealedSubscription::Message> SealedSubscription::Wait() const {
  if (!reader_->Identify(credentials_)) return StreamEnd{UnknownCallerError()};
  return StreamWait{};
}

StreamStep<SealedSubscription::Message> SealedSubscription::Next() {
  const auto caller = reader_->Identify(credentials_);
  if (!caller) return StreamEnd{UnknownCallerError()};
  // After authentication: an unauthenticated caller learns nothing about its request.
  if (const absl::Status nonce = CheckNonce(); !nonce.ok()) return StreamEnd{nonce};
  for (const VisibleDevice& device : reader_->Devices(*caller)) {
    if (device.snapshot == nullptr || (!device_.empty() && device.info->name != device_)) continue;
    const mailbox::VmInfo* vm = FindSealed(*device.view, vm_);
    if (vm == nullptr) continue;
    device_ = device.info->name;  // a request without a device binds to the first match
    // A reload may have restarted the device, whose publications then count from 1 again.
    if (std::exchange(index_, device.index) != device.index) {
      sent_ = 0;
      first_publication_.reset();
    }
    const absl::StatusOr<const Bytes*> found = device.snapshot->IsSealedByDevice(vm->id)
                                                   ? RecordOfDevice(*device.snapshot, vm->uuid)
                                                   : RecordOf(*device.snapshot, vm->uuid);
    if (!found.ok()) return StreamEnd{found.status()};
    const Bytes* const record = *found;
    // Two snapshots within ten milliseconds have the same record of a device.
    if (record == nullptr || device.snapshot->publication <= sent_ || *record == last_) return StreamWait{};
    sent_ = device.snapshot->publication;
    last_ = *record;
    Message message;
    message.set_record(record->data(), record->size());
    return message;
  }
  return StreamEnd{NotFound()};
}

}  // namespace sideband::daemon
