// SPDX-License-Identifier: Apache-2.0
#include "daemon/exposition/shared_rendering.h"

#include <algorithm>
#include <utility>

namespace sideband::daemon {
namespace {

// A single reader may return only after a minute; two readers suggest more.
constexpr int kSeveralReaders = 2;

ShownDevice ShownOf(const VisibleDevice& device) {
  ShownDevice shown{.device = device.index, .info = device.info, .state = device.state};
  if (device.snapshot == nullptr) return shown;
  shown.publication = device.snapshot->publication;
  shown.steady_time = device.snapshot->steady_time;
  return shown;
}

std::vector<ShownDevice> ShownOf(const std::vector<VisibleDevice>& devices) {
  std::vector<ShownDevice> shown;
  for (const VisibleDevice& device : devices) shown.push_back(ShownOf(device));
  return shown;
}

bool IsSameDevice(const ShownDevice& a, const ShownDevice& b) {
  return a.device == b.device && a.info == b.info && a.state == b.state && (a.publication == 0) == (b.publication == 0);
}

// Whether both lists have the same devices in the same states, possibly of different snapshots.
bool IsOfSameDevices(const std::vector<ShownDevice>& a, const std::vector<ShownDevice>& b) {
  return std::ranges::equal(a, b, &IsSameDevice);
}

// Whether the state still holds for the shown snapshot: a fresh device's must be within the last few intervals.
bool IsYoungEnough(const VisibleDevice& device) {
  return device.state != VisibleDevice::State::kFresh ||
         device.age <= DeviceInfo::kFreshIntervals * device.info->interval;
}

bool IsNotOlder(const std::vector<ShownDevice>& a, const std::vector<ShownDevice>& b) {
  // A later publication may be served: it was published while the request was processed.
  return std::ranges::equal(a, b, [](const ShownDevice& mine, const ShownDevice& other) {
    return IsSameDevice(mine, other) && mine.publication >= other.publication;
  });
}

}  // namespace

void SharedRendering::LetGoOfOthers(const std::vector<ShownDevice>& now) {
  if (text_.shown != now) text_ = {};  // its buffer becomes the spare once no response uses it
  if (compressed_.shown != now && !is_refreshing_) compressed_ = {};
}

SharedRendering::Text SharedRendering::KeptText(const std::vector<ShownDevice>& now) {
  absl::MutexLock lock(&mu_);
  return text_.buffer != nullptr && IsNotOlder(text_.shown, now) ? text_ : Text();
}

SharedRendering::Text SharedRendering::TextOf(const std::vector<VisibleDevice>& devices) {
  const std::vector<ShownDevice> now = ShownOf(devices);
  if (Text kept = KeptText(now); kept.buffer != nullptr) return kept;
  // One reader renders; those behind it find its result.
  absl::MutexLock making(&making_mu_);
  if (Text kept = KeptText(now); kept.buffer != nullptr) return kept;  // rendered by another reader meanwhile
  {
    absl::MutexLock lock(&mu_);
    LetGoOfOthers(now);
  }
  const std::shared_ptr<TextBuffer> text = SpareBuffer::Lend(spare_);
  exposition_.Render(devices, *text);
  absl::MutexLock lock(&mu_);
  text_ = {text, now};
  return text_;
}

bool SharedRendering::MayServe(const std::vector<VisibleDevice>& devices, const std::vector<ShownDevice>& now) const {
  if (compressed_.deflated == nullptr) return false;
  if (IsNotOlder(compressed_.shown, now)) return true;
  // Another state is never shown late: a stale device must not appear as fresh.
  return is_refreshing_ && IsOfSameDevices(compressed_.shown, now) &&
         std::ranges::all_of(WithAgesOf(compressed_.shown, devices), &IsYoungEnough);
}

SharedRendering::Compressed SharedRendering::CompressedOf(const std::vector<VisibleDevice>& devices) {
  const std::vector<ShownDevice> now = ShownOf(devices);
  {
    absl::MutexLock lock(&mu_);
    ++readers_;
    if (MayServe(devices, now)) return compressed_;
  }
  absl::MutexLock making(&making_mu_);
  return Compress(devices, now);
}

SharedRendering::Compressed SharedRendering::Compress(const std::vector<VisibleDevice>& devices,
                                                      const std::vector<ShownDevice>& now) {
  std::shared_ptr<const TextBuffer> text;
  {
    absl::MutexLock lock(&mu_);
    if (compressed_.deflated != nullptr && IsNotOlder(compressed_.shown, now)) return compressed_;
    LetGoOfOthers(now);
    text = text_.buffer;
  }
  // Clients that request gzip only, such as Prometheus, must not cost the memory of a text ten times as large between
  // two snapshots.
  TextBuffer passing;
  if (text == nullptr) exposition_.Render(devices, passing);
  Compressed made{std::make_shared<const Deflated>(Deflate(text == nullptr ? passing.text() : text->text())), now};
  absl::MutexLock lock(&mu_);
  compressed_ = made;
  return made;
}

bool SharedRendering::BeginRefresh() {
  absl::MutexLock lock(&mu_);
  is_refreshing_ = compressed_.deflated != nullptr && readers_ >= kSeveralReaders;
  readers_ = 0;
  return is_refreshing_;
}

void SharedRendering::Refresh(const std::vector<VisibleDevice>& devices) {
  absl::MutexLock making(&making_mu_);
  Compress(devices, ShownOf(devices));
  absl::MutexLock lock(&mu_);
  is_refreshing_ = false;
}

std::vector<VisibleDevice> WithAgesOf(const std::vector<ShownDevice>& shown, std::vector<VisibleDevice> devices) {
  for (size_t i = 0; i < std::min(shown.size(), devices.size()); ++i) {
    if (devices[i].snapshot == nullptr) continue;
    devices[i].age += devices[i].snapshot->steady_time - shown[i].steady_time;
    // The rendering may be newer than the caller's devices.
    devices[i].age = std::max(devices[i].age, absl::ZeroDuration());
  }
  return devices;
}

}  // namespace sideband::daemon
