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

// Keys are loaded at the start only, so that waiting would not help.
absl::Status NoKeyError() {
  return absl::FailedPreconditionError("the daemon has no key of this VM (sealing.vm_keys of its configuration)");
}

}  // namespace

SealedSubscription::SealedSubscription(Reader& reader, SealerSet* sealers, Credentials credentials,
                                       const sideband::v1::SubscribeSealedRequest& request)
    : reader_(&reader),
      sealers_(sealers),
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
  envelope::GuestNonce nonce;
  std::ranges::copy(AsBytes(nonce_), nonce.begin());
  SIDEBAND_ASSIGN_OR_RETURN(stream_, sealers_->OpenStream(device, vm, nonce));
  return absl::OkStatus();
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
    if (std::exchange(index_, device.index) != device.index) sent_ = 0;
    if (sealers_ != nullptr && !sealers_->HasKey(vm->uuid)) return StreamEnd{NoKeyError()};
    const absl::Status opened = OpenOwnStream(device.snapshot->topology->catalog().device, vm->uuid);
    if (!opened.ok()) return StreamEnd{opened};
    const uint64_t stream = stream_ == nullptr ? kSharedStream : stream_->id();
    const Bytes* record = FindRecord(*device.snapshot, vm->uuid, stream);
    if (record == nullptr || device.snapshot->publication <= sent_) return StreamWait{};
    sent_ = device.snapshot->publication;
    Message message;
    message.set_record(record->data(), record->size());
    return message;
  }
  return StreamEnd{NotFound()};
}

}  // namespace sideband::daemon
