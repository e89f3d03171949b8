// SPDX-License-Identifier: Apache-2.0
#include "daemon/transport/transport.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/smbus/transfer.h"

namespace sideband::daemon {
namespace {

using smbus::Message;

constexpr size_t kCodeBytes = 1, kCountBytes = 1, kPecBytes = 1;
constexpr uint8_t kIdle = 0xFF;

bool IsBlockSize(size_t size) { return size >= 1 && size <= kSmbus2BlockBytesMax; }

smbus::Transfer WithoutPec(smbus::Transfer write) {
  write.messages[0].write_bytes.pop_back();
  return write;
}

uint8_t PecOf(const BlockRead& read, ByteSpan clocked) {
  const uint8_t before[] = {smbus::AddressByte(read.address, /*read=*/false), read.code,
                            smbus::AddressByte(read.address, /*read=*/true)};
  return smbus::Pec(clocked, smbus::Pec(before));
}

constexpr mode_t kMode = 0660;

// A device that is locked is the bus itself.
absl::Status Failure(const LockFile& file, int error) {
  return absl::UnavailableError(
      absl::StrCat(file.is_made ? "bus lock " : "bus ", file.path, ": ", std::strerror(error)));
}

}  // namespace

std::optional<BlockWrite> AsBlockWrite(const smbus::Transfer& transfer) {
  constexpr size_t kBesides = kCodeBytes + kCountBytes + kPecBytes;
  if (transfer.messages.size() != 1 || transfer.messages[0].read) return std::nullopt;
  const Message& message = transfer.messages[0];
  const ByteSpan bytes = message.write_bytes;
  if (bytes.size() <= kBesides || !IsBlockSize(bytes[1]) || bytes.size() != kBesides + bytes[1]) return std::nullopt;
  const uint8_t address_byte = smbus::AddressByte(message.address, /*read=*/false);
  if (smbus::Pec(bytes, smbus::Pec({&address_byte, 1})) != 0) return std::nullopt;
  return BlockWrite{message.address, bytes[0], bytes.subspan(kCodeBytes + kCountBytes, bytes[1])};
}

std::optional<BlockRead> AsBlockRead(const smbus::Transfer& transfer) {
  if (transfer.messages.size() != 2) return std::nullopt;
  const Message &code = transfer.messages[0], &read = transfer.messages[1];
  if (code.read || code.write_bytes.size() != kCodeBytes || !read.read || read.address != code.address) {
    return std::nullopt;
  }
  const bool fits =
      read.block ? read.read_size == kPecBytes
                 : read.read_size > kCountBytes + kPecBytes && IsBlockSize(read.read_size - kCountBytes - kPecBytes);
  if (!fits) return std::nullopt;
  return BlockRead{read.address, code.write_bytes[0], read.block ? 0 : size_t{read.read_size}};
}

Bytes AsClocked(const BlockRead& read, ByteSpan block) {
  Bytes clocked = {static_cast<uint8_t>(block.size())};
  clocked.insert(clocked.end(), block.begin(), block.end());
  const uint8_t before[] = {smbus::AddressByte(read.address, /*read=*/false), read.code,
                            smbus::AddressByte(read.address, /*read=*/true)};
  clocked.push_back(smbus::Pec(clocked, smbus::Pec(before)));
  if (read.wire_bytes != 0) clocked.resize(read.wire_bytes, kIdle);
  return clocked;
}

absl::StatusOr<smbus::TransferResult> NoPecTransport::Execute(const smbus::Transfer& transfer) {
  if (AsBlockWrite(transfer)) return inner_->Execute(WithoutPec(transfer));
  return AsBlockRead(transfer) ? Read(transfer) : inner_->Execute(transfer);
}

absl::StatusOr<smbus::TransferResult> NoPecTransport::Read(const smbus::Transfer& transfer) {
  smbus::Transfer shorter = transfer;
  --shorter.messages[1].read_size;
  SIDEBAND_ASSIGN_OR_RETURN(smbus::TransferResult result, inner_->Execute(shorter));
  // Bytes read by a failed transaction are not returned.
  if (result.outcome == smbus::Outcome::kOk && result.read.size() == 1) {
    result.read[0].push_back(PecOf(*AsBlockRead(transfer), result.read[0]));
  }
  return result;
}

absl::StatusOr<bool> BusLock::TryAcquire() {
  if (is_held_) return true;
  if (file_.path.empty()) return is_held_ = true;
  const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | (file_.is_made ? O_CREAT | O_NOFOLLOW : 0);
  Descriptor file(::open(file_.path.c_str(), flags, kMode));
  if (!file.is_open()) return Failure(file_, errno);
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK || errno == EINTR) return false;
    return Failure(file_, errno);
  }
  descriptor_ = std::move(file);
  return is_held_ = true;
}

void BusLock::Release() {
  // A descriptor that a child process has inherited would keep the lock beyond the close.
  if (descriptor_.is_open()) ::flock(descriptor_.get(), LOCK_UN);
  descriptor_ = Descriptor();
  is_held_ = false;
}

absl::StatusOr<std::unique_ptr<CapturingTransport>> CapturingTransport::Create(std::unique_ptr<Transport> inner,
                                                                               const std::string& path,
                                                                               const Clock& clock, OnEnd on_end,
                                                                               uint64_t file_bytes_max) {
  // By both clocks, before anything else takes time.
  const absl::Duration start = clock.Steady();
  const auto host_time_us = static_cast<uint64_t>(absl::ToUnixMicros(clock.Now()));
  SIDEBAND_ASSIGN_OR_RETURN(auto writer, smbus::CaptureWriter::Create(path, {.host_time_us = host_time_us,
                                                                             .size_max = file_bytes_max,
                                                                             .replaces_at_first_event = true}));
  return std::unique_ptr<CapturingTransport>(
      new CapturingTransport(std::move(inner), std::move(writer), clock, start, std::move(on_end)));
}

void CapturingTransport::Capture(const smbus::BusRecord& record) {
  const absl::Status status = writer_->Append(record);
  if (status.ok()) return;
  // No further attempts: `on_end` is called once, and the bus stays in use.
  writer_.reset();
  on_end_(status);
}

absl::StatusOr<smbus::TransferResult> CapturingTransport::Execute(const smbus::Transfer& transfer) {
  const absl::Duration begin = clock_.Steady() - start_;
  auto result = inner_->Execute(transfer);
  if (writer_ != nullptr) {
    Capture({.time_us = static_cast<uint64_t>(absl::ToInt64Microseconds(begin)),
             .transfer = transfer,
             .result = result.ok() ? std::optional(*result) : std::nullopt});
  }
  return result;
}

}  // namespace sideband::daemon
