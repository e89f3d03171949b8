// SPDX-License-Identifier: Apache-2.0
//
// Replacements for the functions of libc that show the content of /dev, for a process with this library in LD_PRELOAD.
// The buses are listed after libc's own entries, as character devices. See i2cdev.cc.
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "sim/bus/bus_files.h"

namespace {

using sideband::i2cdev::BusFiles;
using sideband::i2cdev::FolderListing;

constexpr unsigned int kI2cMajor = 89;  // Documentation/admin-guide/devices.txt of Linux
constexpr mode_t kMode = S_IFCHR | 0660;

// Requires that the functions with names ending in 64 have the same types.
static_assert(sizeof(dirent) == sizeof(dirent64) && sizeof(struct stat) == sizeof(struct stat64));

template <typename Function>
Function* Next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

FolderListing& Listing() {
  // Never destroyed: other libraries read folders until the process ends.
  static FolderListing* const listing = new FolderListing("/dev", BusFiles::OfProcess().Names());
  return *listing;
}

DIR* NoteOpened(DIR* dir) {
  Listing().Opened(dir);
  return dir;
}

// Returns libc's entry next(), or a bus after the last entry. libc distinguishes the end from an error only by errno.
template <typename ReadNext>
dirent* ReadEntry(DIR* dir, ReadNext next) {
  const int error = errno;
  errno = 0;
  dirent* const entry = next();
  if (errno != 0) return entry;
  errno = error;
  if (entry == nullptr) return Listing().Next(dir);
  Listing().Saw(dir, entry->d_name);
  return entry;
}

std::optional<uint32_t> BusAt(const char* path) {
  return BusFiles::IsI2cDev(path) ? BusFiles::OfProcess().NumberOf(path) : std::nullopt;
}

// Fills `status` if `path` is a bus, and calls otherwise() if not.
template <typename Stat, typename Otherwise>
int StatOr(const char* path, Stat* status, Otherwise otherwise) {
  const auto number = BusAt(path);
  if (!number) return otherwise();
  *status = {};
  status->st_ino = *number + 1;
  status->st_mode = kMode;
  status->st_nlink = 1;
  status->st_rdev = makedev(kI2cMajor, *number);
  status->st_blksize = 4096;
  return 0;
}

template <typename Otherwise>
int AccessOr(const char* path, int mode, Otherwise otherwise) {
  if (!BusAt(path)) return otherwise();
  if ((mode & X_OK) == 0) return 0;
  errno = EACCES;
  return -1;
}

// Owns entries in the form of scandir(): a malloc'ed array of malloc'ed entries.
class Entries {
 public:
  ~Entries() {
    for (size_t i = 0; i < size_; ++i) std::free(all_[i]);
    std::free(all_);
  }
  bool Add(const dirent& entry) {
    void* const grown = std::realloc(all_, (size_ + 1) * sizeof(dirent*));  // NOLINT(bugprone-sizeof-expression)
    if (grown == nullptr) return false;
    all_ = static_cast<dirent**>(grown);
    all_[size_] = static_cast<dirent*>(std::malloc(sizeof(dirent)));
    if (all_[size_] == nullptr) return false;
    // An entry may be shorter than its type.
    std::memset(all_[size_], 0, sizeof(dirent));
    std::memcpy(all_[size_++], &entry, std::min<size_t>(entry.d_reclen, sizeof(dirent)));
    return true;
  }
  int Release(dirent*** all) {
    *all = all_;
    all_ = nullptr;
    return static_cast<int>(std::exchange(size_, 0));
  }
  dirent** begin() { return all_; }
  size_t size() const { return size_; }

 private:
  dirent** all_ = nullptr;
  size_t size_ = 0;
};

using Filter = int (*)(const dirent*);
using Compare = int (*)(const dirent**, const dirent**);

}  // namespace

extern "C" {

DIR* opendir(const char* path) {
  static const auto next = Next<DIR*(const char*)>("opendir");
  return NoteOpened(next(path));
}

DIR* fdopendir(int fd) {
  static const auto next = Next<DIR*(int)>("fdopendir");
  return NoteOpened(next(fd));
}

dirent* readdir(DIR* dir) {
  static const auto next = Next<dirent*(DIR*)>("readdir");
  return ReadEntry(dir, [&] { return next(dir); });
}

dirent64* readdir64(DIR* dir) {
  static const auto next = Next<dirent*(DIR*)>("readdir64");
  return reinterpret_cast<dirent64*>(ReadEntry(dir, [&] { return next(dir); }));
}

void rewinddir(DIR* dir) noexcept {
  static const auto next = Next<void(DIR*)>("rewinddir");
  Listing().Rewound(dir);
  next(dir);
}

int closedir(DIR* dir) {
  static const auto next = Next<int(DIR*)>("closedir");
  Listing().Closed(dir);
  return next(dir);
}

// libc's scandir() would call libc's own readdir().
int scandir(const char* path, dirent*** names, Filter filter, Compare compare) {
  DIR* const dir = opendir(path);
  if (dir == nullptr) return -1;
  Entries entries;
  bool failed = false;
  errno = 0;
  for (const dirent* entry = readdir(dir); entry != nullptr && !failed; entry = readdir(dir)) {
    if (filter == nullptr || filter(entry) != 0) failed = !entries.Add(*entry);
    errno = 0;
  }
  const int error = failed ? ENOMEM : errno;
  closedir(dir);
  errno = error;
  if (error != 0) return -1;
  if (compare != nullptr && entries.size() > 0) {
    qsort(entries.begin(), entries.size(), sizeof(dirent*),  // NOLINT(bugprone-sizeof-expression)
          reinterpret_cast<int (*)(const void*, const void*)>(compare));
  }
  return entries.Release(names);
}

int scandir64(const char* path, dirent64*** names, int (*filter)(const dirent64*),
              int (*compare)(const dirent64**, const dirent64**)) {
  return scandir(path, reinterpret_cast<dirent***>(names), reinterpret_cast<Filter>(filter),
                 reinterpret_cast<Compare>(compare));
}

int access(const char* path, int mode) noexcept {
  static const auto next = Next<int(const char*, int)>("access");
  return AccessOr(path, mode, [&] { return next(path, mode); });
}

int faccessat(int folder, const char* path, int mode, int flags) noexcept {
  static const auto next = Next<int(int, const char*, int, int)>("faccessat");
  return AccessOr(path, mode, [&] { return next(folder, path, mode, flags); });
}

int stat(const char* path, struct stat* status) noexcept {
  static const auto next = Next<int(const char*, struct stat*)>("stat");
  return StatOr(path, status, [&] { return next(path, status); });
}

int stat64(const char* path, struct stat64* status) noexcept {
  static const auto next = Next<int(const char*, struct stat64*)>("stat64");
  return StatOr(path, status, [&] { return next(path, status); });
}

int lstat(const char* path, struct stat* status) noexcept {
  static const auto next = Next<int(const char*, struct stat*)>("lstat");
  return StatOr(path, status, [&] { return next(path, status); });
}

int lstat64(const char* path, struct stat64* status) noexcept {
  static const auto next = Next<int(const char*, struct stat64*)>("lstat64");
  return StatOr(path, status, [&] { return next(path, status); });
}

int fstatat(int folder, const char* path, struct stat* status, int flags) noexcept {
  static const auto next = Next<int(int, const char*, struct stat*, int)>("fstatat");
  return StatOr(path, status, [&] { return next(folder, path, status, flags); });
}

int fstatat64(int folder, const char* path, struct stat64* status, int flags) noexcept {
  static const auto next = Next<int(int, const char*, struct stat64*, int)>("fstatat64");
  return StatOr(path, status, [&] { return next(folder, path, status, flags); });
}

int statx(int folder, const char* path, int flags, unsigned int mask, struct statx* status) noexcept {
  static const auto next = Next<int(int, const char*, int, unsigned int, struct statx*)>("statx");
  const auto number = BusAt(path);
  if (!number) return next(folder, path, flags, mask, status);
  *status = {};
  status->stx_mask = STATX_BASIC_STATS;
  status->stx_ino = *number + 1;
  status->stx_mode = kMode;
  status->stx_nlink = 1;
  status->stx_rdev_major = kI2cMajor;
  status->stx_rdev_minor = *number;
  status->stx_blksize = 4096;
  return 0;
}

}  // extern "C"
