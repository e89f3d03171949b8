// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/guest_view/guest_views.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "proto/base/bytes.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"
#include "proto/envelope/record.h"
#include "secure_mcu/guest_view/layout.h"

namespace sideband::mcu {

// A file that only its writer, which keeps it mapped, can write. It appears under its name complete and read-only, and
// replaces an earlier file of that name.
// Not thread-safe; other processes may read the file at any time.
class ViewFile {
 public:
  // Creates a file of `head`, whose size must be a multiple of eight, and `words` zero words, under a temporary name
  // beside `path`. Errors are those of the file system, with the path; RESOURCE_EXHAUSTED if it is full.
  static absl::StatusOr<std::unique_ptr<ViewFile>> Create(const std::string& path, ByteSpan head, size_t words);
  // Removes the file.
  ~ViewFile();
  ViewFile(const ViewFile&) = delete;
  ViewFile& operator=(const ViewFile&) = delete;

  // Gives the file its name and read permission for all users.
  absl::Status Show();
  // Removes the name, unless it refers to another file by now. Readers with the file open can continue to read.
  void Remove();
  // Stores a word of the live part. Readers that see it also see all earlier stores.
  void StoreRelease(size_t word, uint64_t value);

 private:
  struct Mapping {
    void* start;
    size_t size;
  };

  ViewFile(std::string path, Descriptor fd) : path_(std::move(path)), fd_(std::move(fd)) {}

  absl::Status Fill(ByteSpan head, size_t words);

  const std::string path_;
  std::string name_now_;  // the temporary one until Show
  Descriptor fd_;
  ino_t inode_ = 0;
  Mapping mapping_{nullptr, 0};
  uint64_t* live_ = nullptr;
};

namespace {

static_assert(std::atomic_ref<uint64_t>::is_always_lock_free, "shared with other processes");

// A writer that was killed has left a file in the way.
Descriptor CreateAnew(const std::string& name) {
  unlink(name.c_str());
  return Descriptor(open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
}

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

std::vector<ByteSpan> RecordsOf(const mailbox::Snapshot& snapshot, uint16_t vm) {
  std::vector<ByteSpan> records;
  for (const mailbox::SealedBlocks& sealed : snapshot.sealed) {
    if (sealed.vm == vm) records.emplace_back(sealed.record);
  }
  return records;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ViewFile>> ViewFile::Create(const std::string& path, ByteSpan head, size_t words) {
  const std::string temporary = absl::StrCat(path, ".new");
  Descriptor fd = CreateAnew(temporary);
  if (!fd.is_open()) return ErrnoStatus(errno, temporary);
  std::unique_ptr<ViewFile> file(new ViewFile(path, std::move(fd)));
  file->name_now_ = temporary;
  SIDEBAND_RETURN_IF_ERROR(file->Fill(head, words));
  return file;
}

absl::Status ViewFile::Fill(ByteSpan head, size_t words) {
  const size_t size = head.size() + words * sizeof(uint64_t);
  // Reserved, not only sized: a store into a hole of a full file system would be a signal.
  if (const int error = posix_fallocate(fd_.get(), 0, static_cast<off_t>(size)); error != 0) {
    return ErrnoStatus(error, path_);
  }
  struct stat status {};
  if (fstat(fd_.get(), &status) != 0) return ErrnoStatus(errno, path_);
  inode_ = status.st_ino;
  void* const start = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
  if (start == MAP_FAILED) return ErrnoStatus(errno, path_);
  mapping_ = {start, size};
  std::memcpy(start, head.data(), head.size());
  live_ = reinterpret_cast<uint64_t*>(static_cast<uint8_t*>(start) + head.size());
  return absl::OkStatus();
}

absl::Status ViewFile::Show() {
  // The mode before the name: whatever has the name is complete and read-only.
  if (fchmod(fd_.get(), S_IRUSR | S_IRGRP | S_IROTH) != 0 || rename(name_now_.c_str(), path_.c_str()) != 0) {
    return ErrnoStatus(errno, path_);
  }
  name_now_ = path_;
  return absl::OkStatus();
}

void ViewFile::StoreRelease(size_t word, uint64_t value) {
  std::atomic_ref<uint64_t>(live_[word]).store(LittleEndianWord(value), std::memory_order_release);
}

void ViewFile::Remove() {
  struct stat status {};
  // A successor may have replaced the file under this name.
  const bool is_ours = stat(name_now_.c_str(), &status) == 0 && status.st_ino == inode_;
  if (is_ours) unlink(name_now_.c_str());
}

ViewFile::~ViewFile() {
  Remove();
  if (mapping_.start != nullptr) munmap(mapping_.start, mapping_.size);
}

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

GuestViews::GuestViews(std::string dir, uint64_t boot_id) : dir_(std::move(dir)), boot_id_(boot_id) {}

GuestViews::~GuestViews() = default;

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
