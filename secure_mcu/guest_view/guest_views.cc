// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/guest_view/guest_views.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"
#include "proto/envelope/record.h"
#include "secure_mcu/guest_view/layout.h"

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

namespace {

std::vector<ByteSpan> RecordsOf(const mailbox::Snapshot& snapshot, uint16_t vm) {
  std::vector<ByteSpan> records;
  for (const mailbox::SealedBlocks& sealed : snapshot.sealed) {
    if (sealed.vm == vm) records.emplace_back(sealed.record);
  }
  return records;
}

}  // namespace

absl::StatusOr<std::unique_ptr<GuestViews>> GuestViews::Create(const std::string& dir, uint64_t boot_id) {
  struct stat status {};
  if (stat(dir.c_str(), &status) != 0) return ErrnoStatus(errno, dir);
  if (!S_ISDIR(status.st_mode)) return absl::InvalidArgumentError(absl::StrCat(dir, ": not a folder"));
  return std::unique_ptr<GuestViews>(new GuestViews(dir, boot_id));
}

absl::Status GuestViews::Publish(const mailbox::Catalog& catalog, const mailbox::Snapshot& snapshot) {
  absl::Status status = PublishSealed(catalog, snapshot);
  if (!is_following_ || catalog != catalog_) {
    status.Update(Follow(catalog, snapshot));
    return status;
  }
  for (const auto& [vm, view] : views_) status.Update(view->Publish(snapshot));
  return status;
}

absl::Status GuestViews::PublishSealed(const mailbox::Catalog& catalog, const mailbox::Snapshot& snapshot) {
  std::set<VmKey> shown;
  absl::Status status;
  for (const mailbox::VmInfo& vm : catalog.vms) {
    const std::vector<ByteSpan> records = RecordsOf(snapshot, vm.id);
    if (!vm.confidential || records.empty()) continue;
    shown.emplace(vm.name, vm.id);
    status.Update(ShowSealed(vm, envelope::EncodeSealedView(records)));
  }
  std::erase_if(sealed_views_, [&](const auto& view) { return !shown.contains(view.first); });
  return status;
}

absl::Status GuestViews::ShowSealed(const mailbox::VmInfo& vm, const Bytes& content) {
  SealedView& view = sealed_views_[{vm.name, vm.id}];
  if (view.content == content) return absl::OkStatus();
  SIDEBAND_ASSIGN_OR_RETURN(
      auto file, ViewFile::Create(absl::StrCat(dir_, "/", FileNameOf(vm.name), envelope::kSealedViewEnding), content,
                                  /*words=*/0));
  SIDEBAND_RETURN_IF_ERROR(file->Show());
  view = {.content = content, .file = std::move(file)};
  return absl::OkStatus();
}

// After an error is_following_ is false, so the next Publish retries.
absl::Status GuestViews::Follow(const mailbox::Catalog& catalog, const mailbox::Snapshot& snapshot) {
  std::set<VmKey> shown;
  for (const mailbox::VmInfo& vm : catalog.vms) {
    if (!vm.confidential) shown.emplace(vm.name, vm.id);
  }
  // Removes the views of VMs that are gone or confidential first, since a successor may have the same name.
  std::erase_if(views_, [&](const auto& view) { return !shown.contains(view.first); });
  absl::Status status;
  for (const mailbox::VmInfo& vm : catalog.vms) {
    if (!vm.confidential) status.Update(Add(catalog, vm, snapshot));
  }
  catalog_ = catalog;
  is_following_ = status.ok();
  return status;
}

absl::Status GuestViews::Add(const mailbox::Catalog& catalog, const mailbox::VmInfo& vm,
                             const mailbox::Snapshot& snapshot) {
  const auto [entry, is_new] = views_.try_emplace({vm.name, vm.id});
  if (!is_new) return entry->second->Replace(catalog, snapshot);
  auto view = GuestViewWriter::Create(dir_, catalog, vm.id, boot_id_);
  if (!view.ok()) {
    views_.erase(entry);
    return view.status();
  }
  entry->second = *std::move(view);
  return entry->second->Publish(snapshot);
}

}  // namespace sideband::mcu
