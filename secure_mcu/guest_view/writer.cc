// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/guest_view/writer.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace sideband::mcu {
namespace {

constexpr uint64_t kSuperseded = 1;

std::string PathOf(const std::string& dir, const std::string& vm_name) {
  return absl::StrCat(dir, "/", GuestViewFileName(vm_name));
}

absl::StatusOr<mailbox::Catalog> PlainCatalogOfVm(const mailbox::Catalog& catalog, uint16_t vm) {
  auto own = CatalogOfVm(catalog, vm);
  if (own.ok() && own->vms[0].confidential) {
    return absl::FailedPreconditionError(absl::StrCat("VM '", own->vms[0].name, "' is confidential: it has no view"));
  }
  return own;
}

}  // namespace

absl::StatusOr<std::unique_ptr<GuestViewWriter>> GuestViewWriter::Create(const std::string& dir,
                                                                         const mailbox::Catalog& catalog, uint16_t vm,
                                                                         uint64_t boot_id) {
  SIDEBAND_ASSIGN_OR_RETURN(const mailbox::Catalog own, PlainCatalogOfVm(catalog, vm));
  std::string path = PathOf(dir, own.vms[0].name);
  SIDEBAND_ASSIGN_OR_RETURN(View view, MakeView(path, catalog, own, boot_id));
  SIDEBAND_RETURN_IF_ERROR(view.file->Show());
  return std::unique_ptr<GuestViewWriter>(new GuestViewWriter(std::move(path), vm, boot_id, std::move(view)));
}

GuestViewWriter::GuestViewWriter(std::string path, uint16_t vm, uint64_t boot_id, View view)
    : path_(std::move(path)), vm_(vm), boot_id_(boot_id), view_(std::move(view)) {}

// Removed first: a reader that finds the view superseded must not find the same file at the path again.
GuestViewWriter::~GuestViewWriter() {
  view_.file->Remove();
  Supersede(view_);
}

absl::StatusOr<GuestViewWriter::View> GuestViewWriter::MakeView(const std::string& path,
                                                                const mailbox::Catalog& catalog,
                                                                const mailbox::Catalog& own, uint64_t boot_id) {
  View view{.directory = EncodeGuestDirectory({boot_id, own}),
            .layout = GuestLiveLayout::Of(own),
            .events = {},
            .catalog_events = catalog.events.size(),
            .blocks = {},
            .file = nullptr};
  for (size_t event = 0; event < catalog.events.size(); ++event) {
    if (IsCountedForVms(catalog.events[event])) view.events.push_back(event);
  }
  if (view.directory.size() > kGuestDirectoryBytesMax ||
      view.directory.size() + view.layout.bytes() > kGuestViewBytesMax) {
    return absl::ResourceExhaustedError(absl::StrCat(path, ": the view would be larger than any reader accepts"));
  }
  // The VM's own block is first; `at` is a guess that Locate corrects.
  view.blocks.push_back({mailbox::kNoContext, 0});
  for (const mailbox::ContextInfo& context : own.contexts) view.blocks.push_back({context.id, 0});
  SIDEBAND_ASSIGN_OR_RETURN(view.file, ViewFile::Create(path, view.directory, view.layout.words()));
  return view;
}

void GuestViewWriter::Supersede(View& view) { view.file->StoreRelease(GuestLiveLayout::kSupersededWord, kSuperseded); }

absl::Status GuestViewWriter::Publish(const mailbox::Snapshot& snapshot) { return PublishIn(view_, snapshot); }

absl::Status GuestViewWriter::Replace(const mailbox::Catalog& catalog, const mailbox::Snapshot& snapshot) {
  SIDEBAND_ASSIGN_OR_RETURN(const mailbox::Catalog own, PlainCatalogOfVm(catalog, vm_));
  if (view_.directory == EncodeGuestDirectory({boot_id_, own})) return Publish(snapshot);
  SIDEBAND_ASSIGN_OR_RETURN(View next, MakeView(path_, catalog, own, boot_id_));
  SIDEBAND_RETURN_IF_ERROR(PublishIn(next, snapshot));
  SIDEBAND_RETURN_IF_ERROR(next.file->Show());
  Supersede(view_);  // last, so that readers find the new file at the path
  view_ = std::move(next);
  return absl::OkStatus();
}

absl::Status GuestViewWriter::PublishIn(View& view, const mailbox::Snapshot& snapshot) const {
  if (snapshot.counters_per_block != view.catalog_events ||
      snapshot.counters.size() != snapshot.blocks.size() * snapshot.counters_per_block) {
    return absl::InvalidArgumentError(absl::StrCat(path_, ": the snapshot does not have the catalogue's events"));
  }
  SIDEBAND_RETURN_IF_ERROR(Locate(view, snapshot));
  Store(view, snapshot);
  return absl::OkStatus();
}

// Snapshots list their blocks in the same order while no context comes or goes, so the places of the last one are
// tried.
absl::Status GuestViewWriter::Locate(View& view, const mailbox::Snapshot& snapshot) const {
  const auto is_there = [&](const Block& block) {
    return block.at < snapshot.blocks.size() && snapshot.blocks[block.at].vm == vm_ &&
           snapshot.blocks[block.at].context == block.context;
  };
  if (std::all_of(view.blocks.begin(), view.blocks.end(), is_there)) return absl::OkStatus();
  std::map<uint16_t, size_t> places;
  for (size_t i = 0; i < snapshot.blocks.size(); ++i) {
    if (snapshot.blocks[i].vm == vm_) places.emplace(snapshot.blocks[i].context, i);
  }
  for (Block& block : view.blocks) {
    const auto place = places.find(block.context);
    if (place == places.end()) {
      return absl::InvalidArgumentError(absl::StrCat(path_, ": the snapshot lacks a block of the catalogue"));
    }
    block.at = place->second;
  }
  return absl::OkStatus();
}

// A reader reads from head to tail. Its copy is one snapshot if the head, written last, and the tail, written first,
// have the same even sequence. Every store is a release: a reader that sees a word of the new snapshot cannot see the
// old tail afterwards.
void GuestViewWriter::Store(View& view, const mailbox::Snapshot& snapshot) {
  ViewFile& file = *view.file;
  const GuestLiveLayout& layout = view.layout;
  file.StoreRelease(layout.TailWord(), view.sequence + 1);
  file.StoreRelease(GuestLiveLayout::kHeadWord, view.sequence + 1);
  file.StoreRelease(GuestLiveLayout::kTriggerWord, snapshot.trigger_id);
  file.StoreRelease(GuestLiveLayout::kTimeWord, snapshot.reference_time_ns);
  for (size_t b = 0; b < view.blocks.size(); ++b) {
    const size_t at = view.blocks[b].at;
    size_t word = layout.BlockWord(b);
    for (const uint64_t value : PackGuestBlock(snapshot.blocks[at])) file.StoreRelease(word++, value);
    const auto counters = snapshot.Counters(at);
    for (const size_t event : view.events) file.StoreRelease(word++, counters[event]);
  }
  view.sequence += 2;
  file.StoreRelease(GuestLiveLayout::kHeadWord, view.sequence);
  file.StoreRelease(layout.TailWord(), view.sequence);
}

}  // namespace sideband::mcu
