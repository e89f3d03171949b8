// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/seal_router.h"

#include <utility>

#include "daemon/collector/not_readable.h"

namespace sideband::daemon {

bool SealRouter::IsStill(const SealedVm& vm) const {
  const auto newest = store_.Newest(vm.device);
  if (newest == nullptr || newest->data.boot_id != vm.boot_id) return false;
  const mailbox::VmInfo* const found = newest->topology->FindVm(vm.vm_id);
  return found != nullptr && found->uuid == vm.vm && newest->IsSealedByDevice(vm.vm_id);
}

template <typename Value>
absl::Status SealRouter::Ask(const SealedVm& vm, std::function<absl::StatusOr<Value>(SealWriter&)> run,
                             Done<Value> done) {
  const auto use = devices_.Use(vm.device);
  if (!use) return absl::UnavailableError("the device is no longer read");
  return use->Ask(vm.vm_id, [this, vm, run = std::move(run), done = std::move(done)](SealWriter* writer) {
    if (writer == nullptr) return done(NotReadable());
    done(IsStill(vm) ? run(*writer) : absl::UnavailableError("the device or its VM has changed meanwhile: try again"));
  });
}

absl::Status SealRouter::Draw(const SealedVm& vm, Done<Bytes> done) {
  return Ask<Bytes>(
      vm, [id = vm.vm_id](SealWriter& writer) { return writer.Draw(id); }, std::move(done));
}

absl::Status SealRouter::Exchange(const SealedVm& vm, Bytes request, Done<Bytes> done) {
  return Ask<Bytes>(
      vm, [request = std::move(request)](SealWriter& writer) { return writer.Exchange(request); }, std::move(done));
}

absl::Status SealRouter::Rotate(const SealedVm& vm, Done<uint64_t> done) {
  return Ask<uint64_t>(
      vm, [id = vm.vm_id](SealWriter& writer) { return writer.Rotate(id); }, std::move(done));
}

}  // namespace sideband::daemon
