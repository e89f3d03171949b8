// SPDX-License-Identifier: Apache-2.0
#include "client/guest/memory_page.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <atomic>
#include <bit>
#include <cerrno>

#include "absl/strings/str_cat.h"
#include "proto/base/file.h"

namespace sideband::client {
namespace {

template <typename Word>
Word LittleEndian(Word word) {
  if constexpr (std::endian::native == std::endian::little) return word;
  return sizeof(Word) == 8 ? static_cast<Word>(__builtin_bswap64(word)) : static_cast<Word>(__builtin_bswap32(word));
}

}  // namespace

absl::StatusOr<std::unique_ptr<MemoryPage>> MemoryPage::Open(const std::string& path, uint64_t offset) {
  if (offset % hpc::kPageBytes != 0 || offset > INT64_MAX - hpc::kPageBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": a register page must be at a multiple of ", hpc::kPageBytes, ", not at ", offset));
  }
  // O_SYNC: memory that is not cached, where the driver leaves the choice to the caller.
  const Descriptor file(open(path.c_str(), O_RDWR | O_SYNC | O_CLOEXEC));
  struct stat status;
  if (!file.is_open() || fstat(file.get(), &status) != 0) return ErrnoStatus(errno, path);
  if (S_ISREG(status.st_mode) && static_cast<uint64_t>(status.st_size) < offset + hpc::kPageBytes) {
    return absl::OutOfRangeError(absl::StrCat(path, ": ends before the register page at ", offset, " does"));
  }
  void* const start =
      mmap(nullptr, hpc::kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), static_cast<off_t>(offset));
  if (start == MAP_FAILED) return ErrnoStatus(errno, path);
  return std::unique_ptr<MemoryPage>(new MemoryPage(start));
}

MemoryPage::~MemoryPage() { munmap(start_, hpc::kPageBytes); }

template <typename Word>
void MemoryPage::PerformOne(hpc::PageAccess& access) const {
  volatile Word* const place = static_cast<volatile Word*>(start_) + access.offset / sizeof(Word);
  if (access.kind == hpc::AccessKind::kRead) {
    access.value = LittleEndian<Word>(*place);
  } else {
    *place = LittleEndian<Word>(static_cast<Word>(access.value));
  }
  // Processors may reorder accesses to different registers.
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

absl::Status MemoryPage::Perform(std::span<hpc::PageAccess> accesses) {
  for (hpc::PageAccess& access : accesses) {
    access.size == 8 ? PerformOne<uint64_t>(access) : PerformOne<uint32_t>(access);
  }
  return absl::OkStatus();
}

}  // namespace sideband::client
