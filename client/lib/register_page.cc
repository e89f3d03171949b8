// SPDX-License-Identifier: Apache-2.0
#include "client/lib/register_page.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/base/bytes.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"
#include "proto/base/unix_socket.h"
#include "proto/registers/guest_port.h"

namespace sideband::client {

absl::StatusOr<uint64_t> RegisterPage::Read(uint16_t offset, uint8_t size) {
  hpc::PageAccess access = hpc::ReadOf(offset, size);
  SIDEBAND_RETURN_IF_ERROR(Perform({&access, 1}));
  return access.value;
}

absl::StatusOr<uint32_t> RegisterPage::Read32(uint16_t offset) {
  SIDEBAND_ASSIGN_OR_RETURN(const uint64_t value, Read(offset, 4));
  return static_cast<uint32_t>(value);
}

absl::Status RegisterPage::Write(uint16_t offset, uint8_t size, uint64_t value) {
  hpc::PageAccess access = hpc::WriteOf(offset, size, value);
  return Perform({&access, 1});
}

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

namespace {

constexpr absl::string_view kKind = "guest port";

// Frames that are sent at once: their answers must fit the socket, or the port would cut us off.
constexpr size_t kFramesMax = 256;

// Between attempts while the caller does not run. Residencies and turns last a millisecond or more.
constexpr absl::Duration kPauseMin = absl::Microseconds(50);
constexpr absl::Duration kPauseMax = absl::Milliseconds(1);

}  // namespace

absl::StatusOr<std::unique_ptr<SocketPage>> SocketPage::Connect(const std::string& path, Options options) {
  const int socket = ConnectToUnixSocket(path);
  if (socket < 0) return UnixSocketError(kKind, path, -socket);
  return std::unique_ptr<SocketPage>(new SocketPage(path, Descriptor(socket), std::move(options)));
}

absl::Status SocketPage::Perform(std::span<hpc::PageAccess> accesses) {
  const absl::Duration deadline = SteadyNow() + options_.patience;
  while (!accesses.empty()) {
    const size_t size = std::min(accesses.size(), kFramesMax);
    const absl::Status status = PerformSome(accesses.first(size), deadline);
    if (!status.ok()) {
      socket_ = Descriptor();  // answers may still be on their way
      return status;
    }
    accesses = accesses.subspan(size);
  }
  return absl::OkStatus();
}

absl::Status SocketPage::PerformSome(std::span<hpc::PageAccess> accesses, absl::Duration deadline) {
  for (absl::Duration pause = kPauseMin;; pause = std::min(2 * pause, kPauseMax)) {
    SIDEBAND_ASSIGN_OR_RETURN(const size_t performed, Exchange(accesses));
    accesses = accesses.subspan(performed);
    if (accesses.empty()) return absl::OkStatus();
    if (SteadyNow() >= deadline) {
      return absl::DeadlineExceededError(absl::StrCat(kKind, " ", path_, ": its VM or context did not run within ",
                                                      absl::FormatDuration(options_.patience)));
    }
    if (options_.wait(pause)) return absl::CancelledError(absl::StrCat(kKind, " ", path_, ": cancelled"));
  }
}

absl::StatusOr<Bytes> SocketPage::Answers(ByteSpan frames, size_t size) const {
  UnixExchange exchange(socket_.get(), kKind, path_, kAnswerTimeout);
  const absl::Status sent = exchange.Send(frames);
  absl::StatusOr<Bytes> answers = sent.ok() ? exchange.Receive(size) : sent;
  // Which error a closed connection has depends on what was under way.
  if (!absl::IsUnavailable(answers.status())) return answers;
  return absl::UnavailableError(absl::StrCat(kKind, " ", path_, ": the device has closed the port"));
}

// Returns how many were performed before the first that was not.
absl::StatusOr<size_t> SocketPage::Exchange(std::span<hpc::PageAccess> accesses) {
  if (!socket_.is_open()) return UnixSocketError(kKind, path_, ENOTCONN);
  ByteWriter frames;
  for (const hpc::PageAccess& access : accesses) hpc::AppendFrame(access, frames);
  SIDEBAND_ASSIGN_OR_RETURN(const Bytes answers, Answers(frames.written(), accesses.size() * hpc::kAnswerBytes));
  for (size_t i = 0; i < accesses.size(); ++i) {
    const auto value = hpc::DecodeAnswer(ByteSpan(answers).subspan(i * hpc::kAnswerBytes, hpc::kAnswerBytes));
    if (!value.ok()) return absl::UnavailableError(absl::StrCat(kKind, " ", path_, ": ", value.status().message()));
    if (!*value) return i;
    if (accesses[i].kind == hpc::AccessKind::kRead) accesses[i].value = **value;
  }
  return accesses.size();
}

}  // namespace sideband::client
