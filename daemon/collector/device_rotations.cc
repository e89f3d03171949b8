// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/device_rotations.h"

#include <algorithm>
#include <variant>
#include <vector>

#include "daemon/collector/bus_share.h"
#include "daemon/collector/not_readable.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

using mailbox::Catalog;

std::vector<uint16_t> ContextsOf(const RotationOrder& order) {
  if (const auto* const request = std::get_if<mailbox::RotationRequest>(&order.what)) return request->contexts;
  const uint16_t context = std::get<LearnRequest>(order.what).context;
  return context == mailbox::kNoContext ? std::vector<uint16_t>() : std::vector<uint16_t>{context};
}

uint16_t VmOf(const RotationOrder& order) {
  return std::visit([](const auto& what) { return what.vm; }, order.what);
}

bool HasSameVm(const Catalog& a, const Catalog& b, uint16_t vm) {
  const auto in_a = std::ranges::find(a.vms, vm, &mailbox::VmInfo::id);
  const auto in_b = std::ranges::find(b.vms, vm, &mailbox::VmInfo::id);
  return in_a != a.vms.end() && in_b != b.vms.end() && in_a->uuid == in_b->uuid &&
         in_a->generation == in_b->generation && in_a->confidential == in_b->confidential;
}

bool HasSameContext(const Catalog& a, const Catalog& b, uint16_t vm, uint16_t id) {
  const auto find = [&](const Catalog& catalog) {
    return std::ranges::find_if(catalog.contexts,
                                [&](const auto& context) { return context.vm == vm && context.id == id; });
  };
  const auto in_a = find(a), in_b = find(b);
  return in_a != a.contexts.end() && in_b != b.contexts.end() && in_a->name == in_b->name &&
         in_a->generation == in_b->generation;
}

// Whether the device has the same behind the order's numbers as when they were looked up.
bool IsOf(const RotationOrder& order, const DeviceSnapshot& newest) {
  if (newest.data.boot_id != order.boot_id) return false;
  if (newest.topology == order.topology) return true;
  const Catalog& then = order.topology->catalog();
  const Catalog& now = newest.topology->catalog();
  const std::vector<uint16_t> contexts = ContextsOf(order);
  return HasSameVm(then, now, VmOf(order)) &&
         std::ranges::all_of(contexts, [&](uint16_t id) { return HasSameContext(then, now, VmOf(order), id); });
}

}  // namespace

absl::Status DeviceRotations::CheckRoom(size_t asker) const {
  const auto of_asker = std::ranges::count(waiting_, asker, [](const Waiting& waiting) { return waiting.order.asker; });
  if (waiting_.size() < kWaitingMax && static_cast<size_t>(of_asker) < kWaitingOfAskerMax) return absl::OkStatus();
  return Exhausted("too many changes wait for the device", BusShare::kBurst);
}

absl::Status DeviceRotations::Enqueue(RotationOrder order, RotationSink::Done done) {
  const absl::Duration now = parts_.clock.Steady();
  absl::MutexLock lock(&mu_);
  if (is_closed_) return NotReadable();
  SIDEBAND_RETURN_IF_ERROR(CheckRoom(order.asker));
  FairShare::Charge charge{.asker = order.asker, .of = kBusShare, .cost = kExpected};
  const absl::Duration wait = share_.Take(charge, now);
  if (wait > absl::ZeroDuration()) return Exhausted("the bus time for changes of the device is used up", wait);
  waiting_.push_back({std::move(order), std::move(done), charge});
  return absl::OkStatus();
}

absl::Status DeviceRotations::Ask(RotationOrder order, RotationSink::Done done) {
  SIDEBAND_RETURN_IF_ERROR(Enqueue(std::move(order), std::move(done)));
  parts_.wake();
  return absl::OkStatus();
}

void DeviceRotations::Settle(const FairShare::Charge& charge, absl::Duration actual) {
  absl::MutexLock lock(&mu_);
  share_.Settle(charge, actual);
}

std::optional<DeviceRotations::Waiting> DeviceRotations::Take() {
  absl::MutexLock lock(&mu_);
  if (waiting_.empty()) return std::nullopt;
  Waiting waiting = std::move(waiting_.front());
  waiting_.pop_front();
  return waiting;
}

void DeviceRotations::Close() {
  {
    absl::MutexLock lock(&mu_);
    is_closed_ = true;
  }
  while (const auto waiting = Take()) waiting->done(NotReadable());
}

absl::Status DeviceRotations::Run(const RotationOrder& order) {
  const auto newest = parts_.store.Newest(device_);
  if (newest == nullptr || !IsOf(order, *newest)) {
    return absl::UnavailableError("the device's VMs and contexts have changed meanwhile");
  }
  if (const auto* const request = std::get_if<mailbox::RotationRequest>(&order.what)) return writer_.Apply(*request);
  const auto& learn = std::get<LearnRequest>(order.what);
  return writer_.Learn(learn.vm, learn.context);
}

bool DeviceRotations::RunNext(bool is_readable) {
  const auto waiting = Take();
  if (!waiting) return false;
  const absl::Duration begin = parts_.clock.Steady();
  const absl::Status status = is_readable ? Run(waiting->order) : NotReadable();
  // Before the answer, after which the caller may ask again.
  Settle(waiting->charge, parts_.clock.Steady() - begin);
  waiting->done(status);
  return true;
}

}  // namespace sideband::daemon
