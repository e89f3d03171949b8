// SPDX-License-Identifier: Apache-2.0
#include "daemon/exposition/exposition_cache.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

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

Body Assemble(std::string head, std::shared_ptr<const TextBuffer> text) {
  return {.head = std::move(head), .shared = text->text(), .owner = text};
}

Body RenderAlone(const std::vector<VisibleDevice>& devices, const ScrapeRequest& request, std::string head) {
  auto text = std::make_shared<TextBuffer>();
  Exposition(request.format, request.filter).Render(devices, *text);
  if (!request.gzip) return Assemble(std::move(head), std::move(text));
  return GzipOf(head, std::make_shared<const Deflated>(Deflate(text->text())));
}

}  // namespace

std::shared_ptr<TextBuffer> SpareBuffer::Lend(const std::shared_ptr<SpareBuffer>& spare) {
  return {spare->Take().release(), [spare](TextBuffer* read) { spare->GiveBack(std::unique_ptr<TextBuffer>(read)); }};
}

std::unique_ptr<TextBuffer> SpareBuffer::Take() {
  absl::MutexLock lock(&mu_);
  return kept_ == nullptr ? std::make_unique<TextBuffer>() : std::move(kept_);
}

void SpareBuffer::GiveBack(std::unique_ptr<TextBuffer> buffer) {
  buffer->Clear();
  absl::MutexLock lock(&mu_);
  if (kept_ == nullptr) kept_.swap(buffer);  // a surplus buffer is freed after the lock is released
}

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

std::vector<ExpositionCache::Refreshment> ExpositionCache::WorthRefreshing(uint64_t policy_version) {
  std::vector<Refreshment> worth_it;
  for (const std::shared_ptr<Group>& group : groups_.All(policy_version)) {
    for (SharedRendering* rendering : {&group->text, &group->open_metrics}) {
      if (rendering->BeginRefresh()) worth_it.push_back({group, rendering});
    }
  }
  return worth_it;
}

void ExpositionCache::Refresh(uint64_t policy_version, const Look& look) {
  for (const Refreshment& of : WorthRefreshing(policy_version)) of.rendering->Refresh(look(of.group->caller));
}

Body ExpositionCache::Scrape(const Caller& caller, const std::vector<VisibleDevice>& devices,
                             const ScrapeRequest& request, absl::string_view own) {
  const auto head = [&](const std::vector<VisibleDevice>& aged) {
    return absl::StrCat(SampleAges(request.format, aged), own);
  };
  if (!request.filter.SelectsEverything()) return RenderAlone(devices, request, head(devices));
  const std::shared_ptr<Group> group = groups_.Find(caller);
  SharedRendering& rendering = request.format == MetricsFormat::kText ? group->text : group->open_metrics;
  if (!request.gzip) {
    SharedRendering::Text text = rendering.TextOf(devices);
    return Assemble(head(WithAgesOf(text.shown, devices)), std::move(text.buffer));
  }
  SharedRendering::Compressed compressed = rendering.CompressedOf(devices);
  return GzipOf(head(WithAgesOf(compressed.shown, devices)), std::move(compressed.deflated));
}

}  // namespace sideband::daemon
