// SPDX-License-Identifier: Apache-2.0
//
// The interface to a bus that carries SMBus transactions; the shapes of SMBus block transactions with PEC; the
// transports that wrap another one, to a board without PEC and into a capture file; and BusLock, a lock on a bus that
// programs agree on: flock(2) on the bus's device, or on a file beside a virtual bus's socket. It keeps away only the
// programs that take it, too.
//   NoPecTransport transport(std::move(inner));
//   RegisterPort port(transport, 0x4F, on_outcome);   // 74 bit times on the caller's side, 65 on the bus
//   BusLock lock(transport.lock_file());
//   SIDEBAND_ASSIGN_OR_RETURN(const bool is_held, lock.TryAcquire());   // false: another program has it
//   if (is_held) lock.Release();
//   if (const auto write = AsBlockWrite(transfer)) return Write(*write);
//   if (const auto read = AsBlockRead(transfer)) return Read(*read);
#ifndef SIDEBAND_DAEMON_TRANSPORT_TRANSPORT_H_
#define SIDEBAND_DAEMON_TRANSPORT_TRANSPORT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "daemon/base/clock.h"
#include "proto/base/bytes.h"
#include "proto/base/file.h"
#include "proto/smbus/capture_file.h"
#include "proto/smbus/transfer.h"

namespace sideband::daemon {

// The file that programs on a bus lock (BusLock) while none of the others may use it. Without a path there is none.
struct LockFile {
  std::string path;
  bool is_made = false;  // if it is missing; a device is not
};

// Used by one thread at a time.
class Transport {
 public:
  virtual ~Transport() = default;
  // Executes one transaction. The result contains its outcome on the wire. An error Status means that the bus itself
  // could not be used: UNAVAILABLE if it does not exist or the peer has disconnected, DEADLINE_EXCEEDED if it does not
  // respond. The next call tries again. DATA_LOSS: the adapter found a wrong PEC, and the bytes are not available.
  virtual absl::StatusOr<smbus::TransferResult> Execute(const smbus::Transfer& transfer) = 0;
  // The largest block that one read can carry, in bytes; 32 on an adapter limited to SMBus 2. Known after the first
  // transaction. It may change after the bus was reopened, so callers query it before every stream.
  virtual size_t block_bytes_max() const { return smbus::kBlockBytesMax; }
  virtual LockFile lock_file() const { return {}; }
};

// SMBus block transactions with PEC: the only transactions of an adapter without I2C_FUNC_I2C.

// The largest block of SMBus 2 and of Linux' I2C_SMBUS.
inline constexpr size_t kSmbus2BlockBytesMax = 32;

struct BlockWrite {
  uint8_t address;
  uint8_t code;
  ByteSpan block;  // 1 to 32 bytes, points into the transfer
};
// Matches one message: a command code, a count, that number of bytes, and their correct PEC.
std::optional<BlockWrite> AsBlockWrite(const smbus::Transfer& transfer);

struct BlockRead {
  uint8_t address;
  uint8_t code;
  // Number of bytes that the controller clocks: count, block and PEC. 0 if the count byte decides.
  size_t wire_bytes;
};
// Matches a command code, a repeated START, and a read with room for a count, 1 to 32 bytes and a PEC.
std::optional<BlockRead> AsBlockRead(const smbus::Transfer& transfer);

// Returns the bytes that `read` would have clocked for a device that sent `block`: the count, the block, its PEC, then
// 0xFF as on an idle bus.
Bytes AsClocked(const BlockRead& read, ByteSpan block);

// A bus with a board that has no packet error code (PEC), for callers that send and check one: it is removed from what
// they write, and added to what they read. Errors of the bus are then no longer detected.
class NoPecTransport final : public Transport {
 public:
  explicit NoPecTransport(std::unique_ptr<Transport> inner) : inner_(std::move(inner)) {}

  // Changes nothing in a transaction that is neither a block write with a correct PEC nor a block read with room for
  // one.
  absl::StatusOr<smbus::TransferResult> Execute(const smbus::Transfer& transfer) override;
  size_t block_bytes_max() const override { return inner_->block_bytes_max(); }
  LockFile lock_file() const override { return inner_->lock_file(); }

 private:
  absl::StatusOr<smbus::TransferResult> Read(const smbus::Transfer& transfer);

  const std::unique_ptr<Transport> inner_;
};

// Used by one thread at a time. Two locks of one path exclude each other, also in one process. The kernel ends the lock
// of a process that ends.
class BusLock {
 public:
  // Without a path there is no other program to agree with: the lock is always to be had.
  explicit BusLock(LockFile file) : file_(std::move(file)) {}
  // Releases it.
  ~BusLock() { Release(); }
  BusLock(const BusLock&) = delete;
  BusLock& operator=(const BusLock&) = delete;

  // Does not block. True if the lock is held now, also if it was before. A file that is made has mode 0660 less the
  // umask, and stays: after its removal there would be two locks. UNAVAILABLE if the file cannot be opened.
  absl::StatusOr<bool> TryAcquire();
  void Release();
  bool is_held() const { return is_held_; }

 private:
  const LockFile file_;
  bool is_held_ = false;
  // Opened for each lock: the device may be another one after it was plugged in again.
  Descriptor descriptor_;
};

// Records all bus traffic in a capture file (proto/smbus/capture_file.h) for `sideband bus trace`. The bus is used as
// without a capture: a write error or a full file ends the capture and nothing else.
class CapturingTransport final : public Transport {
 public:
  static constexpr uint64_t kFileBytesMax = 64 << 20;
  // Called once, with the reason, when the capture ends; on the thread that uses the transport.
  using OnEnd = std::function<void(const absl::Status&)>;

  // The file is readable by its owner only. It replaces an older capture at the first transaction. Errors are those of
  // CaptureWriter; those known at creation are returned here. `clock` must outlive the transport.
  static absl::StatusOr<std::unique_ptr<CapturingTransport>> Create(std::unique_ptr<Transport> inner,
                                                                    const std::string& path, const Clock& clock,
                                                                    OnEnd on_end,
                                                                    uint64_t file_bytes_max = kFileBytesMax);

  absl::StatusOr<smbus::TransferResult> Execute(const smbus::Transfer& transfer) override;
  size_t block_bytes_max() const override { return inner_->block_bytes_max(); }
  LockFile lock_file() const override { return inner_->lock_file(); }

 private:
  CapturingTransport(std::unique_ptr<Transport> inner, std::unique_ptr<smbus::CaptureWriter> writer, const Clock& clock,
                     absl::Duration start, OnEnd on_end)
      : inner_(std::move(inner)),
        writer_(std::move(writer)),
        clock_(clock),
        start_(start),
        on_end_(std::move(on_end)) {}

  void Capture(const smbus::BusRecord& record);

  const std::unique_ptr<Transport> inner_;
  std::unique_ptr<smbus::CaptureWriter> writer_;  // nullptr after the end of the capture
  const Clock& clock_;
  const absl::Duration start_;  // of the records' clock
  const OnEnd on_end_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_TRANSPORT_TRANSPORT_H_
