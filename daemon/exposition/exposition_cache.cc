// SPDX-License-Identifier: Apache-2.0
#include "daemon/exposition/exposition_cache.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace sideband::daemon {
namespace {

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

// A straggler under an old policy gets a group of its own, which nobody keeps.
std::shared_ptr<ExpositionCache::Group> ExpositionCache::FindGroup(const Caller& caller) {
  absl::MutexLock lock(&mu_);
  if (caller.policy.version < policy_version_) return std::make_shared<Group>();
  if (caller.policy.version > policy_version_) groups_.clear();
  policy_version_ = caller.policy.version;
  auto& group = groups_[caller.principal.group()];
  if (group == nullptr) group = std::make_shared<Group>();
  return group;
}

void ExpositionCache::Rendering::LetGoOfOthers(const std::vector<VisibleDevice>& devices) {
  std::vector<Shown> now;
  for (const VisibleDevice& device : devices) {
    now.push_back({device.index, device.snapshot == nullptr ? 0 : device.snapshot->publication, device.state});
  }
  if (now == shown_) return;
  text_ = nullptr;  // comes back as the spare, unless an answer is still being sent
  compressed_ = nullptr;
  shown_ = std::move(now);
}

std::shared_ptr<const TextBuffer> ExpositionCache::Rendering::Text(const std::vector<VisibleDevice>& devices) {
  absl::MutexLock lock(&mu_);
  LetGoOfOthers(devices);
  if (text_ == nullptr) {
    const std::shared_ptr<TextBuffer> text = SpareBuffer::Lend(spare_);
    exposition_.Render(devices, *text);
    text_ = text;
  }
  return text_;
}

std::shared_ptr<const Deflated> ExpositionCache::Rendering::Compressed(const std::vector<VisibleDevice>& devices) {
  absl::MutexLock lock(&mu_);
  LetGoOfOthers(devices);
  if (compressed_ == nullptr) {
    // Who only takes gzip, as Prometheus does, should not cost a text ten times as large between two snapshots.
    TextBuffer passing;
    if (text_ == nullptr) exposition_.Render(devices, passing);
    compressed_ = std::make_shared<const Deflated>(Deflate(text_ == nullptr ? passing.text() : text_->text()));
  }
  return compressed_;
}

Body ExpositionCache::Scrape(const Caller& caller, const std::vector<VisibleDevice>& devices,
                             const ScrapeRequest& request, absl::string_view own) {
  std::string head = absl::StrCat(SampleAges(request.format, devices), own);
  if (!request.filter.SelectsEverything()) return RenderAlone(devices, request, std::move(head));
  const std::shared_ptr<Group> group = FindGroup(caller);
  Rendering& rendering = request.format == MetricsFormat::kText ? group->text : group->open_metrics;
  if (request.gzip) return GzipOf(head, rendering.Compressed(devices));
  return Assemble(std::move(head), rendering.Text(devices));
}

}  // namespace sideband::daemon
