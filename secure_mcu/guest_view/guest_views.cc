// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/guest_view/guest_views.h"

#include <sys/stat.h>

#include <cerrno>
#include <set>

#include "absl/strings/str_cat.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"
#include "proto/envelope/sealed_view.h"
#include "secure_mcu/guest_view/layout.h"

namespace sideband::mcu {
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
