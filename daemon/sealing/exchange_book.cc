// SPDX-License-Identifier: Apache-2.0
#include "daemon/sealing/exchange_book.h"

#include <utility>

#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

absl::Status NoKeys() { return absl::NotFoundError("no guest is trusted with this VM's keys"); }

exchange::ExchangeTarget TargetOf(const SealedVm& vm) {
  return {
      .device = vm.device_uuid, .boot_id = vm.boot_id, .vm = vm.vm, .generation = vm.generation, .events = vm.events};
}

}  // namespace

ExchangeBook::ExchangeBook(exchange::SealingRules rules, const exchange::Sha384Digest& measurement, const Clock& clock)
    : rules_(std::move(rules)), measurement_(measurement), clock_(clock) {}

ExchangeBook::OfDevice& ExchangeBook::Of(const Uuid& device) {
  const exchange::Exchanger::Self self{.sealer = exchange::SealerKind::kDaemon, .measurement = measurement_};
  return devices_.try_emplace(device, OfDevice{exchange::Exchanger(rules_, self), std::nullopt}).first->second;
}

exchange::VmKeys* ExchangeBook::KeysOf(const Uuid& device) {
  const auto found = devices_.find(device);
  return found == devices_.end() || !found->second.keys ? nullptr : &*found->second.keys;
}

absl::StatusOr<exchange::Challenge> ExchangeBook::Draw(const Uuid& device, const Uuid& vm) {
  absl::MutexLock lock(&mu_);
  return Of(device).exchanger.Draw(vm, clock_.Steady());
}

absl::StatusOr<ExchangeBook::Answer> ExchangeBook::Exchange(const exchange::ExchangeTarget& target, ByteSpan request) {
  absl::MutexLock lock(&mu_);
  OfDevice& of = Of(target.device);
  const absl::Duration now = clock_.Steady();
  SIDEBAND_ASSIGN_OR_RETURN(exchange::Exchanged done, of.exchanger.Exchange(request, target, now, clock_.Now()));
  if (!of.keys || of.keys->owner().boot_id != target.boot_id) {
    of.keys.emplace(exchange::VmKeys::Owner{target.device, target.boot_id}, rules_.rotation());
  }
  of.keys->Begin(target.vm, target.generation, std::move(done.secret), done.nonce, now);
  return Answer{.bytes = std::move(done.answer), .claims = done.claims};
}

absl::StatusOr<std::vector<exchange::SealedNow>> ExchangeBook::Seal(const Subject& subject,
                                                                    const exchange::VmKeys::Input& input) {
  absl::MutexLock lock(&mu_);
  exchange::VmKeys* const keys = KeysOf(subject.device);
  if (keys == nullptr) return std::vector<exchange::SealedNow>();
  if (keys->owner().boot_id != subject.boot_id) {
    devices_.at(subject.device).keys.reset();
    return std::vector<exchange::SealedNow>();
  }
  return keys->Seal(subject.vm, input, clock_.Steady());
}

void ExchangeBook::KeepOnly(const Uuid& device, const std::set<Uuid>& vms) {
  absl::MutexLock lock(&mu_);
  if (exchange::VmKeys* const keys = KeysOf(device)) keys->KeepOnly(vms);
}

absl::StatusOr<uint64_t> ExchangeBook::Rotate(const Uuid& device, const Uuid& vm) {
  absl::MutexLock lock(&mu_);
  exchange::VmKeys* const keys = KeysOf(device);
  if (keys == nullptr) return absl::NotFoundError("the VM's guest has exchanged no keys");
  return keys->Rotate(vm, clock_.Steady());
}

std::optional<exchange::KeyStatus> ExchangeBook::StatusOf(const Uuid& device, const Uuid& vm) {
  absl::MutexLock lock(&mu_);
  exchange::VmKeys* const keys = KeysOf(device);
  return keys == nullptr ? std::nullopt : keys->StatusOf(vm);
}

bool ExchangeBook::HasExchange(const Uuid& device, const Uuid& vm, const envelope::GuestNonce& nonce) {
  absl::MutexLock lock(&mu_);
  exchange::VmKeys* const keys = KeysOf(device);
  return keys != nullptr && keys->Has(vm, nonce);
}

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
