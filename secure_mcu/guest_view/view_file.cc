// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/guest_view/view_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"
#include "secure_mcu/guest_view/layout.h"

namespace sideband::mcu {
namespace {

static_assert(std::atomic_ref<uint64_t>::is_always_lock_free, "shared with other processes");

// What a writer that was killed left behind is in the way.
Descriptor CreateAnew(const std::string& name) {
  unlink(name.c_str());
  return Descriptor(open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
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

}  // namespace sideband::mcu
