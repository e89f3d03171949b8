// SPDX-License-Identifier: Apache-2.0
#include "daemon/grpc/sealed_subscription.h"

#include <utility>
#include <vector>

#include "daemon/api/row_filter.h"

namespace sideband::daemon {
namespace {

// The VM of that name or UUID whose records the view lets the caller carry.
const mailbox::VmInfo* FindSealed(const View& view, const std::string& name_or_uuid) {
  for (const mailbox::VmInfo& vm : view.topology()->catalog().vms) {
    if (!view.SeesSealed(vm.id)) continue;
    if (vm.name == name_or_uuid || vm.uuid.ToString() == name_or_uuid) return &vm;
  }
  return nullptr;
}

const Bytes* FindRecord(const DeviceSnapshot& snapshot, const Uuid& vm) {
  for (const SealedVmRecord& sealed : snapshot.sealed) {
    if (sealed.vm == vm) return sealed.record.get();
  }
  return nullptr;
}

}  // namespace

SealedSubscription::SealedSubscription(Reader& reader, Credentials credentials,
                                       const sideband::v1::SubscribeSealedRequest& request)
    : reader_(&reader), credentials_(std::move(credentials)), device_(request.device()), vm_(request.vm()) {}

StreamStep<SealedSubscription::Message> SealedSubscription::Wait() const {
  if (!reader_->Identify(credentials_)) return StreamEnd{NobodyError()};
  return StreamWait{};
}

StreamStep<SealedSubscription::Message> SealedSubscription::Next() {
  const auto caller = reader_->Identify(credentials_);
  if (!caller) return StreamEnd{NobodyError()};
  for (const VisibleDevice& device : reader_->Devices(*caller)) {
    if (device.snapshot == nullptr || (!device_.empty() && device.info->name != device_)) continue;
    const mailbox::VmInfo* vm = FindSealed(*device.view, vm_);
    if (vm == nullptr) continue;
    device_ = device.info->name;  // one stream is of one device
    const Bytes* record = FindRecord(*device.snapshot, vm->uuid);
    if (record == nullptr || device.snapshot->publication <= sent_) return StreamWait{};
    sent_ = device.snapshot->publication;
    Message message;
    message.set_record(record->data(), record->size());
    return message;
  }
  return StreamEnd{NotFound()};
}

}  // namespace sideband::daemon
