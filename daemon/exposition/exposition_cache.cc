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
