// SPDX-License-Identifier: Apache-2.0
#include "sim/bus/folder_listing.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace sideband::i2cdev {
namespace {

bool IsFolder(int fd, const char* path) {
  struct stat opened = {}, wanted = {};
  return fstat(fd, &opened) == 0 && fstatat(AT_FDCWD, path, &wanted, 0) == 0 && opened.st_dev == wanted.st_dev &&
         opened.st_ino == wanted.st_ino;
}

}  // namespace

void FolderListing::Opened(DIR* dir) {
  if (dir == nullptr || names_.empty()) return;
  // The errno of opendir must survive.
  const int error = errno;
  const bool is_it = IsFolder(dirfd(dir), folder_.c_str());
  errno = error;
  if (!is_it) return;
  auto listing = std::make_unique<Listing>();
  listing->left = All();
  absl::MutexLock lock(&mu_);
  listings_.insert_or_assign(dir, std::move(listing));
  open_ = listings_.size();
}

FolderListing::Listing* FolderListing::Find(DIR* dir) {
  const auto found = listings_.find(dir);
  return found == listings_.end() ? nullptr : found->second.get();
}

void FolderListing::Saw(DIR* dir, const char* name) {
  // Most programs list other folders only: these take no lock.
  if (open_ == 0) return;
  absl::MutexLock lock(&mu_);
  if (Listing* const listing = Find(dir)) std::erase(listing->left, name);
}

dirent* FolderListing::Next(DIR* dir) {
  if (open_ == 0) return nullptr;
  absl::MutexLock lock(&mu_);
  Listing* const listing = Find(dir);
  if (listing == nullptr || listing->left.empty()) return nullptr;
  const std::string name = std::move(listing->left.back());
  listing->left.pop_back();
  dirent& entry = listing->entry;
  entry = {};
  entry.d_ino = 1;  // 0 marks a deleted entry
  entry.d_reclen = sizeof(entry);
  entry.d_type = DT_CHR;
  std::memcpy(entry.d_name, name.c_str(), std::min(name.size(), sizeof(entry.d_name) - 1));
  return &entry;
}

void FolderListing::Rewound(DIR* dir) {
  if (open_ == 0) return;
  absl::MutexLock lock(&mu_);
  if (Listing* const listing = Find(dir)) listing->left = All();
}

void FolderListing::Closed(DIR* dir) {
  if (open_ == 0) return;
  absl::MutexLock lock(&mu_);
  listings_.erase(dir);
  open_ = listings_.size();
}

}  // namespace sideband::i2cdev
