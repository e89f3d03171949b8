// SPDX-License-Identifier: Apache-2.0
#include "daemon/sealing/guest_sealer.h"

#include <utility>

namespace sideband::daemon {
namespace {

absl::Status NoKeys() { return absl::NotFoundError("no guest is trusted with this VM's keys"); }

exchange::ExchangeTarget TargetOf(const SealedVm& vm) {
  return {
      .device = vm.device_uuid, .boot_id = vm.boot_id, .vm = vm.vm, .generation = vm.generation, .events = vm.events};
}

}  // namespace

absl::Status DaemonSealer::Draw(const SealedVm& vm, Done<Bytes> done) {
  if (exchanges_ == nullptr) {
    done(NoKeys());
    return absl::OkStatus();
  }
  const absl::StatusOr<exchange::Challenge> challenge = exchanges_->Draw(vm.device_uuid, vm.vm);
  if (challenge.ok()) {
    done(Bytes(challenge->begin(), challenge->end()));
  } else {
    done(challenge.status());
  }
  return absl::OkStatus();
}

absl::Status DaemonSealer::Exchange(const SealedVm& vm, Bytes request, Done<Bytes> done) {
  if (exchanges_ == nullptr) {
    done(NoKeys());
    return absl::OkStatus();
  }
  absl::StatusOr<ExchangeBook::Answer> answer = exchanges_->Exchange(TargetOf(vm), request);
  if (answer.ok()) {
    done(std::move(answer->bytes));
  } else {
    done(answer.status());
  }
  return absl::OkStatus();
}

absl::Status DaemonSealer::Rotate(const SealedVm& vm, Done<uint64_t> done) {
  done(exchanges_ == nullptr ? NoKeys() : exchanges_->Rotate(vm.device_uuid, vm.vm));
  return absl::OkStatus();
}

}  // namespace sideband::daemon
